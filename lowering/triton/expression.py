"""Views of a fusion region: its expression graph, the values in it, and the graph with its tables bound.

Nothing is computed here that `fhelium_ir.analysis.region_graph` does not decide: these are names for what a region's
kernels will do, so that it can be inspected and executed on its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from fhelium_ir.analysis.region_graph import Unfusable
from fhelium_ir.analysis.region_interface import graph_of, region_graph
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.analysis.requirements import (
    ResourceRequirement,
    region_requirements,
    resource_position,
)
from fhelium_ir.backend.registry import OperationInvocation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import fusion

if TYPE_CHECKING:
    from fhelium_ir.backend.resources import BoundResource


@dataclass(frozen=True)
class ValueExpr:
    """One value of one element of a region: a node of its graph."""

    graph: ExpressionGraph
    index: int

    @property
    def kind(self) -> str:
        """What computes it: `load`, `add`, `mul`, `anchor`, ... as in `fhelium_ir.analysis.region_graph.Node`."""
        return self.graph.region.nodes[self.index].kind

    @property
    def operands(self) -> tuple[ValueExpr, ...]:
        """The values that it is computed from."""
        node = self.graph.region.nodes[self.index]
        return tuple(ValueExpr(self.graph, operand) for operand in node.operands)

    @property
    def data(self) -> tuple[int | str | bool, ...]:
        """Numbers of the buffers, columns and tables that it reads."""
        return self.graph.region.nodes[self.index].data

    def __str__(self) -> str:
        parts = [*map(str, self.operands), *map(str, self.data)]
        return f"{self.kind}({', '.join(parts)})"


@dataclass(frozen=True, eq=False)
class ExpressionGraph:
    """What one operation computes, element by element.

    Args:
        operation: a fusion region, or one op of the polynomial stage, which is seen as a region of its own.
    """

    operation: Operation

    @cached_property
    def region(self) -> RegionGraph:
        """The graph that the lowering turns into kernels.

        Raises:
            FheliumError: the operation has no kernels.
        """
        operation = self.operation
        try:
            fused = isinstance(operation, fusion.FusedOp)
            graph = region_graph(operation) if fused else graph_of([operation])
        except Unfusable as error:
            raise FheliumError(
                f"'{operation.name}' has no kernels: {error}", location_of(operation)
            ) from error
        if graph.mixed:
            raise FheliumError(
                f"'{operation.name}': words of several arithmetics have kernels in a linked program only",
                location_of(operation),
            )
        return graph

    @cached_property
    def invocation(self) -> OperationInvocation:
        """The operation with the parameters of its module."""
        return OperationInvocation.of(self.operation)

    @property
    def values(self) -> tuple[ValueExpr, ...]:
        """Every value, operands first."""
        return tuple(ValueExpr(self, index) for index in range(len(self.region.nodes)))

    @property
    def results(self) -> tuple[tuple[ValueExpr, ...], ...]:
        """For each result the values that are stored in it, one per component that is computed side by side."""
        stored: list[list[ValueExpr]] = [[] for _ in self.operation.results]
        for output in self.region.outputs:
            stored[output.result].append(ValueExpr(self, output.node))
        return tuple(map(tuple, stored))

    @cached_property
    def input_numbers(self) -> tuple[int, ...]:
        """For each buffer of the graph the operand that it is: an op may read one value twice."""
        if isinstance(self.operation, fusion.FusedOp):
            return tuple(range(len(self.operation.inputs)))
        operands = list(self.operation.operands)
        return tuple(operands.index(value) for value in dict.fromkeys(operands))

    @cached_property
    def identities(self) -> dict[int, int]:
        """Results that are operands, unchanged: number of the result to number of the operand."""
        region, invocation = self.region, self.invocation
        source: dict[int, int | None] = {}
        for output in region.outputs:
            node = region.nodes[output.node]
            buffer = None
            if node.kind == "load":
                number, column, masked, permutation = (int(entry) for entry in node.data)
                if not masked and permutation < 0:
                    same = region.columns[column] == region.columns[output.column]
                    buffer = self.input_numbers[number] if same else None
            known = source.get(output.result, buffer)
            source[output.result] = buffer if known == buffer else None
        return {
            result: number
            for result, number in source.items()
            if number is not None
            and invocation.input_shapes[number] == invocation.result_shapes[result]
        }

    @property
    def materialized(self) -> tuple[ValueExpr, ...]:
        """The values that kernels store: those of results that are no identities, each once."""
        kept = dict.fromkeys(
            output.node for output in self.region.outputs if output.result not in self.identities
        )
        return tuple(ValueExpr(self, node) for node in kept)

    def requirements(self) -> tuple[ResourceRequirement, ...]:
        """The tables that the kernels read."""
        return region_requirements(self.region, self.invocation.parameters)


@dataclass(frozen=True, eq=False)
class BoundGraph:
    """An expression graph with the tables that its kernels read.

    Attributes:
        expression: the graph.
        tables: one resource per requirement, in order.
    """

    expression: ExpressionGraph
    tables: tuple[BoundResource, ...]

    @property
    def region(self) -> RegionGraph:
        return self.expression.region

    @property
    def parameters(self) -> BoundResource:
        """The parameter table: q, q^-1 mod R, R mod q, R^2 mod q for each prime."""
        return self.tables[resource_position(self.region, "moduli")]
