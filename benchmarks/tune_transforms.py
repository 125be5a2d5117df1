"""Times schedules of transforms on a CUDA device and writes the best ones as a table for `tune-ntt-schedules`.

    python benchmarks/tune_transforms.py [--seconds 120] [--degrees 65536 ...] [--arithmetics fp64 mont32]
        [--rows 32 256] [--device NAME] [--out FILE.json]

For each ring degree, arithmetic and number of residue polynomials: forward transforms of random residues by the
schedules that the cost model likes best, with 64 to 512 lanes and different numbers of warps. Processes compile while
this one times what is ready. Time is bounded: what has been timed when it is over is written, and degrees that stand
first are timed first. All schedules must give the same residues. A schedule only enters the table if it is faster than
the model's by more than the noise.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures import TimeoutError as TimeIsUp
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from gpu.stages import RandomMaterials
from gpu.timing import captured, cold_time, warm_time
from gpu.tuning import compile_transform, schedules

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.schedule_table import table_text
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import ckks
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.lowering.link import choose_target, link
from fhelium_ir.universe import make_context

DEGREES = tuple(1 << stages for stages in (16, 15, 14, 17, 13, 12))
ARITHMETICS = ("fp64", "mont32", "smont32")
ROWS = (32, 256)

NOISE = 0.01
"""What a schedule must be faster than the model's choice to go before it."""

CACHED = 1 << 25
"""Bytes of words that stay in the L2 cache; transforms of more are timed cold."""


@dataclass(frozen=True)
class Job:
    """A schedule to time."""

    degree: int
    arithmetic: str
    schedule: Schedule
    model: bool
    """Whether it is what the model chooses."""


@dataclass(frozen=True)
class Timed:
    """Microseconds of a job for a number of residue polynomials."""

    job: Job
    rows: int
    microseconds: float


def jobs(degrees: Sequence[int], arithmetics: Sequence[str], device: Device) -> Iterator[Job]:
    """What to time: degree by degree, and there the arithmetics in turn, best schedules first."""
    for degree in degrees:
        lists = [schedules(degree, arithmetic, device) for arithmetic in arithmetics]
        for place in range(max(map(len, lists))):
            for arithmetic, found in zip(arithmetics, lists, strict=True):
                if place < len(found):
                    yield Job(degree, arithmetic, found[place], place == 0)


class Timer:
    """Times lowered transforms, and keeps the results of each kind of transform to compare others with."""

    def __init__(self) -> None:
        self.expected: dict[tuple[int, str, int], torch.Tensor] = {}
        self.inputs: dict[tuple[int, str, int], torch.Tensor] = {}

    def time(self, job: Job, rows: int, text: str) -> float:
        """Microseconds: cold where words are more than the L2 cache holds, else warm.

        Raises:
            FheliumError: residues differ from those of another schedule.
        """
        module = parse_module(make_context(), text, "transform")
        parameters = ckks.parameters_of(module)
        executable = link(module, RandomMaterials(parameters), "cuda", "row")
        (spec,) = executable.arguments
        key = (job.degree, job.arithmetic, rows)
        if key not in self.inputs:
            generator = np.random.default_rng(rows)
            parts = [
                generator.integers(0, q, (spec.shape[0], job.degree), dtype=np.int64)
                for q in parameters.q[: spec.shape[1]]
            ]
            dtype = torch.int32 if spec.dtype == "int32" else torch.int64
            self.inputs[key] = torch.as_tensor(np.stack(parts, axis=1)).to(dtype).cuda()
        given = self.inputs[key]
        (output,) = executable.run(given)
        torch.cuda.synchronize()
        expected = self.expected.setdefault(key, output)
        if not torch.equal(expected, output):
            raise FheliumError("residues differ from those of another schedule")
        if given.numel() * given.element_size() <= CACHED:
            return warm_time(lambda: executable.run(given), 15)
        graph, _ = captured(lambda: executable.run(given))
        return cold_time(graph, 15)


