"""The kernels of a module, compiled for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError

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


def _load_kernels(module: ModuleOp, target: str) -> KernelLibrary:
    # Each target's compiler is imported only where it is used: they are slow to load.
    if target in ("cuda", "triton-interpret"):
        from fhelium_ir.lowering.triton import binding
        from fhelium_ir.lowering.triton.kernels import TritonKernels

        kernels = TritonKernels(module, interpret=target == "triton-interpret")
        if target == "cuda":
            kernels.compile_ahead(binding.current_gpu())
        return kernels
    if target == "interpret":
        from fhelium_ir.reference.kernel import InterpretedKernels

        return InterpretedKernels(module)
    from fhelium_ir.lowering.cpu.kernels import CpuKernels

    return CpuKernels(module)
