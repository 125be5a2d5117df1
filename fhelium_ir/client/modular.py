"""Exact vectorised arithmetic modulo one prime q < 2^62, on int64 arrays of values in [0, q).

Products use a float64 estimate of the quotient and int64 wrap-around for the remainder: the
remainder is known to be small, so its value modulo 2^64 determines it. Only IEEE float64 is
assumed (no extended precision), so results are the same on every platform.

Proof. Let u = 2^-53 (unit roundoff). All integers below are converted to float64 with a relative
error of at most u; errors of order u^2 are absorbed by the rounding up of the last figures.

Narrow, q <= 2^50. a, b and q are exact in float64. f = fl(a * fl(b/q)) has two roundings, so
|f - ab/q| <= 2u * q <= 2^-2, and k = rint(f) gives |ab - kq| <= (1/2 + 1/4) q < q.

Wide, q < 2^62. Write b = h*2^31 + l with 0 <= h, l < 2^31.
  1. f = fl(a) * fl(h / fl(q)): four roundings (a, q, the division, the product), and a*h/q < 2^31,
     so |f - ah/q| <= 4u * 2^31 < 2^-19. With k = rint(f), t = ah - kq has |t| <= (1/2 + 2^-19) q,
     which is below 2^62: the wrapped int64 value is exact.
  2. ab = t*2^31 + a*l mod q. f = fl(t)*fl(2^31/fl(q)) + fl(a)*fl(l/fl(q)); the two terms are at
     most 2^30 (1 + 2^-18) and 2^31, five roundings each (the four above and the sum), so the
     error is at most 5u * 2^31.6 < 2^-18. With k = rint(f), r = t*2^31 + a*l - kq has
     |r| <= (1/2 + 2^-18) q < q < 2^62, again exact after wrap-around.
One addition of q where r < 0 gives the canonical residue in both cases. No constant-time claim is
made.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]

_NARROW = 1 << 50
_HALF_BITS = 31
_HALF = 1 << _HALF_BITS


@dataclass(frozen=True, eq=False)
class Factor:
    """One operand of a product, prepared for reuse (twiddles, keys).

    For a narrow modulus `low` is the operand and `high` is None; else operand = high*2^31 + low.
    The quotient arrays hold the float64 values of low/q and high/q.
    """

    q: int
    low: IntArray
    low_quotient: FloatArray
    high: IntArray | None
    high_quotient: FloatArray | None


def prepare(b: IntArray | int, q: int) -> Factor:
    """Prepare b (values in [0, q), any shape) as an operand modulo q < 2^62."""
    if not 2 < q < 1 << 62:
        raise ValueError(f"modulus {q} is not in (2, 2^62)")
    operand = np.asarray(b, dtype=np.int64)
    if q <= _NARROW:
        return Factor(q, operand, np.asarray(operand / float(q)), None, None)
    high, low = operand >> _HALF_BITS, operand & (_HALF - 1)
    return Factor(q, low, np.asarray(low / float(q)), np.asarray(high), np.asarray(high / float(q)))


def mul_factor(a: IntArray, factor: Factor) -> IntArray:
    """a * factor mod q, element-wise; a (at least 1-d) and the result in [0, q).

    The factor broadcasts against a, not the other way round.
    """
    q = factor.q
    real = a.astype(np.float64)
    if factor.high is None or factor.high_quotient is None:
        return _fold(_remainder(a * factor.low, real * factor.low_quotient, q), q)
    partial = _remainder(a * factor.high, real * factor.high_quotient, q)
    quotient = partial.astype(np.float64)
    quotient *= _HALF / float(q)
    quotient += real * factor.low_quotient
    partial *= _HALF
    partial += a * factor.low
    return _fold(_remainder(partial, quotient, q), q)


def mul(a: IntArray, b: IntArray | int, q: int) -> IntArray:
    """a * b mod q, element-wise; operands and result in [0, q)."""
    return mul_factor(a, prepare(b, q))


def add(a: IntArray, b: IntArray, q: int) -> IntArray:
    """a + b mod q; operands and result in [0, q)."""
    total = (a + b).view(np.uint64)
    # total - q wraps to a huge number exactly where no reduction is due
    return np.minimum(total, total - np.uint64(q)).view(np.int64)


def sub(a: IntArray, b: IntArray, q: int) -> IntArray:
    """a - b mod q; operands and result in [0, q)."""
    return _fold(a - b, q)


def signed_residues(a: IntArray, q: int) -> IntArray:
    """Residues in [0, q) of any int64 values."""
    return np.remainder(a, np.int64(q))


def _remainder(product: IntArray, quotient: FloatArray, q: int) -> IntArray:
    """product - rint(quotient)*q, wrapped to int64; overwrites both arguments."""
    whole = np.rint(quotient, out=quotient).astype(np.int64)
    whole *= q
    product -= whole
    return product


def _fold(a: IntArray, q: int) -> IntArray:
    """Values in (-q, q) to [0, q): as uint64 a negative value is huge and wins by adding q."""
    word = a.view(np.uint64)
    return np.minimum(word, word + np.uint64(q)).view(np.int64)
