"""`cse`: of operations that compute the same, one stays."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CSEDriver

from fhelium_ir.compiler.locations import fuse


@dataclass(frozen=True)
class Cse(ModulePass):
    """Replaces an operation by an earlier equal one, and removes operations without uses or effects.

    As in MLIR; the operation that stays gets the locations of all that it stands for. Values do not
    change.
    """

    name = "cse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _Driver().simplify(op)


class _Driver(CSEDriver):
    """xDSL's, which drops the location of what it removes."""

    def _replace_and_delete(self, op: Operation, existing: Operation) -> None:
        existing.location = fuse((existing.location, op.location))
        super()._replace_and_delete(op, existing)
