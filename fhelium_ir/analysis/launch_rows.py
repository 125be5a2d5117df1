"""Which bytes each program row of a launch may read and write, and which program rows depend on each other.

A program row is a position on the last axis of the grid. Tables of row numbers are part of the IR, so that all of this
is known: it is computed for all rows at once, as arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.traits import SymbolTable
from xdsl.utils.hints import isa

from fhelium_ir.analysis.kernel_accesses import (
    KernelAccesses,
    Sum,
    is_counter,
    loop_of,
    scalar_argument,
)
from fhelium_ir.dialects import host, kernel, resource
from fhelium_ir.dialects.zq import WordType

Numbers = npt.NDArray[np.int64]
"""One for each program row."""

ANY = 1 << 40
"""Beyond this an offset may be anything."""


SMALL = 1 << 15
"""Bytes of buffers that are not worth a look if nothing writes them."""


@dataclass(frozen=True)
class Span:
    """Bytes `low <= b < high` of a buffer for each program row; none where high <= low.

    Attributes:
        buffer: an allocated buffer, a resource or an argument of the function.
        stores: whether they may be written.
    """

    buffer: SSAValue
    stores: bool
    low: Numbers
    high: Numbers

    def bytes(self) -> int:
        """Of all rows together."""
        return int(np.maximum(self.high - self.low, 0).sum())

    def meets(self, other: Span) -> npt.NDArray[np.bool_]:
        """[rows, rows of the other]: whether two rows touch a byte that one of them may write."""
        if self.buffer is not other.buffer or not (self.stores or other.stores):
            return np.zeros((len(self.low), len(other.low)), dtype=bool)
        low = np.maximum(self.low[:, None], other.low[None, :])
        return low < np.minimum(self.high[:, None], other.high[None, :])


@dataclass(frozen=True)
class LaunchRows:
    """What the program rows of a launch touch."""

    launch: host.LaunchOp
    rows: int
    spans: tuple[Span, ...]

    def depends_on(self, earlier: LaunchRows) -> npt.NDArray[np.bool_]:
        """[rows of the earlier launch, rows]: which must stay in order."""
        found = np.zeros((earlier.rows, self.rows), dtype=bool)
        for before in earlier.spans:
            for span in self.spans:
                found |= before.meets(span)
        return found

    def reads_from(self, earlier: LaunchRows) -> bool:
        """Whether a row reads what a row of an earlier launch has written."""
        return any(
            before.stores and not span.stores and bool(before.meets(span).any())
            for before in earlier.spans
            for span in self.spans
        )

    @property
    def stored(self) -> Numbers:
        """Bytes that each row writes."""
        written = np.zeros(self.rows, dtype=np.int64)
        for span in self.spans:
            if span.stores:
                written += np.maximum(span.high - span.low, 0)
        return written


@dataclass
class RowAnalysis:
    """Looks at the launches of a module."""

    module: ModuleOp
    _kernels: dict[str, KernelAccesses | None] = field(
        default_factory=dict[str, KernelAccesses | None]
    )
    _tables: dict[str, Numbers | None] = field(default_factory=dict[str, Numbers | None])

    def rows(self, launch: host.LaunchOp) -> LaunchRows | None:
        """What a launch touches; None if it writes anything but buffers that the function allocates.

        Small buffers that nothing writes are left out.
        """
        accesses = self.accesses(launch)
        if accesses is None:
            return None
        count = launch.grid_shape[-1]
        evaluation = _Evaluation(self, accesses, launch, count)
        spans: list[Span] = []
        for number, argument in enumerate(launch.arguments):
            if not isa(argument.type, MemRefType[WordType]):
                continue
            placed = placed_in(argument)
            if placed is None or not isinstance(placed[0].owner, host.AllocOp):
                if placed is None or accesses.stores(number):
                    return None
                if host.bytes_of(argument.type) < SMALL:
                    continue  # nothing writes it
            buffer, start = placed
            size, word = host.bytes_of(argument.type), _word_bytes(argument)
            for access in accesses.of(number):
                low, high = evaluation.bounds(access.offset)
                low, high = np.maximum(low * word, 0), np.minimum((high + 1) * word, size)
                spans.append(Span(buffer, access.stores, low + start, high + start))
        return LaunchRows(launch, count, tuple(spans))

    def loads_per_word(self, launch: host.LaunchOp, number: int) -> float:
        """How often a launch loads each word of an argument, of those between the ends of what its rows touch; at most.

        Words that a lane loads twice count twice. 0 if it loads none.
        """
        accesses = self.accesses(launch)
        if accesses is None or not (loads := accesses.loads(number)):
            return 0.0
        rows = launch.grid_shape[-1]
        evaluation = _Evaluation(self, accesses, launch, rows)
        words = resource.word_memref(launch.arguments[number].type).get_shape()
        last = prod(words) - 1
        lanes, loaded = accesses.lanes * prod(launch.grid_shape[:-1]), 0
        spans: list[tuple[int, int]] = []
        for load in loads:
            low, high = evaluation.bounds(accesses.sum(load.offset))
            # Of a row that is none the mask is false, and offsets lie in front of the buffer.
            rounds = evaluation.rounds(load)
            touched = (low <= last) & (high >= 0) & (rounds > 0)
            loaded += lanes * int(rounds[touched].sum())
            spans += zip(low[touched].tolist(), high[touched].tolist(), strict=True)
        covered, end = 0, -1
        for least, most in sorted(spans):
            first, most = max(least, end + 1), min(most, last)
            covered += max(0, most - first + 1)
            end = max(end, most)
        return loaded / covered if covered else 0.0

    def accesses(self, launch: host.LaunchOp) -> KernelAccesses | None:
        """Those of the kernel that a launch names, if there is one."""
        name = launch.callee.string_value()
        if name not in self._kernels:
            callee = SymbolTable.lookup_symbol(self.module, launch.callee)
            known = isinstance(callee, kernel.FuncOp)
            self._kernels[name] = KernelAccesses(callee) if known else None
        return self._kernels[name]

    def table(self, value: SSAValue) -> Numbers | None:
        """The numbers of a table of row numbers, flat; None of anything else."""
        if not isinstance(value.owner, host.ResourceOp):
            return None
        name = value.owner.symbol.string_value()
        if name not in self._tables:
            declared = SymbolTable.lookup_symbol(self.module, value.owner.symbol)
            self._tables[name] = _values(declared)
        return self._tables[name]

    def largest(self, value: SSAValue) -> int:
        """The largest number in a table of permuted indices, which are not negative; `ANY` for other tables."""
        if isinstance(value.owner, host.ResourceOp):
            declared = SymbolTable.lookup_symbol(self.module, value.owner.symbol)
            if isinstance(declared, resource.DeclareOp) and declared.kind.data == "permutation":
                domain = declared.parameters.data["domain"]
                degree = prod(resource.word_memref(value.type).get_shape())
                # In the coefficient domain a flipped sign adds the ring degree.
                signs = not (isinstance(domain, StringAttr) and domain.data == "evaluation")
                return (2 if signs else 1) * degree - 1
        return ANY


def _values(declared: Operation | None) -> Numbers | None:
    if not isinstance(declared, resource.DeclareOp) or declared.kind.data != "rows":
        return None
    values = declared.parameters.data.get("values")
    if not isinstance(values, DenseIntOrFPElementsAttr) or declared.buffer is None:
        return None
    if values.get_shape() != declared.buffer.get_shape():
        return None  # not as it lies in memory
    return np.array([int(number) for number in values.get_values()], dtype=np.int64)


def placed_in(value: SSAValue) -> tuple[SSAValue, int] | None:
    """The buffer that a memref lies in, and the byte where it begins there; None if that is not known."""
    start = 0
    while isinstance(value.owner, host.ViewOp):
        start += value.owner.offset.value.data
        value = value.owner.source
    owner = value.owner
    if isinstance(owner, host.AllocOp | host.ResourceOp):
        return value, start
    if isinstance(value, BlockArgument) and isinstance(owner.parent_op(), func.FuncOp):
        return value, start
    return None


def _word_bytes(value: SSAValue) -> int:
    assert isa(value.type, MemRefType[WordType])
    return value.type.element_type.bitwidth // 8


@dataclass
class _Evaluation:
    """Bounds of the roots of one launch, for each program row."""

    analysis: RowAnalysis
    accesses: KernelAccesses
    launch: host.LaunchOp
    rows: int
    known: dict[SSAValue, tuple[Numbers, Numbers]] = field(
        default_factory=dict[SSAValue, tuple[Numbers, Numbers]]
    )

    def bounds(self, total: Sum) -> tuple[Numbers, Numbers]:
        """The least and the largest value of a sum."""
        low = np.full(self.rows, total.low, dtype=np.int64)
        high = np.full(self.rows, total.high, dtype=np.int64)
        for root, factor in total.terms:
            least, most = self.root(root)
            ends = (least, most) if factor > 0 else (most, least)
            low, high = low + factor * ends[0], high + factor * ends[1]
        return low, high

    def rounds(self, op: Operation) -> Numbers:
        """How often each program row runs an op, at most: the rounds of the loops around it."""
        found = np.ones(self.rows, dtype=np.int64)
        parent = op.parent_op()
        while isinstance(parent, scf.ForOp):
            low, high = self.root(parent.body.block.args[0])
            _, end = self._operand(parent.ub)
            found = found * np.where(end > low, high - low + 1, 0)
            parent = parent.parent_op()
        return found

    def root(self, value: SSAValue) -> tuple[Numbers, Numbers]:
        """Bounds of a root; `ANY` is far enough to cover every buffer, whatever the factor."""
        if value not in self.known:
            low, high = self._root(value)
            self.known[value] = np.maximum(low, -ANY), np.minimum(high, ANY)
        return self.known[value]

    def _root(self, value: SSAValue) -> tuple[Numbers, Numbers]:
        op = value.owner
        argument = scalar_argument(value)
        if argument is not None:
            return self._scalar(self.launch.arguments[argument])
        if is_counter(value):
            return self._counter(value)
        match op:
            case kernel.ProgramIdOp():
                axis = op.axis.value.data
                if axis == len(self.launch.grid_shape) - 1:
                    rows = np.arange(self.rows, dtype=np.int64)
                    return rows, rows
                return self._same(0, self.launch.grid_shape[axis] - 1)
            case kernel.LoadOp():
                return self._load(op)
            case arith.MinUIOp() | arith.MinSIOp() | arith.MaxSIOp():
                return self._least_or_most(op)
            case _:
                return self._same(-ANY, ANY)

    def _least_or_most(
        self, op: arith.MinUIOp | arith.MinSIOp | arith.MaxSIOp
    ) -> tuple[Numbers, Numbers]:
        (a, b), (c, d) = self._operand(op.lhs), self._operand(op.rhs)
        if isinstance(op, arith.MaxSIOp):
            return np.maximum(a, c), np.maximum(b, d)
        if isinstance(op, arith.MinUIOp) and (a.min() < 0 or c.min() < 0):
            return self._same(-ANY, ANY)
        return np.minimum(a, c), np.minimum(b, d)

    def _operand(self, value: SSAValue) -> tuple[Numbers, Numbers]:
        return self.bounds(self.accesses.sum(value))

    def _same(self, low: int, high: int) -> tuple[Numbers, Numbers]:
        return np.full(self.rows, low, np.int64), np.full(self.rows, high, np.int64)

    def _scalar(self, value: SSAValue) -> tuple[Numbers, Numbers]:
        op = value.owner
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            return self._same(op.value.value.data, op.value.value.data)
        return self._same(-ANY, ANY)

    def _counter(self, value: SSAValue) -> tuple[Numbers, Numbers]:
        loop = loop_of(value)
        step, _ = self._operand(loop.step)
        if step.min() < 1:
            return self._same(-ANY, ANY)
        (low, _), (_, high) = self._operand(loop.lb), self._operand(loop.ub)
        return low, np.maximum(high - 1, low)

    def _load(self, op: kernel.LoadOp) -> tuple[Numbers, Numbers]:
        assert isinstance(op.buffer, BlockArgument)
        argument = self.launch.arguments[op.buffer.index]
        table = self.analysis.table(argument)
        if table is None:
            most = self.analysis.largest(argument)
            return self._same(-ANY if most == ANY else 0, most)
        low, high = self._operand(op.offset)
        # A load outside of its buffer does not happen: there is no such lane.
        low, high = np.clip(low, 0, len(table) - 1), np.clip(high, 0, len(table) - 1)
        if (low == high).all():
            found = table[low]
            least = most = found
        else:
            ranges = [table[a : b + 1] for a, b in zip(low, high, strict=True)]
            least = np.array([part.min() for part in ranges], dtype=np.int64)
            most = np.array([part.max() for part in ranges], dtype=np.int64)
        if op.mask is not None:
            least, most = np.minimum(least, 0), np.maximum(most, 0)
        return least, most


def units_of(chain: Sequence[LaunchRows]) -> tuple[Numbers, ...]:
    """For each launch the unit of each program row: rows that depend on each other are in one unit.

    Units are numbered in the order of their first rows.
    """
    starts = np.cumsum([0, *(one.rows for one in chain)])
    parent = list(range(int(starts[-1])))

    def find(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for later, launch in enumerate(chain):
        for earlier in range(later):
            for before, after in np.argwhere(launch.depends_on(chain[earlier])):
                first = find(int(starts[earlier]) + int(before))
                second = find(int(starts[later]) + int(after))
                parent[max(first, second)] = min(first, second)
    numbers: dict[int, int] = {}
    units = [numbers.setdefault(find(node), len(numbers)) for node in range(len(parent))]
    return tuple(np.array(units[start:end], dtype=np.int64) for start, end in pairwise(starts))


def largest_unit(chain: Sequence[LaunchRows], units: Sequence[Numbers]) -> int:
    """The most bytes that the launches of a chain write in one unit, but for the last launch."""
    count = 1 + max(int(numbers.max()) for numbers in units)
    totals = np.zeros(count, dtype=np.int64)
    for one, numbers in zip(chain[:-1], units[:-1], strict=True):
        np.add.at(totals, numbers, one.stored)
    return int(totals.max())


def in_good_order(chain: Sequence[LaunchRows], units: Sequence[Numbers]) -> tuple[Numbers, ...]:
    """The units with other numbers, if units that follow each other then read more of the same bytes.

    Rows of one limb read the same twiddle factors, say, and rows of one digit convert the same limbs.
    """
    count = 1 + max(int(numbers.max()) for numbers in units)
    reads: list[tuple[Numbers, Numbers]] = []
    for one, numbers in zip(chain, units, strict=True):
        found, first = np.unique(numbers, return_index=True)
        for span in one.spans:
            if not span.stores:
                low, high = np.zeros(count, np.int64), np.zeros(count, np.int64)
                low[found], high[found] = span.low[first], span.high[first]
                reads.append((low, high))
    best = np.arange(count)
    most = _read_again(reads, best)
    for low, _ in reads:
        order = np.argsort(low, kind="stable")
        again = _read_again(reads, order)
        if again > most:
            best, most = order, again
    places = np.empty(count, np.int64)
    places[best] = np.arange(count)
    return tuple(places[numbers] for numbers in units)


def _read_again(reads: Sequence[tuple[Numbers, Numbers]], order: Numbers) -> int:
    """Bytes that units read which the unit before has read, too."""
    total = 0
    for low, high in reads:
        begin, end = low[order], high[order]
        common = np.minimum(end[1:], end[:-1]) - np.maximum(begin[1:], begin[:-1])
        total += int(np.maximum(common, 0).sum())
    return total
