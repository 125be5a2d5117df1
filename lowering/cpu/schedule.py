"""Splits a kernel into segments, each run for all lanes before the next one starts.

A segment ends at every exchange and around every loop that holds one. What lanes hand on from one
segment to a later one lies in arrays on the stack, one word per lane; a few integer operations on
lane ids are recomputed instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.code import element_type
from fhelium_ir.lowering.cpu.lane_analysis import (
    LaneFacts,
    analyse_lanes,
    lane_strides,
)
from fhelium_ir.lowering.cpu.nesting import holds

RECOMPUTE_LIMIT = 6
"""Most operations repeated in a segment instead of spilling their result."""

TRANSPOSED_STRIDE = 16
"""Lanes further apart than this rarely find whole rows of words side by side."""

VECTOR_LANES = 4
"""An innermost loop of fewer lanes than this is not worth vectorising."""


@dataclass(eq=False)
class LaneArray:
    """Words on the stack: `slots` for each lane; lanes share them along axes not in `mask`."""

    element: str
    slots: int
    mask: int


@dataclass(frozen=True)
class Export:
    """At the end of a segment every lane stores `value` in its word of `array[slot]`."""

    value: SSAValue
    array: LaneArray
    slot: int


@dataclass(frozen=True)
class Source:
    """Where a later segment finds a value: in `array[slot]` of the lane itself.

    With `exchange_axis` set, in `array[position along the axis]` of the lane that stands at
    `slot` along that axis.
    """

    array: LaneArray
    slot: int
    exchange_axis: int | None = None


@dataclass(eq=False)
class Uniform:
    """An operation that runs once per program."""

    op: Operation


@dataclass(eq=False)
class Segment:
    """Operations that run for each lane, and what is stored at their end."""

    ops: list[Operation] = field(default_factory=list[Operation])
    exports: list[Export] = field(default_factory=list[Export])


@dataclass(eq=False)
class ProgramLoop:
    """An `scf.for` around lane loops; the carried values that depend on lanes live in arrays."""

    op: scf.ForOp
    body: list[Item]


Item = Uniform | Segment | ProgramLoop


@dataclass(eq=False)
class Schedule:
    """A kernel in segments.

    Attributes:
        facts: the lane analysis.
        order: the lane axes of more than one lane, outermost loop first.
        items: what one program runs, in order.
        sources: where values are found outside the segment that computes them.
        aliases: results of exchanges along an axis of one lane.
    """

    facts: LaneFacts
    order: tuple[int, ...]
    items: list[Item] = field(default_factory=list[Item])
    sources: dict[SSAValue, Source] = field(default_factory=dict[SSAValue, Source])
    aliases: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def resolve(self, value: SSAValue) -> SSAValue:
        """The value that `value` is another name of."""
        while value in self.aliases:
            value = self.aliases[value]
        return value


def schedule_kernel(func: kernel.FuncOp) -> Schedule:
    """Splits a kernel.

    Raises:
        FheliumError: an exchange stands in a loop whose trip count depends on the lane.
    """
    facts = analyse_lanes(func)
    schedule = Schedule(facts, _loop_order(func, facts))
    schedule.items = _split(func.body.block, schedule)
    _find_spills(schedule)
    return schedule


def _loop_order(func: kernel.FuncOp, facts: LaneFacts) -> tuple[int, ...]:
    """The axis with the most accesses side by side is innermost, since its loop runs vectors."""
    strides = lane_strides(func, facts)
    scores = [0.0] * len(facts.extents)
    for op in all_ops(func):
        if type(op) is kernel.ExchangeOp:
            # Reading an exchange along the innermost axis takes a transposition.
            scores[op.axis.value.data] -= 0.25 * len(op.inputs)
        elif type(op) is kernel.LoadOp or type(op) is kernel.StoreOp:
            for axis, stride in enumerate(strides[op.offset]):
                scores[axis] += _access_score(stride)
    axes = [axis for axis, extent in enumerate(facts.extents) if extent > 1]
    axes.sort(key=lambda axis: (facts.extents[axis] >= VECTOR_LANES, scores[axis], axis))
    return (*sorted(axes[:-1]), *axes[-1:])


def _access_score(stride: int | None) -> float:
    """A word for all lanes, a vector, words that may be transposed in registers, or a gather."""
    if stride in (0, 1):
        return 0.5 + 0.5 * stride
    if stride is not None and 2 <= stride <= TRANSPOSED_STRIDE:
        return 0.25
    return -1.0


_SKIPPED: frozenset[type[Operation]] = frozenset((kernel.LaneIdOp, kernel.ReturnOp, scf.YieldOp))


def _split(block: Block, schedule: Schedule) -> list[Item]:
    facts = schedule.facts
    items: list[Item] = []
    current = Segment()
    stores = False

    def flush() -> None:
        nonlocal current, stores
        if current.ops or current.exports:
            items.append(current)
        current, stores = Segment(), False

    for op in block.ops:
        if stores and _must_follow(op, facts):
            flush()
        if type(op) is kernel.ExchangeOp:
            if len(op.inputs) == 1:
                schedule.aliases[op.outputs[0]] = op.inputs[0]
                continue
            _export_exchange(op, current, schedule)
            flush()
        elif type(op) in _SKIPPED:
            continue
        elif facts.is_uniform(op):
            # It goes in front of the segment under way.
            items.append(Uniform(op))
        elif type(op) is scf.ForOp and _has_exchange(op):
            if op in facts.inline:
                raise FheliumError(
                    "kernel.exchange in a loop whose bounds depend on the lane is not supported "
                    "on the cpu target",
                    location_of(op),
                )
            loop = _split_loop(op, current, schedule)
            flush()
            items.append(loop)
        else:
            current.ops.append(op)
            stores = stores or holds(op, kernel.StoreOp)
    flush()
    return items


def _must_follow(op: Operation, facts: LaneFacts) -> bool:
    """Whether an operation would be hoisted over stores that came before and may alias its loads.

    What depends on all axes is never hoisted.
    """
    if facts.all_axes != 0 and facts.op_mask(op) == facts.all_axes:
        return False
    return holds(op, kernel.LoadOp)


def _export_exchange(op: kernel.ExchangeOp, segment: Segment, schedule: Schedule) -> None:
    masks = schedule.facts.masks
    axis = op.axis.value.data
    array = LaneArray(_word(op.inputs[0]), len(op.inputs), masks[op.outputs[0]])
    for slot, value in enumerate(op.inputs):
        segment.exports.append(Export(value, array, slot))
    for position, result in enumerate(op.outputs):
        schedule.sources[result] = Source(array, position, axis)


def _split_loop(op: scf.ForOp, before: Segment, schedule: Schedule) -> ProgramLoop:
    block = op.body.block
    assert block.last_op is not None
    exports: list[Export] = []
    carried = zip(op.iter_args, block.args[1:], block.last_op.operands, op.results, strict=True)
    for initial, argument, following, result in carried:
        mask = schedule.facts.masks[argument]
        if mask == 0:
            continue
        array = LaneArray(_word(argument), 1, mask)
        schedule.sources[argument] = schedule.sources[result] = Source(array, 0)
        before.exports.append(Export(initial, array, 0))
        if following is not argument:
            exports.append(Export(following, array, 0))
    body = _split(block, schedule)
    if exports:
        if not body or not isinstance(body[-1], Segment):
            body.append(Segment())
        last = body[-1]
        assert isinstance(last, Segment)
        last.exports.extend(exports)
    return ProgramLoop(op, body)


def _has_exchange(op: Operation) -> bool:
    return holds(op, kernel.ExchangeOp)


def _word(value: SSAValue) -> str:
    """LLVM's type that holds a value in an array: bits take a byte."""
    element = "i8" if value.type == i1 else element_type(value.type)
    assert element is not None
    return element


