"""Faults planted into compiled kernels and into the compiler's constants: extreme inputs have to find each of them.

The bounds that are fixed in the code are those of butterflies, of partial sums and of conversions. Every reduction
that they ask for is taken away once, and every one of these constants is loosened. Differences that lift by too little
are planted in `test_butterflies`, where constants can be chosen, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.dialects import zq
from fhelium_ir.dialects.ntt import Contract, Schedule
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.butterflies import Bounds, LazyButterflies, Values
from tests.unit.exact.machine import (
    REGION,
    Words,
    batches,
    end_words,
    facts_of,
    function,
    linked,
    lowered,
    poly,
    region,
    run,
)
from tests.unit.exact.test_base_conversion import centred, nearest
from tests.unit.exact.test_transforms import check, transform_text
from tests.unit.reference.textbook import interpolated, primes_below

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
    return any(max(row) >= below * q for part in found for q, row in zip(primes, part, strict=True))


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
    key = poly(facts, both, EVALUATION, 2, digits="key(1)", words=f"{arithmetic}(e = 1, below = 1)")
    result = poly(facts, both, EVALUATION, 2, words=f"{arithmetic}(e = 0, below = 2)")
    body = f"%v0 = rns.accumulate %a0, %a1, %a2 : {own}, {converted}, {key} -> {result}"
    text = region(facts, arithmetic, [own, converted, key], [result], body, "4, 2, 1")
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
        facts = facts_of(8, primes[3:8], primes[:3], digits=2)
        before = poly(facts, "q 0:5", "coefficient", digits="own(3)", words=words)
        after = poly(facts, "q 0:5 p 0:3", "coefficient", digits="complement(3)", words=after_words)
        options = 'lift = "centred", correction = "none"'
        q, p = list(facts.q), list(facts.p)
        source, groups = q, [(q[:3], [*q[3:], *p]), (q[3:], [*q[:3], *p])]
    if kind == "nearest":
        body = f"%v0 = rns.base_convert %a0 {{{options}}} : {before} -> {after}"
        text = region(facts, arithmetic, [before], [after], body, "2, 4, 1")
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
                [
                    [
                        [some[(k * (i + shift) + shift) % 6] for k in range(8)]
                        for i, some in enumerate(choices)
                    ]
                ],
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
            columns = zip(*rows[first : first + len(own)], strict=True)
            integers = [
                sum(v * (prod(own) // d) for v, d in zip(column, own, strict=True)) % prod(own)
                for column in columns
            ]
            lift = nearest if kind == "nearest" else centred
            for t in others:
                expected = [lift(x, own) % t for x in integers]
                if [word % t for word in after[0, number].tolist()] != expected:
                    return True
                targets.append(t)
                number += 1
        return outside(after, targets, 2)

    return Case(text, inputs, wrong)


def representative_case(arithmetic: str, change: int) -> Case:
    """From the whole word to a reduced one, at another exponent or at the same.

    R^2 is nearly q here, so that a product with it leaves words far above q.
    """
    radix = ARITHMETICS[arithmetic].radix
    candidates = primes_below(9 * radix // 40, 8)
    q = next(q for q in candidates if radix * radix % q > q - q // 8)
    facts, most, rng = facts_of(8, [q], [TOP[arithmetic][0]]), radix // q, random.Random(1)
    before, after = (
        poly(facts, "q 0:1", EVALUATION, words=f"{arithmetic}(e = {e}, below = {below})")
        for e, below in ((1, most), (1 + change, 1))
    )
    body = f"%v0 = rns.set_representative %a0 : {before} -> {after}"
    text = region(facts, arithmetic, [before], [after], body)
    rows = [end_words(q, most)[-8:], end_words(q, most)[:8]]
    rows += [[rng.randrange(most * q) for _ in range(8)] for _ in range(20)]
    factor = pow(radix, change, q)

    def wrong(before: list[Words], after: Words) -> bool:
        return (after != before[0] * factor % q).any()

    return Case(text, [[np.array([[row]], dtype=object)] for row in rows], wrong)


CASES: dict[str, Callable[[str], Case]] = {
    "forward": lambda arithmetic: transform_case(arithmetic, "forward", ((3,),)),
    "forward in two": lambda arithmetic: transform_case(arithmetic, "forward", ((1, 1), (1,))),
    "inverse": lambda arithmetic: transform_case(arithmetic, "inverse", ((3,),)),
    "inverse in two": lambda arithmetic: transform_case(arithmetic, "inverse", ((1,), (1, 1))),
    "accumulate": accumulate_case,
    "nearest": lambda arithmetic: conversion_case(arithmetic, "nearest"),
    "centred": lambda arithmetic: conversion_case(arithmetic, "centred"),
    "raise": lambda arithmetic: representative_case(arithmetic, 1),
    "lower": lambda arithmetic: representative_case(arithmetic, -1),
    "reduce": lambda arithmetic: representative_case(arithmetic, 0),
}


@pytest.mark.parametrize(
    ("name", "arithmetic"),
    [
        *((name, "mont64") for name in CASES),
        *((name, "mont32") for name in CASES if name not in ("forward", "inverse")),
    ],
)
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


def transforms(*directions: str) -> tuple[str, list[tuple[Words, Words]]]:
    """An inverse transform alone, or followed by the forward one; what reduces a result is the contract."""
    primes = TOP["mont64"]
    facts = facts_of(8, primes[1:], primes[:1])
    basis, value, lines = f"q 0:{len(facts.q)}", "%x0", list[str]()
    domains = {"inverse": "evaluation(?)", "forward": "coefficient"}
    for number, direction in enumerate(directions):
        result = "%r0" if number == len(directions) - 1 else f"%s{number}"
        lines.append(
            f"{result} = ntt.{direction} {value} : {poly(facts, basis, domains[direction])}"
        )
        value = result
    last = "evaluation(?)" if directions[-1] == "forward" else "coefficient"
    text = function(
        facts,
        [poly(facts, basis, domains[directions[0]])],
        [poly(facts, basis, last)],
        "\n".join(lines),
    )
    pairs: list[tuple[Words, Words]] = []
    for words in batches(facts.q, 1, 8, 1):
        rows = zip(words[0].tolist(), facts.q, strict=True)
        inverse = np.array([[interpolated(row, q) for row, q in rows]], dtype=object)
        pairs.append((words, inverse if last == "coefficient" else words))
    return text, pairs


@pytest.mark.parametrize(
    ("constant", "directions"), [("FORWARD", ("inverse", "forward")), ("INVERSE", ("inverse",))]
)
def test_a_contract_that_is_not_kept_is_found(
    constant: str, directions: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    text, pairs = transforms(*directions)
    assert not polynomial_fails(text, pairs)
    below = 4 if constant == "FORWARD" else 2
    patched = Contract("bit_reversed", below, below // 2)
    monkeypatch.setattr(f"fhelium_ir.passes.select_ntt_schedules.{constant}", patched)
    # The last kernel reduces to what the contract promises.
    assert not polynomial_fails(text, pairs)

    def keep_bounds(butterflies: LazyButterflies, values: Values, bounds: Bounds, to: int) -> None:
        del butterflies, values, bounds, to

    monkeypatch.setattr(LazyButterflies, "finish", keep_bounds)
    assert polynomial_fails(text, pairs)
