"""Bounds of `fp64` words, in units of q: |x| <= bound * q.

docs/numerics.md, "Floating-point words", has the proofs. Bounds are fractions, rounded up to a
multiple of 2^-10 so that they stay short.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

CENTRED = Fraction(1, 2)
"""A reduced word."""

PRODUCT = Fraction(7, 8)
"""A product of any two words that may be multiplied."""

_GRAIN = 1 << 10


def limit(largest_prime: int) -> Fraction:
    """The largest bound of a word that a product or a reduction takes: |x| <= 2^52 - 1.

    A product with a word of at most q/2 then has a quotient of at most 2^51 - 1/2; a reduction is exact.
    """
    return Fraction(floor(Fraction(_GRAIN * ((1 << 52) - 1), largest_prime)), _GRAIN)


def product(bound: Fraction, largest_prime: int, factor: Fraction = CENTRED) -> Fraction:
    """Bound of the product of two words: 1/2 + |x w / q| 2^-52, and no more than 7/8.

    The quotient is off by 1/2, and by the roundings of 1/q and of the product, at most 2^-53 of it each.

    Args:
        factor: the bound of the second word, by default a centred one.
    """
    exact = CENTRED + bound * factor * largest_prime / (1 << 52)
    return min(Fraction(ceil(exact * _GRAIN), _GRAIN), PRODUCT)


def between_kernels(largest_prime: int) -> Fraction:
    """Bound of words in memory between two kernels of a forward transform: two stages from there reach the limit."""
    return limit(largest_prime) - 2 * PRODUCT


def terms_fit(terms: int, bound: Fraction, largest_prime: int) -> bool:
    """Whether a sum of products with centred words needs no reduction before its last term."""
    return terms * product(bound, largest_prime) <= limit(largest_prime)
