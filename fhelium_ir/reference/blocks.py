"""What the interpreters share: a function and its arguments by name, a block run by rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks, fusion
from fhelium_ir.parameters import Parameters

ValueT = TypeVar("ValueT")

Rules: TypeAlias = Mapping[type[Operation], Callable[..., ValueT]]
"""By class of op, the function of the op and its operands' values that computes its result."""

Encode: TypeAlias = Callable[[NDArray[np.float64], Fraction, int], NDArray[np.int64]]
"""The client's encoding of constants: values [n] (n divides the slots), exact scale and level to
canonical residues int64 [1, level + 1, N], evaluation domain, bit-reversed."""

KeyName: TypeAlias = tuple[str, int | None]
"""`("relinearize", None)`, or `("galois", g)` with a Galois element g."""


def module_parameters(module: ModuleOp) -> Parameters:
    """The parameters that the module states.

    Raises:
        FheliumError: it states none.
    """
    attribute = module.attributes.get(ckks.PARAMS)
    if not isinstance(attribute, ckks.ParamsAttr):
        raise FheliumError(f"the module has no `{ckks.PARAMS}`", location_of(module))
    return attribute.data


def find_function(module: ModuleOp, name: str) -> func.FuncOp:
    """The function of one block with the given symbol.

    Raises:
        FheliumError: there is none, or it has no body, or several blocks.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
    if name not in functions:
        raise unknown_name("function", name, functions)
    function = functions[name]
    if len(function.body.blocks) != 1:
        raise FheliumError(f"function '{name}' is not one block", location_of(function))
    return function


def bind_arguments(
    function: func.FuncOp,
    inputs: Mapping[str, NDArray[np.generic]],
    read: Callable[[str, Attribute, NDArray[np.generic]], ValueT],
) -> list[ValueT]:
    """The values of the arguments, each read from the input that bears its name.

    The name is the argument's attribute `ckks.name`, else that of the SSA value, else `argI`.

    Raises:
        FheliumError: an input is missing.
    """
    names = [_argument_name(function, index) for index in range(len(function.body.block.args))]
    for name in names:
        if name not in inputs:
            raise FheliumError(f"input '{name}' is missing", location_of(function))
    types = [argument.type for argument in function.body.block.args]
    return [read(name, type_, inputs[name]) for name, type_ in zip(names, types, strict=True)]


def _argument_name(function: func.FuncOp, index: int) -> str:
    if function.arg_attrs is not None:
        name = function.arg_attrs.data[index].data.get("ckks.name")
        if isinstance(name, StringAttr):
            return name.data
    return function.body.block.args[index].name_hint or f"arg{index}"


def run_block(block: Block, arguments: Sequence[ValueT], rules: Rules[ValueT]) -> Sequence[ValueT]:
    """Runs the ops of a block in order and returns what its return or yield names.

    A fused region runs as its body.

    Raises:
        FheliumError: no rule for an op; whatever a rule raises, with the op's location.
    """
    values: dict[SSAValue, ValueT] = dict(zip(block.args, arguments, strict=True))
    uses: dict[SSAValue, int] = {value: len(list(value.uses)) for value in block.args}
    for op in block.ops:
        operands = [values[operand] for operand in op.operands]
        if isinstance(op, func.ReturnOp | fusion.YieldOp):
            return operands
        results = _run_op(op, operands, rules)
        values.update(zip(op.results, results, strict=True))
        uses.update((result, len(list(result.uses))) for result in op.results)
        # polynomials are large: drop them with their last use
        for operand in op.operands:
            uses[operand] -= 1
            if uses[operand] == 0:
                del values[operand]
    raise FheliumError("a block ends without return or yield", _location_of_block(block))


def _run_op(op: Operation, operands: Sequence[ValueT], rules: Rules[ValueT]) -> Sequence[ValueT]:
    if isinstance(op, fusion.FusedOp):
        return run_block(op.body.block, operands, rules)
    rule = rules.get(type(op))
    if rule is None:
        raise FheliumError(f"the reference cannot run '{op.name}' here", location_of(op))
    try:
        return [rule(op, *operands)]
    except FheliumError as error:
        error.location = error.location or location_of(op)
        raise


def _location_of_block(block: Block) -> str | None:
    parent = block.parent_op()
    return None if parent is None else location_of(parent)


def constant_vector(value: SSAValue) -> NDArray[np.float64]:
    """The vector that a constant op defines.

    Raises:
        FheliumError: the value is no constant of floats.
    """
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        return dense_vector(owner.value)
    raise FheliumError("the values to encode are not an arith.constant")


def constant_array(value: SSAValue) -> NDArray[np.float64]:
    """The numbers that a constant op defines, in the shape of its tensor.

    Raises:
        FheliumError: the value is no constant tensor of floats.
    """
    numbers = constant_vector(value)
    type_ = value.type
    return numbers.reshape(type_.get_shape()) if isinstance(type_, TensorType) else numbers


def dense_vector(attribute: Attribute) -> NDArray[np.float64]:
    """The vector in a dense attribute; a splat is repeated to its length.

    Raises:
        FheliumError: the attribute is no dense vector of floats.
    """
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        numbers = [x.value.data for x in attribute.get_attrs() if isinstance(x, FloatAttr)]
        if numbers:
            return np.array(numbers, dtype=np.float64)
    raise FheliumError("the values to encode are not a dense vector of floats")


def check_residues(
    name: str, array: NDArray[np.generic], shape: tuple[int, ...], primes: Sequence[int]
) -> NDArray[np.int64]:
    """The array as int64 [..., rows, N] after a check of its shape, type and canonical range.

    Args:
        name: what the array is, for the error.
        shape: the shape it must have.
        primes: the modulus of each row.

    Raises:
        FheliumError: says what is wrong.
    """
    if array.shape != shape:
        raise FheliumError(f"{name} has shape {list(array.shape)}, expected {list(shape)}")
    if not np.issubdtype(array.dtype, np.integer):
        raise FheliumError(f"{name} holds {array.dtype}, expected integers")
    rows = array.astype(np.int64)
    for index, q in enumerate(primes):
        row = rows[..., index, :]
        if row.min() < 0 or row.max() >= q:
            raise FheliumError(f"{name} is not reduced modulo {q}")
    return rows


def find_key(
    keys: Mapping[KeyName, NDArray[np.int64]], name: KeyName, parameters: Parameters
) -> NDArray[np.int64]:
    """A key [digits, 2, L+K, N], checked.

    Raises:
        FheliumError: it is missing or malformed.
    """
    kind, element = name
    label = f"key '{kind}'" if element is None else f"key '{kind} {element}'"
    if name not in keys:
        raise FheliumError(f"{label} is missing")
    primes = parameters.primes
    shape = (parameters.digit_count(), 2, len(primes), parameters.ring_degree)
    return check_residues(label, keys[name], shape, primes)
