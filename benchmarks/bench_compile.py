"""How the cost of compiling grows: straight-line programs of 100, 1,000 and 10,000 ckks ops.

    python benchmarks/bench_compile.py [--sizes 100,1000,10000] [--stages program|all] [--json FILE]

Prints processor time for parsing, verifying, printing and each pass of the default pipeline, the
cost per ckks op at the largest size, and the exponent of growth (the slope of the time over the
size, both in logarithms, by least squares). Kernels are shared by shape: their number
and the time to print and to compile them stand apart, because they do not grow with the program.
Exits with 1 if an exponent is above the limit or the program stage takes longer than allowed.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import sys
import time
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import PassObserver, Pipeline, Step
from fhelium_ir.compiler.printing import print_mlir
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import kernel

LARGEST_EXPONENT = 1.1
PROGRAM_STAGE_S = 15.0
LAST_PROGRAM_PASS = "ckks-check"
IGNORED_S = 0.05
"""A pass that takes less at the largest size has no meaningful exponent."""

HEAD = """\
module attributes {ckks.params = #ckks.params<
  ring_degree = 8192, q = [1152921504606748673, 1099511480321, 1099511922689],
  p = [1152921504606830593], digits = 3, scale = 2**40, secret = ternary>} {
func.func @f(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {
"""

BLOCK = """\
  %r{i} = ckks.rotate %x {{steps = {step}}} : !ckks.ciphertext
  %v{i} = arith.constant dense<{value}> : tensor<1xf64>
  %c{i} = ckks.encode %v{i} : tensor<1xf64> -> !ckks.plaintext
  %m{i} = ckks.mul_plain %r{i}, %c{i} : !ckks.ciphertext, !ckks.plaintext
  %p{i} = ckks.mul %r{i}, %y : !ckks.ciphertext
  %l{i} = ckks.relinearize %p{i} : !ckks.ciphertext
  %t{i} = ckks.sub %l{i}, %m{i} : !ckks.ciphertext
  %s{i} = ckks.rescale %t{i} : !ckks.ciphertext
  %n{i} = ckks.negate %s{i} : !ckks.ciphertext
  %a{i} = ckks.add %{before}, %n{i} : !ckks.ciphertext
"""
OPS_IN_BLOCK = 9


def program(ops: int) -> str:
    """A straight-line program of about `ops` ckks ops: rotations, products, sums, rescaling.

    One plaintext for every nine ops, 64 rotations, values with long and with short lives.
    """
    lines = [HEAD]
    lines.append("  %xy = ckks.mul %x, %y : !ckks.ciphertext\n")
    lines.append("  %z = ckks.relinearize %xy : !ckks.ciphertext\n")
    lines.append("  %start = ckks.rescale %z : !ckks.ciphertext\n")
    before = "start"
    for i in range(max(1, ops // OPS_IN_BLOCK)):
        value = (i + 1) / 16384
        lines.append(BLOCK.format(i=i, step=1 + i % 64, value=value, before=before))
        before = f"a{i}"
    lines.append(f"  return %{before} : !ckks.ciphertext\n}}\n}}\n")
    return "".join(lines)


class Clock(PassObserver):
    """Processor time by name; passes and the verification after them stand apart."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.start = 0.0

    def measure(self, name: str, body: Callable[[], object]) -> None:
        """Times one call."""
        start = time.process_time()
        body()
        self.seconds[name] = time.process_time() - start

    def before_pass(self, step: Step, module: object) -> None:
        self.start = time.process_time()

    def after_apply(self, step: Step, module: object) -> None:
        now = time.process_time()
        self.seconds[step.name] = now - self.start
        self.start = now

    def after_pass(self, step: Step, module: object) -> None:
        self.seconds[f"verify after {step.name}"] = time.process_time() - self.start


def measure(ops: int, everything: bool) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds by step for one size, and facts about the kernels."""
    text = program(ops)
    clock = Clock()
    context = universe.make_context()
    gc.collect()
    gc.disable()
    start = time.process_time()
    module = parse_module(context, text, "bench.mlir")
    clock.seconds["parse"] = time.process_time() - start
    clock.measure("verify", lambda: verify_module(module))
    clock.measure("print", lambda: print_mlir(module, StringIO()))
    pipeline = Pipeline.named(universe.DEFAULT_PIPELINE)
    if not everything:
        pipeline = pipeline.until(LAST_PROGRAM_PASS)
    pipeline.run(context, module, observers=[clock])
    facts: dict[str, float] = {}
    if everything:
        from fhelium_ir.lowering.kernel_libraries import load_kernels
        from fhelium_ir.lowering.triton.printer import print_triton

        kernels = [op for op in module.ops if isinstance(op, kernel.FuncOp)]
        facts["distinct kernels"] = len(kernels)
        start = time.process_time()
        print_triton(module, StringIO())
        facts["seconds to print them as Triton"] = time.process_time() - start
        start = time.perf_counter()
        load_kernels(module, "cpu")
        facts["seconds to load them for the CPU (cached code counts)"] = time.perf_counter() - start
    gc.enable()
    return clock.seconds, facts


def exponent(times: Mapping[int, float]) -> float:
    """Slope of the time over the size, both in logarithms, by least squares."""
    points = [(math.log(size), math.log(max(t, 1e-9))) for size, t in times.items()]
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def report(results: dict[int, dict[str, float]]) -> list[str]:
    """Prints the table; what is above a limit."""
    sizes = sorted(results)
    large = sizes[-1]
    wrong: list[str] = []
    heads = "".join(f"{f'{size} ops':>12}" for size in sizes)
    print(f"{'seconds':<38}{heads}{'us/op':>10}{'exponent':>10}")
    for name, seconds in results[large].items():
        times = "".join(f"{results[size].get(name, 0.0):12.3f}" for size in sizes)
        line = f"{name:<38}{times}{seconds / large * 1e6:10.1f}"
        if len(sizes) > 1 and seconds > IGNORED_S:
            slope = exponent({size: results[size].get(name, 0.0) for size in sizes})
            line += f"{slope:10.2f}"
            if slope > LARGEST_EXPONENT:
                wrong.append(f"{name} grows with exponent {slope:.2f}")
        print(line)
    total = {size: sum(results[size].values()) for size in sizes}
    print(f"{'total':<38}" + "".join(f"{total[size]:12.3f}" for size in sizes), end="")
    print(f"{total[large] / large * 1e6:10.1f}", end="")
    if len(sizes) > 1:
        slope = exponent(total)
        print(f"{slope:10.2f}")
        if slope > LARGEST_EXPONENT:
            wrong.append(f"the total grows with exponent {slope:.2f}")
    else:
        print()
    stage = program_stage_seconds(results[large])
    print(f"program stage (parse, verify, passes to {LAST_PROGRAM_PASS}): {stage:.2f} s")
    if stage > PROGRAM_STAGE_S:
        wrong.append(f"the program stage takes {stage:.1f} s, more than {PROGRAM_STAGE_S:.0f} s")
    return wrong


def program_stage_seconds(seconds: dict[str, float]) -> float:
    """Parsing, verifying and the passes of the program stage."""
    total = 0.0
    for name, value in seconds.items():
        if name != "print":
            total += value
        if name == f"verify after {LAST_PROGRAM_PASS}":
            break
    return total


def main() -> int:
    """Entry point; returns 1 if a limit is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--sizes", default="100,1000,10000")
    parser.add_argument("--stages", choices=("program", "all"), default="all")
    parser.add_argument("--json", type=Path, help="write the numbers into this file as well")
    arguments = parser.parse_args()
    results: dict[int, dict[str, float]] = {}
    kernels: dict[int, dict[str, float]] = {}
    for size in (int(word) for word in arguments.sizes.split(",")):
        results[size], kernels[size] = measure(size, arguments.stages == "all")
    wrong = report(results)
    for size, facts in kernels.items():
        for name, value in facts.items():
            print(f"{size} ops: {name}: {value:.4g}")
    if arguments.json is not None:
        document = {"seconds": results, "kernels": kernels, "wrong": wrong}
        arguments.json.write_text(json.dumps(document, indent=1) + "\n")
    for line in wrong:
        print(f"error: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
