"""Waits between the launches of a host program on several streams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.analysis.streams import Moment, StreamOrder
from fhelium_ir.backend.memory import is_allocated_first
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import host, kernel


@dataclass(frozen=True)
class Access:
    """Bytes [start, end) of a buffer of the host program that a launch reads, or may write."""

    root: SSAValue
    start: int
    end: int
    writes: bool


def order_launches(function: func.FuncOp, kernels: Mapping[str, kernel.FuncOp], owner: str) -> None:
    """Adds `host.record` and `host.wait` where a launch reads, or overwrites, what one on another stream wrote or read.

    A `host.call` is on stream 0, after everything before it and before everything after it. The function's body is one
    block. If it allocates memory between launches, which torch may give away when the host has done with it, all
    launches are put on one stream.

    Args:
        kernels: by symbol.
        owner: the pass that a remark names.
    """
    block = function.body.block
    launches = [op for op in block.ops if isinstance(op, host.LaunchOp)]
    streams = 1 + max((launch.stream_number for launch in launches), default=0)
    if streams == 1:
        return
    if any(isinstance(op, host.AllocOp) and not is_allocated_first(op) for op in block.ops):
        for launch in launches:
            launch.stream = None
        remark(owner, function, "missed", "one stream: memory is allocated between launches")
        return
    _Waits(block, streams, kernels).add()


class _Waits:
    def __init__(self, block: Block, streams: int, kernels: Mapping[str, kernel.FuncOp]):
        self.block = block
        self.written = {name: written_arguments(found) for name, found in kernels.items()}
        self.order = StreamOrder(streams)
        self.ops: dict[tuple[int, int], Operation] = {}
        self.events: dict[tuple[int, int], SSAValue] = {}
        self.memory = _Memory()
        self.alone: list[Moment] = []

    def add(self) -> None:
        for op in list(self.block.ops):
            if isinstance(op, host.CallOp):
                self.alone = [self._place(op, 0, self.order.tails())]
            elif isinstance(op, host.LaunchOp):
                accesses = launch_accesses(op, self.written[op.callee.string_value()])
                needed = [*self.alone, *self.memory.conflicts(accesses)]
                moment = self._place(op, op.stream_number, needed)
                self.memory.use(accesses, moment)

    def _place(self, op: Operation, stream: int, needed: Sequence[Moment]) -> Moment:
        """Adds an op to its stream, behind waits for what it does not follow anyway."""
        moment = self.order.next(stream)
        # What waits for most comes first: others may follow from it.
        for other in sorted(set(needed), key=lambda m: (-sum(m.known), m.stream, -m.number)):
            if not moment.follows(other):
                wait = host.WaitOp(stream, self._event(other))
                wait.location = op.location
                self.block.insert_op_before(wait, op)
                moment = moment.after([other])
        self.order.add(moment)
        self.ops[stream, moment.number] = op
        return moment

    def _event(self, moment: Moment) -> SSAValue:
        """The event behind an op, recorded once."""
        key = (moment.stream, moment.number)
        if key not in self.events:
            record = host.RecordOp(moment.stream)
            record.location = self.ops[key].location
            record.event.name_hint = "done"
            self.block.insert_op_after(record, self.ops[key])
            self.events[key] = record.event
        return self.events[key]


def written_arguments(function: kernel.FuncOp) -> frozenset[int]:
    """Numbers of the arguments that a kernel stores to."""
    arguments: dict[SSAValue, int] = {
        value: index for index, value in enumerate(function.body.block.args)
    }
    return frozenset(
        arguments[op.buffer] for op in function.walk() if isinstance(op, kernel.StoreOp)
    )


def launch_accesses(launch: host.LaunchOp, written: frozenset[int]) -> list[Access]:
    """What a launch reads and writes; resources and other read-only buffers included."""
    accesses: list[Access] = []
    for index, value in enumerate(launch.arguments):
        if isinstance(value.type, MemRefType):
            owner, size = value.owner, host.buffer_bytes(value)
            if isinstance(owner, host.ViewOp):
                start = owner.offset.value.data
                accesses.append(Access(owner.source, start, start + size, index in written))
            else:
                accesses.append(Access(value, 0, size, index in written))
    return accesses


@dataclass(frozen=True)
class _Span:
    """Bytes with the launch that wrote them last, and for each stream the last one that has read them since."""

    start: int
    end: int
    writer: Moment | None
    readers: tuple[Moment, ...] = ()

    def read_by(self, moment: Moment) -> _Span:
        others = tuple(reader for reader in self.readers if reader.stream != moment.stream)
        return replace(self, readers=(*others, moment))


class _Memory:
    """Who wrote and read what, by buffer; the spans of a buffer are disjoint."""

    def __init__(self) -> None:
        self.spans: dict[SSAValue, list[_Span]] = {}

    def conflicts(self, accesses: Iterable[Access]) -> list[Moment]:
        """The launches that have to end before these accesses."""
        found: list[Moment] = []
        for access in accesses:
            for span in self.spans.get(access.root, ()):
                if span.start < access.end and access.start < span.end:
                    found += [span.writer] if span.writer is not None else []
                    found += span.readers if access.writes else ()
        return found

    def use(self, accesses: Sequence[Access], moment: Moment) -> None:
        # What a launch both reads and writes, it has written.
        for access in sorted(accesses, key=lambda access: access.writes):
            kept: list[_Span] = []
            free = access.start
            for span in self.spans.get(access.root, ()):
                start, end = max(span.start, access.start), min(span.end, access.end)
                if start >= end:
                    kept.append(span)
                    continue
                if span.start < start:
                    kept.append(replace(span, end=start))
                if end < span.end:
                    kept.append(replace(span, start=end))
                if not access.writes:
                    kept.append(replace(span, start=start, end=end).read_by(moment))
                    if free < start:
                        kept.append(_Span(free, start, None, (moment,)))
                    free = end
            if access.writes:
                kept.append(_Span(access.start, access.end, moment))
            elif free < access.end:
                kept.append(_Span(free, access.end, None, (moment,)))
            self.spans[access.root] = sorted(kept, key=lambda span: span.start)
