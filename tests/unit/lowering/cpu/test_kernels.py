"""Launches: program numbers, masks at the ends of buffers, names, argument checks."""

from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu.kernels import CpuKernels

Compiled = Callable[[str], CpuKernels]
Parse = Callable[[str], ModuleOp]

BUFFER = "!kernel.buffer<i64>"


def ints(values: torch.Tensor) -> list[int]:
    return [int(value) for value in values]


def test_program_ids_count_axis_0_fastest(compiled: Compiled) -> None:
    kernels = compiled(f"""
    kernel.func @f(%o : {BUFFER}) lanes [1] grid 3 {{
      %p = kernel.program_id 0
      %q = kernel.program_id 1
      %r = kernel.program_id 2
      %c3 = arith.constant 3 : i64
      %c4 = arith.constant 4 : i64
      %a = arith.muli %r, %c4 : i64
      %b = arith.addi %a, %q : i64
      %c = arith.muli %b, %c3 : i64
      %d = arith.addi %c, %p : i64
      %l = kernel.lane_id 0
      %e = arith.addi %d, %l : i64
      kernel.store %e, %o[%e] : i64, {BUFFER}
      kernel.return
    }}""")
    out = torch.full((60,), -1)
    kernels.launch("f", [3, 4, 5], [out])
    assert ints(out) == list(range(60))
    out.fill_(-1)
    kernel = kernels.kernels["f"]
    kernel.call(10, 20, kernel.prepare([3, 4, 5], [out]))
    assert [k for k, value in enumerate(ints(out)) if value != -1] == list(range(10, 20))
    kernel.call(5, 5, kernel.prepare([3, 4, 5], [out]))


MASKED = f"""
kernel.func @f(%x : {BUFFER}, %o : {BUFFER}, %n : i64) lanes [16] grid 1 {{
  %p = kernel.program_id 0
  %l = kernel.lane_id 0
  %c = arith.constant 16 : i64
  %pc = arith.muli %p, %c : i64
  %i = arith.addi %pc, %l : i64
  %m = arith.cmpi ult, %i, %n : i64
  %v = kernel.load %x[%i] mask %m : {BUFFER} -> i64
  %one = arith.constant 1 : i64
  %w = arith.addi %v, %one : i64
  kernel.store %w, %o[%i] mask %m : i64, {BUFFER}
  kernel.return
}}"""


@pytest.mark.parametrize("count", [0, 1, 15, 16, 17, 33])
def test_masked_accesses_leave_the_rest_alone(compiled: Compiled, count: int) -> None:
    kernels = compiled(MASKED)
    x = torch.arange(48) * 3
    out = torch.full((48,), -5)
    kernels.launch("f", [3], [x, out, count])
    assert ints(out[:count]) == [3 * k + 1 for k in range(count)]
    assert set(ints(out[count:])) <= {-5}


def test_masked_lanes_do_not_touch_memory(compiled: Compiled) -> None:
    """The masked addresses are not mapped: touching one ends the process."""
    kernels = compiled(
        MASKED.replace("%x[%i]", "%x[%far]")
        .replace("%o[%i]", "%o[%far]")
        .replace(
            "%m = ",
            "%huge = arith.constant 35184372088832 : i64\n"
            "%inside = arith.cmpi ult, %i, %n : i64\n"
            "%far = arith.select %inside, %i, %huge : i64\n%m = ",
        )
    )
    x, out = torch.arange(48), torch.zeros(48, dtype=torch.int64)
    kernels.launch("f", [3], [x, out, 20])
    assert ints(out) == [k + 1 for k in range(20)] + [0] * 28


def test_masked_load_gives_zero(compiled: Compiled) -> None:
    kernels = compiled(MASKED.replace("%w, %o[%i] mask %m", "%w, %o[%i]"))
    out = torch.full((16,), -5)
    kernels.launch("f", [1], [torch.full((16,), 9), out, 4])
    assert ints(out) == [10] * 4 + [1] * 12


