"""Times the rows of benchmarks/gpu on a CUDA device, with residues compared to the exact polynomial reference.

    python benchmarks/bench_gpu.py [--rows NAME ...] [--check NAME ... | --check-all] [--unfused [KIND ...]]
        [--kernels] [--device NAME] [--table FILE.json] [--out FILE.json]

Each row is an .mlir file that goes through the default pipeline; the Triton text comes from the kernel stage alone.
Inputs and keys are random residues. Times are medians of CUDA-graph replays: warm (a run of twenty in one graph), cold
(a graph with one run, the L2 cache flushed before) and replay (that graph back to back). After the timed replays every
residue of the results is compared with the reference of the polynomial stage, which knows nothing of kernels and runs
in processes of its own. `--kernels` adds the time of each kernel, from a profiler that starts after all rows are timed:
a process that it has been in launches more slowly until it ends.

The floor is the larger one of two times: that of the bytes that the row must move once (inputs, results, keys) at the
bandwidth of a large copy, and that of the modular products in its kernels at the rates of chains of such products; all
measured in the same run. `floor_by` says which one it is.

Times of other libraries are stored ones, printed as stored. Where FHElium is installed, here or in the environment of
`--fhelium-python`, it is timed in the same run, too.

`--unfused` times each row again with kinds of fusion left out: `prologue`, `epilogue` and `key_product` alone, `fusion`
all three, `merge` the merging of divisions. A kind that changes nothing in a row is not listed there. Results without
fusion must be the same; those without merged divisions may be rounded otherwise.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import cast

import torch
from gpu.fhelium_peer import Unavailable, installed, live_times
from gpu.peers import Peers, stored_peers
from gpu.products import count_products, products_seconds
from gpu.stages import (
    PASSES,
    POLYNOMIAL,
    RandomMaterials,
    Residues,
    kernel_stage,
    lower,
    pass_options,
    polynomial_stage,
    random_inputs,
    reference,
)
from gpu.timing import Times, captured, copy_bandwidth, kernel_times, times
from gpu_rows import FOLDER, Row, all_rows
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.backend.executable import Executable
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.dialects import ckks
from fhelium_ir.lowering.link import link
from fhelium_ir.lowering.triton import machine
from fhelium_ir.parameters import Parameters

__all__ = [
    "PASSES",
    "POLYNOMIAL",
    "RandomMaterials",
    "Residues",
    "all_rows",
    "copy_bandwidth",
    "lower",
    "polynomial_stage",
    "run_row",
]

STATED_BANDWIDTH = 4.07e12
"""Bytes per second of a large copy on the H200 that the goals are for; other runs are scaled."""

FUSION = "form-fusion-regions"
UNFUSED: Mapping[str, str] = {
    "prologue": "prologue=false",
    "epilogue": "epilogue=false",
    "key_product": "key_product=false",
    "fusion": "prologue=false epilogue=false key_product=false",
}
"""Options of `form-fusion-regions` by kind."""

MERGE = "merge"
KINDS = (*UNFUSED, MERGE)


@dataclass(frozen=True)
class Measured:
    """A linked program that has been run and timed. The graph reads the inputs where they lie."""

    executable: Executable
    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]
    graph: torch.cuda.CUDAGraph
    times: Times
    launches: int
    run_bytes: int
    peak_bytes: int
    ready_seconds: float


def measure(lowered: ModuleOp, parameters: Parameters, inputs: Mapping[str, Residues]) -> Measured:
    """Links, runs and times a row. Bytes are those that are asked for: what a tensor takes beyond that depends on the
    blocks that the allocator has left."""
    gc.collect()  # what is left of rows before must not go on the way
    start, before = time.perf_counter(), _requested_bytes("current")
    executable = link(lowered, RandomMaterials(parameters), "cuda", "row")
    tensors = tuple(
        torch.as_tensor(given)
        .to(torch.int32 if spec.dtype == "int32" else torch.int64)
        .to(executable.device)
        for spec, given in zip(executable.arguments, inputs.values(), strict=True)
    )
    torch.cuda.synchronize()
    held = _requested_bytes("current")
    torch.cuda.reset_peak_memory_stats()
    _, runtime = executable.run_counted(*tensors)
    torch.cuda.synchronize()
    ready = time.perf_counter() - start
    peak = _requested_bytes("peak")
    graph, result = captured(lambda: executable.run(*tensors))
    return Measured(
        executable,
        tensors,
        cast("tuple[torch.Tensor, ...]", result if isinstance(result, tuple) else (result,)),
        graph,
        times(lambda: executable.run(*tensors), graph),
        runtime.launches,
        peak - held,
        peak - before,
        ready,
    )


def _requested_bytes(which: str) -> int:
    """Bytes of all tensors on the device, now (`current`) or at most since the last reset (`peak`)."""
    return int(torch.cuda.memory_stats().get(f"requested_bytes.all.{which}", 0))


@dataclass(frozen=True)
class Timed:
    """A row that has been timed: what is reported of it, the residues that the reference will give, those of the run;
    and what can be replayed."""

    result: dict[str, object]
    expected: Future[list[Residues]] | None
    residues: list[Residues]
    measured: Measured

    def compare(self) -> int | None:
        """How many residues differ from the reference, None without one."""
        if self.expected is None:
            return None
        pairs = zip(self.residues, self.expected.result(), strict=True)
        return sum(int((mine != want).sum()) for mine, want in pairs)


def run_row(
    row: Row,
    bandwidth: float,
    options: argparse.Namespace,
    pool: ProcessPoolExecutor | None,
    rates: Mapping[str, float] | None = None,
    unfused: Sequence[str] = (),
    peers: Peers | None = None,
) -> Timed:
    """Compiles, runs and times a row.

    Args:
        bandwidth: bytes per second of a large copy.
        options: `arithmetic` and `passes` of the command line.
        pool: runs the reference, if the row is to be checked.
        rates: modular products per second, see `count_products`; without them the floor is that of the bytes.
        unfused: kinds of fusion to leave out, one after the other.
        peers: times to compare with, by default the stored ones.
    """
    text = (FOLDER / f"{row.name}.mlir").read_text()
    start = time.perf_counter()
    module = polynomial_stage(text)
    parameters = ckks.parameters_of(module)
    inputs = random_inputs(module, parameters)
    pending = pool.submit(reference, text, inputs) if pool is not None else None
    passes = pass_options(options.passes)
    lowered = kernel_stage(module, options.arithmetic, passes)
    products = count_products(lowered)
    Pipeline("row", tuple(PASSES[PASSES.index("convert-zq-to-arith") :])).run(
        universe.make_context(), lowered
    )
    lowering = time.perf_counter() - start
    found = measure(lowered, parameters, inputs)
    executable = found.executable
    keys = [name for name in executable.resources if "key" in name or "plaintext" in name]
    moved = sum(
        tensor.numel() * tensor.element_size()
        for tensor in (
            *found.inputs,
            *found.outputs,
            *(executable.resources[name] for name in keys),
        )
    )
    best = found.times.best(row.cold)
    result: dict[str, object] = {
        "row": row.name,
        "warm_us": round(found.times.warm, 1),
        "replay_us": round(found.times.replay, 1),
        "cold_us": round(found.times.cold, 1),
        "timed": "cold" if row.cold else "warm",
        **against_goal(best, row.goal, bandwidth),
        **floor(best, moved, products, bandwidth, rates or {}),
        "ratio_to_peers": (peers or stored_peers()).ratios(row.name, best),
        "launches": found.launches,
        "run_mb": round(found.run_bytes / 1e6, 1),
        "peak_mb": round(found.peak_bytes / 1e6, 3),
        "lowering_s": round(lowering, 1),
        "ready_s": round(lowering + found.ready_seconds, 1),
    }
    if unfused:
        result["unfused"] = {
            kind: other
            for kind in unfused
            if (other := run_unfused(kind, row, text, lowered, inputs, found, options)) is not None
        }
    print(json.dumps(result), flush=True)
    got = [output.cpu().to(torch.int64).numpy() for output in found.outputs]
    return Timed(result, pending, got, found)


def profile(rows: Sequence[Timed]) -> None:
    """Adds the time of each kernel to the results of all rows."""
    for row in rows:
        found = kernel_times(row.measured.graph)
        row.result["kernels_us"] = found
        print(json.dumps({"row": row.result["row"], "kernels_us": found}), flush=True)


def save(path: Path | None, content: Mapping[str, object]) -> None:
    """Writes results, if there is a file for them."""
    if path is not None:
        path.write_text(json.dumps(content, indent=2) + "\n")


def against_goal(best: float, goal: float, bandwidth: float) -> dict[str, object]:
    """The ratio to a goal; the time is scaled by bandwidth where that is not the one of the goals."""
    ratio = bandwidth / STATED_BANDWIDTH
    if abs(ratio - 1) <= 0.03:
        return {"goal_us": goal, "ratio_to_goal": round(best / goal, 2)}
    return {
        "goal_us": goal,
        "ratio_to_goal": round(best * ratio / goal, 2),
        "scaled_us": round(best * ratio, 1),
        "scaled_by": f"{ratio:.3f}: a copy at {bandwidth / 1e12:.2f} TB/s instead of "
        f"{STATED_BANDWIDTH / 1e12:.2f}",
    }


def floor(
    best: float,
    moved: int,
    products: Mapping[str, int],
    bandwidth: float,
    rates: Mapping[str, float],
) -> dict[str, object]:
    """The floor of a row in microseconds, from bytes and from products, and the ratio of its time to it."""
    by_bytes = moved / bandwidth * 1e6
    known = all(name in rates for name in products)
    by_products = products_seconds(products, rates) * 1e6 if known else 0.0
    higher = max(by_bytes, by_products)
    return {
        "moved_mb": round(moved / 1e6, 1),
        "products": dict(products),
        "bytes_us": round(by_bytes, 1),
        "products_us": round(by_products, 1),
        "floor_us": round(higher, 1),
        "floor_by": "products" if by_products > by_bytes else "bytes",
        "ratio_to_floor": round(best / higher, 2),
    }


def run_unfused(
    kind: str,
    row: Row,
    text: str,
    fused: ModuleOp,
    inputs: Mapping[str, Residues],
    reached: Measured,
    options: argparse.Namespace,
) -> dict[str, object] | None:
    """The row without a kind of fusion; None if that is the same program."""
    module = polynomial_stage(text, ("merge-divisions",) if kind == MERGE else ())
    passes = dict(pass_options(options.passes))
    if kind != MERGE:
        passes[FUSION] = f"{passes.get(FUSION, '')} {UNFUSED[kind]}".strip()
    lowered = lower(module, options.arithmetic, passes)
    if mlir_text(lowered) == mlir_text(fused):
        return None
    found = measure(lowered, ckks.parameters_of(module), inputs)
    best = found.times.best(row.cold)
    result: dict[str, object] = {
        "us": round(best, 1),
        "times_longer": round(best / reached.times.best(row.cold), 2),
        "launches": found.launches,
        "run_mb": round(found.run_bytes / 1e6, 1),
    }
    if kind != MERGE:
        pairs = zip(found.outputs, reached.outputs, strict=True)
        result["different"] = sum(int((mine != theirs).sum()) for mine, theirs in pairs)
    return result


COLUMNS = ("row", "warm", "cold", "floor", "floor by", "launches", "unfused", "unmerged", "peers")


def table_lines(results: Sequence[Mapping[str, object]]) -> list[str]:
    """The rows that were timed as a Markdown table, times in microseconds."""
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}"]
    for result in results:
        if "error" in result:
            continue
        others = cast("dict[str, dict[str, object]]", result.get("unfused", {}))
        peers = cast("dict[str, float]", result["ratio_to_peers"])
        cells = (
            *(result[name] for name in ("row", "warm_us", "cold_us", "floor_us", "floor_by")),
            result["launches"],
            *(others.get(kind, {}).get("us", "") for kind in ("fusion", MERGE)),
            ", ".join(f"{name} {ratio}" for name, ratio in peers.items()),
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(description="Time whole operations on a CUDA device.")
    parser.add_argument("--rows", nargs="*", choices=[row.name for row in all_rows()])
    parser.add_argument("--check", nargs="*", default=[], help="rows to compare with the reference")
    parser.add_argument("--check-all", action="store_true")
    parser.add_argument(
        "--unfused", nargs="*", choices=KINDS, help="kinds to leave out (default: fusion merge)"
    )
    parser.add_argument("--kernels", action="store_true", help="time of each kernel")
    parser.add_argument("--arithmetic", help="instead of the device's choice")
    parser.add_argument("--device", help="description, such as cuda for this card (default: gpu)")
    parser.add_argument("--table", help="timed schedules, from tune_transforms.py")
    parser.add_argument("--passes", nargs="*", default=[], help="PASS=OPTIONS for the pipeline")
    parser.add_argument("--fhelium-python", help="interpreter that has FHElium, if not this one")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", default=current_commit(), help="for the results")
    return parser


def all_peers(fhelium_python: str | None, card: str) -> Peers:
    """The stored times of other libraries, and FHElium's of this run where it is installed."""
    peers, python = stored_peers(), installed(fhelium_python)
    if python is None:
        return peers
    try:
        return peers.with_measured("FHElium here", live_times(python), card)
    except Unavailable as error:
        print(f"FHElium is not timed, its stored times stand: {error}", flush=True)
        return peers


