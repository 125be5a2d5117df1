"""Bounds that are fixed in the code: sums of products stay where they are said to stay, and it is noticed if they do not.

Each fault takes one reduction away from compiled kernels, or loosens a constant of the compiler. The extreme inputs
of this folder have to find every one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from fhelium_ir.dialects import zq
from fhelium_ir.dialects.ntt import Contract, Schedule
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.parameters import Parameters
from tests.unit.exact.machine import (
    REGION,
    Words,
    batches,
    facts_of,
    function,
    linked,
    lowered,
    poly,
    region,
    run,
)
from tests.unit.exact.test_base_conversion import centred, digit_numbers, edges, nearest
from tests.unit.exact.test_transforms import check, transform_text
from tests.unit.reference.textbook import primes_below

TOP = {
    name: [
        q
        for q, _ in zip(
            primes_below((1 << (ARITHMETICS[name].word_bits - 2)) - 1, 8), range(8), strict=False
        )
    ]
    for name in ("mont32", "mont64")
}
EVALUATION = "evaluation(bit_reversed)"


@dataclass(frozen=True)
class Case:
    """A module of regions with inputs at their ends, and what is wrong with its results."""

    text: str
    inputs: list[list[Words]]
    wrong: Callable[[list[Words], Words], bool]

    def lowered(self) -> ModuleOp:
        return lowered(self.text, REGION)

    def fails(self, module: ModuleOp) -> bool:
        """Whether some input shows that the module's kernels are wrong."""
        executable = linked(module)
        return any(self.wrong(words, run(executable, *words)[0]) for words in self.inputs)


def outside(found: Words, primes: list[int], below: int) -> bool:
    """Whether a word [components, rows, N] is not below `below * q`."""
    return any(
        max(row) >= below * q for part in found for q, row in zip(primes, part, strict=True)
    )


def transform_case(arithmetic: str, direction: str, kernels: tuple[tuple[int, ...], ...]) -> Case:
    primes = TOP[arithmetic]
    facts = facts_of(8, primes[1:], primes[:1])
    text = transform_text(facts, arithmetic, direction, Schedule(kernels, 1, 1, 1))
    below = 4 if direction == "forward" else 2
    inputs = [[words] for words in batches(facts.primes, below, 8, 3)]

    def wrong(before: list[Words], after: Words) -> bool:
        return check(facts, direction, before[0], after) != []

    return Case(text, inputs, wrong)


