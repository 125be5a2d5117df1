"""The kernels of a module, compiled for a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

if TYPE_CHECKING:
    from fhelium_ir.backend.executable import KernelLibrary


def load_kernels(module: ModuleOp, target: str) -> KernelLibrary:
    """Compiles the kernels of a module for a target, see `fhelium_ir.backend.workspace.TARGETS`."""
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
