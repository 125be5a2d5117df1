"""Inputs from Python: what is accepted, and one error for each mistake. JSON is tested with the tools."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.inputs import checked_vectors, encode_plaintexts, random_inputs
from fhelium_ir.client.interface import Argument, Interface, Result
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError

TINY = generate(32, [50, 40], [51], 2, 40, insecure=True)
X = Argument("x", True, 1, Fraction(1 << 40), 4, 2.0)
W = Argument("w", False, 0, Fraction(1 << 30), 2, 1.0, 1)
INTERFACE = Interface("f", TINY, (X, W), (Result("result0", 1, Fraction(1 << 40)),), ())


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(TINY, seed=1)


@pytest.mark.parametrize(
    "values",
    [
        [1, 0.5, -2, 1j],
        (1, 0.5, -2, 1j),
        [1, [0.5], [-2, 0], [0, 1]],
        np.array([1, 0.5, -2, 1j]),
        [np.float64(1), np.float32(0.5), np.int64(-2), np.complex128(1j)],
        torch.tensor([1, 0.5, -2, 1j]),
    ],
)
def test_kinds_of_vectors(client: Client, values: object) -> None:
    found = checked_vectors([X], {"x": values})
    assert np.array_equal(found["x"], [1, 0.5, -2, 1j])
    encrypted = client.encrypt(INTERFACE, {"x": found["x"]})
    assert list(encrypted) == ["x"] and tuple(encrypted["x"].shape) == (2, 2, 32)
    (slots,) = client.decrypt(INTERFACE, [encrypted["x"]])
    assert np.abs(slots - np.tile(found["x"], 4)).max() < 1e-8


def test_plaintexts_are_exact() -> None:
    encoded = encode_plaintexts(INTERFACE, {"w": [0.5, 0.5]})["w"]
    # The constant polynomial 2^29: all its evaluations are equal.
    assert torch.equal(encoded, torch.full((1, 1, 32), 1 << 29))


@pytest.mark.parametrize(
    "values, message",
    [
        ({}, "input 'x' is missing"),
        ({"x": [0] * 4, "y": [0]}, "unknown input 'y', expected x"),
        ({"x": [0] * 4, "w": [0, 0]}, "input 'w' is given to the server, it does not belong here"),
        ({"x": [0] * 3}, "input 'x' must have 4 numbers, found 3"),
        ({"x": np.zeros(5)}, "input 'x' must have 4 numbers, found 5"),
        ({"x": np.zeros((2, 2))}, "input 'x' has shape [2, 2]"),
        ({"x": np.array([0, 0, 0, np.nan])}, "input 'x' holds a value that is not finite"),
        ({"x": [0, 0, 0, float("inf")]}, "input 'x' holds inf, which is not finite"),
        ({"x": [0, 0, 0, complex(0, float("nan"))]}, "which is not finite"),
        ({"x": [0, 0, 0, 2.1]}, "absolute value 2.1, the program states a range of 2"),
        ({"x": np.array([0, 0, 0, 2 + 1j])}, "the program states a range of 2"),
        ({"x": [0, 0, 0, "1"]}, "input 'x' holds '1', expected a number or [re, im]"),
        ({"x": np.array(["1"] * 4)}, "input 'x' must hold numbers"),
        ({"x": 1.0}, "input 'x' must be a list of numbers"),
        ({"x": None}, "input 'x' must be a list of numbers"),
    ],
)
def test_mistakes(client: Client, values: dict[str, list[float]], message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        client.encrypt(INTERFACE, values)
    assert message in caught.value.message


def test_strings_that_look_like_numbers_are_none() -> None:
    with pytest.raises(FheliumError, match="must hold numbers"):
        checked_vectors([X], {"x": np.array(["one", "two", "3", "4"])})


def test_mistakes_in_plaintexts() -> None:
    with pytest.raises(FheliumError, match="input 'w' is missing"):
        encode_plaintexts(INTERFACE, {})
    with pytest.raises(FheliumError, match="input 'x' is encrypted by the client"):
        encode_plaintexts(INTERFACE, {"w": [0, 0], "x": [0] * 4})
    nothing = replace(INTERFACE, arguments=(X,))
    with pytest.raises(FheliumError, match="unknown input 'v', there are none to give"):
        encode_plaintexts(nothing, {"v": [1]})


def test_ciphertexts_of_three_components_are_not_encrypted(client: Client) -> None:
    triple = replace(INTERFACE, arguments=(replace(X, size=3),))
    with pytest.raises(FheliumError, match="input 'x' is a ciphertext of size 3"):
        client.encrypt(triple, {"x": [0] * 4})


def test_other_parameters(client: Client) -> None:
    other = replace(INTERFACE, parameters=replace(TINY, digits=1))
    for action in (
        lambda: client.encrypt(other, {"x": [0] * 4}),
        lambda: client.keygen(other),
        lambda: client.decrypt(other, []),
    ):
        with pytest.raises(FheliumError, match="'f' was compiled for other parameters"):
            action()


def test_a_missing_result(client: Client) -> None:
    with pytest.raises(FheliumError, match="program 'f' has 1 results, found 0"):
        client.decrypt(INTERFACE, [])


def test_random_inputs_stay_in_their_ranges() -> None:
    found = random_inputs([replace(X, length=4096), W], 3)
    largest = np.abs(found["x"]).max()
    assert 1.9 < largest <= 2.0
    assert found["w"].shape == (2,)
    assert np.array_equal(random_inputs([W], 3)["w"], random_inputs([W], 3)["w"])
