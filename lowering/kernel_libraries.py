"""The kernels of a module, compiled for a target."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.convert_zq_to_arith import hear_kernels

if TYPE_CHECKING:
    from fhelium_ir.backend.executable import KernelLibrary

COMPILERS = ("llvmlite", "triton")
"""Packages that one target needs and the others do without."""


def load_kernels(module: ModuleOp, target: str) -> KernelLibrary:
    """Compiles the kernels of a module for a target, see `fhelium_ir.backend.workspace.TARGETS`.

    Raises:
        FheliumError: a kernel does not suit the target, or the package that compiles for it is missing.
    """
    try:
        return _load_kernels(module, target)
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in COMPILERS:
            raise
        raise FheliumError(
            f"target '{target}' needs the package '{package}', which cannot be imported: {error}"
        ) from error


@contextmanager
def early_kernels(target: str) -> Generator[None]:
    """Compiles kernels in other processes as soon as passes in the `with` block have made them, for a `load_kernels`
    that follows.

    Only a module for the CPU gains by that. What is wrong with it `load_kernels` says.
    """
    with ExitStack() as stack:
        if target == "cpu":
            with suppress(ImportError):
                from fhelium_ir.lowering.cpu.jit import EarlyCompilation, available_cores
                from fhelium_ir.lowering.cpu.object_cache import default_cache

                if available_cores() > 1:
                    early = stack.enter_context(EarlyCompilation(default_cache()))
                    stack.enter_context(hear_kernels(early.add))
        yield


def _load_kernels(module: ModuleOp, target: str) -> KernelLibrary:
    # Each target's compiler is imported only where it is used: they are slow to load.
    if target in ("cuda", "triton-interpret"):
        from fhelium_ir.lowering.triton import binding
        from fhelium_ir.lowering.triton.early_start import FIRST_ARCHITECTURE
        from fhelium_ir.lowering.triton.kernels import TritonKernels

        if target == "triton-interpret":
            return TritonKernels(module, interpret=True)
        gpu = binding.current_gpu()
        early = gpu[1] >= FIRST_ARCHITECTURE
        kernels = TritonKernels(module, interpret=False, early=early)
        kernels.compile_ahead(gpu)
        return kernels
    if target == "interpret":
        from fhelium_ir.reference.kernel import InterpretedKernels

        return InterpretedKernels(module)
    from fhelium_ir.lowering.cpu.kernels import CpuKernels

    return CpuKernels(module)
