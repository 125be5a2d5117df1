from fractions import Fraction
from itertools import islice

import pytest

from fhelium_ir.client.numbers import (
    bit_reversal,
    ntt_primes_down,
    ntt_primes_near,
    ntt_primes_up,
    primitive_root,
)


def _sieve(limit: int) -> list[bool]:
    flags = [False, False] + [True] * (limit - 2)
    for i in range(2, int(limit**0.5) + 1):
        if flags[i]:
            flags[i * i :: i] = [False] * len(flags[i * i :: i])
    return flags


def test_prime_search_agrees_with_a_sieve() -> None:
    flags = _sieve(20000)
    primes = [n for n in range(20000) if flags[n] and n % 32 == 1]
    target = Fraction(20001, 2)
    below = [p for p in primes if p <= 10000]
    above = [p for p in primes if p >= 10000]
    assert list(ntt_primes_down(10000, 16)) == below[::-1]
    assert list(islice(ntt_primes_up(10000, 16), 20)) == above[:20]
    nearest = sorted(primes, key=lambda p: (abs(p - target), p))
    assert list(islice(ntt_primes_near(target, 16), 40)) == nearest[:40]


def test_prime_search_includes_its_bounds() -> None:
    assert next(ntt_primes_down(97, 16)) == 97
    assert next(ntt_primes_up(97, 16)) == 97
    assert next(ntt_primes_near(97, 16)) == 97


@pytest.mark.parametrize(
    ("degree", "q", "psi"),
    [
        (8, 17, 3),  # 2 is a square modulo 17, so g = 3
        (4, 17, 9),  # 3^2
        (8, 97, 8),  # 2, 3 and 4 are squares modulo 97, so g = 5; 5^6 = 15625 = 8
        (2, 13, 8),  # 2^3
    ],
)
def test_root_of_the_first_generator_that_has_one(degree: int, q: int, psi: int) -> None:
    assert primitive_root(degree, q) == psi


def test_root_has_order_2n() -> None:
    psi = primitive_root(1 << 14, 1152921504607338497)
    assert pow(psi, 1 << 14, 1152921504607338497) == 1152921504607338496


def test_root_needs_a_suitable_prime() -> None:
    with pytest.raises(ValueError, match="is not 1 modulo"):
        primitive_root(16, 17)


def test_bit_reversal() -> None:
    assert bit_reversal(8).tolist() == [0, 4, 2, 6, 1, 5, 3, 7]
    order = bit_reversal(1 << 10)
    assert order.tolist() == [int(f"{i:010b}"[::-1], 2) for i in range(1 << 10)]
