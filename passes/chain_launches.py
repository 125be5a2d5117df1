"""chain-launches: launches whose rows follow each other run row by row, so that a row stays in a core's cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.launch_rows import (
    LaunchRows,
    Numbers,
    RowAnalysis,
    in_good_order,
    largest_unit,
    placed_in,
    units_of,
)
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import host

WORTH = 2
"""A chain hands on at least this part of the cache; less stays there anyway."""

SHARE = 2
"""What a unit hands on takes at most this part of the cache; tables, inputs and results take the rest."""

MERGED = 4
"""A unit has one row of a launch, or at most this part of them, so that cores do not wait for each other."""


@dataclass(frozen=True)
class ChainLaunches(ModulePass):
    """Groups launches that follow each other into `host.chain`, if rows of the later one need few of the earlier one.

    Which bytes a program row of a launch touches follows from the kernel's offsets and the tables of row numbers, both
    part of the IR. Rows of which one touches what the other one writes are in one unit, be it to read it or because the
    arena is used again. Launches join while a unit hands on no more than half of the cache. Units are put in the order
    in which those that follow each other read most of the same bytes. Words do not change.

    A device whose description names no cache of a core has no chains. Needs convert-regions-to-kernels first.

    Options:
        device: a built-in description (`gpu`, `cpu`, `interpreter`), a measured one (`host`, `cuda`) or a JSON file.
    """

    name = "chain-launches"
    device: str = "gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        device = load_device(self.device)
        if device.cache == 0:
            return
        chains = _Chains(device, RowAnalysis(op))
        for function in op.ops:
            if isinstance(function, func.FuncOp):
                for block in [block for inner in function.walk() for block in _blocks(inner)]:
                    for launches in _sequences(block):
                        chains.run(launches)


def _blocks(op: Operation) -> list[Block]:
    """The blocks of an op in which launches may stand."""
    if not isinstance(op, func.FuncOp | scf.ForOp | scf.IfOp):
        return []
    return [block for region in op.regions for block in region.blocks]


def _sequences(block: Block) -> list[list[host.LaunchOp]]:
    """Launches on one stream with nothing between them but what may as well stand in front of them."""
    found: list[list[host.LaunchOp]] = [[]]
    for op in block.ops:
        if isinstance(op, host.LaunchOp):
            if found[-1] and found[-1][-1].stream_number != op.stream_number:
                found.append([])
            found[-1].append(op)
        elif not isinstance(op, host.AllocOp | host.ViewOp | host.ResourceOp | arith.ConstantOp):
            found.append([])
    return found


@dataclass
class _Chains:
    device: Device
    analysis: RowAnalysis

    def run(self, launches: list[host.LaunchOp]) -> None:
        """Chains launches that follow each other, each chain as long as it may be."""
        while len(launches) > 1:
            chain, units = self._longest(launches)
            if len(chain) > 1:
                _write(chain, units)
            launches = launches[len(chain) :]

    def _longest(
        self, launches: Sequence[host.LaunchOp]
    ) -> tuple[Sequence[host.LaunchOp], Sequence[Numbers]]:
        """The first of the launches that make a chain, at least one; and the units of their rows."""
        chain: list[LaunchRows] = []
        units: Sequence[Numbers] = ()
        for before, launch in pairwise(launches):
            if _shared_bytes(before, launch) * WORTH < self.device.cache:
                break
            rows = [self.analysis.rows(op) for op in ((launch,) if chain else (before, launch))]
            known = [one for one in rows if one is not None]
            if len(known) < len(rows):
                _missed(launch, before, "they write more than what the function allocates")
                break
            longer = [*chain, *known]
            grouped = units_of(longer)
            reason = self._refusal(longer, grouped)
            if reason is not None:
                _missed(launch, before, reason)
                break
            chain, units = longer, grouped
        if chain:
            units = in_good_order(chain, units)
        return launches[: max(1, len(chain))], units

    def _refusal(self, chain: Sequence[LaunchRows], units: Sequence[Numbers]) -> str | None:
        """Why the last of some launches does not run with the others unit by unit; None if it does."""
        last = chain[-1]
        if not any(last.reads_from(earlier) for earlier in chain[:-1]):
            return "it reads nothing that they write"
        for one, numbers in zip(chain, units, strict=True):
            together = int(np.bincount(numbers).max())
            if together > max(1, one.rows // MERGED):
                return f"{together} of {one.rows} rows of @{_name(one.launch)} depend on each other"
        handed = largest_unit(chain, units)
        if handed * SHARE > self.device.cache:
            return f"{handed} bytes that a row hands on do not stay in a cache"
        return None


def _missed(launch: host.LaunchOp, before: host.LaunchOp, reason: str) -> None:
    text = f"@{_name(launch)} is not chained to @{_name(before)}: {reason}"
    remark(ChainLaunches.name, launch, "missed", text)


def _shared_bytes(before: host.LaunchOp, launch: host.LaunchOp) -> int:
    """At most so many bytes are handed from one launch to the next: those of buffers that both are given."""
    shared = 0
    for argument in set(launch.arguments):
        if not isinstance(argument.type, MemRefType):
            continue
        place = placed_in(argument)
        if place is None or not isinstance(place[0].owner, host.AllocOp):
            continue
        end = place[1] + host.buffer_bytes(argument)
        for other in set(before.arguments):
            there = placed_in(other) if isinstance(other.type, MemRefType) else None
            if there is not None and there[0] is place[0]:
                common = min(end, there[1] + host.buffer_bytes(other)) - max(place[1], there[1])
                shared += max(0, common)
    return shared


def _write(launches: Sequence[host.LaunchOp], units: Sequence[Numbers]) -> None:
    """Moves launches into a chain where the last of them stands."""
    names = ", ".join(f"@{_name(launch)}" for launch in launches)
    count = 1 + max(int(numbers.max()) for numbers in units)
    remark(ChainLaunches.name, launches[0], "applied", f"{names} run in {count} units")
    parent = launches[-1].parent_block()
    assert parent is not None
    block = Block()
    chain = host.ChainOp([numbers.tolist() for numbers in units], Region(block))
    chain.location = launches[0].location
    parent.insert_op_after(chain, launches[-1])
    for launch in launches:
        launch.detach()
        block.add_op(launch)


def _name(launch: host.LaunchOp) -> str:
    return launch.callee.string_value()
