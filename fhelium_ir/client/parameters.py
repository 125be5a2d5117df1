"""Generation of CKKS parameters: primes that follow the scale, and the scale of each level."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from fhelium_ir.client.numbers import ntt_primes_down, ntt_primes_near, ntt_primes_up
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import PRIME_LIMIT, Parameters, log2_text

# Level scales are exact in principle, but their size doubles at each level: beyond this denominator
# they are rounded, and each level then loses one bit.
_SCALE_PRECISION = 1 << 512


def level_scale(parameters: Parameters, level: int) -> Fraction:
    """S_level, from S_top = 2^scale_bits and S_{l-1} = S_l^2 / q_l.

    Exact while its denominator is at most 2^512, otherwise rounded; the relative error stays below
    2^-400 for chains of fewer than 100 primes that follow the scale.
    """
    scale = parameters.default_scale
    for index in range(parameters.top_level, level, -1):
        scale = _next_scale(scale, parameters.q[index])
    return scale


def generate(
    ring_degree: int,
    q_bits: Sequence[int],
    p_bits: Sequence[int],
    digits: int,
    scale_bits: int,
    insecure: bool = False,
) -> Parameters:
    """A validated and security-checked set whose primes follow the scale.

    Primes q_l, l >= 1, with nominal size `scale_bits` are the unused primes nearest
    S_l^2 / 2^scale_bits, from the top down, so that the level scales S_l stay next to
    2^scale_bits. A prime of another size in between restarts the rule at 2^scale_bits. All others
    are the largest unused primes below 2^bits, P first; if P is then smaller than a digit of the
    same nominal size, its primes are taken just above 2^bits instead, one by one.
    """
    q_bounds: list[int | None] = [_bound(bits) for bits in q_bits]
    for index in range(1, len(q_bits)):
        if q_bits[index] == scale_bits:
            q_bounds[index] = None
    parameters = _build(
        Parameters(ring_degree, (), (), digits, scale_bits, insecure=insecure),
        q_bounds,
        [_bound(bits) for bits in p_bits],
    )
    parameters.check_security()
    return parameters


def rescaled(parameters: Parameters, ring_degree: int) -> Parameters:
    """The same chain at another ring degree: as many primes, of the same sizes.

    Primes within half a bit of the default scale follow the scale again, the others become the
    largest unused ones not above them. The result is marked insecure when the security table does
    not cover it, as for every small ring degree.
    """
    if ring_degree == parameters.ring_degree:
        return parameters
    double = 2 * parameters.scale_bits
    q_bounds = [
        None if index and 1 << (double - 1) < prime**2 < 1 << (double + 1) else prime
        for index, prime in enumerate(parameters.q)
    ]
    result = _build(replace(parameters, ring_degree=ring_degree), q_bounds, parameters.p)
    try:
        result.check_security()
    except FheliumError:
        return replace(result, insecure=True)
    return result


def _build(
    template: Parameters, q_bounds: Sequence[int | None], p_bounds: Sequence[int]
) -> Parameters:
    """Choose the primes; a bound of None means that the prime follows the scale."""
    degree = template.ring_degree
    # what validate() will refuse must not reach the search for primes
    zeros = replace(template, q=(0,) * len(q_bounds), p=(0,) * len(p_bounds))
    zeros.validate_shape()
    used: set[int] = set()
    q = [0] * len(q_bounds)
    scale = template.default_scale
    for index in range(len(q) - 1, 0, -1):
        if q_bounds[index] is not None:
            scale = template.default_scale
            continue
        target = scale**2 / template.default_scale
        q[index] = _take(ntt_primes_near(target, degree), used, target)
        scale = _next_scale(scale, q[index])
    p = [_take(ntt_primes_down(bound, degree), used, bound) for bound in p_bounds]
    for index, bound in enumerate(q_bounds):
        if bound is not None:
            q[index] = _take(ntt_primes_down(bound, degree), used, bound)
    parameters = replace(template, q=tuple(q), p=tuple(p))
    largest = max(map(parameters.digit_product, range(parameters.digit_count())))
    for index, bound in enumerate(p_bounds):
        if math.prod(p) < largest and bound + 2 * degree < PRIME_LIMIT:
            p[index] = _take(ntt_primes_up(bound + 1, degree), used, bound)
    if math.prod(p) >= largest:
        parameters = replace(parameters, p=tuple(p))
    parameters.validate()
    return parameters


def _take(candidates: Iterator[int], used: set[int], target: Fraction | int) -> int:
    """The first unused candidate within a factor sqrt(2) of the target; marks it used."""
    for prime in candidates:
        if not target**2 < 2 * prime**2 < 4 * target**2:
            break
        if prime not in used:
            used.add(prime)
            return prime
    raise FheliumError(
        f"there are not enough primes of {log2_text(round(target), 3)} bits that are 1 modulo "
        "twice the ring degree: use larger primes or a smaller ring degree"
    )


def _bound(bits: int) -> int:
    if not 2 <= bits <= 62:
        raise FheliumError(f"a prime of {bits} bits was asked for: sizes from 2 to 62 are possible")
    return (1 << bits) - 1


def _next_scale(scale: Fraction, prime: int) -> Fraction:
    result = scale**2 / prime
    if result.denominator <= _SCALE_PRECISION:
        return result
    return Fraction(round(result * _SCALE_PRECISION), _SCALE_PRECISION)
