"""Resources: the tables, keys and plaintexts that a program reads, required, bound and materialized."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import torch

from fhelium_ir.analysis.requirements import ResourceRequirement
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.dialects import resource

if TYPE_CHECKING:
    from fhelium_ir.compiler.compilation import Compilation

__all__ = [
    "BoundResource",
    "ResourceBindings",
    "ResourceMaterializer",
    "ResourceRequirement",
    "check_tensor",
    "requirement_of",
]

NAMED = "named"
"""Kind of a resource that is given by name."""


@dataclass(frozen=True)
class BoundResource:
    """A resource and its tensor.

    Attributes:
        requirement: what was required.
        name: its symbol in the program.
        tensor: contiguous, on the device that the program runs on.
    """

    requirement: ResourceRequirement
    name: str
    tensor: torch.Tensor

    @property
    def bytes(self) -> int:
        return self.tensor.numel() * self.tensor.itemsize


@dataclass(frozen=True, eq=False)
class ResourceBindings(Mapping[str, torch.Tensor]):
    """Tensors by name, for requirements of kind `named`."""

    tensors: Mapping[str, torch.Tensor] = field(default_factory=dict[str, torch.Tensor])

    def __getitem__(self, name: str) -> torch.Tensor:
        if name not in self.tensors:
            raise unknown_name("resource", name, self.tensors)
        return self.tensors[name]

    def __contains__(self, name: object) -> bool:
        return name in self.tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self.tensors)

    def __len__(self) -> int:
        return len(self.tensors)

    def extended(self, other: ResourceBindings, *, override: bool = True) -> ResourceBindings:
        """Both tables.

        Args:
            override: where both hold a name, the other table's tensor is taken; if false, this one's.
        """
        first, second = (self, other) if override else (other, self)
        return ResourceBindings({**first.tensors, **second.tensors})


class ResourceMaterializer(Protocol):
    """Computes the contents of declared resources."""

    def materialize(
        self, declared: resource.DeclareOp, compilation: Compilation, /
    ) -> torch.Tensor:
        """The tensor of a declaration: its shape and dtype, on any device.

        Args:
            compilation: the program that declares it: parameters, and keys and plaintexts that were given with it.
        """
        ...


def requirement_of(declared: resource.DeclareOp) -> ResourceRequirement:
    """What a declaration requires.

    Raises:
        FheliumError: it has no shape yet.
    """
    if declared.buffer is None:
        raise FheliumError(
            f"resource @{declared.sym_name.data} has no shape; run infer-resources first"
        )
    return ResourceRequirement(
        declared.kind.data,
        tuple(declared.parameters.data.items()),
        declared.shape(),
        declared.word_bits(),
        declared.is_floating(),
    )


def check_tensor(name: str, tensor: torch.Tensor, requirement: ResourceRequirement) -> None:
    """Raises FheliumError unless a tensor has the required dtype, shape and layout."""
    found = (str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape))
    if found != (requirement.dtype, requirement.shape):
        raise FheliumError(
            f"resource @{name} must be {requirement.dtype} of shape {requirement.shape}, found "
            f"{found[0]} of shape {found[1]}"
        )
    if not tensor.is_contiguous():
        raise FheliumError(f"resource @{name} must be contiguous, found strides {tensor.stride()}")
