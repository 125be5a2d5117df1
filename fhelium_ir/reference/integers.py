"""Exact arithmetic in Z[X]/(X^N + 1) and modulo big integers.

A polynomial is a list of N Python integers, lowest coefficient first. Products use Kronecker
substitution: both polynomials are evaluated at a power of two beyond every coefficient of the
product, so that one big multiplication (GMP's) yields all coefficients side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from gmpy2 import mpz

Poly = list[int]


def add(a: Sequence[int], b: Sequence[int], modulus: int) -> Poly:
    """a + b with coefficients in [0, modulus)."""
    return [(x + y) % modulus for x, y in zip(a, b, strict=True)]


def sub(a: Sequence[int], b: Sequence[int], modulus: int) -> Poly:
    """a - b with coefficients in [0, modulus)."""
    return [(x - y) % modulus for x, y in zip(a, b, strict=True)]


def reduce(a: Sequence[int], modulus: int) -> Poly:
    """Coefficients in [0, modulus)."""
    return [x % modulus for x in a]


def centred(a: Sequence[int], modulus: int) -> Poly:
    """Coefficients in [-modulus/2, modulus/2), for an odd modulus symmetric about 0."""
    half = modulus // 2
    return [(x + half) % modulus - half for x in a]


def automorphism(a: Sequence[int], element: int) -> Poly:
    """a(X^element) for an odd element: X^i goes to X^(i*element), and X^N = -1."""
    degree = len(a)
    result = [0] * degree
    for i, coefficient in enumerate(a):
        exponent = i * element % (2 * degree)
        if exponent < degree:
            result[exponent] = coefficient
        else:
            result[exponent - degree] = -coefficient
    return result


def negacyclic_product(a: Sequence[int], b: Sequence[int]) -> Poly:
    """a * b in Z[X]/(X^N + 1), exact, for coefficients of any sign and size.

    Reduce operands modulo the ring's modulus first: time grows with their size.
    """
    degree = len(a)
    if len(b) != degree:
        raise ValueError(f"polynomials of degree {degree} and {len(b)}")
    bound = degree * max(map(abs, a)) * max(map(abs, b))
    if bound == 0:
        return [0] * degree
    width = bound.bit_length() // 8 + 1
    product = _pack(a, width) * _pack(b, width)
    coefficients = _unpack(product, width, 2 * degree)
    return [
        low - high for low, high in zip(coefficients[:degree], coefficients[degree:], strict=True)
    ]


def _pack(a: Sequence[int], width: int) -> mpz:
    """a(2^(8*width)), |coefficients| < 2^(8*width - 1)."""
    half = 1 << (8 * width - 1)
    slots = b"".join([(x + half).to_bytes(width, "little") for x in a])
    return mpz(int.from_bytes(slots, "little")) + mpz(-_halves(len(a), width))


def _unpack(packed: mpz, width: int, count: int) -> Poly:
    """The inverse of `_pack` for `count` coefficients."""
    half = 1 << (8 * width - 1)
    # with one half added, no slot is negative and none borrows from the next
    slots = int(packed + mpz(_halves(count, width))).to_bytes(count * width, "little")
    return [
        int.from_bytes(slots[start : start + width], "little") - half
        for start in range(0, count * width, width)
    ]


@lru_cache(maxsize=8)
def _halves(count: int, width: int) -> int:
    """2^(8*width - 1) in each of `count` slots of `width` bytes."""
    return int.from_bytes((bytes(width - 1) + b"\x80") * count, "little")
