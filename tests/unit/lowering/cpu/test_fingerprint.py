"""What the key of a kernel depends on, and what it does not."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu import fingerprint, jit
from fhelium_ir.lowering.cpu.fingerprint import Fingerprints

Parse = Callable[[str], ModuleOp]

TEXT = """
kernel.func @f(%x : !kernel.buffer<i64>, %y : !kernel.buffer<i64>, %n : i64) lanes [16] grid 1 {
  %p = kernel.program_id 0
  %l = kernel.lane_id 0
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %s = scf.for %k = %zero to %n step %one iter_args(%a = %zero) -> (i64) : i64 {
    %b = arith.addi %a, %k : i64
    scf.yield %b : i64
  }
  %m = arith.cmpi ult, %l, %n : i64
  %v = kernel.load %x[%l] mask %m : !kernel.buffer<i64> -> i64
  %w = arith.subi %v, %s : i64
  kernel.store %w, %y[%l] : i64, !kernel.buffer<i64>
  kernel.return
}"""


def key(parse: Parse, text: str, environment: str = "here") -> str:
    func = parse(text).body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    return Fingerprints(environment).of(func)


def test_names_do_not_matter(parse: Parse) -> None:
    first = key(parse, TEXT)
    assert len(first) == 64 and int(first, 16) >= 0
    assert key(parse, TEXT) == first
    assert key(parse, TEXT.replace("@f", "@other")) == first
    assert key(parse, TEXT.replace("%w", "%difference").replace("%p ", "%q ")) == first


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("lanes [16]", "lanes [8]"),
        ("grid 1", "grid 2"),
        ("program_id 0", "program_id 1"),
        ("constant 1 ", "constant 2 "),
        ("arith.subi %v, %s", "arith.subi %s, %v"),
        ("arith.subi", "arith.addi"),
        ("ult", "slt"),
        (" mask %m", ""),
        ("%y[%l]", "%x[%l]"),
        ("scf.yield %b", "scf.yield %a"),
        ("iter_args(%a = %zero)", "iter_args(%a = %one)"),
        ("kernel.return", "kernel.store %v, %y[%n] : i64, !kernel.buffer<i64> kernel.return"),
        (", %n : i64)", ", %n : i64, %unused : i64)"),
        (", %n : i64)", ", %n : i64, %unused : i32)"),
    ],
)
def test_everything_else_matters(parse: Parse, old: str, new: str) -> None:
    changed = TEXT.replace(old, new)
    assert changed != TEXT
    if "grid 2" in new or "program_id 1" in new:
        changed = changed.replace("grid 1", "grid 2")
        if "program_id 1" in new:
            assert key(parse, changed) != key(parse, TEXT.replace("grid 1", "grid 2"))
    assert key(parse, changed) != key(parse, TEXT)


def test_unused_argument_types_matter(parse: Parse) -> None:
    texts = [TEXT.replace(", %n : i64)", f", %n : i64, %u : {kind})") for kind in ("i64", "i32")]
    assert key(parse, texts[0]) != key(parse, texts[1])


def test_environment_matters(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    assert key(parse, TEXT, "here") != key(parse, TEXT, "there")
    description = jit.environment()
    for part in ("fhelium-ir 0.", "xdsl 0.", "llvmlite ", "LLVM "):
        assert part in description
    fingerprint.compiler_description.cache_clear()
    monkeypatch.setattr("fhelium_ir.__version__", "77.1")
    assert jit.environment() != description
    monkeypatch.undo()
    fingerprint.compiler_description.cache_clear()
    assert jit.environment() == description
