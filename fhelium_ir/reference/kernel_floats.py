"""Doubles in the exact interpreter of the kernel stage: fused multiply-add, comparisons, and the arithmetic `fp64`.

numpy rounds sums and products of doubles as IEEE 754 demands, but has no fused multiply-add; here it is emulated.
The `zq` ops are computed on integers, from their definition, and not by the floating-point sequences that they are
expanded to.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.ir import Operation

from fhelium_ir.reference.kernel_memory import Array, Bools

Floats = NDArray[np.float64]

_SPLIT = 134217729.0
"""2^27 + 1: a product with it cuts a double into halves (Veltkamp)."""

_RANGE = 2.0**300
"""Between 1/_RANGE and _RANGE products and their errors neither overflow nor underflow."""

_WORD = 2**53
_QUOTIENT_BITS = 51
_REDUCED_BITS = 52


@dataclass(frozen=True)
class Checked:
    """A result, and in which lanes an operand breaks the rules of the op, with what to say about it."""

    value: Array
    faults: tuple[tuple[Bools, str], ...] = ()


# IEEE operations

FLOAT_OPS: dict[type[Operation], Callable[[Floats, Floats], Floats]] = {
    arith.AddfOp: lambda a, b: a + b,
    arith.SubfOp: lambda a, b: a - b,
    arith.MulfOp: lambda a, b: a * b,
}

# By predicate number of arith.cmpf. There are no NaN: ordered and unordered predicates are the same.
_ORDERED: tuple[Callable[[Floats, Floats], Bools], ...] = (
    lambda a, b: a == b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a != b,
)
FLOAT_PREDICATES: dict[int, Callable[[Floats, Floats], Bools]] = {
    first + k: compare for first in (1, 8) for k, compare in enumerate(_ORDERED)
}


def fused_multiply_add(x: Floats, y: Floats, z: Floats) -> Floats:
    """`x * y + z` with one rounding, element by element, of finite doubles.

    Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums" (2008): the low parts of an exact product and
    of exact sums are added with rounding to odd, so that the last sum rounds as if there were no other.
    """
    x, y, z = np.broadcast_arrays(x, y, z)
    with np.errstate(all="ignore"):
        high, low = _exact_product(x, y)
        upper, tail = _exact_sum(z, low)
        upper, middle = _exact_sum(high, upper)
        emulated = upper + _odd_sum(tail, middle)
        # A product that is zero is exact, and only the plain sum knows the signs of zeros.
        result = np.where((x == 0) | (y == 0), x * y + z, emulated)
    extreme = _is_extreme(x) | _is_extreme(y) | _is_extreme(z)
    if extreme.any():
        rounded = [
            _rounded(*values) for values in zip(x[extreme], y[extreme], z[extreme], strict=True)
        ]
        result[extreme] = rounded
    return result


def _is_extreme(values: Floats) -> Bools:
    size = np.abs(values)
    return (size != 0) & ((size < 1 / _RANGE) | (size > _RANGE))


def _rounded(x: float, y: float, z: float) -> float:
    """`x * y + z` by exact rationals; x and y are not both in the range of the emulation."""
    if not np.isfinite([x, y, z]).all():
        return np.nan
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if exact == 0:
        return x * y + z
    try:
        return float(exact)
    except OverflowError:
        return np.inf if exact > 0 else -np.inf


def _exact_sum(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded sum and its error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _exact_product(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The rounded product and its error (Dekker)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, error


def _halves(a: Floats) -> tuple[Floats, Floats]:
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def _odd_sum(a: Floats, b: Floats) -> Floats:
    """The sum; where it is not a double, the neighbour with the odd last bit."""
    total, error = _exact_sum(a, b)
    bits = total.view(np.int64)
    # A number with the sign of the error is farther from zero than the rounded sum.
    away = np.where((error > 0) == (total > 0), np.int64(1), np.int64(-1))
    return np.where((error != 0) & (bits & 1 == 0), bits + away, bits).view(np.float64)


# The arithmetic `fp64`


def check_modulus(q: Floats, q_inverse: Floats) -> Checked:
    """`zq.modulus`: q is an odd integer below 2^50, and the other word 1/q, rounded."""
    present = q != 0
    divisor = np.where(present, q, 1)
    wrong = (q != np.rint(q)) | (q < 3) | (q >= 2.0**50) | (np.fmod(q, 2) != 1)
    return Checked(
        q,
        (
            (present & wrong, "zq.modulus: q is no odd integer from 3 to 2^50"),
            (present & (1 / divisor != q_inverse), "zq.modulus: the second word is not 1/q"),
        ),
    )


def add(lhs: Floats, rhs: Floats, name: str) -> Checked:
    """Sum of two integers; a difference is the sum with `-rhs`."""
    total, error = _exact_sum(lhs, rhs)
    leaves = (np.abs(total) > _WORD) | (error != 0)
    return Checked(total, (*_integers(name, lhs, rhs), (leaves, f"{name} leaves the word")))


def multiply(lhs: Floats, rhs: Floats, q: Floats, q_inverse: Floats) -> Checked:
    """`zq.mul`: lhs * rhs - c * q, c the integer nearest to fl(lhs * rhs) * fl(1 / q), halves to even."""
    lhs, rhs, q, q_inverse = np.broadcast_arrays(lhs, rhs, q, q_inverse)
    integers = _integers("zq.mul", lhs, rhs)
    faults = (
        *integers,
        (
            _product_above(lhs, rhs, q) | _product_above(lhs * rhs, q_inverse, np.ones_like(q)),
            "zq.mul: the quotient is above 2^51",
        ),
    )
    # The remainder is known to be far below 2^63, so its value modulo 2^64 is enough.
    quotient = _nearest_integer(lhs * rhs, q_inverse)
    with np.errstate(all="ignore"):
        words = [np.where(np.abs(v) <= 2.0**62, v, 0).astype(np.int64) for v in (lhs, rhs, q)]
        remainder = words[0] * words[1] - quotient * words[2]
    return Checked(remainder.astype(np.float64), faults)


def reduce(value: Floats, q: Floats, from_: int) -> Checked:
    """`zq.reduce`: the centred residue."""
    value, q = np.broadcast_arrays(value, q)
    size = np.abs(value)
    faults = (
        *_integers("zq.reduce", value),
        (size >= 1 << _REDUCED_BITS, "zq.reduce: the value is not below 2^52"),
        # Both sides are exact where they could be wrong: a double of 2^53 or more is above any operand.
        (2 * size > from_ * q, "zq.reduce: the value is above from*q/2"),
    )
    divisor = np.where(q > 0, q, 1).astype(np.int64)
    residue = np.where(size <= _WORD, value, 0).astype(np.int64) % divisor
    centred = np.where(2 * residue > divisor, residue - divisor, residue)
    return Checked(centred.astype(np.float64), faults)


def to_float(value: Array, q: Floats) -> Checked:
    """`zq.to_float`: the word in [0, q) as a double."""
    wrong = value >= np.where(q > 0, q, 1).astype(np.uint64)
    return Checked(value.astype(np.float64), ((wrong, "zq.to_float: the word is not below q"),))


def to_integer(value: Floats, q: Floats) -> Checked:
    """`zq.to_integer`: the centred residue as a word in [0, q)."""
    faults = (
        *_integers("zq.to_integer", value),
        (2 * np.abs(value) > q, "zq.to_integer: the value is no centred residue"),
    )
    canonical = np.where(value < 0, value + q, value)
    return Checked(np.abs(canonical).astype(np.uint64), faults)


def _integers(name: str, *values: Floats) -> tuple[tuple[Bools, str], ...]:
    wrong = [(value != np.rint(value)) | (np.abs(value) > _WORD) for value in values]
    return tuple((one, f"{name}: an operand is no integer of 53 bits") for one in wrong)


def _nearest_integer(a: Floats, b: Floats) -> NDArray[np.int64]:
    """The exact product of two doubles rounded to an integer, halves to even; below 2^51 in magnitude."""
    with np.errstate(all="ignore"):
        high, low = _exact_product(a, b)
        whole = np.rint(high)
        # What is left is exact, and so are the distances of it to halves; low decides on which side of them it lies.
        left = high - whole
        odd = np.fmod(whole, 2) != 0
        up = (low > 0.5 - left) | ((low == 0.5 - left) & odd)
        down = (low < -0.5 - left) | ((low == -0.5 - left) & odd)
        nearest = whole + up - down
        return np.where(np.abs(nearest) <= 2.0**62, nearest, 0).astype(np.int64)


def _product_above(a: Floats, b: Floats, q: Floats) -> Bools:
    """Whether |a * b| > 2^51 q, exactly."""
    with np.errstate(all="ignore"):
        high, low = _exact_product(np.abs(a), np.abs(b))
        limit = q * 2.0**_QUOTIENT_BITS
        return (high > limit) | ((high == limit) & (low > 0))
