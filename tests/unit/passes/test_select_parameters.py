"""Selected parameters are enough, and the next smaller ring degree is not."""

import re
from dataclasses import replace

import pytest
from xdsl.dialects import func

from fhelium_ir.analysis.level_plan import plan_levels
from fhelium_ir.analysis.parameter_search import build, chain_bits, shapes
from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.backend.program import entry_function
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import SECURITY_LIMITS, Parameters
from fhelium_ir.passes.select_parameters import SelectParameters
from fhelium_ir.universe import DEFAULT_PIPELINE, make_context
from tests.lit_files import ROOT
from tests.unit.analysis.measured import measure

C = "!ckks.ciphertext"
CUBE = f"""module {{
func.func @f(%x : {C} {{ckks.slots = 8 : i64}}, %y : {C} {{ckks.slots = 8 : i64}}) -> {C} {{
  %a = ckks.mul %x, %x : {C}
  %b = ckks.mul %a, %x : {C}
  %r = ckks.rotate %b {{steps = 1}} : {C}
  %c = ckks.add %r, %y : {C}
  return %c : {C}
}}
}}"""


def select(text: str, **options: int) -> Parameters:
    module = parse_module(make_context(), text)
    SelectParameters(**options).apply(make_context(), module)
    return ckks.parameters_of(module)


def checked(text: str, chain: Parameters) -> func.FuncOp:
    """The program stage under given parameters, with all its checks."""
    module = parse_module(make_context(), text)
    module.attributes[ckks.PARAMS] = ckks.ParamsAttr(chain)
    Pipeline.named(DEFAULT_PIPELINE).until("ckks-check").run(make_context(), module)
    return entry_function(module, None)


@pytest.mark.parametrize("precision", [10, 20, 30])
def test_the_next_smaller_ring_degree_fails_the_security_check(precision: int) -> None:
    chain = select(CUBE, precision=precision)
    (output,) = output_precision(checked(CUBE, chain), chain)
    assert output.bits >= precision
    half = chain.ring_degree // 2
    # primes of the same sizes at half the degree
    smaller = build(replace_shape(chain), half, chain.scale_bits)
    with pytest.raises(FheliumError, match="parameters are insecure: log2"):
        checked(CUBE, replace(smaller, insecure=False))
    with pytest.raises(FheliumError, match=f"ring degree {half} is too small"):
        select(CUBE, precision=precision, ring_degree=half)


def replace_shape(chain: Parameters):
    module = parse_module(make_context(), CUBE)
    plan = plan_levels(entry_function(module, None))
    q_bits = chain_bits([plan], chain.scale_bits, 60)
    # even the digits that need the fewest bits
    return min(shapes([plan], q_bits, 60, chain.ring_degree), key=lambda shape: shape.total_bits)


def test_a_smaller_scale_misses_the_precision() -> None:
    chain = select(CUBE, precision=20)
    forced = parse_module(make_context(), CUBE)
    plan = plan_levels(entry_function(forced, None))
    q_bits = chain_bits([plan], chain.scale_bits - 2, 60)
    lower = build(
        shapes([plan], q_bits, 60, chain.ring_degree)[0], chain.ring_degree, chain.scale_bits - 2
    )
    (output,) = output_precision(checked(CUBE, lower), lower)
    assert output.bits < 20


def test_a_run_under_selected_parameters_has_the_precision() -> None:
    module = parse_module(make_context(), CUBE)
    SelectParameters(precision=15, security=0, ring_degree=256).apply(make_context(), module)
    Pipeline.named(DEFAULT_PIPELINE).until("ckks-check").run(make_context(), module)
    (measured,) = measure(module, 3)
    assert measured.actual >= 15
    assert measured.actual < 15 + 6


def test_max_bits_bounds_every_prime() -> None:
    chain = select(CUBE, precision=12, max_bits=36)
    assert max(chain.primes) < 1 << 37
    assert max(chain.q) < 1 << 36
    assert chain.ring_degree in SECURITY_LIMITS


def test_digits_follow_the_cost() -> None:
    module = parse_module(make_context(), CUBE)
    plan = plan_levels(entry_function(module, None))
    choices = shapes([plan], (50, 40, 40), 60, 8192)
    # by hand, transforms of the relinearizations of x*x at level 2 and of its product with x at level 1, and of the
    # rotation at level 0: digits of one limb and one special prime
    by_hand = {
        3: (3 * (3 + 1) - 3 + 3 + 2 + 6)
        + (2 * (2 + 1) - 2 + 2 + 2 + 4)
        + (1 * (1 + 1) - 1 + 1 + 2 + 2),
        2: (2 * (3 + 2) - 3 + 3 + 4 + 6)
        + (1 * (2 + 2) - 2 + 2 + 4 + 4)
        + (1 * (1 + 2) - 1 + 1 + 4 + 2),
        1: (1 * (3 + 3) - 3 + 3 + 6 + 6)
        + (1 * (2 + 3) - 2 + 2 + 6 + 4)
        + (1 * (1 + 3) - 1 + 1 + 6 + 2),
    }
    key_passes = {
        3: 2 * (3 * 4 + 2 * 3 + 1 * 2),
        2: 2 * (2 * 5 + 1 * 4 + 1 * 3),
        1: 2 * (1 * 6 + 1 * 5 + 1 * 4),
    }
    assert {shape.digits: shape.cost for shape in choices} == {
        digits: by_hand[digits] * 13 + key_passes[digits] for digits in by_hand
    }
    assert [shape.cost for shape in choices] == sorted(shape.cost for shape in choices)


EXAMPLES = ["chebyshev", "logistic_regression", "matvec64", "perceptron", "variance"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_without_their_parameters(name: str) -> None:
    text = (ROOT / "examples" / f"{name}.mlir").read_text()
    bare = re.sub(
        r"module attributes \{ckks\.params = #ckks\.params<.*?>\}", "module", text, flags=re.S
    )
    assert "ckks.params" not in bare
    chain = select(bare, precision=16)
    checked(bare, chain)  # security, headroom, levels
    chain.check_security()
