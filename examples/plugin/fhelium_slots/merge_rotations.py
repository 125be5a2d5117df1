"""merge-rotations: one rotation instead of two in a row."""

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

from fhelium_ir.compiler.analyses import get_analysis
from fhelium_ir.compiler.locations import inherit
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks


class RotationSteps:
    """The analysis: by how many steps a program rotates; each number needs a key of its own."""

    def __init__(self, op: Operation) -> None:
        self.steps = {inner.step for inner in op.walk() if isinstance(inner, ckks.RotateOp)}


@dataclass
class MergePattern(RewritePattern):
    """rotate(rotate(x, a), b) is rotate(x, a + b)."""

    steps: set[int] | None
    """The numbers of steps that a merged rotation may have; None: any."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ckks.RotateOp, rewriter: PatternRewriter) -> None:
        inner = op.operand.owner
        if not isinstance(inner, ckks.RotateOp):
            return
        total = inner.step + op.step
        if inner.result.has_more_than_one_use():
            remark("merge-rotations", op, "missed", "the inner rotation has other uses")
        elif self.steps is not None and total not in self.steps:
            remark("merge-rotations", op, "missed", f"steps = {total} would need a new key")
        else:
            merged = ckks.RotateOp.by(inner.operand, total)
            inherit(merged, op, inner)
            rewriter.replace(op, merged)
            rewriter.erase(inner)
            remark("merge-rotations", merged, "applied", f"steps {inner.step} and {op.step} in one")


@dataclass(frozen=True)
class MergeRotations(ModulePass):
    """Merges rotations of rotations: each rotation saved is a key switch saved.

    Options:
        new_keys: `false` merges only where the program has a key for the merged rotation already.
    """

    name = "merge-rotations"
    new_keys: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        steps = None if self.new_keys else get_analysis(RotationSteps, op).steps
        PatternRewriteWalker(MergePattern(steps), apply_recursively=False).rewrite_module(op)
