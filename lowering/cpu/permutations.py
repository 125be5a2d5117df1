"""Loads through an index permutation that keeps aligned blocks: a vector of neighbours is one block, permuted.

A gather takes one access for each lane; a block takes one for all, and processors permute the lanes of a vector by
numbers in another one.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offset, Offsets, Root
from fhelium_ir.lowering.cpu.code import Code, Value, integer, size_of


@dataclass(frozen=True)
class BlockOffset:
    """An offset `rest` + what `index` loads; the entries that the lanes of a vector load are those of one block."""

    index: kernel.LoadOp
    rest: Offset


def block_offset(
    offset: Offset, offsets: Offsets, inner: int, depends: frozenset[SSAValue], lanes: int
) -> BlockOffset | None:
    """Takes an offset apart; None if it is none of this kind.

    Args:
        inner: the axis along which the lanes of a vector stand; the first one's position is a multiple of `lanes`.
        depends: the roots of the offset that differ along it.
    """
    if len(depends) != 1 or offset.factor(inner):
        return None
    (root,) = depends
    cast = root.owner
    if offset.factor(root) != 1 or not isinstance(cast, arith.ExtSIOp | arith.ExtUIOp):
        return None
    index = cast.input.owner
    if not isinstance(index, kernel.LoadOp) or index.mask is not None or index.kept_blocks < lanes:
        return None
    place = offsets.of(index.offset)
    others = [(other, factor) for other, factor in place.terms if other != inner]
    if place.factor(inner) != 1 or place.constant % lanes:
        return None
    if any(factor * _divisor(other) % lanes for other, factor in others):
        return None
    terms = tuple(term for term in offset.terms if term[0] is not root)
    return BlockOffset(index, Offset(offset.constant, terms))


def _divisor(root: Root) -> int:
    """A power of two that divides a value."""
    if isinstance(root, int):
        return 1
    op = root.owner
    match op:
        case arith.AddiOp() | arith.SubiOp():
            return min(_divisor(op.lhs), _divisor(op.rhs))
        case arith.ShLIOp() | arith.MuliOp() if (number := _number(op.rhs)) is not None:
            if isinstance(op, arith.ShLIOp):
                return _divisor(op.lhs) << (number & 63)
            return _divisor(op.lhs) * (number & -number or 1)
        case arith.ConstantOp():
            number = _number(root) or 0
            return number & -number or 1
        case _:
            return 1


def _number(value: SSAValue) -> int | None:
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return op.value.value.data
    return None


def can_permute(element: str, lanes: int, vector_bits: int) -> bool:
    """Whether a processor with vectors of so many bits has the instruction; only x86 has vectors of 256 and more."""
    return vector_bits >= 256 and lanes * size_of(element) * 8 == vector_bits


def block_start(code: Code, index: Value) -> Value:
    """Where the block begins that the lanes' indices are of."""
    first = code.emit(f"extractelement {index.typed}, i64 0", index.element)
    block = code.binary("and", first, integer(-index.lanes, index.element))
    return block if block.element == "i64" else code.cast("sext", block, "i64")


def permute(code: Code, words: Value, index: Value) -> Value:
    """Lane k of the result is lane `index[k]` of the words, modulo the number of lanes.

    Args:
        words: a vector register.
        index: 32-bit words, as many.
    """
    bits = words.lanes * size_of(words.element) * 8
    wide = size_of(words.element) == 8
    if bits == 512 and wide:
        kind = "df" if words.element == "double" else "di"
        numbers = code.cast("sext", index, "i64")
        name = f"llvm.x86.avx512.permvar.{kind}.512"
        return code.call(name, words.element, words.lanes, [words, numbers])
    if wide:
        index = _halves(code, index)
    count = index.lanes
    name = "llvm.x86.avx512.permvar.si.512" if bits == 512 else "llvm.x86.avx2.permd"
    halves = Value(words.name, words.element, words.lanes)
    if words.element != "i32":
        halves = code.emit(f"bitcast {words.typed} to <{count} x i32>", "i32", count)
    result = code.call(name, "i32", count, [halves, index])
    if words.element == "i32":
        return result
    return code.emit(f"bitcast {result.typed} to {words.type}", words.element, words.lanes)


def _halves(code: Code, index: Value) -> Value:
    """Numbers of 32-bit words: 2 k and 2 k + 1 for each k."""
    places = [lane // 2 for lane in range(2 * index.lanes)]
    doubled = code.shuffle(index, index, places)
    doubled = code.add(doubled, doubled)
    odd = ", ".join(f"i32 {lane % 2}" for lane in range(doubled.lanes))
    return code.binary("or", doubled, Value(f"<{odd}>", "i32", doubled.lanes, True))
