"""Whole transforms at both ends of the interval that their operand's type claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from math import ceil

import numpy as np
import pytest

from fhelium_ir.analysis.transform_schedules import check_fits, column_limit
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import residues
from tests.unit.exact.machine import (
    BEYOND_60_BITS,
    REGION,
    Words,
    batches,
    extreme_rows,
    facts_of,
    largest_prime,
    linked,
    lowered,
    poly,
    recorded,
    region,
    run,
    tensor_of,
    words_of,
)
from tests.unit.reference.textbook import reversed_bits, root

INTERVAL = {"forward": 4, "inverse": 2}
DOMAINS = {
    "forward": ("coefficient", "evaluation(bit_reversed)"),
    "inverse": ("evaluation(bit_reversed)", "coefficient"),
}


def facts(arithmetic: str, degree: int) -> Parameters:
    """Tiny primes, primes around one word's middle and the largest one that the arithmetic admits."""
    tiny = [q for q in (17, 97, 193, 257, 769) if q % (2 * degree) == 1][:3]
    q = [*tiny, BEYOND_60_BITS] if arithmetic == "mont64" else tiny
    return facts_of(degree, q, [largest_prime(arithmetic, degree)])


def transform_text(
    facts: Parameters, arithmetic: str, direction: str, schedule: Schedule, exponent: int = 0
) -> str:
    """One transform of three components in one region, with the representatives that its contract states."""
    below, (source, target) = INTERVAL[direction], DOMAINS[direction]
    basis = f"q 0:{len(facts.q)} p 0:1"
    before = poly(facts, basis, source, 3, words=f"{arithmetic}(e = 0, below = {below})")
    after = poly(facts, basis, target, 3, words=f"{arithmetic}(e = {exponent}, below = {below})")
    body = (
        f"%v0 = ntt.{direction} %a0 {{contract = #ntt.contract<bit_reversed, input = {below}, "
        f"output = {below}, exponent = {exponent}>, "
        f"schedule = {ScheduleAttr(schedule)}}} : {before}"
    )
    return region(facts, arithmetic, [before], [after], body)


@lru_cache
def roots_matrix(degree: int, q: int) -> Words:
    """Row bitrev(i) holds the powers of psi^(2i+1), the i-th root of X^N + 1."""
    psi, rows = root(degree, q), dict[int, list[int]]()
    for i in range(degree):
        point = pow(psi, 2 * i + 1, q)
        assert pow(point, degree, q) == q - 1
        rows[reversed_bits(i, degree)] = [pow(point, k, q) for k in range(degree)]
    return np.array([rows[index] for index in range(degree)], dtype=object)


def evaluations(coefficients: Words, q: int) -> Words:
    """The polynomial at all roots, by definition."""
    return (roots_matrix(len(coefficients), q) @ (coefficients % q)) % q


def check(
    facts: Parameters,
    direction: str,
    before: Words,
    after: Words,
    radix: int = 1,
    exponent: int = 0,
) -> list[str]:
    """What is wrong with the words of a transform: intervals, and residues at all roots.

    The results of an inverse are those of the mathematics times radix^exponent.
    """
    wrong: list[str] = []
    for component, (rows, results) in enumerate(zip(before, after, strict=True)):
        for q, row, result in zip(facts.primes, rows, results, strict=True):
            if max(result) >= INTERVAL[direction] * q:
                wrong.append(f"component {component}, q = {q}: a word is not in its interval")
            coefficients, values = (row, result) if direction == "forward" else (result, row)
            expected = evaluations(coefficients, q)
            if ((values * pow(radix, exponent, q) - expected) % q).any():
                wrong.append(f"component {component}, q = {q}: a residue is wrong")
    return wrong


def check_scratch(facts: Parameters, direction: str, snapshots: Sequence[Words]) -> None:
    """Every word between two kernels of a transform lies in the claimed interval."""
    for words in snapshots:
        for rows in words.reshape(-1, len(facts.primes), facts.ring_degree):
            for q, row in zip(facts.primes, rows, strict=True):
                assert max(row) < INTERVAL[direction] * q


