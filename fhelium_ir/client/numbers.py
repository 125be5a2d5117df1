"""Number theory for the modulus chain: NTT primes, roots of unity, bit reversal."""

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.primes import is_prime


def ntt_primes_down(upper: int, ring_degree: int) -> Iterator[int]:
    """Primes q = 1 mod 2N with q <= upper, largest first, down to the last one above 2N."""
    step = 2 * ring_degree
    candidate = upper - (upper - 1) % step
    while candidate > step:
        if is_prime(candidate):
            yield candidate
        candidate -= step


def ntt_primes_up(lower: int, ring_degree: int) -> Iterator[int]:
    """Primes q = 1 mod 2N with q >= lower, smallest first, below 2^62."""
    step = 2 * ring_degree
    candidate = max(lower + (1 - lower) % step, 1 + step)
    while candidate < 1 << 62:
        if is_prime(candidate):
            yield candidate
        candidate += step


def ntt_primes_near(target: Fraction | int, ring_degree: int) -> Iterator[int]:
    """Primes q = 1 mod 2N on both sides of `target`, nearest first (the lower one on a tie)."""
    floor = target.numerator // target.denominator
    below = ntt_primes_down(floor, ring_degree)
    above = ntt_primes_up(floor + 1, ring_degree)
    low, high = next(below, None), next(above, None)
    while low is not None or high is not None:
        if low is not None and (high is None or target - low <= high - target):
            yield low
            low = next(below, None)
        elif high is not None:
            yield high
            high = next(above, None)


def primitive_root(ring_degree: int, q: int) -> int:
    """The primitive 2N-th root of unity psi modulo the prime q that the project fixes.

    psi = g^((q-1)/2N) for the smallest g >= 2 with psi^N = -1 mod q. Requires q = 1 mod 2N.
    """
    exponent, rest = divmod(q - 1, 2 * ring_degree)
    if rest:
        raise ValueError(f"{q} is not 1 modulo {2 * ring_degree}")
    for g in range(2, q):
        psi = pow(g, exponent, q)
        if pow(psi, ring_degree, q) == q - 1:
            return psi
    raise ValueError(f"no primitive {2 * ring_degree}-th root of unity modulo {q}")


def bit_reversal(length: int) -> NDArray[np.int64]:
    """The permutation r of shape [length] with r[i] = i with its log2(length) bits reversed."""
    order = np.zeros(1, dtype=np.int64)
    while order.size < length:
        order = np.concatenate([2 * order, 2 * order + 1])
    return order
