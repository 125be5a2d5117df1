"""Every stage of the default pipeline is text: another process can finish what one began."""

from __future__ import annotations

from functools import cache

import pytest
from xdsl.dialects.builtin import ModuleOp, UnknownLoc

from fhelium_ir import universe
from fhelium_ir.compiler.pipeline import Pipeline, make_pass
from fhelium_ir.compiler.printing import mlir_text
from tests.unit.pipeline.examples import EXAMPLES, reparsed, small_example

PASSES = universe.PIPELINES[universe.DEFAULT_PIPELINE]

PROGRAM, POLYNOMIAL, REGION = ("ckks.",), ("rns.", "ntt."), ("fusion.",)
SMALLEST = "matvec"
"""The example with the fewest kernels."""

GONE_AFTER = {
    "convert-ckks-to-rns": PROGRAM,
    "convert-regions-to-kernels": (*PROGRAM, *POLYNOMIAL, *REGION),
    "convert-zq-to-arith": (*PROGRAM, *POLYNOMIAL, *REGION, "zq."),
}
"""Which ops a stage must be free of, from this pass on."""


@cache
def stages(name: str) -> tuple[ModuleOp, ...]:
    """The module before the first pass, and after each."""
    module = small_example(name)
    found = [module.clone()]
    Pipeline("default", PASSES).run(
        universe.make_context(), module, after_pass=lambda _, op: found.append(op.clone())
    )
    return tuple(found)


@cache
def final_text(name: str) -> str:
    return mlir_text(stages(name)[-1])


def op_names(module: ModuleOp) -> set[str]:
    return {op.name for op in module.walk()}


def finish(name: str, count: int, *, generic: bool) -> str:
    """The final text, after the stage that `count` passes leave was printed and read again."""
    module = reparsed(stages(name)[count], generic=generic)
    Pipeline("rest", PASSES[count:]).run(universe.make_context(), module, verify_each=False)
    return mlir_text(module)


@pytest.mark.parametrize("count", range(len(PASSES) + 1))
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_prefix_can_be_finished(name: str, count: int) -> None:
    assert finish(name, count, generic=False) == final_text(name)


# One example is enough for the generic form: the dialects have round-trip tests of their own.
@pytest.mark.parametrize("count", range(len(PASSES) + 1))
def test_a_prefix_in_generic_form_can_be_finished(count: int) -> None:
    assert finish(SMALLEST, count, generic=True) == final_text(SMALLEST)


@pytest.mark.parametrize("name", EXAMPLES)
def test_stages_hold_their_own_ops(name: str) -> None:
    gone: tuple[str, ...] = ()
    for pass_name, module in zip(PASSES, stages(name)[1:], strict=True):
        gone = GONE_AFTER.get(pass_name, gone)
        left = {op for op in op_names(module) if op.startswith(gone)} if gone else set[str]()
        assert not left, f"after {pass_name}"


@pytest.mark.parametrize("name", EXAMPLES)
def test_each_stage_has_ops_of_its_own(name: str) -> None:
    after = dict(zip(PASSES, stages(name)[1:], strict=True))
    assert {"ckks.mul", "ckks.mul_plain"} & op_names(after["ckks-check"])
    assert {"rns.mul", "ntt.forward", "ntt.inverse"} <= op_names(after["track-montgomery"])
    assert {"fusion.region", "rns.mul"} <= op_names(after["plan-memory"])
    kernels = op_names(after["convert-regions-to-kernels"])
    assert {"kernel.func", "zq.mul", "host.launch"} <= kernels
    assert {"kernel.func", "arith.mului_extended", "host.launch"} <= op_names(stages(name)[-1])


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_op_has_a_location(name: str) -> None:
    # The passes alone: a pipeline would fill in what they forget.
    module, context = small_example(name), universe.make_context()
    for pass_name in PASSES:
        make_pass(pass_name).apply(context, module)
        missing = {op.name for op in module.walk() if isinstance(op.location, UnknownLoc)}
        assert not missing, f"after {pass_name}"
