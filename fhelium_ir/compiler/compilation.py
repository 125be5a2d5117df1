"""A program on its way through the compiler, with what is bound to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import ckks, fusion, host, kernel
from fhelium_ir.parameters import Parameters

if TYPE_CHECKING:
    from fhelium_ir.backend.materializer import KeySource
    from fhelium_ir.compiler.pipeline import Pipeline

STAGES = ("program", "polynomial", "region", "host")
"""Where a module can stand; the kernels belong to the host stage."""


@dataclass(frozen=True, eq=False)
class Compilation:
    """A module with its parameters, the keys and plaintexts given with it, and the pipeline that produced it.

    Attributes:
        module: at any stage; linking works on a copy.
        parameters: ring, moduli and gadget.
        materials: gives evaluation keys and encoded plaintexts when the program is linked; None if it needs none.
        pipeline: the passes that have run; None if that is not known, and the module's contents have to tell.
        entry: name of the function to link; None where there is only one.
        regions: the same program at the region stage, where `module` is at the host stage: linking then tells which
            implementation executes which of its operations.
    """

    module: ModuleOp
    parameters: Parameters
    materials: KeySource | None = None
    pipeline: Pipeline | None = None
    entry: str | None = None
    regions: ModuleOp | None = None

    @staticmethod
    def of(
        module: ModuleOp,
        materials: KeySource | None = None,
        pipeline: Pipeline | None = None,
        entry: str | None = None,
    ) -> Compilation:
        """A compilation with the parameters that the module states.

        Raises:
            FheliumError: the module states none.
        """
        attribute = module.attributes.get(ckks.PARAMS)
        if not isinstance(attribute, ckks.ParamsAttr):
            raise FheliumError(f"the module has no `{ckks.PARAMS}` attribute")
        return Compilation(module, attribute.data, materials, pipeline, entry)

    @property
    def stage(self) -> str:
        """One of `STAGES`, by the ops that the module holds."""
        found = "program"
        for op in self.module.walk():
            if isinstance(op, kernel.FuncOp | host.OperationOp) or op.name.startswith("host."):
                return "host"
            if isinstance(op, fusion.FusedOp) or fusion.IMPLEMENTATION in op.attributes:
                found = "region"
            elif found == "program" and op.name.startswith(("rns.", "ntt.")):
                found = "polynomial"
            elif isinstance(op, func.FuncOp) and found == "program":
                types = (*op.function_type.inputs, *op.function_type.outputs)
                if any(type_.name == "memref" for type_ in types):
                    return "host"
                if any(type_.name == "rns.poly" for type_ in types):
                    found = "polynomial"
        return found
