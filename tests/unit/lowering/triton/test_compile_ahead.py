"""Kernels compiled ahead, by worker processes, are found by Triton's cache afterwards."""

from __future__ import annotations

from pathlib import Path

import pytest

from fhelium_ir.lowering.triton import binding
from fhelium_ir.lowering.triton import compile_ahead as compile_ahead_module
from fhelium_ir.lowering.triton.compile_ahead import compile_ahead
from fhelium_ir.lowering.triton.compile_worker import Job, compile_job

TARGET = ("cuda", 90, 32)

SOURCE = """import triton
import triton.language as tl


@triton.jit
def add_{0}(x: "*u64", y: "*u64"):
    x = x.to(tl.pointer_type(tl.uint64))
    y = y.to(tl.pointer_type(tl.uint64))
    lane = tl.arange(0, 32)
    tl.store(y + lane, tl.load(x + lane) + {0})
"""


def _binaries(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*.cubin") if path.is_file()}


def _refuse(*arguments: object) -> None:
    raise AssertionError(f"called with {arguments}")


def test_workers_fill_the_cache_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    jobs: list[Job] = [(SOURCE.format(number), ["*u64", "*u64"], 1) for number in range(3)]
    assert compile_ahead(jobs, TARGET) == 3
    before = _binaries(tmp_path)
    assert len(before) == 3
    # The same kernels again: nothing is left to compile, here or for the process that launches them.
    assert compile_ahead(jobs, TARGET) == 0
    for job in jobs:
        compile_job(job, binding.GpuTarget(*TARGET))
    assert _binaries(tmp_path) == before


def test_few_kernels_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    jobs: list[Job] = [(SOURCE.format(7), ["*u64", "*u64"], 1)]
    monkeypatch.setattr(compile_ahead_module, "_start", _refuse)
    assert compile_ahead(jobs, TARGET) == 0
    before = _binaries(tmp_path)
    assert [path.name for path in before] == ["add_7.cubin"]
    # It counts as compiled now, in this process and for later ones.
    monkeypatch.setattr(compile_ahead_module, "compile_job", _refuse)
    assert compile_ahead(jobs, TARGET) == 0
    assert _binaries(tmp_path) == before


def test_a_kernel_that_fails_is_left_to_the_first_launch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    broken = SOURCE.format(1).replace("+ 1)", "+ missing)")
    jobs: list[Job] = [(SOURCE.format(k), ["*u64", "*u64"], 1) for k in (2, 3)]
    assert compile_ahead([(broken, ["*u64", "*u64"], 1), *jobs], TARGET) == 3
    assert len(_binaries(tmp_path)) == 2
