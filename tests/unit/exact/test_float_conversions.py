"""Base conversion and inner products on words of `fp64`, at the ends of their words, against exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import prod

import numpy as np
import pytest
from xdsl.dialects import scf

from fhelium_ir.analysis.representatives import Words as WordLimits
from fhelium_ir.analysis.representatives import derived_below
from fhelium_ir.dialects import rns, zq
from fhelium_ir.parameters import Parameters
from tests.unit.exact.floats import (
    ROUGH,
    capacity,
    centred,
    driven_factors,
    largest_sum,
    product,
    run,
    words,
)
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
from tests.unit.reference.textbook import parsed, primes_below

DEGREE = 8
EVALUATION = "evaluation(bit_reversed)"
FLOATS = ("select-arithmetic{arithmetic=fp64}", *POLYNOMIAL[1:])

TOP = list(islice(primes_below((1 << 50) - 1, DEGREE), 20))
AT_49 = list(islice(primes_below((1 << 49) - 1, DEGREE), 20))
LEVELS = list(islice(primes_below(int(2**49.68), DEGREE), 20))
SMALL = list(islice(primes_below(1 << 20, DEGREE), 20))


def loops_reduce(text: str) -> bool:
    """Whether partial sums are reduced inside of a loop."""
    loops = [op for op in lowered(text, REGION).walk() if isinstance(op, scf.ForOp)]
    return any(isinstance(op, zq.ReduceOp) for loop in loops for op in loop.body.block.ops)


def conversion_region(facts: Parameters, source: str, target: str, kind: str, size: int = 0) -> str:
    """A base conversion of centred words alone."""
    own, complement = (f"own({size})", f"complement({size})") if size else ("", "")
    flat = poly(facts, source, "coefficient", words=words(1))
    before = poly(facts, source, "coefficient", digits=own, words=words(1))
    after = poly(facts, target, "coefficient", digits=complement, words=words(1))
    options = (
        'lift = "canonical", correction = "nearest"'
        if kind == "nearest"
        else 'lift = "centred", correction = "none"'
    )
    lines = [f"%d = rns.digits %a0 {{size = {size}}} : {flat}"] if size else []
    operand = "%d" if size else "%a0"
    lines.append(f"%v0 = rns.base_convert {operand} {{{options}}} : {before} -> {after}")
    return region(facts, "fp64", [flat], [after], "\n".join(lines))


def end_rows(primes: Sequence[int]) -> list[Words]:
    """Centred words, all at their ends: of one sign, of alternating signs, zeros, and next to the middle."""
    rows: list[Words] = []
    for shift in range(6):
        columns = [
            [
                [half, -half, half - 1, 1 - half, 0, 1, -1, half // 2][(k + i * shift) % 8]
                for k in range(DEGREE)
            ]
            for i, half in enumerate(d // 2 for d in primes)
        ]
        rows.append(np.array([columns], dtype=object))
    return rows


def driven_residues(primes: Sequence[int], t: int, total: int) -> list[int]:
    """Centred words whose products with the coefficients of a conversion to t, smaller than all primes, have this sum
    when they are reduced.
    """
    coefficients = [centred(prod(primes) // d, t) for d in primes]
    return driven_factors(coefficients, t, total, lambda w, x: product(x, w, t))


def integer(kind: str, column: Sequence[int], primes: Sequence[int]) -> int:
    """What a conversion takes centred words for."""
    total = sum(v * (prod(primes) // d) for v, d in zip(column, primes, strict=True))
    if kind == "centred":
        return total
    return nearest(total % prod(primes), primes)


@pytest.mark.parametrize("kind", ["centred", "nearest"])
@pytest.mark.parametrize("limbs", range(1, 10))
@pytest.mark.parametrize("primes", [TOP, LEVELS], ids=["50", "49.68"])
def test_one_to_nine_limbs(primes: list[int], limbs: int, kind: str) -> None:
    """Every residue at its ends; sums of up to seven and nine terms stay unreduced."""
    p, q = primes[:limbs], [*primes[limbs : limbs + 2], 12289]
    facts = facts_of(DEGREE, q, p)
    text = conversion_region(facts, f"p 0:{limbs}", "q 0:3", kind)
    terms = limbs + (kind == "nearest")
    assert loops_reduce(text) == (terms > (7 if primes is TOP else 9))
    module = lowered(text, REGION)
    for target in ("checked", "interpret"):
        executable = linked(module, target)
        for row in end_rows(p):
            (found,) = run(executable, row)
            columns = zip(*row[0].tolist(), strict=True)
            numbers = [integer(kind, column, p) for column in columns]
            assert found.tolist() == [[[centred(x, t) for x in numbers] for t in q]]


@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
@pytest.mark.parametrize("kind", ["centred", "nearest"])
@pytest.mark.parametrize("limbs", [6, 8])
def test_other_targets(limbs: int, kind: str, target: str) -> None:
    p, q = TOP[:limbs], TOP[limbs : limbs + 2]
    facts = facts_of(DEGREE, q, p)
    module = lowered(conversion_region(facts, f"p 0:{limbs}", "q 0:2", kind), REGION)
    executable, expected = linked(module, target), linked(module)
    for row in end_rows(p)[:: 1 if target == "cpu" else 3]:
        assert (run(executable, row)[0] == run(expected, row)[0]).all()


CHAINS = {
    "mixed": [17, TOP[1], 97, SMALL[0], TOP[2]],
    "top": [TOP[3], *TOP[5:9]],
    "tiny": [17, 97, 113, 193, 241],
}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("limbs", [2, 3, 5])
def test_centred_digits(chain: str, size: int, limbs: int) -> None:
    """From canonical integers to canonical integers, digits of unequal lengths among them."""
    q, p = CHAINS[chain][:limbs], [257, *TOP[10:14]]
    facts = Parameters(DEGREE, tuple(q), tuple(p), -(-limbs // size), 20, insecure=True)
    text = conversion(facts, f"q 0:{limbs}", f"q 0:{limbs} p 0:{len(p)}", False, size)
    module = lowered(text, FLOATS)
    groups = digits_of(limbs, size)
    own = [batched(edges(prod(q[i] for i in group))) for group in groups]
    inputs = [[row] * limbs for row in batched(edges(prod(q)))]
    inputs += [
        [own[i // size][k % len(own[i // size])] for i in range(limbs)] for k in range(len(own[0]))
    ]
    executables = linked(module, "checked"), linked(module)
    for rows in inputs:
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
    "one of 50 bits": ([17, *TOP[1:3]], TOP[:1]),
    "tiny and 50 bits": ([97, *TOP[1:4]], [17, TOP[0]]),
    "four of mixed sizes": ([12289, TOP[1]], [17, 97, SMALL[0], TOP[0]]),
    "four of 50 bits": ([17, TOP[5]], TOP[:4]),
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
    module = lowered(conversion(facts, source, target, nearest=True), FLOATS)
    for row in batched(edges(prod(p))):
        for where in ("checked", "interpret"):
            (found,) = run(linked(module, where), in_rows([row] * len(p), p))
            assert found.tolist() == [[[nearest(x, p) % t for x in row] for t in q]]


def test_nearest_of_digits_of_unequal_lengths() -> None:
    """The last digit is shorter, and its last limb is read again with a factor of 0."""
    q, p = TOP[3:8], TOP[:1]
    facts = Parameters(DEGREE, tuple(q), tuple(TOP[:3]), 2, 20, insecure=True)
    module = lowered(conversion_region(facts, "q 0:5", "q 0:5 p 0:1", "nearest", 3), REGION)
    for target in ("checked", "interpret"):
        executable = linked(module, target)
        for row in end_rows(q):
            (found,) = run(executable, row)
            expected: list[list[int]] = []
            for group in ([0, 1, 2], [3, 4]):
                primes = [q[i] for i in group]
                columns = zip(*(row[0, i].tolist() for i in group), strict=True)
                numbers = [integer("nearest", column, primes) for column in columns]
                others = [*(q[i] for i in range(5) if i not in group), *p]
                expected += [[centred(x, t) for x in numbers] for t in others]
            assert found.tolist() == [expected]


def accumulation(
    primes: list[int], limbs: int, own_below: int, below: int
) -> tuple[Parameters, str]:
    """An inner product over digits of one limb, with words of these intervals."""
    q, p = primes[1 : 1 + limbs], primes[:1]
    facts = facts_of(DEGREE, q, p)
    both = f"q 0:{limbs} p 0:1"
    own = poly(facts, f"q 0:{limbs}", EVALUATION, words=words(own_below))
    converted = poly(facts, both, EVALUATION, digits="complement(1)", words=words(below))
    key = poly(facts, both, EVALUATION, 2, digits="key(1)", words=words(1))
    result = poly(facts, both, EVALUATION, 2, words=words(1))
    body = f"%v0 = rns.accumulate %a0, %a1, %a2 : {own}, {converted}, {key} -> {result}"
    return facts, region(facts, "fp64", [own, converted, key], [result], body, "4, 2, 1")


def accumulate_inputs(
    facts: Parameters, own_below: int, below: int
) -> list[tuple[Words, Words, Words]]:
    """All words at their ends; keys such that products have one sign, or alternate."""
    q, order, limbs = facts.q, [*facts.q, *facts.p], len(facts.q)
    rows = [order[row] for digit in range(limbs) for row in range(limbs + 1) if row != digit]
    found: list[tuple[Words, Words, Words]] = []
    for shift in range(8):
        signs = [1, -1, 1, 1, -1, -1, 1, -1] if shift % 2 else [1] * 8
        x = [[s * (own_below * d // 2 - k * shift) for k, s in enumerate(signs)] for d in q]
        y = [[s * (below * d // 2 - 3 * k * shift) for k, s in enumerate(signs)] for d in rows]
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


def driven_accumulation(facts: Parameters, below: int, total: int) -> tuple[Words, Words, Words]:
    """Full words and keys whose reduced products modulo q_0 have this sum."""
    x, y, z = accumulate_inputs(facts, below, below)[0]
    q, limbs = facts.q[0], len(facts.q)
    # Multiples of q would have no inverse.
    full = [below * q // 2 - 3 - digit for digit in range(limbs)]
    keys = driven_factors(full, q, total, lambda word, key: product(word, key, q))
    for digit, word in enumerate(full):
        if digit == 0:
            x[0, 0] = word
        else:
            # Row 0 of a later digit's complement.
            y[0, digit * limbs] = word
        z[digit, :, 0] = keys[digit]
    return x, y, z


def accumulated(facts: Parameters, x: Words, y: Words, z: Words) -> Words:
    """sum_j d_j key_j, centred: [2, primes, N]."""
    order, limbs = [*facts.q, *facts.p], len(facts.q)
    rows = [(digit, row) for digit in range(limbs) for row in range(limbs + 1) if row != digit]
    out: Words = np.zeros((2, len(order), DEGREE), dtype=object)
    for i, prime in enumerate(order):
        for digit in range(limbs):
            factor = x[0, i] if i == digit else y[0, rows.index((digit, i))]
            out[:, i] += factor * z[digit, :, i]
        out[:, i] %= prime
        out[:, i] -= np.where(2 * out[:, i] > prime, prime, 0)
    return out


@pytest.mark.parametrize("digits", [2, 4, 5, 6, 9, 12])
@pytest.mark.parametrize(("primes", "most"), [(TOP, 4), (LEVELS, 5), (AT_49, 9)])
def test_inner_products(primes: list[int], most: int, digits: int) -> None:
    below = capacity(primes[0])
    facts, text = accumulation(primes, digits, below, below)
    assert loops_reduce(text) == (digits > most)
    module = lowered(text, REGION)
    for target in ("checked", "interpret"):
        executable = linked(module, target)
        for x, y, z in accumulate_inputs(facts, below, below):
            (found,) = run(executable, x, y, z)
            assert (found == accumulated(facts, x, y, z)).all()


DRIVEN = {
    "50": ([TOP[0], ROUGH[1], *TOP[1:]], ROUGH[1], TOP[1:8], 4),
    "49.68": (LEVELS, LEVELS[19], LEVELS[:9], 5),
}


@pytest.mark.parametrize("size", DRIVEN)
def test_driven_sums(size: str) -> None:
    """Sums of the most terms that stay unreduced, near their bounds, and next to odd multiples of q/2."""
    primes, t, sources, digits = DRIVEN[size]
    terms, below = len(sources), capacity(primes[0])
    for sign in (1, -1):
        for total in (2 * t + t // 2, 2 * t + t // 2 + 1, int(0.46 * (terms - 1) * t)):
            facts = facts_of(DEGREE, [t], sources)
            module = lowered(conversion_region(facts, f"p 0:{terms}", "q 0:1", "centred"), REGION)
            residues = driven_residues(sources, t, sign * total)
            row = np.array([[[x] * DEGREE for x in residues]], dtype=object)
            for target in ("checked", "interpret"):
                with largest_sum() as largest:
                    (found,) = run(linked(module, target), row)
                assert found.tolist() == [[[centred(sign * total, t)] * DEGREE]]
                if target == "checked":
                    assert 0.99 * total < largest.word < 1.2 * total
    for total in (2.5, 0.6 * (digits - 1)):
        for move in (0, 1):
            facts, text = accumulation(primes, digits, below, below)
            q = facts.q[0]
            x, y, z = driven_accumulation(facts, below, int(total * 2) * q // 2 + move)
            for target in ("checked", "interpret"):
                (found,) = run(linked(lowered(text, REGION), target), x, y, z)
                assert (found == accumulated(facts, x, y, z)).all()


def test_wide_own_words_count() -> None:
    """Seven centred terms stay unreduced, but not with a full word among them."""
    below = capacity(TOP[0])
    for own_below, reduced in ((1, False), (below, True)):
        facts, text = accumulation(TOP, 7, own_below, 1)
        assert loops_reduce(text) == reduced
        executable = linked(lowered(text, REGION), "checked")
        for x, y, z in accumulate_inputs(facts, own_below, 1):
            assert (run(executable, x, y, z)[0] == accumulated(facts, x, y, z)).all()


def test_sums_of_small_primes_are_long() -> None:
    """Twelve digits of full words modulo primes of 20 bits: far more than 8 q/2, far less than 2^52."""
    facts, text = accumulation(SMALL, 12, 9, 9)
    assert not loops_reduce(text)
    executable = linked(lowered(text, REGION), "checked")
    for x, y, z in accumulate_inputs(facts, 9, 9):
        assert (run(executable, x, y, z)[0] == accumulated(facts, x, y, z)).all()


def test_a_key_has_to_be_centred() -> None:
    """Canonical words of a key are too wide for an inner product of full words."""
    facts, text = accumulation(TOP, 2, 8, 8)
    (op,) = (op for op in parsed(text).walk() if isinstance(op, rns.AccumulateOp))
    limits = WordLimits(zq.ARITHMETICS["fp64"], facts)
    assert derived_below(op, [8, 8, 1], limits) == 1
    assert derived_below(op, [8, 8, 2], limits) == 1 << 53
