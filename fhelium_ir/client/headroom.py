"""The headroom rule: 2 * scale * max|value| < product of the remaining primes.

A ciphertext holds scale * value modulo that product, centred: beyond it values wrap silently.
"""

import math
from collections.abc import Iterable
from fractions import Fraction


def has_headroom(scale: Fraction | int, bound: Fraction | float, primes: Iterable[int]) -> bool:
    """Whether values of absolute value up to `bound` (finite) fit at a scale; exact."""
    return 2 * Fraction(scale) * Fraction(bound) < math.prod(primes)


def headroom_bits(scale: Fraction | int, bound: Fraction | float, primes: Iterable[int]) -> float:
    """log2 of product / (2 * scale * bound): positive where the rule holds, inf for bound 0."""
    need = 2 * Fraction(scale) * Fraction(bound)
    if need == 0:
        return math.inf
    ratio = math.prod(primes) / need
    return math.log2(ratio.numerator) - math.log2(ratio.denominator)
