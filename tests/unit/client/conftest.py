"""Exact oracles on Python integers, written from the definitions and not from the client."""

from collections.abc import Callable, Sequence

import pytest

Product = Callable[[Sequence[int], Sequence[int], int], list[int]]
Interpolation = Callable[[Sequence[int], int], list[int]]


def _root(degree: int, q: int) -> int:
    candidates = (pow(g, (q - 1) // (2 * degree), q) for g in range(2, q))
    return next(psi for psi in candidates if pow(psi, degree, q) == q - 1)


def _reversed_bits(index: int, degree: int) -> int:
    return int(f"{index:0{degree.bit_length() - 1}b}"[::-1], 2)


@pytest.fixture
def negacyclic() -> Product:
    """Schoolbook product in Z_m[X]/(X^N + 1)."""

    def product(a: Sequence[int], b: Sequence[int], modulus: int) -> list[int]:
        degree = len(a)
        result = [0] * degree
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                sign = 1 if i + j < degree else -1
                result[(i + j) % degree] += sign * x * y
        return [value % modulus for value in result]

    return product


@pytest.fixture
def evaluate() -> Interpolation:
    """Direct evaluation: out[bitrev(i)] = a(psi^(2i+1)) mod q."""

    def evaluation(coefficients: Sequence[int], q: int) -> list[int]:
        degree = len(coefficients)
        psi = _root(degree, q)
        out = [0] * degree
        for i in range(degree):
            point = pow(psi, 2 * i + 1, q)
            value = 0
            for c in reversed(coefficients):
                value = (value * point + c) % q
            out[_reversed_bits(i, degree)] = value
        return out

    return evaluation


@pytest.fixture
def interpolate() -> Interpolation:
    """The inverse of `evaluate` by the orthogonality relation, O(N^2)."""

    def interpolation(evaluations: Sequence[int], q: int) -> list[int]:
        degree = len(evaluations)
        psi = _root(degree, q)
        powers = [pow(psi, -k, q) for k in range(2 * degree)]
        natural = [evaluations[_reversed_bits(i, degree)] for i in range(degree)]
        scale = pow(degree, -1, q)
        return [
            scale
            * sum(v * powers[(2 * i + 1) * k % (2 * degree)] for i, v in enumerate(natural))
            % q
            for k in range(degree)
        ]

    return interpolation
