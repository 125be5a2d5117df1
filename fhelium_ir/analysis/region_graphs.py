"""The expression graphs of all fusion regions, as an analysis."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from fhelium_ir.analysis.digit_rows import Scratch
from fhelium_ir.analysis.region_graph import build_graphs
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.dialects import fusion


class RegionGraphs:
    """The graphs of the regions that an operation holds, each built when it is first wanted."""

    def __init__(self, op: Operation) -> None:
        self._graphs: dict[fusion.FusedOp, tuple[RegionGraph, ...]] = {}

    def graphs(self, region: fusion.FusedOp) -> tuple[RegionGraph, ...]:
        """The graphs of one region's kernels: one, or in a mixed module one for each group of primes.

        Raises:
            Unfusable: the region cannot be one kernel chain.
        """
        known = self._graphs.get(region)
        if known is None:
            block = region.body.block
            ops = [op for op in block.ops if not isinstance(op, fusion.YieldOp)]
            known = build_graphs(ops, list(block.args), list(region.yielded.values))
            self._graphs[region] = known
        return known


def region_scratch(graphs: Sequence[RegionGraph]) -> tuple[Scratch, ...]:
    """The scratch memory of a region: kernels of all groups of primes share it, each having rows of its own."""
    return max((graph.scratch for graph in graphs), key=len, default=())
