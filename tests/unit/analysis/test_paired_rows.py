"""Which program rows convert the same limbs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from fhelium_ir.analysis.paired_rows import paired_rows, shared_conversion
from fhelium_ir.analysis.region_nodes import Node, Quotients, Transform
from fhelium_ir.dialects.ntt import Contract, Schedule

SCHEDULE = Schedule(((2,), (2,)), 1, 4, 1, converted_rows=2)
FORWARD = Transform("forward", Contract("bit_reversed", 2, 2), SCHEDULE, 0)


def convert(correction: str) -> Node:
    """Of buffer 0, with the first source row in column 0 and the number of source rows in column 1."""
    return Node("convert", (), (0, 0, 1, 0, 2, False, correction))


def pairs(
    starts: Sequence[int], counts: Sequence[int], transform: Transform = FORWARD
) -> tuple[tuple[int, int], ...]:
    """The pairs of rows with these columns."""
    return paired_rows([convert("none")], transform, (starts, counts, starts), None)


def test_neighbours_are_paired() -> None:
    assert pairs([0, 0, 0, 0], [2, 2, 2, 2]) == ((0, 1), (2, 3))


def test_rows_that_are_left_over_stand_alone() -> None:
    assert pairs([0, 0, 0, 2, 2, 2, 2, 2], [2] * 8) == ((0, 1), (2, 2), (3, 4), (5, 6), (7, 7))


def test_a_pair_need_not_be_neighbours() -> None:
    assert pairs([0, 5, 0, 5, 0], [2] * 5) == ((0, 2), (1, 3), (4, 4))


def test_lengths_have_to_be_equal() -> None:
    assert pairs([0, 0, 0, 0], [2, 1, 2, 1]) == ((0, 2), (1, 3))


def test_quotients_are_of_one_component() -> None:
    """Column 3 has the components, where columns 0 and 1 would allow the pair (0, 1)."""
    quotients = Quotients(0, 0, 1, 0, 3, 2)
    columns = ([0] * 4, [2] * 4, [0] * 4, [0, 1, 0, 1])
    found = paired_rows([convert("given")], FORWARD, columns, quotients)
    assert found == ((0, 2), (1, 3))


@pytest.mark.parametrize(
    "transform",
    [
        replace(FORWARD, direction="inverse"),
        replace(FORWARD, schedule=None),
        replace(FORWARD, schedule=replace(SCHEDULE, converted_rows=1)),
    ],
    ids=["inverse", "no schedule", "one row"],
)
def test_programs_of_one_row(transform: Transform) -> None:
    assert pairs([0, 0], [2, 2], transform) == ()


def test_which_conversion_is_shared() -> None:
    load, total = Node("load", (), (1, 2, False, -1)), Node("add", (0, 1))
    for correction, found in (("none", 0), ("given", 0), ("nearest", None), ("rounded", None)):
        assert shared_conversion([convert(correction)], FORWARD) == found
        behind = replace(FORWARD, source=2)
        assert shared_conversion([convert(correction), load, total], behind) == found
    two = [convert("none"), convert("given"), total]
    assert shared_conversion(two, replace(FORWARD, source=2)) is None
    assert shared_conversion([load], FORWARD) is None
    groups = Node("convert_groups", (), (0, 0, 0, False, "none"))
    assert shared_conversion([groups], FORWARD) is None
