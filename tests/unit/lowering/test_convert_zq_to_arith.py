"""convert-zq-to-arith: words equal those of the definition, at the ends of every interval."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import file_location
from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.reference.kernel import run_kernel
from fhelium_ir.universe import make_context
from tests.unit.kernel_texts import WORD_BITS, converted, only_kernel, parse

LARGEST_BELOW_2_62 = 2**62 - 57
MODULI = [
    ("mont32", 17),
    ("mont32", 1073741789),
    ("mont64", 17),
    ("mont64", 4293918721),
    ("mont64", 1152921504607338497),
    ("mont64", LARGEST_BELOW_2_62),
]


def zq_kernel(arithmetic: str, lanes: int, op: str) -> str:
    """`z[i] = op(x[i], y[i])` on the operands `%a` and `%b`."""
    word = f"i{WORD_BITS[arithmetic]}"
    buffer = f"!kernel.buffer<{word}>"
    return f"""kernel.func @zq(%x : {buffer}, %y : {buffer}, %z : {buffer}, %n : {buffer})
        lanes [{lanes}] grid 1 {{
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %l = kernel.lane_id 0
      %q = kernel.load %n[%c0] : {buffer} -> {word}
      %qi = kernel.load %n[%c1] : {buffer} -> {word}
      %m = zq.modulus %q, %qi : {word} -> !zq.modulus<{arithmetic}>
      %a = kernel.load %x[%l] : {buffer} -> {word}
      %b = kernel.load %y[%l] : {buffer} -> {word}
      %r = {op} : {word}, !zq.modulus<{arithmetic}>
      kernel.store %r, %z[%l] : {word}, {buffer}
      kernel.return
    }}"""


def array(values: list[int], bits: int) -> NDArray[np.int64] | NDArray[np.int32]:
    unsigned = np.array(values, np.uint64)
    return unsigned.view(np.int64) if bits == 64 else unsigned.astype(np.uint32).view(np.int32)


def run_everywhere(
    arithmetic: str, q: int, op: str, pairs: list[tuple[int, int]], interpret: bool = True
) -> list[int]:
    """The results on the interpreter before and after, and under Triton's; all must agree."""
    bits = WORD_BITS[arithmetic]
    lanes = 1 << (len(pairs) - 1).bit_length()
    padded = pairs + [pairs[0]] * (lanes - len(pairs))
    module = parse(zq_kernel(arithmetic, lanes, op))
    machine = converted(module)
    inputs = [array([pair[k] for pair in padded], bits) for k in (0, 1)]
    modulus = array([q, pow(q, -1, 1 << bits)], bits)
    results: list[list[int]] = []
    for version in (module, machine):
        out = np.zeros_like(inputs[0])
        run_kernel(only_kernel(version), (1,), [*inputs, out, modulus])
        results.append([int(v) % (1 << bits) for v in out])
    if interpret:
        out = np.zeros_like(inputs[0])
        tensors = [torch.from_numpy(a) for a in (*inputs, out, modulus)]  # pyright: ignore
        TritonKernels(machine, interpret=True).launch("zq", (1,), tensors)
        results.append([int(v) % (1 << bits) for v in out])
    assert all(result == results[0] for result in results)
    return results[0][: len(pairs)]


