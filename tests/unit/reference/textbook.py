"""CKKS from its definitions on Python integers, slow and obvious: the oracle of the oracles."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import count
from math import floor, prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.parameters import Parameters
from fhelium_ir.primes import is_prime
from fhelium_ir.universe import make_context

Poly = list[int]
KeyName = tuple[str, int | None]
RELINEARIZE: KeyName = ("relinearize", None)

TOP_PRIME = {8: 4611686018427387761, 64: 4611686018427382913}
"""The largest prime below 2^62 that is 1 modulo 2N, by N."""


def parsed(text: str) -> ModuleOp:
    """A verified module; locations name the file `test.mlir`."""
    module = parse_module(make_context(), text, "test.mlir")
    verify_module(module)
    return module


def primes_below(bound: int, degree: int) -> Iterator[int]:
    """Primes that are 1 modulo 2N, from `bound` downwards."""
    first = bound - (bound - 1) % (2 * degree)
    return (q for q in count(first, -2 * degree) if is_prime(q))


def parameters(degree: int, limbs: int, digits: int, bits: int) -> Parameters:
    """Primes of q just below 2^bits, as many special primes as the largest digit has limbs."""
    size = -(-limbs // digits)
    primes = primes_below(1 << bits, degree)
    p = tuple(next(primes) for _ in range(size))
    q = tuple(next(primes) for _ in range(limbs))
    result = Parameters(degree, q, p, digits, 20, insecure=True)
    result.validate()
    return result


def attribute(facts: Parameters) -> str:
    """The module attribute of some parameters."""
    return (
        f"ckks.params = #ckks.params<ring_degree = {facts.ring_degree}, q = {list(facts.q)}, "
        f"p = {list(facts.p)}, digits = {facts.digits}, scale = 2**{facts.scale_bits}, "
        "secret = ternary, insecure>"
    )


def schoolbook(a: Sequence[int], b: Sequence[int]) -> Poly:
    """a * b in Z[X]/(X^N + 1)."""
    degree = len(a)
    result = [0] * degree
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            sign = 1 if i + j < degree else -1
            result[(i + j) % degree] += sign * x * y
    return result


def root(degree: int, q: int) -> int:
    candidates = (pow(g, (q - 1) // (2 * degree), q) for g in range(2, q))
    return next(psi for psi in candidates if pow(psi, degree, q) == q - 1)


def reversed_bits(index: int, degree: int) -> int:
    result = 0
    for bit in range(degree.bit_length() - 1):
        result = 2 * result + (index >> bit & 1)
    return result


def evaluated(a: Sequence[int], q: int) -> Poly:
    """out[bitrev(i)] = a(psi^(2i+1)) mod q, by Horner's rule."""
    degree, psi = len(a), root(len(a), q)
    out = [0] * degree
    for i in range(degree):
        point, value = pow(psi, 2 * i + 1, q), 0
        for coefficient in reversed(a):
            value = (value * point + coefficient) % q
        out[reversed_bits(i, degree)] = value
    return out


def interpolated(values: Sequence[int], q: int) -> Poly:
    """The inverse of `evaluated`, by orthogonality of the roots."""
    degree, psi = len(values), root(len(values), q)
    return [
        pow(degree, -1, q)
        * sum(
            values[reversed_bits(i, degree)] * pow(psi, -(2 * i + 1) * k, q) for i in range(degree)
        )
        % q
        for k in range(degree)
    ]


def substituted(a: Sequence[int], element: int) -> Poly:
    """a(X^element), one monomial at a time with X^N = -1."""
    degree = len(a)
    result = [0] * degree
    for i, coefficient in enumerate(a):
        wraps, place = divmod(i * element, degree)
        result[place] += (-1) ** wraps * coefficient
    return result


def centre(x: int, modulus: int) -> int:
    x %= modulus
    return x - modulus if x > modulus // 2 else x


