"""Committing decided types: values, block arguments and function signatures together."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter


def commit_types(module: ModuleOp, types: Mapping[SSAValue, Attribute]) -> None:
    """Sets types of op results and block arguments, and makes function signatures agree.

    One walk. The inputs of a signature follow the entry block's arguments, its outputs the
    operands of the function's `func.return`. Ops keep their identity and values their name hints,
    but a retyped value is a new `SSAValue`: the keys of `types`, and of every other table keyed by
    value, are stale afterwards. A value whose type does not change stays the same object.

    Args:
        module: the module that holds every key of `types`.
        types: new type by value; values of the module that are not keys keep their type.

    Raises:
        ValueError: a key of `types` is not a value of the module, such as a stale one.
    """
    left = len(types)
    # Inner ops first: a function is reached when the operands of its return have their types.
    for op in module.walk(region_first=True):
        for value in _defined_by(op):
            new_type = types.get(value)
            if new_type is not None:
                left -= 1
                if new_type != value.type:
                    Rewriter.replace_value_with_new_type(value, new_type)
        if isinstance(op, func.FuncOp) and not op.is_declaration:
            _update_signature(op)
    if left:
        raise ValueError(f"{left} retyped values are not values of the module")


def _defined_by(op: Operation) -> list[SSAValue]:
    """The results of an op and the arguments of the blocks in its own regions."""
    values: list[SSAValue] = list(op.results)
    for region in op.regions:
        for block in region.blocks:
            values.extend(block.args)
    return values


def _update_signature(function: func.FuncOp) -> None:
    inputs = [argument.type for argument in function.args]
    outputs = list(function.function_type.outputs)
    for block in function.body.blocks:
        if isinstance(block.last_op, func.ReturnOp):
            outputs = [operand.type for operand in block.last_op.operands]
    signature = FunctionType.from_lists(inputs, outputs)
    if signature != function.function_type:
        function.function_type = signature
