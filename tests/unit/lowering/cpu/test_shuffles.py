"""Transpositions in registers: what lanes read and write side by side, for all strides, lengths and vectors."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu import jit
from fhelium_ir.lowering.cpu.binding import host_header, optimized_text
from fhelium_ir.lowering.cpu.code import Code, Names, Value, integer
from fhelium_ir.lowering.cpu.jit import native_text
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.object_cache import ObjectCache
from fhelium_ir.lowering.cpu.shuffles import deinterleave, interleave, transpose

Parse = Callable[[str], ModuleOp]


def run(code: Code, vectors: dict[str, list[int]]) -> dict[str, list[int]]:
    """What the shuffles make of vectors of numbers."""
    known = dict(vectors)
    for line in code.lines:
        name, _, text = line.strip().partition(" = ")
        words = text.replace(",", " ").replace("<", " ").replace(">", " ").split()
        assert words[0] == "shufflevector"
        lhs, rhs = (word for word in words if word.startswith("%"))
        places = [int(a) for b, a in pairwise(words) if b == "i32" and a.isdigit()]
        both = known[lhs] + known[rhs]
        known[name] = [both[place] for place in places]
    return known


def vectors_of(count: int, lanes: int) -> tuple[list[Value], dict[str, list[int]]]:
    values = [Value(f"%x{k}", "i64", lanes) for k in range(count)]
    return values, {f"%x{k}": list(range(k * lanes, (k + 1) * lanes)) for k in range(count)}


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_transpose(lanes: int) -> None:
    code = Code(Names(), "entry")
    values, numbers = vectors_of(lanes, lanes)
    columns = transpose(code, values)
    known = run(code, numbers)
    assert [known[c.name] for c in columns] == np.arange(lanes**2).reshape(-1, lanes).T.tolist()
    assert len(code.lines) == lanes * (lanes.bit_length() - 1)


@pytest.mark.parametrize("lanes", [2, 4, 8])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_deinterleave_and_back(lanes: int, count: int) -> None:
    code = Code(Names(), "entry")
    values, numbers = vectors_of(count, lanes)
    words = deinterleave(code, values)
    back = interleave(code, words)
    known = run(code, numbers)
    for r, word in enumerate(words):
        assert known[word.name] == list(range(r, lanes * count, count))
    assert [known[value.name] for value in back] == list(numbers.values())


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_words_are_widened_and_narrowed_again(lanes: int) -> None:
    """LLVM folds both: of two lanes the halves are scalars."""
    code = Code(Names(), "entry")
    words = ", ".join(f"i32 {7 * k - 5}" for k in range(lanes))
    wide = code.widen(Value(f"<{words}>", "i32", lanes))
    back = code.narrow(code.binary("add", wide, code.splat(integer(2), lanes)))
    lines = [f"define {back.type} @f() {{", "entry:", *code.lines, f"  ret {back.typed}", "}"]
    text = optimized_text(host_header() + "\n".join(lines))
    expected = ", ".join(f"i32 {7 * k - 3}" for k in range(lanes))
    assert f"ret <{lanes} x i32> <{expected}>" in text


def strided(count: int, stride: int, lanes: int, write: bool) -> str:
    """Moves `count` words of each lane, `stride` apart from lane to lane, to or from planes of lanes."""
    lines = ["%l = kernel.lane_id 0", f"%s = arith.constant {stride} : i64"]
    lines.append("%far = arith.muli %l, %s : i64")
    for r in range(count):
        lines.append(f"%r{r} = arith.constant {r} : i64")
        lines.append(f"%p{r} = arith.constant {r * lanes} : i64")
        lines.append(f"%i{r} = arith.addi %far, %r{r} : i64")
        lines.append(f"%j{r} = arith.addi %l, %p{r} : i64")
    a, b = ("j", "i") if write else ("i", "j")
    lines += [f"%v{r} = kernel.load %x[%{a}{r}] : !kernel.buffer<i64> -> i64" for r in range(count)]
    lines += [f"kernel.store %v{r}, %y[%{b}{r}] : i64, !kernel.buffer<i64>" for r in range(count)]
    body = "\n".join([*lines, "kernel.return"])
    buffers = "%x : !kernel.buffer<i64>, %y : !kernel.buffer<i64>"
    return f"kernel.func @f({buffers}) lanes [{lanes}] grid 1 {{\n{body}\n}}"


@pytest.mark.parametrize("bits", [128, 256, 512])
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    ("count", "stride", "lanes"),
    [
        (2, 2, 16),
        (4, 4, 16),
        (8, 8, 8),
        (16, 16, 16),
        (8, 24, 16),
        (3, 4, 16),
        (9, 11, 8),
        (1, 5, 8),
    ],
)
def test_words_side_by_side(
    parse: Parse,
    monkeypatch: pytest.MonkeyPatch,
    bits: int,
    write: bool,
    count: int,
    stride: int,
    lanes: int,
) -> None:
    """All vectors give the same words, transposed or gathered, also where LLVM has to split them."""
    module = parse(strided(count, stride, lanes, write))
    monkeypatch.setattr(jit, "vector_bits", lambda: bits)
    kernels = CpuKernels(module, cache=ObjectCache(None))
    near = torch.arange(count * lanes).reshape(count, lanes) + 1
    far = torch.zeros(lanes, stride, dtype=torch.int64)
    far[:, :count] = near.T
    source, target, want = (near, torch.zeros_like(far), far) if write else (far, near * 0, near)
    kernels.launch("f", [1], [source, target])
    assert torch.equal(target, want)


@pytest.mark.parametrize("write", [False, True])
def test_whole_rows_are_not_gathered(parse: Parse, write: bool) -> None:
    func = parse(strided(16, 32, 16, write)).body.block.first_op
    assert isinstance(func, kernel.FuncOp)
    text = optimized_text(native_text(func, "f"))
    assert "gather" not in text and "scatter" not in text
