"""The kernels of one region as Triton sources, and what each of their arguments stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.analysis.requirements import resource_position
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.convert_regions_to_kernels import tile_of
from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.lowering.kernel_steps import kernel_steps
from fhelium_ir.lowering.region_kernels import KernelCode, Tile
from fhelium_ir.lowering.triton.expression import ExpressionGraph
from fhelium_ir.lowering.triton.printer import kernel_source, warps_of

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class KernelLaunch:
    """One kernel of a region.

    Attributes:
        code: the kernel before its modular arithmetic is expanded, and its arguments' meanings.
        source: its Triton source.
        grid: number of programs along each axis.
        num_warps: its launch width.
    """

    code: KernelCode
    source: str
    grid: tuple[int, int]
    num_warps: int

    def arguments(
        self,
        graph: RegionGraph,
        tables: Sequence[torch.Tensor],
        inputs: Sequence[torch.Tensor],
        outputs: Sequence[torch.Tensor | None],
        scratch: Sequence[torch.Tensor] = (),
    ) -> list[torch.Tensor | int]:
        """What to pass: `tables` as the requirements list them, `inputs` by buffer, `outputs` by result, and `scratch`
        as the graph lists it."""
        values: list[torch.Tensor | int] = []
        for argument in self.code.arguments:
            match argument.kind:
                case "input":
                    values.append(inputs[argument.index])
                case "output":
                    output = outputs[argument.index]
                    assert output is not None
                    values.append(output)
                case "scratch":
                    values.append(scratch[argument.index])
                case "bound" | "count":
                    values.append(self.code.number(argument, graph))
                case kind:
                    digits = argument.digits
                    place = resource_position(graph, kind, argument.index, digits=digits)
                    values.append(tables[place])
        return values


@dataclass(frozen=True, eq=False)
class RegionKernels:
    """The kernels of an expression graph, in launch order; none if every result is an identity."""

    expression: ExpressionGraph

    @cached_property
    def graph(self) -> RegionGraph:
        """The graph without the results that stay aliases of operands."""
        region, identities = self.expression.region, self.expression.identities
        kept = tuple(output for output in region.outputs if output.result not in identities)
        return replace(region, outputs=kept)

    @cached_property
    def launches(self) -> tuple[KernelLaunch, ...]:
        """Prints the kernels.

        Raises:
            FheliumError: the region's transform has no schedule.
        """
        if not self.graph.outputs:
            return ()
        found: list[KernelLaunch] = []
        for code in self._codes():
            module = ModuleOp([code.function])
            ConvertZqToArith().apply(Context(), module)
            grid, warps = code.grid(self.graph), warps_of(code.function)
            found.append(KernelLaunch(code, kernel_source(code.function), grid, warps))
        return tuple(found)

    def _codes(self) -> list[KernelCode]:
        graph = self.graph
        if graph.anchored is not None and graph.anchored.schedule is None:
            raise FheliumError(
                f"'{self.expression.operation.name}': the transform has no schedule; "
                "run tune-ntt-schedules first"
            )
        steps = kernel_steps(graph, self._tile())
        return [step.build(f"{step.prefix}_{number}") for number, step in enumerate(steps)]

    def _tile(self) -> Tile:
        parent: Operation | None = self.expression.operation
        while parent is not None and not isinstance(parent, ModuleOp):
            parent = parent.parent_op()
        return tile_of(parent if parent is not None else ModuleOp([]))

    @property
    def needs_first_result(self) -> bool:
        """Whether a transform keeps its intermediate words in the first result's buffer."""
        return len(self.launches) > 1 and not self.graph.scratch
