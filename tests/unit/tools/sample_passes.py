"""Small passes for the tests of the driver."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import ModuleOp, i64
from xdsl.dialects.test import TestOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from fhelium_ir.compiler.locations import inherit
from fhelium_ir.compiler.remarks import remark


@dataclass(frozen=True)
class AddToMul(ModulePass):
    """Turn the first additions into products.

    Only as many as `limit` says.
    """

    name = "add-to-mul"
    limit: int = 1000
    keep_names: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        done = 0
        for add in [op for op in op.walk() if isinstance(op, AddiOp)]:
            if done == self.limit:
                remark(self.name, add, "missed", f"the limit of {self.limit} is reached")
                continue
            block = add.parent
            assert block is not None
            product = MuliOp(add.lhs, add.rhs)
            inherit(product, add)
            block.insert_op_before(product, add)
            if self.keep_names:
                product.result.name_hint = add.result.name_hint
            add.result.replace_all_uses_with(product.result)
            add.detach()
            add.erase()
            remark(self.name, product, "applied", "made a product")
            done += 1
        remark(self.name, None, "analysis", f"{done} additions")


@dataclass(frozen=True)
class BreakTypes(ModulePass):
    """Leave invalid IR: an addition whose operands have two types."""

    name = "break-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in op.walk():
            if isinstance(add, AddiOp):
                add.operands = [add.lhs, _wide(add)]


def _wide(add: AddiOp) -> SSAValue:
    block = add.parent
    assert block is not None
    source = TestOp(result_types=[i64])
    block.insert_op_before(source, add)
    return source.res[0]


@dataclass(frozen=True)
class BreakOrder(ModulePass):
    """Leave invalid IR: the first addition moves to the end of its block, behind its uses."""

    name = "break-order"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for add in op.walk():
            if isinstance(add, AddiOp) and (block := add.parent) and (last := block.last_op):
                add.detach()
                block.insert_op_before(add, last)
                return


@dataclass(frozen=True)
class Refuse(ModulePass):
    """Fail as a pass should."""

    name = "refuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise PassFailedException("this program is not for me")


@dataclass(frozen=True)
class Crash(ModulePass):
    """Fail as a pass should not."""

    name = "crash"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        raise KeyError("limb")
