from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks


@dataclass(frozen=True)
class FoldNegations(ModulePass):
    """Replaces the negation of a negation by its operand."""

    name = "fold-negations"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for outer in op.walk():
            inner = outer.operands[0].owner if isinstance(outer, ckks.NegateOp) else None
            if isinstance(inner, ckks.NegateOp):
                remark(self.name, outer, "applied", "undoes the negation before it")
                outer.results[0].replace_all_uses_with(inner.operand)
