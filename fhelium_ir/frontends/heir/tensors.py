"""Handlers of `tensor` ops, on arrays of numbers and of handles."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType
from xdsl.ir import Attribute, Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir.machine import (
    Array,
    Handler,
    Machine,
    Node,
    Quick,
    QuickMaker,
    element_type,
    tensor_shape,
)

DYNAMIC = -(1 << 63)
"""Stands for a number that is an operand."""

MAX_ELEMENTS = 1 << 26


def element_dtype(type_: Attribute) -> type[Any]:
    """The numpy type for elements of a type: handles are objects."""
    if isinstance(type_, AnyFloat):
        return np.float64
    return np.int64 if isinstance(type_, IntegerType | IndexType) else object


def _result_shape(node: Node, sizes: Sequence[int] = ()) -> tuple[int, ...]:
    """The shape of the result; `sizes` are for the dimensions that are not static, in order."""
    shape = tensor_shape(node.op.results[0].type)
    if shape is None:
        raise FheliumError(f"{node.name}: the result must be a ranked tensor")
    given = iter(sizes)
    full = tuple(next(given) if size < 0 else size for size in shape)
    if prod(full) > MAX_ELEMENTS:
        raise FheliumError(f"{node.name}: a tensor has at most {MAX_ELEMENTS} elements")
    return full


def _element(node: Node) -> Attribute:
    found = element_type(node.op.results[0].type)
    assert found is not None
    return found


def _make(node: Node, shape: tuple[int, ...]) -> Array:
    dtype = element_dtype(_element(node))
    return np.full(shape, None, dtype=object) if dtype is object else np.zeros(shape, dtype=dtype)


def _empty(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (_make(node, _result_shape(node, values)),)


def _splat(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    result = _make(node, _result_shape(node, values[1:]))
    result.fill(values[0])
    return (result,)


def _from_elements(
    machine: Machine, node: Node, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    result = _make(node, _result_shape(node))
    flat = result.reshape(-1)
    for index, value in enumerate(values):
        flat[index] = value
    return (result,)


def _place(node: Node, array: Array, indices: Sequence[Any]) -> tuple[int, ...]:
    place = tuple(indices)
    if len(place) != array.ndim or not all(
        0 <= index < size for index, size in zip(place, array.shape, strict=True)
    ):
        shape = "x".join(map(str, array.shape))
        raise FheliumError(f"{node.name}: index {list(place)} is outside of the tensor of {shape}")
    return place


def _extract(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    array: Array = values[0]
    value: Any = array[_place(node, array, values[1:])]
    if value is None:
        raise FheliumError(f"{node.name}: the element {values[1:]} was never written")
    return (cast("Any", value.item() if isinstance(value, np.generic) else value),)


def _insert(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    value, array = values[0], values[1]
    place = _place(node, array, values[2:])
    if not array.flags.writeable:
        array = array.copy()
    array[place] = value
    return (array,)


def _slices(node: Node, array: Array, operands: list[Any], start: int) -> tuple[slice, ...]:
    """The slices of a slice op, whose operands after the tensors are offsets, sizes and strides."""
    dynamic = iter(operands[start:])

    def numbers(key: str) -> list[int]:
        static = cast("list[int]", node.attributes.get(key, []))
        return [next(dynamic) if number == DYNAMIC else number for number in static]

    offsets = numbers("static_offsets")
    sizes, strides = numbers("static_sizes"), numbers("static_strides")
    if not len(offsets) == len(sizes) == len(strides) == array.ndim:
        raise FheliumError(f"{node.name}: offsets, sizes and strides do not fit the tensor")
    found: list[slice] = []
    for offset, size, stride, extent in zip(offsets, sizes, strides, array.shape, strict=True):
        last = offset + (size - 1) * stride
        if offset < 0 or stride < 1 or size < 0 or (size and last >= extent):
            raise FheliumError(
                f"{node.name}: offset {offset}, size {size}, stride {stride} leave the tensor, "
                f"which has {extent} elements there"
            )
        found.append(slice(offset, last + 1 if size else offset, stride))
    return tuple(found)


def _extract_slice(
    machine: Machine, node: Node, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    array = values[0]
    part = array[_slices(node, array, values, 1)]
    shape = tensor_shape(node.op.results[0].type)
    assert shape is not None
    if -1 not in shape:
        part = part.reshape(shape)
    elif len(shape) != part.ndim:
        sizes = list(part.shape)
        while len(sizes) > len(shape) and 1 in sizes:
            sizes.remove(1)
        part = part.reshape(sizes)
    return (part if not array.flags.writeable and not part.flags.writeable else part.copy(),)


def _insert_slice(
    machine: Machine, node: Node, values: list[Any], frame: list[Any]
) -> Sequence[Any]:
    part, array = values[0], values[1]
    place = _slices(node, array, values, 2)
    if not array.flags.writeable:
        array = array.copy()
    target = array[place]
    target[...] = part.reshape(target.shape)
    return (array,)


def _reshape(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (values[0].reshape(_result_shape(node)).copy(),)


def _concat(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (np.concatenate(values, axis=node.integer("dim")),)


def _dim(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (int(values[0].shape[values[1]]),)


def _same(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (values[0],)


HANDLERS: dict[str, Handler] = {
    "tensor.empty": _empty,
    "tensor.splat": _splat,
    "tensor.from_elements": _from_elements,
    "tensor.extract": _extract,
    "tensor.insert": _insert,
    "tensor.extract_slice": _extract_slice,
    "tensor.insert_slice": _insert_slice,
    "tensor.parallel_insert_slice": _insert_slice,
    "tensor.expand_shape": _reshape,
    "tensor.collapse_shape": _reshape,
    "tensor.concat": _concat,
    "tensor.dim": _dim,
    "tensor.cast": _same,
}


def _quick_extract(op: Operation, operands: tuple[int, ...]) -> Quick | None:
    source, *indices = operands

    def run(frame: list[Any]) -> Any:
        place = [frame[index] for index in indices]
        value = frame[source].item(*place)
        if value is None or min(place, default=0) < 0:
            raise IndexError
        return value

    return run


def _quick_insert(op: Operation, operands: tuple[int, ...]) -> Quick | None:
    value, target, *indices = operands

    def run(frame: list[Any]) -> Any:
        array = frame[target]
        place = tuple([frame[index] for index in indices])
        if len(place) != array.ndim or min(place, default=0) < 0:
            raise IndexError
        array[place] = frame[value]
        return array

    return run


QUICK: dict[str, QuickMaker] = {
    "tensor.extract": _quick_extract,
    "tensor.insert": _quick_insert,
}
