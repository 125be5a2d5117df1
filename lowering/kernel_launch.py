"""The implementation of `host.launch`: what a module that is already lowered is linked to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from xdsl.ir import Operation

from fhelium_ir.analysis.requirements import ResourceRequirement
from fhelium_ir.backend.registry import OperationInvocation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import host

if TYPE_CHECKING:
    import torch

    from fhelium_ir.backend.resources import BoundResource


@dataclass(frozen=True)
class KernelLaunchImplementation:
    """Stands for the kernels of a lowered module; linked programs launch them directly."""

    name: str = "kernel-launch"
    operation_types: tuple[type[Operation], ...] = (host.LaunchOp,)
    supports_in_place: bool = False

    compiled: ClassVar[bool] = True

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """None: the host program names the tables."""
        return ()

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        """A launch alone has no kernel: always raises FheliumError."""
        raise FheliumError("a host.launch is executed by the program that it belongs to")
