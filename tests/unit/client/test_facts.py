"""Entries of plain data."""

from __future__ import annotations

import pytest

from fhelium_ir.client.facts import entry, integers, rows
from fhelium_ir.compiler.errors import FheliumError

FACTS: dict[str, object] = {
    "one": 1,
    "yes": True,
    "numbers": [1, 2],
    "rows": [{}, {"a": 1}],
    "mixed": [1, True, {}],
}


def test_entries_of_their_type() -> None:
    assert entry(FACTS, "one", int) == 1
    assert entry(FACTS, "yes", bool) is True
    assert integers(FACTS, "numbers") == (1, 2)
    assert rows(FACTS, "rows") == [{}, {"a": 1}]


def test_a_truth_value_is_no_integer() -> None:
    with pytest.raises(FheliumError, match="its entry 'yes' is missing or not of type int"):
        entry(FACTS, "yes", int)
    with pytest.raises(FheliumError, match="its entry 'mixed' must be a list of integers"):
        integers(FACTS, "mixed")


def test_lists_of_something_else() -> None:
    with pytest.raises(FheliumError, match="its entry 'mixed' must be a list of objects"):
        rows(FACTS, "mixed")
    with pytest.raises(FheliumError, match="its entry 'two' is missing or not of type list"):
        rows(FACTS, "two")
