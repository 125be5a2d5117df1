"""Base conversion between groups of primes with different arithmetics, at the ends of words, against exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from math import prod

import numpy as np
import pytest
from xdsl.dialects import scf

from fhelium_ir.dialects import zq
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.kernel_memory import KernelFault
from tests.planted_faults.planting import Fault, planted
from tests.unit.exact.machine import (
    POLYNOMIAL,
    REGION,
    facts_of,
    linked,
    lowered,
    poly,
    region,
    run,
)
from tests.unit.exact.test_base_conversion import (
    batched,
    centred,
    conversion,
    digits_of,
    edges,
    in_rows,
    nearest,
    remainder,
)
from tests.unit.reference.textbook import primes_below

DEGREE = 8
MIXED = ("select-arithmetic{arithmetic=mixed64}", *POLYNOMIAL[1:])
WORDS = "mont64(e = 0, below = 1) fp64(e = 0, below = 1)"

WIDE = list(islice(primes_below(1 << 62, DEGREE), 8))
LEAST_WIDE = min(q for q in islice(primes_below((1 << 50) + 4096, DEGREE), 20) if q > 1 << 50)
TOP = list(islice(primes_below((1 << 50) - 1, DEGREE), 12))

CHAINS = {
    "wide first": [WIDE[0], TOP[0], TOP[1], 97, TOP[2]],
    "by turns": [97, WIDE[1], TOP[3], WIDE[2], 17],
    "wide last": [TOP[4], 113, TOP[5], WIDE[3], WIDE[4]],
}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chain", CHAINS)
def test_centred_digits(chain: str, size: int) -> None:
    """Digits of one or both groups, of unequal lengths, from canonical integers to canonical integers."""
    q, p, limbs = CHAINS[chain], [WIDE[5], TOP[6], WIDE[6], 257], 5
    facts = Parameters(DEGREE, tuple(q), tuple(p), -(-limbs // size), 20, insecure=True)
    text = conversion(facts, f"q 0:{limbs}", f"q 0:{limbs} p 0:{len(p)}", False, size)
    module = lowered(text, MIXED)
    groups = digits_of(limbs, size)
    own = [batched(edges(prod(q[i] for i in group))) for group in groups]
    inputs = [[own[i // size][k % len(own[i // size])] for i in range(limbs)] for k in range(8)]
    executables = linked(module, "checked"), linked(module)
    for rows in inputs:
        expected: list[list[int]] = []
        for digit, group in enumerate(groups):
            primes = [q[i] for i in group]
            numbers = [remainder([rows[i][k] for i in group], primes) for k in range(DEGREE)]
            others = [q[i] for i in range(limbs) if i // size != digit] + p
            expected += [[centred(x, primes) % t for x in numbers] for t in others]
        for executable in executables:
            (found,) = run(executable, in_rows(rows, q))
            assert found.tolist() == [expected]


NEAREST: dict[str, list[int]] = {
    "one wide": [WIDE[0]],
    "one narrow": [TOP[0]],
    "the least wide": [LEAST_WIDE],
    "narrow and wide": [TOP[1], WIDE[1]],
    "by turns": [WIDE[2], 97, WIDE[3], TOP[2]],
    "four wide": WIDE[:4],
}


@pytest.mark.parametrize("name", NEAREST)
def test_nearest(name: str) -> None:
    """From canonical integers, where the nearest multiple changes, to primes of both groups."""
    p, q = NEAREST[name], [17, WIDE[7], TOP[7], 12289]
    facts = facts_of(DEGREE, [*q, *p], [WIDE[4], WIDE[5]])
    module = lowered(conversion(facts, f"q 4:{4 + len(p)}", "q 0:4", nearest=True), MIXED)
    executables = linked(module, "checked"), linked(module)
    for row in batched(edges(prod(p))):
        for executable in executables:
            (found,) = run(executable, in_rows([row] * len(p), p))
            assert found.tolist() == [[[nearest(x, p) % t for x in row] for t in q]]


def threshold(d: int) -> int:
    """The smallest residue that rounds up."""
    low, high = 0, d - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if nearest(middle, [d]) != middle else (middle + 1, high)
    return low


@pytest.mark.parametrize("d", [WIDE[0], LEAST_WIDE, TOP[0]])
def test_where_one_limb_rounds_up(d: int) -> None:
    q = [WIDE[7], TOP[7]]
    facts = facts_of(DEGREE, [*q, d], [WIDE[4], WIDE[5]])
    module = lowered(conversion(facts, "q 2:3", "q 0:2", nearest=True), MIXED)
    first = threshold(d)
    row = [first + k for k in (-2, -1, 0, 1, 2, -3, 3, -4)]
    (found,) = run(linked(module, "checked"), in_rows([row], [d]))
    assert found.tolist() == [[[nearest(x, [d]) % t for x in row] for t in q]]


def words(residue: int, q: int) -> int:
    """The bits of a reduced word of the arithmetic that q has."""
    if not zq.group_of(q).floating:
        return residue
    word = residue - q if 2 * residue > q else residue
    return int(np.array(word, dtype=np.float64).view(np.uint64))


def end_columns(primes: Sequence[int]) -> list[list[int]]:
    """Residues next to 0, to the middle and to the prime, in all of them or by turns."""
    found: list[list[int]] = []
    for shift in (0, 1, 3):
        for k in range(DEGREE):
            ends = [[0, 1, q // 2, q // 2 + 1, q - 1, q - 2, q // 3, q - q // 3] for q in primes]
            found.append([end[(k + shift * i) % 8] for i, end in enumerate(ends)])
    return found


@pytest.mark.parametrize(
    ("sources", "reduced"),
    [
        ([*WIDE[:3], TOP[0]], False),  # two products for a wide limb, one for a narrow one: seven
        (WIDE[:4], True),
        ([*WIDE[:2], *TOP[:3]], False),
        ([*WIDE[:2], *TOP[:4]], True),
    ],
)
def test_how_many_terms_stay_unreduced(sources: list[int], reduced: bool) -> None:
    """The limit of primes below 2^50 is that of doubles alone, and no sum leaves its words."""
    q = [TOP[5], TOP[6]]
    facts = facts_of(DEGREE, q, sources)
    before = poly(facts, f"p 0:{len(sources)}", "coefficient", words=WORDS)
    after = poly(facts, "q 0:2", "coefficient", words=WORDS)
    body = f'%v0 = rns.base_convert %a0 {{lift = "centred", correction = "none"}} : {before} -> {after}'
    module = lowered(region(facts, "mixed64", [before], [after], body), REGION)
    loops = [op for op in module.walk() if isinstance(op, scf.ForOp)]
    assert reduced == any(
        isinstance(op, zq.ReduceOp) for loop in loops for op in loop.body.block.ops
    )
    columns = end_columns(sources)
    executable = linked(module, "checked")
    for start in range(0, len(columns), DEGREE):
        batch = columns[start : start + DEGREE]
        rows = [[words(c[i], d) for c in batch] for i, d in enumerate(sources)]
        (found,) = run(executable, np.array([rows], dtype=object))
        halves = [
            [v - d if 2 * v > d else v for v, d in zip(c, sources, strict=True)] for c in batch
        ]
        sums = [
            sum(c * (prod(sources) // d) for c, d in zip(h, sources, strict=True)) for h in halves
        ]
        assert found.tolist() == [[[words(total % t, t) for total in sums] for t in q]]


FAULTS = {
    "the upper part with the lower one's factor": (
        "emitter.partial(total, upper, entry.double(UPPER), self.eager)",
        "emitter.partial(total, upper, entry.double(COEFFICIENT), self.eager)",
    ),
    "an integer that is not centred": (
        'if self.correction == "none":\n            word = self._centred',
        'if self.correction == "":\n            word = self._centred',
    ),
    "doubles whose sign does not count": (
        'moved = build.compare("ne", word, signed)',
        'moved = build.compare("ne", word, word)',
    ),
    "a threshold off by one": (
        'above = build.compare("uge", word, first)',
        'above = build.compare("ugt", word, first)',
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_found(name: str) -> None:
    old, new = FAULTS[name]
    fault = Fault(name, "fhelium_ir.lowering.group_conversion", old, new)
    with planted(fault), pytest.raises((AssertionError, KernelFault)):
        if name == "a threshold off by one":
            test_where_one_limb_rounds_up(WIDE[0])
        else:
            test_centred_digits("wide first", 3)
