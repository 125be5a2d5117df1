"""Structured ops and loops through every stage: encrypted, run, decrypted, against textbook formulas."""

from __future__ import annotations

import numpy as np
import pytest

from fhelium_ir.backend.compiling import CompiledProgram
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.tools import fhelium_run
from fhelium_ir.tools.run_program import compile_program, execute
from tests.unit.passes.expanding import chain, dense

RING_DEGREE = 32
SLOTS = RING_DEGREE // 2
MATRIX = np.random.default_rng(1).uniform(-1, 1, (SLOTS, SLOTS))
SERIES = np.random.default_rng(2).uniform(-1, 1, 8)
CUBIC = (0.5, -1.0, 0.0, 2.0)

CT = "!ckks.ciphertext"
PROGRAM = f"""\
module attributes {{ckks.params = {chain(RING_DEGREE, 4)}}} {{
func.func private @turned(%x : {CT}, %k : index) -> {CT} {{
  %t = ckks.rotate_dynamic %x, %k : {CT}, index
  return %t : {CT}
}}
func.func @f(%x : {CT}) -> ({CT}, {CT}, {CT}, {CT}, {CT}) {{
  %m = arith.constant {dense(MATRIX)}
  %linear = ckks.linear_transform %x, %m : {CT}, tensor<{SLOTS}x{SLOTS}xf64>
  %series = ckks.polynomial %x {{basis = "chebyshev", coefficients = {dense(SERIES)},
    domain = array<f64: -1.0, 2.0>}} : {CT}
  %cubic = ckks.polynomial %x {{coefficients = {dense(CUBIC)}}} : {CT}
  %sum = ckks.sum_slots %cubic {{count = 5}} : {CT}
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %product = scf.for %k = %one to %four step %one iter_args(%p = %x) -> ({CT}) {{
    %t = func.call @turned(%x, %k) : ({CT}, index) -> {CT}
    %n = ckks.mul %p, %t : {CT}
    scf.yield %n : {CT}
  }}
  return %linear, %series, %cubic, %sum, %product : {CT}, {CT}, {CT}, {CT}, {CT}
}}
}}
"""


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_decrypted_results(target: str) -> None:
    options = fhelium_run.Options(target=target, seed=3)
    check_results(compile_program("structured.mlir", PROGRAM, options), options)


def test_few_rotation_keys() -> None:
    options = fhelium_run.Options(target="reference", seed=5, rotation_keys="1,4,-1")
    program = compile_program("structured.mlir", PROGRAM, options)
    galois = {element for kind, element in program.required_keys if kind == "galois"}
    assert galois == {pow(5, steps, 2 * RING_DEGREE) for steps in (1, 4, -1)}
    check_results(program, options)


@pytest.mark.parametrize("keys", ["2,4", "0", "one", ""])
def test_rotation_keys_that_cannot_do(keys: str) -> None:
    options = fhelium_run.Options(target="reference", rotation_keys=keys)
    with pytest.raises(FheliumError, match="compose-rotations"):
        compile_program("structured.mlir", PROGRAM, options)


def check_results(program: CompiledProgram, options: fhelium_run.Options) -> None:
    x = np.random.default_rng(4).uniform(-1, 1, SLOTS)
    outcome = execute(program, {"x": x.astype(np.complex128)}, options)
    t = (2 * x - 1) / 3
    cubic = 0.5 - x + 2 * x**3
    expected = (
        MATRIX @ x,
        sum((c * np.cos(k * np.arccos(t)) for k, c in enumerate(SERIES)), np.zeros(SLOTS)),
        cubic,
        sum((np.roll(cubic, -i) for i in range(5)), np.zeros(SLOTS)),
        x * np.roll(x, -1) * np.roll(x, -2) * np.roll(x, -3),
    )
    assert len(outcome.results) == len(expected)
    for found, wanted in zip(outcome.results, expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-7)