def slots_of(a: Sequence[int]) -> NDArray[np.complex128]:
    """a(zeta^(5^j)) for j = 0..N/2-1, zeta = exp(i*pi/N)."""
    degree = len(a)
    points = [np.exp(1j * np.pi * pow(5, j, 2 * degree) / degree) for j in range(degree // 2)]
    return np.array([sum(c * x**i for i, c in enumerate(a)) for x in points])


def tensor(components: Sequence[Sequence[int]], primes: Sequence[int]) -> NDArray[np.int64]:
    """The interface tensor [components, limbs, N] of integer polynomials."""
    return np.array([[evaluated(part, q) for q in primes] for part in components])


def integers(rows: NDArray[np.int64], primes: Sequence[int]) -> list[Poly]:
    """The integer polynomials modulo the primes' product of an interface tensor."""
    return [
        [remaindered(column, primes) for column in zip(*limbs, strict=True)]
        for limbs in (
            [interpolated(row.tolist(), q) for row, q in zip(part, primes, strict=True)]
            for part in rows
        )
    ]


def remaindered(residues: Sequence[int], primes: Sequence[int]) -> int:
    """The integer in [0, product) with the given residues, one prime at a time (Garner)."""
    value, modulus = 0, 1
    for residue, q in zip(residues, primes, strict=True):
        value += modulus * ((residue - value) * pow(modulus, -1, q) % q)
        modulus *= q
    return value


def nearest_multiple(x: int, primes: Sequence[int]) -> int:
    """y = x modulo P, near x's remainder from above or below, by the stated fixed-point formula."""
    product = prod(primes)
    total, halves = 0, Fraction(1, 2)
    for p in primes:
        v = x * pow(product // p, -1, p) % p
        shift = max(0, 33 - p.bit_length())
        reciprocal = floor(Fraction(2 ** (96 - shift), p))
        halves += Fraction(floor(Fraction(v * 2**shift * reciprocal, 2**64)), 2**32)
        total += v * (product // p)
    return total - floor(halves) * product


def divided(a: Sequence[int], primes: Sequence[int], modulus: int) -> Poly:
    """(a - y) / P modulo `modulus`."""
    product = prod(primes)
    quotients = [Fraction(x - nearest_multiple(x, primes), product) for x in a]
    assert all(quotient.denominator == 1 for quotient in quotients)
    return [quotient.numerator % modulus for quotient in quotients]


def digit(d: Sequence[int], primes: Sequence[int]) -> Poly:
    """sum_i v_i * D/q_i with v_i the centred residue of d * (D/q_i)^-1."""
    product = prod(primes)
    return [
        sum(centre(x * pow(product // q, -1, q), q) * (product // q) for q in primes) for x in d
    ]


class Scheme:
    """A secret with its keys; everything is deterministic in the seed.

    Args:
        facts: the parameters.
        noise: bound on the coefficients of the keys' errors; 0 leaves rounding as the only error.
    """

    def __init__(self, facts: Parameters, seed: int = 1, noise: int = 0) -> None:
        self.facts = facts
        self.random = random.Random(seed)
        self.noise = noise
        self.secret = [self.random.randint(-1, 1) for _ in range(facts.ring_degree)]
        self.key_polynomials: dict[KeyName, list[tuple[Poly, Poly]]] = {}

    def uniform(self, modulus: int) -> Poly:
        return [self.random.randrange(modulus) for _ in range(self.facts.ring_degree)]

    def small(self, bound: int) -> Poly:
        return [self.random.randint(-bound, bound) for _ in range(self.facts.ring_degree)]

    def encrypted(self, message: Sequence[int], level: int, size: int = 2) -> list[Poly]:
        """Components that decrypt to exactly the message."""
        modulus = self.facts.modulus(level)
        masks = [self.uniform(modulus) for _ in range(size - 1)]
        first, power = list(message), self.secret
        for mask in masks:
            term = schoolbook(mask, power)
            first = [(x - y) % modulus for x, y in zip(first, term, strict=True)]
            power = schoolbook(power, self.secret)
        return [first, *masks]

    def decrypted(self, components: Sequence[Sequence[int]], level: int) -> Poly:
        """c0 + c1*s + c2*s^2, centred."""
        total, power = [0] * self.facts.ring_degree, [1] + [0] * (self.facts.ring_degree - 1)
        for part in components:
            term = schoolbook(part, power)
            total = [x + y for x, y in zip(total, term, strict=True)]
            power = schoolbook(power, self.secret)
        return [centre(x, self.facts.modulus(level)) for x in total]

    def key(self, name: KeyName) -> NDArray[np.int64]:
        """The tensor [digits, 2, L+K, N] of the key for s^2, or for s(X^g)."""
        kind, element = name
        if kind == "relinearize":
            source = schoolbook(self.secret, self.secret)
        else:
            assert element is not None
            source = substituted(self.secret, element)
        facts, pairs = self.facts, list[tuple[Poly, Poly]]()
        for j in range(facts.digit_count()):
            own = facts.q[j * facts.digit_size : (j + 1) * facts.digit_size]
            gadget = remaindered(
                [prod(facts.p) % q if q in own else 0 for q in facts.primes], facts.primes
            )
            a, modulus = self.uniform(prod(facts.primes)), prod(facts.primes)
            masked = schoolbook(a, self.secret)
            errors = self.small(self.noise)
            b = [
                (e - x + gadget * y) % modulus
                for e, x, y in zip(errors, masked, source, strict=True)
            ]
            pairs.append((b, a))
        self.key_polynomials[name] = pairs
        return np.array([tensor(pair, facts.primes) for pair in pairs])

    def switched(self, d: Sequence[int], level: int, name: KeyName) -> list[Poly]:
        """Key switching of one polynomial as the formulas state it."""
        facts = self.facts
        q = facts.q[: level + 1]
        extended = prod(q) * prod(facts.p)
        sums = [[0] * facts.ring_degree, [0] * facts.ring_degree]
        for j, start in enumerate(range(0, len(q), facts.digit_size)):
            lifted = digit(d, q[start : start + facts.digit_size])
            for total, key in zip(sums, self.key_polynomials[name][j], strict=True):
                for i, term in enumerate(schoolbook(lifted, key)):
                    total[i] = (total[i] + term) % extended
        return [divided(total, facts.p, prod(q)) for total in sums]
