"""Kernels on doubles: bit for bit the same on all targets, and what exact rationals, rounded once, say."""

from __future__ import annotations

import math
import random
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.lowering.kernel_libraries import load_kernels
from fhelium_ir.reference.kernel import KernelFault
from tests.unit.kernel_texts import converted, parse

TARGETS = ("interpret", "cpu", "triton-interpret")
F, W = "!kernel.buffer<f64>", "!kernel.buffer<i64>"
MAGIC = 1.5 * 2**52
Q50 = 2**50 - 27
PRIMES = (3, 97, 12289, 998244353, 2**40 - 87, 1125899906826241, Q50)


def bits(value: float) -> int:
    return struct.unpack("<q", struct.pack("<d", value))[0]


def rounded(exact: Fraction, zero: float) -> float:
    """An exact result as a double; `zero` has the sign of a result that is zero."""
    return float(exact) if exact else zero


def fma(x: float, y: float, z: float) -> float:
    return rounded(Fraction(x) * Fraction(y) + Fraction(z), x * y + z)


def launch(module: ModuleOp, target: str, *arguments: torch.Tensor | int, grid: int = 1) -> None:
    load_kernels(module, target).launch("k", (grid,), arguments)


def doubles(values: Sequence[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def words_of(tensor: torch.Tensor) -> list[int]:
    return [int(word) for word in tensor.view(torch.int64)]


# Single operations

OPERATIONS: dict[str, Callable[[float, float, float], float]] = {
    "arith.addf %a, %b": lambda a, b, c: rounded(Fraction(a) + Fraction(b), a + b),
    "arith.subf %a, %b": lambda a, b, c: rounded(Fraction(a) - Fraction(b), a - b),
    "arith.mulf %a, %b": lambda a, b, c: rounded(Fraction(a) * Fraction(b), a * b),
    "math.fma %a, %b, %c": fma,
    "math.fma %c, %a, %minus": lambda a, b, c: fma(c, a, -1.0),
    "arith.addf %a, %magic": lambda a, b, c: rounded(Fraction(a) + Fraction(MAGIC), 0.0),
    "arith.mulf %a, %third": lambda a, b, c: rounded(Fraction(a) * Fraction(1 / 3), a * (1 / 3)),
}
PREDICATES: dict[str, Callable[[float, float], bool]] = {
    "oeq": lambda a, b: a == b,
    "ogt": lambda a, b: a > b,
    "oge": lambda a, b: a >= b,
    "olt": lambda a, b: a < b,
    "ole": lambda a, b: a <= b,
    "une": lambda a, b: a != b,
}


def triples() -> list[tuple[float, float, float]]:
    """Operands up to 2^53, and sums of a product that lie on, or next to, the middle of two doubles."""
    rng = random.Random(5)
    edges = (0.0, -0.0, 1.0, -1.0, 0.5, 2.0**52, -(2.0**53), 2.0**53 - 1, 1 / Q50, MAGIC)
    found = [(a, b, c) for a in edges for b in (1.0, -3.0, 2.0**-51) for c in (0.0, -1.5, -MAGIC)]
    for sign in (1, -1):
        for k in range(8):
            z = sign * (2.0**54 + 4 * k)
            found += [(2.0, 1.0, z), (-2.0, 1.0, z), (6.0, 3.0, z)]
            # 2 (1 - 2^-60) and 2 (1 + 2^-29 + 2^-60): on either side of the middle.
            found += [(2 + 2.0**-29, 1 - 2.0**-30, z), (2 + 2.0**-29, 1 + 2.0**-30, z)]
            found += [(-(2 + 2.0**-29), 1 - 2.0**-30, z)]
    while len(found) < 512:
        a, b, c = (float(rng.randrange(-(2**53), 2**53)) for _ in range(3))
        product = float(Fraction(a) * Fraction(b))
        near = math.nextafter(-product, rng.choice((-math.inf, math.inf)))
        found += [(a, b, c), (a, b, -product), (a, b, near), (a / Q50, b, c), (a, 1 / Q50, MAGIC)]
    return found[:512]


@pytest.mark.parametrize("target", TARGETS)
def test_operations_round_once(target: str) -> None:
    cases = triples()
    count = len(cases)
    lines = [f"%{name} = kernel.load %{name}s[%l] : {F} -> f64" for name in "abc"]
    for row, text in enumerate(OPERATIONS):
        lines += [
            f"%r{row} = {text} : f64",
            f"%o{row}_k = arith.constant {row * count} : i64",
            f"%o{row} = arith.addi %l, %o{row}_k : i64",
            f"kernel.store %r{row}, %y[%o{row}] : f64, {F}",
        ]
    module = parse(
        f"""kernel.func @k(%as : {F}, %bs : {F}, %cs : {F}, %y : {F}) lanes [{count}] grid 1 {{
        %l = kernel.lane_id 0
        %minus = arith.constant -1.0 : f64
        %magic = arith.constant {MAGIC} : f64
        %third = arith.constant {bits(1 / 3):#x} : f64
        {chr(10).join(lines)}
        kernel.return }}"""
    )
    y = torch.zeros(len(OPERATIONS) * count, dtype=torch.float64)
    launch(module, target, *(doubles(column) for column in zip(*cases, strict=True)), y)
    words = words_of(y)
    for row, (text, oracle) in enumerate(OPERATIONS.items()):
        want = [bits(oracle(a, b, c)) for a, b, c in cases]
        assert words[row * count : (row + 1) * count] == want, text


@pytest.mark.parametrize("target", TARGETS)
def test_comparisons_selections_and_bits(target: str) -> None:
    values = [0.0, -0.0, 1.0, -1.0, 2.0**53, -(2.0**53), 0.5, math.nextafter(0.5, 1)]
    pairs = [(a, b) for a in values for b in values]
    count = len(pairs)
    lines: list[str] = []
    for row, predicate in enumerate(PREDICATES):
        lines += [
            f"%p{row} = arith.cmpf {predicate}, %a, %b : f64",
            f"%s{row} = arith.select %p{row}, %a, %b : f64",
            f"%w{row} = arith.bitcast %s{row} : f64 to i64",
            f"%v{row} = arith.xori %w{row}, %sign : i64",
            f"%z{row} = arith.bitcast %v{row} : i64 to f64",
            f"%o{row}_k = arith.constant {row * count} : i64",
            f"%o{row} = arith.addi %l, %o{row}_k : i64",
            f"kernel.store %w{row}, %x[%o{row}] : i64, {W}",
            f"kernel.store %z{row}, %y[%o{row}] : f64, {F}",
        ]
    module = parse(
        f"""kernel.func @k(%as : {F}, %bs : {F}, %x : {W}, %y : {F}) lanes [{count}] grid 1 {{
        %l = kernel.lane_id 0
        %sign = arith.constant {-(1 << 63)} : i64
        %a = kernel.load %as[%l] : {F} -> f64
        %b = kernel.load %bs[%l] : {F} -> f64
        {chr(10).join(lines)}
        kernel.return }}"""
    )
    x = torch.zeros(len(PREDICATES) * count, dtype=torch.int64)
    y = torch.zeros(len(PREDICATES) * count, dtype=torch.float64)
    launch(module, target, *(doubles(column) for column in zip(*pairs, strict=True)), x, y)
    for row, (predicate, holds) in enumerate(PREDICATES.items()):
        chosen = [a if holds(a, b) else b for a, b in pairs]
        here = slice(row * count, (row + 1) * count)
        assert words_of(x[here]) == [bits(value) for value in chosen], predicate
        assert words_of(y[here]) == [bits(-value) for value in chosen], predicate


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("order", ["4, 8", "8, 4"])
def test_exchanges_loops_and_masks(target: str, order: str) -> None:
    """A sum over rows that a loop carries in four registers, exchanged between lanes; masked lanes are zero."""
    axis = 0 if order.startswith("4") else 1
    lines: list[str] = []
    for r in range(4):
        lines += [
            f"%n{r} = arith.constant {r * 32} : i64",
            f"%i{r} = arith.addi %base, %n{r} : i64",
            f"%in{r} = arith.cmpi ult, %i{r}, %size : i64",
            f"%v{r} = kernel.load %x[%i{r}] mask %in{r} : {F} -> f64",
            f"%t{r} = math.fma %v{r}, %factor, %s{r} : f64",
        ]
    names = [f"%{name}{r}" for name in "ruo" for r in range(4)]
    kinds = ", ".join(["f64"] * 4)
    ends = "\n".join(
        f"%k{r} = arith.constant {r * 32} : i64\n%d{r} = arith.addi %place, %k{r} : i64\n"
        f"kernel.store %u{r}, %y[%d{r}] : f64, {F}"
        for r in range(4)
    )
    module = parse(
        f"""kernel.func @k(%x : {F}, %y : {F}, %rows : i64, %size : i64) lanes [{order}] grid 1 {{
        %c0 = arith.constant 0 : i64
        %c1 = arith.constant 1 : i64
        %stride = arith.constant {8 if axis == 0 else 4} : i64
        %width = arith.constant 128 : i64
        %factor = arith.constant -0.5 : f64
        %zero = arith.constant 0.0 : f64
        %first = kernel.lane_id 0
        %second = kernel.lane_id 1
        %scaled = arith.muli %first, %stride : i64
        %place = arith.addi %scaled, %second : i64
        {", ".join(names[:4])} = scf.for %row = %c0 to %rows step %c1
            iter_args(%s0 = %zero, %s1 = %zero, %s2 = %zero, %s3 = %zero) -> ({kinds}) : i64 {{
          %start = arith.muli %row, %width : i64
          %base = arith.addi %start, %place : i64
          {chr(10).join(lines)}
          scf.yield %t0, %t1, %t2, %t3 : {kinds}
        }}
        {", ".join(names[4:8])} = kernel.exchange {", ".join(names[:4])} axis {axis}
            : {kinds} -> {kinds}
        {ends}
        kernel.return }}"""
    )
    rows, size = 3, 2 * 128 + 77
    rng = random.Random(2)
    x = [float(rng.randrange(-(2**53), 2**53)) for _ in range(rows * 128)]
    y = torch.zeros(128, dtype=torch.float64)
    launch(module, target, doubles(x), y, rows, size)
    sums = [0.0] * 128
    for row in range(rows):
        for k in range(128):
            inside = row * 128 + k < size
            sums[k] = fma(x[row * 128 + k] if inside else 0.0, -0.5, sums[k])
    stride, other = (8, 1) if axis == 0 else (1, 4)
    want = [0.0] * 128
    for lane in range(4):
        for rest in range(8):
            for register in range(4):
                source = lane * 32 + register * stride + rest * other
                want[register * 32 + lane * stride + rest * other] = sums[source]
    assert words_of(y) == [bits(value) for value in want]


# The arithmetic fp64


def arithmetic_kernel(lanes: int) -> ModuleOp:
    """Product, residue, integer and double again of one pair of words per lane; results in rows."""
    m = "!zq.modulus<fp64>"
    lines: list[str] = []
    for name in ("q", "qi", "a", "b", "x"):
        lines.append(f"%{name} = kernel.load %{name}s[%l] : {F} -> f64")
    lines += [
        f"%m = zq.modulus %q, %qi : f64 -> {m}",
        f"%p = zq.mul %a, %b mod %m : f64, {m}",
        f"%r = zq.reduce %x mod %m from 4503599627370496 to 1 : f64, {m}",
        f"%c = zq.to_integer %r mod %m : {m}",
        f"%d = zq.to_float %c mod %m : {m}",
        f"%e = zq.reduce %d mod %m from 2 to 1 : f64, {m}",
        f"%s = zq.add %p, %e mod %m : f64, {m}",
        f"%t = zq.sub %s, %r mod %m offset 0 : f64, {m}",
    ]
    for row, name in enumerate("prdst"):
        lines += [
            f"%o{row}_k = arith.constant {row * lanes} : i64",
            f"%o{row} = arith.addi %l, %o{row}_k : i64",
            f"kernel.store %{name}, %y[%o{row}] : f64, {F}",
        ]
    arguments = ", ".join(f"%{name}s : {F}" for name in ("q", "qi", "a", "b", "x"))
    return parse(
        f"""kernel.func @k({arguments}, %y : {F}, %w : {W}) lanes [{lanes}] grid 1 {{
        %l = kernel.lane_id 0
        {chr(10).join(lines)}
        kernel.store %c, %w[%l] : i64, {W}
        kernel.return }}"""
    )


def product_cases(q: int) -> list[tuple[int, int]]:
    """Factors whose product is at most 2^51 q, many of them nearly."""
    rng = random.Random(q)
    half = (q - 1) // 2
    right = [0, 1, -1, half, -half, half - 1, q, -q, q - 1, 2 - q]
    right += [rng.randrange(-half, half + 1) for _ in range(8)]
    cases: list[tuple[int, int]] = []
    for b in right:
        most = 2**53 if b == 0 else min(2**53, (q << 51) // abs(b) - 1)
        left = [most, -most, most - 1, rng.randrange(-most, most + 1), 1, 0]
        # Quotients next to half an integer.
        left += [
            (2 * rng.randrange(1 << 20) + 1) * q // (2 * b) + k
            for k in (0, 1)
            if b and abs(b) > half // 2
        ]
        cases += [(a, b) for a in left]
    return cases


def residue_cases(q: int) -> list[int]:
    """Integers below 2^52, many of them next to odd multiples of q/2."""
    rng = random.Random(q)
    most = (1 << 52) - 1
    found = [0, 1, -1, most, -most, most - 1]
    top = (most - (q + 1) // 2) // q
    for k in (0, 1, top, top - 1, *(rng.randrange(top + 1) for _ in range(12))):
        for move in ((q - 1) // 2, (q + 1) // 2):
            found += [sign * (max(k, 0) * q + move) for sign in (1, -1)]
    return [x for x in found if abs(x) <= most]


def product_by_steps(a: int, b: int, q: int) -> float:
    """The sequence of roundings that defines the product."""
    inverse = rounded(Fraction(1, q), 0.0)
    high = rounded(Fraction(a) * b, 0.0)
    count = fma(high, inverse, MAGIC) - MAGIC
    low = fma(float(a), float(b), -high)
    return fma(count, -float(q), high) + low


def centred(x: int, q: int) -> int:
    residue = x % q
    return residue - q if 2 * residue > q else residue


@pytest.mark.parametrize("q", PRIMES)
def test_modular_arithmetic_at_its_bounds(q: int) -> None:
    products, values = product_cases(q), residue_cases(q)
    lanes = 1 << (max(len(products), len(values)) - 1).bit_length()
    products += [(1, 1)] * (lanes - len(products))
    values += [1] * (lanes - len(values))
    assert max(abs(a * b) for a, b in products) * (1 + 2**-40) > q * 2**51
    wanted = [product_by_steps(a, b, q) for a, b in products]
    for (a, b), word in zip(products, wanted, strict=True):
        assert word == int(word) and (int(word) - a * b) % q == 0
        assert abs(word) <= Fraction(q, 2) + Fraction(abs(a * b), 1 << 52)
        assert 8 * abs(word) <= 7 * q
    module = arithmetic_kernel(lanes)
    forms = [(module, "interpret"), *((converted(module), target) for target in TARGETS)]
    for form, target in forms:
        y, w = torch.zeros(5 * lanes, dtype=torch.float64), torch.zeros(lanes, dtype=torch.int64)
        words = [[a for a, _ in products], [b for _, b in products], values]
        inputs = [[float(q)] * lanes, [1 / q] * lanes, *words]
        launch(form, target, *(doubles(list(map(float, column))) for column in inputs), y, w)
        rows = [words_of(y[k * lanes : (k + 1) * lanes]) for k in range(5)]
        residues = [centred(x, q) for x in values]
        assert rows[0] == [bits(word + 0.0) for word in wanted], target
        assert rows[1] == [bits(float(residue)) for residue in residues], target
        assert [int(word) for word in w] == [x % q for x in values], target
        assert rows[2] == [bits(float(x % q)) for x in values], target
        sums = [word + residue for word, residue in zip(wanted, residues, strict=True)]
        assert rows[3] == [bits(total) for total in sums], target
        assert rows[4] == [bits(word + 0.0) for word in wanted], target


FAULTS: dict[str, list[tuple[tuple[float, float], str | None]]] = {
    "zq.mul %a, %b mod %m : f64, !zq.modulus<fp64>": [
        ((2.0**52, float(Q50)), "quotient is above 2"),
        ((float(Q50 + 1), 2.0**51), "quotient is above 2"),
        ((2.0**49, 2.0**51), None),  # no factor has to be reduced
        ((0.5, 1.0), "no integer"),
        ((1.0, 2.0**54), "no integer"),
    ],
    "zq.add %a, %b mod %m : f64, !zq.modulus<fp64>": [
        ((2.0**53 - 1, 1.0), None),
        # Rounded to 2^53, which is the largest word.
        ((2.0**53, 1.0), "leaves the word"),
        ((2.0**53, 2.0), "leaves the word"),
        ((0.5, 0.5), "no integer"),
    ],
    "zq.sub %a, %b mod %m offset 0 : f64, !zq.modulus<fp64>": [
        ((-(2.0**53), 2.0), "leaves the word"),
        ((0.5, 0.5), "no integer"),
    ],
    "zq.reduce %a mod %m from 3 to 1 : f64, !zq.modulus<fp64>": [
        ((2.0**52, 0.0), "not below 2"),
        ((1.5 * Q50 + 0.5, 0.0), "above from"),
        ((1.5, 0.0), "no integer"),
    ],
}


@pytest.mark.parametrize("text", FAULTS)
def test_interpreter_refuses_what_is_not_exact(text: str) -> None:
    module = parse(
        f"""kernel.func @k(%x : {F}, %y : {F}) lanes [1] grid 1 {{
        %c0 = arith.constant 0 : i64
        %c1 = arith.constant 1 : i64
        %q = arith.constant {float(Q50)!r} : f64
        %qi = arith.constant {bits(1 / Q50):#x} : f64
        %m = zq.modulus %q, %qi : f64 -> !zq.modulus<fp64>
        %a = kernel.load %x[%c0] : {F} -> f64
        %b = kernel.load %x[%c1] : {F} -> f64
        %r = {text}
        kernel.store %r, %y[%c0] : f64, {F}
        kernel.return }}"""
    )
    for operands, message in FAULTS[text]:
        y = torch.zeros(1, dtype=torch.float64)
        if message is None:
            launch(module, "interpret", doubles(operands), y)
            continue
        with pytest.raises(KernelFault, match=message):
            launch(module, "interpret", doubles(operands), y)
