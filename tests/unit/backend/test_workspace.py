"""Workspaces: targets and devices, shared tables, limits."""

from __future__ import annotations

import threading

import pytest
import torch

from fhelium_ir.backend.workspace import BackendWorkspace, choose_target
from fhelium_ir.compiler.errors import FheliumError


def test_targets_and_devices() -> None:
    for target in ("cpu", "interpret", "triton-interpret"):
        workspace = BackendWorkspace(target)
        assert workspace.target == target and workspace.device == torch.device("cpu")
    assert BackendWorkspace("triton-interpret").description == "interpreter"
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
