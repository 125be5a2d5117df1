"""Linking of a module that the whole pipeline has lowered, without choosing implementations by hand."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.backend.executable import Executable
from fhelium_ir.backend.execution import BackendWorkspace, OperationBackend
from fhelium_ir.backend.materializer import KeySource
from fhelium_ir.backend.program import entry_function
from fhelium_ir.backend.workspace import TARGETS, choose_target
from fhelium_ir.compiler.compilation import Compilation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.kernel_libraries import load_kernels

__all__ = [
    "TARGETS",
    "choose_target",
    "entry_function",
    "link",
    "load_kernels",
]


def link(
    module: ModuleOp, keys: KeySource, target: str = "auto", entry: str | None = None
) -> Executable:
    """An executable for one function of a module that the whole pipeline has lowered.

    Args:
        module: kernels, declared resources and host programs.
        keys: gives evaluation keys and encoded plaintexts.
        target: one of `TARGETS` or `auto`.
        entry: the function's name; may be left out where there is one.

    Raises:
        FheliumError: the module is not lowered, a resource that the program reads is not declared, or target or entry
            are unknown.
    """
    compilation = Compilation.of(module, keys, entry=entry)
    if compilation.stage != "host":
        raise FheliumError(
            f"the module is at the {compilation.stage} stage; run the whole pipeline first"
        )
    return OperationBackend(workspace=BackendWorkspace(target)).link(compilation).executable
