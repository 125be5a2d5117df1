"""Doubles on the CPU: the same bits whatever vectors the processor has, and without its multiply-add."""

from __future__ import annotations

import platform
import random
import struct
from fractions import Fraction
from pathlib import Path

import llvmlite.binding as llvm
import pytest
import torch

from fhelium_ir.lowering.cpu import jit
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.object_cache import ObjectCache
from tests.unit.kernel_texts import converted, only_kernel, parse

F, M = "!kernel.buffer<f64>", "!zq.modulus<fp64>"
Q = 2**50 - 27
LANES = 64

TEXT = f"""kernel.func @k(%qs : {F}, %x : {F}, %y : {F}, %z : {F}) lanes [{LANES}] grid 1 {{
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %p = kernel.program_id 0
  %width = arith.constant {LANES} : i64
  %start = arith.muli %p, %width : i64
  %l = kernel.lane_id 0
  %i = arith.addi %start, %l : i64
  %q = kernel.load %qs[%c0] : {F} -> f64
  %qi = kernel.load %qs[%c1] : {F} -> f64
  %m = zq.modulus %q, %qi : f64 -> {M}
  %a = kernel.load %x[%i] : {F} -> f64
  %b = kernel.load %y[%i] : {F} -> f64
  %r = zq.mul %a, %b mod %m : f64, {M}
  %s = zq.reduce %r mod %m from 4 to 1 : f64, {M}
  %n = zq.to_integer %s mod %m : {M}
  %d = zq.to_float %n mod %m : {M}
  %t = math.fma %d, %qi, %r : f64
  kernel.store %t, %z[%i] : f64, {F}
  kernel.return
}}"""


def rounded(exact: Fraction) -> float:
    return float(exact)


def expected(a: int, b: int) -> float:
    inverse = rounded(Fraction(1, Q))
    high = rounded(Fraction(a) * Fraction(b))
    count = rounded(Fraction(high) * Fraction(inverse) + 3 * 2**51) - 3 * 2**51
    product = a * b - int(count) * Q
    return rounded((product % Q) * Fraction(inverse) + product)


def bits(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}d", *values)


# Name of the processor, features that are switched off, bits of its vectors.
PROCESSORS = {
    "wide": ("", "", 512),
    "avx2": ("", "-avx512f,-avx512dq,-avx512vl,-avx512bw", 256),
    "without multiply-add": ("x86-64", "-fma,-fma4,-avx512f,-avx2,-avx", 128),
    "scalar": ("x86-64", "-fma,-fma4,-avx512f,-avx2,-avx", 64),
}


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_bits_do_not_depend_on_the_processor(
    processor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, without, width = PROCESSORS[processor]
    if without and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("these are names of features of x86")

    def machine() -> llvm.TargetMachine:
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features = llvm.get_host_cpu_features().flatten() if not name else ""
        target = llvm.Target.from_triple(llvm.get_process_triple())
        cpu = name or llvm.get_host_cpu_name()
        return target.create_target_machine(
            cpu=cpu, features=f"{features},{without}".strip(","), opt=3, jit=True
        )

    monkeypatch.setattr("fhelium_ir.lowering.cpu.binding._target_machine", machine)
    monkeypatch.setattr(jit, "vector_bits", lambda: width)
    module = converted(parse(TEXT))
    vector = f"<{width // 64} x double>" if width > 64 else "double"
    assert f"call {vector} @llvm.fma" in jit.native_text(only_kernel(module), "k")
    rng = random.Random(7)
    half = (Q - 1) // 2
    right = [rng.choice((half, -half, rng.randrange(-half, half + 1))) for _ in range(4 * LANES)]
    left = [
        rng.choice((1, -1)) * min(2**53, (Q << 51) // abs(b) - 1 - rng.randrange(3)) for b in right
    ]
    columns = [[float(Q), 1 / Q], [float(a) for a in left], [float(b) for b in right]]
    tensors = [torch.tensor(column, dtype=torch.float64) for column in columns]
    result = torch.zeros(4 * LANES, dtype=torch.float64)
    kernels = CpuKernels(module, threads=1, cache=ObjectCache(tmp_path))
    kernels.launch("k", (4,), [*tensors, result])
    wanted = [expected(a, b) for a, b in zip(left, right, strict=True)]
    assert result.numpy().tobytes() == bits(wanted)
