"""Runs the examples on a CUDA device and compares every residue with the exact reference of the program stage.

    python benchmarks/check_cuda.py [--degrees 8192 65536] [--out FILE.json]

The reference works on integer polynomials modulo Q: neither the compiler nor Triton takes part in it. Times are
medians over launches queued from Python, cache warm; the first run compiles the kernels and is reported apart.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.lowering.link import link
from fhelium_ir.tools.fhelium_run import Options
from fhelium_ir.tools.run_program import (
    compile_program,
    encrypt_and_encode,
    read_inputs,
    run_reference,
)

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ("dot_product", "polynomial", "matvec")


def check(example: str, degree: int, target: str, repeat: int) -> dict[str, object]:
    """Compiles, runs and compares one example at one ring degree."""
    options = Options(target=target, ring_degree=degree, seed=1)
    path = ROOT / "examples" / f"{example}.mlir"
    program = compile_program(str(path), path.read_text(), options)
    inputs = read_inputs(program, None, 1)
    client = Client(program.parameters, seed=1)
    encrypted = encrypt_and_encode(client, program.interface, inputs)
    executable = link(program.lowered, ClientKeys(client), target, program.name)
    tensors = [encrypted[spec.name].to(executable.device) for spec in executable.arguments]
    synchronize = torch.cuda.synchronize if target == "cuda" else (lambda: None)
    start = time.perf_counter()
    outputs, runtime = executable.run_counted(*tensors)
    synchronize()
    first = time.perf_counter() - start
    times: list[float] = []
    for _ in range(repeat):
        start = time.perf_counter()
        outputs = executable.run(*tensors)
        synchronize()
        times.append(time.perf_counter() - start)
    start = time.perf_counter()
    expected = run_reference(
        program.program_stage, program.interface, ClientKeys(client), encrypted
    )
    reference_seconds = time.perf_counter() - start
    different = sum(
        int((output.cpu().to(torch.int64) != want).sum())
        for output, want in zip(outputs, expected, strict=True)
    )
    row: dict[str, object] = {
        "example": example,
        "ring_degree": degree,
        "target": target,
        "residues": sum(output.numel() for output in outputs),
        "different": different,
        "launches": runtime.launches,
        "kernels": program.kernel_count,
        "compile_s": round(program.compile_seconds, 2),
        "first_run_s": round(first, 2),
        "run_ms": round(statistics.median(times) * 1e3, 3),
        "reference_s": round(reference_seconds, 1),
    }
    print(json.dumps(row), flush=True)
    return row


def _git_commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else "unknown"


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Check the examples on CUDA against the reference."
    )
    parser.add_argument("--degrees", type=int, nargs="+", default=[1 << 13, 1 << 16])
    parser.add_argument("--examples", nargs="+", default=list(EXAMPLES))
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--commit", help="recorded in the result; default: what git says")
    options = parser.parse_args()
    rows = [
        check(example, degree, options.target, options.repeat)
        for degree in options.degrees
        for example in options.examples
    ]
    commit = options.commit or _git_commit()
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    if options.out is not None:
        content = {"commit": commit, "device": device, "torch": torch.__version__, "rows": rows}
        options.out.write_text(json.dumps(content, indent=2) + "\n")
    wrong = [row for row in rows if row["different"]]
    print(f"{len(rows) - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
