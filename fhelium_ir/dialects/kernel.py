"""`kernel`: device functions written for one lane.

A `kernel.func` runs on a grid of programs; each program is a tile of lanes whose shape is the function's `lanes`. Every
SSA value is one lane's scalar (i1, i32, i64, f64): the tile is implicit. Lanes of one program meet only in
`kernel.exchange`. Buffers are flat; offsets are i64 counts of elements.

Besides these ops a kernel holds `zq` ops (before convert-zq-to-arith), `arith` on scalars, `math.fma` and `scf.for`.
Floating-point ops are those of IEEE 754, each rounded to nearest; a multiply-add is one rounding only where it is a
`math.fma`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    Float64Type,
    FunctionType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i1,
    i64,
)
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import (
    HasParent,
    IsTerminator,
    Pure,
    SymbolOpInterface,
)
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects.traits import IsolatedFromAbove
from fhelium_ir.dialects.zq import WordType

DESCENDING = "descending"
"""Attribute of a `kernel.func`, a hint: programs with the largest ids along axis 1 should start first, because the
launch before it wrote what they read last."""

BLOCKS = "blocks"
"""Attribute of a `kernel.load` of an index permutation, a power of two up to which it keeps aligned blocks: for each
power of two w up to it, entries k w, ..., (k + 1) w - 1 are the indices of an aligned block of w in some order."""

EVICT_FIRST = "evict_first"
"""Attribute of a `kernel.load`, a hint: nothing reads the word again before the run ends or it is overwritten, so that
it may leave the cache that programs share before others do."""

TILE = "kernel.tile"
"""Module attribute with rows, columns and warps of the programs of regions without transform."""


_WORD = base(IntegerType) | base(Float64Type)

_EXACT = FastMathFlagsAttr("none")


@irdl_attr_definition
class BufferType(ParametrizedAttribute, TypeAttribute):
    """A flat device buffer of words: `!kernel.buffer<i64>`, `!kernel.buffer<f64>`."""

    name = "kernel.buffer"
    element_type: WordType


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A device function; `lanes` is the tile shape of a program, `grid_rank` the number of program ids.

    Assembly: `kernel.func @name(%x : !kernel.buffer<i64>, %n : i64) lanes [16, 8] grid 2 { ... }`.
    """

    name = "kernel.func"
    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    lanes = prop_def(DenseArrayBase.constr(i64))
    grid_rank = prop_def(IntegerAttr[I64])
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove())

    def __init__(
        self,
        name: str,
        argument_types: Sequence[Attribute],
        lanes: Sequence[int],
        grid_rank: int,
        body: Region | None = None,
    ):
        if body is None:
            body = Region(Block(arg_types=argument_types))
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(list(argument_types), []),
                "lanes": DenseArrayBase.from_list(i64, list(lanes)),
                "grid_rank": IntegerAttr(grid_rank, i64),
            },
            regions=[body],
        )

    @property
    def lane_shape(self) -> tuple[int, ...]:
        return tuple(self.lanes.get_values())

    @property
    def lane_count(self) -> int:
        count = 1
        for extent in self.lane_shape:
            count *= extent
        return count

    def verify_(self) -> None:
        types = tuple(argument.type for argument in self.body.block.args)
        if types != tuple(self.function_type.inputs.data):
            raise VerifyException("kernel.func: block arguments do not match the function type")
        if any(extent < 1 or extent & (extent - 1) for extent in self.lane_shape):
            raise VerifyException("kernel.func: lane extents must be powers of two")
        if not 1 <= self.grid_rank.value.data <= 3:
            raise VerifyException("kernel.func: the grid has one to three axes")
        if not isinstance(self.body.block.last_op, ReturnOp):
            raise VerifyException("kernel.func: the body must end with kernel.return")
        for op in all_ops(self):
            if op.properties and op.properties.get("fastmath", _EXACT) != _EXACT:
                raise VerifyException(f"kernel.func: '{op.name}' has fast-math flags")

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name = parser.parse_symbol_name().data
        arguments = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument()
        )
        parser.parse_keyword("lanes")
        lanes = parser.parse_comma_separated_list(
            Parser.Delimiter.SQUARE, lambda: parser.parse_integer()
        )
        parser.parse_keyword("grid")
        grid = parser.parse_integer()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments)
        op = cls(name, [argument.type for argument in arguments], lanes, grid, body)
        if attributes is not None:
            op.attributes.update(attributes.data)
        return op

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(f" lanes [{', '.join(map(str, self.lane_shape))}]")
        printer.print_string(f" grid {self.grid_rank.value.data} ")
        if self.attributes:
            printer.print_string("attributes ")
            printer.print_attr_dict(self.attributes)
            printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """Ends a kernel."""

    name = "kernel.return"
    traits = traits_def(IsTerminator(), HasParent(FuncOp))
    assembly_format = "attr-dict"


def _enclosing_func(op: Operation) -> FuncOp | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, FuncOp):
        parent = parent.parent_op()
    return parent


@irdl_op_definition
class ProgramIdOp(IRDLOperation):
    """Index of this program along one axis of the grid, i64."""

    name = "kernel.program_id"
    axis = prop_def(IntegerAttr[I64])
    result = result_def(i64)
    traits = traits_def(Pure())
    assembly_format = "$axis attr-dict"

    def __init__(self, axis: int):
        super().__init__(properties={"axis": IntegerAttr(axis, i64)}, result_types=[i64])

    def verify_(self) -> None:
        func = _enclosing_func(self)
        if func is not None and not 0 <= self.axis.value.data < func.grid_rank.value.data:
            raise VerifyException("kernel.program_id: the grid has no such axis")


