"""Two implementations of one's own, for fhelium-opt and fhelium-run:

    fhelium-run examples/dot_product.mlir --load-implementation examples/implementations/exact_rns.py

`ExactMultiply` executes every `rns.mul` as a whole, with Python's integers. `PlainSums` takes regions that only add,
subtract and negate, and executes them with torch. Both are slow and easy to check: they show what the compiler asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
from xdsl.ir import Operation, SSAValue

from fhelium_ir.backend.execution import (
    BoundResource,
    OperationImplementationRegistry,
    OperationInvocation,
    ResourceRequirement,
)
from fhelium_ir.dialects import fusion, rns


def primes_of(invocation: OperationInvocation, value: SSAValue) -> list[int]:
    """The prime of each row of a bundle, from the program's parameters."""
    parameters = invocation.parameters
    type_ = value.type
    assert isinstance(type_, rns.PolyType)
    return [
        (parameters.q if limb.family == "q" else parameters.p)[limb.index]
        for _, limb in type_.data.rows()
    ]


def column(primes: list[int], device: torch.device) -> torch.Tensor:
    """Primes as a tensor that rows of words can be divided by, [rows, 1]."""
    return torch.tensor(primes, dtype=torch.int64, device=device).unsqueeze(1)


def integers(row: torch.Tensor) -> list[int]:
    """The words of a row, int32 or int64, as Python's integers."""
    return cast("list[int]", row.tolist())  # pyright: ignore[reportUnknownMemberType]


class ExactMultiply:
    """Products of residues with Python's integers: a * b / R modulo each prime, reduced."""

    name = "exact-multiply"
    operation_types: tuple[type[Operation], ...] = (rns.MulOp,)
    supports_in_place = True

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """The table of primes that the compiler's kernels read as well."""
        bits = invocation.arithmetic.word_bits
        return (ResourceRequirement("moduli", (), (len(invocation.parameters.primes), 4), bits),)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        left, right = inputs
        bits, radix = invocation.arithmetic.word_bits, invocation.arithmetic.radix
        primes = primes_of(invocation, invocation.operation.operands[0])
        result = left if in_place else torch.empty_like(left)
        for component in range(left.shape[0]):
            for row, q in enumerate(primes):
                inverse = pow(radix, -1, q)
                words = [
                    (a % (1 << bits)) * (b % (1 << bits)) * inverse % q
                    for a, b in zip(
                        integers(left[component, row]), integers(right[component, row]), strict=True
                    )
                ]
                result[component, row] = torch.tensor(words, dtype=left.dtype)
        return (result,)


class PlainSums:
    """Regions of additions, subtractions and negations on reduced words, with torch."""

    name = "plain-sums"
    operation_types: tuple[type[Operation], ...] = (fusion.FusedOp,)
    supports_in_place = False
    sums = (rns.AddOp, rns.SubOp, rns.NegateOp)

    def match_fusion(self, operations: Sequence[Operation]) -> int | None:
        """All of the ops, if each is a sum."""
        if not all(isinstance(op, self.sums) for op in operations):
            return None
        return len(operations)

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """None: the primes are parameters of the program."""
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
        region = invocation.operation
        assert isinstance(region, fusion.FusedOp)
        values: dict[SSAValue, torch.Tensor] = {}
        for argument, tensor in zip(region.body.block.args, inputs, strict=True):
            # Right for words below 2^63.
            primes = column(primes_of(invocation, argument), tensor.device)
            values[argument] = tensor.to(torch.int64) % primes
        for op in region.body.block.ops:
            if isinstance(op, self.sums):
                primes = column(primes_of(invocation, op.results[0]), inputs[0].device)
                operands = [values[operand] for operand in op.operands]
                values[op.results[0]] = self._compute(op, operands) % primes
        return tuple(values[value].to(inputs[0].dtype) for value in region.yielded.values)

    def _compute(self, op: Operation, operands: list[torch.Tensor]) -> torch.Tensor:
        if isinstance(op, rns.NegateOp):
            return -operands[0]
        return operands[0] + operands[1] if isinstance(op, rns.AddOp) else operands[0] - operands[1]


def register(registry: OperationImplementationRegistry) -> None:
    """Called by `--load-implementation`; as an entry point of `fhelium_ir.implementations` it works as well."""
    registry.register(ExactMultiply(), preferred=True)
    registry.register(PlainSums(), preferred=True)


__all__ = ["ExactMultiply", "PlainSums", "register"]