def accumulate_case(arithmetic: str) -> Case:
    """Five digits of one limb, every operand as large as its type lets it be."""
    primes, limbs = TOP[arithmetic], 5
    q, p = primes[1 : 1 + limbs], primes[:1]
    facts, radix = facts_of(8, q, p), ARITHMETICS[arithmetic].radix
    both = f"q 0:{limbs} p 0:1"
    own = poly(facts, f"q 0:{limbs}", EVALUATION, words=f"{arithmetic}(e = 0, below = 4)")
    converted = poly(
        facts, both, EVALUATION, digits="complement(1)", words=f"{arithmetic}(e = 0, below = 4)"
    )
    key = poly(
        facts, both, EVALUATION, 2, digits="key(1)", words=f"{arithmetic}(e = 1, below = 1)"
    )
    result = poly(facts, both, EVALUATION, 2, words=f"{arithmetic}(e = 0, below = 2)")
    body = f"%v0 = rns.accumulate %a0, %a1, %a2 : {own}, {converted}, {key} -> {result}"
    text = region(facts, arithmetic, [own, converted, key], [result], body)
    rows = [(digit, row) for digit in range(limbs) for row in range(limbs + 1) if row != digit]
    order = [*q, *p]
    inputs: list[list[Words]] = []
    for shift in range(12):
        tops = [4 * prime - 1 - shift * shift * (prime // 150) for prime in order]
        x = np.array([[[tops[i] - k for k in range(8)] for i in range(limbs)]], dtype=object)
        y = np.array([[[tops[i] - 7 * k for k in range(8)] for _, i in rows]], dtype=object)
        z = np.array(
            [
                [
                    [[prime - 1 - (k + component) * shift for k in range(8)] for prime in order]
                    for component in range(2)
                ]
                for _ in range(limbs)
            ],
            dtype=object,
        )
        inputs.append([x, y, z])

    def wrong(before: list[Words], after: Words) -> bool:
        x, y, z = before
        for i, prime in enumerate(order):
            total: Words = np.zeros((2, 8), dtype=object)
            for digit in range(limbs):
                factor = x[0, i] if i == digit else y[0, rows.index((digit, i))]
                total = total + factor * z[digit, :, i]
            if ((after[:, i] - total * pow(radix, -1, prime)) % prime).any():
                return True
        return outside(after, order, 2)

    return Case(text, inputs, wrong)


def conversion_case(arithmetic: str, kind: str) -> Case:
    """Four primes or digits of three: partial sums pass 2q again and again."""
    primes = TOP[arithmetic]
    words = f"{arithmetic}(e = 0, below = 1)"
    after_words = f"{arithmetic}(e = 0, below = 2)"
    if kind == "nearest":
        facts = facts_of(8, primes[4:7], primes[:4])
        before = poly(facts, "p 0:4", "coefficient", words=words)
        after = poly(facts, "q 0:3", "coefficient", words=after_words)
        options = 'lift = "canonical", correction = "nearest"'
        source, groups = list(facts.p), [(list(facts.p), list(facts.q))]
    else:
        facts = Parameters(8, tuple(primes[:5]), tuple(primes[5:8]), 2, 20, insecure=True)
        before = poly(facts, "q 0:5", "coefficient", digits="own(3)", words=words)
        after = poly(
            facts, "q 0:5 p 0:3", "coefficient", digits="complement(3)", words=after_words
        )
        options = 'lift = "centred", correction = "none"'
        q, p = list(facts.q), list(facts.p)
        source, groups = q, [(q[:3], [*q[3:], *p]), (q[3:], [*q[:3], *p])]
    if kind == "nearest":
        body = f"%v0 = rns.base_convert %a0 {{{options}}} : {before} -> {after}"
        text = region(facts, arithmetic, [before], [after], body)
    else:
        flat = before.replace("digits = own(3), ", "")
        body = (
            f"%d = rns.digits %a0 {{size = 3}} : {flat}\n"
            f"%v0 = rns.base_convert %d {{{options}}} : {before} -> {after}"
        )
        text = region(facts, arithmetic, [flat], [after], body)
    choices = [[0, 1, d // 2, d // 2 + 1, d - 1, d - 2] for d in source]
    inputs = [
        [
            np.array(
                [[[some[(k * (i + shift) + shift) % 6] for k in range(8)] for i, some in enumerate(choices)]],
                dtype=object,
            )
        ]
        for shift in range(12)
    ]

    def wrong(before: list[Words], after: Words) -> bool:
        number, targets = 0, list[int]()
        rows = before[0][0].tolist()
        for own, others in groups:
            first = source.index(own[0])
            integers = digit_numbers(rows[first : first + len(own)], own)
            lift = nearest if kind == "nearest" else centred
            for t in others:
                expected = [lift(x, own) % t for x in integers]
                if [word % t for word in after[0, number].tolist()] != expected:
                    return True
                targets.append(t)
                number += 1
        return outside(after, targets, 2)

    return Case(text, inputs, wrong)


CASES: dict[str, Callable[[str], Case]] = {
    "forward": lambda arithmetic: transform_case(arithmetic, "forward", ((3,),)),
    "forward in two": lambda arithmetic: transform_case(arithmetic, "forward", ((1, 1), (1,))),
    "inverse": lambda arithmetic: transform_case(arithmetic, "inverse", ((3,),)),
    "inverse in two": lambda arithmetic: transform_case(arithmetic, "inverse", ((1,), (1, 1))),
    "accumulate": accumulate_case,
    "nearest": lambda arithmetic: conversion_case(arithmetic, "nearest"),
    "centred": lambda arithmetic: conversion_case(arithmetic, "centred"),
}

REDUCTIONS = {
    # A butterfly reduces once, except where both of its legs end with a product.
    "forward": 12,
    "forward in two": 6 + 2,
    "inverse": 8,
    "inverse in two": 2 + 1,
    # One for each component's sum; one in the loop and one for the overflow.
    "accumulate": 2,
    "nearest": 2,
    "centred": 2,
}


@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
@pytest.mark.parametrize("name", CASES)
def test_every_reduction_is_needed(name: str, arithmetic: str) -> None:
    case = CASES[name](arithmetic)
    module = case.lowered()
    assert not case.fails(module)
    count = sum(isinstance(op, zq.ReduceOp) for op in module.walk())
    assert count > 0
    for dropped in range(count):
        faulty = module.clone()
        op = [op for op in faulty.walk() if isinstance(op, zq.ReduceOp)][dropped]
        op.result.replace_all_uses_with(op.value)
        assert case.fails(faulty), f"dropping reduction {dropped} of {count} goes unnoticed"


@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
@pytest.mark.parametrize("name", [name for name in CASES if "verse" in name or "forward" in name])
def test_every_lift_is_needed(name: str, arithmetic: str) -> None:
    case = CASES[name](arithmetic)
    module = case.lowered()
    count = sum(isinstance(op, zq.SubOp) for op in module.walk())
    assert count > 0
    for lowered_by_one in range(count):
        faulty = module.clone()
        op = [op for op in faulty.walk() if isinstance(op, zq.SubOp)][lowered_by_one]
        op.properties["offset"] = IntegerAttr(op.offset.value.data - 1, i64)
        assert case.fails(faulty), f"difference {lowered_by_one} of {count} goes unnoticed"


@pytest.mark.parametrize("loose", [3, 4])
@pytest.mark.parametrize("name", ["accumulate", "nearest", "centred"])
def test_looser_partial_sums_are_found(
    name: str, loose: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = CASES[name]("mont64")
    monkeypatch.setattr("fhelium_ir.lowering.region_kernels.PARTIAL_SUM", loose)
    assert case.fails(case.lowered())


def polynomial_fails(text: str, pairs: list[tuple[Words, Words]]) -> bool:
    """Whether a module of the polynomial stage gives anything but the second of each pair for the first."""
    executable = linked(lowered(text))
    return any((run(executable, x)[0] != expected).any() for x, expected in pairs)


def round_trip() -> tuple[str, list[tuple[Words, Words]]]:
    """An inverse and a forward transform, which cancel; results are reduced from what a contract states."""
    primes = TOP["mont64"]
    facts = facts_of(8, primes[1:], primes[:1])
    type_ = poly(facts, f"q 0:{len(facts.q)}", "evaluation(?)")
    coefficients = poly(facts, f"q 0:{len(facts.q)}", "coefficient")
    body = f"%c = ntt.inverse %x0 : {type_}\n%r0 = ntt.forward %c : {coefficients}"
    inputs = [words[:1] for words in batches(facts.q, 1, 8, 3)]
    return function(facts, [type_], [type_], body), [(words, words) for words in inputs]


@pytest.mark.parametrize("constant", ["FORWARD", "INVERSE"])
def test_a_contract_that_promises_too_much_is_found(
    constant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, pairs = round_trip()
    assert not polynomial_fails(text, pairs)
    if constant == "INVERSE":
        text = inverse_only(text)
        pairs = [(words, inverse_of(words)) for words, _ in pairs]
        assert not polynomial_fails(text, pairs)
    below = 4 if constant == "FORWARD" else 2
    patched = Contract("bit_reversed", below, below // 2)
    monkeypatch.setattr(f"fhelium_ir.passes.select_ntt_schedules.{constant}", patched)
    assert polynomial_fails(text, pairs)


def inverse_only(text: str) -> str:
    """The round trip without its second half."""
    lines = text.split("\n")
    coefficients = lines[3].split(" : ")[1]
    type_ = lines[2].split(" : ")[1]
    text = "\n".join([*lines[:3], *lines[4:]]).replace("%c =", "%r0 =")
    head, tail = text.split("->", 1)
    return head + "->" + tail.replace(type_, coefficients, 1).replace(
        f"return %r0 : {type_}", f"return %r0 : {coefficients}"
    )


def inverse_of(words: Words) -> Words:
    from tests.unit.reference.textbook import interpolated

    primes = TOP["mont64"][1:]
    return np.array(
        [[interpolated(row, q) for row, q in zip(words[0].tolist(), primes, strict=True)]],
        dtype=object,
    )


def test_a_conversion_that_promises_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product with R^2 is not reduced: with `below = 1` claimed for it, words above q get out."""
    primes = TOP["mont64"]
    facts = facts_of(8, primes[1:], primes[:1])
    basis = f"q 0:{len(facts.q)}"
    type_ = poly(facts, basis, EVALUATION)
    raised = poly(facts, basis, EVALUATION, words="mont64(e = 1, below = ?)")
    body = (
        f"%m = rns.mul %x0, %x0 : {type_}\n"
        f"%r0 = rns.add %m, %x0 : {type_}"
    )
    text = function(facts, [type_], [type_], body)
    assert raised
    inputs = [words[:1] for words in batches(facts.q, 1, 8, 3)]
    moduli = np.array(facts.q, dtype=object)[None, :, None]
    pairs = [(words, (words * words + words) % moduli) for words in inputs]
    assert not polynomial_fails(text, pairs)
    monkeypatch.setattr("fhelium_ir.passes.track_montgomery.CONVERTED_BELOW", 1)
    assert polynomial_fails(text, pairs)
