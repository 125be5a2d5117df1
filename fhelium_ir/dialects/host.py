"""`host`: what the host does around the kernels.

A host program is a `func.func` on memrefs. It names resources (tables, keys, plaintexts) by symbol, allocates results
and one arena, takes views of the arena, launches kernels, and calls implementations that execute an operation as a
whole. Around them stand `scf.for` and `scf.if` on host integers. Launches on several streams wait for each other by
events; a call begins after everything before it, and everything after it waits for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, cast

from xdsl.dialects.builtin import (
    I64,
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    Float64Type,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    i8,
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
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import NoTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects import kernel
from fhelium_ir.dialects.traits import IsolatedFromAbove
from fhelium_ir.dialects.zq import WordType

ARENA = "memory.arena"
"""Function attribute with the arena's size in bytes, from plan-memory to convert-regions-to-kernels."""


def _holds_words(type_: Attribute) -> TypeGuard[MemRefType[WordType]]:
    """As `isa`, which takes longer for each of a program's launches than making it."""
    if not isinstance(type_, MemRefType):
        return False
    element = cast("MemRefType[Attribute]", type_).element_type
    return isinstance(element, IntegerType | Float64Type)


def bytes_of(type_: Attribute) -> int:
    """Bytes of a memref with static shape."""
    if not _holds_words(type_) or any(extent < 0 for extent in type_.get_shape()):
        raise VerifyException(f"host: {type_} must have words as elements and a static shape")
    count = 1
    for extent in type_.get_shape():
        count *= extent
    return count * (type_.element_type.bitwidth // 8)


def buffer_bytes(value: SSAValue) -> int:
    """Bytes of a buffer."""
    return bytes_of(value.type)


@irdl_op_definition
class AllocOp(IRDLOperation):
    """A new uninitialised buffer: a result of the program, or its arena (a memref of i8)."""

    name = "host.alloc"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, type_: MemRefType):
        super().__init__(result_types=[type_])


@irdl_op_definition
class ViewOp(IRDLOperation):
    """A typed buffer inside the arena, `offset` bytes from its start."""

    name = "host.view"
    source = operand_def(MemRefType)
    offset = prop_def(IntegerAttr[I64])
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$source `at` $offset attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, offset: int, type_: MemRefType):
        super().__init__(
            operands=[source],
            properties={"offset": IntegerAttr(offset, i64)},
            result_types=[type_],
        )

    def verify_(self) -> None:
        source = self.source.type
        if not _holds_words(source) or source.element_type != i8:
            raise VerifyException("host.view: the source must be an arena, a memref of i8")
        offset = self.offset.value.data
        if offset < 0 or offset + bytes_of(self.result.type) > bytes_of(source):
            raise VerifyException("host.view: the view leaves the arena")


@irdl_op_definition
class ResourceOp(IRDLOperation):
    """The buffer of a declared resource."""

    name = "host.resource"
    symbol = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(MemRefType)
    traits = traits_def(Pure())
    assembly_format = "$symbol attr-dict `:` type($result)"

    def __init__(self, symbol: str, type_: MemRefType):
        super().__init__(properties={"symbol": SymbolRefAttr(symbol)}, result_types=[type_])


@irdl_op_definition
class LaunchOp(IRDLOperation):
    """Runs a kernel on a grid; memref operands are passed as flat buffers, integers as scalars.

    With `stream` it is on another one than stream 0: where streams run at the same time, only `host.wait` orders it
    with launches on others. The order of the text is always one that all of these allow.
    """

    name = "host.launch"
    callee = prop_def(FlatSymbolRefAttrConstr)
    grid = prop_def(DenseArrayBase.constr(i64))
    stream = opt_prop_def(IntegerAttr[I64])
    arguments = var_operand_def(base(MemRefType) | base(IntegerType))
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$callee `grid` $grid `(` $arguments `)` attr-dict `:` type($arguments)"

    def __init__(
        self, callee: str, grid: Sequence[int], arguments: Sequence[SSAValue], stream: int = 0
    ):
        super().__init__(
            operands=[list(arguments)],
            properties={
                "callee": SymbolRefAttr(callee),
                "grid": DenseArrayBase.from_list(i64, list(grid)),
                "stream": IntegerAttr(stream, i64) if stream else None,
            },
        )

    @property
    def stream_number(self) -> int:
        return self.stream.value.data if self.stream is not None else 0

    @property
    def grid_shape(self) -> tuple[int, ...]:
        return tuple(int(extent) for extent in self.grid.get_values())

    def verify_(self) -> None:
        if any(extent < 1 for extent in self.grid_shape):
            raise VerifyException("host.launch: grid extents must be positive")
        _check_stream(self, self.stream_number)


