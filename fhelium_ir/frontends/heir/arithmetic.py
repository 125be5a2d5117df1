"""Handlers of `arith` and `math` ops, on numbers and tensors of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir.machine import (
    Handler,
    Machine,
    Node,
    Quick,
    QuickMaker,
    element_type,
)

Binary: TypeAlias = "Callable[[Any, Any], Any]"


def _element_type(type_: Attribute) -> Attribute:
    return element_type(type_) or type_


def _width(op: Operation, index: int = 0) -> int:
    """Bits of the operand's integers; an index has 64."""
    return _width_of(_element_type(op.operands[index].type)) or 64


def wrap(value: Any, width: int) -> Any:
    """The signed integer of so many bits; one bit is 0 or 1."""
    if width == 1:
        return value & 1
    half = 1 << (width - 1)
    return ((value + half) & ((1 << width) - 1)) - half


def unsigned(value: Any, width: int) -> Any:
    """The same bits, not negative."""
    return value & ((1 << width) - 1)


def _integer(function: Binary, sign: bool = True) -> Handler:
    def handler(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
        left, right = values
        if type(left) is int and type(right) is int and sign:
            result = function(left, right)
            if -(1 << 31) <= result < 1 << 31 and _width(node.op) >= 32:
                return (result,)
            return (wrap(result, _width(node.op)),)
        width = _width(node.op)
        if not sign:
            left, right = unsigned(left, width), unsigned(right, width)
        return (wrap(function(left, right), width),)

    return handler


def _divide(left: Any, right: Any) -> Any:
    """Division that rounds towards zero."""
    quotient: Any = abs(left) // abs(right)
    negative: Any = (left < 0) != (right < 0)
    if _is_array(quotient):
        return cast("Any", np.where(negative, -quotient, quotient))
    return -quotient if negative else quotient


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def _remainder(left: Any, right: Any) -> Any:
    return left - _divide(left, right) * right


def _ceiling(left: Any, right: Any) -> Any:
    return -(-left // right)


def _shift_left(left: int, right: int) -> int:
    if not 0 <= right < 64:
        raise FheliumError(f"a shift by {right} bits")
    return left << right


def _float(function: Binary) -> Handler:
    def handler(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
        return (_plain(function(values[0], values[1])),)

    return handler


def _unary(function: Callable[[Any], Any]) -> Handler:
    def handler(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
        return (_plain(function(values[0])),)

    return handler


def _plain(value: Any) -> Any:
    """A number of numpy as one of Python."""
    return cast("Any", value.item() if isinstance(value, np.generic) else value)


def _maximum(left: Any, right: Any) -> Any:
    # numpy would make floats of integers beyond 63 bits.
    return np.maximum(left, right) if _is_array(left) or _is_array(right) else max(left, right)


def _minimum(left: Any, right: Any) -> Any:
    return np.minimum(left, right) if _is_array(left) or _is_array(right) else min(left, right)


_SIGNED: tuple[Binary, ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)
"""Predicates 0 to 5 of arith.cmpi; 6 to 9 are the last four on unsigned numbers."""

_FLOATS: dict[int, Binary] = {
    1: lambda a, b: a == b,
    2: lambda a, b: a > b,
    3: lambda a, b: a >= b,
    4: lambda a, b: a < b,
    5: lambda a, b: a <= b,
    6: lambda a, b: a != b,
}
"""Ordered predicates of arith.cmpf; 8 to 13 are their unordered forms, the same on numbers."""


def _compare_integers(
    machine: Machine, node: Node, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    predicate, (left, right) = node.integer("predicate"), values
    if predicate >= 6:
        width = _width(node.op)
        left, right = unsigned(left, width), unsigned(right, width)
        predicate -= 4
    return (_truth(_SIGNED[predicate](left, right)),)


def _compare_floats(
    machine: Machine, node: Node, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    predicate, (left, right) = node.integer("predicate"), values
    compare = _FLOATS.get(predicate - 7 if predicate >= 8 else predicate)
    if compare is None:
        raise FheliumError(f"arith.cmpf: predicate {predicate} is not supported")
    return (_truth(compare(left, right)),)


def _truth(value: Any) -> Any:
    return value.astype(np.int64) if _is_array(value) else int(value)


def _constant(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    value = node.attributes.get("value")
    if isinstance(value, bool):
        value = int(value)
    if not (isinstance(value, int | float) or _is_array(value)):
        raise FheliumError(f"arith.constant: cannot read the value {value}")
    width = _width_of(node.op.results[0].type)
    if isinstance(value, int) and width:
        value = wrap(value, width)
    return (value,)


def _width_of(type_: Attribute) -> int:
    """Bits of an integer type, 0 for another type."""
    return cast("IntegerType", type_).width.data if isinstance(type_, IntegerType) else 0


def _select(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    condition, yes, no = values
    if _is_array(condition):
        return (cast("Any", np.where(condition != 0, yes, no)),)
    return (yes if condition else no,)


def _cast(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    """Any conversion between integers, indices and floats."""
    value, name = values[0], node.name
    source = _element_type(node.op.operands[0].type)
    target = _element_type(node.op.results[0].type)
    if isinstance(source, IntegerType | IndexType):
        if name.endswith(("ui", "uitofp")):
            value = unsigned(value, _width(node.op))
        elif _width(node.op) == 1:
            # One bit is stored as 0 or 1; its signed value is 0 or -1.
            value = -value
    array = _is_array(value)
    if isinstance(target, AnyFloat):
        return (value.astype(np.float64) if array else float(value),)
    if isinstance(source, AnyFloat):
        value = np.trunc(value).astype(np.int64) if array else int(value)
    return (wrap(value, _width_of(target) or 64),)


def _same(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (values[0],)


HANDLERS: dict[str, Handler] = {
    "arith.constant": _constant,
    "arith.addi": _integer(lambda a, b: a + b),
    "arith.subi": _integer(lambda a, b: a - b),
    "arith.muli": _integer(lambda a, b: a * b),
    "arith.divsi": _integer(_divide),
    "arith.divui": _integer(lambda a, b: a // b, sign=False),
    "arith.floordivsi": _integer(lambda a, b: a // b),
    "arith.ceildivsi": _integer(_ceiling),
    "arith.ceildivui": _integer(_ceiling, sign=False),
    "arith.remsi": _integer(_remainder),
    "arith.remui": _integer(lambda a, b: a % b, sign=False),
    "arith.maxsi": _integer(_maximum),
    "arith.minsi": _integer(_minimum),
    "arith.maxui": _integer(_maximum, sign=False),
    "arith.minui": _integer(_minimum, sign=False),
    "arith.andi": _integer(lambda a, b: a & b),
    "arith.ori": _integer(lambda a, b: a | b),
    "arith.xori": _integer(lambda a, b: a ^ b),
    "arith.shli": _integer(_shift_left),
    "arith.shrsi": _integer(lambda a, b: a >> b),
    "arith.shrui": _integer(lambda a, b: a >> b, sign=False),
    "arith.cmpi": _compare_integers,
    "arith.cmpf": _compare_floats,
    "arith.select": _select,
    "arith.addf": _float(lambda a, b: a + b),
    "arith.subf": _float(lambda a, b: a - b),
    "arith.mulf": _float(lambda a, b: a * b),
    "arith.divf": _float(lambda a, b: a / b),
    "arith.negf": _unary(lambda a: -a),
    "arith.maximumf": _float(_maximum),
    "arith.minimumf": _float(_minimum),
    "arith.maxnumf": _float(_maximum),
    "arith.minnumf": _float(_minimum),
    "math.absf": _unary(np.abs),
    "math.sqrt": _unary(np.sqrt),
    "math.exp": _unary(np.exp),
    "arith.index_cast": _cast,
    "arith.index_castui": _cast,
    "arith.extsi": _cast,
    "arith.extui": _cast,
    "arith.trunci": _cast,
    "arith.sitofp": _cast,
    "arith.uitofp": _cast,
    "arith.fptosi": _cast,
    "arith.extf": _same,
    "arith.truncf": _same,
}


def _quick(function: Binary) -> QuickMaker:
    """The short way for two signed integers, not tensors."""

    def maker(op: Operation, operands: tuple[int, ...]) -> Quick | None:
        type_ = op.operands[0].type
        if not isinstance(type_, IntegerType | IndexType):
            return None
        left, right = operands
        half = 1 << (_width(op) - 1)

        def run(frame: list[Any]) -> Any:
            value = function(frame[left], frame[right])
            if not -half <= value < half:
                raise OverflowError
            return value

        return None if half == 1 else run

    return maker


def _quick_cast(op: Operation, operands: tuple[int, ...]) -> Quick | None:
    if not isinstance(op.operands[0].type, IntegerType | IndexType) or _width(op) == 1:
        return None
    (operand,) = operands
    half = 1 << ((_width_of(op.results[0].type) or 64) - 1)

    def run(frame: list[Any]) -> Any:
        value = frame[operand]
        if not -half <= value < half:
            raise OverflowError
        return value

    return None if half == 1 else run


QUICK: dict[str, QuickMaker] = {
    "arith.addi": _quick(lambda a, b: a + b),
    "arith.subi": _quick(lambda a, b: a - b),
    "arith.muli": _quick(lambda a, b: a * b),
    "arith.floordivsi": _quick(lambda a, b: a // b),
    "arith.divsi": _quick(_divide),
    "arith.remsi": _quick(_remainder),
    "arith.index_cast": _quick_cast,
}
