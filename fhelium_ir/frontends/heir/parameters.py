"""HEIR's parameters as those of this project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import log2, prod

from fhelium_ir.client.numbers import ntt_primes_down, ntt_primes_up
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir.attributes import SchemeParameters
from fhelium_ir.parameters import PRIME_LIMIT, Parameters

WORD_LIMIT = 1 << 30
"""32-bit arithmetic takes primes below this."""


def parameters_for(scheme: SchemeParameters, digits: int, suit: bool, insecure: bool) -> Parameters:
    """The chain as HEIR states it, with digits for key switching.

    Args:
        scheme: what the module states.
        digits: digits, or 0 for the fewest that the special primes allow.
        suit: replace the special primes by primes of the size of the chain's largest, as many as the digits need.
        insecure: accept what misses 128 bits.

    Raises:
        FheliumError: the special primes are too small for any number of digits, or the parameters break a rule.
    """
    q, p = scheme.q, scheme.p
    if suit:
        count = digits or _fewest_digits(q, prod(p)) or len(q)
        p = _suiting(q, count, scheme.ring_degree)
    else:
        count = digits or _fewest_digits(q, prod(p))
        if count == 0:
            raise FheliumError(
                "the special primes are smaller than a prime of the chain; the option "
                "special-primes=suit replaces them"
            )
    parameters = Parameters(scheme.ring_degree, q, p, count, scheme.scale_bits, "ternary", insecure)
    parameters.validate()
    parameters.check_security()
    return parameters


def _digits(q: Sequence[int], count: int) -> list[int]:
    """The products of the primes of each digit."""
    size = -(-len(q) // count)
    return [prod(q[start : start + size]) for start in range(0, len(q), size)]


def _fewest_digits(q: Sequence[int], special: int) -> int:
    """The fewest digits none of which exceeds the special modulus; 0 if there is no such number."""
    for count in range(1, len(q) + 1):
        if max(_digits(q, count)) <= special:
            return count
    return 0


def _suiting(q: Sequence[int], count: int, ring_degree: int) -> tuple[int, ...]:
    """As few primes of the size of the chain's largest as reach the largest digit, unused: below its power of two, or
    else just above, as long as 32-bit arithmetic stays possible where it is."""
    wanted = max(_digits(q, count))
    bits = max(q).bit_length()
    limit = WORD_LIMIT if max(q) < WORD_LIMIT else PRIME_LIMIT
    number = max(1, round(log2(wanted) / bits))
    for length in (number, number + 1):
        below = _take(ntt_primes_down((1 << bits) - 1, ring_degree), q, length)
        if prod(below) >= wanted:
            return below
        above = _take(ntt_primes_up(1 << bits, ring_degree), q, length)
        if prod(above) >= wanted and max(above) < limit:
            return above
    raise FheliumError("there are no special primes that suit the chain; use special-primes=keep")


def _take(primes: Iterator[int], q: Sequence[int], count: int) -> tuple[int, ...]:
    return tuple(islice((prime for prime in primes if prime not in q), count))
