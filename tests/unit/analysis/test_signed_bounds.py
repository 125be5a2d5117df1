"""Bounds of signed words: what docs/numerics.md states of them, and that they hold for words at their ends."""

from __future__ import annotations

from fractions import Fraction

import pytest

from fhelium_ir.analysis import signed_bounds
from fhelium_ir.dialects.zq import towards_zero

STATED = {
    (1 << 28) - 1: (8, [12], Fraction(747, 100)),
    351797249: (Fraction(61, 10), [9, 13], Fraction(579, 100)),
    (1 << 29) - 1: (4, [5, 7, 9, 11, 13, 15], Fraction(339, 100)),
    (1 << 30) - 1: (2, list(range(2, 17)), Fraction(172, 100)),
}
"""By prime: the limit, the stages with a step, and the bound after 16 stages."""


@pytest.mark.parametrize("q", STATED)
def test_the_stated_table(q: int) -> None:
    limit, steps, bound = STATED[q]
    assert signed_bounds.limit(q) >= limit and signed_bounds.limit(q) * q <= 1 << 31
    found, words = list[int](), Fraction(1)
    for stage in range(1, 17):
        moved, words = signed_bounds.forward_sum(
            words, signed_bounds.product(words, q), signed_bounds.limit(q)
        )
        assert words <= signed_bounds.limit(q)
        if moved:
            found.append(stage)
    assert found == steps
    assert bound - Fraction(1, 100) < words <= bound
    assert signed_bounds.after_stages(Fraction(1), 16, q) == words


def test_limits_are_at_least_two_and_at_most_eight() -> None:
    for bits in range(8, 31):
        assert 2 <= signed_bounds.limit((1 << bits) - 1) <= 8


@pytest.mark.parametrize("below", range(3, 40))
def test_a_step_halves_an_interval(below: int) -> None:
    """Every word of the interval, for q = 7."""
    step, narrower = towards_zero(below)
    q = 7
    words = range(-(below * q // 2), (below * q - 1) // 2 + 1)
    moved = [word - step * q if word >= 0 else word + step * q for word in words]
    assert -narrower * q <= 2 * min(moved) and 2 * max(moved) < narrower * q
    assert narrower < below and narrower <= below / 2 + 1
    bound = signed_bounds.halved(Fraction(below, 2))
    assert 2 * bound <= narrower


def test_terms() -> None:
    for q, centred, full in (((1 << 30) - 1, 3, 2), ((1 << 28) - 1, 15, 10)):
        limit = signed_bounds.limit(q)
        for terms, bound in ((centred, signed_bounds.CENTRED), (full, limit)):
            assert signed_bounds.terms_fit(terms, bound, q)
            assert not signed_bounds.terms_fit(terms + 1, bound, q)