def compositions(stages: int) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Every way to cut a transform into kernels of one or two groups."""
    if stages == 0:
        yield ()
    for size in range(1, stages + 1):
        pairs = [(size - second, second) for second in range(1, size // 2 + 1)]
        for rest in compositions(stages - size):
            for kernel in [(size,), *pairs]:
                yield (kernel, *rest)


def fitting(degree: int, splits: Sequence[tuple[tuple[int, ...], ...]]) -> list[Schedule]:
    """Schedules of the splits that can be built: one row with every number of columns, four rows."""
    found: list[Schedule] = []
    stages = degree.bit_length() - 1
    for kernels in splits:
        limit = min(column_limit(stages, kernel) for kernel in kernels)
        widths = [1 << bit for bit in range(limit.bit_length())] if limit else []
        found += [Schedule(kernels, 1, columns, 1) for columns in widths]
        found += [Schedule(kernels, 4, columns, 1) for columns in widths[-1:]]
    for schedule in found:
        check_fits(schedule, degree)
    return found


EVERY_SCHEDULE = fitting(8, list(compositions(3)))

WIDE_SCHEDULES = [
    schedule
    for schedule in fitting(
        64,
        [
            ((3, 3),),
            ((4, 2),),
            ((5,), (1,)),
            ((1,), (5,)),
            ((3,), (3,)),
            ((2, 2), (2,)),
            ((2,), (2, 2)),
            ((2, 1), (2, 1)),
            ((2,), (2,), (2,)),
        ],
    )
    if schedule.rows == 4 or (schedule.rows, schedule.columns) == (1, 1)
]


def name_of(schedule: Schedule) -> str:
    kernels = "-".join("x".join(map(str, kernel)) for kernel in schedule.kernels)
    tables = f"-tables{schedule.table_stages}" if schedule.table_stages else ""
    shoup = f"-shoup{schedule.shoup}" if schedule.shoup else ""
    return f"{kernels}-rows{schedule.rows}-columns{schedule.columns}{tables}{shoup}"


def by_shoup(schedules: Sequence[Schedule]) -> list[Schedule]:
    """The schedules with products by Shoup in some stages, or in all."""
    return [
        replace(schedule, shoup=1 + number % schedule.stages())
        for number, schedule in enumerate(schedules)
    ]


def test_schedules_cover_one_to_three_kernels_exchanges_rows_and_columns() -> None:
    shapes = {tuple(len(kernel) for kernel in schedule.kernels) for schedule in EVERY_SCHEDULE}
    assert {len(shape) for shape in shapes} == {1, 2, 3}
    assert (2,) in {tuple(len(kernel) for kernel in s.kernels) for s in WIDE_SCHEDULES}
    assert {schedule.rows for schedule in EVERY_SCHEDULE} == {1, 4}
    assert {schedule.columns for schedule in EVERY_SCHEDULE} == {1, 2, 4}
    assert {schedule.shoup for schedule in by_shoup(EVERY_SCHEDULE[::6])} == {1, 2, 3}


@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
def test_the_stages_of_a_schedule_multiply_by_shoup(arithmetic: str) -> None:
    schedule = Schedule(((1,), (2,)), 1, 1, 1, shoup=2)
    for direction, products, others in (("forward", 3, 2), ("inverse", 4, 2)):
        module = lowered(
            transform_text(facts(arithmetic, 8), arithmetic, direction, schedule), REGION
        )
        names = [op.name for op in module.walk()]
        # Of the first kernel's stage a lane has one butterfly, of the second's two it has four.
        assert names.count("zq.mul_shoup") == products
        assert names.count("zq.mul") == others


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("schedule", EVERY_SCHEDULE + by_shoup(EVERY_SCHEDULE[::6]), ids=name_of)
def test_every_schedule_of_the_smallest_ring(schedule: Schedule, direction: str) -> None:
    exact(facts("mont64", 8), "mont64", schedule, direction)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(
    "schedule", EVERY_SCHEDULE[::6] + by_shoup(EVERY_SCHEDULE[::9]), ids=name_of
)
def test_words_of_32_bits(schedule: Schedule, direction: str) -> None:
    exact(facts("mont32", 8), "mont32", schedule, direction)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("schedule", WIDE_SCHEDULES + by_shoup(WIDE_SCHEDULES)[3:7], ids=name_of)
def test_wide_kernels(schedule: Schedule, direction: str) -> None:
    exact(facts("mont64", 64), "mont64", schedule, direction, launches=3)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
@pytest.mark.parametrize("shoup", [2, 4, 6])
def test_shoups_products_beside_computed_factors(
    shoup: int, arithmetic: str, direction: str
) -> None:
    """What Shoup's products read goes before what is computed, also inside of a group."""
    schedule = Schedule(((3,), (3,)), 1, 2, 1, table_stages=3, shoup=shoup)
    exact(facts(arithmetic, 64), arithmetic, schedule, direction, launches=3)


