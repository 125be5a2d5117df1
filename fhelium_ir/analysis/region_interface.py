"""What crosses the border of a set of ops that may become one region.

Ops that only re-index are absorbed: every region that reads through one gets a copy of its own, so a value that is
read through them counts as read by the op behind them.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.ir import BlockArgument, Operation, SSAValue

from fhelium_ir.analysis.region_graph import INDEX_OPS, build_graph, reindexes
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.dialects import fusion, ntt, rns

PLUMBING_OPS = (*INDEX_OPS, rns.PackOp)
"""Ops that move residues and compute nothing."""


def is_polynomial(op: Operation) -> bool:
    """Whether `op` works on bundles and belongs into a region, or to an implementation of its own."""
    return op.name.startswith(("rns.", "ntt."))


def is_kept(op: Operation) -> bool:
    """Whether an implementation executes `op` as a whole."""
    return fusion.IMPLEMENTATION in op.attributes


def stands_alone(op: Operation) -> bool:
    """Whether an op that only re-indexes has to write its result to memory."""
    if any(
        isinstance(use.operation, func.ReturnOp | fusion.YieldOp) or is_kept(use.operation)
        for use in op.results[0].uses
    ):
        return True
    # A base conversion and an inner product read memory; only views can stand between.
    return isinstance(op, rns.PadOp | rns.EmbedOp | rns.AutomorphismOp) and any(
        reindexes(use.operation) and _blocks(use.operation) for use in op.results[0].uses
    )


def _blocks(user: Operation) -> bool:
    """Whether `user`, which only re-indexes, leads to an op that cannot read through what it reads."""
    return any(
        isinstance(use.operation, rns.BaseConvertOp | rns.AccumulateOp | ntt.TransformOp)
        for use in user.results[0].uses
    )


def is_absorbed(op: Operation) -> bool:
    """Whether every region that reads through `op` gets a copy of it."""
    return reindexes(op) and not is_kept(op) and not stands_alone(op)


def count_computing(ops: Sequence[Operation]) -> int:
    """Ops that compute; the others only move residues."""
    return sum(not isinstance(op, PLUMBING_OPS) and not reindexes(op) for op in ops)


def region_inputs(ops: Sequence[Operation]) -> list[SSAValue]:
    """Values from outside that the ops read, in order of first use."""
    inside = set(ops)
    inputs: dict[SSAValue, None] = {}
    for op in ops:
        for operand in op.operands:
            if isinstance(operand, BlockArgument) or operand.owner not in inside:
                inputs[operand] = None
    return list(inputs)


def region_outputs(ops: Sequence[Operation]) -> list[SSAValue]:
    """Results that something outside reads, maybe through re-indexing; of dead ops the last result.

    Args:
        ops: in topological order, with the absorbed ops that they read through.
    """
    computing = [op for op in ops if not is_absorbed(op)]
    inside = set(computing)
    outputs: list[SSAValue] = [
        result for op in computing for result in op.results if reads_outside(result, inside)
    ]
    return outputs or [(computing or list(ops))[-1].results[0]]


def reads_outside(value: SSAValue, inside: set[Operation]) -> bool:
    """Whether an op that is not `inside` reads `value`, directly or through absorbed ops."""
    for use in value.uses:
        user = use.operation
        if user in inside:
            continue
        if not is_absorbed(user) or reads_outside(user.results[0], inside):
            return True
    return False


def graph_of(ops: Sequence[Operation]) -> RegionGraph:
    """The expression graph of ops in topological order.

    Raises:
        Unfusable: they cannot be one kernel chain.
    """
    return build_graph(ops, region_inputs(ops), region_outputs(ops))


def region_ops(region: fusion.FusedOp) -> list[Operation]:
    """The ops of a region without its terminator."""
    return [op for op in region.body.block.ops if not isinstance(op, fusion.YieldOp)]


def region_graph(region: fusion.FusedOp) -> RegionGraph:
    """The expression graph of a formed region.

    Raises:
        Unfusable: it cannot be one kernel chain.
    """
    return build_graph(
        region_ops(region), list(region.body.block.args), list(region.yielded.values)
    )
