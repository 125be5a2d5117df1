"""Device descriptions, built in and from JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fhelium_ir.analysis.device import DEVICES, Device, load_device
from fhelium_ir.compiler.errors import FheliumError

VALID = {
    "name": "card",
    "arithmetics": ["mont64", "mont32"],
    "register_stages": 3,
    "exchange": False,
    "lanes": 64,
    "rows": 2,
    "warps": 8,
}


def write(path: Path, data: object) -> str:
    path.write_text(json.dumps(data))
    return str(path)


def test_a_file_describes_a_device(tmp_path: Path) -> None:
    device = load_device(write(tmp_path / "card.json", {**VALID, "launch_cost": 1}))
    expected = Device("card", ("mont64", "mont32"), 3, False, 64, 2, 8, launch_cost=1)
    assert device == expected


def test_a_file_says_where_products_are_by_shoup(tmp_path: Path) -> None:
    stated = {"shoup": ["mont64"], "shoup_last": True}
    device = load_device(write(tmp_path / "card.json", {**VALID, **stated}))
    assert (device.shoup, device.shoup_last) == (("mont64",), True)
    device = load_device(write(tmp_path / "card.json", VALID))
    assert (device.shoup, device.shoup_last) == ((), False)


def test_rows_of_a_conversion_are_of_doubles(tmp_path: Path) -> None:
    device = load_device(write(tmp_path / "card.json", {**VALID, "converted_rows": 2}))
    assert device.for_words("fp64").converted_rows == 2
    assert {device.for_words(name).converted_rows for name in ("mont64", "smont32", None)} == {1}


def test_built_in_names() -> None:
    assert set(DEVICES) == {"gpu", "cpu", "interpreter"}
    assert load_device("cpu") is DEVICES["cpu"]
    with pytest.raises(FheliumError, match=r"unknown device 'gpu2'; did you mean 'gpu'\?"):
        load_device("gpu2")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"register_stages": 5}, "'register_stages' must be an integer from 1 to 4, found 5"),
        ({"register_stages": True}, "'register_stages' must be an integer from 1 to 4, found True"),
        ({"exchange": 1}, "'exchange' must be true or false, found 1"),
        ({"shoup": ["fp64"]}, "'shoup' must be a list of names among mont32, mont64, found"),
        ({"shoup": "mont32"}, "'shoup' must be a list of names among mont32, mont64, found"),
        ({"shoup_last": 1}, "'shoup_last' must be true or false, found 1"),
        ({"converted_rows": 3}, "'converted_rows' must be 1 or 2, found 3"),
        ({"converted_rows": True}, "'converted_rows' must be 1 or 2, found True"),
        ({"lanes": 48}, "'lanes' must be a power of two, found 48"),
        ({"rows": 0}, "'rows' must be a power of two, found 0"),
        ({"warps": 3}, "'warps' must be 1, 2, 4, 8 or 16, found 3"),
        (
            {"arithmetics": []},
            "'arithmetics' must be a list of names among mont32, smont32, fp64, mont64",
        ),
        (
            {"arithmetics": ["fp65"]},
            "'arithmetics' must be a list of names among mont32, smont32, fp64, mont64",
        ),
        ({"memory_cost": -1}, "'memory_cost' must be a number that is not negative, found -1"),
        (
            {"idle_cost": float("nan")},
            "'idle_cost' must be a number that is not negative, found nan",
        ),
        ({"table_stages": 2}, "'table_stages' must be 0 or an integer from 3 on, found 2"),
        ({"table_stages": -1}, "'table_stages' must be 0 or an integer from 3 on, found -1"),
        ({"streams": 0}, "'streams' must be an integer from 1 to 8, found 0"),
        ({"streams": 9}, "'streams' must be an integer from 1 to 8, found 9"),
        ({"name": ""}, "'name' must be a text"),
        ({"lane": 64}, r"unknown field 'lane'; did you mean 'lanes'\?"),
    ],
)
def test_a_bad_field_is_named(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(FheliumError, match=message):
        load_device(write(tmp_path / "card.json", {**VALID, **change}))


@pytest.mark.parametrize("field", sorted(VALID))
def test_a_missing_field_is_named(tmp_path: Path, field: str) -> None:
    data = {key: value for key, value in VALID.items() if key != field}
    with pytest.raises(FheliumError, match=f"the field '{field}' is missing"):
        load_device(write(tmp_path / "card.json", data))


def test_what_is_no_description_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FheliumError, match="is not a JSON object"):
        load_device(write(tmp_path / "list.json", [VALID]))
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(FheliumError, match="is not JSON"):
        load_device(str(tmp_path / "broken.json"))
    with pytest.raises(FheliumError, match="No such file"):
        load_device(str(tmp_path / "none.json"))
