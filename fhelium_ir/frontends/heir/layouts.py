"""What HEIR's packing does, found by packing numbers that are all different."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.client.layout import (
    Layout,
    Moves,
    TensorInput,
    TensorResult,
    find_moves,
    probe_numbers,
)
from fhelium_ir.frontends.heir.machine import Array

Pack: TypeAlias = "Callable[[dict[str, Array]], Mapping[str, NDArray[np.complex128]]]"
"""From tensors to vectors, by name."""

Unpack: TypeAlias = "Callable[[list[NDArray[np.complex128]]], list[Array]]"
"""From vectors to tensors."""


@dataclass(frozen=True)
class Group:
    """Inputs, and the arguments that are packed from them and from no others.

    Attributes:
        inputs: of the source program, all encrypted or none.
        vectors: names of the arguments.
        encrypted: whether the arguments are.
        range: largest absolute value in the arguments.
    """

    inputs: Sequence[TensorInput]
    vectors: Sequence[str]
    encrypted: bool
    range: float


def find_layout(
    slots: int, groups: Sequence[Group], results: Sequence[int], pack: Pack, unpack: Unpack
) -> Layout:
    """The layout of a program.

    Where packing computes instead of moving numbers, the vectors of the group take the place of its tensors; where
    unpacking does, the vectors [count, slots] are the result.

    Args:
        slots: length of the vectors.
        groups: of all arguments, in their order.
        results: vectors of each result of the source program.
        pack: the packing of the source program.
        unpack: the unpacking.
    """
    probes = _probes([tensor for group in groups for tensor in group.inputs])
    packed = [pack(probe) for probe in probes]
    inputs: list[TensorInput] = []
    vectors: list[tuple[str, Moves]] = []
    places = {True: 0, False: 0}
    for group in groups:
        start = places[group.encrypted]
        names = [tensor.name for tensor in group.inputs]
        numbers = [
            np.concatenate([np.zeros(0), *(probe[name].reshape(-1) for name in names)])
            for probe in probes
        ]
        moves = [
            find_moves(numbers, [vectors[name].real for vectors in packed], start)
            for name in group.vectors
        ]
        given = list(group.inputs)
        if None in moves:
            count = len(group.vectors)
            given = [
                TensorInput(name, (slots,), group.range, group.encrypted) for name in group.vectors
            ]
            moves = [_same(start + index * slots, slots) for index in range(count)]
        inputs += given
        vectors += [(n, m) for n, m in zip(group.vectors, moves, strict=True) if m is not None]
        places[group.encrypted] += sum(prod(tensor.shape) for tensor in given)
    return Layout(slots, tuple(inputs), tuple(vectors), _results(slots, results, unpack))


def _results(slots: int, counts: Sequence[int], unpack: Unpack) -> tuple[TensorResult, ...]:
    probes = probe_numbers(sum(counts) * slots)
    first, second = (
        unpack(list(probe.astype(np.complex128).reshape(-1, slots))) for probe in probes
    )
    found: list[TensorResult] = []
    start = 0
    for count, result, again in zip(counts, first, second, strict=True):
        moves = find_moves(probes, (result.reshape(-1), again.reshape(-1)))
        shape = result.shape
        if moves is None:
            moves, shape = _same(start, count * slots), (count, slots)
        found.append(TensorResult(shape, moves))
        start += count * slots
    return tuple(found)


def _same(start: int, count: int) -> Moves:
    return Moves(f"{start}..{start + count - 1}", count)


def _probes(tensors: Sequence[TensorInput]) -> list[dict[str, Array]]:
    sizes = [prod(tensor.shape) for tensor in tensors]
    ends = np.cumsum(sizes, dtype=np.int64)
    return [
        {
            tensor.name: numbers[end - size : end].reshape(tensor.shape)
            for tensor, size, end in zip(tensors, sizes, ends, strict=True)
        }
        for numbers in probe_numbers(sum(sizes))
    ]
