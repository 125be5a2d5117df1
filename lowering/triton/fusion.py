"""The implementation of fusion regions by the compiler's own kernels, printed as Triton.

Linked programs launch the same kernels, shared between regions of equal shape. These objects say what the kernels
support, prepare single regions and execute them, for inspection and for use outside of a linked program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Operation

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.region_graph import Unfusable
from fhelium_ir.analysis.region_interface import count_computing, graph_of
from fhelium_ir.analysis.requirements import ResourceRequirement
from fhelium_ir.analysis.transform_schedules import candidates, shoup_stages
from fhelium_ir.backend.registry import OperationInvocation
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.dialects import fusion, ntt
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.lowering.triton.expression import ExpressionGraph
from fhelium_ir.lowering.triton.launches import RegionKernels

if TYPE_CHECKING:
    import torch

    from fhelium_ir.backend.resources import BoundResource

SCHEDULE_FACTS = ("degree", "direction", "device", "arithmetic")


@dataclass(frozen=True)
class PreparedFusion:
    """One region, ready to execute.

    Attributes:
        graph: what the region computes.
        name: of the implementation that prepared it.
    """

    graph: ExpressionGraph
    name: str = "triton-rns-fused"
    operation_types: tuple[type[Operation], ...] = (fusion.FusedOp,)
    supports_in_place: bool = False

    compiled: ClassVar[bool] = True

    @cached_property
    def kernels(self) -> RegionKernels:
        """The region's kernels; they are printed when first used and compiled when first launched."""
        return RegionKernels(self.graph)

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """The tables that the kernels read: row table, moduli, twiddles, constants.

        Raises:
            FheliumError: the invocation is about another region.
        """
        self._check_operation(invocation.operation)
        return self.graph.requirements()

    def prepare_layout(self, operation: fusion.FusedOp) -> None:
        """Prints the kernels for the layouts that the types state, without allocating a tensor.

        Raises:
            FheliumError: the operation is another region, or its kernels cannot be built.
        """
        self._check_operation(operation)
        _ = self.kernels.launches

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        """Computes the region: compiled on CUDA tensors, under Triton's interpreter on CPU tensors.

        Args:
            invocation: of the region that was prepared.
            inputs: one contiguous tensor per operand of the region.
            resources: one per requirement, in order.
            in_place: must be false.

        Returns:
            One tensor per result; a result that is an operand unchanged is that tensor.

        Raises:
            FheliumError: a tensor has the wrong device, dtype, shape or strides, a resource is missing or left over, or
                the call is in place.
        """
        from fhelium_ir.lowering.triton.execution import execute_region

        self._check_operation(invocation.operation)
        return execute_region(self.kernels, inputs, resources, in_place=in_place)

    def _check_operation(self, operation: Operation) -> None:
        if operation is not self.graph.operation:
            raise FheliumError(
                f"'{self.name}' was prepared for another operation than this '{operation.name}'"
            )


@dataclass(frozen=True)
class TritonFusionImplementation:
    """Executes fusion regions by generated kernels.

    Extraction and packing of components become choices of expressions and output indices; chains of arithmetic stay in
    registers; every result that something outside of the region reads is stored, and a result that is an operand
    unchanged stays an alias of it.

    Attributes:
        name: distinguishes it in a registry; what it supports does not depend on it.
        include_ntt: also takes regions with a transform.
    """

    name: str = "triton-rns-fused"
    include_ntt: bool = False
    operation_types: tuple[type[Operation], ...] = (fusion.FusedOp,)
    supports_in_place: bool = False

    compiled: ClassVar[bool] = True

    def select_ntt_schedule(self, **facts: object) -> Schedule | None:
        """The cheapest schedule that the kernels can follow, None without `include_ntt`.

        Facts:
            degree (int): the ring degree, a power of two.
            device (Device or str): description of the machine, or the name of a built-in one (default: gpu).
            arithmetic (str or None): of the residues; the device says where its products are Shoup's.
            direction (str): not looked at; all transforms of one degree share a schedule, so that they share kernels.

        Raises:
            FheliumError: a fact is unknown, or `degree` is missing or none.
        """
        for fact in facts:
            if fact not in SCHEDULE_FACTS:
                raise unknown_name("fact", fact, SCHEDULE_FACTS)
        degree = facts.get("degree")
        if not isinstance(degree, int) or degree < 8 or degree & (degree - 1):
            raise FheliumError(f"`degree` must be a power of two from 8, found {degree!r}")
        if not self.include_ntt:
            return None
        device = facts.get("device", "gpu")
        if not isinstance(device, Device):
            device = load_device(str(device))
        schedule = candidates(degree, device)[0].schedule
        return replace(schedule, shoup=shoup_stages(schedule, device, facts.get("arithmetic")))

    def match_fusion(self, operations: Sequence[Operation]) -> int | None:
        """How many computing ops the kernels take as one region.

        Args:
            operations: in topological order; what they read from outside are the inputs, what others read the results.

        Returns:
            The number of ops that compute; 0 if all only move residues; None if the access patterns do not allow one
            kernel chain, or if there is a transform without `include_ntt`.
        """
        if not operations:
            return 0
        if not self.include_ntt and any(isinstance(op, ntt.TransformOp) for op in operations):
            return None
        try:
            graph_of(operations)
        except Unfusable:
            return None
        return count_computing(operations)

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """The tables that the region's kernels read."""
        return self.prepare_operation(invocation.operation).resource_requirements(invocation)

    def prepare_operation(self, operation: Operation) -> PreparedFusion:
        """A region ready to execute; its kernels are built when they are first wanted.

        Raises:
            FheliumError: the operation is no region, or holds a transform without `include_ntt`.
        """
        if not isinstance(operation, fusion.FusedOp):
            raise FheliumError(f"'{self.name}' executes fusion regions, not '{operation.name}'")
        if not self.include_ntt and any(
            isinstance(op, ntt.TransformOp) for op in operation.body.ops
        ):
            raise FheliumError(f"'{self.name}' takes no transforms: include_ntt is false")
        return PreparedFusion(ExpressionGraph(operation), self.name)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        """Prepares and executes a region, see `PreparedFusion.execute`."""
        prepared = self.prepare_operation(invocation.operation)
        return prepared.execute(invocation, inputs, resources, in_place=in_place)


def default_fusion() -> TritonFusionImplementation:
    """The implementation of fusion regions that the default registry holds."""
    return TritonFusionImplementation(include_ntt=True)
