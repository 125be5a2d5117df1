"""Rows that all programs along the grid's first axis read together, each of them a few words here and there.

The first program reads such a row from one end to the other. The processor sees what comes next and fetches it in
time; the words that a program wants lie too far apart for that, and main memory gives scattered ones at half the speed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from fhelium_ir.analysis.kernel_accesses import KernelAccesses, Terms
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offset, Offsets
from fhelium_ir.lowering.cpu.code import element_type, size_of
from fhelium_ir.lowering.cpu.lane_analysis import LaneFacts

WIDE = 1 << 17
"""Bytes over which the words of a program are spread, at least. Shorter rows stay in a cache from one launch to the
next: at ring degree 2^14 a transform takes 3 % longer if rows are read twice, at 2^15 20 % less."""

NARROW = 256
"""Bytes side by side, at most."""


@dataclass(frozen=True)
class SpreadRow:
    """Words `low` to `high`, plus multiples of `roots`, plus those as far on as each program is from the first one.

    Every bound is the offset of a word that some lane loads.

    Attributes:
        step: words from one program to the next.
        bytes: of a word.
    """

    buffer: SSAValue
    roots: Terms
    low: int
    high: int
    step: int
    bytes: int


def spread_rows(func: kernel.FuncOp, offsets: Offsets, facts: LaneFacts) -> list[SpreadRow]:
    """The rows that a kernel reads so, of buffers that it does not write."""
    written = {op.buffer for op in func.walk() if isinstance(op, kernel.StoreOp)}
    accesses = KernelAccesses(func)
    found: dict[tuple[SSAValue, Terms], tuple[int, int]] = {}
    for op in func.body.block.ops:
        if not isinstance(op, kernel.LoadOp) or op.mask is not None or op.buffer in written:
            continue
        width = _width(offsets.of(op.offset), facts)
        total = accesses.sum(op.offset)
        if width is None or total.high - total.low != width:
            continue
        key = (op.buffer, total.terms)
        low, high = found.get(key, (total.low, total.high))
        found[key] = (min(low, total.low), max(high, total.high))
    return list(_chosen(found))


def _chosen(found: dict[tuple[SSAValue, Terms], tuple[int, int]]) -> Iterator[SpreadRow]:
    for (buffer, terms), (low, high) in found.items():
        assert isinstance(buffer.type, kernel.BufferType)
        size = size_of(element_type(buffer.type.element_type) or "i64")
        steps = [factor for root, factor in terms if _is_first_axis(root)]
        if len(steps) == 1 and 0 < steps[0] * size <= NARROW and size * (high - low) >= WIDE:
            roots = tuple(term for term in terms if not _is_first_axis(term[0]))
            yield SpreadRow(buffer, roots, low, high, steps[0], size)


def _width(offset: Offset, facts: LaneFacts) -> int | None:
    """How much further the lane with the last position on all axes loads than that with the first, if all others load
    between them; else None."""
    width = 0
    for root, factor in offset.terms:
        last = facts.extents[root] - 1 if isinstance(root, int) else _last(root, facts)
        if last is None or (last and factor < 0):
            return None
        width += factor * last
    return width


def _last(root: SSAValue, facts: LaneFacts) -> int | None:
    """The largest value, if it is that of the last lane and 0 that of the first one."""
    if not facts.masks[root]:
        return 0
    op = root.owner
    if not isinstance(op, arith.AndIOp | arith.ShRUIOp) or not isinstance(
        op.lhs.owner, kernel.LaneIdOp
    ):
        return None
    number = op.rhs.owner
    if not isinstance(number, arith.ConstantOp) or not isinstance(number.value, IntegerAttr):
        return None
    last, bits = facts.extents[op.lhs.owner.axis.value.data] - 1, number.value.value.data
    if isinstance(op, arith.ShRUIOp):
        return last >> bits
    return last & bits if bits & (bits + 1) == 0 else None


def _is_first_axis(root: SSAValue) -> bool:
    return isinstance(root.owner, kernel.ProgramIdOp) and root.owner.axis.value.data == 0
