"""Composed rotations: equal results, allowed steps, fewest key switches by exhaustive search."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import ckks
from fhelium_ir.passes.compose_rotations import Paths
from tests.unit.passes.expanding import after, cleartext, count, program

SLOTS = 8
X = np.random.default_rng(1).uniform(-1, 1, SLOTS)


def rotations(*steps: int) -> str:
    """The sum of rotations of %x, as %r."""
    lines = [
        f"%t{i} = ckks.rotate %x {{steps = {s}}} : !ckks.ciphertext" for i, s in enumerate(steps)
    ]
    lines.append("%s0 = ckks.negate %t0 : !ckks.ciphertext")
    for i in range(1, len(steps)):
        lines.append(f"%s{i} = ckks.sub %s{i - 1}, %t{i} : !ckks.ciphertext")
    lines.append(f"%r = ckks.negate %s{len(steps) - 1} : !ckks.ciphertext")
    return "\n".join(lines)


def fewest(steps: int, keys: list[int]) -> int | None:
    """By trying all sequences of at most SLOTS keys."""
    for length in range(SLOTS + 1):
        if any(sum(way) % SLOTS == steps % SLOTS for way in product(keys, repeat=length)):
            return length
    return None


key_sets = st.lists(st.integers(-7, 7).filter(bool), min_size=1, max_size=3, unique=True)


@given(st.integers(-20, 20), key_sets)
@settings(max_examples=40)
def test_ways_are_shortest(steps: int, keys: list[int]) -> None:
    paths, expected = Paths(SLOTS, tuple(keys)), fewest(steps, keys)
    assert paths.length(steps) == expected
    if expected is not None:
        way = paths.way(steps)
        assert len(way) == expected and set(way) <= set(keys)
        assert sum(way) % SLOTS == steps % SLOTS


@given(st.lists(st.integers(-9, 9), min_size=1, max_size=5), key_sets)
@settings(max_examples=40)
def test_results_stay_and_steps_are_allowed(steps: list[int], keys: list[int]) -> None:
    assume(all(fewest(s, keys) is not None for s in steps))
    module = program(rotations(*steps), 2 * SLOTS, 1)
    composed = after(module, f"compose-rotations{{keys={','.join(map(str, keys))}}}")
    np.testing.assert_allclose(cleartext(composed, x=X), cleartext(module, x=X), atol=1e-14)
    used = {op.step for op in composed.walk() if isinstance(op, ckks.RotateOp)}
    assert used <= set(keys)
    apart = sum(fewest(s, keys) or 0 for s in steps)
    assert count(composed, "ckks.rotate") <= apart


def test_powers_of_two_of_many_slots() -> None:
    """With 1, 2, 4, ... as many key switches as the binary number has ones; with both signs fewer."""
    slots = 1 << 15
    powers = tuple(1 << log for log in range(15))
    paths = Paths(slots, powers)
    assert all(paths.length(s) == s.bit_count() for s in range(0, slots, 97))
    both = Paths(slots, powers + tuple(-p for p in powers))
    assert paths.length(slots - 1) == 15 and both.length(slots - 1) == 1


def test_chains_of_rotations() -> None:
    body = """%a = ckks.rotate %x {steps = 3} : !ckks.ciphertext
      %b = ckks.rotate %a {steps = 2} : !ckks.ciphertext
      %c = ckks.rotate %b {steps = 3} : !ckks.ciphertext
      %d = ckks.rotate %b {steps = 4} : !ckks.ciphertext
      %r = ckks.sub %c, %d : !ckks.ciphertext"""
    module = program(body, 2 * SLOTS, 1)
    merged = after(module, "compose-rotations")
    expected = X - np.roll(X, -9)
    for found in (module, merged, after(module, "compose-rotations{keys=1,2,4}")):
        np.testing.assert_allclose(cleartext(found, x=X), expected)
    # 3 + 2 + 3 = 8 is nothing; 3 + 2 + 4 = 9 is 1
    assert count(merged, "ckks.rotate") == 1


def test_a_sum_needs_its_powers_only() -> None:
    body = "%r = ckks.sum_slots %x {count = 8} : !ckks.ciphertext"
    module = after(program(body, 16, 1), "ckks-expand,compose-rotations{keys=1,2,4}")
    assert [op.step for op in module.walk() if isinstance(op, ckks.RotateOp)] == [1, 2, 4]


@pytest.mark.parametrize("keys", ["2", "2,4", "-2"])
def test_a_step_that_cannot_be_reached(keys: str) -> None:
    with pytest.raises(FheliumError, match="a rotation by 3 of 8 slots cannot be composed"):
        after(program(rotations(2, 3), 16, 1), f"compose-rotations{{keys={keys}}}")
