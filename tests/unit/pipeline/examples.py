"""The example programs at a small ring degree, for tests of the whole pipeline."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.client.parameters import rescaled
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.dialects import ckks
from tests.lit_files import ROOT

EXAMPLES = ("dot_product", "polynomial", "matvec")
RING_DEGREE = 16
"""The smallest that holds the eight numbers of the matrix-vector product."""


def small_example(name: str, ring_degree: int = RING_DEGREE) -> ModuleOp:
    """An example with its parameters rescaled to a ring degree."""
    path = ROOT / "examples" / f"{name}.mlir"
    module = parse_module(universe.make_context(), path.read_text(), path.name)
    parameters = rescaled(ckks.parameters_of(module), ring_degree)
    module.attributes[ckks.PARAMS] = ckks.ParamsAttr(parameters)
    return module


def reparsed(module: ModuleOp, *, generic: bool = False) -> ModuleOp:
    """The module that its printed text gives."""
    text = mlir_text(module, generic=generic)
    return parse_module(universe.make_context(), text, "printed.mlir")
