"""Which lane axes each value of a kernel depends on: what the printer broadcasts."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import kernel

Axes = frozenset[int]
UNIFORM: Axes = frozenset()


def infer_axes(func: kernel.FuncOp) -> dict[SSAValue, Axes]:
    """The lane axes of every value; axes of extent 1 are left out.

    A value without axes is one scalar per program. Loop-carried values get the least axes that
    their initial and their yielded values fit.

    Raises:
        FheliumError: the bounds of a loop depend on the lane.
    """
    axes: dict[SSAValue, Axes] = {argument: UNIFORM for argument in func.body.block.args}
    _visit(func.body.block, axes, func.lane_shape)
    return axes


def _visit(block: Block, axes: dict[SSAValue, Axes], lanes: tuple[int, ...]) -> None:
    for op in block.ops:
        if isinstance(op, scf.ForOp):
            _visit_loop(op, axes, lanes)
            continue
        union = UNIFORM.union(*(axes[operand] for operand in op.operands))
        if isinstance(op, kernel.LaneIdOp | kernel.ExchangeOp) and lanes[op.axis.value.data] > 1:
            union |= {op.axis.value.data}
        for result in op.results:
            axes[result] = union


def _visit_loop(op: scf.ForOp, axes: dict[SSAValue, Axes], lanes: tuple[int, ...]) -> None:
    block = op.body.block
    if any(axes[bound] for bound in (op.lb, op.ub, op.step)):
        raise FheliumError("scf.for: the bounds depend on the lane", location_of(op))
    axes[block.args[0]] = UNIFORM
    carried = [axes[value] for value in op.iter_args]
    while True:
        axes.update(zip(block.args[1:], carried, strict=True))
        _visit(block, axes, lanes)
        yielded = yielded_values(op)
        following = [old | axes[value] for old, value in zip(carried, yielded, strict=True)]
        if following == carried:
            break
        carried = following
    axes.update(zip(op.results, carried, strict=True))


def yielded_values(loop: scf.ForOp) -> tuple[SSAValue, ...]:
    """What the body of a loop hands to its next iteration."""
    last: Operation | None = loop.body.block.last_op
    return tuple(last.operands) if isinstance(last, scf.YieldOp) else ()
