"""Kernels that measure a CUDA card: chains of one operation in registers, written at the kernel stage.

Every lane runs four chains, so that latencies overlap. Results are stored, else the compiler would drop the chains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects.zq import ARITHMETICS, Arithmetic
from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.universe import make_context

FMA, LOW, WIDE, EXCHANGE = "fma", "low32", "wide32", "exchange"
"""Rates: fused multiply-adds of doubles; products of 32-bit words, the low word or both; words moved between lanes."""

SHOUP = {f"{name}_shoup": name for name, a in ARITHMETICS.items() if not a.signed}
"""Rates of modular products by a factor whose quotient by q is known, and their arithmetics."""

RATES = (FMA, LOW, WIDE, EXCHANGE, *SHOUP)

EMPTY = "empty"
"""A kernel that does next to nothing."""

LANES, CHAINS, UNROLLED, LOOPS = 256, 4, 8, 64
PROGRAMS_PER_SM = 16
REGISTERS = 16
"""Words of a lane that an exchange moves."""

_DTYPES = {"i32": torch.int32, "i64": torch.int64, "f64": torch.float64}

Launch: TypeAlias = Callable[[str, tuple[int, ...], Sequence[torch.Tensor | int]], None]
"""What launches a kernel: its symbol, grid and arguments."""


@dataclass(frozen=True)
class Probe:
    """A kernel `(m, x, o)` of 256 lanes: modulus, operands, results.

    Attributes:
        text: at the kernel stage.
        word: type of its words.
        modulus: the two words of `m`.
        lane_operations: operations of a lane.
        programs_per_sm: of a launch.
    """

    name: str
    text: str
    word: str
    modulus: tuple[float, float] = (1, 1)
    lane_operations: int = 1
    programs_per_sm: int = PROGRAMS_PER_SM

    def operations(self, sms: int) -> int:
        """Operations of one launch on a card of so many multiprocessors."""
        return self.lane_operations * LANES * self.programs_per_sm * sms

    def arguments(self, device: str) -> tuple[torch.Tensor, ...]:
        """Tensors to launch it with."""
        dtype = _DTYPES[self.word]
        modulus = torch.tensor(self.modulus, dtype=dtype, device=device)
        words = torch.arange(1, LANES + 1, device=device).to(dtype) * 12345
        return modulus, words, torch.zeros(LANES, dtype=dtype, device=device)

    def action(self, launch: Launch, sms: int, device: str) -> Callable[[], None]:
        """One launch on a card of so many multiprocessors."""
        arguments, grid = self.arguments(device), (self.programs_per_sm * sms,)
        return lambda: launch(self.name, grid, arguments)


def rate_probes(loops: int = LOOPS) -> dict[str, Probe]:
    """A kernel for each rate."""
    steps = {
        FMA: ("f64", ["%{y} = math.fma %{x}, %v, %v : f64"]),
        LOW: ("i32", ["%{y}p = arith.muli %{x}, %v : i32", "%{y} = arith.addi %{y}p, %v : i32"]),
        WIDE: (
            "i32",
            [
                "%{y}l, %{y}h = arith.mului_extended %{x}, %v : i32",
                "%{y} = arith.xori %{y}l, %{y}h : i32",
            ],
        ),
    }
    found = {
        name: Probe(
            name,
            chain_text(name, word, step, loops),
            word,
            lane_operations=loops * UNROLLED * CHAINS,
        )
        for name, (word, step) in steps.items()
    }
    found[EXCHANGE] = Probe(
        EXCHANGE,
        exchange_text(),
        "i64",
        lane_operations=REGISTERS,
        programs_per_sm=32 * PROGRAMS_PER_SM,
    )
    for name, arithmetic in SHOUP.items():
        found[name] = product_probe(ARITHMETICS[arithmetic], loops, shoup=True)
    return found


def product_probe(arithmetic: Arithmetic, loops: int = LOOPS, shoup: bool = False) -> Probe:
    """A kernel of modular products by a word that stays the same, as a twiddle factor does.

    Args:
        shoup: by the word's quotient, for which any word does here.
    """
    name, word = f"products_{arithmetic.name}{'_shoup' if shoup else ''}", str(arithmetic.word)
    type_ = f"{word}, !zq.modulus<{arithmetic.name}>"
    product = "zq.mul_shoup %{x}, %v, %s0" if shoup else "zq.mul %{x}, %v"
    step = [f"%{{y}} = {product} mod %mod : {type_}"]
    q = (1 << min(arithmetic.prime_bits, 49)) - 27
    inverse = 1.0 / q if arithmetic.floating else pow(q, -1, arithmetic.radix)
    if not arithmetic.floating and inverse >= arithmetic.radix // 2:
        inverse -= arithmetic.radix
    text = chain_text(name, word, step, loops, arithmetic.name)
    return Probe(name, text, word, (q, inverse), loops * UNROLLED * CHAINS)


def product_probes(loops: int = LOOPS) -> dict[str, Probe]:
    """A kernel for each arithmetic."""
    return {name: product_probe(arithmetic, loops) for name, arithmetic in ARITHMETICS.items()}


def empty_probe() -> Probe:
    """A kernel that stores a word for each lane."""
    body = ["%l = kernel.lane_id 0", "kernel.store %l, %o[%l] : i64, !kernel.buffer<i64>"]
    return Probe(EMPTY, _kernel(EMPTY, "i64", body), "i64")


def probe_module(probes: Sequence[Probe]) -> ModuleOp:
    """The kernels of some probes, ready to be printed."""
    module = parse_module(make_context(), "\n".join(p.text for p in probes), "probes")
    ConvertZqToArith().apply(Context(), module)
    return module


def chain_text(
    name: str, word: str, step: Sequence[str], loops: int, arithmetic: str | None = None
) -> str:
    """A kernel of chains.

    Args:
        step: lines that compute `%{y}` of `%{x}` and `%v`.
        arithmetic: of the modulus `%mod`, if the step needs one.
    """
    buffer, words = f"!kernel.buffer<{word}>", ", ".join([word] * CHAINS)
    lines = [
        "%zero = arith.constant 0 : i64",
        "%one = arith.constant 1 : i64",
        f"%loops = arith.constant {loops} : i64",
    ]
    if arithmetic is not None:
        lines += [
            f"%q = kernel.load %m[%zero] : {buffer} -> {word}",
            f"%inverse = kernel.load %m[%one] : {buffer} -> {word}",
            f"%mod = zq.modulus %q, %inverse : {word} -> !zq.modulus<{arithmetic}>",
        ]
    lines += ["%l = kernel.lane_id 0", f"%v = kernel.load %x[%l] : {buffer} -> {word}"]
    join = "arith.addf" if word == "f64" else "arith.addi"
    for chain in range(CHAINS):
        before = "%v" if chain == 0 else f"%s{chain - 1}"
        lines.append(f"%s{chain} = {join} {before}, %v : {word}")
    begin = ", ".join(f"%c{chain}_0 = %s{chain}" for chain in range(CHAINS))
    results = ", ".join(f"%r{chain}" for chain in range(CHAINS))
    lines.append(
        f"{results} = scf.for %i = %zero to %loops step %one iter_args({begin}) -> ({words}) : i64 {{"
    )
    for turn in range(UNROLLED):
        for chain in range(CHAINS):
            x, y = f"c{chain}_{turn}", f"c{chain}_{turn + 1}"
            lines += [line.replace("{x}", x).replace("{y}", y) for line in step]
    ends = ", ".join(f"%c{chain}_{UNROLLED}" for chain in range(CHAINS))
    lines += [
        f"scf.yield {ends} : {words}",
        "}",
        f"%a = {join} %r0, %r1 : {word}",
        f"%b = {join} %r2, %r3 : {word}",
        f"%sum = {join} %a, %b : {word}",
        f"kernel.store %sum, %o[%l] : {word}, {buffer}",
    ]
    return _kernel(name, word, lines)


def exchange_text() -> str:
    """A kernel that exchanges 16 words of each lane once, as a transform does: between further exchanges, and in
    loops, Triton would lay words out anew."""
    types = ", ".join(["i64"] * REGISTERS)
    lines = [
        "%k = kernel.lane_id 0",
        "%j = kernel.lane_id 1",
        f"%width = arith.constant {REGISTERS} : i64",
        "%row = arith.muli %k, %width : i64",
        "%l = arith.addi %row, %j : i64",
        "%v = kernel.load %x[%l] : !kernel.buffer<i64> -> i64",
    ]
    for k in range(REGISTERS):
        before = "%v" if k == 0 else f"%r{k - 1}"
        lines.append(f"%r{k} = arith.addi {before}, %v : i64")
    given, taken = (", ".join(f"%{n}{k}" for k in range(REGISTERS)) for n in "re")
    lines.append(f"{taken} = kernel.exchange {given} axis 0 : {types} -> {types}")
    total = "%e0"
    for k in range(1, REGISTERS):
        lines.append(f"%t{k} = arith.xori {total}, %e{k} : i64")
        total = f"%t{k}"
    lines.append(f"kernel.store {total}, %o[%l] : i64, !kernel.buffer<i64>")
    return _kernel(EXCHANGE, "i64", lines, f"{REGISTERS}, {LANES // REGISTERS}")


def _kernel(name: str, word: str, lines: Sequence[str], lanes: str = str(LANES)) -> str:
    arguments = ", ".join(f"%{argument} : !kernel.buffer<{word}>" for argument in "mxo")
    body = "\n".join((*lines, "kernel.return"))
    return f"kernel.func @{name}({arguments}) lanes [{lanes}] grid 1 {{\n{body}\n}}"
