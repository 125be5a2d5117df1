"""The expression graphs of all fusion regions, as an analysis."""

from __future__ import annotations

from xdsl.ir import Operation

from fhelium_ir.analysis.region_graph import build_graph
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.dialects import fusion


class RegionGraphs:
    """The graphs of the regions that an operation holds, each built when it is first wanted."""

    def __init__(self, op: Operation) -> None:
        self._graphs: dict[fusion.FusedOp, RegionGraph] = {}

    def graph(self, region: fusion.FusedOp) -> RegionGraph:
        """The graph of one region.

        Raises:
            Unfusable: the region cannot be one kernel chain.
        """
        known = self._graphs.get(region)
        if known is None:
            block = region.body.block
            ops = [op for op in block.ops if not isinstance(op, fusion.YieldOp)]
            known = build_graph(ops, list(block.args), list(region.yielded.values))
            self._graphs[region] = known
        return known
