"""Transforms on words of `smont32` that are driven to the ends of their bounds, against exact integers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest

from fhelium_ir.analysis import signed_bounds
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import residues
from fhelium_ir.reference.kernel import KernelFault
from tests.unit.exact.machine import REGION, Words, linked, lowered
from tests.unit.exact.signed import (
    BOUNDS,
    HALF,
    capacity,
    clamped,
    driven_rows,
    free_stages,
    largest_sum,
    outside,
    rows_of,
    run,
    signed_facts,
    transform_text,
)
from tests.unit.exact.test_transforms import compositions, fitting, name_of


def wrong(primes: Sequence[int], direction: str, before: Words, after: Words) -> list[str]:
    """What is wrong with the words of a transform: residues, and bounds."""
    found: list[str] = []
    for column, q in enumerate(primes):
        pair = before[:, column], after[:, column]
        coefficients, values = pair if direction == "forward" else pair[::-1]
        expected = residues.forward((coefficients % q).astype(np.int64), q)
        for component in np.flatnonzero((values % q != expected).any(axis=-1)):
            found.append(f"component {component}, q = {q}: a residue is wrong")
    below = min(16, capacity(max(primes))) if direction == "forward" else 2
    if outside(after, primes, below):
        found.append("a word is beyond the contract")
    return found


def inputs_of(facts: Parameters, direction: str, degree: int) -> Words:
    """[components, primes, N]."""
    rows = [rows_of(direction, degree, q) for q in facts.q]
    return np.array(list(zip(*rows, strict=True)), dtype=object)


SHARP = {"30": 1.61, "29": 3.34, "28.39": 5.76, "28": 7.48}
"""Legs that are reached without a step, in units of q; 2, 4, 6.1 and 8 fit the word."""

FREE = {"30": 1, "29": 4, "28.39": 8, "28": 11}


@pytest.mark.parametrize("size", BOUNDS)
def test_driven_legs(size: str) -> None:
    """The words of as many stages as have no step reach their bound, and those of one stage more would leave it."""
    degree = 4096
    facts = signed_facts(size, degree)
    q = facts.q[0]
    assert free_stages(q) == FREE[size]
    rows = [row for count in (FREE[size], FREE[size] + 1) for row in driven_rows(degree, q, count)]
    before = np.array([[row, clamped(row, facts.q[1])] for row in rows], dtype=object)
    module = lowered(
        transform_text(facts, "forward", Schedule(((4, 4), (4,)), 1, 1, 1), len(rows)), REGION
    )
    with largest_sum() as largest:
        (checked,) = run(linked(module, "checked"), before)
    (found,) = run(linked(module), before)
    assert (found == checked).all()
    assert wrong(facts.q, "forward", before, found) == []
    assert SHARP[size] * q < largest.word <= HALF


@pytest.mark.parametrize("size", ["29", "28.39"])
def test_a_step_less_leaves_the_word(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    degree = 4096
    facts = signed_facts(size, degree)
    limit = signed_bounds.limit

    def loose(largest_prime: int) -> Fraction:
        return limit(largest_prime) * 2

    monkeypatch.setattr(signed_bounds, "limit", loose)
    # Two stages behind those without a step have none either; what the third one multiplies is driven.
    rows = driven_rows(degree, facts.q[0], min(12, FREE[size] + 3))
    before = np.array([[row, clamped(row, facts.q[1])] for row in rows], dtype=object)
    schedule = Schedule(((4, 4), (4,)), 1, 1, 1)
    module = lowered(transform_text(facts, "forward", schedule, len(rows)), REGION)
    with pytest.raises(KernelFault, match="leaves the word"):
        run(linked(module, "checked"), before)


ALL_OF_16 = [kernels for kernels in compositions(4) if len(kernels) <= 3][::3]
SOME_OF_64 = [((3, 3),), ((3,), (3,)), ((2, 2), (2,)), ((1,), (5,)), ((2,), (2,), (2,))]
SOME_OF_256 = [((4, 4),), ((2, 2), (2, 2)), ((5,), (3,))]

SCHEDULES = [
    (degree, schedule)
    for degree, splits in ((16, ALL_OF_16), (64, SOME_OF_64), (256, SOME_OF_256))
    for schedule in fitting(degree, splits)
    if (schedule.rows, schedule.columns) == (1, 1)
    or (schedule.rows == 4 and degree == 16 and len(schedule.kernels) == 2)
]


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(
    ("degree", "schedule"), SCHEDULES, ids=lambda x: str(x) if isinstance(x, int) else name_of(x)
)
def test_schedules(degree: int, schedule: Schedule, direction: str) -> None:
    for size in ("30", "29") if degree > 16 else ("28.39",):
        facts = signed_facts(size, degree)
        before = inputs_of(facts, direction, degree)
        module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
        (checked,) = run(linked(module, "checked"), before)
        assert wrong(facts.q, direction, before, checked) == []
        assert (run(linked(module), before)[0] == checked).all()


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
def test_other_targets_compute_the_same_words(target: str, direction: str) -> None:
    facts = signed_facts("30", 32)
    before = inputs_of(facts, direction, 32)
    if target != "cpu":
        before = before[:3]
    schedule = Schedule(((1, 1), (1,), (1, 1)), 4, 2, 1)
    module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
    (after,) = run(linked(module, target), before)
    assert wrong(facts.q, direction, before, after) == []
    assert (after == run(linked(module), before)[0]).all()


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("size", BOUNDS)
def test_driven_words_on_vectors(size: str, direction: str) -> None:
    """Rings of which the CPU's vectors hold many words."""
    degree = 2048
    facts = signed_facts(size, degree)
    before = inputs_of(facts, direction, degree)[-60:]
    schedule = Schedule(((4, 3), (2, 2)), 1, 8, 1)
    module = lowered(transform_text(facts, direction, schedule, len(before)), REGION)
    (after,) = run(linked(module, "cpu"), before)
    assert wrong(facts.q, direction, before, after) == []
