"""Building one kernel function: arguments on demand, folded index arithmetic, loads and stores."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import Float64Type, FloatAttr, IntegerType, f64, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fhelium_ir.dialects import kernel, zq
from fhelium_ir.lowering.word_ops import binary, constant, conversion, integer_attr

_IndexOp = arith.AddiOp | arith.AndIOp | arith.MuliOp | arith.ShLIOp | arith.ShRUIOp

Index = int | SSAValue
"""An i64 value, or a number known while building."""


@dataclass(frozen=True)
class Argument:
    """What a kernel argument stands for, for the launch to fill in.

    kinds: `rows`, `moduli`, `count`, `bound` column, `twiddles`, `inverse_degree`, `input` i, `table` t, `output` r,
    `scratch` s, `component_rows`. `digits`: rows, count and columns are those of the graph of the region's digits.
    """

    kind: str
    index: int = 0
    digits: bool = False


class KernelBuilder:
    """Appends ops to a kernel's body; every value is one lane's scalar."""

    def __init__(self, arithmetic: zq.Arithmetic):
        self.arithmetic = arithmetic
        self.word: zq.WordType = arithmetic.word
        self.entry = Block()
        self.block = self.entry
        self.arguments: dict[Argument, SSAValue] = {}
        self._constants: dict[tuple[int | float, Attribute], SSAValue] = {}
        self._known: dict[tuple[object, ...], SSAValue] = {}
        self._constant_ops: list[Operation] = []

    def finish(self, name: str, lanes: Sequence[int], grid_rank: int) -> kernel.FuncOp:
        """The function; the builder is spent."""
        self.entry.add_op(kernel.ReturnOp())
        first = self.entry.first_op
        assert first is not None
        self.entry.insert_ops_before(self._constant_ops, first)
        types = [argument.type for argument in self.entry.args]
        return kernel.FuncOp(name, types, lanes, grid_rank, Region(self.entry))

    def emit(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def argument(self, argument: Argument, type_: Attribute, hint: str) -> SSAValue:
        """The block argument that stands for `argument`, added on first use."""
        if argument not in self.arguments:
            value = self.entry.insert_arg(type_, len(self.entry.args))
            value.name_hint = hint
            self.arguments[argument] = value
        return self.arguments[argument]

    def buffer(self, argument: Argument, element: zq.WordType, hint: str) -> SSAValue:
        return self.argument(argument, kernel.BufferType(element), hint)

    def constant(self, value: int, type_: IntegerType = i64) -> SSAValue:
        """A constant, made once, at the start of the function; taken modulo the word."""
        bits = type_.width.data
        wrapped = (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
        key = (wrapped, type_)
        if key not in self._constants:
            op = constant(integer_attr(wrapped, type_))
            self._constant_ops.append(op)
            self._constants[key] = op.result
        return self._constants[key]

    @property
    def in_loop(self) -> bool:
        """Whether ops go into the body of a loop."""
        return self.block is not self.entry

    def float_constant(self, value: float) -> SSAValue:
        """A double, made once, at the start of the function."""
        key = (value, f64)
        if key not in self._constants:
            op = constant(FloatAttr(value, f64))
            self._constant_ops.append(op)
            self._constants[key] = op.result
        return self._constants[key]

    def zero(self) -> SSAValue:
        """The word 0."""
        if isinstance(self.word, Float64Type):
            return self.float_constant(0.0)
        return self.constant(0, self.word)

    def one(self) -> SSAValue:
        """The word 1 of an integer arithmetic."""
        assert isinstance(self.word, IntegerType)
        return self.constant(1, self.word)

    def value(self, index: Index) -> SSAValue:
        return self.constant(index) if isinstance(index, int) else index

    def binary(self, kind: type[_IndexOp], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """An index computation, made once for equal operands; what a loop body computes is forgotten after it."""
        key = (kind, lhs, rhs)
        if key not in self._known:
            self._known[key] = self.emit(binary(kind, lhs, rhs))
        return self._known[key]

    def add(self, *terms: Index) -> Index:
        """Sum of i64 values; numbers are folded into one, which is added last so that sums share their prefixes."""
        number = sum(term for term in terms if isinstance(term, int))
        total: SSAValue | None = None
        for term in terms:
            if not isinstance(term, int):
                total = term if total is None else self.binary(arith.AddiOp, total, term)
        if total is None:
            return number
        return self.binary(arith.AddiOp, total, self.constant(number)) if number else total

    def mul(self, x: Index, factor: int) -> Index:
        if isinstance(x, int):
            return x * factor
        if factor == 1:
            return x
        if factor & (factor - 1) == 0:
            return self.binary(arith.ShLIOp, x, self.constant(factor.bit_length() - 1))
        return self.binary(arith.MuliOp, x, self.constant(factor))

    def shift_right(self, x: Index, count: int) -> Index:
        if isinstance(x, int):
            return x >> count
        return x if count == 0 else self.binary(arith.ShRUIOp, x, self.constant(count))

    def low_bits(self, x: Index, count: int) -> Index:
        """x mod 2^count."""
        mask = (1 << count) - 1
        if isinstance(x, int):
            return x & mask
        return 0 if count == 0 else self.binary(arith.AndIOp, x, self.constant(mask))

    def load(self, buffer: SSAValue, offset: Index, mask: SSAValue | None = None) -> SSAValue:
        return self.emit(kernel.LoadOp(buffer, self.value(offset), mask))

    def load_index(self, buffer: SSAValue, offset: Index) -> SSAValue:
        """A signed i32 entry as i64."""
        return self.emit(conversion(arith.ExtSIOp, self.load(buffer, offset), i64))

    def store(
        self, value: SSAValue, buffer: SSAValue, offset: Index, mask: SSAValue | None
    ) -> None:
        self.block.add_op(kernel.StoreOp(value, buffer, self.value(offset), mask))

    def to_word(self, x: SSAValue) -> SSAValue:
        """An i64 as one word of an integer arithmetic."""
        assert isinstance(self.word, IntegerType)
        return x if self.word == i64 else self.emit(arith.TruncIOp(x, self.word))

    def from_word(self, x: SSAValue) -> SSAValue:
        """A word as i64."""
        return x if self.word == i64 else self.emit(arith.ExtUIOp(x, i64))

    def compare(self, predicate: str, x: SSAValue, y: SSAValue) -> SSAValue:
        return self.emit(arith.CmpiOp(x, y, predicate))

    def exchange(self, values: Sequence[SSAValue], axis: int) -> list[SSAValue]:
        op = kernel.ExchangeOp(values, axis)
        self.block.add_op(op)
        return list(op.outputs)

    @contextmanager
    def loop(self, count: SSAValue, carried: Sequence[SSAValue]) -> Generator[Loop]:
        """`scf.for` from 0 to count; the body sets `Loop.yielded`, and `Loop.results` are the final values."""
        body = Block(arg_types=[i64, *(value.type for value in carried)])
        loop = Loop(body.args[0], list(body.args[1:]))
        outer, self.block = self.block, body
        known, self._known = self._known, dict(self._known)
        yield loop
        body.add_op(scf.YieldOp(*loop.yielded))
        self.block, self._known = outer, known
        op = scf.ForOp(self.constant(0), count, self.constant(1), list(carried), Region(body))
        self.block.add_op(op)
        loop.results = list(op.results)


@dataclass
class Loop:
    """A loop under construction: its index, the carried values inside, what the body yields, the results after."""

    index: SSAValue
    carried: list[SSAValue]

    def __post_init__(self) -> None:
        self.yielded: list[SSAValue] = []
        self.results: list[SSAValue] = []


TABLE_ELEMENTS: dict[str, IntegerType | None] = {
    "constants": None,
    "conversion": i64,
    "permutation": i32,
    "rows": i32,
}
"""Element type of a region's tables by kind; None is the arithmetic's word."""
