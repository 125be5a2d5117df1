"""Uses and lifetimes, on a function small enough to see them."""

from __future__ import annotations

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from fhelium_ir import universe
from fhelium_ir.analysis.liveness import Liveness, UseCounts
from fhelium_ir.compiler.parsing import parse_module

TEXT = """\
func.func @f(%x : i32, %y : i32, %c : i1, %unused : i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %a, %y : i32
  %d = scf.if %c -> (i32) {
    %e = arith.muli %a, %b : i32
    scf.yield %e : i32
  } else {
    scf.yield %a : i32
  }
  %dead = arith.addi %d, %b : i32
  return %d : i32
}
"""


@pytest.fixture
def module() -> ModuleOp:
    return parse_module(universe.make_context(), TEXT, "f.mlir")


def values(module: ModuleOp) -> dict[str, SSAValue]:
    """Every value by its name."""
    found: dict[str, SSAValue] = {}
    for op in module.walk():
        own = [*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)]
        found.update({value.name_hint: value for value in own if value.name_hint})
    return found


def test_use_counts(module: ModuleOp) -> None:
    counts = UseCounts(module)
    uses = {name: counts.uses(value) for name, value in values(module).items()}
    expected = {"x": 2, "y": 1, "c": 1, "unused": 0, "a": 3, "b": 2, "d": 2, "e": 1, "dead": 0}
    assert uses == expected


def test_last_uses(module: ModuleOp) -> None:
    liveness = Liveness(module)
    names = {
        name: last.name if (last := liveness.last_use(value)) is not None else None
        for name, value in values(module).items()
    }
    assert names == {
        "x": "arith.addi",
        "y": "arith.addi",
        "c": "scf.if",
        "unused": None,
        # The last use is inside of the conditional, which is the op of a's own block.
        "a": "scf.if",
        "b": "arith.addi",
        "d": "func.return",
        "e": "scf.yield",
        "dead": None,
    }


def test_positions_and_lifetimes(module: ModuleOp) -> None:
    liveness = Liveness(module)
    by_name = values(module)
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    ops = list(function.body.block.ops)
    assert [liveness.position(op) for op in ops] == [0, 1, 2, 3, 4]
    live = {name: [liveness.is_live_after(by_name[name], op) for op in ops] for name in "xabd"}
    assert live == {
        "x": [False, False, False, False, False],
        "a": [True, True, False, False, False],
        "b": [True, True, True, False, False],
        "d": [True, True, True, True, False],
    }
