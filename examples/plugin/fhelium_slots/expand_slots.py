"""expand-slots: the ops of the `slots` dialect in those of `ckks`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from fhelium_ir.compiler.locations import inherit
from fhelium_ir.dialects import ckks
from fhelium_slots.dialect import SumOp


class SumPattern(RewritePattern):
    """Rotate and add: 1, 2, 4, ... steps."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SumOp, rewriter: PatternRewriter) -> None:
        value, ops, steps = op.operand, list[Operation](), 1
        while steps < op.count.value.data:
            rotation = ckks.RotateOp.by(value, steps)
            addition = ckks.AddOp(value, rotation.result)
            ops += [rotation, addition]
            value, steps = addition.result, 2 * steps
        inherit(ops, op)
        rewriter.replace_matched_op(ops, [value])


@dataclass(frozen=True)
class ExpandSlots(ModulePass):
    """Expands `slots.sum` to rotations and additions, one pair for each doubling."""

    name = "expand-slots"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(SumPattern(), apply_recursively=False).rewrite_module(op)
