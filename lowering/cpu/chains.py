"""Chains of launches in native code: unit by unit, each through all launches, see `host.chain`.

One small function runs every chain. Its work is a list of tasks, a kernel and a range of its programs each, in the
order of units; a unit is a range of tasks.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from struct import pack

from fhelium_ir.lowering.cpu.binding import NativeCode, host_header, object_code

HEADER = 16
"""Bytes in front of the words of a chain's kernels: where its tasks lie, and where its units begin among them."""

_DRIVER = """
define void @chain(i64 %begin, i64 %end, ptr %words) {
entry:
  %tasks = load ptr, ptr %words, align 1
  %second = getelementptr i8, ptr %words, i64 8
  %units = load ptr, ptr %second, align 1
  %first.at = getelementptr i64, ptr %units, i64 %begin
  %last.at = getelementptr i64, ptr %units, i64 %end
  %first = load i64, ptr %first.at
  %last = load i64, ptr %last.at
  br label %check
check:
  %task = phi i64 [ %first, %entry ], [ %next, %run ]
  %more = icmp slt i64 %task, %last
  br i1 %more, label %run, label %done
run:
  %entry.at = getelementptr [4 x i64], ptr %tasks, i64 %task, i64 0
  %place.at = getelementptr [4 x i64], ptr %tasks, i64 %task, i64 1
  %from.at = getelementptr [4 x i64], ptr %tasks, i64 %task, i64 2
  %to.at = getelementptr [4 x i64], ptr %tasks, i64 %task, i64 3
  %kernel = load ptr, ptr %entry.at
  %place = load i64, ptr %place.at
  %from = load i64, ptr %from.at
  %to = load i64, ptr %to.at
  %mine = getelementptr i8, ptr %words, i64 %place
  call void %kernel(i64 %from, i64 %to, ptr %mine)
  %next = add i64 %task, 1
  br label %check
done:
  ret void
}
"""


@dataclass(frozen=True)
class Step:
    """A launch of a chain.

    Attributes:
        address: of the kernel.
        size: bytes of the words that it is called with.
        grid: extents.
        units: the unit of each position on the grid's last axis.
    """

    address: int
    size: int
    grid: tuple[int, ...]
    units: Sequence[int]


@dataclass(frozen=True)
class ChainWork:
    """What the driver reads, besides the words of the launches.

    Attributes:
        units: how many there are.
        header: stands in front of the words of all launches, one after the other.
        programs: of all launches.
    """

    units: int
    header: bytes
    programs: int
    tables: tuple[ctypes.Array[ctypes.c_int64], ...] = field(repr=False)


def chain_work(steps: Sequence[Step]) -> ChainWork:
    """The tasks of a chain: for each unit the programs of each launch, neighbouring rows together."""
    count = 1 + max(max(step.units) for step in steps)
    rows: list[list[list[int]]] = [[[] for _ in steps] for _ in range(count)]
    for number, step in enumerate(steps):
        for row, unit in enumerate(step.units):
            rows[unit][number].append(row)
    places = [HEADER + sum(step.size for step in steps[:number]) for number in range(len(steps))]
    tasks: list[int] = []
    starts = [0]
    for unit in rows:
        for step, place, mine in zip(steps, places, unit, strict=True):
            inner = prod(step.grid[:-1])
            for begin, end in _ranges(mine):
                tasks += [step.address, place, begin * inner, end * inner]
        starts.append(len(tasks) // 4)
    tables = (_words(tasks), _words(starts))
    header = pack("2q", *(ctypes.addressof(table) for table in tables))
    return ChainWork(count, header, sum(prod(step.grid) for step in steps), tables)


def _ranges(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Ascending numbers as ranges."""
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row:
            found[-1] = (found[-1][0], row + 1)
        else:
            found.append((row, row + 1))
    return found


def _words(numbers: Sequence[int]) -> ctypes.Array[ctypes.c_int64]:
    return (ctypes.c_int64 * len(numbers))(*numbers)


@cache
def _native_driver() -> NativeCode:
    return NativeCode({"chain": object_code(host_header() + _DRIVER)})


def driver(bind: Callable[[int], Callable[[int, int, bytes], None]]) -> Callable[..., None]:
    """The native function `call(begin, end, words)` that runs the units `begin <= u < end`; `words` is the header, then
    the words of each launch.

    Args:
        bind: makes a function of its address.
    """
    return bind(_native_driver().addresses["chain"])
