"""Execution of a region's kernels on tensors: layout checks, launches, aliases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from fhelium_ir.backend.host_runtime import DTYPES
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.triton.binding import LaunchOptions, TritonFunction, launch
from fhelium_ir.lowering.triton.compile import compile_source as compile_kernel
from fhelium_ir.lowering.triton.expression import ExpressionGraph
from fhelium_ir.lowering.triton.launches import RegionKernels

if TYPE_CHECKING:
    from fhelium_ir.backend.resources import BoundResource


def compile_for_tensors(source: str, device: torch.device) -> TritonFunction:
    """The kernel, compiled for CUDA tensors and interpreted for others."""
    return compile_kernel(source, interpret=device.type != "cuda")


def execute_region(
    kernels: RegionKernels,
    inputs: tuple[torch.Tensor, ...],
    resources: tuple[BoundResource, ...],
    *,
    in_place: bool,
) -> tuple[torch.Tensor, ...]:
    """Checks layouts, allocates the results that are no aliases, and launches the kernels in order."""
    expression = kernels.expression
    check_in_place(expression, in_place)
    device = check_inputs(expression, inputs)
    tables = check_resources(expression, resources, device)
    results = new_results(expression, device)
    launches = kernels.launches
    outputs: list[torch.Tensor | None] = list(results)
    if launches and kernels.needs_first_result and outputs[0] is None:
        shape = expression.invocation.result_shapes[0]
        dtype = DTYPES[expression.invocation.result_dtypes[0]]
        outputs[0] = torch.empty(shape, dtype=dtype, device=device)
    buffers = [inputs[number] for number in expression.input_numbers]
    word = expression.invocation.dtype
    scratch = [
        torch.empty((rows.rows, kernels.graph.degree), dtype=DTYPES[word], device=device)
        for rows in kernels.graph.scratch
    ]
    for step in launches:
        function = compile_for_tensors(step.source, device)
        arguments = step.arguments(kernels.graph, tables, buffers, outputs, scratch)
        launch(function, step.grid, arguments, LaunchOptions(step.num_warps))
    return with_aliases(expression, inputs, results)


def new_results(expression: ExpressionGraph, device: torch.device) -> list[torch.Tensor | None]:
    """A buffer for each result, None for those that are aliases."""
    invocation = expression.invocation
    return [
        None
        if index in expression.identities
        else torch.empty(shape, dtype=DTYPES[dtype], device=device)
        for index, (shape, dtype) in enumerate(
            zip(invocation.result_shapes, invocation.result_dtypes, strict=True)
        )
    ]


def with_aliases(
    expression: ExpressionGraph,
    inputs: Sequence[torch.Tensor],
    results: Sequence[torch.Tensor | None],
) -> tuple[torch.Tensor, ...]:
    """The results, operands where they are aliases."""
    return tuple(
        inputs[expression.identities[index]] if result is None else result
        for index, result in enumerate(results)
    )


def check_in_place(expression: ExpressionGraph, in_place: bool) -> None:
    if in_place:
        raise FheliumError(
            f"'{expression.operation.name}' cannot be executed in place: a kernel may write an "
            "element before another program has read it"
        )


def check_inputs(expression: ExpressionGraph, inputs: Sequence[torch.Tensor]) -> torch.device:
    """The device of the operands, whose layout must be that of their types.

    Raises:
        FheliumError: names the operand that has the wrong device, dtype, shape or strides.
    """
    invocation = expression.invocation
    shapes = invocation.input_shapes
    name = expression.operation.name
    if len(inputs) != len(shapes):
        raise FheliumError(f"'{name}' takes {len(shapes)} tensors, found {len(inputs)}")
    devices = {tensor.device for tensor in inputs}
    if len(devices) > 1:
        found = ", ".join(sorted(str(device) for device in devices))
        raise FheliumError(f"'{name}': the tensors must be on one device, found {found}")
    dtypes = invocation.input_dtypes
    for index, (tensor, shape) in enumerate(zip(inputs, shapes, strict=True)):
        check_tensor(f"'{name}': operand {index}", tensor, shape, dtypes[index])
    device = devices.pop() if devices else torch.device("cpu")
    if device.type not in ("cuda", "cpu"):
        raise FheliumError(f"'{name}': kernels run on cuda, or interpreted on cpu, not on {device}")
    return device


def check_tensor(what: str, tensor: torch.Tensor, shape: tuple[int, ...], dtype: str) -> None:
    """Raises FheliumError if a tensor has another dtype or shape, or is not contiguous."""
    if tensor.dtype != DTYPES[dtype] or tuple(tensor.shape) != shape:
        raise FheliumError(
            f"{what} must be {dtype} of shape {shape}, found {str(tensor.dtype)[6:]} of shape "
            f"{tuple(tensor.shape)}"
        )
    if not tensor.is_contiguous():
        raise FheliumError(f"{what} must be contiguous, found strides {tensor.stride()}")


def check_resources(
    expression: ExpressionGraph, resources: Sequence[BoundResource], device: torch.device
) -> list[torch.Tensor]:
    """The tensors of the required resources.

    Raises:
        FheliumError: names the resource that is missing, left over, or does not fit.
    """
    name, required = expression.operation.name, expression.requirements()
    if len(resources) < len(required):
        kinds = ", ".join(requirement.kind for requirement in required[len(resources) :])
        raise FheliumError(f"'{name}': missing resources: {kinds}")
    if len(resources) > len(required):
        names = ", ".join(bound.name for bound in resources[len(required) :])
        raise FheliumError(f"'{name}' takes {len(required)} resources; left over: {names}")
    for bound, requirement in zip(resources, required, strict=True):
        what = f"'{name}': resource '{bound.name}'"
        if bound.requirement.kind != requirement.kind:
            raise FheliumError(
                f"{what} must be of kind {requirement.kind}, found {bound.requirement.kind}"
            )
        check_tensor(what, bound.tensor, requirement.shape, requirement.dtype)
        if bound.tensor.device != device:
            raise FheliumError(f"{what} must be on {device}, found {bound.tensor.device}")
    return [bound.tensor for bound in resources]
