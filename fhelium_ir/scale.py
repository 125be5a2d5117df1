"""Exact CKKS scales.

A scale is a rational kept factored: a power of two, powers of the chain's primes by index, and a
small rational. Equality is equality of exponents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import log2

from fhelium_ir.compiler.errors import FheliumError

POWER_LIMIT = 1 << 128
"""Largest exponent of a scale. Exponents double from level to level: S_{l-1} = S_l^2 / q_l."""

EXACT_BITS = 1 << 14
"""`Scale.value` is exact up to numbers of about this length and rounded beyond."""

ROUNDED_BITS = 1 << 10
"""Bits that `Scale.value` keeps where it rounds."""

RATIO_BITS = 1 << 12
"""Largest bit length of the numerator and denominator of a scale's ratio."""


@dataclass(frozen=True)
class Scale:
    """`2**two * prod(q_i**e_i) * ratio`, where `primes` holds the pairs (i, e_i) with e_i != 0 by
    rising i, and `ratio` has no factor two."""

    two: int = 0
    primes: tuple[tuple[int, int], ...] = ()
    ratio: Fraction = Fraction(1)

    @staticmethod
    def of(two: int, primes: dict[int, int], ratio: Fraction) -> Scale:
        """The normal form of the product of the given factors; `ratio` must be positive.

        Raises:
            FheliumError: beyond POWER_LIMIT or RATIO_BITS; repeated squaring soon gets there.
        """
        numerator, denominator = ratio.numerator, ratio.denominator
        while numerator % 2 == 0:
            numerator, two = numerator // 2, two + 1
        while denominator % 2 == 0:
            denominator, two = denominator // 2, two - 1
        if any(abs(power) > POWER_LIMIT for power in (two, *primes.values())):
            raise FheliumError(f"a scale has an exponent beyond {POWER_LIMIT}")
        if max(numerator, denominator).bit_length() > RATIO_BITS:
            raise FheliumError(f"a scale has an integer factor of more than {RATIO_BITS} bits")
        kept = tuple(sorted((index, power) for index, power in primes.items() if power))
        return Scale(two, kept, Fraction(numerator, denominator))

    def __mul__(self, other: Scale) -> Scale:
        powers = dict(self.primes)
        for index, power in other.primes:
            powers[index] = powers.get(index, 0) + power
        return Scale.of(self.two + other.two, powers, self.ratio * other.ratio)

    def inverse(self) -> Scale:
        powers = {index: -power for index, power in self.primes}
        return Scale.of(-self.two, powers, 1 / self.ratio)

    def over_prime(self, index: int) -> Scale:
        """The scale after a rescale by the chain's prime `index`."""
        return self * Scale(0, ((index, -1),))

    def value(self, q: Sequence[int]) -> Fraction:
        """The rational value on the chain `q`: exact, or with a relative error below 2^-900 where the exponents are so
        large that the exact number would not fit in memory."""
        bits = abs(self.two) + sum(abs(power) * q[i].bit_length() for i, power in self.primes)
        if bits > EXACT_BITS:
            return self._rounded(q)
        out = Fraction(2) ** self.two * self.ratio
        for index, power in self.primes:
            out *= Fraction(q[index]) ** power
        return out

    def log2(self, q: Sequence[int]) -> float:
        """log2 of the value on the chain `q`: the error is below 2^-40 whatever the exponents."""
        mantissa, exponent = self._parts(q)
        return log2(mantissa) - ROUNDED_BITS + exponent

    def _parts(self, q: Sequence[int]) -> tuple[int, int]:
        """(m, e): the value is m * 2^(e - ROUNDED_BITS), with a relative error below 2^-900."""
        return _parts(self, tuple(q[index] for index, _ in self.primes))

    def _rounded(self, q: Sequence[int]) -> Fraction:
        mantissa, exponent = self._parts(q)
        if abs(exponent) > EXACT_BITS:
            raise FheliumError(f"the scale {self} is about 2**{exponent}, out of range")
        return mantissa * Fraction(2) ** (exponent - ROUNDED_BITS)

    def highest_prime(self) -> int:
        """The largest prime index that occurs, -1 if none."""
        return self.primes[-1][0] if self.primes else -1

    def __str__(self) -> str:
        above: list[str] = []
        below: list[str] = []
        if self.two:
            (above if self.two > 0 else below).append(f"2**{abs(self.two)}")
        if self.ratio.numerator != 1:
            above.append(str(self.ratio.numerator))
        if self.ratio.denominator != 1:
            below.append(str(self.ratio.denominator))
        for index, power in self.primes:
            text = f"q{index}" if abs(power) == 1 else f"q{index}**{abs(power)}"
            (above if power > 0 else below).append(text)
        return " / ".join([" * ".join(above) or "1", *below])


@lru_cache(maxsize=4096)
def _parts(scale: Scale, primes: tuple[int, ...]) -> tuple[int, int]:
    ratio = scale.ratio
    mantissa, exponent = _normal((ratio.numerator << 2 * ROUNDED_BITS) // ratio.denominator, 0)
    for prime, (_, power) in zip(primes, scale.primes, strict=True):
        factor, shift = _power(prime, power)
        mantissa, exponent = _normal(mantissa * factor, exponent + shift)
    return mantissa, exponent + scale.two


def _normal(x: int, exponent: int) -> tuple[int, int]:
    """x * 2^(exponent - 2 * ROUNDED_BITS) as a number of ROUNDED_BITS + 1 bits and an exponent, see `Scale._parts`."""
    extra = x.bit_length() - 1 - ROUNDED_BITS
    mantissa = x >> extra if extra >= 0 else x << -extra
    return mantissa, exponent + extra - ROUNDED_BITS


def _power(base: int, power: int) -> tuple[int, int]:
    """base^power as in `Scale._parts`, by repeated squaring with rounding down."""
    one = 1 << 2 * ROUNDED_BITS
    square, shift = _normal(base * one if power >= 0 else one // base, 0)
    result, total = 1 << ROUNDED_BITS, 0
    left = abs(power)
    while left:
        if left & 1:
            result, total = _normal(result * square, total + shift)
        square, shift = _normal(square * square, 2 * shift)
        left >>= 1
    return result, total