def test_shared_mask_reads_nothing_or_all(compiled: Compiled) -> None:
    kernels = compiled(
        MASKED.replace(
            "arith.cmpi ult, %i, %n",
            "arith.cmpi sge, %n, %c : i64\n  %unused = arith.cmpi ult, %i, %n",
        ).replace("%w, %o[%i] mask %m", "%w, %o[%i]")
    )
    for n, expected in ((15, [1] * 16), (16, [10] * 16)):
        out = torch.zeros(16, dtype=torch.int64)
        kernels.launch("f", [1], [torch.full((16,), 9), out, n])
        assert ints(out) == expected


@pytest.mark.parametrize(
    "name", ["a'); import os #", "", "späße ∞", 'x"y\\z', "kernel_1", "a\nb", "%1 = {}"]
)
def test_any_symbol_name(compiled: Compiled, name: str) -> None:
    escaped = name.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A")
    text = MASKED.replace("@f", f'@"{escaped}"') + MASKED.replace("@f", "@other")
    kernels = compiled(text)
    assert set(kernels.kernels) == {name, "other"}
    out = torch.zeros(16, dtype=torch.int64)
    kernels.launch(name, [1], [torch.arange(16), out, 16])
    assert ints(out) == list(range(1, 17))


def test_empty_kernel_and_empty_module(compiled: Compiled, parse: Parse) -> None:
    assert CpuKernels(parse("builtin.module {}")).kernels == {}
    kernels = compiled("kernel.func @f() lanes [4] grid 1 { kernel.return }")
    kernels.launch("f", [5], [])


def test_launch_checks_arguments(compiled: Compiled) -> None:
    kernels = compiled(MASKED)
    x = torch.zeros(16, dtype=torch.int64)
    for grid, arguments, message in (
        ([1], [x, x], "takes a grid of rank 1 and 3 arguments"),
        ([1, 1], [x, x, 1], "got rank 2"),
        ([1], [x, x.to(torch.int32), 1], "argument 1 must be a contiguous cpu tensor"),
        ([1], [x, torch.zeros(32, dtype=torch.int64)[::2], 1], "non-contiguous"),
        ([1], [x, 5, 1], "argument 1 must be a contiguous cpu tensor of torch.int64"),
        ([1], [x, x, x], "argument 2 must be an integer"),
    ):
        with pytest.raises(FheliumError, match=message):
            kernels.launch("f", grid, arguments)
    with pytest.raises(FheliumError, match="unknown kernel 'g'"):
        kernels.launch("g", [1], [x, x, 1])


def test_scalars_wrap_to_their_width(compiled: Compiled) -> None:
    kernels = compiled(f"""
    kernel.func @f(%o : {BUFFER}, %a : i8, %b : i16, %c : i32, %d : i64) lanes [1] grid 1 {{
      %i0 = arith.constant 0 : i64
      %i1 = arith.constant 1 : i64
      %i2 = arith.constant 2 : i64
      %i3 = arith.constant 3 : i64
      %x = arith.extsi %a : i8 to i64
      %y = arith.extui %b : i16 to i64
      %z = arith.extsi %c : i32 to i64
      kernel.store %x, %o[%i0] : i64, {BUFFER}
      kernel.store %y, %o[%i1] : i64, {BUFFER}
      kernel.store %z, %o[%i2] : i64, {BUFFER}
      kernel.store %d, %o[%i3] : i64, {BUFFER}
      kernel.return
    }}""")
    out = torch.zeros(4, dtype=torch.int64)
    kernels.launch("f", [1], [out, -3, -3, -3, -3])
    assert ints(out) == [-3, 0xFFFD, -3, -3]
    kernels.launch("f", [1], [out, 0x180, 0x1FFFF, 0x1_8000_0001, 2**64 - 2])
    assert ints(out) == [-128, 0xFFFF, -(2**31) + 1, -2]