def time_jobs(
    wanted: Sequence[Job],
    rows: Sequence[int],
    seconds: float,
    compile_job: Callable[[Job], Future[list[str]]],
    time_one: Callable[[Job, int, str], float],
) -> list[Timed]:
    """Times jobs as they are compiled, until there are no more or the time is over."""
    end = time.perf_counter() + seconds
    pending = {compile_job(job): job for job in wanted}
    found: list[Timed] = []
    try:
        for future in as_completed(pending, timeout=seconds):
            job = pending[future]
            try:
                for count, text in zip(rows, future.result(), strict=True):
                    found.append(Timed(job, count, time_one(job, count, text)))
                    report(found[-1])
            except (FheliumError, RuntimeError) as error:
                reason = " ".join(str(error).split())[:200]
                print(f"{job.degree} {job.arithmetic} {ScheduleAttr(job.schedule)}: {reason}")
            if time.perf_counter() > end:
                break
    except TimeIsUp:
        pass
    for future in pending:
        future.cancel()
    return found


def report(timed: Timed) -> None:
    """Prints a line."""
    job = timed.job
    line = {
        "degree": job.degree,
        "arithmetic": job.arithmetic,
        "rows": timed.rows,
        "us": round(timed.microseconds, 2),
        "schedule": str(ScheduleAttr(job.schedule)),
        "model": job.model,
    }
    print(json.dumps(line), flush=True)


def best_entries(found: Sequence[Timed]) -> list[dict[str, object]]:
    """The fastest schedule of each kind of transform, as entries of a table; the model's where none is faster."""
    entries: list[dict[str, object]] = []
    keys = {(t.job.degree, t.job.arithmetic, t.rows) for t in found}
    for degree, arithmetic, rows in sorted(keys):
        timed = [
            t
            for t in found
            if (t.job.degree, t.job.arithmetic, t.rows) == (degree, arithmetic, rows)
        ]
        best = min(timed, key=lambda t: t.microseconds * (1 - NOISE if t.job.model else 1))
        entries.append(
            {
                "degree": degree,
                "arithmetic": arithmetic,
                "rows": rows,
                "microseconds": round(best.microseconds, 2),
                "schedule": str(ScheduleAttr(best.job.schedule)),
            }
        )
    return entries


def summary(found: Sequence[Timed]) -> list[str]:
    """For each kind of transform, how much longer the model's choice takes than the best."""
    lines: list[str] = []
    for entry in best_entries(found):
        key = (entry["degree"], entry["arithmetic"], entry["rows"])
        same = [t for t in found if (t.job.degree, t.job.arithmetic, t.rows) == key]
        model = [t.microseconds for t in same if t.job.model]
        best = min(t.microseconds for t in same)
        against = f"{model[0] / best:.3f} times that" if model else "not timed"
        lines.append(f"{key}: best of {len(same)} {best:.2f} us, the model's choice {against}")
    return lines


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description="Time schedules of transforms on a CUDA device.")
    parser.add_argument("--seconds", type=float, default=120.0, help="for compiling and timing")
    parser.add_argument("--degrees", type=int, nargs="*", default=list(DEGREES))
    parser.add_argument("--arithmetics", nargs="*", default=list(ARITHMETICS))
    parser.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    parser.add_argument("--device", default="gpu", help="description that the model goes by")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    return parser


def main() -> int:
    options = make_parser().parse_args()
    try:
        choose_target("cuda")
        wanted = list(jobs(options.degrees, options.arithmetics, load_device(options.device)))
    except FheliumError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 1
    print(
        f"{len(wanted)} schedules, {options.workers} processes, {options.seconds:.0f} s", flush=True
    )
    timer = Timer()
    pool = ProcessPoolExecutor(options.workers, mp_context=get_context("spawn"))

    def compile_job(job: Job) -> Future[list[str]]:
        return pool.submit(
            compile_transform, job.degree, job.arithmetic, options.rows, job.schedule
        )

    found = time_jobs(wanted, options.rows, options.seconds, compile_job, timer.time)
    print("\n".join(summary(found)), flush=True)
    if options.out is not None:
        text = table_text(torch.cuda.get_device_name(), options.commit, best_entries(found))
        options.out.write_text(text)
    # Workers may be in the middle of a kernel that nobody waits for any more.
    for process in list((pool._processes or {}).values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