def _check_stream(op: Operation, stream: int) -> None:
    if stream < 0:
        raise VerifyException(f"{op.name}: a stream is not negative")


@irdl_attr_definition
class EventType(ParametrizedAttribute, TypeAttribute):
    """A place in the order of a stream."""

    name = "host.event"


@irdl_op_definition
class RecordOp(IRDLOperation):
    """The end of everything that has been launched on a stream so far."""

    name = "host.record"
    stream = prop_def(IntegerAttr[I64])
    event = result_def(EventType)
    assembly_format = "`stream` $stream attr-dict `:` type($event)"

    def __init__(self, stream: int):
        super().__init__(
            properties={"stream": IntegerAttr(stream, i64)}, result_types=[EventType()]
        )

    def verify_(self) -> None:
        _check_stream(self, self.stream.value.data)


@irdl_op_definition
class WaitOp(IRDLOperation):
    """What is launched on a stream from here on starts after the event."""

    name = "host.wait"
    stream = prop_def(IntegerAttr[I64])
    event = operand_def(EventType)
    assembly_format = "`stream` $stream `for` $event attr-dict `:` type($event)"

    def __init__(self, stream: int, event: SSAValue):
        super().__init__(operands=[event], properties={"stream": IntegerAttr(stream, i64)})

    def verify_(self) -> None:
        _check_stream(self, self.stream.value.data)


@irdl_op_definition
class ChainOp(IRDLOperation):
    """Runs the launches in its body, one after the other, or unit by unit.

    `units` says for each launch in which unit each of its program rows is, the positions on the last axis of its grid.
    Units touch no words that another unit writes, so a target may run them in any order, and some at the same time,
    each of them through all launches: what a unit hands on then stays in a cache. Running the launches as they stand
    gives the same words.
    """

    name = "host.chain"
    units = prop_def(ArrayAttr.constr(DenseArrayBase.constr(i64)))
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    assembly_format = "`units` $units $body attr-dict"

    def __init__(self, units: Sequence[Sequence[int]], body: Region):
        super().__init__(
            properties={
                "units": ArrayAttr([DenseArrayBase.from_list(i64, list(row)) for row in units])
            },
            regions=[body],
        )

    @property
    def launches(self) -> tuple[LaunchOp, ...]:
        return tuple(op for op in self.body.block.ops if isinstance(op, LaunchOp))

    @property
    def unit_numbers(self) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(int(n) for n in row.get_values()) for row in self.units)

    def verify_(self) -> None:
        launches = self.launches
        if not launches or len(launches) != len(list(self.body.block.ops)):
            raise VerifyException("host.chain: the body holds launches and nothing else")
        if len({launch.stream_number for launch in launches}) > 1:
            raise VerifyException("host.chain: the launches must be on one stream")
        numbers = self.unit_numbers
        if [len(row) for row in numbers] != [launch.grid_shape[-1] for launch in launches]:
            raise VerifyException(
                "host.chain: `units` must have a number for each program row of each launch"
            )
        found = {number for row in numbers for number in row}
        if found != set(range(len(found))):
            raise VerifyException("host.chain: units are numbered from 0, without a gap")


