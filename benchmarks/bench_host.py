"""Host time and memory of linked programs.

    python benchmarks/bench_host.py [--degree 8192] [--target cuda] [--runs 10000] [--out FILE.json]

For each example: host time of `run` per launch, over a bare loop of the same launches with the same arguments; host
time of one graph replay; bytes that many runs leave behind; peak device memory beside what the manifest states. Host
time is what the caller waits for until everything is queued, not until it has run; the median of several rounds.
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import torch

from fhelium_ir.backend.executable import KernelLibrary, PreparingLibrary
from fhelium_ir.backend.execution import ProgramExecutable
from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.tools.fhelium_run import Options
from fhelium_ir.tools.run_program import (
    compile_program,
    encrypt_and_encode,
    read_inputs,
)

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ("dot_product", "polynomial", "matvec")
LIMIT_US = 5.0
"""Most host time that `run` may add per launch."""

MEMORY_TOLERANCE = 0.05


class Recorder:
    """A kernel library that keeps the launches of a run."""

    def __init__(self, library: KernelLibrary):
        self.library = library
        self.launches: list[tuple[Callable[..., None], tuple[torch.Tensor | int, ...]]] = []

    def prepare(self, name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        library = self.library
        if isinstance(library, PreparingLibrary):
            launch = library.prepare(name, grid)
        else:

            def launch(*arguments: torch.Tensor | int) -> None:
                library.launch(name, grid, arguments)

        def recorded(*arguments: torch.Tensor | int) -> None:
            self.launches.append((launch, arguments))
            launch(*arguments)

        return recorded

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        self.prepare(name, grid)(*arguments)


def linked(example: str, degree: int, target: str) -> tuple[ProgramExecutable, list[torch.Tensor]]:
    """An example and its encrypted inputs on its device."""
    options = Options(target=target, ring_degree=degree, seed=1)
    path = ROOT / "examples" / f"{example}.mlir"
    program = compile_program(str(path), path.read_text(), options)
    client = Client(program.parameters, seed=1)
    values = read_inputs(program, None, 1)
    executable = program.link(ClientKeys(client))
    inputs = encrypt_and_encode(client, program.interface, values)
    return executable, executable.arrange(inputs)


def host_seconds(work: Callable[[], object], rounds: int, synchronize: Callable[[], None]) -> float:
    """Median host time of `work`, with an empty queue before each round."""
    times: list[float] = []
    for _ in range(rounds):
        synchronize()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    synchronize()
    return statistics.median(times)


def resident_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(example: str, degree: int, target: str, runs: int, rounds: int) -> dict[str, object]:
    program, inputs = linked(example, degree, target)
    cuda = target == "cuda"
    synchronize = torch.cuda.synchronize if cuda else (lambda: None)
    for _ in range(3):
        program.run(*inputs)
    recorder = Recorder(program.executable.kernels)
    dataclasses.replace(program.executable, kernels=recorder).run(*inputs)
    launches = recorder.launches

    def bare() -> None:
        for launch, arguments in launches:
            launch(*arguments)

    bare_s = host_seconds(bare, rounds, synchronize)
    run_s = host_seconds(lambda: program.run(*inputs), rounds, synchronize)
    added = (run_s - bare_s) / len(launches) * 1e6
    row: dict[str, object] = {
        "example": example,
        "ring_degree": degree,
        "target": target,
        "launches": len(launches),
        "bare_us_per_launch": round(bare_s / len(launches) * 1e6, 3),
        "run_us_per_launch": round(run_s / len(launches) * 1e6, 3),
        "added_us_per_launch": round(added, 3),
        "host_ok": added <= LIMIT_US,
    }
    recorder.launches.clear()
    gc.collect()
    if cuda:
        captured = program.capture()
        row["graph_replay_us"] = round(host_seconds(captured.replay, rounds, synchronize) * 1e6, 2)
        expected = cast("tuple[torch.Tensor, ...]", program.run(*inputs))
        same = zip(captured.run(*inputs), expected, strict=True)
        row["graph_ok"] = all(torch.equal(found, want) for found, want in same)
        del captured
        row.update(_peak(program, inputs))
    row.update(_growth(program, inputs, runs, cuda))
    print(json.dumps(row), flush=True)
    return row


def _peak(program: ProgramExecutable, inputs: Sequence[torch.Tensor]) -> dict[str, object]:
    """Peak device memory of a run beside what the manifest states."""
    gc.collect()
    torch.cuda.synchronize()
    memory = cast("dict[str, int]", program.manifest["memory"])
    held = sum(bound.bytes for bound in program.resources)
    held += sum(tensor.numel() * tensor.itemsize for tensor in inputs)
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    results = program.run(*inputs)
    torch.cuda.synchronize()
    # What is allocated besides the program's tables and inputs belongs to others.
    peak = torch.cuda.max_memory_allocated() - before + held
    del results
    stated = memory["peak_bytes"]
    return {
        "peak_bytes": peak,
        "stated_peak_bytes": stated,
        "peak_ok": abs(peak - stated) <= MEMORY_TOLERANCE * stated,
    }


def _growth(
    program: ProgramExecutable, inputs: Sequence[torch.Tensor], runs: int, cuda: bool
) -> dict[str, object]:
    """What many runs leave behind on the device and in the process."""
    for _ in range(50):
        program.run(*inputs)
    gc.collect()
    device_before = torch.cuda.memory_reserved() if cuda else 0
    process_before = resident_bytes()
    for count in range(runs):
        program.run(*inputs)
        if cuda and count % 100 == 0:
            torch.cuda.synchronize()
    gc.collect()
    grown = torch.cuda.memory_reserved() - device_before if cuda else 0
    process = resident_bytes() - process_before
    return {
        "runs": runs,
        "device_bytes_grown": grown,
        "process_bytes_grown": process,
        "growth_ok": grown == 0 and process < 16 << 20,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description="Measure host time and memory of programs.")
    parser.add_argument("--degree", type=int, default=1 << 13)
    parser.add_argument("--examples", nargs="+", default=list(EXAMPLES))
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", help="recorded in the result")
    options = parser.parse_args()
    rows = [
        measure(example, options.degree, options.target, options.runs, options.rounds)
        for example in options.examples
    ]
    if options.out is not None:
        device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
        content = {"commit": options.commit, "device": device, "torch": torch.__version__}
        options.out.write_text(json.dumps({**content, "rows": rows}, indent=2) + "\n")
    failed = [
        f"{row['example']}: {name}"
        for row in rows
        for name, value in row.items()
        if name.endswith("_ok") and not value
    ]
    print("failed: " + ", ".join(failed) if failed else "all within their limits")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
