"""Times the rows of benchmarks/gpu on a CUDA device, with residues compared to the exact polynomial reference.

    python benchmarks/bench_gpu.py [--rows NAME ...] [--check NAME ... | --check-all] [--kernels] [--out FILE.json]

Each row is an .mlir file that goes through the default pipeline; the Triton text comes from the kernel stage alone.
Inputs and keys are random residues. Times are medians of CUDA-graph replays, warm (back to back) and cold (L2 flushed
before each). After the timed replays every residue of the results is compared with the reference of the polynomial
stage, which knows nothing of kernels and runs in processes of its own. The floor is the larger of the bytes that the
row must move once (inputs, results, keys) over the bandwidth of a large copy in the same run, and its modular products
over the rate of fp64 or integer multiplication.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from gpu_rows import FOLDER, Row, all_rows
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.backend.execution import ProgramExecutable
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.polynomial import run_polynomial
from fhelium_ir.reference.residues import forward

Residues = NDArray[np.int64]

PASSES = universe.PIPELINES[universe.DEFAULT_PIPELINE]
POLYNOMIAL = PASSES.index("select-arithmetic")
WARM_REPLAYS = 20
"""Replays between two events: one alone would be measured with the latency of its launch."""

STATED_BANDWIDTH = 4.07e12
"""Bytes per second of a large copy on the H200 that the goals are for; other runs are scaled."""


def key_residues(parameters: Parameters, kind: str, galois: int | None) -> Residues:
    """Random residues in the shape of a key, the same in every process."""
    digits = parameters.digit_count()
    generator = np.random.default_rng((galois or 0) + 1)
    rows = [
        generator.integers(0, q, (digits, 2, parameters.ring_degree), dtype=np.int64)
        for q in parameters.primes
    ]
    return np.stack(rows, axis=2)


def plaintext_residues(
    parameters: Parameters, values: Sequence[complex], level: int, extended: bool
) -> Residues:
    """A random integer polynomial that stands for an encoded vector: the same one modulo each prime."""
    generator = np.random.default_rng(int(1000 * abs(values[0])) + level)
    coefficients = generator.integers(-(1 << 20), 1 << 20, parameters.ring_degree, dtype=np.int64)
    primes = [*parameters.q[: level + 1], *(parameters.p if extended else ())]
    return np.stack([forward(coefficients[np.newaxis] % q, q) for q in primes], axis=1)


@dataclass(frozen=True)
class RandomMaterials:
    """Keys and plaintexts of random residues: neither times nor exactness depend on what they encrypt."""

    parameters: Parameters

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        key = torch.as_tensor(key_residues(self.parameters, kind, galois))
        return key.to(torch.int32) if self.parameters.word_bits == 32 else key

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        return torch.as_tensor(plaintext_residues(self.parameters, values, level, extended))


def polynomial_stage(text: str) -> ModuleOp:
    """The module in front of the passes that preserve residues bit for bit."""
    module = parse_module(universe.make_context(), text, "row.mlir")
    Pipeline("row", tuple(PASSES[:POLYNOMIAL])).run(universe.make_context(), module)
    return module


def reference(text: str, inputs: dict[str, Residues]) -> list[Residues]:
    """The exact results of a row's function."""
    module = polynomial_stage(text)
    parameters = ckks.parameters_of(module)
    names = [("relinearize", None), *(("galois", g) for g in _galois_elements(text, parameters))]
    keys = {name: key_residues(parameters, *name) for name in names}

    def encode(
        values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> Residues:
        return plaintext_residues(parameters, values, level, extended)

    return list(run_polynomial(module, "row", inputs, keys, encode))  # type: ignore[arg-type]


def _galois_elements(text: str, parameters: Parameters) -> list[int]:
    modulus = 2 * parameters.ring_degree
    return [pow(5, k, modulus) for k in range(1, 9) if f"steps = {k}}}" in text]


def random_inputs(module: ModuleOp, parameters: Parameters) -> dict[str, Residues]:
    """Fresh random residues for each argument."""
    from fhelium_ir.dialects.rns import PolyType

    generator = np.random.default_rng()
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    found: dict[str, Residues] = {}
    for argument in function.args:
        assert isinstance(argument.type, PolyType)
        facts = argument.type.data
        families = {"q": parameters.q, "p": parameters.p}
        moduli = [families[limb.family][limb.index] for _, limb in facts.rows()]
        shape = (facts.components, facts.degree)
        rows = [generator.integers(0, q, shape, dtype=np.int64) for q in moduli]
        found[str(argument.name_hint)] = np.stack(rows, axis=1)
    return found


def lower(module: ModuleOp, arithmetic: str | None, options: dict[str, str]) -> ModuleOp:
    """The row's kernels and host program, for a GPU."""
    chosen: list[str] = []
    for name in PASSES[POLYNOMIAL:]:
        given = options.get(name, "")
        if name == "select-arithmetic" and arithmetic is not None:
            given += f' arithmetic="{arithmetic}"'
        chosen.append(f"{name}{{{given.strip()}}}" if given.strip() else name)
    lowered = module.clone()
    Pipeline("row", tuple(chosen)).run(universe.make_context(), lowered)
    return lowered


def timed(action: Callable[[], object]) -> float:
    """Microseconds of device time."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    action()
    stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop) * 1e3


def copy_bandwidth() -> float:
    """Bytes read and written per second by a copy of 1 GiB."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    times = [timed(lambda: target.copy_(source)) for _ in range(20)]
    return 2 * source.numel() / (statistics.median(times[5:]) * 1e-6)


def kernel_times(graph: torch.cuda.CUDAGraph, replays: int = 20) -> dict[str, float]:
    """Microseconds of each kernel in one replay, in order of the first launch."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(replays):
            graph.replay()
        torch.cuda.synchronize()
    times: dict[str, float] = {}
    for event in found.events() or []:
        if event.device_time:
            times[event.name] = times.get(event.name, 0.0) + event.device_time / replays
    return {name: round(time, 1) for name, time in times.items()}


def run_row(
    row: Row, bandwidth: float, options: argparse.Namespace, pool: ProcessPoolExecutor | None
) -> tuple[dict[str, object], Future[list[Residues]] | None, list[Residues]]:
    """Compiles, runs and times a row."""
    text = (FOLDER / f"{row.name}.mlir").read_text()
    start = time.perf_counter()
    module = polynomial_stage(text)
    parameters = ckks.parameters_of(module)
    inputs = random_inputs(module, parameters)
    pending = pool.submit(reference, text, inputs) if pool is not None else None
    passes = dict(item.split("=", 1) for item in options.passes)
    lowered = lower(module, options.arithmetic, passes)
    compiled = time.perf_counter()
    executable: ProgramExecutable = link(lowered, RandomMaterials(parameters), "cuda", "row")
    tensors = [
        torch.as_tensor(given)
        .to(torch.int32 if spec.dtype == "int32" else torch.int64)
        .to(executable.device)
        for spec, given in zip(executable.arguments, inputs.values(), strict=True)
    ]
    torch.cuda.synchronize()
    held = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    outputs, runtime = executable.run_counted(*tensors)
    torch.cuda.synchronize()
    ready = time.perf_counter()
    peak = torch.cuda.max_memory_allocated()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = executable.run(*tensors)
    graph.replay()

    def replays() -> None:
        for _ in range(WARM_REPLAYS):
            graph.replay()

    warm = [timed(replays) / WARM_REPLAYS for _ in range(25)][5:]
    flush = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    cold: list[float] = []
    for _ in range(25):
        flush.zero_()
        cold.append(timed(graph.replay))
    del flush
    keys = [name for name in executable.resources if "key" in name or "plaintext" in name]
    moved = sum(
        tensor.numel() * tensor.element_size()
        for tensor in (*tensors, *outputs, *(executable.resources[name] for name in keys))
    )
    best = statistics.median(cold if row.cold else warm)
    scaled = best
    if abs(bandwidth / STATED_BANDWIDTH - 1) > 0.03:
        scaled = best * bandwidth / STATED_BANDWIDTH
    result: dict[str, object] = {
        "row": row.name,
        "warm_us": round(statistics.median(warm), 1),
        "cold_us": round(statistics.median(cold), 1),
        "goal_us": row.goal,
        "ratio_to_goal": round(scaled / row.goal, 2),
        "floor_us": round(moved / bandwidth * 1e6, 1),
        "ratio_to_floor": round(best / (moved / bandwidth * 1e6), 1),
        "ratio_to_peers": {name: round(us / best, 2) for name, us in row.peers.items()},
        "moved_mb": round(moved / 1e6, 1),
        "launches": runtime.launches,
        "run_mb": round((peak - held) / 1e6, 1),
        "peak_mb": round(peak / 1e6, 1),
        "lowering_s": round(compiled - start, 1),
        "ready_s": round(ready - start, 1),
    }
    if options.kernels:
        result["kernels_us"] = kernel_times(graph)
    got = [output.cpu().to(torch.int64).numpy() for output in _tuple(captured)]
    print(json.dumps(result), flush=True)
    return result, pending, got


def _tuple(outputs: object) -> tuple[torch.Tensor, ...]:
    return outputs if isinstance(outputs, tuple) else (outputs,)  # type: ignore[return-value]


def main() -> int:
    parser = argparse.ArgumentParser(description="Time whole operations on a CUDA device.")
    parser.add_argument("--rows", nargs="*")
    parser.add_argument("--check", nargs="*", default=[], help="rows to compare with the reference")
    parser.add_argument("--check-all", action="store_true")
    parser.add_argument("--kernels", action="store_true", help="time of each kernel")
    parser.add_argument("--arithmetic", help="instead of the device's choice")
    parser.add_argument("--passes", nargs="*", default=[], help="PASS=OPTIONS for the pipeline")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    bandwidth = copy_bandwidth()
    torch.cuda.empty_cache()
    print(f"copy bandwidth {bandwidth / 1e12:.2f} TB/s", flush=True)
    results: list[dict[str, object]] = []
    pending: list[tuple[dict[str, object], Future[list[Residues]], list[Residues]]] = []
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        for row in all_rows():
            if options.rows and row.name not in options.rows:
                continue
            checked = options.check_all or row.name in options.check
            try:
                result, future, got = run_row(row, bandwidth, options, pool if checked else None)
            except Exception as error:  # one row's failure must not lose the others' numbers
                print(json.dumps({"row": row.name, "error": str(error)[:400]}), flush=True)
                results.append({"row": row.name, "error": str(error)[:400]})
                continue
            results.append(result)
            if future is not None:
                pending.append((result, future, got))
            torch.cuda.empty_cache()
        for result, future, got in pending:
            different = sum(
                int((mine != want).sum()) for mine, want in zip(got, future.result(), strict=True)
            )
            result["different"] = different
            print(f"{result['row']}: {different} residues differ", flush=True)
    if options.out is not None:
        content = {
            "commit": options.commit,
            "device": torch.cuda.get_device_name(),
            "bandwidth_tb_s": round(bandwidth / 1e12, 3),
            "rows": results,
        }
        options.out.write_text(json.dumps(content, indent=2) + "\n")
    return 1 if any(result.get("different") or "error" in result for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