@irdl_op_definition
class LaneIdOp(IRDLOperation):
    """Index of this lane along one axis of the tile, i64."""

    name = "kernel.lane_id"
    axis = prop_def(IntegerAttr[I64])
    result = result_def(i64)
    traits = traits_def(Pure())
    assembly_format = "$axis attr-dict"

    def __init__(self, axis: int):
        super().__init__(properties={"axis": IntegerAttr(axis, i64)}, result_types=[i64])

    def verify_(self) -> None:
        func = _enclosing_func(self)
        if func is not None and not 0 <= self.axis.value.data < len(func.lane_shape):
            raise VerifyException("kernel.lane_id: the tile has no such axis")


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Loads `buffer[offset]`; lanes whose mask is false read nothing and get 0.

    With the attribute `blocks` (see `BLOCKS`) it states what the buffer holds, with `evict_first` (see `EVICT_FIRST`)
    that the word is not read again.
    """

    name = "kernel.load"
    buffer = operand_def(BufferType)
    offset = operand_def(i64)
    mask = opt_operand_def(i1)
    result = result_def(_WORD)
    assembly_format = (
        "$buffer `[` $offset `]` (`mask` $mask^)? attr-dict `:` type($buffer) `->` type($result)"
    )

    def __init__(self, buffer: SSAValue, offset: SSAValue, mask: SSAValue | None = None):
        assert isinstance(buffer.type, BufferType)
        # Kernels have thousands of these; sorting out optional operands takes longer than all else.
        Operation.__init__(
            self,
            operands=[buffer, offset] if mask is None else [buffer, offset, mask],
            result_types=[buffer.type.element_type],
        )

    def verify_(self) -> None:
        assert isinstance(self.buffer.type, BufferType)
        if self.result.type != self.buffer.type.element_type:
            raise VerifyException("kernel.load: the result has the buffer's element type")
        if self.evicts_first and not isinstance(self.attributes[EVICT_FIRST], UnitAttr):
            raise VerifyException("kernel.load: evict_first has no value")
        blocks = self.attributes.get(BLOCKS)
        if blocks is None:
            return
        number = blocks.value.data if isinstance(blocks, IntegerAttr) else 0
        if number < 2 or number & (number - 1) or not isinstance(self.result.type, IntegerType):
            raise VerifyException("kernel.load: blocks is a power of two, of a buffer of integers")

    @property
    def evicts_first(self) -> bool:
        """Whether it has the attribute `evict_first`."""
        return EVICT_FIRST in self.attributes

    @property
    def kept_blocks(self) -> int:
        """The attribute `blocks`, 1 without it."""
        blocks = self.attributes.get(BLOCKS)
        return blocks.value.data if isinstance(blocks, IntegerAttr) else 1


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Stores a word at `buffer[offset]`; lanes whose mask is false store nothing."""

    name = "kernel.store"
    value = operand_def(_WORD)
    buffer = operand_def(BufferType)
    offset = operand_def(i64)
    mask = opt_operand_def(i1)
    assembly_format = (
        "$value `,` $buffer `[` $offset `]` (`mask` $mask^)? attr-dict "
        "`:` type($value) `,` type($buffer)"
    )

    def __init__(
        self, value: SSAValue, buffer: SSAValue, offset: SSAValue, mask: SSAValue | None = None
    ):
        operands = [value, buffer, offset]
        Operation.__init__(self, operands=operands if mask is None else [*operands, mask])

    def verify_(self) -> None:
        assert isinstance(self.buffer.type, BufferType)
        if self.value.type != self.buffer.type.element_type:
            raise VerifyException("kernel.store: the value must have the buffer's element type")


@irdl_op_definition
class ExchangeOp(IRDLOperation):
    """Transposes the register index against one lane axis of the same extent.

    With R operands v_0..v_{R-1} and lane extent R along `axis`, result j of a lane at position a along that axis is
    operand v_a of the lane at position j (all other coordinates equal).
    """

    name = "kernel.exchange"
    axis = prop_def(IntegerAttr[I64])
    inputs = var_operand_def(_WORD)
    outputs = var_result_def(_WORD)
    assembly_format = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($outputs)"

    def __init__(self, inputs: Sequence[SSAValue], axis: int):
        super().__init__(
            operands=[list(inputs)],
            properties={"axis": IntegerAttr(axis, i64)},
            result_types=[[value.type for value in inputs]],
        )

    def verify_(self) -> None:
        if len(self.inputs) != len(self.outputs):
            raise VerifyException("kernel.exchange: as many results as operands")
        if len({value.type for value in (*self.inputs, *self.outputs)}) != 1:
            raise VerifyException("kernel.exchange: all values have one type")
        func = _enclosing_func(self)
        if func is None:
            return
        axis = self.axis.value.data
        if not 0 <= axis < len(func.lane_shape) or func.lane_shape[axis] != len(self.inputs):
            raise VerifyException(
                f"kernel.exchange: {len(self.inputs)} registers need a lane axis of that extent"
            )


Kernel = Dialect(
    "kernel",
    [FuncOp, ReturnOp, ProgramIdOp, LaneIdOp, LoadOp, StoreOp, ExchangeOp],
    [BufferType],
)
