"""Single operations of a kernel on words or vectors of lanes, written at the end of some code."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.lowering.cpu.code import NATURAL, SPLIT, Code, Value, element_type, integer, real
from fhelium_ir.lowering.cpu.wide_products import UPPER_WORD

_BINARY: dict[type[Operation], str] = {
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
    arith.ShLIOp: "shl",
    arith.ShRUIOp: "lshr",
    arith.ShRSIOp: "ashr",
    arith.AddfOp: "fadd",
    arith.SubfOp: "fsub",
    arith.MulfOp: "fmul",
    arith.DivfOp: "fdiv",
}

_CHOICES: dict[type[Operation], str] = {
    arith.MinUIOp: "ult",
    arith.MaxUIOp: "ugt",
    arith.MinSIOp: "slt",
    arith.MaxSIOp: "sgt",
    arith.MinimumfOp: "olt",
    arith.MaximumfOp: "ogt",
    arith.MinnumfOp: "olt",
    arith.MaxnumfOp: "ogt",
}

_CASTS: dict[type[Operation], str] = {
    arith.ExtUIOp: "zext",
    arith.ExtSIOp: "sext",
    arith.TruncIOp: "trunc",
    arith.SIToFPOp: "sitofp",
    arith.UIToFPOp: "uitofp",
    arith.FPToSIOp: "fptosi",
    arith.FPToUIOp: "fptoui",
    arith.ExtFOp: "fpext",
    arith.TruncFOp: "fptrunc",
    arith.BitcastOp: "bitcast",
    arith.IndexCastOp: "",
}

_CALLS: dict[type[Operation], str] = {
    math.FmaOp: "llvm.fma",
    math.AbsFOp: "llvm.fabs",
    math.FloorOp: "llvm.floor",
    math.RoundEvenOp: "llvm.roundeven",
}

_LINEAR: frozenset[type[Operation]] = frozenset(
    (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp, arith.ConstantOp)
)

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_FLOAT_PREDICATES = tuple(
    [
        "false",
        "oeq",
        "ogt",
        "oge",
        "olt",
        "ole",
        "one",
        "ord",
        "ueq",
        "ugt",
        "uge",
        "ult",
        "ule",
        "une",
        "uno",
        "true",
    ]
)


def constant_of(op: arith.ConstantOp) -> Value:
    """The constant as a literal."""
    element = element_type(op.result.type)
    if element is not None and isinstance(op.value, IntegerAttr):
        return integer(op.value.value.data, element)
    if element is not None and isinstance(op.value, FloatAttr):
        return real(op.value.value.data, element)
    raise unsupported(op)


def convert(op: Operation, operands: Sequence[Value], code: Code) -> list[Value]:
    """Converts an operation without regions and effects.

    Args:
        operands: all of one number of lanes, but for the condition of a select.

    Returns:
        Its results.

    Raises:
        FheliumError: the operation has no place in a kernel for the CPU.
    """
    operands, order = code.aligned(operands)
    if (reordered := _between_widths(op, operands, code)) is not None:
        return [reordered]
    return [result._replace(order=order) for result in _convert(op, operands, code)]


def _between_widths(op: Operation, operands: Sequence[Value], code: Code) -> Value | None:
    """A conversion between 32 and 64 bits that changes the order of lanes."""
    kind = type(op)
    if kind is arith.ExtUIOp and _pays(operands[0]) and _widths(op) == ("i32", "i64"):
        return code.widen(operands[0])
    if (
        kind is arith.ExtSIOp
        and _pays(operands[0])
        and _widths(op) == ("i32", "i64")
        # Signed words that are multiplied; others are indices.
        and all(type(use.operation) is arith.MuliOp for use in op.results[0].uses)
    ):
        return code.widen_signed(operands[0])
    if kind is arith.TruncIOp and operands[0].order == SPLIT and _widths(op) == ("i64", "i32"):
        return code.narrow(operands[0])
    return None


def _widths(op: Operation) -> tuple[str | None, str | None]:
    return element_type(op.operands[0].type), element_type(op.results[0].type)


def _convert(op: Operation, operands: Sequence[Value], code: Code) -> list[Value]:
    kind = type(op)
    if (binary := _BINARY.get(kind)) is not None:
        return [code.binary(binary, *operands)]
    match op:
        case arith.MulUIExtendedOp():
            return _wide_product(op, operands, code)
        case arith.CmpiOp():
            return [code.compare(_PREDICATES[op.predicate.value.data], *operands)]
        case arith.CmpfOp():
            return [code.compare(_FLOAT_PREDICATES[op.predicate.value.data], *operands)]
        case arith.SelectOp():
            return [code.select(*operands)]
        case _:
            pass
    elements = [element_type(result.type) for result in op.results]
    if len(elements) != 1 or elements[0] in (None, "ptr"):
        raise unsupported(op)
    element = elements[0]
    if (predicate := _CHOICES.get(kind)) is not None:
        return [code.select(code.compare(predicate, *operands), *operands)]
    if (cast := _CASTS.get(kind)) is not None:
        if element == operands[0].element:
            return [operands[0]]
        if isinstance(op, arith.IndexCastOp):
            cast = "sext" if int(operands[0].element[1:]) < int(element[1:]) else "trunc"
        return [code.cast(cast, operands[0], element)]
    if (name := _CALLS.get(kind)) is not None:
        return [_intrinsic(name, operands, code)]
    if isinstance(op, arith.NegfOp):
        value = operands[0]
        return [code.emit(f"fneg {value.typed}", value.element, value.lanes)]
    raise unsupported(op)


def _pays(value: Value) -> bool:
    """Whether 32-bit words are widened by halves: vectors whose lanes differ."""
    return value.lanes >= 4 and value.order == NATURAL


def _intrinsic(name: str, operands: Sequence[Value], code: Code) -> Value:
    first = operands[0]
    suffix = {"double": "f64", "float": "f32"}[first.element]
    vector = f"v{first.lanes}" if first.lanes > 1 else ""
    return code.call(f"{name}.{vector}{suffix}", first.element, first.lanes, operands)


def unsupported(op: Operation) -> FheliumError:
    hint = "; run convert-zq-to-arith first" if op.name.startswith("zq.") else ""
    return FheliumError(f"{op.name} is not supported on the cpu target{hint}", location_of(op))


def _wide_product(op: arith.MulUIExtendedOp, operands: Sequence[Value], code: Code) -> list[Value]:
    lhs, rhs = operands
    if not lhs.element.startswith("i") or int(lhs.element[1:]) > 64:
        raise unsupported(op)
    width = int(lhs.element[1:])
    low = code.binary("mul", lhs, rhs) if op.low.uses else integer(0, lhs.element)
    if not op.high.uses:
        return [low, low]
    if width == 64:
        name = UPPER_WORD if lhs.lanes == 1 else f"{UPPER_WORD}.{lhs.lanes}"
        return [low, code.call(name, lhs.element, lhs.lanes, operands)]
    wide = [code.cast("zext", operand, "i64") for operand in operands]
    shift = code.splat(integer(width), lhs.lanes)
    high = code.binary("lshr", code.binary("mul", *wide), shift)
    return [low, code.cast("trunc", high, lhs.element)]


def linear(op: Operation) -> bool:
    """Whether an operation may be part of an offset only, which `addresses` computes by itself."""
    return type(op) in _LINEAR
