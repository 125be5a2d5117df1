"""Compiles printed kernels into Triton's disk cache, in a process of its own.

Standard input holds JSON: {"target": [backend, arch, warp size], "jobs": [[source, [types], warps], ...]}.
Failures are left to the process that launches the kernels: it compiles what is not in the cache, and reports.
"""

from __future__ import annotations

import json
import re
import sys
from typing import cast

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.triton import binding
from fhelium_ir.lowering.triton.coalescing import as_printed
from fhelium_ir.lowering.triton.compile import compile_source
from fhelium_ir.lowering.triton.early_start import starts_early

Job = tuple[str, list[str], int]


_WORDS = re.compile(r"\b(?:in|out|scratch)\d+: ")
"""Parameters that hold words."""

WIDE_PROGRAM = 8
"""Warps from which on a program is wide: those on 32-bit words."""


def options_of(source: str, warps: int) -> binding.LaunchOptions:
    """What Triton is told of a printed kernel, when it is compiled ahead as at its launch."""
    return binding.LaunchOptions(warps, resident_warps(source, warps), starts_early(source))


def resident_warps(source: str, warps: int) -> int:
    """Warps that a multiprocessor should hold at least, 0 if the compiler may choose.

    With fewer, too little work hides the latency of memory, and with more, words would spill. Told no number, the
    compiler takes all registers there are for inner products with a key, and for other kernels so few that loads come
    right before their uses. On an H200 inner products over digits that are transformed in the loop, with two sums for
    each word, were fastest with 12 warps, base conversions on doubles with 16 (other loops and wide programs, too, have
    12), and other transforms of doubles with 20, or 24 if the kernel has one exchange and only the transform's words.
    """
    loop, exchanges = "\n    for " in source, source.count(" = tl.permute(")
    if '"*fp64"' in source and exchanges and warps < WIDE_PROGRAM:
        if not loop:
            return 24 if exchanges == 1 and len(_WORDS.findall(source)) <= 2 else 20
        return 12 if "\n        tile = tl.permute(" in source else 16
    return 12 if loop or warps >= WIDE_PROGRAM else 0


def compile_job(job: Job, target: binding.GpuTarget) -> binding.CompiledKernel:
    """Compiles one kernel: its source, the Triton type of each parameter, and its warps."""
    source, types, warps = job
    function = binding.as_jit(compile_source(source))
    signature = dict(zip(function.arg_names, types, strict=True))
    with as_printed(source):
        return binding.compile_for(function, signature, target, options_of(source, warps))


def main() -> int:
    """Compiles the jobs on standard input; the exit code is 0 even if some fail."""
    request = cast("dict[str, object]", json.load(sys.stdin))
    backend, arch, warp_size = cast("tuple[str, int, int]", request["target"])
    target = binding.GpuTarget(backend, arch, warp_size)
    for job in cast("list[Job]", request["jobs"]):
        try:
            compile_job(job, target)
        except FheliumError:
            continue
    return 0


if __name__ == "__main__":
    sys.exit(main())
