"""Transforms whose late stages compute their twiddle factors, on extreme words of all arithmetics."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from fhelium_ir.analysis import float_bounds
from fhelium_ir.dialects.ntt import Schedule, check_schedule
from fhelium_ir.reference import kernel_floats, residues
from tests.unit.exact.floats import (
    centred,
    driven_rows,
    factors,
    float_facts,
    inverse_rows,
    largest_sum,
    plain_rows,
    recorded,
    run,
    steepest_block,
    transform_text,
    twiddles,
)
from tests.unit.exact.machine import (
    REGION,
    Words,
    extreme_rows,
    facts_of,
    largest_prime,
    linked,
    lowered,
)
from tests.unit.exact.machine import run as run_unsigned
from tests.unit.exact.test_float_transforms import inputs_of, wrong
from tests.unit.exact.test_transforms import exact, facts, fitting, name_of
from tests.unit.exact.test_transforms import transform_text as unsigned_text

SPLITS = {
    8: [((1,), (2,)), ((2,), (1,)), ((1,), (1,), (1,)), ((1, 1), (1,))],
    16: [((2, 2),), ((2, 1), (1,))],
    64: [
        ((3, 3),),
        ((2,), (2, 2)),
        ((2, 2), (2,)),
        ((2, 1), (2, 1)),
        ((1,), (1,), (1,), (3,)),
        ((3,), (3,)),
    ],
    128: [((3, 1), (3,)), ((3,), (4,)), ((4,), (2, 1))],
    512: [((4, 1), (3, 1)), ((3,), (4, 2)), ((4,), (4, 1))],
}


def computing(degree: int) -> list[Schedule]:
    """Schedules of one or four rows with each `table_stages` that makes a difference."""
    found: list[Schedule] = []
    for split in SPLITS[degree]:
        some = fitting(degree, [split])
        for plain in (some[0], some[-1]):
            starts = [start for start, _ in plain.groups() if start]
            schedules = (Schedule(split, plain.rows, plain.columns, 1, start) for start in starts)
            found += [schedule for schedule in schedules if allowed(schedule)]
    return found


def allowed(schedule: Schedule) -> bool:
    return all(
        stages - 1 <= schedule.table_stages
        for start, stages in schedule.groups()
        if schedule.computes(start)
    )


CASES = [(degree, schedule) for degree in SPLITS for schedule in computing(degree)]
SMALL = [(degree, schedule) for degree, schedule in CASES if degree <= 64]


def name(value: object) -> str:
    return name_of(value) if isinstance(value, Schedule) else str(value)


def test_cases_cover_what_is_computed() -> None:
    for _, schedule in CASES:
        check_schedule(schedule)
        assert schedule.computes(schedule.groups()[-1][0])
    computed = [
        tuple(stages for start, stages in schedule.groups() if schedule.computes(start))
        for _, schedule in CASES
    ]
    assert {len(groups) for groups in computed} == {1, 2, 3}
    assert {stages for groups in computed for stages in groups} == {1, 2, 3, 4}
    assert {len(schedule.kernels[-1]) for _, schedule in CASES} == {1, 2}


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(("degree", "schedule"), SMALL, ids=name)
def test_unsigned_words_of_64_bits(degree: int, schedule: Schedule, direction: str) -> None:
    exact(facts("mont64", degree), "mont64", schedule, direction, launches=2)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(("degree", "schedule"), SMALL[::3], ids=name)
def test_unsigned_words_of_32_bits(degree: int, schedule: Schedule, direction: str) -> None:
    exact(facts("mont32", degree), "mont32", schedule, direction, launches=2)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(("degree", "schedule"), CASES, ids=name)
def test_doubles(degree: int, schedule: Schedule, direction: str) -> None:
    primes = float_facts("rough", degree)
    before = inputs_of(primes, direction, degree)
    before = before[:: ceil(len(before) / (24 if degree > 64 else 100))]
    module = lowered(transform_text(primes, direction, schedule, len(before)), REGION)
    copy, library = recorded(linked(module, "checked"))
    (checked,) = run(copy, before)
    for snapshot in library.snapshots[:-1]:
        between = snapshot.reshape(before.shape)
        bound = float_bounds.PRODUCT
        if direction == "forward":
            bound = float_bounds.between_kernels(max(primes.q))
        for column, q in enumerate(primes.q):
            assert np.abs(between[:, column]).max() <= bound * q
    (found,) = run(linked(module), before)
    assert (found == checked).all()
    assert wrong(primes.q, direction, before, found) == []


TWO_GROUPS = Schedule(((4, 4),), 1, 1, 1, 4)
SHARP = {"rough": 3.3, "50": 3.05, "49.68": 3.6, "49": 4.5}
"""Legs that are reached, in units of q."""


@pytest.mark.parametrize("size", SHARP)
def test_driven_legs(size: str) -> None:
    """The last four of eight stages compute their factors; each of them is driven through all that come before it."""
    degree, stages = 256, 8
    primes = float_facts(size, degree)
    q = primes.q[0]
    steepest = factors(degree, q, TWO_GROUPS)[128 + steepest_block(degree, q, 7, TWO_GROUPS)]
    assert abs(steepest) > 0.486 * q
    rows = [
        row for count in range(1, stages + 1) for row in driven_rows(degree, q, count, TWO_GROUPS)
    ]
    before = np.array(
        [[row, [min(max(x, -primes.q[1]), primes.q[1]) for x in row]] for row in rows]
    )
    before = before.astype(object)
    for schedule in (TWO_GROUPS, Schedule(((4,), (4,)), 1, 4, 1, 4)):
        module = lowered(transform_text(primes, "forward", schedule, len(rows)), REGION)
        with largest_sum() as largest:
            (checked,) = run(linked(module, "checked"), before)
        (found,) = run(linked(module), before)
        assert (found == checked).all()
        assert wrong(primes.q, "forward", before, found) == []
        if schedule is TWO_GROUPS:
            assert SHARP[size] * q < largest.word < 2**52


def steep_words(degree: int, q: int) -> list[list[int]]:
    """Evaluations of an inverse whose first differences are multiplied by the largest computed factors, and are as wide
    as these take: the last stage has u - v with u = -v, all sizes up to q."""
    rows: list[list[int]] = []
    for size in (q, q - 1, (q + 1) // 2, q - q // 1000):
        for sign in (1, -1):
            rows.append(
                [sign * size if index % 2 == 0 else -sign * size for index in range(degree)]
            )
    return rows


@pytest.mark.parametrize("size", ["rough", "50", "49.68", "49", "20"])
def test_inverses_of_the_largest_differences(size: str) -> None:
    degree = 256
    primes = float_facts(size, degree)
    rows = [inverse_rows(degree, q) + steep_words(degree, q) for q in primes.q]
    before = np.array(list(zip(*rows, strict=True)), dtype=object)
    module = lowered(transform_text(primes, "inverse", TWO_GROUPS, len(before)), REGION)
    with largest_sum() as largest:
        (checked,) = run(linked(module, "checked"), before)
    (found,) = run(linked(module), before)
    assert (found == checked).all()
    assert wrong(primes.q, "inverse", before, found) == []
    # After a stage that adds, where u + v would be beyond what a computed factor takes; else after two or more.
    assert max(primes.q) * (2.1 if size in ("rough", "50") else 3.9) < largest.word < 2**52


def test_the_model_has_the_factors_of_the_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    degree, seen, multiply = 256, set[tuple[int, int]](), kernel_floats.multiply

    def watched(
        lhs: kernel_floats.Floats,
        rhs: kernel_floats.Floats,
        q: kernel_floats.Floats,
        q_inverse: kernel_floats.Floats,
    ) -> kernel_floats.Checked:
        moduli, words = np.broadcast_arrays(q, rhs)
        seen.update(zip(map(int, moduli.flat), map(int, words.flat), strict=True))
        return multiply(lhs, rhs, q, q_inverse)

    monkeypatch.setattr(kernel_floats, "multiply", watched)
    primes = float_facts("rough", degree)
    module = lowered(transform_text(primes, "forward", TWO_GROUPS, 1), REGION)
    run(linked(module, "checked"), np.zeros((1, 2, degree), dtype=object))
    for q in primes.q:
        table = factors(degree, q, TWO_GROUPS)
        assert max(map(abs, table)) > q // 2
        assert {(q, word) for word in table[1:]} <= seen
        assert [centred(word, q) for word in table] == list(twiddles(degree, q))


LARGE = [Schedule(((4, 3), (3, 3)), 1, 8, 4, table_stages) for table_stages in (3, 4, 7, 10)]


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("schedule", LARGE, ids=name)
def test_a_large_ring_on_the_cpu(schedule: Schedule, direction: str) -> None:
    degree = 8192
    primes = float_facts("50", degree)
    rows = [(plain_rows(degree, q) + inverse_rows(degree, q))[::6] for q in primes.q]
    before: Words = np.array(list(zip(*rows, strict=True)), dtype=object)
    module = lowered(transform_text(primes, direction, schedule, len(before)), REGION)
    (found,) = run(linked(module, "cpu"), before)
    assert wrong(primes.q, direction, before, found) == []


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
def test_a_large_ring_of_unsigned_words(arithmetic: str, direction: str) -> None:
    degree, below = 8192, 4 if direction == "forward" else 2
    primes = facts_of(degree, [65537, 114689], [largest_prime(arithmetic, degree)])
    text = unsigned_text(primes, arithmetic, direction, LARGE[2])
    words = np.array(
        [[extreme_rows(q, below, degree)[place] for q in primes.primes] for place in (-16, -5, -1)],
        dtype=object,
    )
    (after,) = run_unsigned(linked(lowered(text, REGION), "cpu"), words)
    for column, q in enumerate(primes.primes):
        pair = words[:, column], after[:, column]
        coefficients, values = pair if direction == "forward" else pair[::-1]
        assert max(map(max, after[:, column])) < below * q
        expected = residues.forward((coefficients % q).astype(np.int64), q)
        assert (values % q == expected).all()


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
def test_other_targets_compute_the_same_words(target: str, direction: str) -> None:
    degree = 32
    primes = float_facts("rough", degree)
    before = inputs_of(primes, direction, degree)[:: 1 if target == "cpu" else 4]
    schedule = Schedule(((2, 1), (1, 1)), 4, 2, 1, 2)
    module = lowered(transform_text(primes, direction, schedule, len(before)), REGION)
    (expected,) = run(linked(module), before)
    (found,) = run(linked(module, target), before)
    assert (found == expected).all()
    assert wrong(primes.q, direction, before, found) == []
