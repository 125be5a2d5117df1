"""The graphs of regions are built once, and equal to those that build_graph makes."""

from __future__ import annotations

from fhelium_ir import universe
from fhelium_ir.analysis.ranges import ValueRanges
from fhelium_ir.analysis.region_graph import build_graph
from fhelium_ir.analysis.region_graphs import RegionGraphs
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import fusion
from fhelium_ir.passes.infer_resources import InferResources
from fhelium_ir.passes.plan_memory import PlanMemory

TYPE = "!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>"
WIDE = TYPE.replace("below = 1", "below = 2")
TEXT = f"""\
func.func @f(%x : {TYPE}) -> {WIDE} {{
  %r = fusion.region(%a = %x : {TYPE}) -> ({WIDE}) {{
    %s = rns.add %a, %a : {TYPE} -> {WIDE}
    fusion.yield %s : {WIDE}
  }}
  return %r : {WIDE}
}}
"""


def test_a_graph_is_built_once() -> None:
    module = parse_module(universe.make_context(), TEXT, "f.mlir")
    (region,) = (op for op in module.walk() if isinstance(op, fusion.FusedOp))
    graphs = RegionGraphs(module)
    (graph,) = graphs.graphs(region)
    assert graphs.graphs(region)[0] is graph
    block = region.body.block
    first = block.first_op
    assert first is not None
    assert graph == build_graph([first], list(block.args), list(region.yielded.values))
    assert [node.kind for node in graph.nodes] == ["load", "add"]


def test_the_passes_between_its_uses_preserve_it() -> None:
    for pass_type in (InferResources, PlanMemory):
        assert issubclass(RegionGraphs, pass_type.preserved_analyses)


def test_ranges_of_all_functions() -> None:
    type_ = "!ckks.ciphertext<level = 1, scale = 2**40>"
    text = "".join(
        f"func.func @f{bound}(%x : {type_} {{ckks.range = {bound}.0 : f64}}) -> {type_} {{\n"
        f"  %y = ckks.add %x, %x : {type_}\n  return %y : {type_}\n}}\n"
        for bound in (2, 3)
    )
    module = parse_module(universe.make_context(), text, "f.mlir")
    ranges = ValueRanges(module)
    sums = [op.results[0] for op in module.walk() if op.name == "ckks.add"]
    assert [ranges.bound(value) for value in sums] == [4.0, 6.0]
