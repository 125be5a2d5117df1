"""SSA dominance and the form of verification errors."""

from __future__ import annotations

import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.universe import make_context


def verify(text: str) -> None:
    verify_module(parse_module(make_context(), text, "t"))


STRAIGHT = """\
func.func @f(%a: i32) -> i32 {
  %b = arith.addi %a, %a : i32
  return %b : i32
}"""

DIAMOND = """\
func.func @f(%c: i1, %a: i32) -> i32 {
  %x = arith.addi %a, %a : i32
  cf.cond_br %c, ^left, ^right
^left:
  %l = arith.addi %x, %a : i32
  cf.br ^join(%l : i32)
^right:
  %r = arith.muli %x, %a : i32
  cf.br ^join(%r : i32)
^join(%j: i32):
  %s = arith.addi %j, %x : i32
  return %s : i32
}"""

LOOP = """\
func.func @f(%n: index, %a: i32) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %a) -> (i32) {
    %t = arith.addi %acc, %a : i32
    scf.yield %t : i32
  }
  return %r : i32
}"""

BACK_EDGE = """\
func.func @f(%c: i1, %a: i32) -> i32 {
  cf.br ^head(%a : i32)
^head(%x: i32):
  %y = arith.addi %x, %a : i32
  cf.cond_br %c, ^head(%y : i32), ^exit
^exit:
  return %y : i32
}"""

UNREACHABLE = """\
func.func @f(%a: i32) -> i32 {
  return %a : i32
^nowhere:
  %u = arith.addi %v, %a : i32
  %v = arith.addi %u, %a : i32
  return %v : i32
}"""


@pytest.mark.parametrize("text", [STRAIGHT, DIAMOND, LOOP, BACK_EDGE, UNREACHABLE])
def test_valid_programs_verify(text: str) -> None:
    verify(text)


@pytest.mark.parametrize(
    "text, place, message",
    [
        (
            STRAIGHT.replace("%a, %a : i32", "%b, %a : i32"),
            "t:2:8",
            "'arith.addi': %b is used before its definition (at t:2:8)",
        ),
        (
            LOOP.replace("  %zero = arith.constant 0 : index\n", "").replace(
                "  return", "  %zero = arith.constant 0 : index\n  return"
            ),
            "t:3:8",
            "'scf.for': %zero is used before its definition (at t:7:11)",
        ),
        (
            DIAMOND.replace("%s = arith.addi %j, %x", "%s = arith.addi %j, %l"),
            "t:11:8",
            "'arith.addi': the definition of %l (at t:5:8) does not dominate this use",
        ),
        (
            DIAMOND.replace("%r = arith.muli %x, %a", "%r = arith.muli %x, %l"),
            "t:8:8",
            "'arith.muli': the definition of %l (at t:5:8) does not dominate this use",
        ),
        (
            BACK_EDGE.replace("cf.br ^head(%a : i32)", "cf.br ^head(%y : i32)"),
            "t:2:3",
            "'cf.br': the definition of %y (at t:4:8) does not dominate this use",
        ),
        (
            DIAMOND.replace("%l = arith.addi %x, %a", "%l = arith.addi %j, %a"),
            "t:5:8",
            "'arith.addi': %j is an argument of a block that does not dominate this use",
        ),
    ],
)
def test_a_use_that_is_not_dominated(text: str, place: str, message: str) -> None:
    with pytest.raises(FheliumError) as error:
        verify(text)
    assert (error.value.location, error.value.message) == (place, message)


def test_a_value_of_an_inner_region_is_not_visible_outside() -> None:
    text = LOOP.replace("return %r", "return %t")
    with pytest.raises(FheliumError, match=r"^t:8:10: value %t is used but never defined$"):
        verify(text)


def test_an_isolated_op_does_not_see_outer_values() -> None:
    text = "%a = arith.constant 1 : i32\nfunc.func @f() -> i32 {\n  return %a : i32\n}"
    with pytest.raises(FheliumError) as error:
        verify(text)
    assert error.value.location is not None


def test_the_window_after_a_pass_is_small() -> None:
    body = "\n".join(f"  %v{i} = arith.addi %a, %a : i32" for i in range(50))
    text = f"func.func @f(%a: i32) -> i64 {{\n{body}\n  return %v3 : i32\n}}"
    module = parse_module(make_context(), text, "t")
    with pytest.raises(FheliumError, match=r"^t:52:3: after pass 'x': 'func.return': ") as error:
        verify_module(module, after="x")
    note = error.value.note
    assert note is not None
    assert note.split("\n")[2] == ">     func.return %v3 : i32"
    assert len(note.split("\n")) == 5
