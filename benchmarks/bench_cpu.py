"""Times whole operations on this CPU, side by side with OpenFHE, with every residue compared to the exact reference.

    python benchmarks/bench_cpu.py [--degrees 16384 ...] [--rows NAME ...] [--threads 1 2]
                                   [--openfhe-python PATH] [--out FILE.json]

Runs of both alternate, and the least time of each counts: other work on the machine then disturbs both alike. Times
are given on the clock and of the processors, which other work on the machine lengthens less. Floors come from a copy
and from a loop of modular products, measured in the same run. Where there is no OpenFHE its column says *not measured*.
Ring degrees, limbs, digits and the size of primes are equal on both sides; no attention is paid to security.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from cpu.floors import copy_bandwidth, product_rate
from cpu.peer import Peer
from cpu.rows import (
    DIGITS,
    LIMBS,
    PRIME_BITS,
    RandomMaterials,
    Row,
    inputs_of,
    rows,
    setting,
)

from fhelium_ir.backend.executable import Executable
from fhelium_ir.backend.linking import default_pipeline
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.lowering.cpu.machine import describe
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.polynomial import run_polynomial
from fhelium_ir.reference.program import run_program
from fhelium_ir.universe import make_context

ROUNDS, RUNS = 8, 5
LONG = 0.05
"""Operations that take longer, in seconds, are run once a round."""

Residues = Sequence[np.ndarray]
Result = dict[str, object]


def reference(row: Row, materials: RandomMaterials, inputs: Sequence[torch.Tensor]) -> Residues:
    """The exact results, from integers and rows of residues: no part of the compiler below the program's text."""
    module = parse_module(make_context(), row.text, row.name)
    words = {name: tensor.numpy() for name, tensor in zip("xy", inputs, strict=False)}
    keys = {name: key.numpy() for name, key in materials.keys.items()}
    encode = lambda values, scale, level: np.empty(0)  # noqa: E731
    if row.polynomial:
        return run_polynomial(module, "row", words, keys, encode)
    return run_program(module, "row", words, keys, encode)


Times = list[tuple[float, float]]


def timed(action: Callable[[], object], runs: int) -> Times:
    """Seconds of some runs, on the clock and of the processors."""
    times: Times = []
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        action()
        times.append((time.perf_counter() - start, time.process_time() - used))
    return times


def least(times: Times, which: int) -> float:
    return min(pair[which] for pair in times)


def summary(prefix: str, times: Times) -> Result:
    """Milliseconds: the least and the median on the clock, and the least of the processors."""
    if not times:
        return {f"{prefix}ms": "not measured"}
    return {
        f"{prefix}ms": round(least(times, 0) * 1e3, 3),
        f"{prefix}median_ms": round(float(np.median([clock for clock, _ in times])) * 1e3, 3),
        f"{prefix}processor_ms": round(least(times, 1) * 1e3, 3),
    }


def ratios(mine: Times, peers: Times) -> Result:
    """How many times as long the peer takes, by both clocks."""
    return {
        "openfhe_ratio": round(least(peers, 0) / least(mine, 0), 2),
        "openfhe_processor_ratio": round(least(peers, 1) / least(mine, 1), 2),
    }


def memory(executable: Executable) -> int:
    """Bytes of tables and keys, and of what a run allocates."""
    tables = sum(t.numel() * t.element_size() for t in executable.resources.values())
    return tables + executable.run_bytes


def moved(executable: Executable, inputs: Sequence[torch.Tensor]) -> int:
    """Bytes that must be read or written once: inputs, results and keys."""
    keys = [tensor for name, tensor in executable.resources.items() if "key" in name]
    results = sum(spec.bytes for spec in executable.results)
    return results + sum(t.numel() * t.element_size() for t in (*inputs, *keys))


