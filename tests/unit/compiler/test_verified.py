"""Ops that have verified are not asked again, and whatever differs from them is."""

from __future__ import annotations

import pytest
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32, i64
from xdsl.ir import Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import Verified, verify_module
from fhelium_ir.universe import make_context

TEXT = """\
func.func @f(%a: i64, %n: i32) -> i64 {
  %c = arith.constant 1 : i64
  %x = arith.addi %a, %c : i64
  %y = arith.addi %x, %a : i64
  return %y : i64
}
kernel.func @k(%b : !kernel.buffer<i64>) lanes [1] grid 1 {
  %p = kernel.program_id 0
  %v = kernel.load %b[%p] : !kernel.buffer<i64> -> i64
  kernel.store %v, %b[%p] : i64, !kernel.buffer<i64>
  kernel.return
}"""


@pytest.fixture
def module() -> ModuleOp:
    return parse_module(make_context(), TEXT, "t")


def first(module: ModuleOp, kind: type[Operation]) -> Operation:
    return next(op for op in module.walk() if type(op) is kind)


def asked(module: ModuleOp, verified: Verified, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ops whose verifiers run."""
    found: list[str] = []
    verify = Operation.verify

    def note(self: Operation, verify_nested_ops: bool = True) -> None:
        found.append(self.name)
        verify(self, verify_nested_ops)

    with monkeypatch.context() as patch:
        patch.setattr(Operation, "verify", note)
        verify_module(module, verified=verified)
    return found


def test_equal_ops_are_verified_once(module: ModuleOp, monkeypatch: pytest.MonkeyPatch) -> None:
    verified = Verified()
    before = asked(module, verified, monkeypatch)
    assert before.count("arith.addi") == 1
    assert {"kernel.load", "kernel.store", "arith.constant"} <= set(before)
    # Terminators, ops with regions and ops that look around themselves are asked every time.
    around = ["func.return", "func.func", "kernel.program_id", "kernel.return", "kernel.func"]
    assert asked(module, verified, monkeypatch) == [*around, "builtin.module"]


def test_another_verification_begins_anew(
    module: ModuleOp, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert asked(module, Verified(), monkeypatch) == asked(module, Verified(), monkeypatch)


def test_a_wrong_result_type_is_found(module: ModuleOp) -> None:
    verified = Verified()
    verify_module(module, verified=verified)
    old = first(module, arith.AddiOp)
    new = arith.AddiOp.create(operands=old.operands, result_types=(i32,))
    assert old.parent is not None
    old.parent.insert_op_after(new, old)
    with pytest.raises(FheliumError, match=r"arith\.addi"):
        verify_module(module, verified=verified)


@pytest.mark.parametrize("value", [IntegerAttr(1, i32), None])
def test_a_wrong_property_is_found(module: ModuleOp, value: IntegerAttr | None) -> None:
    verified = Verified()
    verify_module(module, verified=verified)
    properties = first(module, arith.ConstantOp).properties
    if value is None:
        del properties["value"]
    else:
        properties["value"] = value
    with pytest.raises(FheliumError, match=r"arith\.constant"):
        verify_module(module, verified=verified)


def test_an_operand_of_another_type_is_found(module: ModuleOp) -> None:
    verified = Verified()
    verify_module(module, verified=verified)
    function = first(module, func.FuncOp)
    first(module, arith.AddiOp).operands[1] = function.regions[0].block.args[1]
    with pytest.raises(FheliumError, match=r"arith\.addi"):
        verify_module(module, verified=verified)


def test_a_block_without_terminator_is_found(module: ModuleOp) -> None:
    verified = Verified()
    verify_module(module, verified=verified)
    first(module, func.ReturnOp).detach()
    with pytest.raises(FheliumError, match="terminat"):
        verify_module(module, verified=verified)


def test_what_is_wrong_stays_wrong() -> None:
    text = "func.func @f(%a: i64) {\n  %x = arith.addi %a, %a : i64\n  return\n}"
    module = parse_module(make_context(), text, "t")
    first(module, arith.AddiOp).properties.clear()
    first(module, arith.AddiOp).properties["unknown"] = i64
    verified = Verified()
    for _ in range(2):
        with pytest.raises(FheliumError, match=r"arith\.addi"):
            verify_module(module, verified=verified)
