"""What program rows touch, against what the machine code of each row does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import MemRefType

from fhelium_ir.analysis.launch_rows import (
    LaunchRows,
    RowAnalysis,
    Span,
    in_good_order,
    largest_unit,
    placed_in,
    units_of,
)
from fhelium_ir.backend.executable import KernelLibrary
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import host
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.link import link
from fhelium_ir.universe import make_context
from tests.unit.end_to_end.programs import PROGRAMS
from tests.unit.end_to_end.stages import Runner, compile_stages

POISON = 0xA5

DEGREE = 512
"""Transforms take two kernels."""

CASES = [
    ("divisions", 28, "cpu"),
    ("divisions", 50, "gpu"),
    ("rotations", 50, "cpu"),
]
"""On 32-bit words and on doubles; for a `gpu` the inner product with a key is inside the transform."""


@cache
def compiled(name: str, bits: int, device: str) -> Runner:
    chosen = generate(DEGREE, [bits] * 3, [bits] * 2, 2, bits - 8, insecure=True)
    return Runner.of(compile_stages(PROGRAMS[name](chosen), device))


def launches_of(run: Runner) -> list[host.LaunchOp]:
    return [op for op in run.stages.lowered.walk() if isinstance(op, host.LaunchOp)]


def memory_of(tensor: torch.Tensor) -> torch.Tensor:
    """All bytes of the buffer that a tensor lies in."""
    return torch.empty(0, dtype=torch.uint8).set_(tensor.untyped_storage())


@dataclass
class RowByRow:
    """Runs each program row alone and compares what it did with what is known of it."""

    kernels: CpuKernels
    known: Sequence[LaunchRows]
    count: int = 0
    rows: int = 0
    tight: list[bool] = field(default_factory=list[bool])

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        known = self.known[self.count]
        self.count += 1
        assert known.launch.callee.string_value() == name
        buffers = {
            placed[0]: memory_of(tensor)
            for value, tensor in zip(known.launch.arguments, arguments, strict=True)
            if isinstance(value.type, MemRefType) and isinstance(tensor, torch.Tensor)
            if (placed := placed_in(value)) is not None
            if isinstance(placed[0].owner, host.AllocOp)
        }
        before = {buffer: memory.clone() for buffer, memory in buffers.items()}
        found = self.kernels.kernels[name]
        words = found.prepare(grid, arguments)
        inner = grid[0]
        for row in range(grid[1]):
            found.call(row * inner, (row + 1) * inner, words)
            after = {buffer: memory.clone() for buffer, memory in buffers.items()}
            for buffer, memory in buffers.items():
                changed = memory != before[buffer]
                stored = marked(known.spans, buffer, memory, row, stores=True)
                assert not (changed & ~stored).any(), f"{name} writes more in row {row}"
                self.tight.append(2 * int(changed.sum()) >= int(stored.sum()))
                # Whatever the row does not touch may hold anything.
                touched = stored | marked(known.spans, buffer, memory, row, stores=False)
                memory.copy_(torch.where(touched, before[buffer], POISON))
            found.call(row * inner, (row + 1) * inner, words)
            for buffer, memory in buffers.items():
                stored = marked(known.spans, buffer, memory, row, stores=True)
                same = memory[stored] == after[buffer][stored]
                assert same.all(), f"{name} reads more in row {row}"
                memory.copy_(before[buffer])
            self.rows += 1
        self.kernels.launch(name, grid, arguments)


def marked(
    spans: Sequence[Span], buffer: object, memory: torch.Tensor, row: int, *, stores: bool
) -> torch.Tensor:
    """The bytes that a row may read, or those that it may write."""
    found = torch.zeros(memory.shape, dtype=torch.bool)
    for span in spans:
        if span.buffer is buffer and span.stores == stores:
            found[int(span.low[row]) : max(int(span.low[row]), int(span.high[row]))] = True
    return found


@pytest.mark.parametrize(("name", "bits", "device"), CASES)
def test_rows_touch_what_is_known_and_nothing_else(name: str, bits: int, device: str) -> None:
    run = compiled(name, bits, device)
    analysis = RowAnalysis(run.stages.lowered)
    known = [rows for op in launches_of(run) if (rows := analysis.rows(op)) is not None]
    assert len(known) == len(launches_of(run))
    program = link(run.stages.lowered, run, "cpu")
    assert isinstance(program.kernels, CpuKernels)
    checking = RowByRow(program.kernels, known)
    library: KernelLibrary = checking
    residues = run.residues("random")
    inputs = [torch.as_tensor(residues[spec.name]) for spec in program.arguments]
    typed = [
        x.to(torch.int32) if spec.dtype == "int32" else x
        for x, spec in zip(inputs, program.arguments, strict=True)
    ]
    outputs = replace(program, kernels=library).run(*typed)
    assert checking.count == len(known) and checking.rows > len(known)
    # Bounds that are too wide would be safe and useless.
    assert sum(checking.tight) > 0.4 * len(checking.tight)
    for output, expected in zip(outputs, program.run(*typed), strict=True):
        assert torch.equal(output, expected)


def rows(*spans: tuple[str, int, int], count: int = 4) -> LaunchRows:
    """Rows of a launch that touch so many bytes each, from a first one on, of one buffer."""
    numbers = np.arange(count, dtype=np.int64)
    return LaunchRows(
        LAUNCH,
        count,
        tuple(
            Span(BUFFER, kind == "store", first + numbers * size, first + (numbers + 1) * size)
            for kind, first, size in spans
        ),
    )


BUFFER = host.AllocOp(MemRefType(host.i8, [1 << 20])).result
LAUNCH = host.LaunchOp("k", [1, 4], [])


def test_units_are_rows_that_depend_on_each_other() -> None:
    first = rows(("store", 0, 100))
    same = rows(("load", 0, 100), ("store", 1000, 100))
    assert [unit.tolist() for unit in units_of([first, same])] == [[0, 1, 2, 3]] * 2
    shifted = rows(("load", 100, 100), ("store", 1000, 100))
    assert [unit.tolist() for unit in units_of([first, shifted])] == [[0, 1, 2, 3], [1, 2, 3, 4]]
    halves = rows(("load", 50, 100))
    assert [unit.tolist() for unit in units_of([first, halves])] == [[0, 0, 0, 0], [0, 0, 0, 0]]
    wide = rows(("load", 0, 200), count=2)
    assert [unit.tolist() for unit in units_of([first, wide])] == [[0, 0, 1, 1], [0, 1]]


def test_what_is_only_read_makes_no_unit_and_a_late_store_does() -> None:
    reading = rows(("load", 0, 100), ("store", 1000, 100))
    also = rows(("load", 0, 50), ("store", 2000, 100))
    assert [unit.tolist() for unit in units_of([reading, also])] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert not also.reads_from(reading)
    storing = rows(("load", 2000, 100), ("store", 300, 100))
    assert [unit.tolist() for unit in units_of([reading, storing])] == [[0, 1, 2, 3], [3, 4, 5, 6]]
    assert not storing.reads_from(reading) and storing.reads_from(also)


def test_bytes_that_a_unit_hands_on() -> None:
    first, second = rows(("store", 0, 100)), rows(("load", 0, 200), ("store", 1000, 7), count=2)
    last = rows(("load", 1000, 7), count=2)
    chained = [first, second, last]
    units = units_of(chained)
    assert largest_unit(chained, units) == 2 * 100 + 7
    assert largest_unit(chained[:2], units[:2]) == 2 * 100


def test_units_that_read_the_same_bytes_follow_each_other() -> None:
    numbers = np.arange(4, dtype=np.int64)
    table, source = numbers % 2 * 100, numbers // 2 * 150
    chained = LaunchRows(LAUNCH, 4, (Span(BUFFER, False, table, table + 100),))
    (units,) = in_good_order([chained], [numbers])
    # Rows 0 and 2 read one part of the table, rows 1 and 3 the other one.
    assert units.tolist() == [0, 2, 1, 3]
    # More bytes are shared as the rows stand: by rows 0 and 1, and by rows 2 and 3.
    both = replace(chained, spans=(*chained.spans, Span(BUFFER, False, source, source + 150)))
    (units,) = in_good_order([both], [numbers])
    assert units.tolist() == [0, 1, 2, 3]


TAKEN = """
resource.declare @taken "rows" {{values = dense<{taken}> : tensor<3x2xi32>}} : memref<3x2xi32>
kernel.func @take(%rows : !kernel.buffer<i32>, %x : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [256] grid 2 {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %degree = arith.constant 1024 : i64
  %lanes = arith.constant 256 : i64
  %row = kernel.program_id 1
  %block = kernel.program_id 0
  %l = kernel.lane_id 0
  %entry = arith.addi %row, %row : i64
  %next = arith.addi %entry, %one : i64
  %a = kernel.load %rows[%entry] : !kernel.buffer<i32> -> i32
  %first = arith.extsi %a : i32 to i64
  %b = kernel.load %rows[%next] : !kernel.buffer<i32> -> i32
  %count = arith.extsi %b : i32 to i64
  %some = arith.cmpi sge, %first, %zero : i64
  %before = arith.muli %block, %lanes : i64
  %in = arith.addi %before, %l : i64
  %sum = scf.for %k = %zero to %count step %one iter_args(%s = %zero) -> (i64) : i64 {{
    %n = arith.addi %first, %k : i64
    %start = arith.muli %n, %degree : i64
    %i = arith.addi %start, %in : i64
    %v = kernel.load %x[%i] mask %some : !kernel.buffer<i64> -> i64
    %t = arith.addi %s, %v : i64
    scf.yield %t : i64
  }}
  %there = arith.muli %row, %degree : i64
  %j = arith.addi %there, %in : i64
  kernel.store %sum, %o[%j] : i64, !kernel.buffer<i64>
  kernel.return
}}
func.func @f(%x : memref<8x1024xi64>) -> memref<3x1024xi64> {{
  %taken = host.resource @taken : memref<3x2xi32>
  %o = host.alloc : memref<3x1024xi64>
  host.launch @take grid [4, 3](%taken, %x, %o) : memref<3x2xi32>, memref<8x1024xi64>, memref<3x1024xi64>
  func.return %o : memref<3x1024xi64>
}}
"""


@pytest.mark.parametrize(
    ("taken", "loads"),
    [
        # Rows 0 to 2, 3 and 4, 5: each once. Rows 6 and 7 of the buffer are read by nobody.
        ("[[0, 3], [3, 2], [5, 1]]", 1.0),
        # Eight rounds over five rows.
        ("[[0, 4], [0, 4], [4, 1]]", 9 / 5),
        # The second row of the grid is masked, and the third one has no round.
        ("[[0, 2], [-1, 1], [2, 0]]", 1.0),
    ],
)
def test_loads_of_a_word(taken: str, loads: float) -> None:
    module = parse_module(make_context(), TAKEN.format(taken=taken))
    (launch,) = (op for op in module.walk() if isinstance(op, host.LaunchOp))
    analysis = RowAnalysis(module)
    assert analysis.loads_per_word(launch, 1) == pytest.approx(loads)
    assert analysis.loads_per_word(launch, 2) == 0.0
