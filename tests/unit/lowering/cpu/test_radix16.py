"""A 256-point negacyclic transform in two radix-16 steps around one exchange, checked exactly.

The kernel is written by hand: Montgomery products (Montgomery 1985, R = 2^64) and lazy butterflies
(Harvey 2014) on words below 4q; the oracle evaluates polynomials at roots of unity.
"""

import random

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.universe import make_context

POINTS = 256
COLUMNS = 8
PRIME = 2**60 - 2**14 + 1  # 1 mod 512
WORD = 2**64


class KernelText:
    """Lines of a kernel with fresh names."""

    def __init__(self) -> None:
        self.lines = list[str]()

    def op(self, text: str) -> str:
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {text}")
        return name

    def high(self, a: str, b: str) -> str:
        name = f"%h{len(self.lines)}"
        self.lines.append(f"%l{len(self.lines)}, {name} = arith.mului_extended {a}, {b} : i64")
        return name

    def binary(self, kind: str, a: str, b: str) -> str:
        return self.op(f"arith.{kind} {a}, {b} : i64")

    def constant(self, value: int) -> str:
        return self.op(f"arith.constant {value} : i64")


def montgomery(k: KernelText, a: str, b: str) -> str:
    """a * b / 2^64 mod q in (0, 2q)."""
    quotient = k.binary("muli", k.binary("muli", a, b), "%q_inverse")
    difference = k.binary("subi", k.high(a, b), k.high(quotient, "%q"))
    return k.binary("addi", difference, "%q")


def butterflies(k: KernelText, values: list[str], twiddle: list[str], double: str) -> list[str]:
    """Four Cooley-Tukey stages on 16 words below 4q; twiddle[2^s + block] belongs to stage s."""
    values = list(values)
    for stage in range(4):
        half = 8 >> stage
        for block in range(1 << stage):
            for i in range(block * 2 * half, block * 2 * half + half):
                u = k.binary("minui", values[i], k.binary("subi", values[i], double))
                t = montgomery(k, values[i + half], twiddle[(1 << stage) + block])
                values[i] = k.binary("addi", u, t)
                values[i + half] = k.binary("addi", k.binary("subi", u, t), double)
    return values


def forward_256(columns: int = COLUMNS) -> str:
    """lanes [16, columns]; %x and %y hold [256, grid * columns] words, %w 256 twiddles."""
    k = KernelText()
    sixteen, width = k.constant(16), k.constant(columns)
    program, a, b = (
        k.op("kernel.program_id 0"),
        k.op("kernel.lane_id 0"),
        k.op("kernel.lane_id 1"),
    )
    double = k.binary("addi", "%q", "%q")
    column = k.binary("addi", k.binary("muli", program, width), b)

    def address(point: str) -> str:
        return k.binary("addi", k.binary("muli", point, "%stride"), column)

    def twiddle(index: str) -> str:
        return k.op(f"kernel.load %w[{index}] : !kernel.buffer<i64> -> i64")

    points = [k.binary("addi", k.constant(16 * r), a) for r in range(16)]
    values = [k.op(f"kernel.load %x[{address(p)}] : !kernel.buffer<i64> -> i64") for p in points]
    first = ["", *(twiddle(k.constant(j)) for j in range(1, 16))]
    values = butterflies(k, values, first, double)
    results = [f"%e{j}" for j in range(16)]
    types = ", ".join(["i64"] * 16)
    k.lines.append(
        f"{', '.join(results)} = kernel.exchange {', '.join(values)} axis 0 : {types} -> {types}"
    )
    second = [""]
    for stage in range(4):
        base = k.binary("muli", a, k.constant(1 << stage))
        for block in range(1 << stage):
            second.append(twiddle(k.binary("addi", base, k.constant((16 << stage) + block))))
    start = k.binary("muli", a, sixteen)
    for j, value in enumerate(butterflies(k, results, second, double)):
        for bound in (double, "%q"):
            value = k.binary("minui", value, k.binary("subi", value, bound))
        place = address(k.binary("addi", start, k.constant(j)))
        k.lines.append(f"kernel.store {value}, %y[{place}] : i64, !kernel.buffer<i64>")
    body = "\n  ".join([*k.lines, "kernel.return"])
    return (
        "kernel.func @forward(%x : !kernel.buffer<i64>, %y : !kernel.buffer<i64>, "
        "%w : !kernel.buffer<i64>, %q : i64, %q_inverse : i64, %stride : i64) "
        f"lanes [16, {columns}] grid 1 {{\n  {body}\n}}"
    )


def parse(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def bit_reverse(value: int, bits: int) -> int:
    return int(format(value, f"0{bits}b")[::-1], 2)


def root_of_unity(order: int, q: int) -> int:
    for generator in range(2, 100):
        root = pow(generator, (q - 1) // order, q)
        if pow(root, order // 2, q) == q - 1:
            return root
    raise AssertionError


def smallest_prime() -> int:
    """The first prime 1 mod 512 below 2^61.5, found by a Fermat test with several bases."""
    q = PRIME
    while not all(pow(base, q - 1, q) == 1 for base in (2, 3, 5, 7, 11, 13)):
        q -= 512
    return q


def signed(value: int) -> int:
    return value - WORD if value >= WORD // 2 else value


def test_forward_256_matches_evaluation_at_roots():
    q = smallest_prime()
    psi = root_of_unity(2 * POINTS, q)
    generator = random.Random(1)
    total = 2 * COLUMNS
    coefficients = [[generator.randrange(q) for _ in range(total)] for _ in range(POINTS)]
    coefficients[0] = [q - 1] * total
    twiddles = [pow(psi, bit_reverse(j, 8), q) * WORD % q for j in range(POINTS)]
    x = torch.tensor(coefficients, dtype=torch.int64)
    y = torch.zeros_like(x)
    w = torch.tensor(twiddles, dtype=torch.int64)
    kernels = CpuKernels(parse(forward_256()))
    arguments = [x, y, w, q, signed(pow(q, -1, WORD)), total]
    kernels.launch("forward", [2], arguments)

    for column in (0, 7, 8, 15):
        for i in (0, 1, 100, 255):
            point = pow(psi, 2 * i + 1, q)
            want = 0
            for row in reversed(coefficients):
                want = (want * point + row[column]) % q
            assert y[bit_reverse(i, 8), column].item() == want

    kernels.launch("forward", [2], [x, x, *arguments[2:]])
    assert torch.equal(x, y), "in place"
