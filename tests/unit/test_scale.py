import math
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.parser import Parser

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.ckks import parse_scale
from fhelium_ir.scale import POWER_LIMIT, RATIO_BITS, Scale
from fhelium_ir.universe import make_context

CHAIN = (97, 193, 257, 353)
"""Primes; a scale's value does not depend on what they are for."""


def parsed(text: str) -> Scale:
    return parse_scale(Parser(make_context(), text))


scales = st.builds(
    Scale.of,
    st.integers(-80, 80),
    st.dictionaries(st.integers(0, 3), st.integers(-5, 5)),
    st.fractions(min_value=Fraction(1, 50), max_value=50, max_denominator=50),
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", Fraction(1)),
        ("2**40", Fraction(1 << 40)),
        ("6", Fraction(6)),
        ("2**80 / q1", Fraction(1 << 80, 193)),
        ("2 ** 3 * q0**2 / q3 / 7", Fraction(8 * 97**2, 353 * 7)),
        ("q2 * 3 * q0 * 2 / q1**2 / 5 * 10", Fraction(257 * 3 * 97 * 2 * 10, 193**2 * 5)),
        ("1 / 2**3", Fraction(1, 8)),
        ("12**2 / 2**10", Fraction(144, 1024)),
    ],
)
def test_the_value_of_a_text(text: str, value: Fraction) -> None:
    assert parsed(text).value(CHAIN) == value


@given(scales)
def test_text_round_trips(scale: Scale) -> None:
    assert parsed(str(scale)) == scale


@given(scales, scales)
def test_arithmetic_is_that_of_the_values(left: Scale, right: Scale) -> None:
    product = left * right
    assert product.value(CHAIN) == left.value(CHAIN) * right.value(CHAIN)
    assert product == right * left
    assert product * right.inverse() == left
    assert left.inverse().value(CHAIN) == 1 / left.value(CHAIN)
    assert left.over_prime(2).value(CHAIN) == left.value(CHAIN) / 257


def test_equal_scales_have_one_form() -> None:
    assert parsed("4 * q1 / q1 * 3 / 6") == Scale(1)
    assert Scale.of(0, {2: 0}, Fraction(12, 5)) == Scale(2, (), Fraction(3, 5))
    assert parsed("q2 * q0") == parsed("q0 * q2")
    assert str(parsed("q2 * q0 / 3")) == "q0 * q2 / 3"


def test_near_is_not_equal() -> None:
    assert parsed("2**8") != parsed("q2")
    assert parsed("2**16 / q2") != parsed("2**8")


def test_the_highest_prime() -> None:
    assert Scale(40).highest_prime() == -1
    assert parsed("q0 / q3**2 * q1").highest_prime() == 3


def test_exponents_are_bounded() -> None:
    scale = Scale(POWER_LIMIT)
    with pytest.raises(FheliumError, match=f"an exponent beyond {POWER_LIMIT}"):
        _ = scale * Scale(1)
    assert scale * Scale(1).inverse() == Scale(POWER_LIMIT - 1)
    prime = Scale(0, ((1, -POWER_LIMIT),))
    with pytest.raises(FheliumError, match=f"an exponent beyond {POWER_LIMIT}"):
        prime.over_prime(1)


def test_the_ratio_is_bounded() -> None:
    largest = Scale.of(0, {}, Fraction(2**RATIO_BITS - 1))
    with pytest.raises(FheliumError, match="more than 4096 bits"):
        _ = largest * Scale.of(0, {}, Fraction(3))
    # what a scale may hold can be printed and read again
    assert parsed(str(largest.inverse())) == largest.inverse()


def test_log2_of_exponents_that_cancel() -> None:
    # 2^(40 * 2^80) / q^(2^80) with q near 2^40: in floats the two terms would cancel to nothing
    prime = (1 << 40) + 15
    getcontext().prec = 80
    exact = (40 - Decimal(prime).ln() / Decimal(2).ln()) * Decimal(2**80)
    scale = Scale(40 << 80, ((0, -(1 << 80)),))
    assert scale.log2([prime]) == pytest.approx(float(exact), rel=1e-12)
    assert abs(float(exact)) > 1e10


def test_log2_agrees_with_the_exact_value() -> None:
    primes = (97, 113, 1099511627791)
    scale = Scale.of(-7, {0: 3, 1: -2, 2: 5}, Fraction(1025, 3))
    value = scale.value(primes)
    bits = math.log2(value.numerator) - math.log2(value.denominator)
    assert scale.log2(primes) == pytest.approx(bits, abs=1e-9)
