"""Locations: where the parser puts them, and how they survive rewrites."""

from __future__ import annotations

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import UNKNOWN_LOC, ModuleOp
from xdsl.ir import Operation

from fhelium_ir.compiler.locations import (
    file_location,
    fill_missing,
    format_location,
    fuse,
    inherit,
    location_of,
)
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.universe import make_context

TEXT = """\
// A comment, then a blank line.

func.func @f(%a: i32) -> i32 {
\t%b, %c = "test.op"(%a) ({
    %d = arith.constant 1 : i32
    "test.termop"() : () -> ()
  }) : (i32) -> (i32, i32)
  %e = arith.addi %b, %c : i32 loc("other.py":7:9)
  return %e : i32
}
"""


def parsed() -> ModuleOp:
    return parse_module(make_context(), TEXT, "f.mlir")


def find(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def test_the_parser_stamps_the_place_of_the_name() -> None:
    module = parsed()
    places = {op.name: location_of(op) for op in module.walk()}
    assert places == {
        "builtin.module": "f.mlir:1:1",
        "func.func": "f.mlir:3:1",
        "test.op": "f.mlir:4:11",
        "arith.constant": "f.mlir:5:10",
        "test.termop": "f.mlir:6:5",
        "arith.addi": "other.py:7:9",
        "func.return": "f.mlir:9:3",
    }


def test_clones_keep_locations() -> None:
    module = parsed()
    assert [location_of(op) for op in module.clone().walk()] == [
        location_of(op) for op in module.walk()
    ]


def test_inherit_fuses_and_reaches_nested_ops() -> None:
    module = parsed()
    add, outer = find(module, "arith.addi"), find(module, "test.op")
    new = outer.clone()
    for op in new.walk():
        op.location = UNKNOWN_LOC
    inherit(new, add, outer)
    assert {location_of(op) for op in new.walk()} == {"other.py:7:9"}
    inherit(new, outer)
    assert location_of(new) == "other.py:7:9", "a location that is there stays"


def test_fuse_drops_what_says_nothing() -> None:
    one, two = file_location("f", 1, 2), file_location("f", 3, 4)
    assert fuse([UNKNOWN_LOC, one, one]) == one
    assert fuse([]) == fuse([UNKNOWN_LOC]) == UNKNOWN_LOC
    assert fuse([fuse([one, two]), two]) == fuse([one, two])
    assert format_location(fuse([two, one])) == "f:3:4"
    assert format_location(UNKNOWN_LOC) is None


def test_fill_missing_takes_the_surroundings() -> None:
    module = parsed()
    add = find(module, "arith.addi")
    assert isinstance(add, AddiOp) and add.parent is not None
    new = ConstantOp.from_int_and_width(1, 32)
    add.parent.insert_op_before(new, add)
    assert fill_missing(module) == 1
    assert location_of(new) == "f.mlir:4:11"
    assert fill_missing(module) == 0
