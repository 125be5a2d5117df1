"""Which values of a kernel depend on which lane axes, and how addresses move along an axis.

The result is a divergence analysis with one bit per lane axis: a value whose bit k is clear is the
same in all lanes that differ along axis k only, so it is computed outside the loop over that axis.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.nesting import holds


@dataclass
class LaneFacts:
    """Facts about one kernel.

    Attributes:
        extents: the tile shape.
        all_axes: one bit for each lane axis of more than one lane.
        masks: by value, one bit for each lane axis that it depends on.
        inline: the `scf.for` whose trip count depends on lanes; they run inside the lane loops.
    """

    extents: tuple[int, ...]
    all_axes: int
    masks: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    inline: set[Operation] = field(default_factory=set[Operation])
    _op_masks: dict[Operation, int] = field(default_factory=dict[Operation, int])

    def op_mask(self, op: Operation) -> int:
        """The axes that the operation as a whole depends on: operands, results, nested values."""
        mask = self._op_masks.get(op)
        return self.mask_of_values(op) if mask is None else mask

    def mask_of_values(self, op: Operation) -> int:
        """As `op_mask`, while the masks of values may change."""
        mask, known = 0, self.masks
        for inner in all_ops(op) if op.regions else (op,):
            for operand in inner.operands:
                mask |= known.get(operand, 0)
            for result in inner.results:
                mask |= known.get(result, 0)
        return mask

    def note(self, op: Operation, mask: int) -> None:
        """Keeps what `op_mask` is asked again and again."""
        self._op_masks[op] = mask

    def is_uniform(self, op: Operation) -> bool:
        """Whether one execution per program does for all lanes."""
        return self.op_mask(op) == 0 and not holds(op, kernel.StoreOp, kernel.ExchangeOp)


def analyse_lanes(func: kernel.FuncOp) -> LaneFacts:
    """Computes the facts of a kernel; loops are iterated to a fixed point."""
    extents = func.lane_shape
    facts = LaneFacts(extents, sum(1 << k for k, extent in enumerate(extents) if extent > 1))
    for argument in func.body.block.args:
        facts.masks[argument] = 0
    _visit_block(func.body.block, facts)
    return facts


def _visit_block(block: Block, facts: LaneFacts) -> None:
    masks = facts.masks
    for op in block.ops:
        # Classes are compared, here and below: `isinstance` takes long for those of xDSL.
        if type(op) is scf.ForOp:
            _visit_loop(op, facts)
            facts.note(op, facts.mask_of_values(op))
            continue
        mask = 0
        for operand in op.operands:
            mask |= masks[operand]
        whole = mask
        if is_zero(op, facts):
            mask = 0
        elif type(op) is kernel.LaneIdOp or type(op) is kernel.ExchangeOp:
            mask |= (1 << op.axis.value.data) & facts.all_axes
        for result in op.results:
            masks[result] = mask
        facts.note(op, whole | mask)


def is_zero(op: Operation, facts: LaneFacts) -> bool:
    """Whether an operation shifts a lane's position until nothing is left of it."""
    if type(op) is not arith.ShRUIOp:
        return False
    position = op.lhs.owner
    if type(position) is not kernel.LaneIdOp:
        return False
    extent = facts.extents[position.axis.value.data]
    return extent <= 1 << (_constant(op.rhs) or 0)


def keeps_all(op: arith.AndIOp, facts: LaneFacts) -> bool:
    """Whether a mask of low bits leaves a lane's position what it is."""
    if not isinstance(op.lhs.owner, kernel.LaneIdOp):
        return False
    extent, mask = facts.extents[op.lhs.owner.axis.value.data], _constant(op.rhs) or 0
    return mask & (mask + 1) == 0 and extent <= mask + 1


def _visit_loop(loop: scf.ForOp, facts: LaneFacts) -> None:
    masks = facts.masks
    block = loop.body.block
    bounds = masks[loop.lb] | masks[loop.ub] | masks[loop.step]
    masks[block.args[0]] = bounds
    carried = [bounds | masks[value] for value in loop.iter_args]
    changed = True
    while changed:
        masks.update(zip(block.args[1:], carried, strict=True))
        _visit_block(block, facts)
        assert block.last_op is not None
        following = [
            mask | masks[value] for mask, value in zip(carried, block.last_op.operands, strict=True)
        ]
        changed = following != carried
        carried = following
    if bounds:
        facts.inline.add(loop)
        whole = facts.mask_of_values(loop)
        if holds(loop, kernel.StoreOp):
            whole = facts.all_axes
        carried = [whole] * len(carried)
    masks.update(zip(loop.results, carried, strict=True))


Strides = dict[SSAValue, tuple[int | None, ...]]

_MOVING: frozenset[type[Operation]] = frozenset(
    (
        kernel.LaneIdOp,
        arith.AndIOp,
        arith.AddiOp,
        arith.OrIOp,
        arith.SubiOp,
        arith.MuliOp,
        arith.ShLIOp,
    )
)
"""Operations that `lane_strides` knows; asking for each of them in turn takes long."""


def lane_strides(func: kernel.FuncOp, facts: LaneFacts) -> Strides:
    """By how much each value grows from a lane to the next one along each axis; None if unknown.

    The answer steers the choice of the innermost loop and is never used for correctness: `ori` is
    taken for an addition.
    """
    axes = range(len(facts.extents))
    unknown = {
        mask: tuple(None if mask >> axis & 1 else 0 for axis in axes)
        for mask in set(facts.masks.values())
    }
    strides: Strides = {value: unknown[mask] for value, mask in facts.masks.items()}
    for op in all_ops(func):
        if type(op) not in _MOVING:
            continue
        result = op.results[0]
        if type(op) is kernel.LaneIdOp:
            strides[result] = tuple(int(axis == op.axis.value.data) for axis in axes)
            continue
        lhs, rhs = op.operands
        if type(op) is arith.AndIOp:
            if keeps_all(op, facts):
                strides[result] = strides[lhs]
        elif type(op) is arith.MuliOp or type(op) is arith.ShLIOp:
            factor = _constant(rhs)
            if factor is not None:
                scale = 1 << (factor & 63) if type(op) is arith.ShLIOp else factor
                strides[result] = tuple(
                    [None if stride is None else stride * scale for stride in strides[lhs]]
                )
        else:
            sign = -1 if type(op) is arith.SubiOp else 1
            strides[result] = _combine(strides[lhs], strides[rhs], sign)
    return strides


def _combine(
    left: tuple[int | None, ...], right: tuple[int | None, ...], sign: int
) -> tuple[int | None, ...]:
    return tuple(
        [None if a is None or b is None else a + sign * b for a, b in zip(left, right, strict=True)]
    )


def _constant(value: SSAValue) -> int | None:
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None
