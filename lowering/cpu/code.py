"""LLVM IR as text: values, instructions, blocks.

Kernels have thousands of operations; writing lines is several times as fast as building objects
and printing them. A value is a scalar or a vector of lanes; names are numbered in one function.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import (
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute

from fhelium_ir.dialects import kernel

NATURAL, SPLIT, ANY = "natural", "split", "any"
"""Orders of the lanes in a vector: as they are numbered; even ones first, then odd ones; all lanes are equal."""


class Value(NamedTuple):
    """An LLVM value: its name or literal, the type of one lane, how many lanes it has and in which order.

    Vector units multiply the even 32-bit words of two vectors to 64-bit words. So 32-bit words are widened to a vector
    of even lanes and one of odd lanes, and narrowed by putting them together again.
    """

    name: str
    element: str
    lanes: int = 1
    literal: bool = False
    order: str = NATURAL

    @property
    def type(self) -> str:
        """LLVM's name of the type."""
        return vector_type(self.element, self.lanes)

    @property
    def typed(self) -> str:
        """The value with its type, as an operand of most instructions."""
        return f"{self.type} {self.name}"


def vector_type(element: str, lanes: int) -> str:
    """A scalar type, or a vector of it."""
    return element if lanes == 1 else f"<{lanes} x {element}>"


def element_type(type_: Attribute) -> str | None:
    """LLVM's type of a kernel's type; None if a kernel on the CPU cannot hold it."""
    match type_:
        case IntegerType():
            return f"i{type_.width.data}"
        case IndexType():
            return "i64"
        case Float64Type():
            return "double"
        case Float32Type():
            return "float"
        case kernel.BufferType():
            return "ptr"
        case _:
            return None


_BYTES = {"i1": 1, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "float": 4, "double": 8}


def size_of(element: str) -> int:
    """Bytes of a word in memory."""
    return _BYTES[element]


def is_float(element: str) -> bool:
    """Whether words of this type are floating-point numbers."""
    return element in ("float", "double")


def integer(value: int, element: str = "i64") -> Value:
    """A constant, taken modulo the size of its word."""
    width = int(element[1:])
    value &= (1 << width) - 1
    if width == 1:
        return Value("true" if value else "false", element, 1, True, ANY)
    signed = value - (1 << width) if value >> (width - 1) else value
    return Value(str(signed), element, 1, True, ANY)


def real(value: float, element: str) -> Value:
    """A floating-point constant, exactly: LLVM writes the bits of a double for both types."""
    return Value(f"0x{struct.pack('>d', value).hex().upper()}", element, 1, True, ANY)


class Names:
    """Fresh names of one function, and the intrinsics that it calls."""

    def __init__(self) -> None:
        self.count = 0
        self.declarations: dict[str, str] = {}

    def fresh(self, stem: str) -> str:
        self.count += 1
        return f"{stem}{self.count}"

    def declare(self, name: str, result: str, arguments: Sequence[str]) -> None:
        """Notes that a function outside of the module is called."""
        self.declarations[name] = f"declare {result} @{name}({', '.join(arguments)})"


