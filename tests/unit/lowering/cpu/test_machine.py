"""The description of the processor: measured once, kept, measured again where what is kept is no use."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from fhelium_ir.analysis.device import DEVICES, load_device
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.cpu import machine
from fhelium_ir.lowering.cpu.binding import vector_bits
from fhelium_ir.lowering.cpu.machine import CpuDescription
from fhelium_ir.lowering.measurements import keep

SMALL = CpuDescription(
    2,
    256,
    (1 << 15, 1 << 20, 0),
    1e10,
    {"mont32": 3e9, "smont32": 4e9, "fp64": 2e9, "mont64": 1e9},
    {"mont32": 5e9, "mont64": 1.8e9},
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FHELIUM_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_measured_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[int] = []

    def measure() -> CpuDescription:
        measured.append(1)
        return SMALL

    monkeypatch.setattr(machine, "measure", measure)
    assert machine.describe() == SMALL
    assert machine.describe() == SMALL
    assert len(measured) == 1
    assert machine.describe(again=True) == SMALL
    assert len(measured) == 2
    path = machine.description_path()
    assert path is not None and path.parent == folder
    text = path.read_text()
    old = text.replace("shoup_products_s", "unknown")
    for damaged in ("", "{", "[]", json.dumps({"cores": 1}), text.replace("256", "17"), old):
        path.write_text(damaged)
        before = len(measured)
        assert machine.describe() == SMALL
        assert len(measured) == before + 1
        assert machine.describe() == SMALL, "what was measured replaces what is damaged"
        assert len(measured) == before + 1


def test_another_processor_is_measured(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    mine = machine.description_path()
    monkeypatch.setattr(machine, "host_description", lambda: "an unknown one")
    assert machine.description_path() != mine


def test_nothing_is_kept_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FHELIUM_CACHE_DIR", "off")
    monkeypatch.setattr(machine, "measure", lambda: SMALL)
    assert machine.description_path() is None
    assert machine.describe() == SMALL


def test_the_fastest_arithmetic_comes_first() -> None:
    assert SMALL.device().arithmetics == ("mont32", "fp64", "mont64")
    slow = replace(SMALL, products_s={"mont32": 3e9, "fp64": 1e8, "mont64": 1e9})
    assert slow.device().arithmetics == ("mont32", "mont64")
    slow = replace(SMALL, shoup_products_s={"mont32": 5e9, "mont64": 2.5e9})
    assert slow.device().arithmetics == ("mont32", "mont64"), "transforms take the fastest products"
    alike = replace(SMALL, shoup_products_s={"mont32": 5e9, "mont64": 2.1e9})
    assert alike.device().arithmetics == ("mont32", "fp64", "mont64"), "times vary"
    assert SMALL.device().lanes == 64
    assert replace(SMALL, caches=(0, 0, 0)).device().cache == DEVICES["cpu"].cache


def test_products_by_shoup_where_they_pay() -> None:
    assert (SMALL.device().shoup, SMALL.device().shoup_last) == (("mont32", "mont64"), True)
    half = replace(SMALL, shoup_products_s={"mont32": 3.1e9, "mont64": 1.8e9})
    assert half.device().shoup == ("mont64",)
    none = replace(SMALL, shoup_products_s={"mont32": 1e9, "mont64": 1e9})
    assert (none.device().shoup, none.device().shoup_last) == ((), False)


def test_measure() -> None:
    """Every product takes at least a cycle of a core that no processor exceeds, and far less than a millisecond."""
    found = machine.measure()
    assert found.vector_bits == vector_bits()
    assert set(found.products_s) == set(ARITHMETICS)
    assert set(found.shoup_products_s) == {"mont32", "mont64"}
    for rate in (*found.products_s.values(), *found.shoup_products_s.values(), found.copy_bytes_s):
        assert 1e6 < rate < 1e13
    assert found.cores >= 1


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even root cannot make a folder in a file."""
    file = tmp_path / "file"
    file.write_text("mine")
    monkeypatch.setenv("FHELIUM_CACHE_DIR", str(file / "folder"))
    monkeypatch.setattr(machine, "measure", lambda: SMALL)
    assert machine.describe() == SMALL
    assert file.read_text() == "mine"


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("FHELIUM_CACHE_DIR", raising=False)
    monkeypatch.setattr(Path, "home", nowhere)
    monkeypatch.setattr(machine, "measure", lambda: SMALL)
    assert machine.describe() == SMALL


@pytest.mark.parametrize("kept", [False, True])
def test_one_process_measures_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    """All passes of a compilation see the same device, in all threads."""
    measured: list[float] = []

    def measure() -> CpuDescription:
        measured.append(1e10 + len(measured))
        time.sleep(0.02)
        return replace(SMALL, caches=(1, 1 + len(measured), 1))

    monkeypatch.setenv("FHELIUM_CACHE_DIR", str(tmp_path) if kept else "off")
    monkeypatch.setattr(machine, "measure", measure)
    monkeypatch.setattr(machine, "_devices", {})
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(load_device, ["host"] * 32))
    assert set(found) == {found[0]}
    assert len(measured) == 1


def test_many_writers_leave_one_whole_description(folder: Path) -> None:
    """As many first users at the same time: readers see a whole file or none."""
    path = folder / "cpu-test.json"
    contents = [{"number": number, "text": "x" * 100_000} for number in range(8)]

    def write(content: dict[str, object]) -> None:
        for _ in range(20):
            keep(path, content)
            assert json.loads(path.read_text()) in contents

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, contents))
    assert [entry.name for entry in folder.iterdir()] == ["cpu-test.json"]


def test_host_is_a_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    monkeypatch.setattr(machine, "measure", lambda: SMALL)
    assert load_device("host") == SMALL.device()
    assert load_device("cpu") == DEVICES["cpu"]
    with pytest.raises(FheliumError, match="did you mean 'host'"):
        load_device("hots")
