"""Transforms on words of `fp64` that are driven to the ends of their bounds, against exact integers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from fhelium_ir.analysis import float_bounds
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import residues
from tests.unit.exact.floats import (
    ROUGH,
    capacity,
    driven_rows,
    float_facts,
    inverse_rows,
    largest_sum,
    outside,
    plain_rows,
    recorded,
    run,
    steepest_block,
    transform_text,
    twiddles,
)
from tests.unit.exact.machine import REGION, Words, facts_of, linked, lowered
from tests.unit.exact.test_transforms import compositions, evaluations, fitting, name_of

SIZES = ("rough", "50", "49.68", "49")


def rows_of(direction: str, degree: int, q: int) -> list[list[int]]:
    """Rows of words of at most q that drive the words of a transform to their ends."""
    rows = plain_rows(degree, q)
    if direction == "inverse":
        return rows + inverse_rows(degree, q)
    counts = {3, min(5, degree.bit_length() - 1)}
    return rows + [list(row) for stages in sorted(counts) for row in driven_rows(degree, q, stages)]


def wrong(primes: Sequence[int], direction: str, before: Words, after: Words) -> list[str]:
    """What is wrong with the words of a transform: residues, and bounds."""
    found: list[str] = []
    for column, q in enumerate(primes):
        pair = before[:, column], after[:, column]
        coefficients, values = pair if direction == "forward" else pair[::-1]
        expected = residues.forward((coefficients % q).astype(np.int64), q)
        for component in np.flatnonzero((values % q != expected).any(axis=-1)):
            found.append(f"component {component}, q = {q}: a residue is wrong")
    if outside(after, primes, capacity(max(primes))):
        found.append("a word is beyond the contract")
    return found


def inputs_of(facts: Parameters, direction: str, degree: int) -> Words:
    """[components, primes, N]."""
    rows = [rows_of(direction, degree, q) for q in facts.q]
    return np.array(list(zip(*rows, strict=True)), dtype=object)


def test_the_oracle_evaluates_at_all_roots() -> None:
    for q in (*ROUGH, 12289):
        (row,) = driven_rows(64, q, 3)[:1]
        by_definition = evaluations(np.array(row, dtype=object), q)
        oracle = residues.forward(np.array(row, dtype=np.int64) % q, q)
        assert (oracle == by_definition).all()


ONE_KERNEL = Schedule(((4, 4),), 1, 1, 1)

SHARP = {"rough": 3.3, "50": 3.05, "49.68": 3.6, "49": 4.5}
"""Legs that are reached, in units of q; without a reduction more than 4 would be, but for 2^49."""


@pytest.mark.parametrize("size", SIZES)
def test_driven_legs(size: str) -> None:
    """Each of eight stages is driven through all that come before it; both signs, in one kernel and in three."""
    degree, stages = 256, 8
    facts = float_facts(size, degree)
    q = facts.q[0]
    rows = [row for count in range(1, stages + 1) for row in driven_rows(degree, q, count)]
    # The second prime carries the same rows, where they are just words.
    before = np.array([[row, [min(max(x, -facts.q[1]), facts.q[1]) for x in row]] for row in rows])
    before = before.astype(object)
    steepest = twiddles(degree, q)[128 + steepest_block(degree, q, 7)]
    assert abs(steepest) > 0.486 * q
    for schedule in (ONE_KERNEL, Schedule(((3,), (3,), (2,)), 1, 4, 1)):
        module = lowered(transform_text(facts, "forward", schedule, len(rows)), REGION)
        with largest_sum() as largest:
            (checked,) = run(linked(module, "checked"), before)
        (found,) = run(linked(module), before)
        assert (found == checked).all()
        assert wrong(facts.q, "forward", before, found) == []
        if schedule is ONE_KERNEL:
            assert SHARP[size] * q < largest.word < 2**52


ALL_OF_16 = [kernels for kernels in compositions(4) if len(kernels) <= 3]
SOME_OF_32 = [((3, 2),), ((5,),), ((2, 2), (1,)), ((3,), (2,)), ((2,), (2,), (1,)), ((1,), (2, 2))]
SOME_OF_64 = [((3, 3),), ((3,), (3,)), ((2, 2), (2,)), ((1,), (5,)), ((2,), (2,), (2,))]
SOME_OF_128 = [((4,), (3,)), ((2, 2), (3,)), ((3,), (2, 2)), ((2,), (3,), (2,))]
SOME_OF_256 = [((4, 4),), ((2, 2), (2, 2)), ((5,), (3,)), ((3, 2), (2,), (1,)), ((3,), (3,), (2,))]

SCHEDULES = [
    (degree, schedule)
    for degree, splits in (
        (16, ALL_OF_16),
        (32, SOME_OF_32),
        (64, SOME_OF_64),
        (128, SOME_OF_128),
        (256, SOME_OF_256),
    )
    for schedule in fitting(degree, splits)
    if (schedule.rows, schedule.columns) == (1, 1)
    or (schedule.rows == 4 and degree == 16 and len(schedule.kernels) == 2)
]


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(
    ("degree", "schedule"), SCHEDULES, ids=lambda x: str(x) if isinstance(x, int) else name_of(x)
)
def test_schedules(degree: int, schedule: Schedule, direction: str) -> None:
    facts = float_facts("rough", degree)
    before = inputs_of(facts, direction, degree)
    module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
    copy, library = recorded(linked(module, "checked"))
    (checked,) = run(copy, before)
    assert len(library.snapshots) == len(schedule.kernels)
    for snapshot in library.snapshots[:-1]:
        between = snapshot.reshape(before.shape)
        bound = float_bounds.PRODUCT
        if direction == "forward":
            bound = float_bounds.between_kernels(max(facts.q))
        for column, q in enumerate(facts.q):
            assert np.abs(between[:, column]).max() <= bound * q
    (found,) = run(linked(module), before)
    assert (found == checked).all()
    assert wrong(facts.q, direction, before, found) == []


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("size", ["50", "49.68", "49", "40", "20"])
def test_sizes_of_primes(size: str, direction: str) -> None:
    degree = 64
    facts = float_facts(size, degree)
    before = inputs_of(facts, direction, degree)
    text = transform_text(facts, direction, Schedule(((3, 3),), 1, 1, 1), len(before))
    module = lowered(text, REGION)
    with largest_sum() as largest:
        (checked,) = run(linked(module, "checked"), before)
    (found,) = run(linked(module), before)
    assert (found == checked).all()
    assert wrong(facts.q, direction, before, found) == []
    if direction == "inverse":
        # Sums of four words that are all q, or of the eight in front of the exchange.
        assert largest.word > max(facts.q) * (3.99 if size in ("50", "49.68") else 7.99)


@pytest.mark.parametrize("direction", ["forward", "inverse"])
def test_primes_of_all_sizes_in_one_module(direction: str) -> None:
    """Bounds follow the largest prime; words of the others are as safe."""
    degree = 8
    facts = facts_of(degree, [17, 97, 12289, 998244353], [ROUGH[0]])
    before = inputs_of(facts, direction, degree)
    module = lowered(
        transform_text(facts, direction, Schedule(((3,),), 1, 1, 1), len(before)), REGION
    )
    (checked,) = run(linked(module, "checked"), before)
    (found,) = run(linked(module), before)
    assert (found == checked).all()
    assert wrong(facts.q, direction, before, found) == []


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("kernels", [((4, 4), (4,)), ((5,), (4,), (3,))])
def test_a_large_ring_on_the_cpu(kernels: tuple[tuple[int, ...], ...], direction: str) -> None:
    degree = 4096
    facts = float_facts("rough", degree)
    rows = [
        inverse_rows(degree, q)
        if direction == "inverse"
        else [*plain_rows(degree, q), *map(list, driven_rows(degree, q, 6))]
        for q in facts.q
    ]
    before = np.array(list(zip(*rows, strict=True)), dtype=object)
    schedule = Schedule(kernels, 1, 8, 1)
    module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
    (found,) = run(linked(module, "cpu"), before)
    assert wrong(facts.q, direction, before, found) == []


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
def test_other_targets_compute_the_same_words(target: str, direction: str) -> None:
    degree = 32
    facts = float_facts("rough", degree)
    before = inputs_of(facts, direction, degree)[:: 1 if target == "cpu" else 4]
    schedule = Schedule(((2, 1), (1,), (1,)), 4, 2, 1)
    module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
    (expected,) = run(linked(module), before)
    (found,) = run(linked(module, target), before)
    assert (found == expected).all()
    assert wrong(facts.q, direction, before, found) == []
