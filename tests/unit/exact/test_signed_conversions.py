"""Base conversion and inner products on words of `smont32`, at the ends of their words, against exact integers."""

from __future__ import annotations

from itertools import islice
from math import prod

import numpy as np
import pytest
from xdsl.dialects import scf

from fhelium_ir.analysis.representatives import Words as WordLimits
from fhelium_ir.analysis.representatives import derived_below
from fhelium_ir.dialects import rns, zq
from fhelium_ir.parameters import Parameters
from tests.unit.exact.machine import (
    POLYNOMIAL,
    REGION,
    Words,
    facts_of,
    linked,
    lowered,
    poly,
    region,
)
from tests.unit.exact.signed import (
    BOUNDS,
    HALF,
    RADIX,
    capacity,
    largest_sum,
    outside,
    product,
    run,
    words,
)
from tests.unit.exact.test_base_conversion import (
    batched,
    conversion,
    digits_of,
    edges,
    in_rows,
    nearest,
    remainder,
)
from tests.unit.exact.test_base_conversion import centred as centred_sum
from tests.unit.exact.test_float_conversions import end_rows, integer
from tests.unit.reference.textbook import parsed, primes_below

DEGREE = 8
EVALUATION = "evaluation(bit_reversed)"
SIGNED = ("select-arithmetic{arithmetic=smont32}", *POLYNOMIAL[1:])

TOP = list(islice(primes_below((1 << 30) - 1, DEGREE), 24))
LOW = list(islice(primes_below(BOUNDS["28"], DEGREE), 24))
SMALL = list(islice(primes_below(1 << 20, DEGREE), 8))


def loops_reduce(text: str) -> bool:
    """Whether partial sums are reduced inside of a loop."""
    loops = [op for op in lowered(text, REGION).walk() if isinstance(op, scf.ForOp)]
    return any(isinstance(op, zq.ReduceOp) for loop in loops for op in loop.body.block.ops)


def conversion_region(facts: Parameters, source: str, target: str, kind: str) -> str:
    """A base conversion of centred words alone."""
    before = poly(facts, source, "coefficient", words=words(1))
    after = poly(facts, target, "coefficient", words=words(2))
    options = (
        'lift = "canonical", correction = "nearest"'
        if kind == "nearest"
        else 'lift = "centred", correction = "none"'
    )
    line = f"%v0 = rns.base_convert %a0 {{{options}}} : {before} -> {after}"
    return region(facts, "smont32", [before], [after], line)


@pytest.mark.parametrize("kind", ["centred", "nearest"])
@pytest.mark.parametrize("limbs", [1, 2, 3, 4, 7, 14, 16])
@pytest.mark.parametrize(("primes", "most"), [(TOP, 3), (LOW, 15)], ids=["30", "28"])
def test_limbs(primes: list[int], most: int, limbs: int, kind: str) -> None:
    """Every residue at its ends; sums of up to 3 and 15 terms stay unreduced."""
    p, q = primes[:limbs], [*primes[limbs : limbs + 2], 12289]
    facts = facts_of(DEGREE, q, p)
    text = conversion_region(facts, f"p 0:{limbs}", "q 0:3", kind)
    assert loops_reduce(text) == (limbs + (kind == "nearest") > most)
    module = lowered(text, REGION)
    for target in ("checked", "interpret", "cpu"):
        executable = linked(module, target)
        for row in end_rows(p)[:: 1 if target == "checked" else 2]:
            (found,) = run(executable, row)
            columns = zip(*row[0].tolist(), strict=True)
            numbers = [integer(kind, column, p) for column in columns]
            assert not outside(found, q, 2)
            for row_found, t in zip(found[0].tolist(), q, strict=True):
                assert [x % t for x in row_found] == [x % t for x in numbers]


@pytest.mark.parametrize("kind", ["centred", "nearest"])
def test_triton(kind: str) -> None:
    p, q = TOP[:4], TOP[4:6]
    text = conversion_region(facts_of(DEGREE, q, p), "p 0:4", "q 0:2", kind)
    module = lowered(text, REGION)
    executable, expected = linked(module, "triton-interpret"), linked(module)
    for row in end_rows(p)[::3]:
        assert (run(executable, row)[0] == run(expected, row)[0]).all()


