"""Loads, stores and stack arrays of a segment.

Words that lie side by side take one vector; those of lanes a stride apart are taken together and transposed in
registers (`shuffles`); what remains is gathered and scattered.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offset
from fhelium_ir.lowering.cpu.code import (
    Code,
    Value,
    element_type,
    integer,
    is_float,
    real,
    size_of,
)
from fhelium_ir.lowering.cpu.lane_values import Function, LaneValues
from fhelium_ir.lowering.cpu.nesting import holds
from fhelium_ir.lowering.cpu.operations import unsupported
from fhelium_ir.lowering.cpu.schedule import Export, Segment
from fhelium_ir.lowering.cpu.shuffles import deinterleave, interleave, transpose

T = TypeVar("T", kernel.LoadOp, kernel.StoreOp)


class Memory(LaneValues, ABC):
    """What a segment reads and writes."""

    def __init__(self, parent: Function, segment: Segment, lanes: int):
        super().__init__(parent, segment, lanes)
        self.loads: dict[Operation, list[kernel.LoadOp]] = {}
        self.stores: dict[Operation, list[kernel.StoreOp]] = {}
        # Of each group of stores the last one in the text.
        self.completing: set[Operation] = set()
        if self.lanes > 1:
            self.loads, self.stores = self._load_groups(), self._store_groups()

    # Words that are transposed together

    def _load_groups(self) -> dict[Operation, list[kernel.LoadOp]]:
        """Loads that are transposed together, by each of them."""
        epoch, found = 0, list[tuple[object, kernel.LoadOp]]()
        for op in self.segment.ops:
            if holds(op, kernel.StoreOp):
                epoch += 1
            if type(op) is kernel.LoadOp and op.mask is None:
                found.append((epoch, op))
        return self._groups(found)

    def _store_groups(self) -> dict[Operation, list[kernel.StoreOp]]:
        epoch, found = 0, list[tuple[object, kernel.StoreOp]]()
        for op in self.segment.ops:
            if type(op) is kernel.LoadOp or type(op) is scf.ForOp:
                epoch += 1
            elif type(op) is kernel.StoreOp:
                if op.mask is None:
                    found.append((epoch, op))
                else:
                    epoch += 1
        groups = self._groups(found)
        last = {id(groups[op]): op for _, op in found if op in groups}
        self.completing = set(last.values())
        return groups

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

    # Buffers

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
        shared = op.mask
        if shared is not None and self._lanes_of(self.facts.masks[shared]) > 1:
            shared = None
        lane_mask = op.mask if shared is None else None
        if lanes == 1 or stride == 1:
            pointer = self._pointer(buffer, element, offset, mask)

            def load() -> Value:
                return self._load_row(code, pointer, element, lanes, lane_mask)

        elif stride == 0 and lane_mask is None:
            pointer = self._pointer(buffer, element, offset, mask)

            def load() -> Value:
                return code.splat(code.load(pointer, element), lanes)

        else:
            pointers = code.pointer(buffer, element, self.natural(op.offset, lanes))

            def load() -> Value:
                return self._gather(code, pointers, element, lanes, lane_mask)

        result = load() if shared is None else self._guarded(code, shared, load)
        self.known.values[op.result] = result

    def _guarded(self, code: Code, mask: SSAValue, load: Callable[[], Value]) -> Value:
        """What is loaded where a mask that all lanes share is true, else 0.

        A processor takes hundreds of cycles for a masked access to an address that is not mapped.
        """
        access, after, before = code.names.fresh("access"), code.names.fresh("after"), code.label
        code.branch_if(self.get(mask), access, after)
        code.start(access)
        word = load()
        access = code.label
        code.branch(after)
        code.start(after)
        zero = _zero(word.element, word.lanes).name
        choice = f"[ {zero}, %{before} ], [ {word.name}, %{access} ]"
        return code.emit(f"phi {word.type} {choice}", word.element, word.lanes)

    def _lane_mask(self, mask: SSAValue | None) -> Value:
        if mask is None:
            return self.parent.main.splat(integer(1, "i1"), self.lanes)
        return self.natural(mask, self.lanes)

    def _load_row(
        self, code: Code, pointer: Value, element: str, lanes: int, mask: SSAValue | None
    ) -> Value:
        if mask is None:
            return code.load(pointer, element, lanes)
        assert lanes > 1
        size, zero = integer(size_of(element), "i32"), _zero(element, lanes)
        name = f"llvm.masked.load.{_suffix(element, lanes)}.p0"
        return code.call(name, element, lanes, [pointer, size, self._lane_mask(mask), zero])

    def _gather(
        self, code: Code, pointers: Value, element: str, lanes: int, mask: SSAValue | None
    ) -> Value:
        size, zero = integer(size_of(element), "i32"), _zero(element, lanes)
        name = f"llvm.masked.gather.{_suffix(element, lanes)}.v{lanes}p0"
        return code.call(name, element, lanes, [pointers, size, self._lane_mask(mask), zero])

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
            if op in self.completing:
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


def _moved(offset: Offset, distance: int) -> Offset:
    return Offset(offset.constant + distance, offset.terms)


def _suffix(element: str, lanes: int) -> str:
    name = {"double": "f64", "float": "f32"}.get(element, element)
    return f"v{lanes}{name}"


def _zero(element: str, lanes: int) -> Value:
    zero = real(0.0, element) if is_float(element) else integer(0, element)
    name = zero.name if lanes == 1 else "zeroinitializer"
    return Value(name, element, lanes, True)
