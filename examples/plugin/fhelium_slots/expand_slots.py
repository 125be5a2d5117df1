"""expand-slots: the ops of the `slots` dialect in those of `ckks`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from fhelium_ir.compiler.locations import inherit
from fhelium_ir.dialects import ckks
from fhelium_slots.dialect import DifferenceOp


class DifferencePattern(RewritePattern):
    """A rotation and a subtraction."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DifferenceOp, rewriter: PatternRewriter) -> None:
        rotation = ckks.RotateOp.by(op.operand, op.steps.value.data)
        difference = ckks.SubOp(rotation.result, op.operand)
        inherit([rotation, difference], op)
        rewriter.replace(op, [rotation, difference])


@dataclass(frozen=True)
class ExpandSlots(ModulePass):
    """Expands `slots.difference` to a rotation and a subtraction."""

    name = "expand-slots"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(DifferencePattern(), apply_recursively=False).rewrite_module(op)
