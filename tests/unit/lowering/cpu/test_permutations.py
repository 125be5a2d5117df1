"""Loads through an index permutation that keeps aligned blocks: the words of a gather, without one."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu import jit
from fhelium_ir.lowering.cpu.binding import Machine, assembly
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.llvm_text import module_text
from fhelium_ir.lowering.cpu.object_cache import ObjectCache

Parse = Callable[[str], ModuleOp]

DEGREE = 256
MACHINES = {
    512: Machine("x86_64-unknown-linux-gnu", "x86-64-v4"),
    256: Machine("x86_64-unknown-linux-gnu", "haswell"),
    128: Machine("aarch64-unknown-linux-gnu", "generic", "+neon"),
}
INSTRUCTION = {
    (512, 64): r"vpermpd|vpermq",
    (512, 32): r"vpermps|vpermd",
    (256, 64): "vpermps|vpermd",
}
DTYPES = {"i32": torch.int32, "i64": torch.int64, "f64": torch.float64}


def automorphism(galois: int) -> list[int]:
    """Where each element of the result stands in the operand, in bit-reversed order."""
    bits = DEGREE.bit_length() - 1

    def reverse(i: int) -> int:
        return int(f"{i:0{bits}b}"[::-1], 2)

    return [reverse((galois * (2 * reverse(j) + 1) % (2 * DEGREE) - 1) // 2) for j in range(DEGREE)]


def moved(word: str, blocks: int, shift: int = 0, mask: bool = False) -> str:
    """Moves row 1 of x through the permutation p, `shift` elements later."""
    table, buffer = "!kernel.buffer<i32>", f"!kernel.buffer<{word}>"
    attribute = f"{{blocks = {blocks} : i64}} " if blocks > 1 else ""
    masked = "mask %on " if mask else ""
    return f"""
kernel.func @f(%p : {table}, %x : {buffer}, %y : {buffer}, %n : i64) lanes [64] grid 1 {{
  %l = kernel.lane_id 0
  %k = kernel.program_id 0
  %c6 = arith.constant 6 : i64
  %zero = arith.constant 0 : i64
  %shift = arith.constant {shift} : i64
  %row = arith.constant {DEGREE} : i64
  %first = arith.shli %k, %c6 : i64
  %i = arith.addi %first, %l : i64
  %j = arith.addi %i, %shift : i64
  %e = kernel.load %p[%j] {attribute}: {table} -> i32
  %w = arith.extsi %e : i32 to i64
  %at = arith.addi %row, %w : i64
  %on = arith.cmpi sgt, %n, %zero : i64
  %v = kernel.load %x[%at] {masked}: {buffer} -> {word}
  kernel.store %v, %y[%i] : {word}, {buffer}
  kernel.return
}}"""


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("word", ["i32", "i64", "f64"])
@pytest.mark.parametrize("mask", [False, True])
def test_moves_the_words_that_the_table_says(
    parse: Parse, monkeypatch: pytest.MonkeyPatch, bits: int, word: str, mask: bool
) -> None:
    if bits > jit.vector_bits():
        pytest.skip("this processor has shorter vectors")
    module = parse(moved(word, 16, mask=mask))
    monkeypatch.setattr(jit, "vector_bits", lambda: bits)
    kernels = CpuKernels(module, cache=ObjectCache(None))
    x = torch.arange(2 * DEGREE).to(DTYPES[word]) * 3
    for galois in (1, 3, 5, 25, 2 * DEGREE - 1, 5 * DEGREE // 4 + 1):
        table = automorphism(galois)
        for n in (1, 0) if mask else (1,):
            y = torch.full((DEGREE,), -1, dtype=DTYPES[word])
            places = torch.tensor(table, dtype=torch.int32)
            kernels.launch("f", [DEGREE // 64], [places, x, y, n])
            assert torch.equal(y, n * x[DEGREE + np.array(table)])


def code(parse: Parse, text: str, bits: int) -> str:
    func = parse(text).body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    machine = MACHINES[bits]
    return assembly(machine.header() + module_text({"f": func}, bits), machine)


@pytest.mark.parametrize(("bits", "word"), [(512, "f64"), (512, "i64"), (512, "i32"), (256, "i64")])
def test_a_block_takes_one_instruction_to_permute(parse: Parse, bits: int, word: str) -> None:
    text = code(parse, moved(word, 16), bits)
    assert "gather" not in text
    assert any(name in text for name in INSTRUCTION[bits, int(word[1:])].split("|"))


@pytest.mark.parametrize(("blocks", "shift"), [(1, 0), (4, 0), (16, 4)])
def test_other_vectors_are_gathered(parse: Parse, blocks: int, shift: int) -> None:
    """Nothing is known of the table, only of shorter blocks than vectors, or vectors are no aligned blocks."""
    assert "gather" in code(parse, moved("i64", blocks, shift), 512)


def test_a_processor_without_the_instruction(parse: Parse) -> None:
    assert "tbl" not in code(parse, moved("i64", 16), 128)
