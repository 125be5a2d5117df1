"""Exact arithmetic modulo word-sized primes on numpy rows, the transform, and Chinese remainders.

Rows are int64 arrays [..., N] of residues in [0, q), q an odd prime below 2^62. Products are
Montgomery's ("Modular multiplication without trial division", 1985) with R = 2^64, the wide
product put together from 32-bit halves: integers only, nothing rounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.reference.integers import Poly

Rows = NDArray[np.int64]
Words = NDArray[np.uint64]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def add(a: Rows, b: Rows, q: int) -> Rows:
    """a + b mod q."""
    total = a + b
    return np.where(total >= q, total - q, total)


def sub(a: Rows, b: Rows, q: int) -> Rows:
    """a - b mod q."""
    total = a - b
    return np.where(total < 0, total + q, total)


def negate(a: Rows, q: int) -> Rows:
    """-a mod q."""
    return np.where(a == 0, a, q - a)


def product(a: Rows, b: Rows | int, q: int) -> Rows:
    """a * b mod q, with broadcasting; b in [0, q)."""
    return _times(a, _scaled(np.atleast_1d(np.asarray(b, dtype=np.int64)), q), q)


def high_product(a: Words, b: Words) -> Words:
    """floor(a * b / 2^64), with broadcasting; both at least one-dimensional."""
    a_high, a_low, b_high, b_low = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    first, second = a_high * b_low, a_low * b_high
    # at most 3 * (2^32 - 1): no carry is lost
    middle = (a_low * b_low >> _HALF) + (first & _LOW) + (second & _LOW)
    return a_high * b_high + (first >> _HALF) + (second >> _HALF) + (middle >> _HALF)


def _times(a: Rows, scaled: Words, q: int) -> Rows:
    """a * scaled / 2^64 mod q."""
    words, modulus = a.astype(np.uint64), np.array([q], dtype=np.uint64)
    inverse = np.array([pow(q, -1, 1 << 64)], dtype=np.uint64)
    # a*scaled and quotient*q agree modulo 2^64: the high words alone give the difference / 2^64
    quotient = words * scaled * inverse
    difference = high_product(words, scaled) - high_product(quotient, modulus)
    signed = difference.view(np.int64)
    return np.where(signed < 0, signed + q, signed)


def _scaled(b: Rows, q: int) -> Words:
    """b * 2^64 mod q, what `_times` wants as its second operand."""
    return _times(b, np.array([pow(2, 128, q)], dtype=np.uint64), q).astype(np.uint64)


def forward(a: Rows, q: int) -> Rows:
    """Negacyclic transform: out[bitrev(i)] = a(psi^(2i+1)), natural order in.

    Computed as the plain cyclic transform of a_j * psi^j.
    """
    degree = a.shape[-1]
    psi = root(degree, q)
    twisted = _times(a, _powers(degree, q, psi), q)
    return _cyclic(twisted, q, psi)[..., bit_reversal(degree)]


def inverse(a: Rows, q: int) -> Rows:
    """The exact inverse of `forward`."""
    degree = a.shape[-1]
    psi = pow(root(degree, q), -1, q)
    twisted = _cyclic(a[..., bit_reversal(degree)], q, psi)
    untwisted = _times(twisted, _powers(degree, q, psi), q)
    return product(untwisted, pow(degree, -1, q), q)


def _cyclic(a: Rows, q: int, psi: int) -> Rows:
    """out[i] = sum_j a[j] * psi^(2ij)."""
    degree = a.shape[-1]
    columns = _even_odd(a.reshape(-1, degree).T, _powers(degree, q, psi)[::2], q)
    return columns.T.reshape(a.shape)


def _even_odd(columns: Rows, roots: Words, q: int) -> Rows:
    """The cyclic transform of each column, the sum over j split into even and odd j."""
    length, count = columns.shape
    if length == 1:
        return columns
    both = _even_odd(np.concatenate([columns[0::2], columns[1::2]], axis=1), roots[::2], q)
    even, odd = both[:, :count], _times(both[:, count:], roots[:, None], q)
    return np.concatenate([add(even, odd, q), sub(even, odd, q)])


@lru_cache(maxsize=256)
def root(degree: int, q: int) -> int:
    """psi = g^((q-1)/2N) mod q for the first g = 2, 3, ... with psi^N = -1 mod q."""
    if (q - 1) % (2 * degree):
        raise ValueError(f"{q} is not 1 modulo {2 * degree}")
    for g in range(2, q):
        psi = pow(g, (q - 1) // (2 * degree), q)
        if pow(psi, degree, q) == q - 1:
            return psi
    raise ValueError(f"no primitive {2 * degree}-th root of unity modulo {q}")


@lru_cache(maxsize=256)
def _powers(degree: int, q: int, base: int) -> Words:
    """base^i * 2^64 mod q for i = 0..N-1."""
    powers = [1]
    for _ in range(degree - 1):
        powers.append(powers[-1] * base % q)
    return _scaled(np.array(powers, dtype=np.int64), q)


@lru_cache(maxsize=16)
def bit_reversal(degree: int) -> NDArray[np.intp]:
    """i with its log2(N) bits reversed, for i = 0..N-1."""
    bits = degree.bit_length() - 1
    return np.array([int(f"{i:0{bits}b}"[::-1], 2) for i in range(degree)], dtype=np.intp)


def automorphism_of_evaluations(a: Rows, element: int) -> Rows:
    """a(X^element) from evaluations to evaluations, bit-reversed: a re-indexing.

    At psi^(2i+1) it takes the value of a at psi^(element*(2i+1)).
    """
    degree = a.shape[-1]
    order = bit_reversal(degree)
    exponents = (2 * np.arange(degree, dtype=np.int64) + 1) * element % (2 * degree)
    natural = a[..., order]
    return natural[..., exponents // 2][..., order]


def automorphism_of_coefficients(a: Rows, element: int, q: int) -> Rows:
    """a(X^element) on coefficients: X^i goes to X^(i*element), and X^N = -1."""
    degree = a.shape[-1]
    exponents = np.arange(degree, dtype=np.int64) * element % (2 * degree)
    result = np.empty_like(a)
    result[..., exponents % degree] = np.where(exponents < degree, a, negate(a, q))
    return result


def to_integers(rows: Rows, primes: Sequence[int]) -> Poly:
    """The N integers in [0, product of the primes) of residues [limbs, N], coefficient domain."""
    modulus = prod(primes)
    total = [0] * rows.shape[-1]
    for row, q in zip(rows, primes, strict=True):
        cofactor = modulus // q
        parts: list[int] = product(row, pow(cofactor, -1, q), q).tolist()
        total = [x + part * cofactor for x, part in zip(total, parts, strict=True)]
    return [x % modulus for x in total]


def to_residues(a: Sequence[int], primes: Sequence[int]) -> Rows:
    """Residues [limbs, N] of integers, coefficient domain."""
    return np.array([[x % q for x in a] for q in primes], dtype=np.int64)