CHAINS = {
    "mixed": [17, TOP[1], 97, SMALL[0], TOP[2]],
    "top": [TOP[3], *TOP[5:9]],
    "tiny": [17, 97, 113, 193, 241],
}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chain", CHAINS)
def test_centred_digits(chain: str, size: int) -> None:
    """From canonical integers to canonical integers, digits of unequal lengths among them."""
    limbs = 5
    q, p = CHAINS[chain], [257, *TOP[10:14]]
    facts = Parameters(DEGREE, tuple(q), tuple(p), -(-limbs // size), 20, insecure=True)
    text = conversion(facts, f"q 0:{limbs}", f"q 0:{limbs} p 0:{len(p)}", False, size)
    module = lowered(text, SIGNED)
    groups = digits_of(limbs, size)
    executables = linked(module, "checked"), linked(module)
    for row in batched(edges(prod(q))):
        rows = [row] * limbs
        expected: list[list[int]] = []
        for digit, group in enumerate(groups):
            primes = [q[i] for i in group]
            numbers = [remainder([rows[i][k] for i in group], primes) for k in range(DEGREE)]
            others = [q[i] for i in range(limbs) if i // size != digit] + p
            expected += [[centred_sum(x, primes) % t for x in numbers] for t in others]
        for executable in executables:
            (found,) = run(executable, in_rows(rows, q))
            assert found.tolist() == [expected]


NEAREST: dict[str, tuple[list[int], list[int]]] = {
    "one tiny": ([97, 193, 257], [17]),
    "one of 20 bits": (SMALL[:3], SMALL[3:4]),
    "one of 30 bits": ([17, *TOP[1:3]], TOP[:1]),
    "tiny and 30 bits": ([97, *TOP[1:4]], [17, TOP[0]]),
    "four of mixed sizes": ([12289, TOP[1]], [17, 97, SMALL[0], TOP[0]]),
    "four of 30 bits": ([17, TOP[5]], TOP[:4]),
}


@pytest.mark.parametrize("name", NEAREST)
def test_nearest(name: str) -> None:
    """From canonical integers, where the nearest multiple changes."""
    q, p = NEAREST[name]
    if prod(p) >= max(q):
        facts, source, target = facts_of(DEGREE, q, p), f"p 0:{len(p)}", f"q 0:{len(q)}"
    else:
        facts = facts_of(DEGREE, [*q, *p], TOP[10:12])
        source, target = f"q {len(q)}:{len(q) + len(p)}", f"q 0:{len(q)}"
    module = lowered(conversion(facts, source, target, nearest=True), SIGNED)
    for row in batched(edges(prod(p))):
        for where in ("checked", "interpret", "cpu"):
            (found,) = run(linked(module, where), in_rows([row] * len(p), p))
            assert found.tolist() == [[[nearest(x, p) % t for x in row] for t in q]]


def accumulation(
    primes: list[int], limbs: int, own_below: int, below: int
) -> tuple[Parameters, str]:
    """An inner product over digits of one limb, with words of these intervals."""
    q, p = primes[1 : 1 + limbs], primes[:1]
    facts = facts_of(DEGREE, q, p)
    both = f"q 0:{limbs} p 0:1"
    own = poly(facts, f"q 0:{limbs}", EVALUATION, words=words(own_below))
    converted = poly(facts, both, EVALUATION, digits="complement(1)", words=words(below))
    key = poly(facts, both, EVALUATION, 2, digits="key(1)", words=words(1, 1))
    result = poly(facts, both, EVALUATION, 2, words=words(2))
    body = f"%v0 = rns.accumulate %a0, %a1, %a2 : {own}, {converted}, {key} -> {result}"
    return facts, region(facts, "smont32", [own, converted, key], [result], body, "4, 2, 1")


def accumulate_inputs(
    facts: Parameters, own_below: int, below: int
) -> list[tuple[Words, Words, Words]]:
    """All words at their ends; keys such that products have one sign, or alternate."""
    q, order, limbs = facts.q, [*facts.q, *facts.p], len(facts.q)
    rows = [order[row] for digit in range(limbs) for row in range(limbs + 1) if row != digit]
    found: list[tuple[Words, Words, Words]] = []
    for shift in range(6):
        signs = [1, -1, 1, 1, -1, -1, 1, -1] if shift % 2 else [1] * 8
        x = [[s * ((own_below * d - 1) // 2 - k * shift) for k, s in enumerate(signs)] for d in q]
        y = [
            [s * ((below * d - 1) // 2 - 3 * k * shift) for k, s in enumerate(signs)] for d in rows
        ]
        z = [
            [
                [
                    [s * (d // 2 - (k + c) * shift * (d // 64)) for k, s in enumerate(signs)]
                    for d in order
                ]
                for c in range(2)
            ]
            for _ in range(limbs)
        ]
        own, converted, key = (np.array(part, dtype=object) for part in ([x], [y], z))
        found.append((own, converted, key))
    return found


def accumulated(facts: Parameters, x: Words, y: Words, z: Words) -> Words:
    """sum_j d_j key_j / R, canonical: [2, primes, N]."""
    order, limbs = [*facts.q, *facts.p], len(facts.q)
    rows = [(digit, row) for digit in range(limbs) for row in range(limbs + 1) if row != digit]
    out: Words = np.zeros((2, len(order), DEGREE), dtype=object)
    for i, prime in enumerate(order):
        for digit in range(limbs):
            factor = x[0, i] if i == digit else y[0, rows.index((digit, i))]
            out[:, i] += factor * z[digit, :, i]
        out[:, i] = out[:, i] * pow(RADIX, -1, prime) % prime
    return out


@pytest.mark.parametrize("digits", [2, 3, 4, 10, 12])
@pytest.mark.parametrize(("primes", "most"), [(TOP, 2), (LOW, 10)], ids=["30", "28"])
def test_inner_products(primes: list[int], most: int, digits: int) -> None:
    """Full words: products are below 3/4 q, and so many of them fit 2 q and 8 q."""
    below = min(16, capacity(primes[0]))
    facts, text = accumulation(primes, digits, below, below)
    assert loops_reduce(text) == (digits > most)
    module = lowered(text, REGION)
    for target in ("checked", "interpret", "cpu"):
        executable = linked(module, target)
        for x, y, z in accumulate_inputs(facts, below, below):
            (found,) = run(executable, x, y, z)
            assert not outside(found, [*facts.q, *facts.p], 2)
            for i, prime in enumerate((*facts.q, *facts.p)):
                assert (found[:, i] % prime == accumulated(facts, x, y, z)[:, i]).all()


def driven_key(word: int, q: int, sign: int) -> int:
    """A centred key whose product with a word is as large as it gets, with this sign."""
    tries = range(q // 2 - 4000, q // 2 + 1)
    keys = [sign * key if word > 0 else -sign * key for key in tries]
    return max(keys, key=lambda key: sign * product(word, key, q))


@pytest.mark.parametrize(("primes", "most"), [(TOP, 2), (LOW, 10)], ids=["30", "28"])
def test_driven_sums(primes: list[int], most: int) -> None:
    """Sums of the most terms that stay unreduced come near the end of the word."""
    below = min(16, capacity(primes[0]))
    facts, text = accumulation(primes, most, below, below)
    executable = linked(lowered(text, REGION), "checked")
    q = facts.q[0]
    for sign in (1, -1):
        x, y, z = accumulate_inputs(facts, below, below)[0]
        for digit in range(most):
            word = int(x[0, 0, 0]) if digit == 0 else int(y[0, digit * most, 0])
            z[digit, :, 0] = driven_key(word, q, sign)
        with largest_sum() as largest:
            (found,) = run(executable, x, y, z)
        assert (found[:, 0] % q == accumulated(facts, x, y, z)[:, 0]).all()
        assert 0.99 * most * 0.74 * q < largest.word < HALF


def test_wide_own_words_count() -> None:
    """Three centred terms stay unreduced, but not with a full word among them."""
    for own_below, reduced in ((1, False), (4, True)):
        facts, text = accumulation(TOP, 3, own_below, 1)
        assert loops_reduce(text) == reduced
        executable = linked(lowered(text, REGION), "checked")
        for x, y, z in accumulate_inputs(facts, own_below, 1):
            (found,) = run(executable, x, y, z)
            assert (found[:, 0] % facts.q[0] == accumulated(facts, x, y, z)[:, 0]).all()


def test_sums_of_small_primes_are_no_wider() -> None:
    """Primes of 20 bits: sums end at 8 q, as those of 28 bits do."""
    facts, text = accumulation(SMALL, 7, 16, 16)
    assert not loops_reduce(text)
    executable = linked(lowered(text, REGION), "checked")
    for x, y, z in accumulate_inputs(facts, 16, 16):
        (found,) = run(executable, x, y, z)
        assert (found[:, 0] % facts.q[0] == accumulated(facts, x, y, z)[:, 0]).all()


def test_a_key_has_to_be_centred() -> None:
    facts, text = accumulation(TOP, 2, 4, 4)
    (op,) = (op for op in parsed(text).walk() if isinstance(op, rns.AccumulateOp))
    limits = WordLimits(zq.ARITHMETICS["smont32"], facts)
    assert derived_below(op, [4, 4, 1], limits) == 2
    assert derived_below(op, [4, 4, 2], limits) == 1 << 53
