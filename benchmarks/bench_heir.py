"""Time and peak memory of compiling what HEIR printed: `python benchmarks/bench_heir.py [--heir-opt heir-opt]`.

Without HEIR it compiles the programs of examples/heir, with it matrix-vector products of growing size besides. Each
program is compiled in a process of its own, so that the peak is its own. Times are processor seconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples" / "heir"
SIZES = (32, 64, 128, 256)


def load_programs() -> ModuleType:
    """examples/heir/programs.py."""
    spec = importlib.util.spec_from_file_location("heir_programs", EXAMPLES / "programs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["heir_programs"] = module
    spec.loader.exec_module(module)
    return module


def measure(path: Path) -> None:
    """Compiles one file for the CPU and prints a row."""
    from fhelium_ir.backend.compiling import CompileOptions, compile_text
    from fhelium_ir.frontends.frontend import make_frontend

    text = path.read_text(encoding="utf-8")
    start = time.process_time()
    read = make_frontend("heir").read(text, str(path)).module
    reading = time.process_time() - start
    ops = sum(1 for _ in read.walk())
    start = time.process_time()
    compile_text(str(path), text, CompileOptions("cpu", frontend="heir"))
    total = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    lines = text.count("\n")
    name = f"{path.parent.name}/{path.stem}"
    print(
        f"{name:34} {lines:7} {ops:7} {reading:8.2f} {total:8.2f} {1000 * total / ops:8.2f} {peak:8.0f}",
        flush=True,
    )


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--heir-opt", metavar="PATH")
    parser.add_argument("--size", type=int, action="append", help=f"of the matrix, default {SIZES}")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure is not None:
        measure(options.measure)
        return
    print(
        f"{'program':34} {'lines':>7} {'ops':>7} {'read s':>8} {'all s':>8} {'ms/op':>8} {'MiB':>8}"
    )
    with tempfile.TemporaryDirectory() as folder:
        if options.heir_opt is None:
            paths = sorted(EXAMPLES.glob("*/*.mlir"))
        else:
            paths = _products(Path(folder), options.heir_opt, options.size or SIZES)
        for path in paths:
            subprocess.run([sys.executable, __file__, "--measure", str(path)], check=True)


def _products(folder: Path, heir_opt: str, sizes: tuple[int, ...]) -> list[Path]:
    """What HEIR makes of matrix-vector products."""
    import numpy as np

    programs = load_programs()
    paths: list[Path] = []
    for size in sizes:
        program = programs.matvec(np.random.default_rng(size), size, size)
        source = folder / "source.mlir"
        source.write_text(program.text, encoding="utf-8")
        path = folder / f"matvec{size}.mlir"
        path.write_text(programs.compile_program(program, heir_opt, str(source)), encoding="utf-8")
        paths.append(path)
    return paths


if __name__ == "__main__":
    main()
