"""Typed access to the few parts of Triton that the project uses (3.6 and later)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeAlias, cast

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.interpreter import InterpretedFunction, interpreter_builder
from triton.runtime.jit import JITFunction

from fhelium_ir.compiler.errors import FheliumError

TritonFunction: TypeAlias = JITFunction | InterpretedFunction


class CompiledKernel(Protocol):
    """What Triton's compiler leaves: texts and binaries by stage (`ttir`, `ttgir`, `ptx`, ...)."""

    @property
    def asm(self) -> Mapping[str, str | bytes]: ...


@dataclass(frozen=True)
class GpuTarget:
    """A GPU by Triton's names, such as ("cuda", 90, 32)."""

    backend: str
    arch: int | str
    warp_size: int


def current_gpu() -> tuple[str, int, int]:
    """Backend, architecture and warp size of the GPU in use."""
    major, minor = torch.cuda.get_device_capability()
    return ("cuda", 10 * major + minor, 32)


REGISTERS = 1 << 16
"""32-bit registers of a multiprocessor, on every GPU that Triton compiles for; lanes get them by eights."""


@dataclass(frozen=True)
class LaunchOptions:
    """What Triton is told of a kernel besides its text.

    Attributes:
        num_warps: warps of a program.
        resident: warps for which the registers of a multiprocessor must suffice; 0 leaves them to the compiler.
        early: the kernel starts early, see `fhelium_ir.lowering.triton.early_start`.
    """

    num_warps: int
    resident: int = 0
    early: bool = False

    def as_keywords(self) -> dict[str, int]:
        """Triton's names. Products and sums of doubles must not be contracted."""
        found = {"num_warps": self.num_warps, "enable_fp_fusion": False}
        if self.resident:
            resident = self.num_warps * -(-self.resident // self.num_warps)
            found["maxnreg"] = REGISTERS // (32 * resident) // 8 * 8
        if self.early:
            found["launch_pdl"] = True
        return found


def as_jit(function: TritonFunction) -> JITFunction:
    """The function for compilation, whichever kind the decorator made."""
    if isinstance(function, JITFunction):
        return function
    return JITFunction(
        function.fn, do_not_specialize=function.kwargs.get("do_not_specialize") or []
    )


def as_interpreted(function: TritonFunction) -> InterpretedFunction:
    """The function for Triton's interpreter, whatever the environment says."""
    if isinstance(function, InterpretedFunction):
        return function
    return InterpretedFunction(function.fn)


def launcher(
    function: TritonFunction, grid: tuple[int, ...], options: LaunchOptions
) -> Callable[..., None]:
    """A function of a kernel's arguments that runs it on a grid; what can be resolved is resolved now."""
    if isinstance(function, JITFunction):
        run = partial(function[grid], **options.as_keywords())
        return cast("Callable[..., None]", run)
    return lambda *arguments: launch(function, grid, arguments, options)


def launch(
    function: TritonFunction,
    grid: tuple[int, ...],
    arguments: Sequence[torch.Tensor | int],
    options: LaunchOptions,
) -> None:
    """Runs a kernel on a grid of one to three axes."""
    if isinstance(function, JITFunction):
        function[grid](*arguments, **options.as_keywords())
        return
    # The interpreter would compute an overflow check for each 32-bit sum and product and, outside
    # of debugging, drop it: a third of its time. Words wrap by intent.
    kept = interpreter_builder.options
    interpreter_builder.options = replace(kept, sanitize_overflow=False)
    try:
        function[grid](*arguments)
    finally:
        interpreter_builder.options = kept


def compile_for(
    function: JITFunction,
    signature: Mapping[str, str],
    target: GpuTarget,
    options: LaunchOptions,
) -> CompiledKernel:
    """Compiles for a named GPU, which need not be present; buffers are taken to be 16-byte aligned.

    Args:
        signature: Triton's type of each parameter, `*u64` or `u64`.

    Raises:
        FheliumError: Triton knows no such target or rejects the kernel.
    """
    aligned = {
        (index,): [["tt.divisibility", 16]]
        for index, type_ in enumerate(signature.values())
        if type_.startswith("*")
    }
    try:
        return triton.compile(
            ASTSource(function, dict(signature), {}, aligned),
            target=GPUTarget(target.backend, target.arch, target.warp_size),
            options=options.as_keywords(),
        )
    except Exception as error:
        reason = " ".join(str(error).split())[:500]
        raise FheliumError(f"triton cannot compile '{function.__name__}': {reason}") from error