@pytest.mark.parametrize(("arithmetic", "q"), MODULI)
def test_products_at_the_extremes(arithmetic: str, q: int) -> None:
    assert all(pow(base, q - 1, q) == 1 for base in (2, 3, 5, 7, 11))
    bits = WORD_BITS[arithmetic]
    radix = 1 << bits
    ends = [0, 1, q - 1, q, 2 * q - 1, 4 * q - 1, radix - 1]
    pairs = [(a, b) for a in ends for b in ends if q + a * b // radix < radix and a < radix > b]
    results = run_everywhere(arithmetic, q, "zq.mul %a, %b mod %m", pairs)
    for (a, b), result in zip(pairs, results, strict=True):
        assert result * radix % q == a * b % q
        assert 1 <= result <= q + a * b // radix
    # The interval is sharp: 0 gives q, and a product of a lazy word with a reduced one is below 2q.
    assert results[0] == q
    assert all(r < 2 * q for (a, b), r in zip(pairs, results, strict=True) if a * b < q * radix)


@pytest.mark.parametrize(("arithmetic", "q"), MODULI)
def test_minus_one_squared(arithmetic: str, q: int) -> None:
    radix = 1 << WORD_BITS[arithmetic]
    pair = (q - 1, (q - 1) * radix % q)
    assert run_everywhere(arithmetic, q, "zq.mul %a, %b mod %m", [pair])[0] % q == 1


def shoup_kernel(arithmetic: str, lanes: int) -> str:
    """`z[i] = x[i] * y[i]` with the quotients of y behind it."""
    bits = WORD_BITS[arithmetic]
    return zq_kernel(arithmetic, lanes, "zq.mul_shoup %a, %b, %u mod %m").replace(
        "%r =",
        f"""%lanes = arith.constant {lanes} : i64
        %k = arith.addi %l, %lanes : i64
        %u = kernel.load %y[%k] : !kernel.buffer<i{bits}> -> i{bits}
        %r =""",
    )


def shoup_everywhere(arithmetic: str, q: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Products (word, factor) by every interpreter and the CPU; all must agree."""
    bits = WORD_BITS[arithmetic]
    lanes = 1 << (len(pairs) - 1).bit_length()
    words, factors = zip(*(pairs + [pairs[0]] * (lanes - len(pairs))), strict=True)
    quotients = [(factor << bits) // q for factor in factors]
    module = parse(shoup_kernel(arithmetic, lanes))
    machine = converted(module)
    inputs = [array(list(words), bits), array([*factors, *quotients], bits)]
    modulus = array([q, pow(q, -1, 1 << bits)], bits)
    results: list[list[int]] = []
    for version in (module, machine):
        out = np.zeros_like(inputs[0])
        run_kernel(only_kernel(version), (1,), [*inputs, out, modulus])
        results.append([int(v) % (1 << bits) for v in out])
    for library in (TritonKernels(machine, interpret=True), CpuKernels(machine, 1)):
        out = np.zeros_like(inputs[0])
        tensors = [torch.from_numpy(a) for a in (*inputs, out, modulus)]  # pyright: ignore
        library.launch("zq", (1,), tensors)
        results.append([int(v) % (1 << bits) for v in out])
    assert all(result == results[0] for result in results)
    return results[0][: len(pairs)]


@pytest.mark.parametrize(("arithmetic", "q"), MODULI)
def test_products_by_shoup_at_the_extremes(arithmetic: str, q: int) -> None:
    radix = 1 << WORD_BITS[arithmetic]
    # The quotient leaves out w R mod q, here as much as it can, and the product's what the shift drops.
    worst = -pow(radix, -1, q) % q
    dropped = {v: v * (worst * radix // q) % radix for v in range(radix - 1000, radix)}
    factors = sorted({0, 1, 2, q // 2, q - 2, q - 1, worst})
    words = [0, 1, q - 1, q, 2 * q - 1, 2 * q, 4 * q - 1, radix // 2, radix - 2, radix - 1]
    words.append(max(dropped, key=lambda v: dropped[v]))
    pairs = [(v, w) for v in words for w in factors]
    results = shoup_everywhere(arithmetic, q, pairs)
    for (v, w), result in zip(pairs, results, strict=True):
        assert result % q == v * w % q
        assert result < 2 * q
        assert result == v * w - v * (w * radix // q) // radix * q
    # The interval is sharp.
    assert q < 1000 or max(results) > 2 * q - q // 100


@pytest.mark.parametrize(("arithmetic", "q"), MODULI)
def test_sums_differences_reductions(arithmetic: str, q: int) -> None:
    ends = [0, 1, q - 1, q, 2 * q - 1]
    pairs = [(a, b) for a in ends for b in ends]
    sums = run_everywhere(arithmetic, q, "zq.add %a, %b mod %m", pairs)
    assert sums == [a + b for a, b in pairs]
    differences = run_everywhere(arithmetic, q, "zq.sub %a, %b mod %m offset 2", pairs)
    assert differences == [a - b + 2 * q for a, b in pairs]
    words = [(v, 0) for v in (*ends, 2 * q, 3 * q - 1, 3 * q, 4 * q - 1)]
    for to, subtracted in ((1, (2, 1)), (2, (2,)), (3, (3,)), (4, ())):
        got = run_everywhere(arithmetic, q, f"zq.reduce %a mod %m from 4 to {to}", words)
        for (value, _), result in zip(words, got, strict=True):
            for step in subtracted:
                value -= step * q if value >= step * q else 0
            assert result == value < to * q


def test_multiples_of_q_are_computed_once_next_to_the_modulus() -> None:
    text = zq_kernel("mont64", 4, "zq.sub %a, %b mod %m offset 2")
    text = text.replace(
        "kernel.store %r,",
        """%s = zq.sub %r, %b mod %m offset 2 : i64, !zq.modulus<mont64>
           %t = zq.reduce %s mod %m from 6 to 2 : i64, !zq.modulus<mont64>
           kernel.store %t,""",
    )
    names = [op.name for op in only_kernel(converted(parse(text))).body.block.ops]
    assert names.count("arith.muli") == 2  # 2q and 3q
    assert max(k for k, name in enumerate(names) if name == "arith.muli") < names.index(
        "arith.subi"
    )


def test_ops_in_loops_are_expanded() -> None:
    text = zq_kernel("mont32", 4, "zq.add %a, %b mod %m").replace(
        "kernel.store %r,",
        """%c5 = arith.constant 5 : i64
        %u = scf.for %i = %c0 to %c5 step %c1 iter_args(%v = %r) -> (i32) : i64 {
          %w = zq.add %v, %b mod %m : i32, !zq.modulus<mont32>
          scf.yield %w : i32
        }
        kernel.store %u,""",
    )
    machine = converted(parse(text))
    assert not any(op.name.startswith("zq.") for op in machine.walk())
    out = np.zeros(4, np.int32)
    x, y = np.arange(4, dtype=np.int32), np.full(4, 10, np.int32)
    run_kernel(only_kernel(machine), (1,), [x, y, out, array([97, pow(97, -1, 2**32)], 32)])
    assert out.tolist() == [60, 61, 62, 63]


def test_locations_and_names_survive() -> None:
    module = parse(zq_kernel("mont64", 4, "zq.mul %a, %b mod %m"))
    mul = next(op for op in module.walk() if op.name == "zq.mul")
    location = mul.location = file_location("a.mlir", 3, 7)
    ConvertZqToArith().apply(make_context(), module)
    ops = [op for op in module.walk() if op.location is location]
    assert len(ops) == 5
    assert ops[-1].results[0].name_hint == "r"


def test_zq_outside_of_a_kernel_is_an_error() -> None:
    module = parse(
        """builtin.module {
          %q = arith.constant 17 : i64
          %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
        }"""
    )
    with pytest.raises(FheliumError, match=r"'zq\.modulus' is outside of a kernel\.func"):
        ConvertZqToArith().apply(make_context(), module)


def test_a_modulus_of_unknown_origin_is_an_error() -> None:
    module = parse(
        """kernel.func @k(%m : !zq.modulus<mont64>) lanes [1] grid 1 {
          %c0 = arith.constant 0 : i64
          %s = zq.add %c0, %c0 mod %m : i64, !zq.modulus<mont64>
          kernel.return
        }"""
    )
    with pytest.raises(FheliumError, match=r"must come from a zq\.modulus"):
        ConvertZqToArith().apply(make_context(), module)
