"""Kernels of a module as native functions on torch tensors in host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod

import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.binding import multiplies_vectors
from fhelium_ir.lowering.cpu.convert_kernels_to_llvm import (
    GRID_RANK,
    HEADER_ARGUMENTS,
    convert_kernel,
)
from fhelium_ir.lowering.cpu.jit import CompiledFunctions, compile_functions
from fhelium_ir.lowering.cpu.llvm_builder import integer_type

_DTYPES = {8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
_Word = type[ctypes.c_int8 | ctypes.c_int16 | ctypes.c_int32 | ctypes.c_int64]
_WORDS: dict[int, _Word] = {
    8: ctypes.c_int8,
    16: ctypes.c_int16,
    32: ctypes.c_int32,
    64: ctypes.c_int64,
}

Argument = torch.Tensor | int


@dataclass(frozen=True)
class CpuKernel:
    """One native kernel.

    Attributes:
        name: the symbol of the kernel function.
        grid_rank: how many extents its grid has.
        buffers: by argument, the element type of a buffer, or None for a scalar.
        call: `call(begin, end, grid0, grid1, grid2, pointers and scalars)` runs the programs
            `begin <= p < end`, numbered with axis 0 fastest, without holding Python's lock.
        code: owns the machine code.
    """

    name: str
    grid_rank: int
    buffers: tuple[torch.dtype | None, ...]
    call: Callable[..., None]
    code: CompiledFunctions = field(repr=False)

    def prepare(self, grid: Sequence[int], arguments: Sequence[Argument]) -> tuple[int, ...]:
        """Checks a launch and returns the call's arguments after `begin` and `end`.

        Args:
            grid: `grid_rank` extents.
            arguments: contiguous host tensors of the buffers' element type, and integers.

        Raises:
            FheliumError: an argument does not fit.
        """
        if len(grid) != self.grid_rank or len(arguments) != len(self.buffers):
            raise FheliumError(
                f"kernel '{self.name}' takes a grid of rank {self.grid_rank} and "
                f"{len(self.buffers)} arguments, got rank {len(grid)} and {len(arguments)}"
            )
        words = [*grid, *(1,) * (GRID_RANK - len(grid))]
        for argument, dtype in zip(arguments, self.buffers, strict=True):
            if isinstance(argument, int):
                fits = dtype is None
                words.append(argument)
            else:
                fits = argument.dtype == dtype and argument.is_cpu and argument.is_contiguous()
                words.append(argument.data_ptr())
            if not fits:
                raise self._argument_error(len(words) - 1 - GRID_RANK, argument)
        return tuple(words)

    def _argument_error(self, index: int, argument: Argument) -> FheliumError:
        dtype = self.buffers[index]
        wanted = "an integer" if dtype is None else f"a contiguous cpu tensor of {dtype}"
        found = "an integer"
        if isinstance(argument, torch.Tensor):
            layout = "" if argument.is_contiguous() else "non-contiguous "
            found = f"a {layout}{argument.device.type} tensor of {argument.dtype}"
        return FheliumError(
            f"kernel '{self.name}': argument {index} must be {wanted}, found {found}"
        )


class CpuKernels:
    """Every `kernel.func` of a module, compiled for this processor.

    Args:
        module: holds kernels in which `zq` has been expanded; it is left as it is.

    Raises:
        FheliumError: a kernel uses what the CPU target does not support.
    """

    def __init__(self, module: ModuleOp):
        funcs = [op for op in module.ops if isinstance(op, kernel.FuncOp)]
        vector = multiplies_vectors()
        self.compiled = compile_functions([convert_kernel(func, vector) for func in funcs])
        self.kernels = {
            func.sym_name.data: _bind(func, address, self.compiled)
            for func, address in zip(funcs, self.compiled.addresses, strict=True)
        }

    def launch(self, name: str, grid: Sequence[int], arguments: Sequence[Argument]) -> None:
        """Runs all programs of a grid in the calling thread.

        Raises:
            FheliumError: there is no such kernel, or an argument does not fit it.
        """
        found = self.kernels.get(name)
        if found is None:
            raise unknown_name("kernel", name, self.kernels)
        found.call(0, prod(grid), *found.prepare(grid, arguments))


def _bind(func: kernel.FuncOp, address: int, code: CompiledFunctions) -> CpuKernel:
    buffers = list[torch.dtype | None]()
    types: list[_Word] = [ctypes.c_int64] * HEADER_ARGUMENTS
    for type_ in func.function_type.inputs.data:
        if isinstance(type_, kernel.BufferType):
            buffers.append(_DTYPES[integer_type(type_.element_type).width.data])
            types.append(ctypes.c_int64)
        else:
            buffers.append(None)
            types.append(_WORDS[integer_type(type_).width.data])
    call = ctypes.CFUNCTYPE(None, *types)(address)
    return CpuKernel(func.sym_name.data, func.grid_rank.value.data, tuple(buffers), call, code)
