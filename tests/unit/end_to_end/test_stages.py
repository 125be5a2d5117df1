"""All stages of one program compute the same residues, and these decrypt to the cleartext result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.cleartext import run_cleartext
from tests.unit.end_to_end.programs import PROGRAMS, chain, products, rotations
from tests.unit.end_to_end.stages import (
    POLYNOMIAL_PASSES,
    Residues,
    Runner,
    Stages,
    Vector,
    compile_stages,
    example_text,
    scale_of,
)

DEVICES = {"interpret": "cpu", "cpu": "cpu", "triton-interpret": "interpreter"}
EXAMPLES = ("dot_product", "polynomial", "matvec")


@cache
def runner(program: Callable[[Parameters], str], parameters: Parameters, device: str) -> Runner:
    return Runner.of(compile_stages(program(parameters), device))


@cache
def example(name: str, device: str, ring_degree: int) -> Runner:
    return Runner.of(compile_stages(example_text(name), device, ring_degree))


def assert_equal(found: Sequence[Residues], expected: Sequence[Residues], where: str) -> None:
    assert len(found) == len(expected)
    for index, (f, e) in enumerate(zip(found, expected, strict=True)):
        np.testing.assert_array_equal(f, e, err_msg=f"result {index}: {where}")


def check_stages(run: Runner, inputs: Mapping[str, Residues]) -> list[Residues]:
    """Compares every polynomial pass and the kernels, interpreted, with the program stage."""
    expected = run.program(inputs)
    for name in POLYNOMIAL_PASSES:
        assert_equal(run.polynomial(name, inputs), expected, f"after {name}")
    assert_equal(run.executable("interpret", inputs), expected, "interpret")
    return expected


def error_bound(stages: Stages) -> float:
    """What the error of a result may be, in units of its largest value or 1.

    A fresh ciphertext, a key switch or a rescale leaves noise of standard deviation below
    8 * sqrt(N) in a coefficient, so below 8 * N in a slot, and 32 * N leaves a margin. It counts
    most at the smallest scale of the program.
    """
    types = [v.type for v in stages.function.body.block.args]
    types += [v.type for op in stages.function.body.block.ops for v in op.results]
    parameters = stages.parameters
    scales = [scale_of(t, parameters) for t in types if isinstance(t, ckks.CiphertextType)]
    return float(32 * parameters.ring_degree / min(scales))


def check_decryption(
    run: Runner, vectors: Mapping[str, Vector], outputs: Sequence[Residues]
) -> None:
    stages = run.stages
    expected = run_cleartext(stages.program, stages.name, vectors)
    bound = error_bound(stages)
    assert bound < 0.1
    for result, want in zip(run.decrypted(outputs), expected, strict=True):
        error = float(np.abs(result - want).max())
        assert error < bound * max(1.0, float(np.abs(want).max()))


def small_vectors(run: Runner, seed: int = 0) -> dict[str, Vector]:
    """Arguments within the smallest range that a program states."""
    return {name: vector / 4 for name, vector in run.vectors(seed).items()}


# Every op, on every target, with three limbs in digits of two limbs and one.


@pytest.mark.parametrize("bits", [28, 60], ids=["mont32", "mont64"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_op_in_every_stage(name: str, bits: int) -> None:
    run = runner(PROGRAMS[name], chain(bits, 3, 2), "cpu")
    for kind in ("random", "largest"):
        inputs = run.residues(kind)
        assert_equal(run.executable("cpu", inputs), check_stages(run, inputs), "cpu")


@pytest.mark.parametrize("bits", [28, 60], ids=["mont32", "mont64"])
@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "interface"])
def test_every_op_decrypts(name: str, bits: int) -> None:
    run = runner(PROGRAMS[name], chain(bits, 3, 2), "cpu")
    vectors = small_vectors(run)
    check_decryption(run, vectors, run.executable("interpret", run.encrypted(vectors)))


@pytest.mark.parametrize(
    "name, bits",
    [
        ("sums", 28),
        ("sums", 60),
        ("products", 28),
        ("products", 60),
        ("triples", 28),
        ("divisions", 28),
    ],
)
def test_ops_under_the_triton_interpreter(name: str, bits: int) -> None:
    run = runner(PROGRAMS[name], chain(bits, 3, 2), "interpreter")
    inputs = run.residues("random")
    assert_equal(run.executable("triton-interpret", inputs), check_stages(run, inputs), "triton")


@pytest.mark.parametrize("bits", [28, 60], ids=["mont32", "mont64"])
def test_kernels_before_their_arithmetic_is_expanded(bits: int) -> None:
    run = runner(products, chain(bits, 3, 2), "cpu")
    inputs = run.residues("largest")
    found = run.executable("interpret", inputs, after="convert-regions-to-kernels")
    assert_equal(found, run.program(inputs), "zq")


# Key switching by number of limbs and digits: every size of digit that the limbs allow, each with
# as many special primes as it has limbs. The last digit is shorter in (3, 2), (5, 2), (5, 3).

SHAPES = [(limbs, digits) for limbs in range(1, 7) for digits in range(1, limbs + 1)]
DIFFERENT = [
    (limbs, digits) for limbs, digits in SHAPES if -(-limbs // -(-limbs // digits)) == digits
]


@pytest.mark.parametrize("limbs, digits", DIFFERENT)
def test_key_switching_with_32_bit_words(limbs: int, digits: int) -> None:
    check_key_switching(chain(28, limbs, digits))


@pytest.mark.parametrize("limbs, digits", [(1, 1), (2, 1), (4, 4), (5, 2), (6, 2)])
def test_key_switching_with_64_bit_words(limbs: int, digits: int) -> None:
    check_key_switching(chain(60, limbs, digits))


@pytest.mark.parametrize("limbs, digits, special", [(3, 3, 1), (4, 2, 3), (5, 2, 3)])
def test_merged_divisions(limbs: int, digits: int, special: int) -> None:
    run = runner(PROGRAMS["divisions"], chain(28, limbs, digits, special), "cpu")
    rescales = [op for op in run.stages.function.body.block.ops if isinstance(op, ckks.RescaleOp)]
    assert all(ckks.ciphertext_facts("", op.operand.type).extended for op in rescales[:1])
    for kind in ("random", "largest"):
        inputs = run.residues(kind)
        assert_equal(run.executable("cpu", inputs), check_stages(run, inputs), "cpu")
    vectors = small_vectors(run)
    check_decryption(run, vectors, run.executable("cpu", run.encrypted(vectors)))


@pytest.mark.parametrize("bits", [28, 60], ids=["mont32", "mont64"])
@pytest.mark.parametrize("special", [2, 3])
def test_more_special_primes_than_limbs_in_a_digit(bits: int, special: int) -> None:
    check_key_switching(chain(bits, 3, 3, special))


def check_key_switching(parameters: Parameters) -> None:
    """At the top level, and after a rescale where there is one."""
    program = rotations if len(parameters.q) == 1 else products
    run = runner(program, parameters, "cpu")
    check_stages(run, run.residues("random"))
    assert_equal(
        run.executable("cpu", run.residues("largest")), run.program(run.residues("largest")), "cpu"
    )
    vectors = small_vectors(run)
    check_decryption(run, vectors, run.executable("cpu", run.encrypted(vectors)))


@pytest.mark.parametrize("digits", [4, 5])
def test_fewer_digits_than_asked_for(digits: int) -> None:
    """Six limbs in four or five digits are three digits of two."""
    parameters = chain(28, 6, digits)
    assert parameters.digit_count() == 3
    run = runner(products, parameters, "cpu")
    inputs = run.residues("random")
    assert_equal(run.executable("interpret", inputs), run.program(inputs), "interpret")


# Transforms of one, two and three kernels.


@pytest.mark.parametrize(
    "device, ring_degree", [("gpu", 16), ("gpu", 1024), ("cpu", 512), ("interpreter", 256)]
)
def test_transforms_in_several_parts(device: str, ring_degree: int) -> None:
    run = runner(products, chain(28, 2, 2, None, ring_degree), device)
    inputs = run.residues("largest")
    assert_equal(run.executable("interpret", inputs), run.program(inputs), device)


def test_splits_with_an_exchange_under_the_triton_interpreter() -> None:
    run = runner(products, chain(60, 2, 2, None, 64), "gpu")
    inputs = run.residues("random")
    assert_equal(run.executable("triton-interpret", inputs), run.program(inputs), "gpu")


# The examples.


@pytest.mark.parametrize("target", DEVICES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_agree(name: str, target: str) -> None:
    run = example(name, DEVICES[target], 32)
    vectors = {n: v[:8] if name == "matvec" else v for n, v in run.vectors().items()}
    filled = {n: np.resize(v, run.stages.parameters.slots) for n, v in vectors.items()}
    inputs = run.encrypted(filled)
    expected = check_stages(run, inputs) if target == "interpret" else run.program(inputs)
    outputs = run.executable(target, inputs)
    assert_equal(outputs, expected, target)
    check_decryption(run, filled, outputs)


def decrypted_example(name: str, vectors: Mapping[str, NDArray[np.generic]]) -> Vector:
    run = example(name, "cpu", 32)
    slots = run.stages.parameters.slots
    inputs = run.encrypted(
        {n: np.resize(v, slots).astype(np.complex128) for n, v in vectors.items()}
    )
    (result,) = run.decrypted(run.executable("cpu", inputs))
    return result


def test_the_encrypted_matrix_product() -> None:
    x = np.exp(1j * np.arange(8))
    matrix = np.arange(64).reshape(8, 8) / 64
    np.testing.assert_allclose(
        decrypted_example("matvec", {"x": x}), np.tile(matrix @ x, 2), atol=1e-6
    )


def test_the_encrypted_polynomial() -> None:
    x = np.linspace(-1, 1, 16) + 0j
    series = 1 + x + x**2 / 2 + x**3 / 6 + x**4 / 24
    np.testing.assert_allclose(decrypted_example("polynomial", {"x": x}), series, atol=1e-6)


def test_the_encrypted_dot_product() -> None:
    """At N = 32 the rotations by 16 and more are by zero: eight of twelve double the sum."""
    x, y = np.linspace(-1, 1, 16) + 0j, np.linspace(0.5, 0, 16) * 1j
    expected = np.full(16, 2**8 * np.sum(x * y))
    np.testing.assert_allclose(
        decrypted_example("dot_product", {"x": x, "y": y}), expected, atol=1e-4
    )


def test_a_rotation_turns_left_and_wraps() -> None:
    """By numbers and not by the reference: slot j of the result is slot j + steps."""
    run = runner(rotations, chain(60, 2, 2), "cpu")
    x = (np.arange(16) / 32).astype(np.complex128)
    _, right, conjugate = run.decrypted(run.executable("cpu", run.encrypted({"x": x})))
    np.testing.assert_allclose(right, np.concatenate([x[-1:], x[:-1]]), atol=1e-8)
    np.testing.assert_allclose(conjugate, x, atol=1e-8)


def test_rotation_by_zero_needs_nothing() -> None:
    run = runner(PROGRAMS["interface"], chain(28, 1, 1), "cpu")
    assert run.stages.key_names() == []
    run = runner(rotations, chain(28, 1, 1), "cpu")
    wanted = {pow(5, k % 16, 64) for k in (1, -1, 16 + 3, 3 - 16, 5)} | {63}
    keys = run.stages.key_names()
    assert {element for _, element in keys} == wanted and len(keys) == len(wanted)
