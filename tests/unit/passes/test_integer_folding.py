"""Folded integers against Python's and NumPy's arithmetic of fixed width."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects import func

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.passes.integer_folding import fold, folds, wrapped

BYTES = st.integers(-128, 127)


def result(op: str, *operands: int, type_: str = "i8", to: str = "") -> int:
    """The folded result of an op on constants."""
    names = ", ".join(f"%{i}" for i in range(len(operands)))
    lines = [f"%{i} = arith.constant {v} : {type_}" for i, v in enumerate(operands)]
    tail = f"{type_} to {to}" if to else type_
    text = (
        "func.func @f() {\n" + "\n".join(lines) + f"\n%r = arith.{op} {names} : {tail}\nreturn }}"
    )
    module = parse_module(universe.make_context(), text)
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    *constants, last, _ = function.body.block.ops
    assert folds(last) and all(map(folds, constants))
    return fold(last, [fold(constant, []) for constant in constants])


@pytest.mark.parametrize("op", ["addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi"])
@given(BYTES, BYTES)
def test_signed_ops_wrap_like_bytes(op: str, a: int, b: int) -> None:
    left, right = np.array([a], dtype=np.int8), np.array([b], dtype=np.int8)
    expected = {
        "addi": left + right,
        "subi": left - right,
        "muli": left * right,
        "andi": left & right,
        "ori": left | right,
        "xori": left ^ right,
        "minsi": np.minimum(left, right),
        "maxsi": np.maximum(left, right),
    }
    assert result(op, a, b) == int(expected[op][0])


@given(BYTES, BYTES.filter(bool))
def test_divisions(a: int, b: int) -> None:
    u, v = a % 256, b % 256
    towards_zero = int(np.trunc(a / b))
    assert result("divsi", a, b) == wrapped(towards_zero, 8)
    assert result("remsi", a, b) == a - b * towards_zero
    assert result("floordivsi", a, b) == wrapped(int(np.floor(a / b)), 8)
    assert result("ceildivsi", a, b) == wrapped(int(np.ceil(a / b)), 8)
    assert result("divui", a, b) % 256 == u // v
    assert result("remui", a, b) % 256 == u % v
    assert result("ceildivui", a, b) % 256 == int(np.ceil(u / v))
    assert result("minui", a, b) % 256 == min(u, v)
    assert result("maxui", a, b) % 256 == max(u, v)


@given(BYTES, st.integers(0, 7))
def test_shifts(a: int, by: int) -> None:
    assert result("shli", a, by) % 256 == (a << by) % 256
    assert result("shrsi", a, by) == int(np.array([a], dtype=np.int8)[0] >> by)
    assert result("shrui", a, by) % 256 == (a % 256) >> by


@given(BYTES, BYTES)
def test_comparisons(a: int, b: int) -> None:
    u, v = a % 256, b % 256
    expected = {"eq": a == b, "ne": a != b, "slt": a < b, "sle": a <= b, "sgt": a > b}
    expected |= {"sge": a >= b, "ult": u < v, "ule": u <= v, "ugt": u > v, "uge": u >= v}
    for predicate, value in expected.items():
        assert result(f"cmpi {predicate},", a, b) == int(value)


def test_casts() -> None:
    assert result("extsi", -1, to="i32") == -1
    assert result("extui", -1, to="i32") == 255
    assert result("trunci", 300, type_="i32", to="i8") == 44
    assert result("index_cast", 5, type_="index", to="i32") == 5
    assert result("index_cast", -5, type_="i32", to="index") == -5


def test_bits() -> None:
    """i1 holds 0 and 1; as a signed number 1 is -1."""
    assert result("addi", 1, 1, type_="i1") == 0
    assert result("cmpi slt,", 1, 0, type_="i1") == 1
    assert result("cmpi ult,", 1, 0, type_="i1") == 0


@pytest.mark.parametrize("op", ["divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi"])
def test_a_division_by_zero_is_an_error(op: str) -> None:
    with pytest.raises(FheliumError, match=f"arith.{op}: division by zero"):
        result(op, 1, 0)


def test_a_shift_by_too_much_is_an_error() -> None:
    with pytest.raises(FheliumError, match=r"arith\.shli: shift of 8 bits by 8"):
        result("shli", 1, 8)


def test_floats_do_not_fold() -> None:
    text = "func.func @f() {\n%r = arith.constant 1.0 : f64\nreturn }"
    (function,) = parse_module(universe.make_context(), text).ops
    assert not any(map(folds, function.walk()))
