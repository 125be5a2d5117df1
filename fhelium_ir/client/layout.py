"""Layouts: how the tensors of a source program become vectors of slots, and how its results are read from slots.

A layout only moves numbers. It is plain data, a part of the program's interface: whoever has that can encrypt and
decrypt without the source program.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.client.facts import entry, integers, rows
from fhelium_ir.compiler.errors import FheliumError

VERSION = 1
"""Of layouts; a reader refuses any other."""

MAX_NUMBERS = 1 << 26
"""A tensor or vector has at most so many."""

Tensor = NDArray[Any]

_TOKEN = re.compile(
    r"(?P<first>\d{1,9})\.\.(?P<last>\d{1,9})"
    r"|(?:(?P<place>\d{1,9})|=(?P<constant>-?\d[\d.e+-]{0,30}))(?:\*(?P<count>[1-9]\d{0,8}))?"
)


@dataclass(frozen=True)
class Moves:
    """Where each number of a vector or tensor comes from.

    Attributes:
        text: tokens with spaces between them. `7` is the number at place 7 of the source, `7..9` those at 7, 8 and 9,
            `=0.5` is 0.5; `*4` behind a token that stands for one number repeats it four times.
        length: numbers that the tokens stand for.
    """

    text: str
    length: int

    def apply(self, source: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers, float64 [length].

        Raises:
            FheliumError: a token is malformed, a place is not in the source, or the length is another.
        """
        parts: list[NDArray[np.float64]] = []
        left = self.length
        for place, step, count, constant in _tokens(self.text):
            left -= count
            if left < 0:
                break
            if constant is not None:
                parts.append(np.full(count, constant))
            elif place + step * (count - 1) >= source.size:
                last = place + step * (count - 1)
                raise FheliumError(f"its layout names place {last} of {source.size}")
            elif step:
                parts.append(source[place : place + count])
            else:
                parts.append(np.full(count, source[place]))
        if left:
            raise FheliumError(f"its layout does not stand for {self.length} numbers")
        return np.concatenate(parts) if parts else np.zeros(0)


def _tokens(text: str) -> Iterator[tuple[int, int, int, float | None]]:
    """For each token: place, step of the places, how many numbers, and the constant."""
    for token in text.split():
        match = _TOKEN.fullmatch(token)
        if match is None:
            raise FheliumError(f"its layout holds '{token[:40]}'")
        first, last, place, constant, count = match.groups()
        if first is not None:
            if int(last) < int(first):
                raise FheliumError(f"its layout holds '{token}'")
            yield int(first), 1, int(last) - int(first) + 1, None
        elif place is not None:
            yield int(place), 0, int(count or 1), None
        else:
            yield 0, 0, int(count or 1), _constant(constant)


def _constant(text: str) -> float:
    try:
        value = float(text)
    except ValueError as error:
        raise FheliumError(f"its layout holds '={text}'") from error
    if not math.isfinite(value):
        raise FheliumError(f"its layout holds '={text}'")
    return value


