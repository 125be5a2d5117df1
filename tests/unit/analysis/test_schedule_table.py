"""Tables of timed schedules: what is found in them, and what is wrong with them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.analysis.schedule_table import load_table, table_text
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr

GPU = DEVICES["gpu"]
EVEN = Schedule(((4, 4), (4, 4)), 1, 8, 4)
WIDE = replace(EVEN, columns=16, warps=8)
ENTRY: dict[str, object] = {
    "degree": 1 << 16,
    "arithmetic": "fp64",
    "rows": 32,
    "schedule": str(ScheduleAttr(EVEN)),
}


def write(path: Path, *entries: dict[str, object]) -> str:
    path.write_text(table_text("a card", "a commit", list(entries)))
    return str(path)


def test_the_nearest_number_of_rows(tmp_path: Path) -> None:
    other = {**ENTRY, "rows": 128, "schedule": str(ScheduleAttr(WIDE)), "microseconds": 80.5}
    table = load_table(write(tmp_path / "t.json", ENTRY, other), GPU)
    # 64 is as near to 32 as to 128 by ratio: the larger one.
    wanted = {1: EVEN, 32: EVEN, 63: EVEN, 64: WIDE, 65: WIDE, 4096: WIDE}
    assert {rows: table.find(1 << 16, "fp64", rows) for rows in wanted} == wanted
    assert table.find(1 << 16, "mont32", 32) is None
    assert table.find(1 << 16, None, 32) is None
    assert table.find(1 << 15, "fp64", 32) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"degree": 3}, "entry 1: the field 'degree' must be a power of two from 8 to 131072, fou"),
        ({"degree": 1 << 15}, "entry 1: the schedule has 16 stages, ring degree 32768 needs 15"),
        (
            {"arithmetic": "fp65"},
            "the field 'arithmetic' must be one of mont32, smont32, fp64, mont64, fo",
        ),
        ({"rows": 0}, "the field 'rows' must be a positive integer, found 0"),
        ({"rows": 32}, r"entry 1: there is an entry for degree 65536, fp64, 32 rows already"),
        ({"schedule": 4}, "the field 'schedule' must be the text of an #ntt.schedule, found 4"),
        ({"schedule": "4 : i64"}, "the schedule '4 : i64' is no #ntt.schedule"),
        ({"schedule": "nothing"}, "the schedule 'nothing' is wrong: "),
        ({"schedule": f"{ScheduleAttr(EVEN)} x"}, "is wrong: "),
        (
            {"schedule": str(ScheduleAttr(EVEN)).replace("rows = 1", "rows = 3")},
            "is wrong: ntt.schedule: rows = 3 is not a power of two",
        ),
        (
            {"schedule": str(ScheduleAttr(replace(EVEN, columns=128)))},
            "entry 1: kernel .* exchanges 16 words of each of 2048 lanes, 262144 bytes",
        ),
        ({"colour": 1}, "entry 1: unknown field 'colour'"),
    ],
)
def test_a_bad_entry_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    path = write(tmp_path / "t.json", ENTRY, {**ENTRY, "rows": 8, **change})
    with pytest.raises(FheliumError, match=message):
        load_table(path, GPU)


def test_what_is_no_table(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for text, message in (
        ("{", "is not JSON"),
        ("[]", "is not a JSON object"),
        ("{}", "the field 'schedules' is missing"),
        ('{"schedules": 1}', "the field 'schedules' must be a list, found 1"),
        ('{"schedules": [1]}', "entry 0 is not a JSON object"),
        (json.dumps({"schedules": [{"rows": 1}]}), "entry 0: the field 'degree' is missing"),
        ('{"schedule": []}', "unknown field 'schedule'; did you mean 'schedules'"),
    ):
        path.write_text(text)
        with pytest.raises(FheliumError, match=message):
            load_table(str(path), GPU)
    with pytest.raises(FheliumError, match=r"cannot read schedule table '.*': No such file"):
        load_table(str(tmp_path / "none"), GPU)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(FheliumError, match="is not JSON"):
        load_table(str(path), GPU)