def current_commit() -> str:
    """The commit that is checked out, `unknown` without a repository."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "HEAD"], cwd=FOLDER, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def different(result: Mapping[str, object]) -> bool:
    """Whether a row failed, or residues of it differ from the reference or without fusion."""
    others = cast("dict[str, dict[str, object]]", result.get("unfused", {}))
    unequal = any(other.get("different") for other in others.values())
    return bool(result.get("different")) or "error" in result or unequal


def main() -> int:
    options = make_parser().parse_args()
    stated = pass_options(options.passes, options.device, options.table)
    options.passes = [f"{name}={given}" for name, given in stated.items()]
    unfused = ["fusion", MERGE] if options.unfused == [] else options.unfused or []
    try:
        card = machine.measure(machine.current_card())
    except FheliumError as error:
        print(f"error: {error.message}", file=sys.stderr)
        return 1
    torch.cuda.empty_cache()
    rates = {**card.rates, **card.products_s}
    print(f"copy bandwidth {card.copy_bytes_s / 1e12:.2f} TB/s", flush=True)
    print("rates", json.dumps({name: f"{rate:.3g}" for name, rate in rates.items()}), flush=True)
    peers = all_peers(options.fhelium_python, card.card.name)
    print("\n".join(peers.describe()), flush=True)
    results: list[dict[str, object]] = []
    timed: list[Timed] = []
    with ProcessPoolExecutor(8, mp_context=get_context("spawn")) as pool:
        for row in all_rows():
            if options.rows and row.name not in options.rows:
                continue
            checked = options.check_all or row.name in options.check
            try:
                timed.append(
                    run_row(
                        row,
                        card.copy_bytes_s,
                        options,
                        pool if checked else None,
                        rates,
                        unfused,
                        peers,
                    )
                )
                results.append(timed[-1].result)
            except Exception as error:  # one row's failure must not lose the others' numbers
                results.append({"row": row.name, "error": str(error)[:400]})
                print(json.dumps(results[-1]), flush=True)
            torch.cuda.empty_cache()
        for one in timed:
            count = one.compare()
            if count is not None:
                one.result["different"] = count
                print(f"{one.result['row']}: {count} residues differ", flush=True)
    print("\n".join(table_lines(results)), flush=True)
    content = {
        "commit": options.commit,
        "device": card.card.name,
        "driver": card.card.driver,
        "bandwidth_tb_s": round(card.copy_bytes_s / 1e12, 3),
        "products_s": rates,
        "launch_s": card.launch_s,
        "passes": options.passes,
        "peers": asdict(peers),
        "rows": results,
    }
    save(options.out, content)
    if options.kernels:
        profile(timed)
        save(options.out, content)
    return int(any(different(result) for result in results))


if __name__ == "__main__":
    sys.exit(main())