def segments_of(items: Sequence[Item]) -> Iterator[Segment]:
    """All segments, those in loops included."""
    for item in items:
        if isinstance(item, Segment):
            yield item
        elif isinstance(item, ProgramLoop):
            yield from segments_of(item.body)


def outside_values(op: Operation) -> Iterator[SSAValue]:
    """The operands of an operation and, for a loop, what its body takes from outside."""
    yield from op.operands
    if op.regions:
        every = all_ops(op)
        inside: set[SSAValue] = {result for nested in every for result in nested.results}
        inside.update(arg for nested in every for r in nested.regions for arg in r.block.args)
        for nested in every:
            yield from (value for value in nested.operands if value not in inside)


def _find_spills(schedule: Schedule) -> None:
    """Gives a stack array to every value used in another segment and too dear to recompute."""
    masks = schedule.facts.masks
    home: dict[SSAValue, Segment] = {}
    for segment in segments_of(schedule.items):
        for op in segment.ops:
            home.update((result, segment) for result in op.results)
    for segment in list(segments_of(schedule.items)):
        used = [value for op in segment.ops for value in outside_values(op)]
        used += [export.value for export in segment.exports]
        while used:
            value = schedule.resolve(used.pop())
            if masks[value] == 0 or value in schedule.sources or home.get(value) in (None, segment):
                continue
            if recompute_cost(value, schedule) <= RECOMPUTE_LIMIT:
                assert isinstance(value.owner, Operation)
                used.extend(value.owner.operands)
                continue
            array = LaneArray(_word(value), 1, masks[value])
            home[value].exports.append(Export(value, array, 0))
            schedule.sources[value] = Source(array, 0)


def recompute_cost(value: SSAValue, schedule: Schedule, budget: int = RECOMPUTE_LIMIT) -> int:
    """Operations needed to compute a value from lane ids and uniform values, if within budget."""
    value = schedule.resolve(value)
    op = value.owner
    if schedule.facts.masks[value] == 0 or isinstance(op, kernel.LaneIdOp):
        return 0
    if type(op) not in _CHEAP or value in schedule.sources or budget == 0:
        return RECOMPUTE_LIMIT + 1
    assert isinstance(op, Operation)
    cost = 1
    for operand in op.operands:
        cost += recompute_cost(operand, schedule, budget - 1)
    return cost


_CHEAP: frozenset[type[Operation | Block]] = frozenset(
    (
        arith.AddiOp,
        arith.SubiOp,
        arith.MuliOp,
        arith.AndIOp,
        arith.OrIOp,
        arith.XOrIOp,
        arith.ShLIOp,
        arith.ShRUIOp,
        arith.ShRSIOp,
        arith.CmpiOp,
        arith.SelectOp,
        arith.ExtUIOp,
        arith.ExtSIOp,
        arith.TruncIOp,
    )
)
