"""Runs HEIR functions on values that are known: integers, floats, tensors of them, and handles.

Everything that a HEIR program decides by constants and induction variables is decided here, op by op, as it runs. What
is a ciphertext or a plaintext is up to the handlers of those ops: the server side hands out SSA values of the program
that it writes (`server.py`), the client side vectors (`client.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of

Array: TypeAlias = "NDArray[Any]"
Handler: TypeAlias = "Callable[[Machine, Node, list[Any], list[Any]], Sequence[Any]]"
"""Machine, op, values of the operands, and the frame; gives the values of the results."""

Quick: TypeAlias = "Callable[[list[Any]], Any]"
"""Gives the result of one op from the frame, for operands of the usual kind; any exception means that the handler of
the op has to look."""

QuickMaker: TypeAlias = "Callable[[Operation, tuple[int, ...]], Quick | None]"
"""Makes it for an op and the slots of its operands, or None."""

LIMIT = 20_000_000
"""Ops that a program may run."""

WRONG = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    StopIteration,
    TypeError,
    ValueError,
)
"""What handlers raise on operands and attributes that no valid program has."""

DEPTH = 64
"""Calls inside of calls."""


@dataclass(frozen=True)
class Unknown:
    """A number or tensor of numbers that is known only when the program runs: it derives from a public argument."""


UNKNOWN = Unknown()


@dataclass
class Node:
    """An op, ready to run.

    Attributes:
        operands: the slots of the frame with the operands.
        results: the slots for the results.
        shared: those of the results that may not be changed in place: arrays with several uses, or with one in another
            block, which may run more than once.
        attributes: properties and attributes as Python values.
        transparent: takes unknown values.
        quick: the short way, where there is one: packing runs many index ops.
    """

    op: Operation
    name: str
    handler: Handler
    operands: tuple[int, ...]
    results: tuple[int, ...]
    shared: tuple[int, ...]
    attributes: dict[str, Any]
    blocks: tuple[Code | None, ...]
    transparent: bool
    quick: Quick | None = None

    def integer(self, key: str, default: int | None = None) -> int:
        """An integer attribute.

        Raises:
            FheliumError: it is missing, and there is no default.
        """
        value = self.attributes.get(key, default)
        if not isinstance(value, int):
            raise FheliumError(f"{self.name}: needs an integer attribute `{key}`")
        return value


@dataclass
class Code:
    """A block: slots of its arguments, the ops before the terminator, slots of what the terminator passes on."""

    arguments: tuple[int, ...]
    shared: tuple[int, ...]
    nodes: list[Node]
    yields: tuple[int, ...]


@dataclass
class Function:
    """A function: its code, and the size of its frame."""

    op: Operation
    name: str
    inputs: tuple[Attribute, ...]
    outputs: tuple[Attribute, ...]
    code: Code | None = None
    slots: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])


class Machine:
    """Runs functions of a module.

    Args:
        module: what `reading.parse_heir` gave.
        handlers: by the op's name.
        transparent: ops that take unknown values; of any other op with an unknown operand the results are unknown.
        limit: ops that may run.
        quick: by the op's name.
    """

    def __init__(
        self,
        module: ModuleOp,
        handlers: Mapping[str, Handler],
        transparent: Iterable[str] = (),
        limit: int = LIMIT,
        quick: Mapping[str, QuickMaker] | None = None,
    ):
        self.functions = {f.name: f for f in map(function_of, functions_of(module))}
        self._handlers = handlers
        self._transparent = frozenset(transparent)
        self._quick = quick or {}
        self._left = limit
        self._limit = limit
        self._depth = 0

    def call(self, name: str, arguments: Sequence[Any]) -> list[Any]:
        """Run a function; gives its results.

        Raises:
            FheliumError: at the op that cannot be run, with its place.
        """
        function = self.functions.get(name)
        if function is None:
            raise FheliumError(f"there is no function @{name}")
        if function.code is None:
            function.code = self._compile_function(function)
        if len(arguments) != len(function.code.arguments):
            raise FheliumError(f"@{name} takes {len(function.code.arguments)} arguments")
        if self._depth >= DEPTH:
            raise FheliumError(f"@{name} calls itself, or calls are nested too deeply")
        self._depth += 1
        try:
            frame: list[Any] = [None] * len(function.slots)
            results = self.run(function.code, arguments, frame)
        finally:
            self._depth -= 1
        if len(results) != len(function.outputs):
            raise FheliumError(
                f"@{name} returns {len(results)} values, its type says {len(function.outputs)}",
                location_of(function.op),
            )
        return results

    def run(self, code: Code, arguments: Sequence[Any], frame: list[Any]) -> list[Any]:
        """Run a block with values for its arguments; gives what its terminator passes on."""
        for slot, value in zip(code.arguments, arguments, strict=True):
            frame[slot] = value
        _freeze(frame, code.shared)
        self._left -= len(code.nodes) + 1
        if self._left < 0:
            raise FheliumError(
                f"the program runs more than {self._limit} ops, which the limit is set to"
            )
        for node in code.nodes:
            if node.quick is not None:
                try:
                    frame[node.results[0]] = node.quick(frame)
                    continue
                except Exception:
                    # The handler says what is wrong, or knows better.
                    pass
            try:
                values = [frame[slot] for slot in node.operands]
                if not node.transparent and any(value is UNKNOWN for value in values):
                    results: Sequence[Any] = [UNKNOWN] * len(node.results)
                else:
                    results = node.handler(self, node, values, frame)
                for slot, value in zip(node.results, results, strict=True):
                    frame[slot] = value
            except FheliumError as error:
                if error.location is None:
                    error.location = location_of(node.op)
                raise
            except WRONG as error:
                message = f"{node.name}: {error or type(error).__name__}"
                raise FheliumError(message, location_of(node.op)) from error
            if node.shared:
                _freeze(frame, node.shared)
        return [frame[slot] for slot in code.yields]

    def _compile_function(self, function: Function) -> Code:
        region = function.op.regions[0] if function.op.regions else None
        code = None if region is None else self._compile_region(region, function.slots)
        if code is None:
            raise FheliumError(f"@{function.name} has no body", location_of(function.op))
        return code

    def _compile_region(self, region: Region, slots: dict[SSAValue, int]) -> Code | None:
        blocks = list(region.blocks)
        if not blocks:
            return None
        if len(blocks) > 1:
            raise FheliumError(
                "branches between blocks are not supported, only scf and affine",
                location_of(blocks[1].first_op or _parent(region)),
            )
        return self._compile_block(blocks[0], slots)

    def _compile_block(self, block: Block, slots: dict[SSAValue, int]) -> Code:
        def slot(value: SSAValue) -> int:
            return slots.setdefault(value, len(slots))

        arguments = tuple(slot(value) for value in block.args)
        ops = list(block.ops)
        yields: tuple[int, ...] = ()
        if ops and op_name(ops[-1]) in TERMINATORS:
            yields = tuple(slot(value) for value in ops.pop().operands)
        nodes: list[Node] = []
        for op in ops:
            name = op_name(op)
            handler = self._handlers.get(name)
            if handler is None:
                raise FheliumError(unsupported(name), location_of(op))
            operands = tuple(slot(value) for value in op.operands)
            inner = tuple(self._compile_region(region, slots) for region in op.regions)
            maker = self._quick.get(name)
            nodes.append(
                Node(
                    op,
                    name,
                    handler,
                    operands,
                    tuple(slot(value) for value in op.results),
                    tuple(slot(value) for value in op.results if _is_shared(value, block)),
                    _attributes(op),
                    inner,
                    name in self._transparent,
                    None if maker is None else _quick(maker, op, operands),
                )
            )
            if nodes[-1].shared and element_type(op.results[0].type) is not None:
                nodes[-1].quick = None
        shared = tuple(slot(value) for value in block.args if _is_shared(value, block))
        return Code(arguments, shared, nodes, yields)


def _attributes(op: Operation) -> dict[str, Any]:
    try:
        return {k: python_value(v) for k, v in {**op.attributes, **op.properties}.items()}
    except WRONG as error:
        message = f"{op_name(op)}: an attribute cannot be read: {error}"
        raise FheliumError(message, location_of(op)) from error


def _quick(maker: QuickMaker, op: Operation, operands: tuple[int, ...]) -> Quick | None:
    try:
        return maker(op, operands)
    except WRONG:
        # The op is malformed; its handler says so, if it is run.
        return None


TERMINATORS = frozenset({"func.return", "scf.yield", "affine.yield"})


def unsupported(name: str) -> str:
    """The message for an op that cannot be run."""
    if name.endswith("bootstrap"):
        return f"'{name}' is not supported: this project has no bootstrapping yet"
    return f"'{name}' is not supported by the frontend heir"


def op_name(op: Operation) -> str:
    """The name that the text gives to an op."""
    name = op.attributes.get("op_name__")
    return name.data if isinstance(name, StringAttr) else op.name


def functions_of(module: ModuleOp) -> list[Operation]:
    """The functions of a module.

    Raises:
        FheliumError: something else stands there.
    """
    found: list[Operation] = []
    if len(module.body.blocks) != 1:
        raise FheliumError("a module must have one block", location_of(module))
    for op in module.ops:
        if op_name(op) != "func.func":
            raise FheliumError(unsupported(op_name(op)), location_of(op))
        found.append(op)
    return found


def function_of(op: Operation) -> Function:
    """The function that a `func.func` is; its code is made when it is called.

    Raises:
        FheliumError: it has no name or no type.
    """
    name, type_ = op.properties.get("sym_name"), op.properties.get("function_type")
    if not isinstance(name, StringAttr) or not isinstance(type_, FunctionType):
        raise FheliumError("a function lacks its name or type", location_of(op))
    return Function(op, name.data, type_.inputs.data, type_.outputs.data)


def _parent(region: Region) -> Operation:
    parent = region.parent_op()
    assert parent is not None
    return parent


def _is_shared(value: SSAValue, block: Block) -> bool:
    uses = list(value.uses)
    return len(uses) != 1 or uses[0].operation.parent_block() is not block


def _freeze(frame: list[Any], slots: tuple[int, ...]) -> None:
    for slot in slots:
        value = frame[slot]
        if isinstance(value, np.ndarray):
            value.flags.writeable = False


def python_value(attribute: Attribute) -> Any:
    """An attribute as a number, string, list, dict or numpy array; others stay what they are."""
    match attribute:
        case IntegerAttr():
            return attribute.value.data
        case FloatAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case UnitAttr():
            return True
        case SymbolRefAttr():
            return attribute.root_reference.data
        case DenseArrayBase():
            return list(cast("DenseArrayBase[IntegerType]", attribute).get_values())
        case ArrayAttr():
            return [python_value(item) for item in attribute.data]
        case DictionaryAttr():
            return {key: python_value(value) for key, value in attribute.data.items()}
        case DenseIntOrFPElementsAttr():
            return dense_array(attribute)
        case _:
            return attribute


def dense_array(attribute: DenseIntOrFPElementsAttr) -> Array:
    """The elements as int64 or float64, read-only, in the shape of the type."""
    type_ = attribute.type
    shape = tuple(type_.get_shape())
    element = type_.element_type
    kind = np.int64 if isinstance(element, IntegerType) else None
    values: Array = np.array(list(attribute.get_values()), dtype=kind)
    if values.dtype != np.int64:
        values = values.astype(np.float64)
    if isinstance(element, IntegerType) and element.width.data == 1:
        # xDSL reads `true` as -1 here, and as 1 where it is a single number.
        values = np.bitwise_and(values, 1)
    values = values.reshape(shape)
    values.flags.writeable = False
    return values


def element_type(type_: Attribute) -> Attribute | None:
    """The type of a tensor's elements; None for another type."""
    if not isinstance(type_, TensorType):
        return None
    return cast("TensorType[Attribute]", type_).element_type


def tensor_shape(type_: Attribute) -> tuple[int, ...] | None:
    """The shape of a tensor type, -1 for a size that is not static; None for another type."""
    return tuple(type_.get_shape()) if isinstance(type_, TensorType) else None
