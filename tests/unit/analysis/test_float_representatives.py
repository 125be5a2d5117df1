"""Intervals of `fp64`: what a word holds, products, and the check of tracked IR."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fhelium_ir.analysis import float_bounds
from fhelium_ir.analysis.representatives import Words, check_representatives
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects.rns import Basis
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.parameters import Parameters
from fhelium_ir.universe import make_context

Q0, Q1, P0 = 1125899906839937, 1099511623297, 1125899906840833
WORDS = Words(ARITHMETICS["fp64"], Parameters(64, (Q0, Q1), (P0,), 1, 40))
WIDE, NARROW = Basis((0, 1)), Basis((1, 2))


def test_a_word_is_below_2_to_the_52() -> None:
    assert WORDS.capacity(WIDE) == 8 and WORDS.capacity(NARROW) == 8192
    for basis, q in ((WIDE, Q0), (NARROW, Q1)):
        below = WORDS.capacity(basis)
        assert Fraction(below * q, 2) < 1 << 52 < Fraction((below + 1) * q, 2)


def test_products_fit_while_the_quotient_is_below_2_to_the_51() -> None:
    for left, right in ((1, 1), (2, 2), (1, 8), (8, 1), (2, 4)):
        assert WORDS.product(left, right, WIDE) == 2
        assert left * right * Fraction(Q0, 4) < 1 << 51
    for left, right in ((3, 3), (2, 8), (8, 8)):
        assert WORDS.product(left, right, WIDE) > WORDS.capacity(WIDE)
        assert left * right * Fraction(Q0, 4) > 1 << 51
    # Smaller primes have room for two sums.
    assert WORDS.product(90, 91, NARROW) == 2


@pytest.mark.parametrize("q", [(1 << 50) - 27, int(2**49.68), (1 << 49) - 1, (1 << 40) - 1, 97])
def test_bounds_are_what_the_proof_says(q: int) -> None:
    """1/2 + |x w / q| 2^-52, or 7/8; limits are rounded down, bounds up, by at most 2^-10."""
    limit = float_bounds.limit(q)
    assert 0 <= Fraction((1 << 52) - 1, q) - limit < Fraction(1, 1024)
    for bound in (Fraction(1, 2), Fraction(1), Fraction(7, 2), limit):
        for factor in (Fraction(1, 2), Fraction(7, 8)):
            found = float_bounds.product(bound, q, factor)
            exact = Fraction(1, 2) + bound * q * factor * q / q / (1 << 52)
            assert found == Fraction(7, 8) < exact or 0 <= found - exact < Fraction(1, 1024)
        assert float_bounds.product(bound, q) == float_bounds.product(bound, q, Fraction(1, 2))
    assert float_bounds.product(limit, q) == Fraction(7, 8)
    assert float_bounds.terms_fit(1, limit, q) and not float_bounds.terms_fit(1 << 53, limit, q)


def test_how_many_terms_stay_unreduced() -> None:
    """The table of docs/numerics.md."""
    for size, centred, full in ((50, 7, 4), (49.68, 9, 5), (49, 15, 9)):
        q = int(2**size) - 1
        capacity = Fraction((1 << 53) // q, 2)
        for terms, bound in ((centred, Fraction(1, 2)), (full, capacity)):
            assert float_bounds.terms_fit(terms, bound, q)
            assert not float_bounds.terms_fit(terms + 1, bound, q)


def tracked(
    x: str = "int64(e = 0, below = 1)",
    s: str = "fp64(e = 0, below = 4)",
    r: str = "fp64(e = 0, below = 1)",
    contract: str = "input = 4, output = 8",
    result: str = "int64(e = 0, below = 1)",
) -> str:
    """A tracked function with the representatives of some of its values as given."""
    e = "!rns.poly<64, q 0:2, evaluation(bit_reversed), "
    word = f"{e}fp64(e = 0, below = 2)>"
    return f"""module attributes {{ckks.params = #ckks.params<ring_degree = 64, q = [{Q0}, {Q1}],
  p = [{P0}], digits = 2, scale = 2**40, secret = ternary, insecure>,
  rns.arithmetic = #rns.arithmetic<fp64>}} {{
func.func @f(%x : {e}{x}>) -> {e}{result}> {{
  %w = rns.set_representative %x : {e}{x}> -> {word}
  %s = rns.add %w, %w : {word} -> {e}{s}>
  %i = ntt.inverse %s {{contract = #ntt.contract<bit_reversed, {contract}, exponent = 0>}} :
    {e}{s}> -> !rns.poly<64, q 0:2, coefficient, fp64(e = 0, below = 8)>
  %n = rns.set_representative %s : {e}{s}> -> {e}{r}>
  %r = rns.set_representative %n : {e}{r}> -> {e}{result}>
  return %r : {e}{result}>
}} }}"""


def check(text: str) -> None:
    check_representatives(parse_module(make_context(), text, "test.mlir"))


def test_a_tracked_function_passes() -> None:
    check(tracked())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"result": "fp64(e = 0, below = 1)"},
            "%r crosses the interface of a function, so it must be stored as int64, not fp64",
        ),
        (
            {"x": "fp64(e = 0, below = 2)"},
            "%x crosses the interface of a function, so it must be stored as int64, not fp64",
        ),
        ({"s": "fp64(e = 0, below = 9)"}, "%s is below 9q, but a word of fp64 holds 8q"),
        ({"contract": "input = 2, output = 8"}, "ntt.inverse: %s is below 4q, the op takes 2q"),
        (
            {"r": "fp64(e = 0, below = 2)"},
            "rns.set_representative: %n is below 2q, the op takes 1q",
        ),
    ],
)
def test_violations_are_errors(changes: dict[str, str], message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        check(tracked(**changes))
    assert message in str(caught.value)


def test_an_understated_sum_is_an_error() -> None:
    text = tracked(s="fp64(e = 0, below = 3)")
    with pytest.raises(FheliumError, match=r"below|interval"):
        check(text)
