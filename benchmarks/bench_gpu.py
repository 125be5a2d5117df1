"""Times whole operations on a CUDA device, with every residue compared to the exact polynomial reference.

    python benchmarks/bench_gpu.py [--rows NAME ...] [--out FILE.json]

Each row is a program text that goes through the default pipeline. Times are medians of CUDA-graph replays, warm
(back to back) and cold (L2 flushed before each). The floor is the bytes that the row must move once (inputs, results,
keys) over the copy bandwidth measured in the same run. Peers' times are those stored in PEERS, from one H200.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.parameters import generate
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.tools.fhelium_run import Options
from fhelium_ir.tools.run_program import ClientKeys, compile_program, encrypt_input, read_inputs

DEGREE = 1 << 16
SEED = 1

PEERS = {
    "multiply-top": {"FHElium 0.30": 2285, "Cheddar": 429},
    "rotate-top": {"FHElium 0.30": 1888, "Cheddar": 408},
    "multiply-700": {"Cheddar": 233},
    "rotate-700": {"Cheddar": 222},
    "rescale-top": {"FHElium 0.30": 159, "Cheddar": 93},
}
"""Microseconds at N = 2^16, log Q about 1390: FHElium with host time, Cheddar (commit 8df8b26) with a warm cache."""


@dataclass(frozen=True)
class Row:
    """A function body on ciphertexts %x and %y at `level`, below the top of the chain."""

    name: str
    level: int
    body: str
    result: str


def parameters() -> Parameters:
    """28 primes of q and 7 of p just below 2^49.68, 4 digits: log PQ 1739, inside the 128-bit limit."""
    base = generate(DEGREE, [49] * 28, [49] * 7, 4, 48, insecure=True)
    step, limit, primes = 2 * DEGREE, int(2**49.68), list[int]()
    from fhelium_ir.primes import is_prime

    candidate = limit // step * step + 1
    while len(primes) < 35:
        if is_prime(candidate):
            primes.append(candidate)
        candidate -= step
    chosen = Parameters(
        base.ring_degree, tuple(primes[7:]), tuple(primes[:7]), 4, 48, base.secret, False
    )
    chosen.validate()
    chosen.check_security()
    return chosen


def rows(top: int) -> list[Row]:
    def multiply(level: int, name: str) -> Row:
        ct = f"!ckks.ciphertext<level = {level}, scale = 2**24>"
        body = (
            f"%0 = ckks.mul %x, %y : {ct}\n"
            f"%1 = ckks.relinearize %0 : !ckks.ciphertext<level = {level}, scale = 2**48, size = 3>\n"
            f"%r = ckks.rescale %1 : !ckks.ciphertext<level = {level}, scale = 2**48>\n"
        )
        result = f"!ckks.ciphertext<level = {level - 1}, scale = 2**48 / q{level}>"
        return Row(name, level, body, result)

    def simple(level: int, name: str, op: str, suffix: str = "") -> Row:
        ct = f"!ckks.ciphertext<level = {level}, scale = 2**24>"
        result = ct
        if op == "rescale":
            result = f"!ckks.ciphertext<level = {level - 1}, scale = 2**24 / q{level}>"
        return Row(name, level, f"%r = ckks.{op} %x {suffix} : {ct}\n", result)

    return [
        multiply(top, "multiply-top"),
        simple(top, "rotate-top", "rotate", "{steps = 1}"),
        multiply(13, "multiply-700"),
        simple(13, "rotate-700", "rotate", "{steps = 1}"),
        simple(top, "rescale-top", "rescale"),
        simple(top, "negate-top", "negate"),
    ]


def program_text(row: Row, chosen: Parameters) -> str:
    attribute = (
        f"#ckks.params<ring_degree = {chosen.ring_degree}, q = {list(chosen.q)}, "
        f"p = {list(chosen.p)}, digits = {chosen.digits}, scale = 2**{chosen.scale_bits}, "
        f"secret = ternary>"
    )
    ct = f"!ckks.ciphertext<level = {row.level}, scale = 2**24>"
    bound = "{ckks.range = 0.0078125 : f64}"
    return (
        f"module attributes {{ckks.params = {attribute}}} {{\n"
        f"func.func @row(%x : {ct} {bound}, %y : {ct} {bound}) -> {row.result} {{\n"
        f"{row.body}return %r : {row.result}\n}}\n}}\n"
    )


def copy_bandwidth() -> float:
    """Bytes read and written per second by a large copy."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    times = [_timed(lambda: target.copy_(source)) for _ in range(20)]
    return 2 * source.numel() / (statistics.median(times[5:]) * 1e-6)