def check_launch(launch: LaunchOp, callee: kernel.FuncOp) -> None:
    """Compares a launch with the kernel it names.

    Raises:
        VerifyException: the grid rank or an argument type does not fit.
    """
    name = callee.sym_name.data
    if len(launch.grid_shape) != callee.grid_rank.value.data:
        raise VerifyException(f"host.launch: the grid of '{name}' has another rank")
    expected = tuple(callee.function_type.inputs.data)
    if len(expected) != len(launch.arguments):
        raise VerifyException(f"host.launch: '{name}' takes {len(expected)} arguments")
    for index, (argument, want) in enumerate(zip(launch.arguments, expected, strict=True)):
        have: Attribute = argument.type
        if _holds_words(have):
            have = kernel.BufferType(have.element_type)
        if have != want:
            raise VerifyException(
                f"host.launch: argument {index} of '{name}' must be {want}, found {have}"
            )


@irdl_op_definition
class OperationOp(IRDLOperation):
    """An operation that stays whole: `implementation` executes it, see `fhelium_ir.backend.registry`.

    Assembly: `host.operation @name "implementation" (%a : !rns.poly<..>, ...) { one op on %a, ... }`. The op's operands
    are the arguments, each once and in order; its types say what the buffers of a `host.call` hold.
    """

    name = "host.operation"
    sym_name = prop_def(SymbolNameConstraint())
    implementation = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())

    def __init__(self, name: str, implementation: str, body: Region):
        super().__init__(
            properties={
                "sym_name": StringAttr(name),
                "implementation": StringAttr(implementation),
            },
            regions=[body],
        )

    @staticmethod
    def around(name: str, implementation: str, op: Operation) -> OperationOp:
        """Around a copy of `op`."""
        block = Block(arg_types=[operand.type for operand in op.operands])
        copy = op.clone()
        copy.operands = list(block.args)
        copy.location = op.location
        block.add_op(copy)
        made = OperationOp(name, implementation, Region(block))
        made.location = op.location
        return made

    @property
    def operation(self) -> Operation:
        """The op inside."""
        first = self.body.block.first_op
        assert first is not None
        return first

    def verify_(self) -> None:
        block = self.body.block
        first = block.first_op
        if first is None or first is not block.last_op:
            raise VerifyException("host.operation: the body holds one op")
        if list(first.operands) != list(block.args):
            raise VerifyException("host.operation: the op's operands are the arguments, in order")

    @classmethod
    def parse(cls, parser: Parser) -> OperationOp:
        name = parser.parse_symbol_name().data
        implementation = parser.parse_str_literal()
        arguments = parser.parse_comma_separated_list(
            Parser.Delimiter.PAREN, lambda: parser.parse_argument()
        )
        return cls(name, implementation, parser.parse_region(arguments))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string(" ")
        printer.print_string_literal(self.implementation.data)
        printer.print_string(" ")
        with printer.in_parens():
            printer.print_list(self.body.block.args, printer.print_block_argument)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class CallOp(IRDLOperation):
    """Executes a `host.operation` on buffers; the implementation allocates the results.

    With `in_place` the first result is the memory of the first input.
    """

    name = "host.call"
    callee = prop_def(FlatSymbolRefAttrConstr)
    in_place = opt_prop_def(UnitAttr)
    inputs = var_operand_def(MemRefType)
    resources = var_operand_def(MemRefType)
    outputs = var_result_def(MemRefType)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$callee `(` $inputs `)` `resources` `(` $resources `)` attr-dict `:` "
        "`(` type($inputs) `)` `resources` `(` type($resources) `)` `->` `(` type($outputs) `)`"
    )

    def __init__(
        self,
        callee: str,
        inputs: Sequence[SSAValue],
        resources: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        in_place: bool = False,
    ):
        super().__init__(
            operands=[list(inputs), list(resources)],
            properties={
                "callee": SymbolRefAttr(callee),
                "in_place": UnitAttr() if in_place else None,
            },
            result_types=[list(result_types)],
        )

    def verify_(self) -> None:
        if self.in_place is not None and not (
            self.inputs and self.outputs and self.inputs[0].type == self.outputs[0].type
        ):
            raise VerifyException("host.call: in place, the first input and result have one type")


Host = Dialect(
    "host",
    [AllocOp, ViewOp, ResourceOp, LaunchOp, ChainOp, RecordOp, WaitOp, OperationOp, CallOp],
    [EventType],
)
