"""The example programs compute what their comments say."""

import importlib.util
from functools import cache
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.passes.automatic_levels import MANAGEMENT_OPS
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.universe import DEFAULT_PIPELINE, make_context
from tests.lit_files import ROOT

GENERATED = (
    "sum",
    "exponential",
    "chebyshev",
    "variance",
    "matvec64",
    "logistic_regression",
    "perceptron",
    "moving_average",
)
NAMES = ("dot_product", "polynomial", "matvec", *GENERATED)
SLOTS = 4096


def example(name: str) -> ModuleOp:
    path = ROOT / "examples" / f"{name}.mlir"
    return parse_module(make_context(), path.read_text(), path.name)


def vector(seed: int, length: int) -> NDArray[np.complex128]:
    parts = np.random.default_rng(seed).uniform(-0.7, 0.7, (2, length))
    return parts[0] + 1j * parts[1]


@cache
def program_stage(name: str) -> ModuleOp:
    """An example, checked: expanded, with levels and scales."""
    module = example(name)
    Pipeline.named(DEFAULT_PIPELINE).until("ckks-check").run(make_context(), module)
    return module


@cache
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "examples" / "generate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NAMES)
def test_examples_are_legal(name: str) -> None:
    assert not ckks.parameters_of(program_stage(name)).insecure


@pytest.mark.parametrize("name", GENERATED)
def test_generated_examples_are_current(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.mlir").read_text()
    assert text == generator().EXAMPLES[name](), "run `python examples/generate.py`"


@pytest.mark.parametrize("name", GENERATED)
def test_generated_examples_leave_management_to_the_compiler(name: str) -> None:
    ops = list(example(name).walk())
    assert not any(isinstance(op, MANAGEMENT_OPS) for op in ops)
    types = [result.type for op in ops for result in op.results]
    ciphertexts = [type_ for type_ in types if isinstance(type_, ckks.CiphertextType)]
    assert all(type_.data == ckks.OPEN for type_ in ciphertexts)


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


def result(name: str, x: NDArray[np.complex128] | NDArray[np.float64]) -> NDArray[np.complex128]:
    """The result of an example with one argument, as its program stage computes it."""
    (found,) = run_cleartext(program_stage(name), name, {"x": x})
    return found


def reals(seed: int, length: int) -> NDArray[np.float64]:
    return np.random.default_rng(seed).uniform(-1, 1, length)


def test_sum() -> None:
    x = vector(5, SLOTS)
    np.testing.assert_allclose(result("sum", x), np.full(SLOTS, x.sum()), atol=1e-10)


def test_exponential() -> None:
    x = reals(6, SLOTS)
    np.testing.assert_allclose(result("exponential", x), np.exp(x), atol=0.0017)
    terms = 1 + x + x**2 / 2 + x**3 / 6 + x**4 / 24 + x**5 / 120
    np.testing.assert_allclose(result("exponential", x), terms, atol=1e-12)


def test_chebyshev() -> None:
    x = np.linspace(-1, 1, 2 * SLOTS)
    np.testing.assert_allclose(result("chebyshev", x), 1 / (1.5 + x), atol=1e-6)


def test_variance() -> None:
    x = reals(7, SLOTS)
    np.testing.assert_allclose(result("variance", x), np.full(SLOTS, np.var(x)), atol=1e-12)


def test_matvec64() -> None:
    """Twice the discrete cosine transform of second kind is the real FFT of the mirrored vector."""
    x = reals(8, 64)
    mirrored = np.fft.fft(np.concatenate([x, x[::-1]]))[:64]
    transformed = (mirrored * np.exp(-1j * np.pi * np.arange(64) / 128)).real / 2
    found = result("matvec64", x)
    np.testing.assert_allclose(found, np.tile(transformed, SLOTS // 64), atol=64 * 5e-5)
    rotations = sum(isinstance(op, ckks.RotateOp) for op in program_stage("matvec64").walk())
    assert rotations == 18


def test_logistic_regression() -> None:
    weights, bias = generator().logistic_weights()
    assert np.abs(weights).sum() + bias <= 4
    for seed in range(20):
        x = np.sign(reals(seed, 16)) if seed < 10 else reals(seed, 16)
        probability = 1 / (1 + np.exp(-(weights @ x + bias)))
        np.testing.assert_allclose(result("logistic_regression", x), probability, atol=0.002)


def test_perceptron() -> None:
    first, first_bias, second, second_bias = generator().perceptron_weights()
    x = reals(9, 16)
    hidden = first @ x + first_bias
    outputs = second @ (0.125 + 0.5 * hidden + 0.25 * hidden**2) + second_bias
    assert np.count_nonzero(outputs) == 4
    np.testing.assert_allclose(result("perceptron", x)[:16], outputs, atol=1e-12)


def test_moving_average() -> None:
    x = vector(10, SLOTS)
    expected = [np.mean(x[np.arange(i, i + 8) % SLOTS]) for i in range(SLOTS)]
    np.testing.assert_allclose(result("moving_average", x), expected, atol=1e-12)


LEVELS = {
    "sum": 0,
    "exponential": 3,
    "chebyshev": 4,
    "variance": 2,
    "matvec64": 1,
    "logistic_regression": 5,
    "perceptron": 4,
    "moving_average": 1,
}


@pytest.mark.parametrize("name", GENERATED)
def test_levels_are_as_many_as_the_comment_says(name: str) -> None:
    module = program_stage(name)
    assert ckks.parameters_of(module).top_level == LEVELS[name]
    words = ("no", "one", "two", "three", "four", "five")
    text = " ".join((ROOT / "examples" / f"{name}.mlir").read_text().replace("//", "").split())
    assert f"{words[LEVELS[name]]} level" in text.lower()
