"""Layouts: moves of numbers as text, what they make of tensors, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fhelium_ir.client.layout import (
    Layout,
    Moves,
    TensorInput,
    TensorResult,
    find_moves,
    probe_numbers,
)
from fhelium_ir.compiler.errors import FheliumError

Array = NDArray[np.float64]

LAYOUT = Layout(
    4,
    (
        TensorInput("a", (2, 2), 1.0, True),
        TensorInput("w", (3,), 2.0, False),
        TensorInput("b", (), 1.0, True),
    ),
    (
        ("a", Moves("0 2 1 3", 4)),
        ("b", Moves("4*4", 4)),
        ("zero", Moves("=0*4", 4)),
        ("plain", Moves("0..2 =0.5", 4)),
    ),
    (TensorResult((2, 1), Moves("1 7", 2)), TensorResult((), Moves("0", 1))),
)
VECTORS = {"a": (4, True), "b": (4, True), "zero": (4, True), "plain": (4, False)}


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("", []),
        ("2", [30]),
        ("0..3", [10, 20, 30, 40]),
        ("3..3 0", [40, 10]),
        ("1*3 =-0.25 =1e-3*2", [20, 20, 20, -0.25, 0.001, 0.001]),
    ],
)
def test_tokens(text: str, numbers: list[float]) -> None:
    source = np.array([10.0, 20.0, 30.0, 40.0])
    assert Moves(text, len(numbers)).apply(source).tolist() == numbers


@pytest.mark.parametrize(
    ("text", "length", "message"),
    [
        ("x", 1, "its layout holds 'x'"),
        ("-1", 1, "its layout holds '-1'"),
        ("3..1", 1, "its layout holds '3..1'"),
        ("0..1*2", 4, "its layout holds '0..1*2'"),
        ("1*0", 0, "its layout holds '1*0'"),
        ("=nan", 1, "its layout holds '=nan'"),
        ("=1e999", 1, "its layout holds '=1e999'"),
        ("=1-", 1, "its layout holds '=1-'"),
        ("1" * 20, 1, "its layout holds '1111"),
        ("4", 1, "its layout names place 4 of 4"),
        ("2..4", 3, "its layout names place 4 of 4"),
        ("0..1", 3, "its layout does not stand for 3 numbers"),
        ("0..1", 1, "its layout does not stand for 1 numbers"),
        ("=0*999999999", 4, "its layout does not stand for 4 numbers"),
    ],
)
def test_malformed_moves(text: str, length: int, message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        Moves(text, length).apply(np.zeros(4))
    assert message in caught.value.message


def found(function: Callable[[Array], Array], count: int = 8, start: int = 0) -> str | None:
    both = probe_numbers(count)
    moves = find_moves(both, [function(probe) for probe in both], start)
    return None if moves is None else moves.text


def test_moves_are_found() -> None:
    assert found(lambda x: x) == "0..7"
    assert found(lambda x: x[::-1]) == "7 6 5 4 3 2 1 0"
    assert found(lambda x: np.array([x[3], x[3], 0, 0, 0, 0.25, x[1], x[2]])) == (
        "3*2 =0*3 =0.25 1..2"
    )
    assert found(lambda x: x[4:6], start=100) == "104..105"
    assert found(lambda x: np.zeros(3), count=0) == "=0*3"
    assert found(lambda x: np.zeros(0)) == ""


COMPUTATIONS: list[Callable[[Array], Array]] = [
    lambda x: 2 * x,
    lambda x: -x,
    lambda x: x + 1,
    lambda x: np.abs(x),
    lambda x: x * x,
    lambda x: x * x[::-1],
    lambda x: np.round(x),
    lambda x: np.maximum(x, 0),
    lambda x: np.sort(x),
    lambda x: np.array([x.max()]),
    lambda x: np.array([x[0], np.nan]),
    lambda x: np.array([x[0], np.inf]),
]


@pytest.mark.parametrize("function", COMPUTATIONS)
def test_computations_are_no_moves(function: Callable[[Array], Array]) -> None:
    assert found(function) is None


def test_what_is_found_does_what_was_done() -> None:
    generator = np.random.default_rng(7)
    for _ in range(50):
        count, length = generator.integers(1, 20), generator.integers(1, 40)
        place = generator.integers(-2, count, length)

        def move(x: Array, place: NDArray[np.int64] = place) -> Array:
            return np.where(place < 0, place / 4, x[np.maximum(place, 0)])

        both = probe_numbers(int(count))
        moves = find_moves(both, [move(probe) for probe in both])
        assert moves is not None
        other = generator.normal(size=count)
        assert np.array_equal(moves.apply(other), move(other))


def test_tensors_become_vectors() -> None:
    tensors = LAYOUT.read({"a": [[1, 0.5], [0.25, 0]], "b": -1}, encrypted=True)
    packed = LAYOUT.pack(tensors, ["a", "b", "zero"], encrypted=True)
    assert packed["a"].tolist() == [1, 0.25, 0.5, 0]
    assert packed["b"].tolist() == [-1] * 4
    assert packed["zero"].tolist() == [0] * 4
    assert packed["a"].dtype == np.complex128
    plain = LAYOUT.pack(LAYOUT.read({"w": [2, 1, 0]}, encrypted=False), ["plain"], encrypted=False)
    assert plain["plain"].tolist() == [2, 1, 0, 0.5]


def test_slots_become_tensors() -> None:
    """Vectors are repeated to fill the slots; imaginary parts are noise."""
    slots = [np.tile([0.0, 1, 2, 3], 2) + 1e-9j, np.tile([4.0, 5, 6, 7], 2) + 0j]
    first, second = LAYOUT.unpack(slots)
    assert first.tolist() == [[1.0], [7.0]]
    assert second.shape == () and second.item() == 0.0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"a": [[0, 0], [0, 0]]}, "in.json: input 'b' is missing"),
        ({"c": 1}, "in.json: unknown input 'c', expected a, b"),
        ({"w": [1, 1, 1]}, "in.json: input 'w' is given to the server, it does not belong here"),
        ({"a": [0, 0, 0, 0], "b": 0}, "in.json: input 'a' must have shape 2x2, found 4"),
        ({"a": [[0], [0, 0]], "b": 0}, "in.json: input 'a' must be 2x2"),
        ({"a": [[0, 0], [0, 0]], "b": [0]}, "input 'b' must have shape one number, found 1"),
        ({"a": [["0", 0], [0, 0]], "b": 0}, "input 'a' holds '0', expected a number"),
        ({"a": [[True, 0], [0, 0]], "b": 0}, "input 'a' holds True, expected a number"),
        ({"a": [[None, 0], [0, 0]], "b": 0}, "input 'a' holds None, expected a number"),
        ({"a": [[0, 0], [0, 0]], "b": "0"}, "input 'b' holds '0', expected a number"),
        ({"a": [[0, 0], [0, 0]], "b": {}}, "input 'b' must be one number"),
        ({"a": [[10**400, 0], [0, 0]], "b": 0}, "input 'a' must be 2x2"),
        ({"a": [[1j, 0], [0, 0]], "b": 0}, "input 'a' must be 2x2"),
        ({"a": [[float("inf"), 0], [0, 0]], "b": 0}, "holds a number that is not finite"),
        ({"a": [[0, 0], [0, -1.5]], "b": 0}, "input 'a' holds a number of absolute value 1.5"),
    ],
)
def test_inputs_that_do_not_fit(given: dict[str, object], message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        LAYOUT.read(given, True, "in.json: ")
    assert message in caught.value.message


def test_inputs_of_the_other_side() -> None:
    with pytest.raises(FheliumError, match="input 'a' is encrypted by the client"):
        LAYOUT.read({"a": 1}, encrypted=False)
    with pytest.raises(FheliumError, match="unknown input 'x', there are none to give"):
        replace(LAYOUT, inputs=LAYOUT.given(True)).read({"x": 1}, encrypted=False)


def test_facts_go_through_json_and_back() -> None:
    again = Layout.of_facts(json.loads(json.dumps(LAYOUT.facts())))
    assert again == LAYOUT
    again.check(VECTORS, 2)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("version", 2, "its layout has version 2, this release reads 1"),
        ("version", None, "its layout has version None"),
        ("slots", 0, "its entry 'slots' is out of range"),
        ("slots", "4", "its entry 'slots' is missing or not of type int"),
        ("inputs", {}, "its entry 'inputs' is missing or not of type list"),
        ("inputs", [{"name": "a", "shape": [-1]}], "its entry 'shape' is out of range"),
        ("inputs", [{"name": "a", "shape": [1 << 20, 1 << 20]}], "'shape' is out of range"),
        ("inputs", [{"name": "a", "shape": [True]}], "'shape' must be a list of integers"),
        ("inputs", [{"name": "a", "shape": [2], "range": 1}], "'range' is missing or not"),
        ("vectors", [{"name": "a", "from": 3}], "its entry 'from' is missing or not of type str"),
        ("results", [3], "its entry 'results' must be a list of objects"),
    ],
)
def test_malformed_facts(entry: str, value: object, message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        Layout.of_facts({**LAYOUT.facts(), entry: value})
    assert message in caught.value.message


def test_layouts_of_another_program() -> None:
    with pytest.raises(FheliumError, match="its layout is for other arguments"):
        LAYOUT.check({"a": (4, True)}, 2)
    with pytest.raises(FheliumError, match="its layout of 'zero' has 4 numbers"):
        LAYOUT.check({**VECTORS, "zero": (8, True)}, 2)
    with pytest.raises(FheliumError, match="its layout names place 4 of 3"):
        LAYOUT.check({**VECTORS, "b": (4, False)}, 2)
    with pytest.raises(FheliumError, match="its layout names place 7 of 4"):
        LAYOUT.check(VECTORS, 1)
