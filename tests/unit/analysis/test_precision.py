"""The estimate of the error against errors of real runs, and against textbook values."""

import math
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from fhelium_ir.analysis.precision import MARGIN, output_precision
from fhelium_ir.client.encoding import encode
from fhelium_ir.client.parameters import rescaled
from fhelium_ir.client.randomness import ERROR_SIGMA
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.passes.select_parameters import SelectParameters
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT
from tests.unit.analysis.measured import (
    Measured,
    managed,
    measure,
    module_of,
    parameters,
    random_program,
)

DEGREE = 512
"""Of the examples: 256 slots are enough for their vectors."""

OPTIMISM = 2.0
PESSIMISM = 10.0
TYPICAL_PESSIMISM = 6.0


def run(text: str, chain: Parameters, seed: int = 1) -> list[Measured]:
    module = module_of(text, chain)
    managed(module)
    return measure(module, seed)


def check(found: list[Measured]) -> None:
    for one in found:
        assert -OPTIMISM <= one.pessimism <= PESSIMISM, one
    assert median(one.pessimism for one in found) <= TYPICAL_PESSIMISM


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.mlir")), ids=lambda p: p.stem)
def test_examples(path: Path) -> None:
    # sums over all slots become shorter with the ring
    text = path.read_text().replace("count = 4096", f"count = {DEGREE // 2}")
    module = parse_module(make_context(), text, path.name)
    SelectParameters().apply(make_context(), module)
    chain = rescaled(ckks.parameters_of(module), DEGREE)
    module.attributes[ckks.PARAMS] = ckks.ParamsAttr(chain)
    managed(module)
    check(measure(module, 1))