def measure(
    row: Row, chosen: Parameters, threads: int, peer: Peer, floors: dict[str, float]
) -> Result:
    """Compiles a row, times it against the peer, and compares its residues with the reference."""
    os.environ["FHELIUM_THREADS"] = str(threads)
    torch.set_num_threads(threads)
    start = time.perf_counter()
    context = make_context()
    module = parse_module(context, row.text, row.name)
    default_pipeline("cpu").run(context, module)
    seed = int.from_bytes(os.urandom(4), "little")
    materials = RandomMaterials(chosen, seed)
    lowered = time.perf_counter()
    executable = link(module, materials, "cpu")
    ready = time.perf_counter()
    shapes = [spec.shape for spec in executable.arguments]
    tensors = inputs_of(shapes, chosen, seed)
    first = timed(lambda: executable.run(*tensors), 4)
    runs = 1 if least(first, 0) > LONG else RUNS
    mine, peers = Times(), Times()
    for _ in range(ROUNDS):
        mine += timed(lambda: executable.run(*tensors), runs)
        peers += peer.times(row.name, runs)
    outputs = [output.numpy() for output in executable.run(*tensors)]
    best = least(mine, 0)
    bytes_moved = moved(executable, tensors)
    floor = max(bytes_moved / floors["copy_bytes_s"], row.products / floors["products_s"])
    result: Result = {
        "row": row.name,
        "ring_degree": chosen.ring_degree,
        "limbs": len(chosen.q),
        "special": len(chosen.p),
        "threads": threads,
        **summary("", mine),
        **summary("openfhe_", peers),
        **(ratios(mine, peers) if peers else {}),
        "floor_ms": round(floor * 1e3, 3),
        "copy_floor_ms": round(bytes_moved / floors["copy_bytes_s"] * 1e3, 3),
        "product_floor_ms": round(row.products / floors["products_s"] * 1e3, 3),
        "ratio_to_floor": round(best / floor, 2),
        "memory_mb": round(memory(executable) / 1e6, 1),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3),
        "lowering_s": round(lowered - start, 2),
        "link_s": round(ready - lowered, 2),
    }
    expected = reference(row, materials, tensors)
    result["different"] = sum(
        int((output != want).sum()) for output, want in zip(outputs, expected, strict=True)
    )
    print(json.dumps(result), flush=True)
    return result


def cpu_name() -> str:
    """What the system calls the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def commit() -> str:
    """The commit of the tree, with a mark if it has changes."""
    try:
        words = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
        found = subprocess.run(words, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(description="Time whole operations on the CPU.")
    parser.add_argument(
        "--degrees", nargs="*", type=int, default=sorted(LIMBS), choices=sorted(LIMBS)
    )
    parser.add_argument("--rows", nargs="*")
    parser.add_argument("--threads", nargs="*", type=int, default=[1, 2])
    parser.add_argument("--openfhe-python", default="python3.10", help="has the package openfhe")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    results: list[Result] = []
    measured: dict[int, dict[str, float]] = {}
    peer_reason = ""
    for threads in options.threads:
        os.environ["FHELIUM_THREADS"] = str(threads)
        torch.set_num_threads(threads)
        measured[threads] = {
            "copy_bytes_s": copy_bandwidth(threads),
            "products_s": product_rate(threads),
        }
        rates = {name: f"{rate / 1e9:.2f}e9" for name, rate in measured[threads].items()}
        print(json.dumps({"threads": threads, **rates}), flush=True)
    for degree in options.degrees:
        chosen = setting(degree)
        for threads in options.threads:
            peer = Peer(
                options.openfhe_python, (degree, len(chosen.q), PRIME_BITS, DIGITS), threads
            )
            peer_reason = peer_reason or peer.reason
            for row in rows(chosen):
                if not options.rows or row.name in options.rows:
                    results.append(measure(row, chosen, threads, peer, measured[threads]))
            peer.close()
    if peer_reason:
        print(f"OpenFHE not measured: {peer_reason}", flush=True)
    if options.out is not None:
        content = {
            "commit": commit(),
            "cpu": cpu_name(),
            "description": asdict(describe()),
            "floors": measured,
            "rows": results,
        }
        options.out.write_text(json.dumps(content, indent=2) + "\n")
    return 1 if any(result["different"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
