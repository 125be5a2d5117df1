"""Kernels that are begun early are the ones that are linked, and nothing else is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu import jit
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.object_cache import ObjectCache
from fhelium_ir.lowering.kernel_libraries import early_kernels
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT

Parse = Callable[[str], ModuleOp]
BUFFER = "!kernel.buffer<i64>"
NOWHERE = ObjectCache(None)


def times(number: int) -> str:
    return f"""
kernel.func @times_{number}(%x : {BUFFER}) lanes [16] grid 1 {{
  %l = kernel.lane_id 0
  %c = arith.constant {number} : i64
  %v = kernel.load %x[%l] : {BUFFER} -> i64
  %y = arith.muli %v, %c : i64
  kernel.store %y, %x[%l] : i64, {BUFFER}
  kernel.return
}}"""


UNSUPPORTED = f"""
kernel.func @narrow(%x : {BUFFER}) lanes [16] grid 1 {{
  %l = kernel.lane_id 0
  %v = kernel.load %x[%l] : {BUFFER} -> i64
  %n = arith.trunci %v : i64 to i7
  %e = arith.remui %n, %n : i7
  %w = arith.extui %e : i7 to i64
  kernel.store %w, %x[%l] : i64, {BUFFER}
  kernel.return
}}"""


@pytest.fixture(autouse=True)
def two_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "EARLY_OPERATIONS", 1)
    monkeypatch.setattr(jit, "PARALLEL_OPERATIONS", 1)
    monkeypatch.setattr(jit, "available_cores", lambda: 2)


def begin(module: ModuleOp) -> None:
    with jit.EarlyCompilation(NOWHERE) as early:
        for op in module.ops:
            assert isinstance(op, kernel.FuncOp)
            early.add(op)


def check(module: ModuleOp, factors: dict[str, int]) -> CpuKernels:
    kernels = CpuKernels(module, cache=NOWHERE)
    for name, factor in factors.items():
        x = torch.arange(16)
        kernels.launch(name, [1], [x])
        assert torch.equal(x, factor * torch.arange(16))
    return kernels


def texts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the kernels whose text is made from now on."""
    made: list[str] = []
    native_text = jit.native_text

    def note(function: kernel.FuncOp, symbol: str) -> str:
        made.append(function.sym_name.data)
        return native_text(function, symbol)

    monkeypatch.setattr(jit, "native_text", note)
    return made


def test_linking_takes_what_was_begun(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(times(3) + times(5))
    begin(module)
    made = texts(monkeypatch)
    kernels = check(module, {"times_3": 3, "times_5": 5})
    assert made == []
    assert (kernels.compiled.hits, kernels.compiled.misses) == (0, 2)
    # It is taken once.
    check(module, {"times_3": 3})
    assert sorted(made) == ["times_3", "times_5"]


def test_a_kernel_that_has_changed_is_compiled(
    parse: Parse, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = parse(times(3) + times(5))
    begin(module)
    product = next(op for op in module.walk() if isinstance(op, arith.MuliOp))
    product.operands[1] = product.operands[0]
    made = texts(monkeypatch)
    kernels = CpuKernels(module, cache=NOWHERE)
    x = torch.arange(16)
    kernels.launch("times_3", [1], [x])
    assert torch.equal(x, torch.arange(16) ** 2)
    assert made == ["times_3"]


def test_other_programs_do_not_take_it(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(times(7) + times(9))
    begin(module)
    check(parse(times(11) + times(13)), {"times_11": 11, "times_13": 13})
    made = texts(monkeypatch)
    check(module, {"times_7": 7, "times_9": 9})
    assert made == []


def test_programs_that_nobody_links_are_forgotten(parse: Parse) -> None:
    for number in range(20, 20 + 3 * jit.MOST_BEGUN, 2):
        begin(parse(times(number) + times(number + 1)))
    assert len(jit._begun) == jit.MOST_BEGUN  # pyright: ignore[reportPrivateUsage]


def test_what_cannot_be_compiled_is_left_to_linking(parse: Parse) -> None:
    module = parse(times(15) + times(17) + UNSUPPORTED)
    begin(module)
    with pytest.raises(FheliumError, match="not supported on the cpu target"):
        CpuKernels(module, cache=NOWHERE)


def test_few_operations_are_left_to_linking(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(times(19) + times(21))
    monkeypatch.setattr(jit, "EARLY_OPERATIONS", 1 + sum(1 for _ in module.walk()))
    made = texts(monkeypatch)
    begin(module)
    assert made == []
    monkeypatch.setattr(jit, "EARLY_OPERATIONS", 10)
    begin(module)
    assert made == ["times_19", "times_21"]


def test_equal_kernels_are_compiled_once(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse(times(23) + times(23).replace("times_23", "other"))
    made = texts(monkeypatch)
    begin(module)
    check(module, {"times_23": 23, "other": 23})
    assert made == ["times_23"]


def test_kernels_in_the_cache_are_not_begun(
    parse: Parse, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    cache = ObjectCache(tmp_path)
    module = parse(times(25) + times(27))
    CpuKernels(module, cache=cache)
    made = texts(monkeypatch)
    with jit.EarlyCompilation(cache) as early:
        for op in module.ops:
            assert isinstance(op, kernel.FuncOp)
            early.add(op)
    assert made == []


def test_passes_hand_kernels_over_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[str] = []
    add = jit.EarlyCompilation.add

    def note(early: jit.EarlyCompilation, func: kernel.FuncOp) -> None:
        assert not any(op.name.startswith("zq.") for op in func.walk())
        begun.append(func.sym_name.data)
        add(early, func)

    monkeypatch.setattr(jit.EarlyCompilation, "add", note)
    pipeline = Pipeline.named("fhelium-default")
    text = (ROOT / "docs" / "examples" / "neighbours.mlir").read_text(encoding="utf-8")
    with early_kernels("cpu"):
        module = parse_module(make_context(), text, "neighbours.mlir")
        pipeline.run(make_context(), module)
    sizes = {
        op.sym_name.data: sum(1 for _ in op.walk())
        for op in module.ops
        if isinstance(op, kernel.FuncOp)
    }
    assert sorted(begun) == sorted(sizes) and len(sizes) > 2
    begun.clear()
    with early_kernels("interpret"):
        pipeline.run(make_context(), parse_module(make_context(), text, "neighbours.mlir"))
    assert begun == []
