"""What tests of program-stage passes share: small programs, cleartext results, levels, all stages on a target."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks
from fhelium_ir.reference.cleartext import run_cleartext

Complex = NDArray[np.complex128]

CHECKED = "unroll-loops,ckks-expand,ckks-manage,ckks-check"


@cache
def chain(ring_degree: int, levels: int) -> ckks.ParamsAttr:
    """Insecure parameters with a scale of 2^40."""
    bits = (50,) + (40,) * levels
    return ckks.ParamsAttr(generate(ring_degree, bits, (50,), levels + 1, 40, insecure=True))


def program(
    body: str, ring_degree: int = 16, levels: int = 6, arguments: str = "%x : !ckks.ciphertext"
) -> ModuleOp:
    """A module with a function @f of a body that defines %r."""
    text = (
        f"module attributes {{ckks.params = {chain(ring_degree, levels)}}} {{\n"
        f"func.func @f({arguments}) -> !ckks.ciphertext {{\n{body}\n"
        "return %r : !ckks.ciphertext }}"
    )
    module = parse_module(universe.make_context(), text, "test.mlir")
    verify_module(module)
    return module


def after(module: ModuleOp, passes: str) -> ModuleOp:
    """A copy of the module after passes."""
    module = module.clone()
    Pipeline.parse(passes).run(universe.make_context(), module)
    return module


def cleartext(module: ModuleOp, **inputs: ArrayLike) -> Complex:
    """The result of @f on plain vectors."""
    (result,) = run_cleartext(module, "f", inputs)
    return result


def count(module: ModuleOp, name: str) -> int:
    return sum(op.name == name for op in module.walk())


def levels_used(module: ModuleOp) -> int:
    """Levels between the argument and the result of @f after ckks-manage."""
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    (argument,), (result,) = function.function_type.inputs, function.function_type.outputs
    assert isinstance(argument, ckks.CiphertextType) and isinstance(result, ckks.CiphertextType)
    assert argument.data.level is not None and result.data.level is not None
    return argument.data.level - result.data.level


def dense(values: ArrayLike) -> str:
    """`dense<...> : tensor<...xf64>`."""
    array = np.asarray(values, dtype=np.float64)
    shape = "x".join(map(str, array.shape))
    return f"dense<{array.tolist()}> : tensor<{shape}xf64>"


def polynomial(values: ArrayLike, **properties: str) -> str:
    """A line that defines %r as a polynomial of %x."""
    given: Mapping[str, str] = {"coefficients": dense(values), **properties}
    text = ", ".join(f"{name} = {value}" for name, value in given.items())
    return f"%r = ckks.polynomial %x {{{text}}} : !ckks.ciphertext"


def transform(matrix: ArrayLike) -> str:
    """Lines that define %r as a matrix times %x."""
    array = np.asarray(matrix, dtype=np.float64)
    type_ = f"tensor<{array.shape[0]}x{array.shape[1]}xf64>"
    return (
        f"%m = arith.constant {dense(array)}\n"
        f"%r = ckks.linear_transform %x, %m : !ckks.ciphertext, {type_}"
    )
