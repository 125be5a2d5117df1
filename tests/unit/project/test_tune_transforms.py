"""The tuning of schedules without a GPU: what would be timed, when it stops, and the table that it writes."""

from __future__ import annotations

import importlib
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.analysis.schedule_table import load_table, table_text
from fhelium_ir.analysis.transform_schedules import (
    candidates,
    check_exchange,
    check_fits,
    shoup_stages,
)
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel, ntt
from tests.lit_files import ROOT

GPU = DEVICES["gpu"]


@pytest.fixture
def tune(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # pyright: ignore[reportUnknownMemberType]
    return importlib.import_module("tune_transforms")


def test_schedules_fit_and_the_model_goes_first(tune: ModuleType) -> None:
    for degree in tune.DEGREES:
        for arithmetic in tune.ARITHMETICS:
            found = tune.schedules(degree, arithmetic, GPU)
            words = GPU.for_words(arithmetic)
            first = candidates(degree, words)[0].schedule
            assert found[0] == replace(first, shoup=shoup_stages(first, words, arithmetic))
            assert 20 <= len(found) == len(set(found)) <= 120
            for schedule in found:
                ntt.check_schedule(schedule)
                check_fits(schedule, degree)
                check_exchange(schedule, GPU, 8)


def test_jobs_come_degree_by_degree(tune: ModuleType) -> None:
    found = list(tune.jobs((1 << 16, 1 << 12), ("fp64", "mont32"), GPU))
    degrees = [job.degree for job in found]
    assert degrees == sorted(degrees, reverse=True)
    assert [(job.arithmetic, job.model) for job in found[:3]] == [
        ("fp64", True),
        ("mont32", True),
        ("fp64", False),
    ]
    assert sum(job.model for job in found) == 4


def test_the_program_is_one_transform_by_that_schedule(tune: ModuleType) -> None:
    tuning = importlib.import_module("gpu.tuning")
    schedule = ntt.Schedule(((4, 3), (3, 2)), 1, 4, 2)
    lowered = tuning.lowered_transform(1 << 12, "mont32", 64, schedule)
    kernels = [op for op in lowered.walk() if isinstance(op, kernel.FuncOp)]
    assert [sorted(op.lane_shape) for op in kernels] == [[4, 16], [4, 8]]
    parameters, _ = tuning.transform_text(1 << 12, "mont32", 64, schedule)
    assert len(parameters.q) == 32 and max(parameters.q) < 1 << 30


def finished(text: str) -> Future[list[str]]:
    future: Future[list[str]] = Future()
    future.set_result([text])
    return future


def compiled(job: object) -> Future[list[str]]:
    return finished("module")


def one_microsecond(job: object, rows: int, text: str) -> float:
    return 1.0


def test_the_fastest_schedules_make_a_table(
    tune: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = list(tune.jobs((1 << 12,), ("fp64", "mont32"), GPU))
    best = wanted[12]

    def time_one(job: object, rows: int, text: str) -> float:
        assert rows == 32 and text == "module"
        if job is wanted[4]:
            raise FheliumError("residues differ from those of another schedule")
        return 1.0 if job is best else 1.005 if job is wanted[14] else 2.0

    found = tune.time_jobs(wanted, [32], 60.0, compiled, time_one)
    assert len(found) == len(wanted) - 1
    assert "residues differ" in capsys.readouterr().out
    entries = tune.best_entries(found)
    (tmp_path / "t.json").write_text(table_text("a card", "a commit", entries))
    table = load_table(str(tmp_path / "t.json"), GPU)
    assert best.arithmetic == "fp64"
    assert table.find(1 << 12, "fp64", 32) == best.schedule
    # Where nothing is faster than the model's choice, that is taken.
    assert table.find(1 << 12, "mont32", 32) == wanted[1].schedule
    lines = tune.summary(found)
    assert "best of" in lines[0] and "the model's choice 2.000 times that" in lines[0]


def test_what_is_hardly_faster_is_noise(tune: ModuleType) -> None:
    model, other = list(tune.jobs((1 << 12,), ("fp64",), GPU))[:2]
    timed = [tune.Timed(model, 32, 10.0), tune.Timed(other, 32, 9.95)]
    (entry,) = tune.best_entries(timed)
    assert entry["schedule"] == str(ntt.ScheduleAttr(model.schedule))
    (entry,) = tune.best_entries([timed[0], tune.Timed(other, 32, 9.5)])
    assert entry["schedule"] == str(ntt.ScheduleAttr(other.schedule))


def test_time_is_bounded(tune: ModuleType) -> None:
    wanted = list(tune.jobs((1 << 12,), ("fp64",), GPU))
    futures: dict[int, Future[list[str]]] = {}

    def compile_job(job: object) -> Future[list[str]]:
        future: Future[list[str]] = finished("module") if len(futures) < 2 else Future()
        futures[len(futures)] = future
        return future

    start = time.perf_counter()
    found = tune.time_jobs(wanted, [32], 0.3, compile_job, one_microsecond)
    assert time.perf_counter() - start < 5
    assert len(found) == 2
    assert all(future.cancelled() for future in list(futures.values())[2:])
