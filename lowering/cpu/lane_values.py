"""What lanes hold while a segment is written: scalars and vectors, and the loops that they stand in.

`levels[d]` is the code inside `d` loops; every value stands in the outermost one that knows what it is made of. Along
the innermost axis it is a scalar, if it is the same for all lanes, or a vector.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Protocol

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue

from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offset, Offsets, Root
from fhelium_ir.lowering.cpu.code import NATURAL, Code, Value, integer
from fhelium_ir.lowering.cpu.operations import constant_of
from fhelium_ir.lowering.cpu.schedule import LaneArray, Schedule, Segment


class Function(Protocol):
    """What a segment needs of the function around it."""

    schedule: Schedule
    main: Code
    uniform: dict[SSAValue, Value]
    offsets: Offsets
    outer: dict[int, Value]
    narrow: bool

    def array(self, array: LaneArray) -> Value:
        """The address of a stack array."""
        ...

    def extent(self, axis: int) -> int:
        """How many lanes of an axis a segment runs for."""
        ...

    def lanes_of(self, mask: int) -> int:
        """How many of the lanes that a segment runs for differ along the axes of a mask."""
        ...


@dataclass
class Known:
    """What has been computed and can be used where the code under construction stands."""

    values: dict[SSAValue, Value]
    splats: dict[tuple[str, int], Value] = field(default_factory=dict[tuple[str, int], Value])
    pointers: dict[object, Value] = field(default_factory=dict[object, Value])

    def copy(self) -> Known:
        return Known(dict(self.values), dict(self.splats), dict(self.pointers))


class LaneValues(ABC):
    """Values in the lanes of one segment, and the loops over these lanes.

    Args:
        lanes: the most lanes that run at once.
    """

    def __init__(self, parent: Function, segment: Segment, lanes: int):
        self.parent = parent
        self.schedule = parent.schedule
        self.facts = parent.schedule.facts
        self.segment = segment
        mask = 0
        for op in segment.ops:
            mask |= self.facts.op_mask(op)
        for export in segment.exports:
            mask |= export.array.mask
        self.segment_mask = mask
        every = [axis for axis in self.schedule.order if mask >> axis & 1]
        # Loops over the other axes stand around all segments.
        self.axes = [axis for axis in every if parent.extent(axis) > 1]
        self.inner = self.axes[-1] if self.axes else -1
        self.lanes = 1
        if self.axes and not self._has_lane_bounds():
            self.lanes = min(lanes, parent.extent(self.inner))
        self.known = Known({} if every else parent.uniform)
        self.loop_code: Code | None = None
        self.levels = [parent.main]
        self.indices = dict(parent.outer)
        names = parent.main.names
        for axis in self.axes:
            if self._rounds(axis) == 1:
                self.indices.setdefault(axis, integer(0))
                self.levels.append(self.levels[-1])
            else:
                self.indices[axis] = Value(names.fresh("%lane"), "i64")
                self.levels.append(Code(names, names.fresh("lanes")))

    @abstractmethod
    def _convert(self, op: Operation) -> None:
        """Emits an operation and enters its results."""

    @abstractmethod
    def _read(self, value: SSAValue) -> None:
        """Reads a value of another segment."""

    def _has_lane_bounds(self) -> bool:
        """Whether a loop runs differently often in lanes that would run at once."""
        return any(
            nested in self.facts.inline and self._depends(nested.lb, nested.ub, nested.step)
            for op in self.segment.ops
            if op.regions
            for nested in all_ops(op)
            if type(nested) is scf.ForOp
        )

    def _depends(self, *values: SSAValue) -> bool:
        return any(self.facts.masks[value] >> self.inner & 1 for value in values)

    def _step(self, axis: int) -> int:
        return self.lanes if axis == self.inner else 1

    def _rounds(self, axis: int) -> int:
        return self.parent.extent(axis) // self._step(axis)

    def _level(self, mask: int) -> Code:
        """The code in which something stands that depends on these axes."""
        if self.loop_code is not None:
            return self.loop_code
        depth = 0
        for position, axis in enumerate(self.axes):
            if mask >> axis & 1:
                depth = position + 1
        return self.levels[depth]

    def get(self, value: SSAValue) -> Value:
        """The value in these lanes: computed here or outside, read from an array or recomputed."""
        value = self.schedule.resolve(value)
        known = self.known.values.get(value)
        if known is not None:
            return known
        if value in self.parent.uniform:
            return self.parent.uniform[value]
        op = value.owner
        if type(op) is kernel.LaneIdOp:
            self.known.values[value] = self._position(op.axis.value.data)
        elif type(op) is arith.ConstantOp:
            self.known.values[value] = constant_of(op)
        elif value in self.schedule.sources:
            self._read(value)
        else:
            assert isinstance(op, Operation), "an argument of a loop that has not begun"
            self._convert(op)
        return self.known.values[value]

    def _position(self, axis: int) -> Value:
        if axis not in self.indices:
            return integer(0)
        if axis != self.inner or self.lanes == 1:
            return self.indices[axis]
        code = self._level(1 << axis)
        numbers = ", ".join(f"i64 {lane}" for lane in range(self.lanes))
        lanes = Value(f"<{numbers}>", "i64", self.lanes, True)
        if self.indices[axis].literal:
            return lanes
        return code.binary("add", code.splat(self.indices[axis], self.lanes), lanes)

    def _lanes_of(self, mask: int) -> int:
        return self.lanes if self.inner >= 0 and mask >> self.inner & 1 else 1

    def natural(self, value: SSAValue, lanes: int) -> Value:
        """The value for so many lanes in the order of their numbers, as memory has them."""
        found = self.vector(value, lanes)
        return self._level(self.facts.masks[self.schedule.resolve(value)]).ordered(found, NATURAL)

    def vector(self, value: SSAValue, lanes: int) -> Value:
        """The value for so many lanes."""
        known = self.get(value)
        if known.lanes == lanes or known.literal:
            return self.parent.main.splat(known, lanes)
        key = (known.name, lanes)
        if key not in self.known.splats:
            code = self._level(self.facts.masks[self.schedule.resolve(value)])
            self.known.splats[key] = code.splat(known, lanes)
        return self.known.splats[key]

    def _stride(self, offset: Offset) -> int | None:
        """By how much an offset grows from lane to lane; None if that is not always the same."""
        if self.inner < 0:
            return 0
        for root, _ in offset.terms:
            if not isinstance(root, int) and self._depends(root):
                return None
        return offset.factor(self.inner)

    def _pointer(self, base: Value, element: str, offset: Offset, mask: int) -> Value:
        """The address of the first lane's word."""
        code = self._level(mask)
        key = (base.name, element, offset.terms)
        pointer = self.known.pointers.get(key)
        if pointer is None:
            index, so_far = integer(0), 0
            for _, root, factor in sorted(
                ((self._depth(root), root, factor) for root, factor in offset.terms),
                key=lambda term: term[0],
            ):
                so_far |= self._mask(root)
                here = self._level(so_far)
                value = self.indices[root] if isinstance(root, int) else self.get(root)
                index = here.add(index, here.times(value, factor))
            pointer = self._level(so_far).pointer(base, element, index)
            self.known.pointers[key] = pointer
        return code.pointer(pointer, element, integer(offset.constant))

    def _mask(self, root: Root) -> int:
        return 1 << root if isinstance(root, int) else self.facts.masks[root]

    def _depth(self, root: Root) -> int:
        mask = self._mask(root)
        return max((k + 1 for k, axis in enumerate(self.axes) if mask >> axis & 1), default=0)

    def _close(self, depth: int) -> None:
        """Strings the code inside the loops from `depth` on behind the code around them."""
        if depth == len(self.axes):
            return
        code, inner, axis = self.levels[depth], self.levels[depth + 1], self.axes[depth]
        if inner is code:
            self._close(depth + 1)
            return
        index, before = self.indices[axis].name, code.label
        code.branch(inner.first)
        self._close(depth + 1)
        code.start(inner.first)
        code.line(f"{index} = phi i64 [ 0, %{before} ], [ {index}.next, %{inner.label} ]")
        code.lines += inner.lines
        code.line(f"{index}.next = add nuw nsw i64 {index}, {self._step(axis)}")
        more = code.compare("ne", Value(f"{index}.next", "i64"), integer(self.parent.extent(axis)))
        after = code.names.fresh("after")
        code.branch_if(more, inner.first, after)
        code.start(after)
