"""What reaches LLVM and what it makes of it."""

from collections.abc import Callable

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.binding import optimized_text
from fhelium_ir.lowering.cpu.convert_kernels_to_llvm import convert_kernel
from fhelium_ir.lowering.cpu.jit import native_text

BUFFER = "!kernel.buffer<i64>"
SUM = f"""
kernel.func @"x; ret void }}"(%x : {BUFFER}, %y : {BUFFER}, %z : {BUFFER}) lanes [64] grid 1 {{
  %p = kernel.program_id 0
  %l = kernel.lane_id 0
  %c = arith.constant 64 : i64
  %pc = arith.muli %p, %c : i64
  %i = arith.addi %pc, %l : i64
  %v = kernel.load %x[%i] : {BUFFER} -> i64
  %w = kernel.load %y[%i] : {BUFFER} -> i64
  %s = arith.addi %v, %w : i64
  kernel.store %s, %z[%i] : i64, {BUFFER}
  kernel.return
}}"""

Parse = Callable[[str], ModuleOp]


def first_kernel(module: ModuleOp) -> kernel.FuncOp:
    func = module.body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    return func


def test_lane_loops_vectorise_without_alias_checks(parse: Parse) -> None:
    text = native_text(convert_kernel(first_kernel(parse(SUM))), "f")
    unmarked = optimized_text(text.replace("!llvm.access.group", "!nothing"))
    optimized = optimized_text(text)
    assert " x i64>" in optimized
    assert "ptrtoint" in unmarked, "the addresses are compared"
    assert "ptrtoint" not in optimized


def test_pointers_promise_nothing_and_sums_may_wrap(parse: Parse) -> None:
    text = native_text(convert_kernel(first_kernel(parse(SUM))), "f")
    assert "noalias" not in text
    assert "nsw" not in text and "nuw" not in text
    assert "ret void }" not in text
    assert text.count("llvm.loop.parallel_accesses") == 1


def test_same_text_every_time(parse: Parse) -> None:
    first, second = (native_text(convert_kernel(first_kernel(parse(SUM))), "f") for _ in range(2))
    assert first == second
