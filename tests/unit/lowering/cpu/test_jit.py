"""What reaches LLVM and what it makes of it."""

import gc
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu import jit, parallel_compile
from fhelium_ir.lowering.cpu.binding import optimized_text, vector_bits
from fhelium_ir.lowering.cpu.jit import native_text
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.object_cache import ObjectCache

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


def ints(values: torch.Tensor) -> list[int]:
    return [int(value) for value in values]


def first_kernel(module: ModuleOp) -> kernel.FuncOp:
    func = module.body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    return func


def test_lanes_run_in_vectors_without_alias_checks(parse: Parse) -> None:
    optimized = optimized_text(native_text(first_kernel(parse(SUM)), "f"))
    assert f"add <{vector_bits() // 64} x i64>" in optimized
    assert "ptrtoint" not in optimized, "addresses are not compared"


def test_pointers_promise_nothing_and_sums_may_wrap(parse: Parse) -> None:
    text = native_text(first_kernel(parse(SUM)), "f")
    assert "noalias" not in text
    kernel_sums = [line for line in text.splitlines() if " add " in line and "x i64>" in line]
    assert kernel_sums and not any("nsw" in line or "nuw" in line for line in kernel_sums)
    assert "ret void }" not in text


def test_same_text_every_time(parse: Parse) -> None:
    first, second = (native_text(first_kernel(parse(SUM)), "f") for _ in range(2))
    assert first == second


def sums_of(module: ModuleOp, cache: ObjectCache) -> CpuKernels:
    """Compiles and checks that the machine code adds."""
    kernels = CpuKernels(module, cache=cache)
    x, y, z = torch.arange(128), torch.arange(128) * 5, torch.zeros(128, dtype=torch.int64)
    for name in kernels.kernels:
        kernels.launch(name, [2], [x, y, z.zero_()])
        assert ints(z) == [6 * k for k in range(128)]
    return kernels


def hits_and_misses(module: ModuleOp, cache: ObjectCache) -> tuple[int, int]:
    compiled = sums_of(module, cache).compiled
    return compiled.hits, compiled.misses


def test_hits_skip_conversion_and_llvm(
    parse: Parse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = parse(SUM)
    before = str(module)
    cache = ObjectCache(tmp_path)
    assert hits_and_misses(module, cache) == (0, 1)

    def refuse(*_: object) -> None:
        raise AssertionError("compiled again")

    monkeypatch.setattr(jit, "module_text", refuse)
    monkeypatch.setattr(jit, "Compiling", refuse)
    assert hits_and_misses(module, cache) == (1, 0)
    assert str(module) == before


def test_equal_kernels_share_code(parse: Parse, tmp_path: Path) -> None:
    module = parse(SUM + SUM.replace("x; ret void }", "second"))
    kernels = sums_of(module, ObjectCache(tmp_path))
    assert len(kernels.kernels) == 2
    assert len(set(kernels.compiled.addresses)) == 1
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("damage", ["flip", "truncate", "empty", "other key"])
def test_damaged_entries_are_compiled_again(parse: Parse, tmp_path: Path, damage: str) -> None:
    module, cache = parse(SUM), ObjectCache(tmp_path)
    sums_of(module, cache)
    (entry,) = tmp_path.iterdir()
    whole = entry.read_bytes()
    if damage == "other key":
        sums_of(parse(SUM.replace("addi %v, %w", "addi %w, %v")), cache)
        (other,) = set(tmp_path.iterdir()) - {entry}
        other.replace(entry)
    else:
        middle = len(whole) // 2
        flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
        entry.write_bytes({"flip": flipped, "truncate": whole[:-1], "empty": b""}[damage])
    assert hits_and_misses(module, cache) == (0, 1)
    assert entry.read_bytes() == whole, "the entry is sound again"
    assert hits_and_misses(module, cache) == (1, 0)


@pytest.mark.parametrize("what", ["compiler_description", "host_description"])
def test_another_version_or_machine_misses(
    parse: Parse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    module, cache = parse(SUM), ObjectCache(tmp_path)
    sums_of(module, cache)
    monkeypatch.setattr(jit, what, lambda: "another one")
    assert hits_and_misses(module, cache) == (0, 1)
    monkeypatch.undo()
    assert hits_and_misses(module, cache) == (1, 0)


def test_unusable_directory_means_no_cache(parse: Parse, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        assert hits_and_misses(parse(SUM), ObjectCache(tmp_path / "file")) == (0, 1)


def test_collector_is_on_again_after_an_error(parse: Parse, tmp_path: Path) -> None:
    with pytest.raises(FheliumError):
        CpuKernels(parse(SUM.replace("arith.addi %v, %w", "arith.divui %v, %w")))
    assert gc.isenabled()


def test_long_modules_compile_in_processes(
    parse: Parse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def compiling(workers: int) -> parallel_compile.Compiling:
        asked.append(workers)
        return parallel_compile.Compiling(workers)

    monkeypatch.setattr(jit, "Compiling", compiling)
    monkeypatch.setattr(jit, "available_cores", lambda: 2)
    module = parse(SUM + SUM.replace("x; ret", "y; ret").replace("%v, %w", "%w, %v"))
    assert hits_and_misses(module, ObjectCache(None)) == (0, 2)
    monkeypatch.setattr(jit, "PARALLEL_OPERATIONS", 10)
    assert hits_and_misses(module, ObjectCache(None)) == (0, 2)
    assert asked == [1, 2]


PRODUCT = SUM.replace("%s = arith.addi %v, %w", "%low, %s = arith.mului_extended %v, %w")


@pytest.mark.parametrize("lanes", [64, 8, 4, 2, 1])
def test_products_in_vectors(parse: Parse, tmp_path: Path, lanes: int) -> None:
    """Products are as wide as lanes and vectors allow; nothing of the function remains."""
    source = PRODUCT.replace("lanes [64]", f"lanes [{lanes}]").replace("64 : i64", f"{lanes} : i64")
    module = parse(source)
    width = min(lanes, vector_bits() // 64)
    text = native_text(first_kernel(module), "f")
    optimized = optimized_text(text)
    assert "@fhelium.umulh(" not in optimized
    if width > 1:
        assert f"@fhelium.umulh.{width}(" in text
        assert f"mul <{width} x i64>" in optimized
        assert " i128 " not in optimized
        assert "call" not in optimized.split("@f(")[1].split("\n}")[0]
    count = 3 * lanes
    x = torch.arange(1, count + 1) << 55
    y = torch.full((count,), -3)
    z = torch.zeros(count, dtype=torch.int64)
    CpuKernels(module, cache=ObjectCache(tmp_path)).launch("x; ret void }", [3], [x, y, z])
    words = [(int(v) % 2**64) * (2**64 - 3) >> 64 for v in x]
    assert ints(z) == [word - (word >> 63 << 64) for word in words]
