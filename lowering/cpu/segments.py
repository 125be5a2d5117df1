"""The code of one segment: loops over lanes, the innermost of which runs vectors of lanes.

`levels[d]` is the code inside `d` loops; every operation stands in the outermost one that knows its
operands. Along the innermost axis a value is a scalar, if it is the same for all lanes, or a vector.
Loads and stores that stand side by side take one vector; those of lanes a stride apart are taken
together and transposed in registers (`shuffles`); what remains is gathered and scattered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offset, Offsets, Root
from fhelium_ir.lowering.cpu.code import (
    NATURAL,
    SPLIT,
    Code,
    Value,
    element_type,
    integer,
    is_float,
    real,
    size_of,
)
from fhelium_ir.lowering.cpu.lane_analysis import is_zero
from fhelium_ir.lowering.cpu.operations import constant_of, convert, linear, unsupported
from fhelium_ir.lowering.cpu.schedule import (
    Export,
    LaneArray,
    Schedule,
    Segment,
    outside_values,
)
from fhelium_ir.lowering.cpu.shuffles import deinterleave, interleave, transpose

T = TypeVar("T", kernel.LoadOp, kernel.StoreOp)

CARRIED_VECTORS = 8
"""A loop that carries more vectors of lanes is cut into loops of independent sums."""


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
class _Known:
    """What has been computed and can be used where the code under construction stands."""

    values: dict[SSAValue, Value]
    splats: dict[tuple[str, int], Value] = field(default_factory=dict[tuple[str, int], Value])
    pointers: dict[object, Value] = field(default_factory=dict[object, Value])

    def copy(self) -> _Known:
        return _Known(dict(self.values), dict(self.splats), dict(self.pointers))


class SegmentEmitter:
    """Emits one segment, or an operation that runs once per program: a segment without lanes.

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
        self.known = _Known({} if every else parent.uniform)
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
        self.data = self._data()
        self.loads: dict[Operation, list[kernel.LoadOp]] = {}
        self.stores: dict[Operation, list[kernel.StoreOp]] = {}
        if self.lanes > 1:
            self.loads, self.stores = self._load_groups(), self._store_groups()

    def _has_lane_bounds(self) -> bool:
        """Whether a loop runs differently often in lanes that would run at once."""
        return any(
            nested in self.facts.inline and self._depends(nested.lb, nested.ub, nested.step)
            for op in self.segment.ops
            for nested in op.walk()
            if isinstance(nested, scf.ForOp)
        )

    def _depends(self, *values: SSAValue) -> bool:
        return any(self.facts.masks[value] >> self.inner & 1 for value in values)

    def _step(self, axis: int) -> int:
        return self.lanes if axis == self.inner else 1

    def _rounds(self, axis: int) -> int:
        return self.parent.extent(axis) // self._step(axis)

    # What is wanted of the segment

    def _data(self) -> set[SSAValue]:
        """Values that are wanted for themselves; the others are parts of offsets only."""
        data: set[SSAValue] = {export.value for export in self.segment.exports}
        if not self.segment_mask:
            # Computed once, for whoever needs it.
            data.update(result for op in self.segment.ops for result in op.results)
        for op in reversed([nested for outer in self.segment.ops for nested in outer.walk()]):
            match op:
                case kernel.LoadOp():
                    data.update(() if op.mask is None else (op.mask,))
                case kernel.StoreOp():
                    data.update((op.value,) if op.mask is None else (op.value, op.mask))
                case _ if not linear(op) or any(result in data for result in op.results):
                    data.update(op.operands)
                case _:
                    pass
        return data

    def _load_groups(self) -> dict[Operation, list[kernel.LoadOp]]:
        """Loads that are transposed together, by each of them."""
        epoch, found = 0, list[tuple[object, kernel.LoadOp]]()
        for op in self.segment.ops:
            if any(isinstance(nested, kernel.StoreOp) for nested in op.walk()):
                epoch += 1
            if isinstance(op, kernel.LoadOp) and op.mask is None:
                found.append((epoch, op))
        return self._groups(found)

    def _store_groups(self) -> dict[Operation, list[kernel.StoreOp]]:
        epoch, found = 0, list[tuple[object, kernel.StoreOp]]()
        for op in self.segment.ops:
            if isinstance(op, kernel.LoadOp | scf.ForOp):
                epoch += 1
            if isinstance(op, kernel.StoreOp):
                if op.mask is None:
                    found.append((epoch, op))
                else:
                    epoch += 1
        return self._groups(found)

    def _groups(self, accesses: Iterable[tuple[object, T]]) -> dict[Operation, list[T]]:
        """Runs of accesses to words side by side, as many as can be transposed at once."""
        rows: dict[object, dict[int, T]] = {}
        repeated: set[object] = set()
        for epoch, op in accesses:
            offset = self.parent.offsets.of(op.offset)
            stride = self._stride(offset)
            if stride is None or stride < 2:
                continue
            key = (epoch, self.schedule.resolve(op.buffer), offset.terms)
            row = rows.setdefault(key, {})
            if offset.constant in row:
                repeated.add(key)
            row[offset.constant] = op
        groups: dict[Operation, list[T]] = {}
        for key, row in rows.items():
            stride = self._stride(self.parent.offsets.of(next(iter(row.values())).offset))
            if key in repeated or stride is None:
                continue
            places = sorted(row)
            start = 0
            while start < len(places):
                size = self.lanes if stride > self.lanes else stride
                run = places[start : start + size]
                if run == list(range(run[0], run[0] + size)) and self._can_transpose(size, stride):
                    group = [row[place] for place in run]
                    groups.update((op, group) for op in group)
                    start += size
                else:
                    start += 1
        return groups

    def _can_transpose(self, size: int, stride: int) -> bool:
        return size == self.lanes or (size == stride and size & (size - 1) == 0)

    def _stride(self, offset: Offset) -> int | None:
        """By how much an offset grows from lane to lane; None if that is not always the same."""
        if self.inner < 0:
            return 0
        for root, _ in offset.terms:
            if not isinstance(root, int) and self._depends(root):
                return None
        return offset.factor(self.inner)

    # Code

    def emit(self) -> None:
        for op in self.segment.ops:
            self._emit(op)
        # All values are read before any array is overwritten.
        for export in self.segment.exports:
            self.get(export.value)
        for export in self.segment.exports:
            self._emit_export(export)
        self._close(0)

    def prefetch(self) -> None:
        """Asks for what the loads of the segment will read from long buffers, instead of reading it.

        The rest of the program then computes while keys come from memory. Addresses that nothing reads do no harm.
        """
        for op in self.segment.ops:
            assert isinstance(op, kernel.LoadOp)
            offset, mask = self.parent.offsets.of(op.offset), self.facts.op_mask(op)
            if self._lanes_of(mask) == 1 or self._stride(offset) != 1:
                continue
            roots = [root for root, _ in offset.terms if not isinstance(root, int)]
            element = element_type(op.result.type)
            if element is None or any(root not in self.parent.uniform for root in roots):
                continue
            pointer = self._pointer(self.get(op.buffer), element, offset, mask)
            numbers = [integer(number, "i32") for number in (0, 3, 1)]
            self._level(mask).call_void("llvm.prefetch.p0", [pointer, *numbers])
        self._close(0)

    def _emit(self, op: Operation) -> None:
        """An operation in the order of the text."""
        if isinstance(op, kernel.LaneIdOp | scf.YieldOp | arith.ConstantOp):
            return
        if linear(op) and op.results[0] not in self.data:
            return
        if op.results and all(result in self.known.values for result in op.results):
            return
        self._convert(op)

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
        if isinstance(op, kernel.LaneIdOp):
            self.known.values[value] = self._position(op.axis.value.data)
        elif isinstance(op, arith.ConstantOp):
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

    def _convert(self, op: Operation) -> None:
        match op:
            case kernel.LoadOp():
                self._load(op)
            case kernel.StoreOp():
                self._store(op)
            case scf.ForOp():
                self._loop(op)
            case kernel.ProgramIdOp():
                pass
            case _ if is_zero(op, self.facts):
                self.known.values[op.results[0]] = integer(0)
            case _:
                if (
                    op.regions
                    or op.successors
                    or any(element_type(result.type) is None for result in op.results)
                ):
                    raise unsupported(op)
                mask = self.facts.op_mask(op)
                lanes = self._lanes_of(mask)
                operands = [
                    self.get(value)
                    if k == 0
                    and isinstance(op, arith.SelectOp)
                    and self._lanes_of(self.facts.masks[value]) == 1
                    else self.vector(value, lanes)
                    for k, value in enumerate(op.operands)
                ]
                results = convert(op, operands, self._level(mask))
                self.known.values.update(zip(op.results, results, strict=True))

    # Memory

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

    def _load(self, op: kernel.LoadOp) -> None:
        element = element_type(op.result.type)
        if element is None:
            raise unsupported(op)
        if op in self.loads:
            self._load_together(op, element)
            return
        mask = self.facts.op_mask(op)
        lanes = self._lanes_of(mask)
        offset = self.parent.offsets.of(op.offset)
        buffer = self.get(op.buffer)
        code = self._level(mask)
        stride = self._stride(offset)
        if lanes == 1:
            pointer = self._pointer(buffer, element, offset, mask)
            result = self._scalar_load(code, pointer, element, op.mask)
        elif stride == 1:
            pointer = self._pointer(buffer, element, offset, mask)
            result = self._vector_load(code, pointer, element, op.mask)
        elif stride == 0 and op.mask is None:
            pointer = self._pointer(buffer, element, offset, mask)
            result = code.splat(code.load(pointer, element), lanes)
        else:
            pointers = code.pointer(buffer, element, self.natural(op.offset, lanes))
            result = code.call(
                f"llvm.masked.gather.{_suffix(element, lanes)}.v{lanes}p0",
                element,
                lanes,
                [
                    pointers,
                    integer(size_of(element), "i32"),
                    self._lane_mask(op.mask),
                    _zero(element, lanes),
                ],
            )
        self.known.values[op.result] = result

    def _lane_mask(self, mask: SSAValue | None) -> Value:
        if mask is None:
            return self.parent.main.splat(integer(1, "i1"), self.lanes)
        return self.natural(mask, self.lanes)

    def _scalar_load(
        self, code: Code, pointer: Value, element: str, mask: SSAValue | None
    ) -> Value:
        if mask is None:
            return code.load(pointer, element)
        access, after, before = code.names.fresh("access"), code.names.fresh("after"), code.label
        code.branch_if(self.get(mask), access, after)
        code.start(access)
        word = code.load(pointer, element)
        code.branch(after)
        code.start(after)
        zero = _zero(element, 1).name
        return code.emit(
            f"phi {element} [ {zero}, %{before} ], [ {word.name}, %{access} ]", element
        )

    def _vector_load(
        self, code: Code, pointer: Value, element: str, mask: SSAValue | None
    ) -> Value:
        if mask is None:
            return code.load(pointer, element, self.lanes)
        return code.call(
            f"llvm.masked.load.{_suffix(element, self.lanes)}.p0",
            element,
            self.lanes,
            [
                pointer,
                integer(size_of(element), "i32"),
                self._lane_mask(mask),
                _zero(element, self.lanes),
            ],
        )

    def _load_together(self, op: kernel.LoadOp, element: str) -> None:
        group = self.loads[op]
        mask = self.facts.op_mask(op)
        offset = self.parent.offsets.of(group[0].offset)
        stride = self._stride(offset)
        assert stride is not None
        words = self._words_of_lanes(self.get(op.buffer), element, offset, mask, len(group), stride)
        self.known.values.update(zip([load.result for load in group], words, strict=True))

    def _words_of_lanes(
        self, base: Value, element: str, offset: Offset, mask: int, count: int, stride: int
    ) -> list[Value]:
        """Vectors of the `count` consecutive words that each lane finds at its offset."""
        code = self._level(mask)
        step = self.lanes if count == stride and count < self.lanes else stride
        rows = [
            code.load(
                self._pointer(base, element, _moved(offset, k * step), mask), element, self.lanes
            )
            for k in range(min(count, self.lanes) if step != stride else self.lanes)
        ]
        return transpose(code, rows) if step == stride else deinterleave(code, rows)

    def _store(self, op: kernel.StoreOp) -> None:
        group = self.stores.get(op)
        if group is not None:
            # With the last of them.
            if op is max(group, key=self.segment.ops.index):
                self._store_together(group)
            return
        element = element_type(op.value.type)
        if element is None:
            raise unsupported(op)
        offset = self.parent.offsets.of(op.offset)
        mask = (1 << self.inner if self.inner >= 0 else 0) | self.facts.op_mask(op)
        # Stores stand in the innermost loop, whatever they depend on.
        code = self._level(mask)
        buffer = self.get(op.buffer)
        stride = self._stride(offset)
        size = integer(size_of(element), "i32")
        if self.lanes == 1:
            self._scalar_store(code, op, self._pointer(buffer, element, offset, mask))
        elif stride == 1 and op.mask is None:
            code.store(
                self.natural(op.value, self.lanes), self._pointer(buffer, element, offset, mask)
            )
        elif stride == 1:
            code.call_void(
                f"llvm.masked.store.{_suffix(element, self.lanes)}.p0",
                [
                    self.natural(op.value, self.lanes),
                    self._pointer(buffer, element, offset, mask),
                    size,
                    self._lane_mask(op.mask),
                ],
            )
        else:
            code.call_void(
                f"llvm.masked.scatter.{_suffix(element, self.lanes)}.v{self.lanes}p0",
                [
                    self.natural(op.value, self.lanes),
                    code.pointer(buffer, element, self.natural(op.offset, self.lanes)),
                    size,
                    self._lane_mask(op.mask),
                ],
            )

    def _scalar_store(self, code: Code, op: kernel.StoreOp, pointer: Value) -> None:
        value = self.get(op.value)
        if op.mask is None:
            code.store(value, pointer)
            return
        access, after = code.names.fresh("access"), code.names.fresh("after")
        code.branch_if(self.get(op.mask), access, after)
        code.start(access)
        code.store(value, pointer)
        code.branch(after)
        code.start(after)

    def _store_together(self, group: Sequence[kernel.StoreOp]) -> None:
        element = element_type(group[0].value.type)
        assert element is not None
        offset = self.parent.offsets.of(group[0].offset)
        stride = self._stride(offset)
        assert stride is not None
        mask = 1 << self.inner | self.facts.op_mask(group[0])
        code = self._level(mask)
        buffer = self.get(group[0].buffer)
        words = [self.natural(op.value, self.lanes) for op in group]
        narrow = len(words) == stride and stride < self.lanes
        rows = interleave(code, words) if narrow else transpose(code, words)
        for k, row in enumerate(rows):
            place = _moved(offset, k * (self.lanes if narrow else stride))
            code.store(row, self._pointer(buffer, element, place, mask))

    # Arrays

    def _read(self, value: SSAValue) -> None:
        """Reads a value, or what an exchange gives along the innermost axis, from an array."""
        source = self.schedule.sources[value]
        array = source.array
        element = array.element
        base, lanes = self.parent.array(array), self._lanes_of(array.mask)
        strides = self._strides(array.mask)
        length = self.parent.lanes_of(array.mask)
        if source.exchange_axis is not None:
            # The lane's own position names the register, the result's number names the lane.
            axis = source.exchange_axis
            length, strides[axis] = strides[axis], length
            if axis == self.inner and lanes > 1:
                self._read_transposed(value, base, element, strides)
                return
        place = self._place(source.slot * length, strides)
        code = self._level(array.mask)
        word = code.load(self._pointer(base, element, place, array.mask), element, lanes)
        self.known.values[value] = self._from_array(code, word, value)

    def _read_transposed(
        self, value: SSAValue, base: Value, element: str, strides: dict[int, int]
    ) -> None:
        """All results of an exchange that are transposed together with one of them."""
        source = self.schedule.sources[value]
        first = source.slot // self.lanes * self.lanes
        place = self._place(first, strides)
        words = self._words_of_lanes(
            base, element, place, source.array.mask, self.lanes, strides[self.inner]
        )
        for other, found in self.schedule.sources.items():
            if found.array is source.array and found.exchange_axis is not None:
                number = found.slot - first
                if 0 <= number < self.lanes:
                    code = self._level(source.array.mask)
                    self.known.values[other] = self._from_array(code, words[number], other)

    def _from_array(self, code: Code, word: Value, value: SSAValue) -> Value:
        element = element_type(value.type)
        assert element is not None
        return word if element == word.element else code.cast("trunc", word, element)

    def _emit_export(self, export: Export) -> None:
        array = export.array
        code = self._level(array.mask)
        element = array.element
        value = self.natural(export.value, self._lanes_of(array.mask))
        if value.element != element:
            value = code.cast("zext", value, element)
        strides = self._strides(array.mask)
        length = self.parent.lanes_of(array.mask)
        place = self._place(export.slot * length, strides)
        code.store(value, self._pointer(self.parent.array(array), element, place, array.mask))

    def _place(self, constant: int, strides: dict[int, int]) -> Offset:
        """Where a lane stands in an array, which has no room for the loops around the segments."""
        terms = [
            (axis, stride) for axis, stride in strides.items() if axis not in self.parent.outer
        ]
        return Offset(constant, tuple(terms))

    def _strides(self, mask: int) -> dict[int, int]:
        """Distances in an array: the innermost loop axis is contiguous."""
        strides: dict[int, int] = {}
        stride = 1
        for axis in reversed(self.schedule.order):
            if mask >> axis & 1:
                strides[axis] = stride
                stride *= self.parent.extent(axis)
        return strides

    # Loops

    def _loop(self, op: scf.ForOp) -> None:
        """A loop inside the loops over lanes; independent sums get loops of their own."""
        code = self._level(self.facts.op_mask(op))
        outer = self.loop_code
        for value in outside_values(op):
            # In front of the loop, so that it does not compute it again and again.
            if value in self.data:
                self.get(value)
        bounds = [self.get(value) for value in (op.lb, op.ub, op.step)]
        masks = self.facts.masks
        for wanted in self._parts(op):
            arguments = [op.body.block.args[1 + k] for k in wanted]
            lanes = [self._lanes_of(masks[argument]) for argument in arguments]
            initial = [
                self._carried(op.iter_args[k], count)
                for k, count in zip(wanted, lanes, strict=True)
            ]
            results = code.loop(
                bounds[0],
                bounds[1],
                bounds[2],
                initial,
                lambda index, values, w=wanted, a=arguments, c=lanes: self._body(
                    op, code, index, values, w, a, c
                ),
            )
            self.loop_code = outer
            for k, result in zip(wanted, results, strict=True):
                self.known.values[op.results[k]] = result

    def _body(
        self,
        op: scf.ForOp,
        code: Code,
        index: Value,
        values: Sequence[Value],
        wanted: Sequence[int],
        arguments: Sequence[SSAValue],
        lanes: Sequence[int],
    ) -> list[Value]:
        block = op.body.block
        saved, self.known = self.known, self.known.copy()
        outer, self.loop_code = self.loop_code, code
        self.known.values[block.args[0]] = index
        self.known.values.update(zip(arguments, values, strict=True))
        last = block.last_op
        assert last is not None
        yields = [last.operands[k] for k in wanted]
        needed = None if len(wanted) == len(op.iter_args) else _slice(block, yields)
        for nested in block.ops:
            if needed is None or nested in needed:
                self._emit(nested)
        results = [self._carried(value, count) for value, count in zip(yields, lanes, strict=True)]
        self.known, self.loop_code = saved, outer
        return results

    def _carried(self, value: SSAValue, lanes: int) -> Value:
        """A value that a loop carries: always in the order that its type has."""
        found = self.vector(value, lanes)
        order = SPLIT if found.element == "i64" and self.parent.narrow else NATURAL
        code = self._level(self.facts.masks[self.schedule.resolve(value)])
        return code.ordered(found, order)._replace(order=order if lanes > 1 else found.order)

    def _parts(self, op: scf.ForOp) -> list[list[int]]:
        """The carried values in groups that do not need each other."""
        count = len(op.iter_args)
        everything = list(range(count))
        block = op.body.block
        last = block.last_op
        assert last is not None
        stores = any(isinstance(nested, kernel.StoreOp) for nested in op.walk())
        if stores or self.lanes == 1 or count <= CARRIED_VECTORS or op in self.facts.inline:
            return [everything]
        groups = [{k} for k in everything]
        for k in everything:
            needed = _slice(block, [last.operands[k]])
            reached = {k} | {
                argument.index - 1
                for argument in block.args[1:]
                if argument is last.operands[k]
                or any(argument in outside_values(nested) for nested in needed)
            }
            joined = set[int]().union(*(group for group in groups if group & reached), reached)
            groups = [group for group in groups if not group & joined] + [joined]
        groups.sort(key=min)
        parts: list[list[int]] = []
        for group in groups:
            if parts and len(parts[-1]) + len(group) <= CARRIED_VECTORS:
                parts[-1] += sorted(group)
            else:
                parts.append(sorted(group))
        return parts

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


def _moved(offset: Offset, distance: int) -> Offset:
    return Offset(offset.constant + distance, offset.terms)


def _suffix(element: str, lanes: int) -> str:
    name = {"double": "f64", "float": "f32"}.get(element, element)
    return f"v{lanes}{name}"


def _zero(element: str, lanes: int) -> Value:
    zero = real(0.0, element) if is_float(element) else integer(0, element)
    name = zero.name if lanes == 1 else "zeroinitializer"
    return Value(name, element, lanes, True)


def _slice(block: Block, values: Sequence[SSAValue]) -> set[Operation]:
    """The operations of a block that some values need, in one round of its loop."""
    needed: set[Operation] = set()
    pending = [value.owner for value in values]
    while pending:
        op = pending.pop()
        if isinstance(op, Operation) and op.parent is block and op not in needed:
            needed.add(op)
            pending.extend(value.owner for value in outside_values(op))
    return needed
