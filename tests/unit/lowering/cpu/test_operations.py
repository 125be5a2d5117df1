"""Every operation on scalars against Python's integers."""

import random
from collections.abc import Callable

import numpy as np
import pytest
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.lowering.cpu.kernels import CpuKernels

Compiled = Callable[[str], CpuKernels]
Parse = Callable[[str], ModuleOp]


def ints(values: torch.Tensor) -> list[int]:
    return [int(value) for value in values]


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def words(bits: int, seed: int, small: int | None = None) -> list[int]:
    """32 extreme and 32 random words, or words below `small`."""
    generator = random.Random(seed)
    top = 1 << bits
    if small is not None:
        return [generator.randrange(small) for _ in range(62)] + [0, small - 1]
    extremes = [0, 1, 2, top - 1, top - 2, top // 2, top // 2 - 1, (1 << bits // 2) - 1]
    return [generator.choice(extremes) for _ in range(32)] + [
        generator.randrange(top) for _ in range(32)
    ]


def tensor(values: list[int], bits: int) -> torch.Tensor:
    dtype = torch.int64 if bits == 64 else torch.int32
    return torch.tensor([signed(value, bits) for value in values], dtype=dtype)


BINARY: dict[str, Callable[[int, int, int], int]] = {
    "addi": lambda a, b, bits: a + b,
    "subi": lambda a, b, bits: a - b,
    "muli": lambda a, b, bits: a * b,
    "andi": lambda a, b, bits: a & b,
    "ori": lambda a, b, bits: a | b,
    "xori": lambda a, b, bits: a ^ b,
    "minui": lambda a, b, bits: min(a, b),
    "maxui": lambda a, b, bits: max(a, b),
    "minsi": lambda a, b, bits: min(signed(a, bits), signed(b, bits)),
    "maxsi": lambda a, b, bits: max(signed(a, bits), signed(b, bits)),
    "shli": lambda a, b, bits: a << b,
    "shrui": lambda a, b, bits: a >> b,
    "shrsi": lambda a, b, bits: signed(a, bits) >> b,
}
SHAPES = ["[64]", "[32, 2]", "[1]"]
"""A vectorised loop, a short innermost loop, and no loop at all: 64 programs."""


def lanewise(shape: str, bits: int, body: str, outputs: int = 1) -> str:
    """A kernel on 64 words x and y; the body computes %r0, %r1, ... of `bits` bits."""
    extents = [int(extent) for extent in shape[1:-1].split(",")]
    buffer = f"!kernel.buffer<i{bits}>"
    results = "".join(f", %o{k} : {buffer}" for k in range(outputs))
    lane = "%lane = kernel.lane_id 0"
    if len(extents) == 2:
        lane = (
            "%a = kernel.lane_id 0\n %b = kernel.lane_id 1\n %n = arith.constant 2 : i64\n"
            "%an = arith.muli %a, %n : i64\n %lane = arith.addi %an, %b : i64"
        )
    stores = "\n".join(f"kernel.store %r{k}, %o{k}[%i] : i{bits}, {buffer}" for k in range(outputs))
    return f"""kernel.func @f(%x : {buffer}, %y : {buffer}{results}) lanes {shape} grid 1 {{
      %p = kernel.program_id 0
      {lane}
      %count = arith.constant {int(np.prod(extents))} : i64
      %pc = arith.muli %p, %count : i64
      %i = arith.addi %pc, %lane : i64
      %u = kernel.load %x[%i] : {buffer} -> i{bits}
      %v = kernel.load %y[%i] : {buffer} -> i{bits}
      {body}
      {stores}
      kernel.return
    }}"""


def run_lanewise(
    compiled: Compiled,
    shape: str,
    bits: int,
    body: str,
    x: list[int],
    y: list[int],
    outputs: int = 1,
) -> list[list[int]]:
    kernels = compiled(lanewise(shape, bits, body, outputs))
    results = [tensor([7] * 64, bits) for _ in range(outputs)]
    programs = 64 // int(np.prod([int(e) for e in shape[1:-1].split(",")]))
    kernels.launch("f", [programs], [tensor(x, bits), tensor(y, bits), *results])
    return [[v % (1 << bits) for v in ints(result)] for result in results]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bits", [32, 64])
def test_binary_operations(compiled: Compiled, bits: int, shape: str) -> None:
    plain = [name for name in BINARY if not name.startswith("sh")]
    for names, y in (
        (plain, words(bits, 2)),
        (["shli", "shrui", "shrsi"], words(bits, 3, small=bits)),
    ):
        x = words(bits, 1)
        body = "\n".join(f"%r{k} = arith.{name} %u, %v : i{bits}" for k, name in enumerate(names))
        results = run_lanewise(compiled, shape, bits, body, x, y, len(names))
        for name, result in zip(names, results, strict=True):
            want = [BINARY[name](a, b, bits) % (1 << bits) for a, b in zip(x, y, strict=True)]
            assert result == want, name


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("bits", [32, 64])
def test_wide_products(compiled: Compiled, bits: int, shape: str) -> None:
    x, y = words(bits, 4), words(bits, 5)
    body = f"%r0, %r1 = arith.mului_extended %u, %v : i{bits}"
    low, high = run_lanewise(compiled, shape, bits, body, x, y, 2)
    for a, b, result_low, result_high in zip(x, y, low, high, strict=True):
        assert (result_high << bits) + result_low == a * b


PREDICATES: dict[str, Callable[[int, int, int, int], bool]] = {
    "eq": lambda a, b, sa, sb: a == b,
    "ne": lambda a, b, sa, sb: a != b,
    "slt": lambda a, b, sa, sb: sa < sb,
    "sle": lambda a, b, sa, sb: sa <= sb,
    "sgt": lambda a, b, sa, sb: sa > sb,
    "sge": lambda a, b, sa, sb: sa >= sb,
    "ult": lambda a, b, sa, sb: a < b,
    "ule": lambda a, b, sa, sb: a <= b,
    "ugt": lambda a, b, sa, sb: a > b,
    "uge": lambda a, b, sa, sb: a >= b,
}


@pytest.mark.parametrize("bits", [32, 64])
def test_comparisons_and_select(compiled: Compiled, bits: int) -> None:
    x, y = words(bits, 6), words(bits, 7)
    y[:8] = x[:8]
    body = "\n".join(
        f"%c{k} = arith.cmpi {name}, %u, %v : i{bits}\n%r{k} = arith.select %c{k}, %u, %v : i{bits}"
        for k, name in enumerate(PREDICATES)
    )
    results = run_lanewise(compiled, "[64]", bits, body, x, y, len(PREDICATES))
    for (name, holds), result in zip(PREDICATES.items(), results, strict=True):
        want = [
            a if holds(a, b, signed(a, bits), signed(b, bits)) else b
            for a, b in zip(x, y, strict=True)
        ]
        assert result == want, name


def test_casts(compiled: Compiled) -> None:
    x, y = words(64, 8), words(64, 9)
    body = """
      %t = arith.trunci %u : i64 to i32
      %r0 = arith.extui %t : i32 to i64
      %r1 = arith.extsi %t : i32 to i64
      %bit = arith.trunci %u : i64 to i1
      %r2 = arith.extui %bit : i1 to i64
      %r3 = arith.extsi %bit : i1 to i64"""
    results = run_lanewise(compiled, "[64]", 64, body, x, y, 4)
    top = 1 << 64
    assert results[0] == [a % 2**32 for a in x]
    assert results[1] == [signed(a, 32) % top for a in x]
    assert results[2] == [a % 2 for a in x]
    assert results[3] == [-(a % 2) % top for a in x]


def test_constants_of_every_width(compiled: Compiled) -> None:
    body = """
      %t = arith.constant true
      %w = arith.constant -1 : i32
      %z = arith.extui %w : i32 to i64
      %top = arith.constant -9223372036854775808 : i64
      %one = arith.constant 18446744073709551615 : i64
      %r0 = arith.select %t, %z, %u : i64
      %r1 = arith.addi %top, %one : i64"""
    results = run_lanewise(compiled, "[64]", 64, body, [0] * 64, [0] * 64, 2)
    assert set(results[0]) == {2**32 - 1}
    assert set(results[1]) == {2**63 - 1}


@pytest.mark.parametrize(
    "arithmetic, bits, q", [("mont32", 32, 998244353), ("mont64", 64, 2**61 - 1)]
)
def test_expanded_zq(parse: Parse, arithmetic: str, bits: int, q: int) -> None:
    """Sums, differences, Montgomery products and reductions of residues, exact modulo q."""
    x, y = words(bits, 10, small=q), words(bits, 11, small=q)
    body = f"""
      %q = arith.constant {q} : i{bits}
      %inverse = arith.constant {signed(pow(q, -1, 1 << bits), bits)} : i{bits}
      %m = zq.modulus %q, %inverse : i{bits} -> !zq.modulus<{arithmetic}>
      %sum = zq.add %u, %v mod %m : i{bits}, !zq.modulus<{arithmetic}>
      %difference = zq.sub %sum, %v mod %m offset 1 : i{bits}, !zq.modulus<{arithmetic}>
      %product = zq.mul %difference, %v mod %m : i{bits}, !zq.modulus<{arithmetic}>
      %r0 = zq.reduce %difference mod %m from 3 to 1 : i{bits}, !zq.modulus<{arithmetic}>
      %r1 = zq.reduce %product mod %m from 2 to 1 : i{bits}, !zq.modulus<{arithmetic}>"""
    module = parse(lanewise("[64]", bits, body, 2))
    ConvertZqToArith().apply(Context(), module)
    kernels = CpuKernels(module)
    results = [tensor([0] * 64, bits) for _ in range(2)]
    kernels.launch("f", [1], [tensor(x, bits), tensor(y, bits), *results])
    inverse_radix = pow(1 << bits, -1, q)
    assert ints(results[0]) == x
    assert ints(results[1]) == [a * b * inverse_radix % q for a, b in zip(x, y, strict=True)]


def test_wide_and_narrow_words_in_one_kernel(compiled: Compiled) -> None:
    """64-bit sums of 32-bit words, compared, chosen between, carried by a loop, shared with lane numbers and addresses:
    every order that lanes have in vectors on the way must end where it began."""
    kernels = compiled("""
    kernel.func @f(%x : !kernel.buffer<i32>, %w : !kernel.buffer<i64>, %o : !kernel.buffer<i32>, %n : i64)
        lanes [64] grid 1 {
      %l = kernel.lane_id 0
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %c63 = arith.constant 63 : i64
      %c7 = arith.constant 7 : i64
      %v = kernel.load %x[%l] : !kernel.buffer<i32> -> i32
      %wide = arith.extui %v : i32 to i64
      %signed = arith.extsi %v : i32 to i64
      %limit = kernel.load %w[%l] : !kernel.buffer<i64> -> i64
      %sum, %count = scf.for %i = %zero to %n step %one iter_args(%s = %zero, %k = %zero) -> (i64, i64) : i64 {
        %p = arith.muli %wide, %i : i64
        %t = arith.addi %s, %p : i64
        %above = arith.cmpi ugt, %t, %limit : i64
        %bit = arith.extui %above : i1 to i64
        %u = arith.addi %k, %bit : i64
        scf.yield %t, %u : i64, i64
      }
      %less = arith.cmpi ult, %sum, %limit : i64
      %mixed = arith.addi %sum, %l : i64
      %turned = arith.xori %mixed, %signed : i64
      %low = arith.trunci %turned : i64 to i32
      %few = arith.trunci %count : i64 to i32
      %chosen = arith.select %less, %low, %few : i32
      %far = arith.muli %wide, %c7 : i64
      %address = arith.andi %far, %c63 : i64
      %there = kernel.load %x[%address] : !kernel.buffer<i32> -> i32
      %r = arith.addi %chosen, %there : i32
      kernel.store %r, %o[%l] : i32, !kernel.buffer<i32>
      kernel.return
    }""")
    generator = random.Random(5)
    x = [generator.randrange(1 << 32) for _ in range(64)]
    w = [generator.randrange(1 << 34) for _ in range(64)]
    out = torch.zeros(64, dtype=torch.int32)
    kernels.launch("f", [1], [tensor(x, 32), torch.tensor(w), out, 5])
    want = list[int]()
    for lane, (word, limit) in enumerate(zip(x, w, strict=True)):
        total, above = 0, 0
        for i in range(5):
            total += word * i
            above += total > limit
        turned = (total + lane) ^ signed(word, 32)
        want.append(signed((turned if total < limit else above) + x[word * 7 & 63], 32))
    assert ints(out) == want
