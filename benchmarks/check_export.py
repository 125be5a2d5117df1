"""Exports the examples and runs the files in a Python that cannot import this library: same bits, nothing compiled.

    python benchmarks/check_export.py [--degree 8192] [--target cuda] [--binaries] [--python PATH]

With `--binaries`, kernels are compiled for the GPU at hand when they are exported, and the first run of the file must
add nothing to them. `--python` names the interpreter that runs the files: one of an environment with torch and triton
only.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import cast

import torch
from bench_host import EXAMPLES, linked
from safetensors.torch import load, save

BLOCK = """
import runpy, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("fhelium_ir", "xdsl", "safetensors", "llvmlite", "gmpy2", "rich"):
            raise ImportError(name + " is blocked")
sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def check(example: str, folder: Path, options: argparse.Namespace) -> dict[str, object]:
    program, inputs = linked(example, options.degree, options.target)
    path = folder / f"{example}.py"
    gpus = [_gpu()] if options.binaries else []
    start = time.perf_counter()
    program.export(path, gpus=gpus)
    export_s = time.perf_counter() - start
    named = {spec.name: x.cpu() for spec, x in zip(program.arguments, inputs, strict=True)}
    (folder / "inputs.safetensors").write_bytes(save(named))
    before = _binaries(path)
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TRITON_CACHE_DIR")
    }
    if not options.binaries:
        environment["TRITON_CACHE_DIR"] = str(folder / "cache")
    command = [options.python, "-I", "-c", BLOCK, str(path)]
    command += [str(folder / "inputs.safetensors"), str(folder / "outputs.safetensors")]
    start = time.perf_counter()
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - start
    row: dict[str, object] = {
        "example": example,
        "ring_degree": options.degree,
        "target": options.target,
        "export_s": round(export_s, 2),
        "first_run_s": round(seconds, 2),
        "ok": result.returncode == 0,
    }
    if result.returncode != 0:
        row["error"] = result.stderr.strip().splitlines()[-1:]
    else:
        found = load((folder / "outputs.safetensors").read_bytes())
        want = cast("tuple[torch.Tensor, ...]", program.run(*inputs))
        row["ok"] = all(
            torch.equal(found[f"result{index}"], tensor.cpu()) for index, tensor in enumerate(want)
        )
    if options.binaries:
        row["compiled_in_first_run"] = len(_binaries(path) - before)
        row["ok"] = row["ok"] and row["compiled_in_first_run"] == 0
    print(json.dumps(row), flush=True)
    return row


def _gpu() -> tuple[str, int, int]:
    major, minor = torch.cuda.get_device_capability() if torch.cuda.is_available() else (9, 0)
    return ("cuda", 10 * major + minor, 32)


def _binaries(path: Path) -> set[str]:
    return {str(found) for found in path.with_suffix(".triton").rglob("*.cubin")}


def main() -> int:
    parser = argparse.ArgumentParser(description="Check exported programs.")
    parser.add_argument("--degree", type=int, default=1 << 13)
    parser.add_argument("--examples", nargs="+", default=list(EXAMPLES))
    parser.add_argument("--target", default="cuda")
    parser.add_argument("--binaries", action="store_true")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = [check(example, Path(folder), options) for example in options.examples]
    failed = [str(row["example"]) for row in rows if not row["ok"]]
    print(f"{len(rows) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
