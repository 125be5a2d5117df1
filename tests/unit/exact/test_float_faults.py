"""Faults planted into the bounds, the rounding and the kernels of `fp64`: the driven inputs have to find each of them.

A fault counts as found where a word is no integer, has the wrong residue, or is not in its interval.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch
from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f64
from xdsl.ir import SSAValue

from fhelium_ir.analysis import float_bounds
from fhelium_ir.analysis.representatives import Words as WordLimits
from fhelium_ir.backend.materializer import Contents, Materializer
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import resource, zq
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.lowering import signed_conversion
from fhelium_ir.lowering.butterflies import Bounds, FloatButterflies, Values
from fhelium_ir.lowering.link import link
from fhelium_ir.lowering.region_kernels import NodeEmitter
from fhelium_ir.parameters import Parameters
from fhelium_ir.universe import make_context
from tests.unit.exact import test_float_conversions as conversions
from tests.unit.exact.floats import (
    ROUGH,
    capacity,
    centred,
    driven_rows,
    float_facts,
    inverse_rows,
    product,
    run,
    transform_text,
    twiddles,
    words,
)
from tests.unit.exact.machine import (
    POLYNOMIAL,
    REGION,
    NoKeys,
    Words,
    facts_of,
    function,
    linked,
    lowered,
    poly,
    region,
)
from tests.unit.exact.test_float_transforms import wrong
from tests.unit.exact.test_float_words import float_end_words, hard_pairs, in_rows, product_module

Patch = pytest.MonkeyPatch
Found = Callable[[], bool]

FLOATS = ("select-arithmetic{arithmetic=fp64}", *POLYNOMIAL[1:])


def forward_fails(schedule: Schedule) -> bool:
    """Whether rows that drive every stage of a ring of 256 show a fault."""
    facts = float_facts("50", 256)
    rows = [row for stages in (5, 6, 7, 8) for row in driven_rows(256, facts.q[0], stages)]
    before = np.zeros((len(rows), 2, 256), dtype=object)
    before[:, 0] = rows
    return transform_fails(facts, "forward", schedule, before)


def inverse_fails(schedule: Schedule) -> bool:
    """Whether sums that double in every stage show a fault.

    A word that is off by q/2 is healed by an even factor, and N^-1 = -(q - 1)/N is even: the other constant of the last
    stage has to be odd.
    """
    found, last = False, 0
    for size in ("50", "rough"):
        facts = float_facts(size, 64)
        rows = [inverse_rows(64, q) for q in facts.q]
        before = np.array(list(zip(*rows, strict=True)), dtype=object)
        found |= transform_fails(facts, "inverse", schedule, before)
        last |= sum(centred(pow(64 * twiddles(64, q)[1], -1, q), q) & 1 for q in facts.q)
    assert last
    return found


def transform_fails(facts: Parameters, direction: str, schedule: Schedule, before: Words) -> bool:
    module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
    try:
        (found,) = run(linked(module), before)
    except AssertionError:
        return True
    return wrong(facts.q, direction, before, found) != []


ONE = Schedule(((4, 4),), 1, 1, 1)
TWO = Schedule(((4,), (4,)), 1, 1, 1)
ONE_OF_64 = Schedule(((3, 3),), 1, 1, 1)
TWO_OF_64 = Schedule(((4,), (2,)), 1, 1, 1)


def conversion_fails(kind: str, limbs: int) -> bool:
    """Whether a base conversion shows a fault: of residues at their ends, and, with ten limbs, of ones whose products
    have a sum beyond 2^52.
    """
    p, q = conversions.TOP[:limbs], [ROUGH[0], ROUGH[1]]
    facts = facts_of(8, q, p)
    text = conversions.conversion_region(facts, f"p 0:{limbs}", "q 0:2", kind)
    executable = linked(lowered(text, REGION))
    rows = conversions.end_rows(p)
    if limbs == 10:
        for move in (0, 1):
            driven = conversions.driven_residues(p, q[0], 4 * q[0] + q[0] // 2 + move)
            rows.append(np.array([[[x] * 8 for x in driven]], dtype=object))
    for row in rows:
        try:
            (found,) = run(executable, row)
        except AssertionError:
            return True
        columns = zip(*row[0].tolist(), strict=True)
        numbers = [conversions.integer(kind, column, p) for column in columns]
        if found.tolist() != [[[centred(x, t) for x in numbers] for t in q]]:
            return True
    return False


def accumulation_fails(digits: int) -> bool:
    """Whether an inner product of full words shows a fault; with ten digits their sum is driven beyond 2^52."""
    primes = [conversions.TOP[0], *ROUGH, *conversions.TOP[1:]]
    below = capacity(primes[0])
    facts, text = conversions.accumulation(primes, digits, below, below)
    executable = linked(lowered(text, REGION))
    inputs = conversions.accumulate_inputs(facts, below, below)
    if digits == 10:
        q = facts.q[0]
        for move in (0, 1):
            inputs.append(conversions.driven_accumulation(facts, below, 4 * q + q // 2 + move))
    for x, y, z in inputs:
        try:
            (found,) = run(executable, x, y, z)
        except AssertionError:
            return True
        if (found != conversions.accumulated(facts, x, y, z)).any():
            return True
    return False


def sums_fail(count: int, multiply: bool) -> bool:
    """Whether a chain of differences shows a fault, or the product of one with another word."""
    q = ROUGH[0]
    facts = facts_of(8, [q], [ROUGH[1]])
    type_ = poly(facts, "q 0:1", "evaluation(bit_reversed)")
    lines, value = list[str](), "%x0"
    for index in range(1, count):
        lines.append(f"%s{index} = rns.sub {value}, %x{index} : {type_}")
        value = f"%s{index}"
    op = "mul" if multiply else "add"
    lines.append(f"%r0 = rns.{op} {value}, %x{count} : {type_}")
    text = function(facts, [type_] * (count + 1), [type_], "\n".join(lines))
    executable = linked(lowered(text, FLOATS))
    for first in (0, q - 1, q // 2):
        rows = [[first] * 8, *[[q - 1 - j for j in range(8)]] * count]
        inputs = [in_rows(row)[0] for row in rows]
        difference = inputs[0] - sum(inputs[1:count])
        expected = difference * inputs[count] if multiply else difference + inputs[count]
        try:
            (found,) = run(executable, *inputs)
        except AssertionError:
            return True
        if (found != expected % q).any():
            return True
    return False


# Bounds of the analysis and of the lowering.


def double_limit(patch: Patch) -> None:
    limit = float_bounds.limit

    def doubled(largest: int) -> Fraction:
        return 2 * limit(largest)

    patch.setattr(float_bounds, "limit", doubled)


def no_reduction_before_the_store(patch: Patch) -> None:
    def nothing(self: FloatButterflies, values: Values, bounds: Bounds) -> None:
        bounds[:] = [self.stored_bound(0)] * len(bounds)

    patch.setattr(FloatButterflies, "before_store", nothing)


def centred_products(patch: Patch) -> None:
    def centred_bound(bound: Fraction, largest_prime: int, factor: Fraction) -> Fraction:
        return Fraction(1, 8)

    patch.setattr(float_bounds, "product", centred_bound)


def unreduced_results(patch: Patch) -> None:
    def nothing(self: FloatButterflies, values: Values, bounds: Bounds, below: int) -> None:
        del self, values, bounds, below

    patch.setattr(FloatButterflies, "finish", nothing)


def unreduced_results_of_a_doubled_limit(patch: Patch) -> None:
    unreduced_results(patch)
    double_limit(patch)


def uncentred_factors(patch: Patch) -> None:
    doubles = Materializer._doubles  # pyright: ignore[reportPrivateUsage]

    def uncentred(self: Materializer, declared: resource.DeclareOp, content: Contents) -> object:
        if declared.kind.data == "moduli":
            return doubles(self, declared, content)
        return torch.as_tensor(np.array(content, dtype=np.int64).astype(np.float64))

    patch.setattr(Materializer, "_doubles", uncentred)


def endless_sums(patch: Patch) -> None:
    def fits(terms: int, bound: Fraction, largest_prime: int) -> bool:
        return True

    patch.setattr("fhelium_ir.analysis.float_bounds.terms_fit", fits)


def wide_words(patch: Patch) -> None:
    def too_many(self: WordLimits, basis: object) -> int:
        return (1 << 55) // ROUGH[0]

    patch.setattr(WordLimits, "capacity", too_many)


def wide_products(patch: Patch) -> None:
    def any_factors(self: WordLimits, left: int, right: int, basis: object) -> int:
        return 2

    patch.setattr(WordLimits, "product", any_factors)


def canonical_multiple(patch: Patch) -> None:
    overflow = signed_conversion.overflow

    def without_negatives(emitter: NodeEmitter, *words: SSAValue) -> tuple[SSAValue, SSAValue]:
        return overflow(emitter, *words)[0], emitter.build.constant(0)

    patch.setattr(signed_conversion, "overflow", without_negatives)


BOUNDS: dict[str, tuple[Callable[[Patch], None], Found]] = {
    "limit of forward butterflies": (double_limit, lambda: forward_fails(ONE)),
    "limit of inverse butterflies": (double_limit, lambda: inverse_fails(ONE_OF_64)),
    "forward, before the store": (no_reduction_before_the_store, lambda: forward_fails(TWO)),
    "inverse, before the store": (no_reduction_before_the_store, lambda: inverse_fails(TWO_OF_64)),
    "products in forward butterflies": (centred_products, lambda: forward_fails(ONE)),
    "results of an inverse": (
        unreduced_results_of_a_doubled_limit,
        lambda: inverse_fails(ONE_OF_64),
    ),
    "twiddles": (uncentred_factors, lambda: forward_fails(ONE)),
    "inverse twiddles": (uncentred_factors, lambda: inverse_fails(ONE_OF_64)),
    "coefficients of a conversion": (
        endless_sums,
        lambda: conversion_fails("centred", 10),
    ),
    "digits of an inner product": (endless_sums, lambda: accumulation_fails(10)),
    "sums": (wide_words, lambda: sums_fail(14, False)),
    "factors": (wide_products, lambda: sums_fail(4, True)),
    "the multiple of a conversion": (canonical_multiple, lambda: conversion_fails("nearest", 2)),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_loosened_bounds_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, fails = BOUNDS[name]
    assert not fails()
    plant(monkeypatch)
    assert fails()


# Rounding.


def machine_words(text: str) -> ModuleOp:
    module = lowered(text, REGION)
    Pipeline("exact", ("convert-zq-to-arith",)).run(make_context(), module)
    return module


def constants(module: ModuleOp, name: str) -> list[arith.ConstantOp]:
    found = [
        op
        for op in module.walk()
        if isinstance(op, arith.ConstantOp) and (op.result.name_hint or "").startswith(name)
    ]
    assert found
    return found


def half_the_magic(module: ModuleOp) -> None:
    """1.5 * 2^51 rounds to halves."""
    for op in constants(module, "magic"):
        op.properties["value"] = FloatAttr(1.5 * 2**51, f64)


def magic_at_its_end(module: ModuleOp) -> None:
    """2^52 leaves no room for negative quotients."""
    for op in constants(module, "magic"):
        op.properties["value"] = FloatAttr(2.0**52, f64)


def rounded_down(module: ModuleOp) -> None:
    """Quotients that are one too small, as by rounding down."""
    planted = 0
    for op in list(module.walk()):
        if isinstance(op, arith.SubfOp) and (op.result.name_hint or "").startswith("count"):
            one = arith.ConstantOp(FloatAttr(1.0, f64))
            less = arith.SubfOp(op.result, one.result)
            assert op.parent is not None
            op.parent.insert_ops_after([one, less], op)
            op.result.replace_uses_with_if(
                less.result, lambda use, less=less: use.operation is not less
            )
            planted += 1
    assert planted


def unfused(module: ModuleOp) -> None:
    """Low halves of products that are not computed: the rounded product is taken for the product."""
    planted = 0
    for op in list(module.walk()):
        if op.name == "math.fma" and (op.results[0].name_hint or "").startswith("low"):
            zero = arith.ConstantOp(FloatAttr(0.0, f64))
            assert op.parent is not None
            op.parent.insert_op_before(zero, op)
            op.results[0].replace_all_uses_with(zero.result)
            planted += 1
    assert planted


def without_lift(module: ModuleOp) -> None:
    """Negative residues that stay negative in front of the conversion to an integer."""
    planted = 0
    for op in list(module.walk()):
        if isinstance(op, arith.SelectOp) and op.lhs.name_hint == "q_integer":
            op.result.replace_all_uses_with(op.rhs)
            planted += 1
    assert planted


def product_fails(module: ModuleOp) -> bool:
    q = ROUGH[0]
    executable = link(module, NoKeys(), "interpret")
    pairs = hard_pairs(q, 8, 1)
    columns = (in_rows([pair[k] for pair in pairs]) for k in (0, 1))
    for x, y in zip(*columns, strict=True):
        try:
            (found,) = run(executable, x, y)
        except AssertionError:
            return True
        if found[0, 0].tolist() != [
            product(a, b, q) for a, b in zip(x[0, 0], y[0, 0], strict=True)
        ]:
            return True
    return False


def change_text(before: str, after: str) -> str:
    facts = facts_of(8, [ROUGH[0]], [ROUGH[1]])
    a, c = (
        poly(facts, "q 0:1", "evaluation(bit_reversed)", words=some) for some in (before, after)
    )
    body = f"%v0 = rns.set_representative %a0 : {a} -> {c}"
    return region(facts, "fp64", [a], [c], body)


def change_fails(module: ModuleOp) -> bool:
    q = ROUGH[0]
    executable = link(module, NoKeys(), "interpret")
    for row in in_rows(float_end_words(q, 7)):
        try:
            (found,) = run(executable, row)
        except AssertionError:
            return True
        integers = executable.results[0].dtype == "int64"
        wanted = [x % q if integers else centred(x, q) for x in row[0, 0].tolist()]
        if found[0, 0].tolist() != wanted:
            return True
    return False


ROUNDING: dict[str, tuple[str, Callable[[ModuleOp], None], Callable[[ModuleOp], bool]]] = {
    **{
        f"product, {plant.__name__}": (product_module(ROUGH[0], 8, 1, 2), plant, product_fails)
        for plant in (half_the_magic, magic_at_its_end, rounded_down, unfused)
    },
    **{
        f"reduction, {plant.__name__}": (change_text(words(7), words(1)), plant, change_fails)
        for plant in (half_the_magic, magic_at_its_end, rounded_down)
    },
    "integers, without_lift": (
        change_text(words(7), "int64(e = 0, below = 1)"),
        without_lift,
        change_fails,
    ),
}


@pytest.mark.parametrize("name", ROUNDING)
def test_wrong_rounding_is_found(name: str) -> None:
    text, plant, fails = ROUNDING[name]
    module = machine_words(text)
    assert not fails(module)
    plant(module)
    assert fails(module)


# Reductions that results and conversions need.


REDUCED: dict[str, tuple[str, Callable[[ModuleOp], bool]]] = {
    "doubles": (change_text(words(7), words(1)), change_fails),
    "integers": (change_text(words(7), "int64(e = 0, below = 1)"), change_fails),
}


@pytest.mark.parametrize("name", REDUCED)
def test_dropped_reductions_are_found(name: str) -> None:
    text, fails = REDUCED[name]
    module = lowered(text, REGION)
    (op,) = (op for op in module.walk() if isinstance(op, zq.ReduceOp))
    op.result.replace_all_uses_with(op.value)
    Pipeline("exact", ("convert-zq-to-arith",)).run(make_context(), module)
    assert fails(module)


@pytest.mark.parametrize("case", ["centred", "nearest", "accumulate"])
def test_sums_of_products_are_reduced(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their results are said to be centred."""
    fails: Found = (
        (lambda: accumulation_fails(4))
        if case == "accumulate"
        else (lambda: conversion_fails(case, 5))
    )
    assert not fails()

    def unsettled(self: NodeEmitter, total: SSAValue, eager: bool, terms: int = 1) -> SSAValue:
        return total

    monkeypatch.setattr(NodeEmitter, "settled", unsettled)
    assert fails()
