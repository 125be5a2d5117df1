"""Plans: one element-wise kernel with its tables, executed on tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from fhelium_ir.analysis.requirements import resource_position
from fhelium_ir.backend.host_runtime import DTYPES
from fhelium_ir.backend.registry import OperationInvocation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.triton import execution
from fhelium_ir.lowering.triton.binding import LaunchOptions, launch
from fhelium_ir.lowering.triton.expression import BoundGraph, ExpressionGraph, ValueExpr
from fhelium_ir.lowering.triton.launches import KernelLaunch, RegionKernels

PARAMETER_COLUMNS = 4
"""Columns of the parameter table: q, q^-1 mod R, R mod q, R^2 mod q."""

_RADIX = {torch.int32: 1 << 32, torch.int64: 1 << 64, torch.float64: 1}


def compile_source(source: str) -> Any:
    """The Triton function that a printed kernel defines: compiled where there is a CUDA device, else interpreted.

    Its source stays inspectable: tracebacks, `inspect` and Triton itself find it.

    Raises:
        FheliumError: the text is no Python module with a function.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    return execution.compile_for_tensors(source, device)


def execution_parameters(
    invocation: OperationInvocation | None,
    inputs: tuple[torch.Tensor, ...],
    parameters: torch.Tensor,
    *,
    in_place: bool,
) -> tuple[torch.Tensor, int]:
    """Checks the operands of an element-wise operation against its parameter table.

    Args:
        invocation: the operation, whose types say which shapes the operands have; None checks what tensors alone tell.
        inputs: operands [components, rows, N], int32, int64 or float64, contiguous, on one device.
        parameters: the moduli table [primes, 4] in the dtype of the arithmetic, without an invocation that of the
            operands; see the resource kind `moduli`.
        in_place: must be false: no element-wise kernel overwrites an operand.

    Returns:
        The parameter table, and the Montgomery radix R: 2^32 for int32, 2^64 for int64, 1 for float64.

    Raises:
        FheliumError: a tensor has the wrong device, dtype, shape or strides, or the call is in place.
    """
    if invocation is not None:
        expression = ExpressionGraph(invocation.operation)
        execution.check_in_place(expression, in_place)
        execution.check_inputs(expression, inputs)
    elif in_place:
        raise FheliumError("element-wise kernels do not work in place")
    if not inputs:
        raise FheliumError("an element-wise operation needs an operand")
    first = inputs[0]
    word = first.dtype if invocation is None else DTYPES[invocation.dtype]
    if word not in _RADIX:
        raise FheliumError(f"operands must be int32, int64 or float64, found {str(word)[6:]}")
    for index, tensor in enumerate(inputs):
        dtype = word if invocation is None else DTYPES[invocation.input_dtypes[index]]
        if tensor.dtype != dtype or tensor.device != first.device:
            raise FheliumError(
                f"operand {index} must be {str(dtype)[6:]} on {first.device}, found "
                f"{str(tensor.dtype)[6:]} on {tensor.device}"
            )
        if not tensor.is_contiguous():
            raise FheliumError(
                f"operand {index} must be contiguous, found strides {tensor.stride()}"
            )
    if parameters.dim() != 2 or parameters.shape[1] != PARAMETER_COLUMNS:
        raise FheliumError(
            f"the parameter table must have shape [primes, {PARAMETER_COLUMNS}], found "
            f"{tuple(parameters.shape)}"
        )
    if parameters.dtype != word or parameters.device != first.device:
        raise FheliumError(
            f"the parameter table must be {str(word)[6:]} on {first.device}, found "
            f"{str(parameters.dtype)[6:]} on {parameters.device}"
        )
    if not parameters.is_contiguous():
        raise FheliumError("the parameter table must be contiguous")
    if invocation is not None and parameters.shape[0] != len(invocation.parameters.primes):
        raise FheliumError(
            f"the parameter table must have {len(invocation.parameters.primes)} rows, one per "
            f"prime, found {parameters.shape[0]}"
        )
    return parameters, _RADIX[word]


@dataclass(frozen=True)
class PointwisePlan:
    """One element-wise kernel, ready to launch.

    Attributes:
        graph: what it computes, with its tables.
        materialized: the values that it stores; results that are operands unchanged are not among them.
        kernel: the Triton function, None if there is nothing to store.
        length: elements of a row: the ring degree.
    """

    graph: BoundGraph
    materialized: tuple[ValueExpr, ...]
    kernel: Any
    length: int

    @staticmethod
    def build(graph: BoundGraph) -> PointwisePlan:
        """Prints and compiles the kernel of a graph without transform.

        Raises:
            FheliumError: the graph has a transform, or its tables do not fit.
        """
        if graph.region.transform is not None:
            raise FheliumError("a plan is one element-wise kernel: the graph has a transform")
        expression = graph.expression
        device = graph.tables[0].tensor.device if graph.tables else torch.device("cpu")
        execution.check_resources(expression, graph.tables, device)
        step = _launch(expression)
        kernel = execution.compile_for_tensors(step.source, device) if step is not None else None
        return PointwisePlan(graph, expression.materialized, kernel, graph.region.degree)

    def execute(
        self, inputs: tuple[torch.Tensor, ...], parameters: torch.Tensor, radix: int
    ) -> tuple[torch.Tensor, ...]:
        """Launches the kernel.

        Args:
            inputs: one tensor per operand.
            parameters, radix: from `execution_parameters`.

        Returns:
            One tensor per result; a result that is an operand unchanged is that tensor.

        Raises:
            FheliumError: an operand's layout or the radix does not fit the graph.
        """
        expression, region = self.graph.expression, self.graph.region
        device = execution.check_inputs(expression, inputs)
        wanted = ARITHMETICS[region.arithmetic].radix
        if radix != wanted:
            raise FheliumError(
                f"the plan computes with radix 2^{wanted.bit_length() - 1}, found {radix}"
            )
        results = execution.new_results(expression, device)
        step = _launch(expression)
        if step is not None:
            tables = [bound.tensor for bound in self.graph.tables]
            tables[resource_position(region, "moduli")] = parameters
            for index, table in enumerate(tables):
                if table.device != device:
                    raise FheliumError(f"table {index} must be on {device}, found {table.device}")
            buffers = [inputs[number] for number in expression.input_numbers]
            graph = RegionKernels(expression).graph
            arguments = step.arguments(graph, tables, buffers, results)
            launch(self.kernel, step.grid, arguments, LaunchOptions(step.num_warps))
        return execution.with_aliases(expression, inputs, results)


def _launch(expression: ExpressionGraph) -> KernelLaunch | None:
    launches = RegionKernels(expression).launches
    return launches[0] if launches else None
