"""Chains in native code: the order of programs, threads, arguments; and whole programs whose launches are chained."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.backend.executable import ChainingLibrary
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import host
from fhelium_ir.lowering.cpu import kernels as cpu_kernels
from fhelium_ir.lowering.cpu.chains import Step, chain_work
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.link import link
from fhelium_ir.passes.chain_launches import ChainLaunches
from fhelium_ir.universe import make_context
from tests.unit.end_to_end.programs import PROGRAMS
from tests.unit.end_to_end.stages import Runner, compile_stages

Parse = Callable[[str], ModuleOp]

BUFFER = "!kernel.buffer<i64>"

# Each program appends its number, its row and its block to a list whose length is the first word.
LOG = f"""
kernel.func @log(%o : {BUFFER}, %id : i64) lanes [1] grid 2 {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ten = arith.constant 10 : i64
  %block = kernel.program_id 0
  %row = kernel.program_id 1
  %l = kernel.lane_id 0
  %a = arith.muli %id, %ten : i64
  %b = arith.addi %a, %row : i64
  %c = arith.muli %b, %ten : i64
  %d = arith.addi %c, %block : i64
  %n = kernel.load %o[%zero] : {BUFFER} -> i64
  %m = arith.addi %n, %one : i64
  kernel.store %d, %o[%m] : i64, {BUFFER}
  kernel.store %m, %o[%zero] : i64, {BUFFER}
  kernel.return
}}
"""

# Adds a number to a row and multiplies it by another one.
AFFINE = f"""
kernel.func @affine(%o : {BUFFER}, %a : i64, %b : i64) lanes [8] grid 2 {{
  %eight = arith.constant 8 : i64
  %sixteen = arith.constant 16 : i64
  %block = kernel.program_id 0
  %row = kernel.program_id 1
  %l = kernel.lane_id 0
  %start = arith.muli %row, %sixteen : i64
  %first = arith.muli %block, %eight : i64
  %in = arith.addi %first, %l : i64
  %i = arith.addi %start, %in : i64
  %x = kernel.load %o[%i] : {BUFFER} -> i64
  %y = arith.addi %x, %a : i64
  %z = arith.muli %y, %b : i64
  kernel.store %z, %o[%i] : i64, {BUFFER}
  kernel.return
}}
"""


def test_each_unit_runs_through_all_launches(parse: Parse) -> None:
    kernels = CpuKernels(parse(LOG), threads=1)
    out = torch.zeros(32, dtype=torch.int64)
    run = kernels.chain((("log", (2, 3)), ("log", (1, 2))), ((0, 1, 0), (1, 0)))
    run((out, 1), (out, 2))
    unit_0 = [100, 101, 120, 121, 210]
    unit_1 = [110, 111, 200]
    assert [int(word) for word in out[1 : 1 + int(out[0])]] == [*unit_0, *unit_1]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_take_units(threads: int, parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_kernels, "THREAD_SECONDS", 1e-12)
    kernels = CpuKernels(parse(AFFINE), threads=threads)
    assert isinstance(kernels, ChainingLibrary)
    count = 40
    launches = (("affine", (2, count)), ("affine", (2, count)))
    # Neighbours share a unit: whoever begins it also ends it.
    units = tuple(row // 2 for row in range(count))
    run = kernels.chain(launches, (units, units))
    for first in range(3):
        words = torch.arange(16 * count) + first
        expected = ((words + 3) * 5 + 7) * 11
        run((words, 3, 5), (words, 7, 11))
        assert torch.equal(words, expected)


def test_programs_of_a_row_are_a_range() -> None:
    work = chain_work([Step(5, 24, (4, 2, 3), (0, 0, 1)), Step(6, 16, (3,), (1, 0, 1))])
    tasks, starts = (list(table) for table in work.tables)
    assert work.units == 2
    assert [tasks[k : k + 4] for k in range(0, len(tasks), 4)] == [
        [5, 16, 0, 16],
        [6, 40, 1, 2],
        [5, 16, 16, 24],
        [6, 40, 0, 1],
        [6, 40, 2, 3],
    ]
    assert starts == [0, 2, 5]


def test_arguments_are_checked(parse: Parse) -> None:
    kernels = CpuKernels(parse(AFFINE), threads=1)
    with pytest.raises(FheliumError, match="unknown kernel 'afine'"):
        kernels.chain((("afine", (1, 1)),), ((0,),))
    run = kernels.chain((("affine", (2, 1)), ("affine", (2, 1))), ((0,), (0,)))
    words = torch.zeros(16, dtype=torch.int64)
    with pytest.raises(FheliumError, match="argument 0 must be a contiguous cpu tensor"):
        run((words, 1, 1), (words.to(torch.int32), 1, 1))


@pytest.mark.parametrize(("name", "bits"), [("divisions", 28), ("rotations", 50)])
def test_chained_programs_give_the_same_residues(name: str, bits: int, tmp_path: Path) -> None:
    chosen = generate(512, [bits] * 3, [bits] * 2, 2, bits - 8, insecure=True)
    run = Runner.of(compile_stages(PROGRAMS[name](chosen)))
    module = run.stages.lowered.clone()
    device = tmp_path / "small.json"
    # A row of 512 words takes half of this cache.
    device.write_text(json.dumps(asdict(replace(DEVICES["cpu"], name="small", cache=8192))))
    ChainLaunches(device=str(device)).apply(make_context(), module)
    module.verify()
    chains = [op for op in module.walk() if isinstance(op, host.ChainOp)]
    assert len(chains) >= 2
    residues = run.residues("random")
    expected = run.program(residues)
    for target in ("cpu", "interpret"):
        program = link(module, run, target)
        inputs = [
            torch.as_tensor(residues[spec.name]).to(getattr(torch, spec.dtype))
            for spec in program.arguments
        ]
        outputs, runtime = program.run_counted(*inputs)
        assert runtime.launches == sum(isinstance(op, host.LaunchOp) for op in module.walk())
        for output, want in zip(outputs, expected, strict=True):
            assert (output.numpy() == want).all()
        for output, again in zip(outputs, program.run(*inputs), strict=True):
            assert torch.equal(output, again)