def probe_numbers(count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two vectors float64 [n] of different numbers from 1/2 to 1.

    The second holds the negative squares of the first: order and sign are reversed, magnitudes are others, so that
    comparing or computing is not taken for moving. With 52 random bits each, coincidences do not matter.
    """
    numbers = np.random.default_rng(0).uniform(0.5, 1.0, count)
    return numbers, -numbers * numbers


def find_moves(
    probes: Sequence[NDArray[np.float64]],
    results: Sequence[NDArray[np.float64]],
    start: int = 0,
) -> Moves | None:
    """The moves that take each probe to its result; None if something else than moving numbers was done.

    Args:
        probes: what `probe_numbers` gave, or parts of it.
        results: float64 [m] for each.
        start: place of the first number of the probes.
    """
    (first, second), (found, again) = probes, results
    if not bool(np.isfinite(found).all()):
        return None
    moved, place = np.zeros(found.size, dtype=bool), np.zeros(found.size, dtype=np.int64)
    if first.size:
        order = np.argsort(first)
        place = order[np.minimum(np.searchsorted(first[order], found), first.size - 1)]
        moved = (first[place] == found) & (second[place] == again)
    if not bool((moved | (found == again)).all()):
        return None
    return Moves(" ".join(_write(moved, place + start, found)), found.size)


def _write(moved: Tensor, place: Tensor, values: Tensor) -> Iterator[str]:
    """Tokens for places or constants, runs of equal and of consecutive ones taken together."""
    items: list[int | float] = [
        int(p) if m else float(v) for m, p, v in zip(moved, place, values, strict=True)
    ]
    start = 0
    while start < len(items):
        item, end = items[start], start + 1
        while end < len(items) and items[end] == item and type(items[end]) is type(item):
            end += 1
        if end == start + 1 and isinstance(item, int):
            while (
                end < len(items)
                and isinstance(items[end], int)
                and items[end] == item + end - start
            ):
                end += 1
            yield str(item) if end == start + 1 else f"{item}..{items[end - 1]}"
        else:
            name = str(item) if isinstance(item, int) else f"={_short(item)}"
            yield name if end == start + 1 else f"{name}*{end - start}"
        start = end


def _short(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1 << 53 else repr(value)


@dataclass(frozen=True)
class TensorInput:
    """An input of the source program.

    Attributes:
        name: by which it is given.
        shape: () is one number.
        range: largest absolute value.
        encrypted: by the client; otherwise the server gives it in plain.
    """

    name: str
    shape: tuple[int, ...]
    range: float
    encrypted: bool


@dataclass(frozen=True)
class TensorResult:
    """A result of the source program: its shape, and where its numbers stand. Places count the slots of all result
    vectors, `slots` for each."""

    shape: tuple[int, ...]
    moves: Moves


@dataclass(frozen=True)
class Layout:
    """The layout of one program.

    Attributes:
        slots: length of the source program's vectors, which are repeated to fill the slots.
        inputs: in the order of the source program.
        vectors: for each argument of the program its name and moves. Places count the numbers of all inputs that are
            encrypted, or for a plaintext argument of all that are not, row by row, one input after the other.
        results: in the order of the source program.
    """

    slots: int
    inputs: tuple[TensorInput, ...]
    vectors: tuple[tuple[str, Moves], ...]
    results: tuple[TensorResult, ...]

    def given(self, encrypted: bool) -> tuple[TensorInput, ...]:
        """The inputs that the client encrypts, or those that the server gives in plain."""
        return tuple(tensor for tensor in self.inputs if tensor.encrypted == encrypted)

    def read(
        self, given: Mapping[str, object], encrypted: bool, where: str = ""
    ) -> dict[str, Tensor]:
        """Tensors from nested lists, those that the client encrypts or those that it does not.

        Raises:
            FheliumError: names a missing, unknown or malformed input.
        """
        tensors = self.given(encrypted)
        for other in self.given(not encrypted):
            if other.name in given:
                place = (
                    "is encrypted by the client" if other.encrypted else "is given to the server"
                )
                raise FheliumError(f"{where}input '{other.name}' {place}, it does not belong here")
        return read_tensors(tensors, given, where)

    def pack(
        self, tensors: Mapping[str, Tensor], names: Sequence[str], encrypted: bool
    ) -> dict[str, NDArray[np.complex128]]:
        """The vectors of the program's arguments with these names, from tensors that `read` gave."""
        source = _flat([tensors[tensor.name] for tensor in self.given(encrypted)])
        vectors = dict(self.vectors)
        return {name: vectors[name].apply(source).astype(np.complex128) for name in names}

    def unpack(self, results: Sequence[NDArray[np.complex128]]) -> list[NDArray[np.float64]]:
        """The results as tensors, from the slots of the program's results."""
        source = _flat([np.asarray(result.real)[: self.slots] for result in results])
        return [result.moves.apply(source).reshape(result.shape) for result in self.results]

    def check(self, vectors: Mapping[str, tuple[int, bool]], results: int) -> None:
        """Checks that every move can be made.

        Args:
            vectors: length of each argument of the program, and whether it is encrypted.
            results: how many results the program has.

        Raises:
            FheliumError: the layout does not fit the program.
        """
        if [name for name, _ in self.vectors] != list(vectors):
            raise FheliumError("its layout is for other arguments")
        for name, moves in self.vectors:
            length, encrypted = vectors[name]
            if moves.length != length:
                raise FheliumError(f"its layout of '{name}' has {moves.length} numbers")
            moves.apply(np.zeros(sum(prod(t.shape) for t in self.given(encrypted))))
        for result in self.results:
            result.moves.apply(np.zeros(self.slots * results))

    def facts(self) -> dict[str, object]:
        """The layout as plain data for JSON; `of_facts` is its inverse."""
        return {
            "version": VERSION,
            "slots": self.slots,
            "inputs": [
                {
                    "name": tensor.name,
                    "shape": list(tensor.shape),
                    "range": tensor.range,
                    "encrypted": tensor.encrypted,
                }
                for tensor in self.inputs
            ],
            "vectors": [
                {"name": name, "length": moves.length, "from": moves.text}
                for name, moves in self.vectors
            ],
            "results": [
                {"shape": list(result.shape), "from": result.moves.text} for result in self.results
            ],
        }

    @staticmethod
    def of_facts(facts: Mapping[str, object]) -> Layout:
        """The layout that was written as plain data; `check` it against its program.

        Raises:
            FheliumError: it has another version, or names the entry that is missing or malformed.
        """
        version = facts.get("version")
        if version != VERSION or isinstance(version, bool):
            raise FheliumError(f"its layout has version {version}, this release reads {VERSION}")
        slots = entry(facts, "slots", int)
        if not 1 <= slots <= MAX_NUMBERS:
            raise FheliumError("its entry 'slots' is out of range")
        return Layout(
            slots,
            tuple(
                TensorInput(
                    entry(row, "name", str),
                    _shape(row),
                    entry(row, "range", float),
                    entry(row, "encrypted", bool),
                )
                for row in rows(facts, "inputs")
            ),
            tuple(
                (entry(row, "name", str), Moves(entry(row, "from", str), entry(row, "length", int)))
                for row in rows(facts, "vectors")
            ),
            tuple(
                TensorResult(_shape(row), Moves(entry(row, "from", str), prod(_shape(row))))
                for row in rows(facts, "results")
            ),
        )


def _flat(tensors: Sequence[Tensor]) -> NDArray[np.float64]:
    return np.concatenate([np.zeros(0), *(tensor.reshape(-1) for tensor in tensors)])


def _shape(row: Mapping[str, object]) -> tuple[int, ...]:
    shape = integers(row, "shape")
    if any(size < 0 for size in shape) or prod(shape) > MAX_NUMBERS:
        raise FheliumError("its entry 'shape' is out of range")
    return shape


def read_tensors(
    tensors: Sequence[TensorInput], given: Mapping[str, object], where: str
) -> dict[str, NDArray[np.float64]]:
    """One tensor float64 for each input, from nested lists or arrays.

    Args:
        where: what to put in front of an error.

    Raises:
        FheliumError: names a missing, unknown or malformed input.
    """
    names = [tensor.name for tensor in tensors]
    for name in given:
        if name not in names:
            known = f"expected {', '.join(names)}" if names else "there are none to give"
            raise FheliumError(f"{where}unknown input '{name}', {known}")
    found: dict[str, NDArray[np.float64]] = {}
    for tensor in tensors:
        if tensor.name not in given:
            raise FheliumError(f"{where}input '{tensor.name}' is missing")
        found[tensor.name] = _tensor(tensor, given[tensor.name], where)
    return found


def _tensor(tensor: TensorInput, given: object, where: str) -> NDArray[np.float64]:
    """A tensor of finite numbers within the bound."""
    name = tensor.name
    text = "x".join(map(str, tensor.shape)) or "one number"
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise FheliumError(f"{where}input '{name}' must be {text}: {error}") from error
    if values.shape != tensor.shape:
        found = "x".join(map(str, values.shape)) or "one number"
        raise FheliumError(f"{where}input '{name}' must have shape {text}, found {found}")
    _check_numbers(given, name, where)
    largest = float(np.abs(values).max()) if values.size else 0.0
    if not math.isfinite(largest):
        raise FheliumError(f"{where}input '{name}' holds a number that is not finite")
    if not largest <= tensor.range * (1 + 1e-12):
        raise FheliumError(
            f"{where}input '{name}' holds a number of absolute value {largest:g}, the program "
            f"was read with a range of {tensor.range:g} (option `range` of the frontend)"
        )
    return values


def _check_numbers(given: object, name: str, where: str) -> None:
    """Refuses what numpy takes for a number: truth values, texts and null."""
    if isinstance(given, list):
        for item in cast("list[object]", given):
            _check_numbers(item, name, where)
    elif isinstance(given, bool | str | None):
        raise FheliumError(f"{where}input '{name}' holds {given!r}, expected a number")
