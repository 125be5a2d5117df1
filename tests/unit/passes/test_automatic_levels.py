"""Automatic levels: what comes out is legal, means the same, and takes as few levels as a count by hand says."""

import time
from collections.abc import Sequence

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.analysis.level_plan import plan_levels
from fhelium_ir.analysis.level_scales import level_scale
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.passes.ckks_check import CkksCheck
from fhelium_ir.passes.ckks_manage import CkksManage
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.universe import make_context
from tests.unit.analysis.measured import module_of, parameters, random_program

CHAIN = parameters(degree=64, levels=6)
C = "!ckks.ciphertext"


def body(lines: Sequence[str], result: str, arguments: str = "%x") -> str:
    inputs = ", ".join(f"{name} : {C}" for name in arguments.split())
    text = "\n".join(lines)
    return f"func.func @f({inputs}) -> {C} {{\n{text}\nreturn {result} : {C}\n}}"


def function_of(module: ModuleOp) -> func.FuncOp:
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return function


def manage(text: str, chain: Parameters = CHAIN, start: str = "needed") -> ModuleOp:
    module = module_of(text, chain)
    CkksManage(start).apply(make_context(), module)
    verify_module(module)
    CkksCheck().apply(make_context(), module)
    return module


def counts(module: ModuleOp) -> dict[str, int]:
    found: dict[str, int] = {}
    for op in module.walk():
        name = op.name.removeprefix("ckks.")
        found[name] = found.get(name, 0) + 1
    return found


@pytest.mark.parametrize("seed", range(40))
def test_random_programs_stay_legal_and_mean_the_same(seed: int) -> None:
    text = random_program(1000 + seed, ops=20, levels=5)
    module = module_of(text, CHAIN)
    random = np.random.default_rng(seed)
    inputs = {name: random.uniform(-1, 1, CHAIN.slots) for name in ("x", "y")}
    expected = run_cleartext(module, "f", inputs)
    for start in ("needed", "top"):
        managed = manage(text, start=start)
        for have, want in zip(run_cleartext(managed, "f", inputs), expected, strict=True):
            np.testing.assert_allclose(have, want, atol=1e-12)
        # outputs are at exactly the scale of their level
        for type_ in function_of(managed).function_type.outputs:
            assert isinstance(type_, ckks.CiphertextType) and type_.data.level is not None
            assert type_.data.scale == level_scale(CHAIN, type_.data.level)
            assert type_.data.size == 2


def test_the_depth_of_a_balanced_product_is_its_logarithm() -> None:
    lines = [f"%p{i} = ckks.mul %x, %x : {C}" for i in range(8)]
    lines += [f"%q{i} = ckks.mul %p{2 * i}, %p{2 * i + 1} : {C}" for i in range(4)]
    lines += [f"%r{i} = ckks.mul %q{2 * i}, %q{2 * i + 1} : {C}" for i in range(2)]
    lines += [f"%s = ckks.mul %r0, %r1 : {C}"]
    assert plan_levels(function_of(module_of(body(lines, "%s"), CHAIN))).depth == 4


def test_a_sum_of_products_is_relinearized_and_rescaled_once() -> None:
    names = " ".join(f"%x{i}" for i in range(8))
    lines = [f"%p{i} = ckks.mul %x{i}, %x{(i + 1) % 8} : {C}" for i in range(8)]
    lines += [f"%s0 = ckks.add %p0, %p1 : {C}"]
    lines += [f"%s{i + 1} = ckks.sub %s{i}, %p{i + 2} : {C}" for i in range(6)]
    found = counts(manage(body(lines, "%s6", names)))
    assert (found["relinearize"], found["rescale"], found["mul"]) == (1, 1, 8)
    assert "mul_plain" not in found and "mod_switch" not in found


def test_a_polynomial_by_horner_has_one_conversion_for_each_power() -> None:
    # ((x*x + x)*x + x)*x + x: x is brought down once for each level, for both its uses there
    lines = ["%t0 = ckks.mul %x, %x : " + C, f"%h0 = ckks.add %t0, %x : {C}"]
    for i in range(3):
        lines += [
            f"%t{i + 1} = ckks.mul %h{i}, %x : {C}",
            f"%h{i + 1} = ckks.add %t{i + 1}, %x : {C}",
        ]
    module = manage(body(lines, "%h3"))
    found = counts(module)
    # three lowered for products, four raised for sums
    assert found["mul_plain"] == 3 + 4
    assert found["rescale"] == 3 + 4
    assert found["relinearize"] == 4


def test_what_is_wrong_in_one_function_leaves_the_others() -> None:
    good = body([f"%a = ckks.mul %x, %x : {C}"], "%a")
    lines = ["%p0 = ckks.negate %x : " + C]
    lines += [f"%p{i + 1} = ckks.mul %p{i}, %p{i} : {C}" for i in range(7)]
    bad = body(lines, "%p7").replace("@f", "@g")
    module = module_of(f"{good}\n{bad}", CHAIN)
    before = str(module)
    with pytest.raises(FheliumError, match="needs 7 levels, the chain has 6: it ends at ckks"):
        CkksManage().apply(make_context(), module)
    assert str(module) == before


def test_a_chain_of_eighty_levels() -> None:
    chain = parameters(degree=64, levels=80, scale=40)
    lines = ["%p0 = ckks.negate %x : " + C]
    lines += [f"%p{i + 1} = ckks.mul %p{i}, %p{i} : {C}" for i in range(80)]
    function = function_of(manage(body(lines, "%p80"), chain))
    (output,) = function.function_type.outputs
    assert isinstance(output, ckks.CiphertextType) and output.data.scale is not None
    # the primes follow the scale: after eighty squarings it still is 2^40
    assert output.data.scale.log2(chain.q) == pytest.approx(40, abs=1e-3)


def test_a_thousand_ops_take_less_than_a_second_or_two() -> None:
    lines, names = list[str](), ["%x"]
    for i in range(1000):
        left, right = names[-1], names[max(0, len(names) - 7)]
        op = "mul" if i % 200 == 199 else ("sub" if i % 3 else "add")
        lines.append(f"%v{i} = ckks.{op} {left}, {right} : {C}")
        names.append(f"%v{i}")
    text = body(lines, "%v999").replace(f"%x : {C}", f"%x : {C} {{ckks.range = 1.0e-300 : f64}}", 1)
    module = module_of(text, CHAIN)
    start = time.process_time()
    CkksManage().apply(make_context(), module)
    assert time.process_time() - start < 3
