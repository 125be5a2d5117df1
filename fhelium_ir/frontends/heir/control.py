"""Handlers of loops, branches and calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr
from xdsl.ir.affine import AffineConstraintKind, AffineMap

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir.machine import UNKNOWN, Code, Handler, Machine, Node


def _known(node: Node, value: Any, what: str) -> int:
    if value is UNKNOWN:
        raise FheliumError(
            f"{node.name}: the {what} depends on an argument; only constants and induction "
            "variables may decide"
        )
    if not isinstance(value, int):
        raise FheliumError(f"{node.name}: the {what} must be an integer")
    return value


def _body(node: Node, index: int = 0) -> Code:
    code = node.blocks[index] if index < len(node.blocks) else None
    if code is None:
        raise FheliumError(f"{node.name}: the body is missing")
    return code


def _loop(
    machine: Machine, node: Node, bounds: range, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    code = _body(node)
    for index in bounds:
        values = machine.run(code, [index, *values], frame)
    return values


def _for(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    low, high, step = (
        _known(node, value, what)
        for value, what in zip(values, ("lower bound", "upper bound", "step"), strict=False)
    )
    if step < 1:
        raise FheliumError(f"{node.name}: the step is {step}, it must be positive")
    return _loop(machine, node, range(low, high, step), values[3:], frame)


def _affine(map_: AffineMap, operands: Sequence[Any]) -> list[int]:
    dims = [cast("int", value) for value in operands[: map_.num_dims]]
    symbols = [cast("int", value) for value in operands[map_.num_dims :]]
    return list(map_.eval(dims, symbols))


def _map(node: Node, key: str) -> AffineMap:
    attribute = node.attributes.get(key)
    if not isinstance(attribute, AffineMapAttr):
        raise FheliumError(f"{node.name}: needs an affine map `{key}`")
    return attribute.data


def _affine_for(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    sizes = cast("list[int]", node.attributes.get("operandSegmentSizes", [0, 0, len(values)]))
    low_count, high_count = sizes[0], sizes[1]
    for value in values[: low_count + high_count]:
        _known(node, value, "bound")
    low = max(_affine(_map(node, "lowerBoundMap"), values[:low_count]))
    high = min(_affine(_map(node, "upperBoundMap"), values[low_count : low_count + high_count]))
    step = node.integer("step", 1)
    return _loop(machine, node, range(low, high, step), values[low_count + high_count :], frame)


def _affine_apply(
    machine: Machine, node: Node, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    results = _affine(_map(node, "map"), values)
    if node.name == "affine.apply":
        return results
    return (min(results) if node.name == "affine.min" else max(results),)


def _if(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    condition = _known(node, values[0], "condition")
    return _branch(machine, node, bool(condition), frame)


_COMPARE: dict[AffineConstraintKind, Callable[[int, int], bool]] = {
    AffineConstraintKind.ge: lambda a, b: a >= b,
    AffineConstraintKind.le: lambda a, b: a <= b,
    AffineConstraintKind.eq: lambda a, b: a == b,
}


def _affine_if(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    attribute = node.attributes.get("condition")
    if not isinstance(attribute, AffineSetAttr):
        raise FheliumError("affine.if: needs a `condition`")
    constraints = attribute.data
    dims, symbols = values[: constraints.num_dims], values[constraints.num_dims :]
    for value in values:
        _known(node, value, "condition")
    holds = all(
        _COMPARE[c.kind](c.lhs.eval(dims, symbols), c.rhs.eval(dims, symbols))
        for c in constraints.constraints
    )
    return _branch(machine, node, holds, frame)


def _branch(machine: Machine, node: Node, taken: bool, frame: list[Any]) -> Sequence[Any]:
    code = node.blocks[0 if taken else 1] if len(node.blocks) > (not taken) else None
    if code is None:
        return ()
    return machine.run(code, (), frame)


def _call(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return machine.call(str(node.attributes.get("callee")), values)


HANDLERS: dict[str, Handler] = {
    "scf.for": _for,
    "scf.if": _if,
    "affine.for": _affine_for,
    "affine.if": _affine_if,
    "affine.apply": _affine_apply,
    "affine.min": _affine_apply,
    "affine.max": _affine_apply,
    "func.call": _call,
}

TRANSPARENT = ("scf.for", "scf.if", "affine.for", "affine.if", "func.call")
