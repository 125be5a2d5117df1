"""Faults planted in what becomes of signed words, which the exact tests have to find."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.lowering import signed_conversion
from fhelium_ir.lowering.link import link
from fhelium_ir.lowering.region_kernels import NodeEmitter
from fhelium_ir.universe import make_context
from tests.unit.exact import test_signed_conversions as conversions
from tests.unit.exact import test_signed_words as signed_words
from tests.unit.exact.floats import centred
from tests.unit.exact.machine import (
    REGION,
    NoKeys,
    Words,
    facts_of,
    linked,
    lowered,
    poly,
    region,
)
from tests.unit.exact.signed import rows_of, run, signed_facts, transform_text, words
from tests.unit.exact.test_float_conversions import end_rows, integer
from tests.unit.exact.test_signed_transforms import wrong

DEGREE = 64
SCHEDULE = Schedule(((3,), (3,)), 1, 1, 1)

Patch = pytest.MonkeyPatch
Plant = Callable[[ModuleOp], int]


def replaced(module: ModuleOp, kind: type[Operation], change: Callable[..., bool]) -> int:
    """How many ops of a kind have been changed."""
    return sum(change(op) for op in list(module.walk()) if isinstance(op, kind))


def steps_away(module: ModuleOp) -> int:
    """Multiples of q that are subtracted from negative words, and added to others."""

    def swap(op: arith.SelectOp) -> bool:
        op.operands[1], op.operands[2] = op.operands[2], op.operands[1]
        return True

    return replaced(module, arith.SelectOp, swap)


def unsigned_words(module: ModuleOp) -> int:
    """Words that are widened as if they had no sign."""

    def change(op: arith.ExtSIOp) -> bool:
        if op.result.name_hint is None or not op.result.name_hint.startswith("wide"):
            return False
        new = arith.ExtUIOp(op.input, op.result.type)
        assert op.parent is not None
        op.parent.insert_op_before(new, op)
        op.result.replace_all_uses_with(new.result)
        return True

    return replaced(module, arith.ExtSIOp, change)


def larger_half(module: ModuleOp) -> int:
    """(q + 1)/2 instead of (q - 1)/2."""

    def change(op: arith.ShRUIOp) -> bool:
        if op.result.name_hint != "q_half":
            return False
        one = op.operands[1]
        new = arith.AddiOp(op.result, one)
        assert op.parent is not None
        op.parent.insert_op_after(new, op)
        op.result.replace_uses_with_if(new.result, lambda use: use.operation is not new)
        return True

    return replaced(module, arith.ShRUIOp, change)


def sums_without_low_ends(module: ModuleOp) -> int:
    """Minima that take the lifted word."""

    def change(op: arith.MinUIOp) -> bool:
        op.result.replace_all_uses_with(op.rhs)
        return True

    return replaced(module, arith.MinUIOp, change)


def transform_module(direction: str) -> tuple[str, tuple[int, ...], Words]:
    facts = signed_facts("30", DEGREE)
    rows = [rows_of(direction, DEGREE, q) for q in facts.q]
    before = np.array(list(zip(*rows, strict=True)), dtype=object)[:40]
    return transform_text(facts, direction, SCHEDULE, len(before)), facts.q, before


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("plant", [steps_away, unsigned_words])
def test_faults_in_a_transform_are_found(plant: Plant, direction: str) -> None:
    text, primes, before = transform_module(direction)
    module = lowered(text, REGION)
    Pipeline("exact", ("convert-zq-to-arith",)).run(make_context(), module)
    (found,) = run(link(module, NoKeys(), "interpret"), before)
    assert wrong(primes, direction, before, found) == []
    assert plant(module)
    (found,) = run(link(module, NoKeys(), "interpret"), before)
    assert wrong(primes, direction, before, found)


@pytest.mark.parametrize("plant", [larger_half, sums_without_low_ends])
def test_faults_in_a_reduction_are_found(plant: Plant) -> None:
    q = signed_words.PRIMES[0]
    facts, ends = signed_words.one_prime(q), signed_words.end_words(q, 3)
    given = signed_words.in_rows(ends)
    a, b = (
        poly(facts, "q 0:1", signed_words.EVALUATION, len(given), words=words(k)) for k in (3, 1)
    )
    text = region(facts, "smont32", [a], [b], f"%v0 = rns.set_representative %a0 : {a} -> {b}")
    module = lowered(text, REGION)
    Pipeline("exact", ("convert-zq-to-arith",)).run(make_context(), module)

    def right() -> bool:
        (found,) = run(link(module, NoKeys(), "interpret"), given)
        return signed_words.flat(found, len(ends)) == [centred(word, q) for word in ends]

    assert right()
    assert plant(module)
    assert not right()


def conversion_fails(kind: str) -> bool:
    p, q = conversions.TOP[:3], [*conversions.TOP[3:5], 12289]
    text = conversions.conversion_region(facts_of(8, q, p), "p 0:3", "q 0:3", kind)
    executable = linked(lowered(text, REGION))
    for row in end_rows(p):
        (found,) = run(executable, row)
        numbers = [integer(kind, column, p) for column in zip(*row[0].tolist(), strict=True)]
        for some, t in zip(found[0].tolist(), q, strict=True):
            if [x % t for x in some] != [x % t for x in numbers]:
                return True
        if conversions.outside(found, q, 2):
            return True
    return False


def without_negatives(patch: Patch) -> None:
    """Multiples of the product that do not know which residues are negative."""
    counted = signed_conversion.overflow

    def overflow(
        emitter: NodeEmitter, word: SSAValue, *entry: SSAValue
    ) -> tuple[SSAValue, SSAValue]:
        reciprocal, shift, prime = entry
        fractions, _ = counted(emitter, word, reciprocal, shift, prime)
        return fractions, emitter.build.constant(0)

    patch.setattr(signed_conversion, "overflow", overflow)


def unsettled(patch: Patch) -> None:
    def same(self: NodeEmitter, total: SSAValue, eager: bool, terms: int = 1) -> SSAValue:
        return total

    patch.setattr(NodeEmitter, "settled", same)


@pytest.mark.parametrize("plant", [without_negatives, unsettled])
def test_faults_in_a_conversion_are_found(
    plant: Callable[[Patch], None], monkeypatch: Patch
) -> None:
    assert not conversion_fails("nearest")
    plant(monkeypatch)
    assert conversion_fails("nearest")
