"""Intervals of representatives: words of the machine, products, and the check of tracked IR."""

from __future__ import annotations

import re

import pytest

from fhelium_ir.analysis.representatives import Words, check_representatives
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects.rns import Basis
from fhelium_ir.dialects.zq import ARITHMETICS, Arithmetic
from fhelium_ir.parameters import Parameters
from fhelium_ir.universe import make_context

Q0, Q1, P0 = 1152921504606683137, 1152921504606748673, 1152921504606830593


def words(arithmetic: str, q: tuple[int, ...], p: tuple[int, ...]) -> Words:
    return Words(ARITHMETICS[arithmetic], Parameters(8192, q, p, 1, 20))


def montgomery(a: int, b: int, q: int, bits: int) -> int:
    """The word that a Montgomery product leaves: (a*b + m*q) / R with m = -a*b/q mod R."""
    radix = 1 << bits
    m = -a * b * pow(q, -1, radix) % radix
    return (a * b + m * q) >> bits


@pytest.mark.parametrize("q", [3, 13, 17, 31, 61])
def test_the_bound_of_a_product_holds_for_all_words(q: int) -> None:
    tiny = Words(Arithmetic("tiny", 8, 8), Parameters(8, (q,), (3,), 1, 20))
    basis = Basis(q=(0, 1))
    capacity = tiny.capacity(basis)
    assert capacity == 256 // q
    for left in range(1, capacity + 1):
        for right in (1, 2, capacity):
            bound = tiny.product(left, right, basis) * q
            a = left * q - 1
            assert all(montgomery(a, b, q, 8) < bound for b in range(right * q))


def test_capacity_is_that_of_the_largest_prime() -> None:
    w = words("mont64", (97, Q0), (P0,))
    assert w.capacity(Basis(q=(0, 1))) == (1 << 64) // 97
    assert w.capacity(Basis(q=(0, 2))) == 16
    assert w.capacity(Basis(q=(0, 1), p=(0, 1))) == 16
    # The first 61-bit prime that a ring of degree 2^13 allows holds 15 times.
    assert words("mont64", (1152921504607338497,), (P0,)).capacity(Basis(q=(0, 1))) == 15


def test_a_prime_that_the_parameters_lack_is_an_error() -> None:
    with pytest.raises(FheliumError, match=r"q 0:3 has the prime q2, the parameters have 2"):
        words("mont64", (Q0, Q1), (P0,)).capacity(Basis(q=(0, 3)))


def tracked(
    m: str = "T(1, 2)",
    o: str = "T(1, 2)",
    r: str = "T(0, 1)",
    arithmetic: str = "mont64",
    inverse_input: int = 2,
) -> str:
    """A tracked function with the types of three of its values, `T(exponent, below)`, as given."""
    text = f"""module attributes {{ckks.params = #ckks.params<ring_degree = 8192, q = [{Q0}, {Q1}],
  p = [{P0}], digits = 2, scale = 2**40, secret = ternary, insecure>,
  rns.arithmetic = #rns.arithmetic<{arithmetic}>}} {{
func.func @f(%x : T(0, 1)) -> {r} {{
  %o = rns.set_representative %x : T(0, 1) -> {o}
  %m = rns.mul %o, %o : {o} -> {m}
  %i = ntt.inverse %m {{contract = #ntt.contract<bit_reversed, input = {inverse_input},
    output = 2, exponent = -1>}} : {m} -> !rns.poly<8192, q 0:2, coefficient,
    mont64(e = 0, below = 2)>
  %f = ntt.forward %i {{contract = #ntt.contract<bit_reversed, input = 4, output = 4,
    exponent = 0>}} : !rns.poly<8192, q 0:2, coefficient, mont64(e = 0, below = 2)>
  %r = rns.set_representative %f : T(0, 4) -> {r}
  return %r : {r}
}}
}}
"""
    pattern = r"T\((\d+|\?), (\d+|\?)\)"
    type_ = r"!rns.poly<8192, q 0:2, evaluation(bit_reversed), mont64(e = \1, below = \2)>"
    return re.sub(pattern, type_, text)


def check(text: str) -> None:
    check_representatives(parse_module(make_context(), text, "f.mlir"))


def test_tracked_ir_passes_the_check() -> None:
    check(tracked())
    # A wider interval than the one that follows is no error.
    check(tracked(o="T(1, 3)"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            tracked(m="T(1, 1)"),
            "f.mlir:6:8: rns.mul: %m is said to be below 1q, but only 2q follows",
        ),
        (tracked(r="T(0, 2)"), "f.mlir:13:3: func.return: %r is below 2q, the op takes 1q"),
        (tracked(r="T(1, 1)"), "f.mlir:13:3: %r crosses the interface of a function"),
        (tracked(m="T(1, ?)"), "f.mlir:6:8: %m has no representative"),
        (tracked(m="T(1, 17)"), "%m is below 17q, but a word of mont64 holds 16q"),
        (
            tracked(arithmetic="mont32"),
            "%x is stored for mont64, the module's arithmetic is mont32",
        ),
        (tracked(inverse_input=1), "f.mlir:7:8: ntt.inverse: %m is below 2q, the op takes 1q"),
    ],
)
def test_what_does_not_follow_is_refused(text: str, message: str) -> None:
    with pytest.raises(FheliumError, match=re.escape(message)):
        check(text)
