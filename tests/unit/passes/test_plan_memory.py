"""Places of buffers in random programs on several streams, against liveness and reachability computed here."""

from __future__ import annotations

import random
from dataclasses import dataclass

import pytest

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import fusion, host
from fhelium_ir.universe import make_context

BYTES = 256
"""Of a buffer: two limbs of sixteen 64-bit words."""

TYPE = "!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>"


@dataclass(frozen=True)
class Region:
    """A region of a random program: which ones it reads (-1 is the argument), and its stream."""

    reads: tuple[int, ...]
    stream: int


def random_regions(seed: int, streams: int, window: int) -> list[Region]:
    """Regions that read one or two of the last few ones."""
    choices = random.Random(seed)
    regions: list[Region] = []
    for index in range(choices.randint(3, 16)):
        first = max(-1, index - window)
        reads = tuple(choices.randint(first, index - 1) for _ in range(choices.randint(1, 2)))
        regions.append(Region(reads, choices.randrange(streams)))
    return regions


def text_of(regions: list[Region]) -> str:
    """The last region's result leaves the function."""
    lines = ["module attributes {rns.arithmetic = #rns.arithmetic<mont64>} {"]
    lines.append(f"func.func @main(%x : {TYPE}) -> {TYPE} {{")
    for index, region in enumerate(regions):
        names = ["%x" if read < 0 else f"%v{read}" for read in region.reads]
        given = ", ".join(f"%a{i} = {name} : {TYPE}" for i, name in enumerate(names))
        where = f" attributes {{stream = {region.stream} : i64}}" if region.stream else ""
        lines.append(f"  %v{index} = fusion.region({given}) -> ({TYPE}){where} {{")
        lines.append(f"    %n = rns.set_representative %a{len(names) - 1} : {TYPE} -> {TYPE}")
        lines.append(f"    fusion.yield %n : {TYPE}\n  }}")
    lines.append(f"  return %v{len(regions) - 1} : {TYPE}\n}}\n}}")
    return "\n".join(lines)


def planned(regions: list[Region], passes: str = "plan-memory") -> tuple[list[int], int]:
    """The offset of each region's result, and the arena's size."""
    context = make_context()
    module = parse_module(context, text_of(regions), "regions.mlir")
    Pipeline.parse(passes).run(context, module)
    found = [op for op in module.walk() if isinstance(op, fusion.FusedOp)]
    offsets = [op.offsets.data[0].value.data for op in found if op.offsets is not None]
    (function,) = module.ops
    size = function.attributes[host.ARENA]
    return offsets, int(getattr(size, "value").data)  # noqa: B009


def last_reader(regions: list[Region], index: int) -> int:
    readers = [i for i, region in enumerate(regions) if index in region.reads]
    return max(readers, default=index)


def before(regions: list[Region]) -> list[set[int]]:
    """For each region those that have ended before it: through results and through its stream."""
    found: list[set[int]] = []
    for index, region in enumerate(regions):
        same = [i for i in range(index) if regions[i].stream == region.stream]
        last = {*(read for read in region.reads if read >= 0), *same[-1:]}
        found.append(last.union(*(found[i] for i in last)))
    return found


def first_fit(regions: list[Region]) -> list[int]:
    """One stream: the lowest place that no buffer takes which is still read; the last result has none."""
    offsets: list[int] = []
    for index in range(len(regions) - 1):
        taken = {
            offsets[earlier] for earlier in range(index) if last_reader(regions, earlier) >= index
        }
        offsets.append(next(p for p in range(0, BYTES * 99, BYTES) if p not in taken))
    return [*offsets, -1]


@pytest.mark.parametrize("seed", range(40))
def test_one_stream_is_first_fit(seed: int) -> None:
    regions = random_regions(seed, 1, 4)
    assert planned(regions)[0] == first_fit(regions)


@pytest.mark.parametrize("seed", range(80))
def test_buffers_of_several_streams(seed: int) -> None:
    streams = 2 + seed % 2
    regions = random_regions(seed, streams, 3 + seed % 5)
    offsets, size = planned(regions)
    one = planned([Region(region.reads, 0) for region in regions])[1]
    ended = before(regions)
    waits = 0
    for later in range(len(regions)):
        for earlier in range(later):
            if offsets[earlier] == offsets[later] >= 0:
                # In the order of the program nothing is overwritten that is still read.
                assert last_reader(regions, earlier) < later
                users = {i for i, region in enumerate(regions) if earlier in region.reads}
                waits += not {earlier, *users} <= ended[later]
    assert size <= streams * one
    # Regions wait for memory where the arena would outgrow a working set for each stream, else never.
    if size < streams * one:
        assert waits == 0


def test_a_side_stream_may_not_grow_the_arena_for_ever() -> None:
    # A producer on stream 0, a reader of its result on stream 1, many times: without waits, stream 0 would never know
    # that a result has been read.
    regions = [Region((-1,), 0)]
    for _ in range(20):
        last = len(regions)
        regions += [Region((last - 1,), 0), Region((last,), 1)]
    offsets, size = planned(regions)
    assert size <= 2 * planned([Region(region.reads, 0) for region in regions])[1]
    assert len(set(offsets)) <= 8


def test_no_reuse_is_the_same_on_every_number_of_streams() -> None:
    regions = random_regions(5, 3, 4)
    single = [Region(region.reads, 0) for region in regions]
    option = "plan-memory{reuse=false}"
    assert planned(regions, option) == planned(single, option)
