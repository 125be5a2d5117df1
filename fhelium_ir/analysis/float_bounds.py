"""Bounds of `fp64` words, in units of q: |x| <= bound * q.

docs/numerics.md, "Floating-point words", has the proofs. Bounds are fractions, rounded up to a
multiple of 2^-10 so that they stay short.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

CENTRED = Fraction(1, 2)
"""A reduced word."""

_GRAIN = 1 << 10


def limit(largest_prime: int) -> Fraction:
    """The largest bound of a word that a product or a reduction takes: |x| <= 2^52.

    A product with a word of at most q/2 then has a quotient of at most 2^51; a reduction is exact.
    """
    return Fraction(floor(Fraction(_GRAIN << 52, largest_prime)), _GRAIN)


def product(bound: Fraction, largest_prime: int) -> Fraction:
    """Bound of the product of a word with a centred one: 1/2 + 3 |x| 2^-55.

    The quotient is off by 1/2, and by the roundings of 1/q and of w/q times |x|: at most 2^-54 and
    2^-55, as |w/q| < 1/2.
    """
    exact = CENTRED + 3 * bound * largest_prime / (1 << 55)
    return Fraction(ceil(exact * _GRAIN), _GRAIN)


def terms_fit(terms: int, bound: Fraction, largest_prime: int) -> bool:
    """Whether a sum of products with centred words needs no reduction before its last term."""
    return terms * product(bound, largest_prime) <= limit(largest_prime)
