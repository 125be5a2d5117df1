"""The kernels of a module as Triton functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import torch
from xdsl.dialects.builtin import Float64Type, IntegerType, ModuleOp
from xdsl.ir import Attribute

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.triton import binding
from fhelium_ir.lowering.triton.coalescing import as_printed
from fhelium_ir.lowering.triton.compile import compile_source
from fhelium_ir.lowering.triton.compile_ahead import compile_ahead
from fhelium_ir.lowering.triton.compile_worker import Job, options_of
from fhelium_ir.lowering.triton.early_start import constant_parameters, early_source
from fhelium_ir.lowering.triton.printer import argument_type, kernel_source, warps_of


@dataclass(frozen=True)
class _Kernel:
    """One printed kernel; it is compiled when it is first used."""

    source: str
    parameters: tuple[Attribute, ...]
    grid_rank: int
    options: binding.LaunchOptions

    @staticmethod
    def of(func: kernel.FuncOp, early: bool, constants: Collection[int]) -> _Kernel:
        source = kernel_source(func)
        if early:
            source = early_source(source, constants)
        return _Kernel(
            source,
            tuple(func.function_type.inputs),
            func.grid_rank.value.data,
            options_of(source, warps_of(func)),
        )

    @cached_property
    def jit(self) -> binding.TritonFunction:
        return compile_source(self.source)

    @cached_property
    def interpreted(self) -> binding.TritonFunction:
        return compile_source(self.source, interpret=True)

    @cached_property
    def scalars(self) -> tuple[int, ...]:
        """Numbers of the parameters that are integers."""
        return tuple(
            index
            for index, type_ in enumerate(self.parameters)
            if not isinstance(type_, kernel.BufferType)
        )

    def check_grid(self, name: str, grid: tuple[int, ...]) -> None:
        if len(grid) != self.grid_rank or any(extent < 1 for extent in grid):
            raise FheliumError(f"kernel '{name}': grid {grid} does not fit")

    def check(self, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]) -> None:
        if len(grid) != self.grid_rank or any(extent < 1 for extent in grid):
            raise FheliumError(f"grid {grid} does not fit")
        if len(arguments) != len(self.parameters):
            raise FheliumError(f"takes {len(self.parameters)} arguments, found {len(arguments)}")
        for index, (argument, type_) in enumerate(zip(arguments, self.parameters, strict=True)):
            if not _fits(argument, type_):
                raise FheliumError(f"argument {index} must be a contiguous {type_}")

    def unsigned(self, arguments: Sequence[torch.Tensor | int]) -> tuple[torch.Tensor | int, ...]:
        """The arguments with negative scalars as the unsigned words that the text declares."""
        if all(cast(int, arguments[index]) >= 0 for index in self.scalars):
            return tuple(arguments)
        return tuple(
            argument % (1 << _width(type_))
            if isinstance(argument, int) and argument < 0
            else argument
            for argument, type_ in zip(arguments, self.parameters, strict=True)
        )


_DTYPES = {32: torch.int32, 64: torch.int64}


def _dtype(buffer: kernel.BufferType) -> torch.dtype | None:
    element = buffer.element_type
    return torch.float64 if isinstance(element, Float64Type) else _DTYPES.get(element.bitwidth)


def _fits(argument: torch.Tensor | int, type_: Attribute) -> bool:
    if isinstance(type_, kernel.BufferType):
        return (
            isinstance(argument, torch.Tensor)
            and argument.dtype == _dtype(type_)
            and argument.is_contiguous()
        )
    width = _width(type_)
    return isinstance(argument, int) and -(1 << (width - 1)) <= argument < 1 << width


def _width(type_: Attribute) -> int:
    assert isinstance(type_, IntegerType)
    return type_.bitwidth


class TritonKernels:
    """All kernels of a module, printed once.

    Args:
        module: a module whose kernels hold no `zq` op.
        interpret: run under Triton's interpreter, on the CPU.
        early: kernels start while the launch before them finishes, which needs sm_90 or later.

    Raises:
        FheliumError: a kernel cannot be printed.
    """

    def __init__(self, module: ModuleOp, interpret: bool, early: bool = False):
        self._interpret = interpret
        constants = constant_parameters(module) if early else {}
        self._kernels = {
            op.sym_name.data: _Kernel.of(op, early, constants.get(op.sym_name.data, ()))
            for op in module.walk()
            if isinstance(op, kernel.FuncOp)
        }

    @property
    def sources(self) -> dict[str, str]:
        """The Python text of each kernel by its symbol."""
        return {name: found.source for name, found in self._kernels.items()}

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        """Runs one kernel.

        Args:
            grid: number of programs along each axis (on CUDA below 2^31, then 2^16 twice).
            arguments: contiguous int32, int64 or float64 tensors, taken flat, and ints.

        Raises:
            FheliumError: there is no such kernel, or the grid or an argument does not fit.
        """
        found = self._found(name)
        try:
            found.check(grid, arguments)
        except FheliumError as error:
            raise FheliumError(f"kernel '{name}': {error.message}") from None
        function = found.interpreted if self._interpret else found.jit
        binding.launch(function, grid, found.unsigned(arguments), found.options)

    def prepare(self, name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        """A function of the kernel's arguments that launches it without checking them: for generated host programs,
        whose launches are verified.

        Raises:
            FheliumError: there is no such kernel, or the grid does not fit.
        """
        found = self._found(name)
        found.check_grid(name, grid)
        launcher = binding.launcher(
            found.interpreted if self._interpret else found.jit,
            grid,
            found.options,
        )
        scalars = found.scalars
        if not scalars:
            return launcher

        def launch(*arguments: torch.Tensor | int) -> None:
            launcher(*found.unsigned(arguments))

        return launch

    def _found(self, name: str) -> _Kernel:
        found = self._kernels.get(name)
        if found is None:
            raise FheliumError(f"there is no kernel '{name}'")
        return found

    def compile_ahead(self, target: tuple[str, int, int]) -> int:
        """Compiles in parallel what Triton's disk cache does not hold for a GPU; see `compile_ahead`."""
        jobs: list[Job] = [
            (
                found.source,
                [argument_type(type_) for type_ in found.parameters],
                found.options.num_warps,
            )
            for found in self._kernels.values()
        ]
        return compile_ahead(jobs, target)

    def compile_for(self, target: tuple[str, int, int]) -> dict[str, binding.CompiledKernel]:
        """Compiles every kernel for a GPU that need not be present.

        Args:
            target: backend, architecture and warp size, such as ("cuda", 90, 32).

        Returns:
            What Triton compiled, by symbol.

        Raises:
            FheliumError: Triton knows no such target or rejects a kernel.
        """
        compiled: dict[str, binding.CompiledKernel] = {}
        for name, found in self._kernels.items():
            function = binding.as_jit(found.jit)
            signature = dict(
                zip(function.arg_names, map(argument_type, found.parameters), strict=True)
            )
            with as_printed(found.source):
                compiled[name] = binding.compile_for(
                    function, signature, binding.GpuTarget(*target), found.options
                )
        return compiled
