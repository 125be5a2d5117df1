"""Workspaces: targets and devices, shared tables, limits."""

from __future__ import annotations

import sys
import threading
import warnings

import pytest
import torch

from fhelium_ir.analysis.device import load_device
from fhelium_ir.backend.workspace import BackendWorkspace, choose_target, description_for
from fhelium_ir.compiler.errors import FheliumError


def test_targets_and_devices() -> None:
    for target in ("cpu", "interpret", "triton-interpret"):
        workspace = BackendWorkspace(target)
        assert workspace.target == target and workspace.device == torch.device("cpu")
    assert BackendWorkspace("triton-interpret").description == "interpreter"
    assert BackendWorkspace("interpret").description == "cpu"
    assert BackendWorkspace("cpu", description="gpu").description == "gpu"
    with pytest.raises(FheliumError, match="target 'cpu' runs on cpu, not on meta"):
        BackendWorkspace("cpu", "meta")
    with pytest.raises(FheliumError, match="unknown target 'gpu'; did you mean 'cpu'"):
        BackendWorkspace("gpu")
    with pytest.raises(FheliumError, match="the memory limit must not be negative, found -1"):
        BackendWorkspace("cpu", memory_limit=-1)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_needs_a_device() -> None:
    assert choose_target("auto") == "cpu"
    with pytest.raises(FheliumError, match="target 'cuda' needs a CUDA device"):
        choose_target("cuda")


def test_the_processor_is_measured_where_it_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    assert BackendWorkspace("cpu").description == description_for("cpu") == "host"
    assert BackendWorkspace("cpu", description="cpu").description == "cpu"
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    assert description_for("cpu") == "cpu", "for a machine elsewhere"
    with pytest.raises(FheliumError, match=r"device 'host' cannot be measured: .*llvmlite"):
        monkeypatch.delitem(sys.modules, "fhelium_ir.lowering.cpu.machine", raising=False)
        monkeypatch.delitem(sys.modules, "fhelium_ir.lowering.cpu.binding", raising=False)
        load_device("host")


def on_card(
    monkeypatch: pytest.MonkeyPatch, name: str, description: str | None
) -> BackendWorkspace:
    """A workspace on a card that is not there."""
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: name)  # pyright: ignore
    return BackendWorkspace("cuda", "cuda:0", description=description)


def test_schedules_on_a_card_are_for_this_card(monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = on_card(monkeypatch, "NVIDIA GeForce RTX 4090", None)
    assert workspace.description == description_for("cuda") == "cuda"
    assert description_for("triton-interpret") == "interpreter"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        workspace.check_description()
        on_card(monkeypatch, "NVIDIA H200", "gpu").check_description()
        on_card(monkeypatch, "NVIDIA H100 80GB HBM3", "gpu").check_description()
        BackendWorkspace("cpu", description="gpu").check_description()
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert description_for("cuda") == "gpu", "for a machine elsewhere"


def test_the_description_of_another_card_is_warned_about_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    workspace = on_card(monkeypatch, "NVIDIA GeForce RTX 4090", "gpu")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        workspace.check_description()
        workspace.check_description()
    (warning,) = caught
    assert str(warning.message) == (
        "arithmetic and schedules are for an H200, not for NVIDIA GeForce RTX 4090: compile for "
        "device 'cuda', which measures this card"
    )


def test_a_table_is_made_once_by_many_threads() -> None:
    workspace, made = BackendWorkspace("cpu"), list[int]()

    def make() -> torch.Tensor:
        made.append(1)
        return torch.zeros(4, dtype=torch.int64)

    threads = [threading.Thread(target=lambda: workspace.table("k", make)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1] and workspace.holds("k") and workspace.table_bytes == 32
    workspace.clear()
    assert not workspace.holds("k") and workspace.table_bytes == 0


def test_limits() -> None:
    workspace = BackendWorkspace("cpu", memory_limit=100)
    workspace.check_fits("it", 50, 100)
    with pytest.raises(FheliumError, match="it wants 101 bytes, the memory limit leaves 100 free"):
        workspace.check_fits("it", 1, 101)
    free = workspace.free_bytes()
    assert free > 1 << 20
    with pytest.raises(FheliumError, match=r"it wants \d+ bytes on cpu, \d+ are free"):
        BackendWorkspace("cpu").check_fits("it", 1 << 60, 1 << 60)


def test_reservations_add_up() -> None:
    workspace = BackendWorkspace("cpu", memory_limit=100)
    with workspace.reserve("one", 20, 50):
        with workspace.reserve("two", 20, 30):
            pass
        with (
            pytest.raises(FheliumError, match="three wants 31 bytes, the memory limit leaves 30"),
            workspace.reserve("three", 20, 31),
        ):
            pass
    with workspace.reserve("four", 20, 80):
        pass
    with BackendWorkspace("cpu").reserve("unlimited", 1 << 60, 1 << 60):
        pass
