"""A region with two arithmetics is two graphs of kernels, which no single expression graph stands for."""

from __future__ import annotations

import pytest

from fhelium_ir.analysis.region_graphs import RegionGraphs
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import fusion
from fhelium_ir.lowering.triton.expression import ExpressionGraph
from tests.unit.exact.machine import facts_of, poly, region
from tests.unit.reference.textbook import parsed

BELOW, ABOVE, P = 1125899906840833, 1125899906842769, 1152921504606846577
WORDS = "mont64(e = 0, below = 1) fp64(e = 0, below = 1)"
SUMS = "mont64(e = 0, below = 2) fp64(e = 0, below = 2)"


def test_regions_of_mixed_modules_are_not_executed_alone() -> None:
    facts = facts_of(8, [BELOW, ABOVE], [P])
    before = poly(facts, "q 0:2", "coefficient", words=WORDS)
    after = poly(facts, "q 0:2", "coefficient", words=SUMS)
    module = parsed(
        region(facts, "mixed64", [before], [after], f"%v0 = rns.add %a0, %a0 : {before}")
    )
    (fused,) = (op for op in module.walk() if isinstance(op, fusion.FusedOp))
    graphs = RegionGraphs(module).graphs(fused)
    assert [graph.arithmetic for graph in graphs] == ["mont64", "fp64"]
    assert [[limb.index for limb in graph.limbs] for graph in graphs] == [[1], [0]]
    with pytest.raises(FheliumError, match="words of several arithmetics"):
        _ = ExpressionGraph(fused).region
