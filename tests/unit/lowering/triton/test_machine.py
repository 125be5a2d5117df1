"""The description of the CUDA card: measured once, kept, measured again where what is kept is no use."""

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch

from fhelium_ir.analysis.device import DEVICES, load_device
from fhelium_ir.analysis.transform_schedules import candidates
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.triton import binding, machine
from fhelium_ir.lowering.triton.card_kernels import Probe
from fhelium_ir.lowering.triton.machine import Card, CardDescription

H200 = CardDescription(
    Card("NVIDIA H200", "570.86.15", 90, 132, 232448, 65536, 50 << 20, 140 << 30),
    4.1e12,
    {"fma": 15.9e12, "low32": 15.0e12, "wide32": 4.0e12, "exchange": 1.6e12}
    | {"mont32_shoup": 2.1e12, "mont64_shoup": 0.5e12},
    {"mont32": 1.7e12, "smont32": 1.8e12, "fp64": 2.6e12, "mont64": 0.3e12},
    1.5e-6,
)
GAMING = CardDescription(
    Card("NVIDIA GeForce RTX 4090", "570.86.15", 89, 128, 101376, 65536, 72 << 20, 24 << 30),
    0.92e12,
    {"fma": 0.6e12, "low32": 20.0e12, "wide32": 10.0e12, "exchange": 1.5e12}
    | {"mont32_shoup": 4e12, "mont64_shoup": 0.8e12},
    {"mont32": 2.5e12, "smont32": 2.6e12, "fp64": 0.1e12, "mont64": 0.5e12},
    2.0e-6,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FHELIUM_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(machine, "current_card", lambda: H200.card)
    return tmp_path


def test_measured_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[Card] = []

    def measure(card: Card) -> CardDescription:
        measured.append(card)
        return H200

    monkeypatch.setattr(machine, "measure", measure)
    assert machine.describe() == H200
    assert machine.describe() == H200
    assert len(measured) == 1
    assert machine.describe(again=True) == H200
    assert len(measured) == 2
    path = machine.description_path(H200.card)
    assert path is not None and path.parent == folder
    sound = path.read_text()
    for damaged in (
        "",
        "{",
        "[]",
        json.dumps({"card": {}}),
        json.dumps({**asdict(H200), "card": {"name": "x"}}),
        json.dumps({**asdict(H200), "launch_s": -1}),
        json.dumps({**asdict(H200), "products_s": {"mont32": 1e12}}),
        sound.replace("4100000000000.0", "NaN"),
        sound.replace("NVIDIA H200", "NVIDIA H100"),
    ):
        assert damaged != sound
        path.write_text(damaged)
        before = len(measured)
        assert machine.describe() == H200
        assert len(measured) == before + 1
        assert machine.describe() == H200, "what was measured replaces what is damaged"
        assert len(measured) == before + 1


@pytest.mark.parametrize("change", [{"name": "NVIDIA L4"}, {"driver": "580.1"}, {"sms": 66}])
def test_another_card_or_driver_is_measured(folder: Path, change: dict[str, object]) -> None:
    del folder
    other = replace(H200.card, **change)  # type: ignore[arg-type]
    assert machine.description_path(other) != machine.description_path(H200.card)


def test_nothing_is_kept_without_a_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FHELIUM_CACHE_DIR", "off")
    monkeypatch.setattr(machine, "measure", lambda card: H200)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert machine.description_path(H200.card) is None
    assert machine.describe() == H200
    assert not list(folder.iterdir())


def test_a_card_with_slow_doubles_gets_integers() -> None:
    assert H200.device().arithmetics == ("smont32", "fp64", "mont64")
    assert GAMING.device().arithmetics == ("smont32", "mont64")
    # Per bit of modulus: 50 bits at 1.0 are less than 62 at 0.9, and more than 62 at 0.8.
    rates = {"mont32": 1.0, "fp64": 1.0, "mont64": 0.9}
    assert replace(H200, products_s=rates).device().arithmetics == ("smont32", "mont64")
    rates = {"mont32": 1.0, "fp64": 1.0, "mont64": 0.8}
    assert replace(H200, products_s=rates).device().arithmetics == ("smont32", "fp64", "mont64")


def test_costs_are_in_moved_words() -> None:
    """4.1 TB/s are 512.5e9 words; 1.5 us are 768750 of them, shared by 128 polynomials."""
    device = H200.device()
    assert device.exchange_cost == pytest.approx(512.5 / 1600, abs=1e-3)
    assert device.launch_cost == pytest.approx(768750 / 128, abs=1)
    assert device.shared_bytes == 232448
    assert device.busy_lanes == DEVICES["gpu"].busy_lanes
    assert GAMING.device().busy_lanes == DEVICES["gpu"].busy_lanes * 128 // 132


def test_a_launch_finds_four_fifths_of_the_l2_cache() -> None:
    assert H200.device().shared_cache == 40 << 20 == DEVICES["gpu"].shared_cache
    assert GAMING.device().shared_cache == (72 << 20) * 4 // 5


def test_an_h200_gets_the_schedules_of_the_fixed_description() -> None:
    fixed, measured = DEVICES["gpu"], H200.device()
    for degree in (1 << 15, 1 << 16):
        for arithmetic in fixed.arithmetics:
            first = candidates(degree, fixed.for_words(arithmetic))[0]
            assert candidates(degree, measured.for_words(arithmetic))[0].schedule == first.schedule


def test_cuda_is_a_device(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del folder
    monkeypatch.setattr(machine, "measure", lambda card: H200)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    assert load_device("cuda") == H200.device()
    with pytest.raises(FheliumError, match="unknown device 'cudaa'; did you mean 'cuda'"):
        load_device("cudaa")


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_no_card() -> None:
    with pytest.raises(FheliumError, match="device 'cuda' needs a CUDA device, and none is avail"):
        load_device("cuda")


def test_the_driver_is_read(tmp_path: Path) -> None:
    path = tmp_path / "version"
    path.write_text(
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  Release Build\n"
        "GCC version:  gcc version 12.3.0\n"
    )
    assert machine.driver_version(path) == "570.86.15"
    path.write_text("nothing of the kind 1.2\n")
    assert machine.driver_version(path) == "unknown"
    assert machine.driver_version(tmp_path / "missing") == "unknown"


@pytest.fixture
def slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """A card on which every launch takes a millisecond, and each of many a microsecond."""

    class Kernels:
        def __init__(self, module: object, interpret: bool):
            assert not interpret

        def compile_ahead(self, target: tuple[str, int, int]) -> int:
            assert target == ("cuda", 90, 32)
            return 0

        def launch(self, name: str, grid: tuple[int, ...], arguments: object) -> None:
            assert grid[0] % H200.card.sms == 0

    def a_millisecond(action: Callable[[], object]) -> float:
        action()
        return 1e-3

    def no_tensors(probe: Probe, device: str) -> tuple[()]:
        assert device == "cuda"
        return ()

    monkeypatch.setattr(machine, "TritonKernels", Kernels)
    monkeypatch.setattr(machine, "_seconds", a_millisecond)
    monkeypatch.setattr(machine, "_launch_seconds", lambda action: 1e-6)  # pyright: ignore[reportUnknownLambdaType, reportUnknownArgumentType]
    monkeypatch.setattr(machine, "_copy_rate", lambda: 4e12)
    monkeypatch.setattr(Probe, "arguments", no_tensors)
    monkeypatch.setattr(binding, "current_gpu", lambda: ("cuda", 90, 32))


@pytest.mark.usefixtures("slow_clock")
def test_rates_are_operations_per_second() -> None:
    """2048 operations of 256 lanes of 16 programs of 132 multiprocessors in a millisecond."""
    found = machine.measure(H200.card)
    chains = 2048 * 256 * 16 * 132 / 1e-3
    assert set(found.products_s) == set(ARITHMETICS)
    for name, rate in {**found.rates, **found.products_s}.items():
        expected = 16 * 256 * 512 * 132 / 1e-3 if name == "exchange" else chains
        assert rate == pytest.approx(expected), name
    assert (found.copy_bytes_s, found.launch_s) == (4e12, 1e-6)


@pytest.mark.usefixtures("slow_clock")
def test_a_card_that_cannot_be_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails() -> float:
        raise RuntimeError("CUDA error: out of\nmemory")

    monkeypatch.setattr(machine, "_copy_rate", fails)
    with pytest.raises(FheliumError, match="cannot measure NVIDIA H200: CUDA error: out of mem"):
        machine.measure(H200.card)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_measure() -> None:
    found = machine.measure(machine.current_card())
    for rate in (found.copy_bytes_s, *found.rates.values(), *found.products_s.values()):
        assert 1e9 < rate < 1e15
    assert 1e-7 < found.launch_s < 1e-4
