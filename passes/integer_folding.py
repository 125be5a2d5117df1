"""Values of integer and index ops of `arith`, as Python integers of their width."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of

INDEX_BITS = 64
"""Width of `index`."""

Fold: TypeAlias = "Callable[[int, int, int], int]"
"""Of two operands as signed integers and their width."""


def width(type_: Attribute) -> int | None:
    """Bits of an integer or index type, None for any other type."""
    if isinstance(type_, IndexType):
        return INDEX_BITS
    return type_.bitwidth if isinstance(type_, IntegerType) else None


def wrapped(value: int, bits: int) -> int:
    """The signed integer of that width that is equal modulo 2^bits; of width 1, 0 or 1."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if bits > 1 and value >> (bits - 1) else value


def _unsigned(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def _truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


_SIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.DivSIOp: _truncated,
    arith.FloorDivSIOp: lambda a, b: a // b,
    arith.CeilDivSIOp: lambda a, b: -(-a // b),
    arith.RemSIOp: lambda a, b: a - b * _truncated(a, b),
    arith.MinSIOp: min,
    arith.MaxSIOp: max,
    arith.AndIOp: lambda a, b: a & b,
    arith.OrIOp: lambda a, b: a | b,
    arith.XOrIOp: lambda a, b: a ^ b,
}

_UNSIGNED: dict[type[Operation], Callable[[int, int], int]] = {
    arith.DivUIOp: lambda a, b: a // b,
    arith.CeilDivUIOp: lambda a, b: -(-a // b),
    arith.RemUIOp: lambda a, b: a % b,
    arith.MinUIOp: min,
    arith.MaxUIOp: max,
}

_SHIFTS = (arith.ShLIOp, arith.ShRSIOp, arith.ShRUIOp)

_DIVISIONS = (
    arith.DivSIOp,
    arith.DivUIOp,
    arith.FloorDivSIOp,
    arith.CeilDivSIOp,
    arith.CeilDivUIOp,
    arith.RemSIOp,
    arith.RemUIOp,
)

_CASTS = (arith.IndexCastOp, arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)

_COMPARISONS: tuple[Callable[[int, int], bool], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)


def folds(op: Operation) -> bool:
    """Whether `fold` has a rule for the op, once its operands are known."""
    kind = type(op)
    if isinstance(op, arith.ConstantOp):
        return isinstance(op.value, IntegerAttr)
    return kind in _SIGNED or kind in _UNSIGNED or kind in (*_SHIFTS, *_CASTS, arith.CmpiOp)


def fold(op: Operation, operands: Sequence[int]) -> int:
    """The result of an integer op, in the range of its type.

    Raises:
        FheliumError: a division by zero, or a shift by too much.
    """
    bits = width(op.results[0].type)
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        return wrapped(op.value.value.data, bits or INDEX_BITS)
    assert bits is not None
    from_bits = width(op.operands[0].type)
    assert from_bits is not None
    if isinstance(op, _CASTS):
        unsigned = isinstance(op, arith.ExtUIOp)
        return wrapped(_unsigned(operands[0], from_bits) if unsigned else operands[0], bits)
    a, b = operands
    if isinstance(op, arith.CmpiOp):
        predicate = op.predicate.value.data
        if predicate >= 6:
            a, b, predicate = _unsigned(a, from_bits), _unsigned(b, from_bits), predicate - 4
        elif from_bits == 1:
            a, b = -a, -b
        return int(_COMPARISONS[predicate](a, b))
    if isinstance(op, _DIVISIONS) and b == 0:
        raise FheliumError(f"{op.name}: division by zero", location_of(op))
    if isinstance(op, _SHIFTS):
        return wrapped(_shifted(op, a, b, bits), bits)
    if type(op) in _UNSIGNED:
        return wrapped(_UNSIGNED[type(op)](_unsigned(a, bits), _unsigned(b, bits)), bits)
    return wrapped(_SIGNED[type(op)](a, b), bits)


def _shifted(op: Operation, a: int, b: int, bits: int) -> int:
    if not 0 <= b < bits:
        raise FheliumError(f"{op.name}: shift of {bits} bits by {b}", location_of(op))
    if isinstance(op, arith.ShLIOp):
        return a << b
    return (_unsigned(a, bits) if isinstance(op, arith.ShRUIOp) else a) >> b
