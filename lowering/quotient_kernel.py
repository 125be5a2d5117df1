"""The kernel in front of a nearest base conversion on words with a sign: which multiple of D it takes off."""

from __future__ import annotations

from xdsl.dialects import arith

from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.group_conversion import GroupConversion, Segment
from fhelium_ir.lowering.region_kernels import KernelCode, NodeEmitter, Tile
from fhelium_ir.lowering.signed_conversion import overflow, quotient_of, source_limb


def quotient_kernel(graph: RegionGraph, tile: Tile, name: str) -> KernelCode:
    """The kernel that leaves u' of every coefficient in the region's scratch memory; a program row is a component."""
    columns = min(tile.columns, graph.degree)
    emitter = NodeEmitter(graph, 1, components=True)
    build, found = emitter.build, graph.quotients
    assert found is not None
    lane, block = build.emit(kernel.LaneIdOp(0)), build.emit(kernel.ProgramIdOp(0))
    position = build.add(build.mul(block, columns), lane)
    emitter.begin([(position, 0)])
    row = build.mul(emitter.column(found.component), graph.degree)
    if found.segments:
        conversion = GroupConversion(emitter, found.buffer, found.table, "nearest")
        counts = [build.constant(0)] * conversion.counters
        for segment in found.segments:
            _, counts = conversion.segment(Segment(*segment), [], counts, only_counts=True)
        (quotient,) = conversion.quotients(counts)
        emitter.store_word(quotient, emitter.scratch(0), build.add(row, position), None)
        return emitter.finish(name, [columns], graph.degree // columns, tile.warps)
    entries, none = emitter.table_buffer(found.table), build.constant(0)
    first = emitter.column(found.start)
    with build.loop(emitter.bound(found.count), [none, none]) as loop:
        # The entries of all target limbs agree; those of the first one begin behind its multiple of D.
        offset = build.add(build.mul(loop.index, 4), 4)
        entry = [build.load(entries, build.add(offset, k)) for k in (1, 2, 3)]
        (word,) = source_limb(emitter, found.buffer, first, loop.index)
        terms = overflow(emitter, word, *entry)
        loop.yielded = [
            build.emit(arith.AddiOp(total, term))
            for total, term in zip(loop.carried, terms, strict=True)
        ]
    quotient = quotient_of(emitter, *loop.results)
    build.store(quotient, emitter.scratch(0), build.add(row, position), None)
    return emitter.finish(name, [columns], graph.degree // columns, tile.warps)
