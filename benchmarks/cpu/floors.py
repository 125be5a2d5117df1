"""What this processor can do at most: bytes copied and modular products, measured by short loops."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.universe import make_context

COPIED = 1 << 26
LANES, CHAIN, PROGRAMS = 256, 64, 4096
PRIME = 1125899904679937
"""Just below 2^50, 1 modulo 2^17."""


def best(action: Callable[[], object], runs: int, threads: int) -> float:
    """The least seconds of some runs; where other work takes the processors away, those of the processors count."""
    least = float("inf")
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        action()
        clock, used = time.perf_counter() - start, (time.process_time() - used) / threads
        least = min(least, clock, used if used > 0 else clock)
    return least


def copy_bandwidth(threads: int) -> float:
    """Bytes read and written per second by a copy out of the caches."""
    torch.set_num_threads(threads)
    source = torch.ones(COPIED // 8, dtype=torch.int64)
    target = torch.zeros_like(source)
    return 2 * COPIED / best(lambda: target.copy_(source), 20, threads)


def _kernel() -> ModuleOp:
    """Products of a word with itself, over and over, in registers: four chains to a lane."""
    lines = [
        "%c256 = arith.constant 256 : i64",
        "%zero = arith.constant 0 : i64",
        "%one = arith.constant 1 : i64",
        f"%chain = arith.constant {CHAIN} : i64",
        "%q = kernel.load %m[%zero] : !kernel.buffer<f64> -> f64",
        "%w = kernel.load %m[%one] : !kernel.buffer<f64> -> f64",
        "%mod = zq.modulus %q, %w : f64 -> !zq.modulus<fp64>",
        "%l = kernel.lane_id 0",
        "%v = kernel.load %x[%l] : !kernel.buffer<f64> -> f64",
        "%a, %b, %c, %d = scf.for %i = %zero to %chain step %one "
        "iter_args(%s = %v, %t = %v, %u = %v, %w0 = %v) -> (f64, f64, f64, f64) : i64 {",
        *[
            f"%y{k} = zq.mul %{name}, %v mod %mod : f64, !zq.modulus<fp64>"
            for k, name in enumerate(("s", "t", "u", "w0"))
        ],
        "scf.yield %y0, %y1, %y2, %y3 : f64, f64, f64, f64",
        "}",
        "%ab = arith.addf %a, %b : f64",
        "%cd = arith.addf %c, %d : f64",
        "%r = arith.addf %ab, %cd : f64",
        "kernel.store %r, %o[%l] : f64, !kernel.buffer<f64>",
        "kernel.return",
    ]
    body = "\n".join(lines)
    buffers = ", ".join(f"%{name} : !kernel.buffer<f64>" for name in ("m", "x", "o"))
    text = f"kernel.func @products({buffers}) lanes [{LANES}] grid 1 {{\n{body}\n}}"
    module = parse_module(make_context(), text, "products")
    ConvertZqToArith().apply(Context(), module)
    return module


def product_rate(threads: int) -> float:
    """Modular products per second of doubles in registers, on all threads together."""
    kernels = CpuKernels(_kernel(), threads)
    modulus = torch.tensor([float(PRIME), 1.0 / PRIME], dtype=torch.float64)
    words = torch.arange(LANES, dtype=torch.float64) * 1e12
    out = torch.zeros(LANES, dtype=torch.float64)
    seconds = best(lambda: kernels.launch("products", (PROGRAMS,), (modulus, words, out)), 20, threads)
    return 4 * LANES * CHAIN * PROGRAMS / seconds
