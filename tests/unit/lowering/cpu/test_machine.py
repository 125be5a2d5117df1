"""The description of the processor: measured once, kept, measured again where what is kept is no use."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fhelium_ir.analysis.device import DEVICES, load_device
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.cpu import machine
from fhelium_ir.lowering.cpu.binding import vector_bits
from fhelium_ir.lowering.cpu.machine import CpuDescription

SMALL = CpuDescription(
    2, 256, (1 << 15, 1 << 20, 0), 1e10, {"mont32": 3e9, "smont32": 4e9, "fp64": 2e9, "mont64": 1e9}
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
    for damaged in ("", "{", "[]", json.dumps({"cores": 1}), path.read_text().replace("256", "17")):
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
    assert SMALL.device().lanes == 64


def test_measure() -> None:
    """Every product takes at least a cycle of a core that no processor exceeds, and far less than a millisecond."""
    found = machine.measure()
    assert found.vector_bits == vector_bits()
    assert set(found.products_s) == set(ARITHMETICS)
    for rate in (*found.products_s.values(), found.copy_bytes_s):
        assert 1e6 < rate < 1e13
    assert found.cores >= 1


def test_host_is_a_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    monkeypatch.setattr(machine, "measure", lambda: SMALL)
    assert load_device("host") == SMALL.device()
    assert load_device("cpu") == DEVICES["cpu"]
    with pytest.raises(FheliumError, match="did you mean 'host'"):
        load_device("hots")
