"""Entries of plain data that came from JSON, each of the type that is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar, cast

from fhelium_ir.compiler.errors import FheliumError

T = TypeVar("T")


def entry(facts: Mapping[str, object], name: str, type_: type[T]) -> T:
    """The entry of a name; FheliumError if it is missing or of another type."""
    value = facts.get(name)
    # bool is a subclass of int.
    if not isinstance(value, type_) or (isinstance(value, bool) and type_ is not bool):
        raise FheliumError(f"its entry '{name}' is missing or not of type {type_.__name__}")
    return value


def rows(facts: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    """A list of objects."""
    found = cast("list[object]", entry(facts, name, list))
    if not all(isinstance(row, dict) for row in found):
        raise FheliumError(f"its entry '{name}' must be a list of objects")
    return cast("list[Mapping[str, object]]", found)


def integers(facts: Mapping[str, object], name: str) -> tuple[int, ...]:
    """A list of integers."""
    values = cast("list[object]", entry(facts, name, list))
    if not all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        raise FheliumError(f"its entry '{name}' must be a list of integers")
    return tuple(cast("list[int]", values))