def _timed(action: Callable[[], object]) -> float:
    """Microseconds of device time."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    action()
    stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop) * 1e3


def measure(
    row: Row, chosen: Parameters, bandwidth: float, check: bool, device: str | None
) -> dict[str, object]:
    options = Options(target="cuda", seed=SEED, device=device)
    start = time.perf_counter()
    program = compile_program(row.name, program_text(row, chosen), options)
    client = Client(chosen, seed=SEED)
    inputs = read_inputs(program, None, SEED)
    encrypted = {
        argument.name: encrypt_input(client, argument, inputs[argument.name], chosen)
        for argument in program.arguments
    }
    executable = link(program.lowered, ClientKeys(client), "cuda", program.name)
    tensors = [encrypted[spec.name].to(executable.device) for spec in executable.arguments]
    outputs, runtime = executable.run_counted(*tensors)
    torch.cuda.synchronize()
    ready = time.perf_counter() - start
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = executable.run(*tensors)
    graph.replay()
    warm = [_timed(graph.replay) for _ in range(50)][10:]
    flush = torch.empty(1 << 28, dtype=torch.uint8, device="cuda")
    cold: list[float] = []
    for _ in range(20):
        flush.zero_()
        cold.append(_timed(graph.replay))
    keys = sum(
        executable.resources[name].numel() * executable.resources[name].element_size()
        for name in executable.resources
        if "key" in name
    )
    used = keys * (len(program.parameters.p) + row.level + 1) // len(chosen.primes)
    moved = used + sum(t.numel() * t.element_size() for t in (*tensors, *outputs))
    result: dict[str, object] = {
        "row": row.name,
        "warm_us": round(statistics.median(warm), 1),
        "cold_us": round(statistics.median(cold), 1),
        "floor_us": round(moved / bandwidth * 1e6, 1),
        "launches": runtime.launches,
        "kernels": program.kernel_count,
        "peak_mb": round(torch.cuda.max_memory_allocated() / 1e6),
        "ready_s": round(ready, 1),
        "peers_us": PEERS.get(row.name, {}),
    }
    if check:
        result["different"] = _differences(program, client, encrypted, captured)
    print(json.dumps(result), flush=True)
    return result


def _differences(
    program: object, client: Client, encrypted: dict[str, torch.Tensor], captured: object
) -> int:
    """Residues that differ from the polynomial reference, which knows nothing of kernels."""
    from fhelium_ir.tools.run_program import Program, run_reference

    assert isinstance(program, Program)
    assert isinstance(captured, tuple)
    expected = run_reference(program, client, encrypted, {})
    return sum(
        int((output.cpu().to(torch.int64) != want).sum())
        for output, want in zip(captured, expected, strict=True)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Time whole operations on a CUDA device.")
    parser.add_argument("--rows", nargs="*")
    parser.add_argument("--check", nargs="*", default=["rescale-top"], help="rows to verify")
    parser.add_argument("--device", help="description that schedules are chosen for")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    chosen = parameters()
    bandwidth = copy_bandwidth()
    print(f"copy bandwidth {bandwidth / 1e12:.2f} TB/s", flush=True)
    wanted = [r for r in rows(chosen.top_level) if not options.rows or r.name in options.rows]
    results = [
        measure(row, chosen, bandwidth, row.name in options.check, options.device) for row in wanted
    ]
    if options.out is not None:
        content = {
            "commit": options.commit,
            "device": torch.cuda.get_device_name(),
            "bandwidth_tb_s": round(bandwidth / 1e12, 3),
            "rows": results,
        }
        options.out.write_text(json.dumps(content, indent=2) + "\n")
    return 1 if any(result.get("different") for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