def test_random_programs() -> None:
    found: list[Measured] = []
    for seed in range(24):
        chain = parameters(
            degree=(32, 64, 128)[seed % 3],
            scale=(35, 40, 45)[seed // 3 % 3],
            digits=(4, 2, 1)[seed % 3],
        )
        found += run(random_program(seed), chain, seed)
    assert len(found) >= 40
    check(found)
    # an estimate that was always far off in one direction would pass the bounds of single outputs
    assert 0 < median(one.pessimism for one in found) < 5


FRESH = "func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext { return %x : !ckks.ciphertext }"


def test_a_fresh_ciphertext_has_the_textbook_variance() -> None:
    # error v*e + e0 + e1*s: slots of variance N*sigma^2 * (1 + 2 * 2N/3), and N/12 of encoding
    chain = parameters(degree=1024, levels=1)
    (output,) = output_precision(managed(module_of(FRESH, chain)), chain)
    deviation = math.sqrt(1024 * ERROR_SIGMA**2 * (1 + 4 * 1024 / 3) + 1024 / 12) / 2**40
    # the largest of 2^14 circular Gaussians is near deviation * sqrt(ln 2^14) = 3.1; products have heavier tails
    assert 2.5 * deviation * MARGIN < output.error < 6 * deviation * MARGIN


def test_errors_of_one_source_add_up_linearly() -> None:
    lines = ["%v0 = ckks.add %x, %x : !ckks.ciphertext"]
    lines += [f"%v{i + 1} = ckks.add %v{i}, %v{i} : !ckks.ciphertext" for i in range(7)]
    body = "\n".join(lines)
    text = (
        f"func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {{\n{body}\n"
        "return %v7 : !ckks.ciphertext\n}"
    )
    chain = parameters(levels=1)
    (doubled,) = output_precision(managed(module_of(text, chain)), chain)
    (fresh,) = output_precision(managed(module_of(FRESH, chain)), chain)
    assert doubled.error == pytest.approx(256 * fresh.error, rel=1e-6)


def test_errors_of_different_slots_add_up_like_variances() -> None:
    # the sum of a vector of 64 numbers by rotations: 6 doublings, each by sqrt(2)
    lines, name = list[str](), "%x"
    for step in (1, 2, 4, 8, 16, 32):
        lines.append(f"%r{step} = ckks.rotate {name} {{steps = {step}}} : !ckks.ciphertext")
        lines.append(f"%s{step} = ckks.add {name}, %r{step} : !ckks.ciphertext")
        name = f"%s{step}"
    body = "\n".join(lines)
    text = (
        f"func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {{\n{body}\n"
        f"return {name} : !ckks.ciphertext\n}}"
    )
    chain = parameters(degree=2048, levels=1)
    (summed,) = output_precision(managed(module_of(text, chain)), chain)
    (fresh,) = output_precision(managed(module_of(FRESH, chain)), chain)
    ratio = summed.parts["encryption"] / fresh.parts["encryption"]
    # sqrt(64) = 8, less the heavy tail of the products in a fresh error, which a sum of 64 does not have
    assert 4 < ratio < 9
    check(run(text, chain))


def test_a_constant_is_as_exact_as_its_encoding() -> None:
    # 1/3 at scale 2^10: the error of the encoder's own integer, in every slot
    chain = parameters(degree=64, levels=1, scale=30)
    low = "level = 1, scale = 2**10"
    text = f"""func.func @f(%x : !ckks.ciphertext<{low}>) -> !ckks.ciphertext<{low}> {{
      %v = arith.constant dense<0.3333333333333333> : tensor<1xf64>
      %p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<{low}>
      %y = ckks.add_plain %x, %p : !ckks.ciphertext<{low}>, !ckks.plaintext<{low}>
      %z = ckks.sub %y, %x : !ckks.ciphertext<{low}>
      return %z : !ckks.ciphertext<{low}>
    }}"""
    (output,) = output_precision(managed(module_of(text, chain)), chain)
    exact = abs(encode([1 / 3], 2**10, 64)[0] / 2**10 - 1 / 3)
    assert output.parts["encoding"] == pytest.approx(MARGIN * exact, rel=1e-6)
    assert output.parts["encryption"] == 0


def test_an_adopted_scale_costs_its_ratio() -> None:
    chain = parameters(levels=1, scale=40)
    old, new = "level = 1, scale = 2**40", "level = 1, scale = 2**30 * 1025"
    text = f"""func.func @f(%x : !ckks.ciphertext<{old}>) -> !ckks.ciphertext<{new}> {{
      %y = ckks.adopt_scale %x {{tolerance = 1.0e-3}} : !ckks.ciphertext<{old}> -> !ckks.ciphertext<{new}>
      return %y : !ckks.ciphertext<{new}>
    }}"""
    (output,) = output_precision(managed(module_of(text, chain)), chain)
    assert output.parts["alignment"] == pytest.approx(MARGIN * (1 - 1024 / 1025), rel=1e-3)
    # the values of the run are those of the slots under the new scale
    (measured,) = run(text, chain)
    assert measured.actual == pytest.approx(-math.log2(1 - 1024 / 1025), abs=0.2)
    assert 0 <= measured.pessimism < 2


def test_programs_that_conjugate_work_on_complex_numbers() -> None:
    # conj(y) - y is nothing for real numbers, and twice the imaginary part for others
    chain = parameters(levels=1, scale=40)
    old, new = "level = 1, scale = 2**40", "level = 1, scale = 2**30 * 1025"
    text = f"""func.func @f(%x : !ckks.ciphertext<{old}>) -> !ckks.ciphertext<{new}> {{
      %y = ckks.adopt_scale %x {{tolerance = 1.0e-3}} : !ckks.ciphertext<{old}> -> !ckks.ciphertext<{new}>
      %c = ckks.conjugate %y : !ckks.ciphertext<{new}>
      %d = ckks.sub %c, %y : !ckks.ciphertext<{new}>
      return %d : !ckks.ciphertext<{new}>
    }}"""
    (output,) = output_precision(managed(module_of(text, chain)), chain)
    assert output.parts["alignment"] == pytest.approx(2 * MARGIN * (1 - 1024 / 1025), rel=0.01)


def test_estimates_do_not_change_from_call_to_call() -> None:
    chain = parameters(levels=1)
    function = managed(module_of(FRESH, chain))
    first, second = output_precision(function, chain), output_precision(function, chain)
    assert first == second
    assert np.isfinite(first[0].bits)
