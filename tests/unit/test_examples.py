"""The example programs compute what their comments say."""

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import ckks
from fhelium_ir.passes.ckks_check import CkksCheck
from fhelium_ir.passes.ckks_manage import CkksManage
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT

NAMES = ("dot_product", "polynomial", "matvec")
SLOTS = 4096


def example(name: str) -> ModuleOp:
    path = ROOT / "examples" / f"{name}.mlir"
    return parse_module(make_context(), path.read_text(), path.name)


def vector(seed: int, length: int) -> NDArray[np.complex128]:
    parts = np.random.default_rng(seed).uniform(-0.7, 0.7, (2, length))
    return parts[0] + 1j * parts[1]


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_legal(name: str) -> None:
    module = example(name)
    CkksManage().apply(make_context(), module)
    CkksCheck().apply(make_context(), module)
    assert not ckks.parameters_of(module).insecure


@pytest.mark.parametrize("name", NAMES)
def test_examples_say_how_to_run_them(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.mlir").read_text()
    assert f"//   fhelium-run examples/{name}.mlir" in text.splitlines()


def test_dot_product() -> None:
    x, y = vector(1, SLOTS), vector(2, SLOTS)
    (result,) = run_cleartext(example("dot_product"), "dot_product", {"x": x, "y": y})
    np.testing.assert_allclose(result, np.full(SLOTS, np.sum(x * y)), atol=1e-9)


def test_polynomial() -> None:
    x = vector(3, SLOTS)
    (result,) = run_cleartext(example("polynomial"), "polynomial", {"x": x})
    np.testing.assert_allclose(result, 1 + x + x**2 / 2 + x**3 / 6 + x**4 / 24, atol=1e-12)


def test_matvec() -> None:
    x = vector(4, 8)
    matrix = np.arange(64).reshape(8, 8) / 64
    (result,) = run_cleartext(example("matvec"), "matvec", {"x": x})
    np.testing.assert_allclose(result, np.tile(matrix @ x, SLOTS // 8), atol=1e-12)
