"""Which primes of a mixed module belong to which arithmetic, and where the tables of a group have them.

A group is named by its arithmetic; None is the group of all primes of a module with one arithmetic.
"""

from __future__ import annotations

from fhelium_ir.dialects.rns import Limb, PolyFacts
from fhelium_ir.dialects.zq import group_of
from fhelium_ir.parameters import Parameters


def prime_of(limb: Limb, parameters: Parameters) -> int:
    """The prime of a limb."""
    return (parameters.q if limb.family == "q" else parameters.p)[limb.index]


def in_group(limb: Limb, parameters: Parameters, group: str | None) -> bool:
    """Whether a limb's prime belongs to a group."""
    return group is None or group_of(prime_of(limb, parameters)).name == group


def group_primes(parameters: Parameters, group: str | None) -> tuple[int, ...]:
    """The primes of a group, the chain first: the rows of its tables."""
    return tuple(q for q in parameters.primes if group is None or group_of(q).name == group)


def prime_index(limb: Limb, parameters: Parameters, group: str | None = None) -> int:
    """Number of a limb's prime, which belongs to the group, among the group's primes."""
    index = limb.index if limb.family == "q" else len(parameters.q) + limb.index
    if group is None:
        return index
    return sum(group_of(q).name == group for q in parameters.primes[:index])


def rows_in_group(facts: PolyFacts, parameters: Parameters, group: str | None) -> int:
    """Rows of a bundle's component whose prime belongs to a group."""
    return sum(in_group(limb, parameters, group) for _, limb in facts.rows())
