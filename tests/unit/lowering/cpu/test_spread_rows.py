"""Rows that the programs of a launch read together: which ones, from where to where, and that nothing else is read."""

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offsets
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.llvm_text import module_text
from fhelium_ir.lowering.cpu.schedule import schedule_kernel
from fhelium_ir.lowering.cpu.spread_rows import SpreadRow, spread_rows

Parse = Callable[[str], ModuleOp]

DEGREE = 1 << 15
X, T = "!kernel.buffer<i64>", "!kernel.buffer<i32>"
LOAD = f"kernel.load %x[%i] : {X} -> i64"


def strided(load: str = LOAD, second: str = "%far", stored: str = "y", step: int = 3) -> str:
    """Two words of each of 8 x 8 lanes, 2^8 words apart along axis 0 and neighbours along axis 1; 2^3 programs a row.

    The row stands at x[(1 + t[row]) * DEGREE].
    """
    return f"""
kernel.func @f(%x : {X}, %y : {X}, %t : {T}) lanes [8, 8] grid 2 {{
  %p = kernel.program_id 0
  %q = kernel.program_id 1
  %a = kernel.lane_id 0
  %b = kernel.lane_id 1
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %cp = arith.constant {step} : i64
  %c6 = arith.constant 6 : i64
  %c8 = arith.constant 8 : i64
  %c11 = arith.constant 11 : i64
  %c15 = arith.constant 15 : i64
  %half = arith.constant {DEGREE // 2} : i64
  %r32 = kernel.load %t[%q] : {T} -> i32
  %r = arith.extsi %r32 : i32 to i64
  %row = arith.addi %r, %c1 : i64
  %start = arith.shli %row, %c15 : i64
  %column = arith.shli %p, %cp : i64
  %plane = arith.shrui %a, %c2 : i64
  %line = arith.andi %a, %c2 : i64
  %far = arith.shli %a, %c8 : i64
  %low = arith.addi %column, %b : i64
  %inside = arith.addi %low, {second} : i64
  %i = arith.addi %start, %inside : i64
  %j = arith.addi %i, %half : i64
  %v = {load}
  %w = kernel.load %x[%j] : {X} -> i64
  %s = arith.subi %w, %v : i64
  %p6 = arith.shli %p, %c6 : i64
  %q11 = arith.shli %q, %c11 : i64
  %o1 = arith.addi %p6, %q11 : i64
  %c3 = arith.constant 3 : i64
  %a3 = arith.shli %a, %c3 : i64
  %o2 = arith.addi %o1, %a3 : i64
  %o = arith.addi %o2, %b : i64
  kernel.store %s, %{stored}[%o] : i64, {X}
  kernel.return
}}"""


def rows_of(parse: Parse, text: str) -> list[SpreadRow]:
    func = parse(text).body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    schedule = schedule_kernel(func)
    return spread_rows(func, Offsets(schedule.facts, schedule.aliases), schedule.facts)


def test_both_words_are_of_one_row(parse: Parse) -> None:
    (row,) = rows_of(parse, strided())
    assert isinstance(row.buffer, BlockArgument) and row.buffer.index == 0
    assert [factor for _, factor in row.roots] == [DEGREE]
    # The constant 1 of the row is part of the bounds; lanes reach 7 * 256 + 7, the second word half a row further.
    assert (row.low, row.high) == (DEGREE, DEGREE + 7 * 256 + 7 + DEGREE // 2)
    assert (row.step, row.bytes) == (8, 8)


@pytest.mark.parametrize(
    "text",
    [
        # Written, too.
        strided(stored="x"),
        # Programs stand 512 bytes apart.
        strided(step=6),
        # a & 2 does not grow with a.
        strided(second="%line"),
    ],
)
def test_other_rows_are_left(parse: Parse, text: str) -> None:
    assert rows_of(parse, text) == []
    func = parse(text).body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    assert "volatile" not in module_text({"f": func}, 256)


def test_upper_bits_of_a_lane_grow(parse: Parse) -> None:
    (row,) = rows_of(parse, strided(second="%plane"))
    assert (row.low, row.high) == (DEGREE, DEGREE + 1 + 7 + DEGREE // 2)


def test_words_stay_what_they_are(parse: Parse) -> None:
    module = parse(strided())
    func = module.body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    assert module_text({"f": func}, 256).count("load volatile i8") == 1
    x = torch.arange(4 * DEGREE) ** 2
    y = torch.zeros(3 << 11, dtype=torch.int64)
    table = torch.tensor([2, -1, 0], dtype=torch.int32)
    CpuKernels(module, threads=1).launch("f", (8, 3), (x, y, table))
    rows = x.reshape(4, 2, 64, 256)[:, :, :8]
    wanted = (rows[:, 1] - rows[:, 0])[[3, 0, 1]][..., :64]
    # [row, a, column] to [row, program, a, b]
    got = y.reshape(3, 32, 8, 8)[:, :8]
    assert torch.equal(got, wanted.reshape(3, 8, 8, 8).swapaxes(1, 2))