def exact(
    facts: Parameters, arithmetic: str, schedule: Schedule, direction: str, launches: int = 100
) -> None:
    """Runs a transform on extreme rows twice: on checked `zq` words, and on machine words."""
    module = lowered(transform_text(facts, arithmetic, direction, schedule), REGION)
    checked, machine = linked(module, "checked"), linked(module)
    below = INTERVAL[direction]
    some = batches(facts.primes, below, facts.ring_degree, 3)
    for words in some[:: ceil(len(some) / launches)]:
        inputs = [tensor_of(words, ARITHMETICS[arithmetic].word_bits)]
        copy, library = recorded(checked, inputs)
        after = words_of(copy.run(*inputs)[0])
        assert len(library.snapshots) == len(schedule.kernels)
        check_scratch(facts, direction, library.snapshots)
        assert check(facts, direction, words, after) == []
        assert (run(machine, words)[0] == after).all()


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
@pytest.mark.parametrize("shoup", [0, 4, 5])
def test_other_targets_compute_the_same_words(
    shoup: int, arithmetic: str, target: str, direction: str
) -> None:
    schedule = Schedule(((1, 1), (1,), (1, 1)), 4, 2, 1, shoup=shoup)
    primes = facts(arithmetic, 32)
    module = lowered(transform_text(primes, arithmetic, direction, schedule), REGION)
    expected, found = linked(module), linked(module, target)
    some = batches(primes.primes, INTERVAL[direction], 32, 3)
    for words in some if target == "cpu" else some[:2]:
        (after,) = run(found, words)
        assert check(primes, direction, words, after) == []
        assert (after == run(expected, words)[0]).all()


@pytest.mark.parametrize("exponent", [-1, 1])
@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
@pytest.mark.parametrize("shoup", [0, 2])
def test_exponent_change_through_the_inverse(shoup: int, arithmetic: str, exponent: int) -> None:
    primes, radix = facts(arithmetic, 8), ARITHMETICS[arithmetic].radix
    schedule = Schedule(((2,), (1,)), 1, 2, 1, shoup=shoup)
    text = transform_text(primes, arithmetic, "inverse", schedule, exponent)
    executable = linked(lowered(text, REGION))
    for words in batches(primes.primes, 2, 8, 3):
        (after,) = run(executable, words)
        assert check(primes, "inverse", words, after, radix, exponent) == []


LARGE = {
    1 << 13: Schedule(((4, 3), (3, 3)), 1, 8, 4),
    1 << 14: Schedule(((4, 3), (4, 3)), 1, 4, 4),
}


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("degree", sorted(LARGE))
def test_large_rings(degree: int, direction: str) -> None:
    primes = facts_of(degree, [BEYOND_60_BITS], [largest_prime("mont64", degree)])
    module = lowered(transform_text(primes, "mont64", direction, LARGE[degree]), REGION)
    executable, below = linked(module), INTERVAL[direction]
    rows = [extreme_rows(q, below, degree) for q in primes.primes]
    # An alternation at the largest distance, the ends mixed, and random words.
    places = [len(rows[0]) - 16, len(rows[0]) - 5, len(rows[0]) - 1]
    words = np.array([[some[place] for some in rows] for place in places], dtype=object)
    (after,) = run(executable, words)
    for column, q in enumerate(primes.primes):
        for row, result in zip(words[:, column], after[:, column], strict=True):
            assert max(result) < below * q
            coefficients, values = (row, result) if direction == "forward" else (result, row)
            # Exact arithmetic of another structure at all roots, and Horner's rule at a few.
            expected = residues.forward((coefficients % q).astype(np.int64), q)
            assert (values % q == expected).all()
            psi = root(degree, q)
            for i in (0, 1, degree // 3, degree - 1):
                point, value = pow(psi, 2 * i + 1, q), 0
                for coefficient in reversed(coefficients.tolist()):
                    value = (value * point + coefficient) % q
                assert values[reversed_bits(i, degree)] % q == value
