"""Kernels that start while the launch before them finishes."""

from __future__ import annotations

import re

import pytest

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.triton.compile_worker import options_of
from fhelium_ir.lowering.triton.early_start import (
    START_NEXT,
    WAIT,
    constant_parameters,
    early_source,
    starts_early,
)
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.lowering.triton.printer import kernel_source
from tests.unit.kernel_texts import converted, ntt_kernel, parse


def source() -> str:
    module = converted(parse(ntt_kernel("mont64", 4, 8)))
    (func,) = (op for op in module.ops if isinstance(op, kernel.FuncOp))
    return kernel_source(func)


def test_waits_before_memory_and_starts_the_next_at_the_first_store() -> None:
    plain = source()
    early = early_source(plain)
    lines = [line.strip() for line in early.splitlines()]
    definition = next(i for i, line in enumerate(lines) if line.startswith("def ntt_"))
    first = next(i for i, line in enumerate(lines) if i > definition and "tl.load" in line)
    assert lines.index(WAIT) == first - 1
    assert lines.count(WAIT) == lines.count(START_NEXT) == 1
    stores = [i for i, line in enumerate(lines) if line.startswith("tl.store")]
    assert lines.index(START_NEXT) == stores[0] - 1
    assert [line for line in early.splitlines() if line.strip() not in (WAIT, START_NEXT)] == (
        plain.splitlines()
    )
    assert starts_early(early) and not starts_early(plain)


def test_reads_before_the_wait_what_no_launch_writes() -> None:
    """The wait stands in front of the loop that reads `b`, not in front of the load of the table `a`."""
    text = (
        'import triton\n\ndef k(a: "*u32", b: "*u64", n: "u64", c: "*u64"):\n'
        "    v = tl.load(a + 1)\n"
        "    for i in range(0, n, 1):\n"
        "        w = tl.load(b + v)\n"
        "        tl.store(c + v, w)\n"
        "    tl.store(c + v, v)\n"
    )
    lines = [line.strip() for line in early_source(text, {0}).splitlines()]
    assert lines.index(WAIT) == lines.index("v = tl.load(a + 1)") + 1
    assert lines.index(WAIT) == lines.index("for i in range(0, n, 1):") - 1
    lines = [line.strip() for line in early_source(text, {0, 1}).splitlines()]
    assert lines.index(WAIT) == lines.index("for i in range(0, n, 1):") - 1
    lines = [line.strip() for line in early_source(text).splitlines()]
    assert lines.index(WAIT) == lines.index("v = tl.load(a + 1)") - 1


LAUNCHES = """
kernel.func @copy(%from: !kernel.buffer<i32>, %to: !kernel.buffer<i32>) lanes [4] grid 1 {{
  %i = kernel.lane_id 0
  %x = kernel.load %from[%i] : !kernel.buffer<i32> -> i32
  kernel.store %x, %to[%i] : i32, !kernel.buffer<i32>
  kernel.return
}}
func.func @main(%x: memref<4xi32>) -> memref<4xi32> {{
  %a = host.resource @a : memref<4xi32>
  %b = host.resource @b : memref<4xi32>
  host.launch @copy grid [1]({first}, %x) : memref<4xi32>, memref<4xi32>
  host.launch @copy grid [1]({second}, {target}) : memref<4xi32>, memref<4xi32>
  func.return %x : memref<4xi32>
}}
"""


@pytest.mark.parametrize(
    ("first", "second", "target", "constant"),
    [
        ("%a", "%b", "%x", {0}),
        ("%a", "%x", "%x", set[int]()),
        ("%a", "%a", "%b", {0}),
        ("%a", "%b", "%a", set[int]()),
    ],
)
def test_parameters_are_constant_that_are_resources_in_all_launches(
    first: str, second: str, target: str, constant: set[int]
) -> None:
    module = parse(LAUNCHES.format(first=first, second=second, target=target))
    assert constant_parameters(module)["copy"] == constant


@pytest.mark.parametrize("early", [False, True])
def test_only_early_kernels_are_launched_so(early: bool) -> None:
    text = early_source(source()) if early else source()
    assert options_of(text, 4).as_keywords().get("launch_pdl", False) is early


@pytest.mark.parametrize("architecture", [90, 100])
def test_compiles_where_the_gpu_can(architecture: int) -> None:
    module = converted(parse(ntt_kernel("mont64", 4, 8)))
    kernels = TritonKernels(module, interpret=False, early=True)
    (compiled,) = kernels.compile_for(("cuda", architecture, 32)).values()
    ptx = compiled.asm["ptx"]
    assert isinstance(ptx, str)
    waits = [match.start() for match in re.finditer(r"griddepcontrol\.wait", ptx)]
    assert len(waits) == 1 and waits[0] < ptx.index("ld.global")
    assert len(re.findall(r"griddepcontrol\.launch_dependents", ptx)) == 1


def test_registers_suffice_for_the_warps_that_kernels_want() -> None:
    loop = "def k():\n    for i in range(4):\n        pass\n"
    for warps, registers in ((1, 168), (2, 168), (4, 168), (8, 128), (16, 128)):
        options = options_of(loop, warps).as_keywords()
        assert options["maxnreg"] == registers
        assert registers * 32 * max(12, warps) <= 1 << 16
    straight = "def k():\n    pass\n"
    assert options_of(straight, 8).as_keywords()["maxnreg"] == 128
    assert "maxnreg" not in options_of(straight, 4).as_keywords()


@pytest.mark.parametrize(
    ("transform", "warps", "resident"),
    [
        ("forward", 4, 24),
        ("with others", 4, 20),
        ("exchanged twice", 4, 20),
        ("conversion", 4, 16),
        ("product", 4, 12),
        ("forward", 8, 12),
    ],
)
def test_kernels_on_doubles_want_warps_by_what_they_hold(
    transform: str, warps: int, resident: int
) -> None:
    exchange = "    tile = tl.permute(tile, [1, 0])\n"
    loop = "    for i in range(4):\n        pass\n"
    text = {
        "forward": 'def k(x: "*fp64", in0: "*u64"):\n' + exchange,
        "with others": 'def k(in0: "*fp64", in1: "*fp64", out0: "*fp64"):\n' + exchange,
        "exchanged twice": 'def k(out0: "*fp64"):\n' + 2 * exchange,
        "conversion": 'def k(x: "*fp64"):\n' + loop + exchange,
        "product": 'def k(x: "*fp64"):\n    for i in range(4):\n    ' + exchange,
    }[transform]
    options = options_of(text, warps)
    assert options.resident == resident
    assert options.as_keywords()["maxnreg"] * 32 * max(resident, warps) <= 1 << 16
