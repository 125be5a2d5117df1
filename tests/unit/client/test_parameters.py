import math
from fractions import Fraction

import pytest

from fhelium_ir.client.parameters import generate, level_scale, rescaled
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

# 1 modulo 32: usable with N = 16
SMALL = Parameters(16, (97, 193, 257), (353, 449), 3, 7, insecure=True)


def _is_prime(n: int) -> bool:
    return n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))


def test_one_bit_over_the_limit_of_real_primes() -> None:
    # 50 + 3 * 38 + 50 = 214 bits in all: primes below 2^bits fit, one more bit does not
    assert not generate(8192, [50, 38, 38, 38], [50], 4, 30).insecure
    with pytest.raises(FheliumError, match="is above 214, the 128-bit limit"):
        generate(8192, [50, 39, 38, 38], [50], 4, 30)
    assert generate(8192, [50, 39, 38, 38], [50], 4, 30, insecure=True).insecure


def test_generated_primes_follow_the_scale() -> None:
    degree, bits = 64, 20
    parameters = generate(degree, [26] + [bits] * 8, [26], 9, bits, insecure=True)
    primes = [n for n in range(1, 1 << 21, 2 * degree) if _is_prime(n)]
    default = Fraction(1 << bits)
    scale, used = default, set[int]()
    for level in range(8, 0, -1):
        target = scale**2 / default
        # |p - target| times the denominator, in integers
        top, bottom = target.numerator, target.denominator
        distances = {abs(p * bottom - top): p for p in primes if p not in used}
        nearest = distances[min(distances)]
        assert parameters.q[level] == nearest
        used.add(nearest)
        scale = scale**2 / nearest
        assert abs(scale / default - 1) < Fraction(1, 100)
    below = [p for p in parameters.q[1:] if p < 1 << bits]
    assert 2 <= len(below) <= 6
    assert parameters.p[0] > parameters.q[0]
    largest = [n for n in range(1 + 2 * degree * 524000, 1 << 26, 2 * degree) if _is_prime(n)][-2:]
    assert [parameters.q[0], parameters.p[0]] == largest


def test_a_deep_chain_stays_next_to_the_scale() -> None:
    parameters = generate(1 << 16, [60] + [50] * 27, [60] * 4, 7, 50)
    parameters.validate()
    assert len(set(parameters.primes)) == 32
    for level in range(28):
        assert abs(level_scale(parameters, level) / (1 << 50) - 1) < Fraction(1, 1 << 25)


def test_level_scales_are_exact() -> None:
    q = SMALL.q
    assert level_scale(SMALL, 2) == 128
    assert level_scale(SMALL, 1) == Fraction(128**2, q[2])
    assert level_scale(SMALL, 0) == Fraction(Fraction(128**2, q[2]) ** 2, q[1])


@pytest.mark.parametrize(
    ("degree", "q_bits", "p_bits", "digits", "scale"),
    [
        (1 << 13, [60, 40], [60], 2, 40),
        (1 << 13, [50, 40], [50], 2, 40),
        (1 << 13, [48, 38, 38, 38], [48], 4, 38),
        (1 << 16, [60, 60], [61], 2, 40),
        (1 << 14, [29, 25, 25, 25], [29], 4, 25),
    ],
)
def test_generated_sizes(
    degree: int, q_bits: list[int], p_bits: list[int], digits: int, scale: int
) -> None:
    parameters = generate(degree, q_bits, p_bits, digits, scale)
    parameters.validate()
    assert not parameters.insecure
    for prime, bits in zip(parameters.primes, q_bits + p_bits, strict=True):
        assert abs(math.log2(prime) - bits) < 0.05
        assert prime % (2 * degree) == 1


def test_p_grows_when_a_digit_of_the_same_size_is_larger() -> None:
    # all digits of 7 primes at the scale, P of 7 primes of the same nominal size
    parameters = generate(1 << 12, [40] * 28, [40] * 7, 4, 40, insecure=True)
    digits = [math.prod(parameters.q[7 * j : 7 * j + 7]) for j in range(4)]
    assert math.prod(parameters.p) >= max(digits)


def test_generation_reports_what_is_impossible() -> None:
    with pytest.raises(FheliumError, match="not enough primes"):
        generate(1 << 13, [15, 15], [15], 2, 15, insecure=True)
    with pytest.raises(FheliumError, match="63 bits"):
        generate(1 << 13, [63], [40], 1, 40, insecure=True)
    with pytest.raises(FheliumError, match="100 bits"):
        generate(1 << 13, [60, 100], [60], 2, 100, insecure=True)
    with pytest.raises(FheliumError, match="power of two"):
        generate(1000, [40], [41], 1, 40, insecure=True)
    with pytest.raises(FheliumError, match="default scale"):
        generate(1 << 13, [40], [41], 1, -1, insecure=True)
    with pytest.raises(FheliumError, match="at least one prime"):
        generate(1 << 13, [], [41], 1, 40, insecure=True)
    with pytest.raises(FheliumError, match="digits = 2"):
        generate(1 << 13, [40], [41], 2, 40, insecure=True)
    with pytest.raises(FheliumError, match=r"special primes .* smaller than the digit"):
        generate(1 << 13, [60, 40], [50], 2, 40)
    with pytest.raises(FheliumError, match="parameters are insecure"):
        generate(1 << 12, [60, 40], [60], 2, 40)


def test_rescaled_to_a_small_ring() -> None:
    large = generate(1 << 13, [48, 38, 38, 38], [48], 4, 38)
    small = rescaled(large, 32)
    small.validate()
    assert small.insecure and not large.insecure
    assert (small.ring_degree, small.digits, small.scale_bits) == (32, 4, 38)
    for before, after in zip(large.primes, small.primes, strict=True):
        assert abs(math.log2(before) - math.log2(after)) < 0.001
    for level in range(4):
        assert abs(level_scale(small, level) / (1 << 38) - 1) < Fraction(1, 1 << 25)


def test_rescaled_to_a_large_ring_stays_secure() -> None:
    large = rescaled(generate(1 << 13, [60, 40], [60], 2, 40), 1 << 16)
    large.validate()
    large.check_security()
    assert not large.insecure
    assert [q % (1 << 17) for q in large.primes] == [1, 1, 1]


def test_rescaled_to_the_same_ring_changes_nothing() -> None:
    assert rescaled(SMALL, 16) is SMALL
