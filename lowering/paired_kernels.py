"""The first kernel of a forward transform of what a base conversion gives, for two rows that convert the same limbs."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import i32

from fhelium_ir.analysis.paired_rows import shared_conversion
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.dialects import kernel, ntt, zq
from fhelium_ir.lowering.kernel_builder import Argument, KernelBuilder
from fhelium_ir.lowering.region_kernels import KernelCode, NodeEmitter
from fhelium_ir.lowering.signed_conversion import convert_together
from fhelium_ir.lowering.transform_kernels import TransformPass


def paired_kernel(graph: RegionGraph, schedule: ntt.Schedule, name: str) -> KernelCode:
    """Converts for both rows in one loop over source limbs; then each row has its own prologue, stages and stores.

    Args:
        graph: with a table of pairs.
    """
    transform = graph.transform
    assert transform is not None
    number = shared_conversion(graph.nodes, transform)
    assert number is not None
    build = KernelBuilder(zq.ARITHMETICS[graph.arithmetic])
    program = build.emit(kernel.ProgramIdOp(1))
    table = build.buffer(Argument("table", graph.pairs), i32, "pairs")
    rows = [build.load_index(table, build.add(build.mul(program, 2), side)) for side in range(2)]
    digits = graph.scratch_column >= 0
    emitters = [NodeEmitter(graph, 1, digits, (build, row)) for row in rows]
    # Of a row that is paired with itself nothing is stored twice.
    emitters[1].valid = build.compare("ne", rows[1], rows[0])
    first, second = (TransformPass(graph, schedule, True, 0, emitter) for emitter in emitters)
    first.set_up()
    second.set_up_beside(first)
    before = first.register_layout()
    for emitter in emitters:
        emitter.begin(before)
    converted = convert_together(emitters, graph.nodes[number])
    for emitter, values in zip(emitters, converted, strict=True):
        emitter.values[number] = values
    for one in (first, second):
        one.forward_from(before, one.emitter.node(transform.source))
    return replace(first.finish(name), pairs=True)
