"""Single arithmetic operations, each by one element-wise kernel."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from fhelium_ir.analysis.requirements import ResourceRequirement, resource_position
from fhelium_ir.backend.registry import OperationInvocation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import rns
from fhelium_ir.lowering.triton.expression import BoundGraph, ExpressionGraph

if TYPE_CHECKING:
    import torch

    from fhelium_ir.backend.resources import BoundResource
    from fhelium_ir.lowering.triton.pointwise import PointwisePlan

ARITHMETIC_OPS: tuple[type[Operation], ...] = (
    rns.AddOp,
    rns.SubOp,
    rns.NegateOp,
    rns.MulOp,
    rns.MulConstantOp,
    rns.SetRepresentativeOp,
)
"""Element-wise arithmetic of the polynomial stage."""


@dataclass(frozen=True)
class TritonRnsImplementation:
    """Executes single element-wise operations by the kernel of a region that holds nothing else.

    Operands and results are in the representatives that the op's types state: words below a multiple of q, Montgomery
    products with R = 2^32 or 2^64. On CUDA tensors kernels are compiled, on CPU tensors interpreted.

    Attributes:
        plans: prepared kernels by operation and device.
    """

    name: str = "triton-rns-pointwise"
    operation_types: tuple[type[Operation], ...] = ARITHMETIC_OPS
    supports_in_place: bool = False
    plans: dict[tuple[object, ...], PointwisePlan] = field(
        default_factory=dict[tuple[object, ...], "PointwisePlan"]
    )

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """Row table, moduli, and the constants of the operation.

        Raises:
            FheliumError: the operation is of another type, or its representatives are undecided.
        """
        return self._graph(invocation).requirements()

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        """Computes one operation.

        Raises:
            FheliumError: a tensor has the wrong device, dtype, shape or strides, a resource is missing or left over, or
                the call is in place.
        """
        from fhelium_ir.lowering.triton import execution
        from fhelium_ir.lowering.triton.pointwise import PointwisePlan, execution_parameters

        graph = self._graph(invocation)
        execution.check_in_place(graph, in_place)
        device = execution.check_inputs(graph, inputs)
        execution.check_resources(graph, resources, device)
        tables = tuple(id(bound.tensor) for bound in resources)
        key = (invocation.operation, str(device), tables)
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = PointwisePlan.build(BoundGraph(graph, resources))
        moduli = resources[resource_position(graph.region, "moduli")].tensor
        parameters, radix = execution_parameters(invocation, inputs, moduli, in_place=in_place)
        return plan.execute(inputs, parameters, radix)

    def _graph(self, invocation: OperationInvocation) -> ExpressionGraph:
        if not isinstance(invocation.operation, self.operation_types):
            raise FheliumError(f"'{self.name}' does not execute '{invocation.operation.name}'")
        graph = ExpressionGraph(invocation.operation)
        # The operation may stand in no module that states the parameters; the invocation knows them.
        graph.__dict__["invocation"] = invocation
        return graph
