"""A linked program: kernels, resources and host source, ready to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

import torch

from fhelium_ir.compiler.errors import FheliumError

DTYPES = {"int8": torch.int8, "int32": torch.int32, "int64": torch.int64}


class KernelLibrary(Protocol):
    """Compiled kernels of one module by symbol."""

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        """Runs a kernel on a grid; tensors are contiguous and passed as flat buffers."""
        ...


@dataclass(frozen=True)
class BufferSpec:
    """An argument or result: its name, shape and dtype name."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass
class HostRuntime:
    """What generated host code calls. Counts launches."""

    kernels: KernelLibrary
    device: torch.device
    launches: int = 0
    arena_bytes: int = field(default=0)

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        if dtype == "int8":
            self.arena_bytes += shape[0]
        return torch.empty(shape, dtype=DTYPES[dtype], device=self.device)

    def view(
        self, arena: torch.Tensor, offset: int, shape: tuple[int, ...], dtype: str
    ) -> torch.Tensor:
        kind = DTYPES[dtype]
        count = kind.itemsize
        for extent in shape:
            count *= extent
        return arena[offset : offset + count].view(kind).view(shape)

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        self.launches += 1
        self.kernels.launch(name, grid, arguments)


@dataclass(frozen=True)
class Executable:
    """Runs one function of a module on tensors of its interface.

    `run` takes one tensor per argument (shape and dtype as `arguments` say, on `device`, contiguous) and returns one
    per result. Inputs are never written.
    """

    name: str
    arguments: tuple[BufferSpec, ...]
    results: tuple[BufferSpec, ...]
    kernels: KernelLibrary
    resources: Mapping[str, torch.Tensor]
    host_source: str
    device: torch.device

    def run(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Runs the program.

        Raises:
            FheliumError: an input is missing or has another shape, dtype, device or layout.
        """
        return self.run_counted(*inputs)[0]

    def run_counted(self, *inputs: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], HostRuntime]:
        """`run`, and the runtime with its launch count."""
        self._check(inputs)
        runtime = HostRuntime(self.kernels, self.device)
        return self._function(runtime, self.resources, *inputs), runtime

    @property
    def _function(self) -> Callable[..., tuple[torch.Tensor, ...]]:
        if "_compiled" not in self.__dict__:
            namespace: dict[str, object] = {}
            exec(compile(self.host_source, f"<host program {self.name!r}>", "exec"), namespace)
            object.__setattr__(self, "_compiled", namespace["run"])
        return cast("Callable[..., tuple[torch.Tensor, ...]]", self.__dict__["_compiled"])

    def _check(self, inputs: Sequence[torch.Tensor]) -> None:
        if len(inputs) != len(self.arguments):
            raise FheliumError(
                f"program '{self.name}' takes {len(self.arguments)} inputs, found {len(inputs)}"
            )
        for spec, tensor in zip(self.arguments, inputs, strict=True):
            found = (tuple(tensor.shape), tensor.dtype)
            if found != (spec.shape, DTYPES[spec.dtype]):
                raise FheliumError(
                    f"input '{spec.name}' must be {spec.dtype} of shape {spec.shape}, "
                    f"found {tensor.dtype} of shape {tuple(tensor.shape)}"
                )
            if tensor.device.type != self.device.type or not tensor.is_contiguous():
                raise FheliumError(f"input '{spec.name}' must be contiguous and on {self.device}")
