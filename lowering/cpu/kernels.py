"""Kernels of a module as native functions on torch tensors in host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from struct import Struct
from struct import error as StructError
from time import perf_counter

import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.chains import Step, chain_work, driver
from fhelium_ir.lowering.cpu.code import element_type
from fhelium_ir.lowering.cpu.jit import CompiledKernels, compile_kernels
from fhelium_ir.lowering.cpu.llvm_text import GRID_RANK
from fhelium_ir.lowering.cpu.object_cache import ObjectCache, default_cache
from fhelium_ir.lowering.cpu.threads import default_threads, run_split

_DTYPES = {
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "float": torch.float32,
    "double": torch.float64,
}
_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p)

Argument = torch.Tensor | int

THREAD_SECONDS = 20e-6
"""Work that a thread must get. Handing it over costs a few microseconds, and nobody waits for a thread that does not
wake up in time: on two cores a multiplication takes 0.81 ms with 75 us here, 0.67 with 20 (ring degree 2^13)."""


@dataclass(frozen=True)
class CpuKernel:
    """One native kernel.

    Attributes:
        name: the symbol of the kernel function.
        address: of its machine code.
        grid_rank: how many extents its grid has.
        buffers: by argument, the element type of a buffer, or None for a scalar.
        call: `call(begin, end, words)` runs the programs `begin <= p < end`, numbered with axis 0
            fastest, without holding Python's lock. `words` is what `prepare` gives.
        pack: three grid extents, addresses and scalars as 64-bit words of this machine.
        code: owns the machine code.
    """

    name: str
    address: int
    grid_rank: int
    buffers: tuple[torch.dtype | None, ...]
    call: Callable[[int, int, bytes], None]
    pack: Callable[..., bytes] = field(repr=False)
    code: CompiledKernels = field(repr=False)

    @property
    def word_bytes(self) -> int:
        """The size of what `prepare` gives."""
        return 8 * (GRID_RANK + len(self.buffers))

    def prepare(self, grid: Sequence[int], arguments: Sequence[Argument]) -> bytes:
        """Checks a launch and returns the words of the call; the tensors must outlive it.

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
        words = [*grid, *self._missing_extents]
        for argument, dtype in zip(arguments, self.buffers, strict=True):
            if isinstance(argument, int):
                if dtype is not None:
                    raise self._argument_error(len(words) - GRID_RANK, argument)
                words.append(argument)
            elif argument.dtype is dtype and argument.is_cpu and argument.is_contiguous():
                words.append(argument.data_ptr())
            else:
                raise self._argument_error(len(words) - GRID_RANK, argument)
        try:
            return self.pack(*words)
        except StructError:
            return self.pack(*map(_wrapped, words))

    @cached_property
    def _missing_extents(self) -> tuple[int, ...]:
        return (1,) * (GRID_RANK - self.grid_rank)

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
        threads: most threads that a launch is split over; by default `FHELIUM_THREADS`, or as
            many as torch uses. Results do not depend on it.
        cache: where object files are kept; by default the user's cache.

    Raises:
        FheliumError: a kernel uses what the CPU target does not support.
    """

    def __init__(
        self, module: ModuleOp, threads: int | None = None, cache: ObjectCache | None = None
    ):
        self.threads = default_threads() if threads is None else threads
        if self.threads < 1:
            raise FheliumError(f"the number of threads must be positive, found {threads}")
        funcs = [op for op in module.ops if isinstance(op, kernel.FuncOp)]
        self.compiled = compile_kernels(funcs, default_cache() if cache is None else cache)
        self.kernels = {
            func.sym_name.data: _bind(func, address, self.compiled)
            for func, address in zip(funcs, self.compiled.addresses, strict=True)
        }
        self._pace: dict[str, float] = dict.fromkeys(self.kernels, 0.0)

    def launch(self, name: str, grid: Sequence[int], arguments: Sequence[Argument]) -> None:
        """Runs all programs of a grid, on several threads if earlier launches say that it pays.

        Raises:
            FheliumError: there is no such kernel, or an argument does not fit it.
        """
        found = self._kernel(name)
        self._run(name, found.call, prod(grid), found.prepare(grid, arguments))

    def chain(
        self, launches: Sequence[tuple[str, tuple[int, ...]]], units: Sequence[Sequence[int]]
    ) -> Callable[..., None]:
        """A function of one tuple of arguments for each launch, which runs them unit by unit, see `host.chain`.

        Units are spread over threads, as programs are in `launch`.

        Args:
            launches: names and grids of kernels.
            units: for each launch the unit of each position on the last axis of its grid.

        Raises:
            FheliumError: there is no such kernel, or, when it is called, an argument does not fit it.
        """
        kernels = [self._kernel(name) for name, _ in launches]
        grids = [grid for _, grid in launches]
        work = chain_work(
            [
                Step(found.address, found.word_bytes, grid, numbers)
                for found, grid, numbers in zip(kernels, grids, units, strict=True)
            ]
        )
        call, name = driver(_ENTRY), "+".join(found.name for found in kernels)
        self._pace.setdefault(name, 0.0)

        def run(*arguments: Sequence[Argument]) -> None:
            words = [
                found.prepare(grid, values)
                for found, grid, values in zip(kernels, grids, arguments, strict=True)
            ]
            self._run(name, call, work.units, b"".join((work.header, *words)))

        return run

    def _kernel(self, name: str) -> CpuKernel:
        found = self.kernels.get(name)
        if found is None:
            raise unknown_name("kernel", name, self.kernels)
        return found

    def _run(
        self, name: str, call: Callable[[int, int, bytes], None], count: int, words: bytes
    ) -> None:
        """Runs all `count` programs of a launch, or units of a chain."""
        if self.threads == 1:
            call(0, count, words)
            return
        pace = self._pace[name]
        parts = min(self.threads, count, int(pace * count / THREAD_SECONDS))
        if parts > 1:
            measured = run_split(call, count, parts, words)
        else:
            start = perf_counter()
            call(0, count, words)
            measured = (perf_counter() - start) / max(count, 1)
        # The first launch meets cold caches and fresh pages, so it must not weigh for long.
        self._pace[name] = 0.5 * (pace + measured)


def _wrapped(word: int) -> int:
    """A word modulo 2^64, as a signed number."""
    return (word + (1 << 63)) % (1 << 64) - (1 << 63)


def _bind(func: kernel.FuncOp, address: int, code: CompiledKernels) -> CpuKernel:
    buffers = tuple(
        _DTYPES[element_type(type_.element_type) or ""]
        if isinstance(type_, kernel.BufferType)
        else None
        for type_ in func.function_type.inputs.data
    )
    rank = func.grid_rank.value.data
    pack = Struct(f"{GRID_RANK + len(buffers)}q").pack
    return CpuKernel(func.sym_name.data, address, rank, buffers, _ENTRY(address), pack, code)