class Code:
    """Blocks under construction; instructions go to the end of the last one.

    Args:
        names: of the function.
        label: of the first block; its line is written by whoever strings the code together.
    """

    def __init__(self, names: Names, label: str):
        self.names = names
        self.first = label
        self.label = label
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def start(self, label: str) -> None:
        """Goes on in a new block."""
        self.lines.append(f"{label}:")
        self.label = label

    def emit(self, text: str, element: str, lanes: int = 1) -> Value:
        """An instruction with a result."""
        name = self.names.fresh("%v")
        self.lines.append(f"  {name} = {text}")
        return Value(name, element, lanes)

    def binary(self, kind: str, lhs: Value, rhs: Value) -> Value:
        """An instruction of two operands of one type, without flags: integers wrap around."""
        return self.emit(f"{kind} {lhs.typed}, {rhs.name}", lhs.element, lhs.lanes)

    def add(self, lhs: Value, rhs: Value) -> Value:
        if rhs.literal and rhs.name == "0":
            return lhs
        if lhs.literal and lhs.name == "0":
            return rhs
        return self.binary("add", lhs, rhs)

    def times(self, value: Value, factor: int) -> Value:
        """A scalar i64 times a number."""
        if factor == 1:
            return value
        if value.literal:
            return integer(int(value.name) * factor)
        return self.binary("mul", value, integer(factor))

    def compare(self, predicate: str, lhs: Value, rhs: Value) -> Value:
        kind = "fcmp" if is_float(lhs.element) else "icmp"
        return self.emit(f"{kind} {predicate} {lhs.typed}, {rhs.name}", "i1", lhs.lanes)

    def select(self, condition: Value, then: Value, other: Value) -> Value:
        text = f"select {condition.typed}, {then.typed}, {other.typed}"
        return self.emit(text, then.element, then.lanes)

    def cast(self, kind: str, value: Value, element: str) -> Value:
        target = vector_type(element, value.lanes)
        return self.emit(f"{kind} {value.typed} to {target}", element, value.lanes)

    def splat(self, value: Value, lanes: int) -> Value:
        """The scalar in every lane."""
        if lanes == 1 or value.lanes == lanes:
            return value
        if value.literal:
            return Value(f"splat ({value.element} {value.name})", value.element, lanes, True, ANY)
        type_ = vector_type(value.element, lanes)
        first = self.emit(
            f"insertelement {type_} poison, {value.typed}, i64 0", value.element, lanes
        )
        text = f"shufflevector {first.typed}, {type_} poison, <{lanes} x i32> zeroinitializer"
        return self.emit(text, value.element, lanes)._replace(order=ANY)

    def ordered(self, value: Value, order: str) -> Value:
        """The same lanes in another order."""
        if value.lanes == 1 or value.order in (order, ANY):
            return value
        even, odd = range(0, value.lanes, 2), range(1, value.lanes, 2)
        places = [*even, *odd]
        if order == NATURAL:
            half = value.lanes // 2
            places = [lane // 2 + half * (lane % 2) for lane in range(value.lanes)]
        return self.shuffle(value, value, places)._replace(order=order)

    def aligned(self, values: Sequence[Value]) -> tuple[list[Value], str]:
        """The values with their lanes in one order, and which."""
        orders = {value.order for value in values if value.lanes > 1}
        order = SPLIT if SPLIT in orders else NATURAL if NATURAL in orders else ANY
        return [self.ordered(value, order) for value in values], order

    def widen(self, value: Value) -> Value:
        """32-bit words as 64-bit words: even lanes, then odd ones."""
        half = value.lanes // 2
        natural = self.ordered(value, NATURAL)
        pairs = self.emit(f"bitcast {natural.typed} to {vector_type('i64', half)}", "i64", half)
        low = self.splat(integer((1 << 32) - 1), half)
        even = self.binary("and", pairs, low)
        odd = self.binary("lshr", pairs, self.splat(integer(32), half))
        return self.shuffle(even, odd, range(value.lanes))._replace(order=SPLIT)

    def widen_signed(self, value: Value) -> Value:
        """The same for signed words."""
        half = value.lanes // 2
        natural = self.ordered(value, NATURAL)
        pairs = self.emit(f"bitcast {natural.typed} to {vector_type('i64', half)}", "i64", half)
        shift = self.splat(integer(32), half)
        even = self.binary("ashr", self.binary("shl", pairs, shift), shift)
        odd = self.binary("ashr", pairs, shift)
        return self.shuffle(even, odd, range(value.lanes))._replace(order=SPLIT)

    def narrow(self, value: Value) -> Value:
        """The lower halves of 64-bit words whose even lanes come first."""
        half = value.lanes // 2
        even = self.shuffle(value, value, range(half))
        odd = self.shuffle(value, value, range(half, value.lanes))
        low = self.binary("and", even, self.splat(integer((1 << 32) - 1), half))
        high = self.binary("shl", odd, self.splat(integer(32), half))
        both = self.binary("or", low, high)
        return self.emit(f"bitcast {both.typed} to <{value.lanes} x i32>", "i32", value.lanes)

    def shuffle(self, lhs: Value, rhs: Value, places: Sequence[int]) -> Value:
        """A vector of lanes of two vectors or scalars, numbered through; of one lane, a scalar."""
        if len(places) == 1 or lhs.lanes == 1:
            return self._gathered([self._lane(lhs, rhs, place) for place in places])
        mask = ", ".join(f"i32 {place}" for place in places)
        text = f"shufflevector {lhs.typed}, {rhs.typed}, <{len(places)} x i32> <{mask}>"
        return self.emit(text, lhs.element, len(places))

    def _lane(self, lhs: Value, rhs: Value, place: int) -> Value:
        source, lane = (lhs, place) if place < lhs.lanes else (rhs, place - lhs.lanes)
        if source.lanes == 1:
            return source
        return self.emit(f"extractelement {source.typed}, i64 {lane}", source.element)

    def _gathered(self, words: Sequence[Value]) -> Value:
        """Scalars as a vector; one stays what it is."""
        element, lanes = words[0].element, len(words)
        if lanes == 1:
            return words[0]
        vector = Value("poison", element, lanes)
        for lane, word in enumerate(words):
            text = f"insertelement {vector.typed}, {word.typed}, i64 {lane}"
            vector = self.emit(text, element, lanes)
        return vector

    def pointer(self, base: Value, element: str, index: Value) -> Value:
        """The address of a word; a vector of indices gives a vector of addresses."""
        if index.literal and index.name == "0":
            return base
        return self.emit(
            f"getelementptr {element}, {base.typed}, {index.typed}", "ptr", index.lanes
        )

    def load(self, pointer: Value, element: str, lanes: int = 1) -> Value:
        type_ = vector_type(element, lanes)
        return self.emit(f"load {type_}, {pointer.typed}, align {size_of(element)}", element, lanes)

    def store(self, value: Value, pointer: Value) -> None:
        self.line(f"store {value.typed}, {pointer.typed}, align {size_of(value.element)}")

    def call(self, name: str, result: str, lanes: int, arguments: Sequence[Value]) -> Value:
        """Calls a function of this name without effects."""
        self.names.declare(name, vector_type(result, lanes), [a.type for a in arguments])
        operands = ", ".join(argument.typed for argument in arguments)
        return self.emit(f"call {vector_type(result, lanes)} @{name}({operands})", result, lanes)

    def call_void(self, name: str, arguments: Sequence[Value]) -> None:
        self.names.declare(name, "void", [a.type for a in arguments])
        self.line(f"call void @{name}({', '.join(argument.typed for argument in arguments)})")

    def branch(self, label: str) -> None:
        self.line(f"br label %{label}")

    def branch_if(self, condition: Value, then: str, other: str) -> None:
        self.line(f"br {condition.typed}, label %{then}, label %{other}")

    def loop(
        self,
        begin: Value,
        end: Value,
        step: Value,
        carried: Sequence[Value],
        body: Callable[[Value, list[Value]], list[Value]],
    ) -> list[Value]:
        """Runs `body(index, values)` while index < end (signed), which gives the next values.

        Returns:
            The values after the last round.
        """
        header, inside, after = (self.names.fresh(stem) for stem in ("header", "inside", "after"))
        before = self.label
        self.branch(header)
        self.start(header)
        mark = len(self.lines)
        values = [
            Value(self.names.fresh("%v"), v.element, v.lanes, False, v.order)
            for v in (begin, *carried)
        ]
        self.branch_if(self.compare("slt", values[0], end), inside, after)
        self.start(inside)
        results = body(values[0], values[1:])
        following = [self.binary("add", values[0], step), *results]
        last = self.label
        self.branch(header)
        self.lines[mark:mark] = [
            f"  {value.name} = phi {value.type} [ {first.name}, %{before} ], "
            f"[ {then.name}, %{last} ]"
            for value, first, then in zip(values, (begin, *carried), following, strict=True)
        ]
        self.start(after)
        return values[1:]
