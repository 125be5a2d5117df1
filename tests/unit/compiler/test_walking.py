"""The list of all operations is what xDSL's own walk gives."""

from __future__ import annotations

import pytest

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.universe import make_context

NESTED = """
func.func @f(%n : index, %c : i1) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %x = arith.constant 7 : i32
  %sum = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (i32) {
    %chosen = scf.if %c -> (i32) {
      %double = arith.addi %s, %s : i32
      scf.yield %double : i32
    } else {
      scf.yield %s : i32
    }
    scf.yield %chosen : i32
  }
  cf.cond_br %c, ^first(%sum : i32), ^second
^first(%a : i32):
  func.return %a : i32
^second:
  func.return %x : i32
}
func.func private @declared(i32)
"""


@pytest.mark.parametrize("region_first", [False, True])
def test_the_order_is_that_of_walk(region_first: bool) -> None:
    module = parse_module(make_context(), NESTED, "nested")
    for op in module.walk():
        assert all_ops(op, region_first=region_first) == list(op.walk(region_first=region_first))


def test_the_list_stays_as_it_is_while_operations_go() -> None:
    module = parse_module(make_context(), NESTED, "nested")
    found = all_ops(module)
    for op in found[1:]:
        if op.parent_block() is module.body.block:
            op.detach()
    assert len(all_ops(module)) == 1 < len(found)
