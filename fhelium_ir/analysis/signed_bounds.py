"""Bounds of `smont32` words, in units of q: -bound * q <= w < bound * q, or |w| <= bound * q.

docs/numerics.md, "Signed words", has the proofs. Bounds are fractions, rounded up to a multiple of 2^-10 so that they
stay short.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from fhelium_ir.dialects.zq import towards_zero

CENTRED = Fraction(1, 2)
"""A reduced word."""

WORD_BITS = 32

WIDEST = 8
"""A wider interval saves no step, and fewer of them make more kernels equal."""

_GRAIN = 1 << 10


def limit(largest_prime: int) -> Fraction:
    """The largest bound of a word: bound * q <= 2^31, and no more than is of use. At least 2."""
    widest = Fraction(floor(Fraction(_GRAIN << (WORD_BITS - 1), largest_prime)), _GRAIN)
    return min(widest, Fraction(WIDEST))


def product(bound: Fraction, largest_prime: int, factor: Fraction = CENTRED) -> Fraction:
    """Bound of the product of two words: 1/2 + |x w| / (R q).

    Args:
        factor: the bound of the second word, by default a centred one.
    """
    exact = CENTRED + bound * factor * largest_prime / (1 << WORD_BITS)
    return Fraction(ceil(exact * _GRAIN), _GRAIN)


def halved(bound: Fraction) -> Fraction:
    """Bound of a word, by a bound above 1, that has been moved towards 0 by one step of `zq.reduce`."""
    step, _ = towards_zero(ceil(2 * bound))
    return max(Fraction(step), bound - step)


def terms_fit(terms: int, bound: Fraction, largest_prime: int) -> bool:
    """Whether a sum of products with centred words needs no reduction before its last term."""
    return terms * product(bound, largest_prime) <= limit(largest_prime)


def forward_sum(u: Fraction, product_bound: Fraction, most: Fraction) -> tuple[bool, Fraction]:
    """A Cooley-Tukey butterfly: whether u is moved towards 0 before it, and the bound of its results."""
    moved = u + product_bound > most
    return moved, (halved(u) if moved else u) + product_bound


def after_stages(bound: Fraction, stages: int, largest_prime: int) -> Fraction:
    """Bound of all words after so many stages of a forward transform."""
    most = limit(largest_prime)
    for _ in range(stages):
        _, bound = forward_sum(bound, product(bound, largest_prime), most)
    return bound
