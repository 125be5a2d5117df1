"""The profile of a run: times, bytes, regions and the table."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import pytest
import torch

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.tools import fhelium_run
from fhelium_ir.tools.progress import step
from fhelium_ir.tools.run_profile import (
    Launch,
    ProfilingKernels,
    bandwidth,
    by_kernel,
    by_region,
    profile,
    traffic,
)
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT

CPU = torch.device("cpu")


class Kernels:
    """Counts launches."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        self.calls.append(name)


def test_bytes_count_each_buffer_once() -> None:
    a, b = torch.zeros(10, dtype=torch.int64), torch.zeros(3, dtype=torch.int32)
    assert traffic([a, b, 7, a]) == 80 + 12


def test_each_launch_is_passed_on_and_timed() -> None:
    kernels = Kernels()
    profiling = ProfilingKernels(kernels)
    a = torch.zeros(4, dtype=torch.int64)
    for name in ("x", "y", "x"):
        profiling.launch(name, (1,), [a])
    assert kernels.calls == ["x", "y", "x"]
    launches = profiling.launches()
    assert [(launch.kernel, launch.bytes) for launch in launches] == [
        ("x", 32),
        ("y", 32),
        ("x", 32),
    ]
    assert all(launch.seconds >= 0 for launch in launches)


def test_a_profile_runs_a_few_times() -> None:
    kernels = Kernels()
    a = torch.zeros(4, dtype=torch.int64)
    launches = profile(lambda library: library.launch("x", (1,), [a]), kernels, CPU)
    assert len(launches) == 1 and 1 <= len(kernels.calls) <= 5


def test_launches_group_by_kernel() -> None:
    launches = [Launch("a", 10, 1.0), Launch("b", 20, 5.0), Launch("a", 10, 2.0)]
    rows = [(e.name, len(e.kernels), e.bytes, e.seconds) for e in by_kernel(launches)]
    assert rows == [("b", 1, 20, 5.0), ("a", 2, 20, 3.0)]


def test_launches_of_another_program_have_no_regions() -> None:
    module = parse_module(make_context(), "func.func @f() { return }")
    assert by_region([Launch("a", 1, 1.0)], module, "f") == []


def test_a_copy_has_a_bandwidth() -> None:
    assert 1e8 < bandwidth(torch.device("cpu")) < 1e13


def test_progress_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with step("working"):
        pass
    assert stream.getvalue() == ""


def test_the_tool_prints_kernels_and_regions(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [str(ROOT / "examples" / "matvec.mlir"), "--ring-degree", "64", "--seed", "1"]
    assert fhelium_run.main([*arguments, "--target", "interpret", "--profile"]) == 0
    out = capsys.readouterr().out
    assert "GB/s (measured by a copy)" in out
    head, _, tables = out.partition("profile: ")
    launches = int(head.partition("launches: ")[2].partition(",")[0])
    assert tables.startswith(f"{launches} launches")
    kernels, _, regions = tables.partition("region ")
    counts = [int(line.split("│")[2]) for line in kernels.splitlines() if line.startswith("│")]
    assert sum(counts) == launches
    assert "matvec.mlir:" in regions


def test_the_reference_has_no_profile(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "examples" / "matvec.mlir")
    assert fhelium_run.main([path, "--target", "reference", "--profile"]) == 1
    assert "needs a target with kernels" in capsys.readouterr().err
