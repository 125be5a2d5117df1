"""Which primes have which arithmetic in a mixed module, and their numbers."""

from __future__ import annotations

from fhelium_ir.analysis.prime_groups import (
    group_primes,
    in_group,
    prime_index,
    prime_of,
    rows_in_group,
)
from fhelium_ir.dialects.rns import Basis, Digits, Limb, PolyFacts
from fhelium_ir.dialects.zq import group_of
from fhelium_ir.parameters import Parameters

BELOW, ABOVE = 1125899906840833, 1125899906842769
"""Primes on both sides of 2^50."""

WIDE, NARROW = 1152921504606846577, 97
PARAMETERS = Parameters(8, (NARROW, ABOVE, BELOW), (WIDE, 113), 2, 20, insecure=True)


def test_doubles_take_primes_below_2_to_the_50() -> None:
    names = [group_of(q).name for q in (NARROW, BELOW, ABOVE, WIDE)]
    assert names == ["fp64", "fp64", "mont64", "mont64"]


def test_primes_are_numbered_in_their_group() -> None:
    assert group_primes(PARAMETERS, "fp64") == (NARROW, BELOW, 113)
    assert group_primes(PARAMETERS, "mont64") == (ABOVE, WIDE)
    assert group_primes(PARAMETERS, None) == PARAMETERS.primes
    limbs = Basis((0, 3), (0, 2)).limbs()
    for group in ("fp64", "mont64", None):
        inside = [limb for limb in limbs if in_group(limb, PARAMETERS, group)]
        primes = [prime_of(limb, PARAMETERS) for limb in inside]
        assert tuple(primes) == group_primes(PARAMETERS, group)
        assert [prime_index(limb, PARAMETERS, group) for limb in inside] == [*range(len(primes))]
    assert prime_index(Limb("p", 1), PARAMETERS) == 4


def test_rows_of_digits() -> None:
    """Digits of two limbs: {q0, q1} without their own, then {q2}."""
    facts = PolyFacts(8, Basis((0, 3), (0, 2)), 1, Digits("complement", 2), "coefficient")
    assert rows_in_group(facts, PARAMETERS, "fp64") == 2 + 2
    assert rows_in_group(facts, PARAMETERS, "mont64") == 1 + 2
