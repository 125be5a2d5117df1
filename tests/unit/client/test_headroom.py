import math
from fractions import Fraction

from fhelium_ir.client.headroom import has_headroom, headroom_bits


def test_the_rule_is_strict_and_exact() -> None:
    primes = [1 << 60, 1 << 40]
    assert has_headroom((1 << 99) - 1, 1, primes)
    assert not has_headroom(1 << 99, 1, primes)
    assert has_headroom(Fraction((1 << 100) - 1, 2), 1.0, primes)
    assert has_headroom(1 << 99, Fraction((1 << 60) - 1, 1 << 60), primes)
    assert not has_headroom(1 << 98, 2.0, primes)


def test_the_case_that_decrypts_to_nonsense() -> None:
    # 1024 at scale 2^40 does not fit a last prime of 50 bits; 511 does
    prime = (1 << 50) - 27
    assert not has_headroom(1 << 40, 1024, [prime])
    assert not has_headroom(1 << 40, 512, [prime])
    assert has_headroom(1 << 40, 511, [prime])


def test_bits() -> None:
    assert headroom_bits(1 << 40, 2, [1 << 50, 1 << 40]) == 48
    assert headroom_bits(1 << 40, 1024, [1 << 50]) == -1
    assert headroom_bits(1 << 40, 0, [97]) == math.inf
