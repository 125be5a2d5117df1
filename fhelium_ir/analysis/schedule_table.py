"""Tables of schedules that were timed on a card: JSON files that `benchmarks/tune_transforms.py` writes.

    {"device": "NVIDIA H200", "schedules": [
      {"degree": 65536, "arithmetic": "fp64", "rows": 32, "microseconds": 22.9,
       "schedule": "#ntt.schedule<kernels = [[4, 4], [4, 4]], rows = 1, columns = 8, warps = 4>"}]}

`rows` is how many residue polynomials were transformed at once; `device` and `microseconds` are for readers.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError
from xdsl.utils.hints import isa

from fhelium_ir.analysis.device import Device
from fhelium_ir.analysis.transform_schedules import check_exchange, check_fits
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.universe import make_context

LARGEST_DEGREE = 1 << 17


@dataclass(frozen=True)
class ScheduleTable:
    """Schedules by ring degree, arithmetic and number of residue polynomials."""

    schedules: Mapping[tuple[int, str, int], Schedule]

    def find(self, degree: int, arithmetic: str | None, rows: int) -> Schedule | None:
        """The schedule for the nearest number of residue polynomials, by ratio; None if there is none for the degree
        and the arithmetic."""
        known = {
            at: schedule
            for (found, name, at), schedule in self.schedules.items()
            if found == degree and name == arithmetic
        }
        if not known:
            return None
        # Of two equally near numbers the larger one: large batches take most of the time.
        return known[min(known, key=lambda at: (max(at, rows) / min(at, rows), -at))]


def load_table(path: str, device: Device) -> ScheduleTable:
    """The table in a JSON file, its schedules checked for a device.

    Raises:
        FheliumError: the file cannot be read; or names the entry and the field that is wrong, unknown or missing, or
            the schedule that does not fit.
    """
    owner = f"schedule table '{path}'"
    try:
        data: object = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FheliumError(f"cannot read {owner}: {error.strerror or error}") from error
    except ValueError as error:
        raise FheliumError(f"{owner} is not JSON: {error}") from error
    facts = _object(owner, data, ("schedules",), ("device", "commit"))
    entries = facts["schedules"]
    if not isinstance(entries, list):
        raise FheliumError(f"{owner}: the field 'schedules' must be a list, found {entries!r}")
    found: dict[tuple[int, str, int], Schedule] = {}
    for number, entry in enumerate(cast("list[object]", entries)):
        place = f"{owner}, entry {number}"
        key, schedule = _entry(place, entry, device)
        if key in found:
            raise FheliumError(f"{place}: there is an entry for {_text(key)} already")
        found[key] = schedule
    return ScheduleTable(found)


def table_text(device: str, commit: str, entries: list[dict[str, object]]) -> str:
    """A table as the text of its file; entries have the fields that stand above."""
    return json.dumps({"device": device, "commit": commit, "schedules": entries}, indent=2) + "\n"


def _entry(place: str, data: object, device: Device) -> tuple[tuple[int, str, int], Schedule]:
    facts = _object(place, data, tuple(_RULES), ("microseconds",))
    for field, (accepts, wanted) in _RULES.items():
        if not accepts(facts[field]):
            raise FheliumError(
                f"{place}: the field '{field}' must be {wanted}, found {facts[field]!r}"
            )
    degree, rows = cast(int, facts["degree"]), cast(int, facts["rows"])
    arithmetic = cast(str, facts["arithmetic"])
    schedule = _schedule(place, cast(str, facts["schedule"]))
    try:
        check_fits(schedule, degree)
        check_exchange(schedule, device, ARITHMETICS[arithmetic].word_bits // 8)
    except FheliumError as error:
        raise FheliumError(f"{place}: {error.message}") from error
    return (degree, arithmetic, rows), schedule


def _schedule(place: str, text: str) -> Schedule:
    try:
        # In brackets, so that nothing may stand behind it.
        found = Parser(make_context(), f"[{text}]").parse_attribute()
    except ParseError as error:
        raise FheliumError(f"{place}: the schedule '{text}' is wrong: {error.msg}") from error
    if not isa(found, ArrayAttr[ScheduleAttr]) or len(found) != 1:
        raise FheliumError(f"{place}: the schedule '{text}' is no #ntt.schedule")
    return found.data[0].data


def _object(
    owner: str, data: object, required: tuple[str, ...], optional: tuple[str, ...]
) -> Mapping[str, object]:
    if not isinstance(data, dict):
        raise FheliumError(f"{owner} is not a JSON object")
    facts = cast("dict[str, object]", data)
    for field in facts:
        if field not in (*required, *optional):
            raise unknown_name("field", field, (*required, *optional), owner)
    for field in required:
        if field not in facts:
            raise FheliumError(f"{owner}: the field '{field}' is missing")
    return facts


def _text(key: tuple[int, str, int]) -> str:
    degree, arithmetic, rows = key
    return f"degree {degree}, {arithmetic}, {rows} rows"


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _is_degree(value: object) -> bool:
    number = cast(int, value) if _is_count(value) else 0
    return 8 <= number <= LARGEST_DEGREE and number & (number - 1) == 0


_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "degree": (_is_degree, f"a power of two from 8 to {LARGEST_DEGREE}"),
    "arithmetic": (
        lambda value: isinstance(value, str) and value in ARITHMETICS,
        f"one of {', '.join(ARITHMETICS)}",
    ),
    "rows": (_is_count, "a positive integer"),
    "schedule": (lambda value: isinstance(value, str), "the text of an #ntt.schedule"),
}
