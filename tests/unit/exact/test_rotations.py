"""Rotations by known amounts: which keys they need, and where slots go."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.dialects import host, kernel
from fhelium_ir.lowering.link import link
from tests.unit.exact.machine import NoKeys
from tests.unit.exact.test_key_switching import (
    SCALE,
    Compiled,
    ciphertext,
    compiled,
    parameters,
)

FACTS = parameters(2, 2, 1)
VECTOR = np.array([0.5, -1j, 0.25, -0.75 + 0.5j])


@lru_cache
def rotated(steps: int, target: str = "interpret") -> Compiled:
    body = f"%r = ckks.rotate %x0 {{steps = {steps}}} : {ciphertext(1)}"
    return compiled(FACTS, [ciphertext(1)], ciphertext(1), body, target)


@pytest.mark.parametrize("steps", [0, 4, -4, 4 << 20])
@pytest.mark.parametrize("target", ["interpret", "cpu", "triton-interpret"])
def test_a_rotation_by_nothing_needs_nothing(steps: int, target: str) -> None:
    program = rotated(steps, target)
    assert program.required_keys == ()
    ops = list(program.lowered.walk())
    assert not [op for op in ops if isinstance(op, kernel.FuncOp | host.LaunchOp)]
    client = Client(FACTS, seed=1)
    x = client.encrypt_vector(VECTOR, SCALE, 1)
    (result,), runtime = link(program.lowered, NoKeys(), target).run_counted(x)
    assert runtime.launches == 0
    assert torch.equal(result, x)


@pytest.mark.parametrize(
    ("steps", "element"), [(1, 5), (2, 9), (-1, 13), (-2, 9), (5, 5), (-5, 13)]
)
def test_galois_elements_and_directions(steps: int, element: int) -> None:
    program = rotated(steps)
    assert program.required_keys == (("galois", element),)
    client = Client(FACTS, seed=1)
    x = client.encrypt_vector(VECTOR, SCALE, 1)
    (result,) = link(program.lowered, ClientKeys(client), "interpret").run(x)
    # Left rotation: slot j of the result is slot j + steps, which wraps around.
    expected = np.array([VECTOR[(j + steps) % 4] for j in range(4)])
    assert np.abs(client.decrypt_vector(result, SCALE) - expected).max() < 2.0**-8


def test_rotations_that_wrap_share_key_and_words() -> None:
    body = (
        f"%a = ckks.rotate %x0 {{steps = 1}} : {ciphertext(1)}\n"
        f"%b = ckks.rotate %x0 {{steps = 5}} : {ciphertext(1)}\n"
        f"%r = ckks.sub %a, %b : {ciphertext(1)}"
    )
    program = compiled(FACTS, [ciphertext(1)], ciphertext(1), body, "interpret")
    assert program.required_keys == (("galois", 5),)
    client = Client(FACTS, seed=1)
    x = client.encrypt_vector(VECTOR, SCALE, 1)
    (difference,) = link(program.lowered, ClientKeys(client), "interpret").run(x)
    assert not difference.any()
    results = [
        link(rotated(steps).lowered, ClientKeys(client), "interpret").run(x)[0]
        for steps in (1, 5, -3)
    ]
    assert torch.equal(results[0], results[1]) and torch.equal(results[0], results[2])
