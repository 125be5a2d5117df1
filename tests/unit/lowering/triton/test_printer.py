"""Printed kernels run under Triton's interpreter and are compared with exact integers."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.lowering.triton.printer import kernel_source, warps_of
from fhelium_ir.reference.kernel import run_kernel
from tests.unit.kernel_texts import only_kernel, parse

B64, B32 = "!kernel.buffer<i64>", "!kernel.buffer<i32>"


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def run_both(module: ModuleOp, grid: tuple[int, ...], *arguments: torch.Tensor | int) -> None:
    """Runs the kernel under Triton's interpreter, in place, and compares with the reference."""
    func = only_kernel(module)
    copies = [a if isinstance(a, int) else a.numpy().copy() for a in arguments]
    run_kernel(func, grid, copies)
    TritonKernels(module, interpret=True).launch(func.sym_name.data, grid, arguments)
    for argument, copy in zip(arguments, copies, strict=True):
        if not isinstance(argument, int):
            assert np.array_equal(argument.numpy(), copy)


# Op text on %a and %b of one word type to i64 or to the word, and its meaning on Python ints.
Meaning = Callable[[int, int, int], int]
COMPARISONS: dict[str, Meaning] = {
    "eq": lambda a, b, w: a == b,
    "ne": lambda a, b, w: a != b,
    "ult": lambda a, b, w: a < b,
    "ule": lambda a, b, w: a <= b,
    "ugt": lambda a, b, w: a > b,
    "uge": lambda a, b, w: a >= b,
    "slt": lambda a, b, w: signed(a, w) < signed(b, w),
    "sle": lambda a, b, w: signed(a, w) <= signed(b, w),
    "sgt": lambda a, b, w: signed(a, w) > signed(b, w),
    "sge": lambda a, b, w: signed(a, w) >= signed(b, w),
}
OPS: dict[str, tuple[str, Meaning]] = {
    "addi": ("%r = arith.addi %a, %b : T", lambda a, b, w: a + b),
    "subi": ("%r = arith.subi %a, %b : T", lambda a, b, w: a - b),
    "muli": ("%r = arith.muli %a, %b : T", lambda a, b, w: a * b),
    "literal right": ("%r = arith.subi %a, %c : T", lambda a, b, w: a - 77),
    "literal left": ("%r = arith.subi %c, %a : T", lambda a, b, w: 77 - a),
    "two literals": ("%s = arith.subi %c, %c : T\n%r = arith.addi %s, %a : T", lambda a, b, w: a),
    "large constant": ("%r = arith.xori %a, %big : T", lambda a, b, w: a ^ (2**w - 5)),
    "divui": ("%d = arith.ori %b, %c : T\n%r = arith.divui %a, %d : T",
              lambda a, b, w: a // (b | 77)),
    "remui": ("%r = arith.remui %a, %c : T", lambda a, b, w: a % 77),
    "andi": ("%r = arith.andi %a, %b : T", lambda a, b, w: a & b),
    "ori": ("%r = arith.ori %a, %b : T", lambda a, b, w: a | b),
    "shli": ("%s = arith.andi %b, %w : T\n%r = arith.shli %a, %s : T",
             lambda a, b, w: a << (b & 31)),
    "shrui": ("%s = arith.andi %b, %w : T\n%r = arith.shrui %a, %s : T",
              lambda a, b, w: a >> (b & 31)),
    "shrsi": ("%s = arith.andi %b, %w : T\n%r = arith.shrsi %a, %s : T",
              lambda a, b, w: signed(a, w) >> (b & 31)),
    "minui": ("%r = arith.minui %a, %b : T", lambda a, b, w: min(a, b)),
    "maxui": ("%r = arith.maxui %a, %b : T", lambda a, b, w: max(a, b)),
    "minsi": ("%r = arith.minsi %a, %b : T", lambda a, b, w: min(signed(a, w), signed(b, w))),
    "maxsi": ("%r = arith.maxsi %a, %b : T", lambda a, b, w: max(signed(a, w), signed(b, w))),
    "low": ("%r, %h = arith.mului_extended %a, %b : T", lambda a, b, w: a * b),
    "high": ("%h, %r = arith.mului_extended %a, %b : T", lambda a, b, w: a * b >> w),
    "low and high": ("%k, %h = arith.mului_extended %a, %b : T\n%r = arith.xori %k, %h : T",
                     lambda a, b, w: (a * b) ^ (a * b >> w)),
    **{
        f"cmpi {name}": (f"%i = arith.cmpi {name}, %a, %b : T\n%r = arith.extui %i : i1 to T",
                         meaning)
        for name, meaning in COMPARISONS.items()
    },
    "cmpi with a literal": ("%i = arith.cmpi ugt, %c, %a : T\n%r = arith.extui %i : i1 to T",
                            lambda a, b, w: a < 77),
    "select": ("%i = arith.cmpi ult, %a, %b : T\n%r = arith.select %i, %c, %b : T",
               lambda a, b, w: 77 if a < b else b),
    "bits": ("""%i = arith.cmpi ult, %a, %b : T
             %t = arith.constant true
             %n = arith.xori %i, %t : i1
             %o = arith.trunci %b : T to i1
             %k = arith.andi %n, %o : i1
             %r = arith.extsi %k : i1 to T""", lambda a, b, w: -(a >= b and b & 1)),
}  # fmt: skip


@pytest.mark.parametrize("bits", [32, 64])
def test_every_op_at_the_extremes(bits: int) -> None:
    ends = [0, 1, 2, 31, 77, 2 ** (bits - 1) - 1, 2 ** (bits - 1), 2**bits - 1]
    word, buffer = f"i{bits}", f"!kernel.buffer<i{bits}>"
    lines: list[str] = []
    for index, (text, _) in enumerate(OPS.values()):
        for name in "rshdkino":
            text = text.replace(f"%{name} ", f"%{name}{index} ").replace(
                f"%{name},", f"%{name}{index},"
            )
        lines += [
            text.replace(": T", f": {word}").replace("to T", f"to {word}"),
            f"%at{index}_c = arith.constant {index * 64} : i64",
            f"%at{index} = arith.addi %place, %at{index}_c : i64",
            f"kernel.store %r{index}, %z[%at{index}] : {word}, {buffer}",
        ]
    module = parse(
        f"""kernel.func @ops(%x : {buffer}, %z : {buffer}) lanes [8, 8] grid 1 {{
        %i = kernel.lane_id 0
        %j = kernel.lane_id 1
        %eight = arith.constant 8 : i64
        %row = arith.muli %i, %eight : i64
        %place = arith.addi %row, %j : i64
        %a = kernel.load %x[%i] : {buffer} -> {word}
        %b = kernel.load %x[%j] : {buffer} -> {word}
        %c = arith.constant 77 : {word}
        %w = arith.constant 31 : {word}
        %big = arith.constant -5 : {word}
        {chr(10).join(lines)}
        kernel.return
        }}"""
    )
    dtype = torch.int64 if bits == 64 else torch.int32
    x = torch.tensor([signed(v, bits) for v in ends], dtype=dtype)
    z = torch.zeros(len(OPS) * 64, dtype=dtype)
    run_both(module, (1,), x, z)
    for index, (name, (_, meaning)) in enumerate(OPS.items()):
        for i, a in enumerate(ends):
            for j, b in enumerate(ends):
                got = int(z[index * 64 + i * 8 + j]) % (1 << bits)
                assert got == meaning(a, b, bits) % (1 << bits), (name, a, b)


def test_width_changes() -> None:
    module = parse(
        f"""kernel.func @widths(%x : {B32}, %y : {B64}, %z : {B32}) lanes [4] grid 1 {{
        %l = kernel.lane_id 0
        %four = arith.constant 4 : i64
        %m = arith.addi %l, %four : i64
        %a = kernel.load %x[%l] : {B32} -> i32
        %u = arith.extui %a : i32 to i64
        %s = arith.extsi %a : i32 to i64
        kernel.store %u, %y[%l] : i64, {B64}
        kernel.store %s, %y[%m] : i64, {B64}
        %wide = arith.muli %u, %u : i64
        %t = arith.trunci %wide : i64 to i32
        kernel.store %t, %z[%l] : i32, {B32}
        kernel.return
        }}"""
    )
    x = torch.tensor([0, 7, -1, -(2**31)], dtype=torch.int32)
    y, z = torch.zeros(8, dtype=torch.int64), torch.zeros(4, dtype=torch.int32)
    run_both(module, (1,), x, y, z)
    assert y.tolist() == [0, 7, 2**32 - 1, 2**31, 0, 7, -1, -(2**31)]  # pyright: ignore
    assert z.tolist() == [0, 49, 1, 0]  # pyright: ignore


@pytest.mark.parametrize(
    "value",
    [0, 1, 16, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, -1, -(2**63)],
)
def test_scalar_arguments(value: int) -> None:
    module = parse(
        f"""kernel.func @scalar(%n : i64, %y : {B64}) lanes [2] grid 2 {{
        %l = kernel.lane_id 0
        %two = arith.constant 2 : i64
        %v = arith.muli %n, %two : i64
        kernel.store %v, %y[%l] : i64, {B64}
        kernel.return
        }}"""
    )
    y = torch.zeros(2, dtype=torch.int64)
    run_both(module, (1, 1), value, y)
    assert int(y[0]) % 2**64 == int(y[1]) % 2**64 == 2 * value % 2**64


@pytest.mark.parametrize("lanes", [(2,), (16,), (4, 2), (2, 4, 8), (8, 1, 2)])
def test_exchange(lanes: tuple[int, ...]) -> None:
    """One input is the same in all lanes, one varies along other axes only."""
    for axis, extent in enumerate(lanes):
        if extent == 1:
            continue
        text = [f"%k{k} = kernel.lane_id {k}" for k in range(len(lanes))]
        offset, count = "%c0", 1
        for k, size in enumerate(lanes):
            text += [
                f"%s{k} = arith.constant {size} : i64",
                f"%m{k} = arith.muli {offset}, %s{k} : i64",
                f"%o{k} = arith.addi %m{k}, %k{k} : i64",
            ]
            offset, count = f"%o{k}", count * size
        text.append(f"%v0 = arith.constant {7 * count} : i64")
        text.append(f"%v1 = arith.addi %k{len(lanes) - 1}, %v0 : i64")
        for j in range(2, extent):
            text += [
                f"%n{j} = arith.constant {j * count} : i64",
                f"%v{j} = arith.addi {offset}, %n{j} : i64",
            ]
        names = ", ".join(f"%v{j}" for j in range(extent))
        outs = ", ".join(f"%w{j}" for j in range(extent))
        types = ", ".join(["i64"] * extent)
        text.append(f"{outs} = kernel.exchange {names} axis {axis} : {types} -> {types}")
        for j in range(extent):
            text += [
                f"%d{j} = arith.constant {j * count} : i64",
                f"%e{j} = arith.addi {offset}, %d{j} : i64",
                f"kernel.store %w{j}, %y[%e{j}] : i64, {B64}",
            ]
        body = "\n".join(text)
        module = parse(
            f"""kernel.func @exchange(%y : {B64}) lanes {list(lanes)} grid 1 {{
            %c0 = arith.constant 0 : i64
            {body}
            kernel.return
            }}"""
        )
        run_both(module, (1,), torch.zeros(extent * count, dtype=torch.int64))


LOOP = f"""kernel.func @loop(%x : {B64}, %y : {B64}, %n : i64) lanes [4, 2] grid 1 {{
  %i = kernel.lane_id 0
  %j = kernel.lane_id 1
  %p = kernel.program_id 0
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c8 = arith.constant 8 : i64
  // The first stays uniform, the second gets axis 0 only in the body, the third and fourth swap
  // and so end with both axes; the fifth is yielded as a constant.
  %s, %t, %u, %v, %w = scf.for %k = %c1 to %n step %c2
      iter_args(%a = %c0, %b = %p, %c = %i, %d = %j, %e = %i) -> (i64, i64, i64, i64, i64) : i64 {{
    %a1 = arith.addi %a, %k : i64
    %f = scf.for %m = %c0 to %k step %c1 iter_args(%g = %b) -> (i64) : i64 {{
      %h = arith.addi %g, %i : i64
      scf.yield %h : i64
    }}
    %c3 = arith.addi %c, %a : i64
    scf.yield %a1, %f, %d, %c3, %c8 : i64, i64, i64, i64, i64
  }}
  %st = arith.muli %s, %t : i64
  %uv = arith.shli %u, %v : i64
  %all = arith.addi %st, %uv : i64
  %result = arith.addi %all, %w : i64
  %at0 = arith.muli %i, %c2 : i64
  %at1 = arith.addi %at0, %j : i64
  %base = arith.muli %p, %c8 : i64
  %at = arith.addi %at1, %base : i64
  kernel.store %result, %y[%at] : i64, {B64}
  kernel.return
}}"""


@pytest.mark.parametrize("n", [0, 1, 2, 6])
def test_loops_with_mixed_axes(n: int) -> None:
    module, y = parse(LOOP), torch.zeros(16, dtype=torch.int64)
    run_both(module, (2,), torch.zeros(1, dtype=torch.int64), y, n)
    for p in range(2):
        for i in range(4):
            for j in range(2):
                s, t, u, v, w = 0, p, i, j, i
                for k in range(1, n, 2):
                    s, t, u, v, w = s + k, t + k * i, v, u + s, 8
                assert int(y[p * 8 + i * 2 + j]) == s * t + (u << v) + w


def test_masks_and_stores_that_depend_on_other_axes_than_the_offset() -> None:
    module = parse(
        f"""kernel.func @masks(%x : {B64}, %y : {B64}) lanes [4, 2] grid 1 {{
        %i = kernel.lane_id 0
        %j = kernel.lane_id 1
        %c0 = arith.constant 0 : i64
        %c2 = arith.constant 2 : i64
        %first = arith.cmpi eq, %j, %c0 : i64
        %few = arith.cmpi ult, %i, %c2 : i64
        %a = kernel.load %x[%i] mask %first : {B64} -> i64
        %b = kernel.load %x[%c2] mask %few : {B64} -> i64
        %r = arith.addi %a, %b : i64
        %row = arith.muli %i, %c2 : i64
        %at = arith.addi %row, %j : i64
        kernel.store %r, %y[%at] : i64, {B64}
        %c8 = arith.constant 8 : i64
        %tail = arith.addi %i, %c8 : i64
        kernel.store %c2, %y[%tail] mask %first : i64, {B64}
        kernel.return
        }}"""
    )
    x, y = torch.tensor([10, 20, 30, 40]), torch.zeros(12, dtype=torch.int64)
    run_both(module, (1,), x, y)
    assert y.tolist() == [40, 30, 50, 30, 30, 0, 40, 0, 2, 2, 2, 2]  # pyright: ignore


def named(name: str, argument: str = "y") -> ModuleOp:
    """A kernel of any name that stores 5 at offset 0."""
    module = parse(
        f"""kernel.func @k(%{argument} : {B64}) lanes [1] grid 1 {{
        %0 = kernel.lane_id 0
        %interpreter_semantic = arith.constant 5 : i64
        kernel.store %interpreter_semantic, %{argument}[%0] : i64, {B64}
        kernel.return
        }}"""
    )
    only_kernel(module).properties["sym_name"] = kernel.StringAttr(name)
    return module


HOSTILE = [
    "a'); import os #",
    'x"\nraise SystemExit(1)\n"""',
    "\r\x0b\u2028\u0000",
    "__builtins__",
    "lambda",
    "",
    "triton",
    "ключ",
    "\\",
    "n" * 400,
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_symbols(name: str) -> None:
    module = named(name)
    source = kernel_source(only_kernel(module))
    assert source.isascii()
    assert [type(node) for node in ast.parse(source).body] == [
        ast.Import,
        ast.Import,
        ast.FunctionDef,
    ]
    y = torch.zeros(1, dtype=torch.int64)
    run_both(module, (1,), y)
    assert int(y[0]) == 5


@pytest.mark.parametrize("argument", ["tl", "grid", "for", "num_warps", "options", "__debug__"])
def test_hostile_argument_names(argument: str) -> None:
    module = named("k", argument)
    run_both(module, (1,), torch.zeros(1, dtype=torch.int64))


def test_source_names_what_it_can() -> None:
    source = kernel_source(only_kernel(parse(LOOP)))
    assert source.startswith("import triton\nimport triton.language as tl\n\n\n# kernel.func")
    assert 'def loop(x: "*u64", y: "*u64", n: "u64"):' in source
    assert '@triton.jit(do_not_specialize=["n"])' in source
    assert "all = st + uv" in source


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("scf.for %k = %c to %l step %c : i64 {\n}", "the bounds depend on the lane"),
        ("%v = arith.floordivsi %l, %c : i64", r"'arith\.floordivsi' has no form"),
        ("%v = arith.extui %l : i64 to i128", "i128 are not supported"),
        ("%b = arith.cmpi ult, %l, %c : i64\n%v = arith.addi %b, %b : i1", "has no form"),
        (
            "%m = zq.modulus %c, %c : i64 -> !zq.modulus<mont64>",
            r"'zq\.modulus' has no form",
        ),
    ],
)
def test_what_cannot_be_printed(body: str, message: str) -> None:
    func = only_kernel(
        parse(
            f"""kernel.func @k() lanes [2] grid 1 {{
            %l = kernel.lane_id 0
            %c = arith.constant 3 : i64
            {body}
            kernel.return
            }}"""
        )
    )
    with pytest.raises(FheliumError, match=message):
        kernel_source(func)


@pytest.mark.parametrize(
    ("lanes", "warps"), [([], 1), ([2, 4], 1), ([16, 8], 4), ([32, 32], 8), ([64], 2)]
)
def test_warps_follow_the_lanes(lanes: list[int], warps: int) -> None:
    func = kernel.FuncOp("k", [], lanes, 1)
    assert warps_of(func) == warps
    func.attributes["num_warps"] = IntegerAttr(2, i64)
    assert warps_of(func) == 2
    func.attributes["num_warps"] = IntegerAttr(3, i64)
    with pytest.raises(FheliumError, match="num_warps must be a power of two"):
        warps_of(func)
