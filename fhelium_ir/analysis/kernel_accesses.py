"""Which words of its buffers a kernel may read and write, as sums that a launch gives numbers to.

An offset is `low .. high` + sum of factor * root. Positions of lanes and numbers go into the bounds; roots are what a
launch knows: program ids, scalar arguments, words of tables of row numbers, loop counters. Bounds may be too wide,
never too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, i64
from xdsl.ir import Block, BlockArgument, SSAValue

from fhelium_ir.dialects import kernel

Terms = tuple[tuple[SSAValue, int], ...]


@dataclass(frozen=True)
class Sum:
    """`low .. high` (both included) plus the sum of factor * root."""

    low: int
    high: int
    terms: Terms = ()


@dataclass(frozen=True)
class Access:
    """All loads, or all stores, of a buffer whose offsets have the same roots.

    Attributes:
        stores: whether the buffer is written.
        offset: in elements.
    """

    stores: bool
    offset: Sum


class KernelAccesses:
    """The accesses of one kernel, for each buffer when it is first asked for."""

    def __init__(self, func: kernel.FuncOp):
        self._func = func
        self._sums: dict[SSAValue, Sum] = {}
        self._ops: dict[int, list[kernel.LoadOp | kernel.StoreOp]] = {}
        for op in func.walk():
            if isinstance(op, kernel.LoadOp | kernel.StoreOp):
                assert isinstance(op.buffer, BlockArgument)
                self._ops.setdefault(op.buffer.index, []).append(op)
        self._accesses: dict[int, tuple[Access, ...]] = {}

    def of(self, argument: int) -> tuple[Access, ...]:
        """The accesses of a buffer among the kernel's arguments, by number."""
        if argument not in self._accesses:
            self._accesses[argument] = self._find(argument)
        return self._accesses[argument]

    def stores(self, argument: int) -> bool:
        """Whether a buffer among the arguments is written."""
        return any(isinstance(op, kernel.StoreOp) for op in self._ops.get(argument, ()))

    def loads(self, argument: int) -> list[kernel.LoadOp]:
        """The loads of a buffer among the arguments."""
        return [op for op in self._ops.get(argument, ()) if isinstance(op, kernel.LoadOp)]

    @property
    def lanes(self) -> int:
        """Lanes of a program."""
        return self._func.lane_count

    def _find(self, argument: int) -> tuple[Access, ...]:
        found: dict[tuple[bool, Terms], tuple[int, int]] = {}
        for op in self._ops.get(argument, ()):
            total = self.sum(op.offset)
            key = (isinstance(op, kernel.StoreOp), total.terms)
            low, high = found.get(key, (total.low, total.high))
            found[key] = (min(low, total.low), max(high, total.high))
        return tuple(
            Access(stores, Sum(low, high, terms)) for (stores, terms), (low, high) in found.items()
        )

    def sum(self, value: SSAValue) -> Sum:
        """An integer of the kernel as a sum; what is none of the sums known here is a root."""
        if value not in self._sums:
            # Addresses are chains of a few hundred ops at most, but Python's stack is short.
            pending = [value]
            while pending:
                last = pending[-1]
                missing = [v for v in _summands(last) if v not in self._sums]
                if missing:
                    pending += missing
                else:
                    self._sums[last] = self._take_apart(last)
                    pending.pop()
        return self._sums[value]

    def _take_apart(self, value: SSAValue) -> Sum:
        op = value.owner
        number = _number(value)
        if number is not None:
            return Sum(number, number)
        if isinstance(op, kernel.LaneIdOp):
            return Sum(0, self._func.lane_shape[op.axis.value.data] - 1)
        if not _summands(value):
            return Sum(0, 0, ((value, 1),))
        match op:
            case arith.AddiOp():
                return _added(self._sums[op.lhs], self._sums[op.rhs], 1)
            case arith.SubiOp():
                return _added(self._sums[op.lhs], self._sums[op.rhs], -1)
            case arith.MuliOp() | arith.ShLIOp() if (factor := _number(op.rhs)) is not None:
                if isinstance(op, arith.ShLIOp):
                    factor = 1 << factor
                return _added(Sum(0, 0), self._sums[op.lhs], factor)
            case arith.AndIOp() if (mask := _number(op.rhs)) is not None and mask >= 0:
                inner = self._sums[op.lhs]
                if not inner.terms and inner.low >= 0 and inner.high <= mask:
                    return inner
                return Sum(0, mask)
            case arith.ShRUIOp() if (places := _number(op.rhs)) is not None:
                inner = self._sums[op.lhs]
                if not inner.terms and inner.low >= 0:
                    return Sum(inner.low >> places, inner.high >> places)
            case arith.ExtSIOp() | arith.IndexCastOp():
                return self._sums[op.operands[0]]
            case _:
                pass
        return Sum(0, 0, ((value, 1),))


def _summands(value: SSAValue) -> tuple[SSAValue, ...]:
    """What a value is the sum of, or a multiple. Sums of narrower words than 64 bits wrap, so they are roots."""
    op = value.owner
    if value.type not in (i64, IndexType()):
        return ()
    match op:
        case arith.AddiOp() | arith.SubiOp():
            return (op.lhs, op.rhs)
        case arith.MuliOp() | arith.ShLIOp() | arith.AndIOp() | arith.ShRUIOp():
            return (op.lhs,)
        case arith.ExtSIOp() | arith.IndexCastOp():
            return (op.operands[0],)
        case _:
            return ()


def _number(value: SSAValue) -> int | None:
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def _added(left: Sum, right: Sum, factor: int) -> Sum:
    terms = dict(left.terms)
    for root, times in right.terms:
        terms[root] = terms.get(root, 0) + factor * times
    ends = (factor * right.low, factor * right.high)
    low, high = left.low + min(ends), left.high + max(ends)
    return Sum(low, high, tuple((root, times) for root, times in terms.items() if times))


def is_counter(value: SSAValue) -> bool:
    """Whether a value counts the rounds of an `scf.for`."""
    if not isinstance(value, BlockArgument) or value.index != 0:
        return False
    return isinstance(value.owner.parent_op(), scf.ForOp)


def loop_of(counter: SSAValue) -> scf.ForOp:
    """The loop that a counter belongs to."""
    block = counter.owner
    assert isinstance(block, Block)
    loop = block.parent_op()
    assert isinstance(loop, scf.ForOp)
    return loop


def scalar_argument(value: SSAValue) -> int | None:
    """The number of a kernel argument that is an integer."""
    if isinstance(value, BlockArgument) and isinstance(value.owner.parent_op(), kernel.FuncOp):
        return value.index
    return None
