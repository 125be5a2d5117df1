import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.remarks import collect_remarks
from fhelium_ir.passes.ckks_check import CkksCheck
from fhelium_ir.universe import make_context

Q = (97, 113, 193)
PARAMS = (
    f"#ckks.params<ring_degree = 8, q = {list(Q)}, p = [257], digits = 3, scale = 2**5, "
    "secret = ternary, insecure>"
)


def checked(function: str) -> ModuleOp:
    text = f"module attributes {{ckks.params = {PARAMS}}} {{\n{function}\n}}"
    module = parse_module(make_context(), text)
    before = str(module)
    CkksCheck().apply(make_context(), module)
    assert str(module) == before
    return module


def identity(type_: str, bound: float) -> str:
    return (
        f"func.func @f(%x : {type_} {{ckks.range = {bound!r} : f64}}) -> {type_} {{\n"
        f"return %x : {type_}\n}}"
    )


@given(
    st.integers(0, 2),
    st.integers(-10, 25),
    st.integers(0, 2),
    st.integers(-2, 2),
    st.floats(min_value=1e-3, max_value=1e3),
)
def test_headroom_is_the_stated_inequality(
    level: int, two: int, prime: int, power: int, bound: float
) -> None:
    over = power < 0
    above = f"2**{two}" if two >= 0 else f"1 / 2**{-two}"
    scale = f"{above} {'/' if over else '*'} q{prime}**{abs(power)}"
    exact = 2 * Fraction(2) ** two * Fraction(Q[prime]) ** power * Fraction(bound)
    program = identity(f"!ckks.ciphertext<level = {level}, scale = {scale}>", bound)
    if exact < math.prod(Q[: level + 1]):
        checked(program)
    else:
        with pytest.raises(FheliumError, match=r"output 0 \(%x\) of @f has no headroom"):
            checked(program)


@pytest.mark.parametrize(("bound", "fits"), [(math.nextafter(48.5, 0), True), (48.5, False)])
def test_headroom_is_exact(bound: float, fits: bool) -> None:
    # 2 * 1 * 48.5 is q0 = 97.
    program = identity("!ckks.ciphertext<level = 0, scale = 1>", bound)
    if fits:
        checked(program)
    else:
        with pytest.raises(FheliumError, match="no headroom"):
            checked(program)


def test_an_infinite_bound_has_no_headroom() -> None:
    lines = ["%r0 = ckks.negate %x : !ckks.ciphertext<level = 2, scale = 1>"]
    for i in range(11):
        lines += [
            f"%s{i} = ckks.mul %r{i}, %r{i} : !ckks.ciphertext<level = 2, scale = 1>",
            f"%r{i + 1} = ckks.relinearize %s{i} : "
            "!ckks.ciphertext<level = 2, scale = 1, size = 3>",
        ]
    type_ = "!ckks.ciphertext<level = 2, scale = 1>"
    body = "\n".join(lines)
    with pytest.raises(FheliumError, match=r"max\|value\| <= inf"):
        checked(
            f"func.func @f(%x : {type_} {{ckks.range = 2.0 : f64}}) -> {type_} {{\n{body}\n"
            f"return %r11 : {type_}\n}}"
        )


def test_an_output_of_zeros_fits_at_any_scale() -> None:
    operand = "!ckks.ciphertext<level = 0, scale = 2**50>"
    type_ = "!ckks.ciphertext<level = 0, scale = 2**60>"
    plain = "!ckks.plaintext<level = 0, scale = 2**10>"
    checked(
        f"""func.func @f(%x : {operand}) -> {type_} {{
          %v = arith.constant dense<0.0> : tensor<2xf64>
          %p = ckks.encode %v : tensor<2xf64> -> {plain}
          %y = ckks.mul_plain %x, %p : {operand}, {plain}
          return %y : {type_}
        }}"""
    )


def test_every_slots_attribute_that_divides_the_slots() -> None:
    type_ = "!ckks.ciphertext<level = 0, scale = 1>"
    for count in range(-1, 9):
        program = f"func.func @f(%x : {type_} {{ckks.slots = {count} : i64}}) {{ return }}"
        if count in (1, 2, 4):
            checked(program)
        else:
            with pytest.raises(FheliumError, match=r"argument 0 of @f: ckks\.slots must be"):
                checked(program)


def test_remarks_state_the_headroom() -> None:
    with collect_remarks() as remarks:
        checked(identity("!ckks.ciphertext<level = 1, scale = 2**4>", 2.0))
    # log2(97 * 113 / 64)
    assert [remark.text for remark in remarks] == [
        "output 0 (%x) of @f: |value| <= 2, headroom 7.4 bits"
    ]
