"""Kernels in text, and what they must compute, for the tests of everything that runs kernels."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.universe import make_context

WORD_BITS = {"mont32": 32, "mont64": 64}


def parse(text: str) -> ModuleOp:
    """Parses and verifies a module."""
    from xdsl.parser import Parser

    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def converted(module: ModuleOp) -> ModuleOp:
    """A copy of the module after convert-zq-to-arith, verified."""
    copy = module.clone()
    ConvertZqToArith().apply(make_context(), copy)
    copy.verify()
    return copy


def only_kernel(module: ModuleOp) -> kernel.FuncOp:
    """The one kernel of a module."""
    funcs = [op for op in module.walk() if isinstance(op, kernel.FuncOp)]
    if len(funcs) != 1:
        raise FheliumError("one kernel expected")
    return funcs[0]


def ntt_kernel(arithmetic: str, radix: int, columns: int) -> str:
    """The forward transform of `radix^2` coefficients, `columns` polynomials a program.

    Lanes are [radix, columns] and the grid has rank 1. Arguments: coefficients in [0, q) (in
    place), twiddles times R, the pair q and q^-1 mod R, and the number of polynomials, beyond
    which lanes are masked. One exchange separates the stages on the high digit of the index from
    those on the low digit.
    """
    word, stages = f"i{WORD_BITS[arithmetic]}", radix.bit_length() - 1
    buffer, modulus = f"!kernel.buffer<{word}>", f"!zq.modulus<{arithmetic}>"
    lines: list[str] = []
    for k in sorted({0, 1, columns, radix * radix, *range(2 * radix)}):
        lines.append(f"%c{k} = arith.constant {k} : i64")
    lines += [
        "%pid = kernel.program_id 0",
        "%a = kernel.lane_id 0",
        "%c = kernel.lane_id 1",
        f"%first = arith.muli %pid, %c{columns} : i64",
        "%row = arith.addi %first, %c : i64",
        "%in = arith.cmpi ult, %row, %count : i64",
        f"%base = arith.muli %row, %c{radix * radix} : i64",
        f"%low = arith.muli %a, %c{radix} : i64",
        "%gather = arith.addi %base, %a : i64",
        "%scatter = arith.addi %base, %low : i64",
        f"%q = kernel.load %modulus[%c0] : {buffer} -> {word}",
        f"%qi = kernel.load %modulus[%c1] : {buffer} -> {word}",
        f"%m = zq.modulus %q, %qi : {word} -> {modulus}",
    ]
    for r in range(radix):
        lines += [
            f"%o{r}_k = arith.constant {r * radix} : i64",
            f"%o{r} = arith.addi %gather, %o{r}_k : i64",
            f"%x{r} = kernel.load %x[%o{r}] mask %in : {buffer} -> {word}",
        ]
    values = _stages([f"%x{r}" for r in range(radix)], "p", "", lines, arithmetic)
    names = ", ".join(f"%e{r}" for r in range(radix))
    types = ", ".join([word] * radix)
    lines.append(f"{names} = kernel.exchange {', '.join(values)} axis 0 : {types} -> {types}")
    for s in range(stages):
        lines += [
            f"%s{s} = arith.constant {1 << s} : i64",
            f"%t{s} = arith.muli %a, %s{s} : i64",
            f"%h{s}_k = arith.constant {1 << (stages + s)} : i64",
            f"%h{s} = arith.addi %t{s}, %h{s}_k : i64",
        ]
    values = _stages([f"%e{r}" for r in range(radix)], "r", "%h", lines, arithmetic)
    for r, value in enumerate(values):
        lines += [
            f"%d{r} = arith.addi %scatter, %c{r} : i64",
            f"%f{r} = zq.reduce {value} mod %m from 4 to 1 : {word}, {modulus}",
            f"kernel.store %f{r}, %x[%d{r}] mask %in : {word}, {buffer}",
        ]
    body = "\n  ".join(lines)
    return (
        f"kernel.func @ntt_{arithmetic}_{radix}(%x : {buffer}, %w : {buffer}, "
        f"%modulus : {buffer}, %count : i64) lanes [{radix}, {columns}] grid 1 {{\n"
        f"  {body}\n  kernel.return\n}}\n"
    )


def _stages(
    values: list[str], prefix: str, start: str, lines: list[str], arithmetic: str
) -> list[str]:
    """Butterflies over the register number; `start` names the twiddle offset of each stage."""
    word = f"i{WORD_BITS[arithmetic]}"
    buffer, modulus = f"!kernel.buffer<{word}>", f"!zq.modulus<{arithmetic}>"
    radix = len(values)
    for s in range(radix.bit_length() - 1):
        half = radix >> (s + 1)
        for block in range(1 << s):
            t = f"{prefix}{s}_{block}"
            if start:
                lines.append(f"%{t}_o = arith.addi {start}{s}, %c{block} : i64")
            else:
                lines.append(f"%{t}_o = arith.constant {(1 << s) + block} : i64")
            lines.append(f"%{t} = kernel.load %w[%{t}_o] : {buffer} -> {word}")
            for k in range(half):
                i, j = 2 * half * block + k, 2 * half * block + k + half
                b = f"{t}_{k}"
                tail = f": {word}, {modulus}"
                lines += [
                    f"%{b}_u = zq.reduce {values[i]} mod %m from 4 to 2 {tail}",
                    f"%{b}_v = zq.mul {values[j]}, %{t} mod %m {tail}",
                    f"%{b}_s = zq.add %{b}_u, %{b}_v mod %m {tail}",
                    f"%{b}_d = zq.sub %{b}_u, %{b}_v mod %m offset 2 {tail}",
                ]
                values[i], values[j] = f"%{b}_s", f"%{b}_d"
    return values


def bit_reverse(index: int, bits: int) -> int:
    """The index with its bits in reverse order."""
    return int(format(index, f"0{bits}b")[::-1], 2)


def root_of_minus_one(q: int, n: int) -> int:
    """The first psi = g^((q-1)/2n) mod q over g = 2, 3, ... with psi^n = -1."""
    return next(
        psi for g in range(2, 100) if pow(psi := pow(g, (q - 1) // (2 * n), q), n, q) == q - 1
    )


def twiddles(q: int, n: int, radix: int) -> list[int]:
    """psi^bitrev(j) times the Montgomery radix, mod q."""
    psi, bits = root_of_minus_one(q, n), n.bit_length() - 1
    return [pow(psi, bit_reverse(j, bits), q) * radix % q for j in range(n)]


def transform(coefficients: Sequence[int], q: int) -> list[int]:
    """out[bitrev(i)] = a(psi^(2i+1)), by evaluating the polynomial."""
    n = len(coefficients)
    psi, bits = root_of_minus_one(q, n), n.bit_length() - 1
    out = [0] * n
    for i in range(n):
        point, power, total = pow(psi, 2 * i + 1, q), 1, 0
        for coefficient in coefficients:
            total = (total + coefficient * power) % q
            power = power * point % q
        out[bit_reverse(i, bits)] = total
    return out
