"""FHElium as a peer, by a package of its name that counts what is asked of it."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

from tests.lit_files import ROOT

CONFIG = """
from enum import Enum

class Preset(Enum):
    small = (14, 8, 1)
    large = (16, PRIMES, 4)

class CkksConfig:
    @staticmethod
    def parse(preset):
        found = CkksConfig()
        found.logN, found.num_q_primes, found.num_p_primes = preset.value
        return found
"""

EAGER = """
class Engine:
    def __init__(self, config):
        assert config.num_q_primes == 28
        self.num_slots = 1 << (config.logN - 1)

    def encrypt_message(self, message, depth):
        assert tuple(message.shape) == (self.num_slots,) and depth == 0
        return "x"

    def coefficient_domain_to_ntt_domain(self, value):
        return {"x": "ntt x"}[value]

    def multiply(self, x, y):
        return {("ntt x", "ntt x"): "triple"}[x, y]

    def relinearize(self, value):
        return {"triple": "pair"}[value]

    def rescale_to_next_depth(self, value):
        return {"pair": "rescaled"}[value]

    def rotation_key(self, step):
        return {1: "key"}[step]

    def rotate_with_key(self, value, key):
        return {("x", "key"): "rotated"}[value, key]
"""


@pytest.fixture
def peer(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # pyright: ignore[reportUnknownMemberType]
    return importlib.import_module("gpu.fhelium_peer")


def package(folder: Path, monkeypatch: pytest.MonkeyPatch, primes: int = 28) -> None:
    """Lets processes find a package `fhelium`, version 9.9."""
    (folder / "fhelium").mkdir(parents=True)
    (folder / "fhelium" / "__init__.py").touch()
    (folder / "fhelium" / "config.py").write_text(CONFIG.replace("PRIMES", str(primes)))
    (folder / "fhelium" / "eager.py").write_text(EAGER)
    (folder / "fhelium-9.9.dist-info").mkdir()
    (folder / "fhelium-9.9.dist-info" / "METADATA").write_text("Name: fhelium\nVersion: 9.9\n")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


def test_times_stand_beside_the_stored_ones(
    peer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, monkeypatch)
    report = peer.live_times(sys.executable)
    assert report["version"] == "9.9" and "host time included" in report["times"]
    assert set(report["rows"]) == {"multiply-1390", "rotate-1390", "rescale-1390"}
    assert all(0 < microseconds < 1e5 for microseconds in report["rows"].values())
    stored = importlib.import_module("gpu.peers").stored_peers()
    peers = stored.with_measured("FHElium here", {**report, "rows": {"multiply-1390": 500.0}}, "C1")
    assert peers.ratios("multiply-1390", 250.0) == {
        **stored.ratios("multiply-1390", 250.0),
        "FHElium here": 2.0,
    }
    assert peers.ratios("rescale-1390", 50.0) == stored.ratios("rescale-1390", 50.0)
    assert peers.describe()[-1].startswith("FHElium here on C1: version 9.9, parameters N = 2^16")
    assert peers.describe()[:-1] == stored.describe()


def test_another_set_is_not_compared(
    peer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(tmp_path, monkeypatch, primes=27)
    with pytest.raises(
        peer.Unavailable, match=r"^no preset has N = 2\^16, 28 primes of q and 4 of"
    ):
        peer.live_times(sys.executable)


def test_an_interpreter_without_it(
    peer: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with pytest.raises(peer.Unavailable, match="No module named 'fhelium'"):
        peer.live_times(sys.executable)
    with pytest.raises(peer.Unavailable, match="no-such-python: No such file or directory"):
        peer.live_times(str(tmp_path / "no-such-python"))
    assert peer.installed("/opt/python") == "/opt/python"


def test_the_benchmark_goes_on_without_it(
    peer: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    del peer
    bench = importlib.import_module("bench_gpu")
    found = bench.all_peers(str(tmp_path / "python"), "C1")
    assert found == bench.stored_peers()
    assert capsys.readouterr().out.startswith("FHElium is not timed, its stored times stand: ")
