"""Complex slots to integer polynomials and back, with exact integers at any scale.

Slot j of a polynomial m is m(zeta^(5^j)) / scale with zeta = exp(i*pi/N), j = 0..N/2-1 (Cheon,
Kim, Kim, Song, "Homomorphic encryption for arithmetic of approximate numbers", 2017). The
automorphism X -> X^(5^k) then moves slot j+k to slot j, and X -> X^(2N-1) conjugates every slot.
Integer polynomials are lists of Python integers, lowest coefficient first.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fhelium_ir.client.modular import IntArray, mul
from fhelium_ir.compiler.errors import FheliumError

ComplexArray = NDArray[np.complex128]
ObjectArray = NDArray[np.object_]

# Coefficients of slots scaled to at most 1 are at most sqrt(2): fixed point fits in int64.
_FIXED_BITS = 62


def replicate(values: ArrayLike, slots: int, name: str = "vector") -> ComplexArray:
    """Repeat a vector of length n cyclically to [slots] complex128.

    Raises FheliumError, with `name`, unless n divides the slot count and all values are finite.
    """
    vector = np.asarray(values, dtype=np.complex128)
    if vector.ndim != 1 or vector.size == 0 or slots % vector.size:
        raise FheliumError(
            f"{name} has shape {list(vector.shape)}: its length must divide the {slots} slots"
        )
    if not bool(np.isfinite(vector).all()):
        raise FheliumError(f"{name} holds a value that is not finite (NaN or infinity)")
    return np.tile(vector, slots // vector.size)


def encode(
    values: ArrayLike, scale: Fraction | int, ring_degree: int, name: str = "vector"
) -> list[int]:
    """The integer polynomial [N] whose slots are nearest to values * scale.

    Args:
        values: complex [N/2], or any length that divides N/2.
        scale: exact, positive.
        ring_degree: N.
        name: what to call the values in an error.

    The float64 transform works on values scaled by a power of two to at most 1, so the error of a
    slot is about 2^-50 of the largest value, whatever the scale, plus the rounding of the
    coefficients (below N/2 in units of 1/scale, typically sqrt(N/12)).
    """
    if scale <= 0:
        raise FheliumError(f"the scale of {name} is {scale}: it must be positive")
    slots = replicate(values, ring_degree // 2, name)
    largest = float(max(np.abs(slots.real).max(), np.abs(slots.imag).max()))
    if largest == 0.0:
        return [0] * ring_degree
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(slots.real, -exponent) + 1j * np.ldexp(slots.imag, -exponent)
    indices = _slot_indices(ring_degree)
    evaluations = np.zeros(ring_degree, dtype=np.complex128)
    evaluations[indices] = scaled
    # the evaluation at zeta^(2t+1) is conjugate to that at zeta^(2(N-1-t)+1): real coefficients
    evaluations[ring_degree - 1 - indices] = scaled.conj()
    twisted = np.fft.fft(evaluations) / ring_degree
    coefficients = (twisted * _powers(ring_degree).conj()).real
    fixed = np.rint(np.ldexp(coefficients, _FIXED_BITS)).astype(np.int64).astype(np.object_)
    factor = Fraction(scale) * Fraction(2) ** (exponent - _FIXED_BITS)
    numerator, denominator = factor.numerator, factor.denominator
    rounded: ObjectArray = (fixed * (2 * numerator) + denominator) // (2 * denominator)
    return rounded.tolist()


def decode(coefficients: Sequence[int], scale: Fraction | int) -> ComplexArray:
    """The slots [N/2] complex128 of a centred integer polynomial [N].

    Coefficients are divided by the exact scale before they become floats (one correct rounding).
    The result of a decryption carries the CKKS error: publishing it leaks information on the key.
    """
    exact = Fraction(scale)
    numerator, denominator = exact.numerator, exact.denominator
    reals = np.array([c * denominator / numerator for c in coefficients], dtype=np.float64)
    degree = reals.size
    evaluations = np.fft.ifft(reals * _powers(degree)) * degree
    return evaluations[_slot_indices(degree)]


def to_residues(coefficients: Sequence[int], primes: Sequence[int]) -> IntArray:
    """Residues in [0, q) of exact integers [N]: int64 [limbs, N], coefficient domain."""
    if max(map(abs, coefficients), default=0) < 1 << 63:
        words = np.array(coefficients, dtype=np.int64)
        return np.stack([np.remainder(words, np.int64(q)) for q in primes])
    exact: ObjectArray = np.array(coefficients, dtype=np.object_)
    return np.stack([(exact % q).astype(np.int64) for q in primes])


def from_residues(residues: IntArray, primes: Sequence[int]) -> list[int]:
    """Chinese remaindering of [limbs, N] in [0, q), coefficient domain, to integers [N].

    Results are centred: in [-(Q-1)/2, (Q-1)/2] for Q the product of the primes.
    """
    modulus = math.prod(primes)
    total = [0] * residues.shape[1]
    for row, q in zip(residues, primes, strict=True):
        cofactor = modulus // q
        digits: list[int] = mul(row, pow(cofactor, -1, q), q).tolist()
        total = [value + digit * cofactor for value, digit in zip(total, digits, strict=True)]
    half = modulus // 2
    return [(value + half) % modulus - half for value in total]


@lru_cache(maxsize=8)
def _slot_indices(degree: int) -> IntArray:
    """t_j [N/2] with 5^j = 2 t_j + 1 mod 2N."""
    element = 1
    indices = np.empty(degree // 2, dtype=np.int64)
    for slot in range(degree // 2):
        indices[slot] = element >> 1
        element = element * 5 % (2 * degree)
    return indices


@lru_cache(maxsize=8)
def _powers(degree: int) -> ComplexArray:
    """zeta^i for i = 0..N-1."""
    return np.exp(1j * np.pi * np.arange(degree) / degree)
