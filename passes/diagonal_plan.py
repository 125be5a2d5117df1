"""Chooses the baby step of a linear transform by diagonals."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

GIANT_COST = 1.0
"""A rotation of its own: decomposition, inner product with the key, division by P."""

BABY_COST = 0.3
"""One of several rotations of the same value: an inner product with the key. They share a decomposition
(`hoist-rotations`), and inner sums are divided by P, not what they add up (`merge-divisions`)."""


@dataclass(frozen=True)
class DiagonalPlan:
    """Diagonal d = giant + baby with 0 <= baby < step, giant a multiple of step.

    Attributes:
        step: n1.
        babies: rotations of the operand, 0 left out.
        giants: rotations of inner sums, 0 left out.
    """

    step: int
    babies: tuple[int, ...]
    giants: tuple[int, ...]

    @property
    def rotations(self) -> int:
        return len(self.babies) + len(self.giants)

    @property
    def cost(self) -> float:
        return BABY_COST * len(self.babies) + GIANT_COST * len(self.giants)


def plan_with(step: int, diagonals: Collection[int]) -> DiagonalPlan:
    """The plan for a given baby step."""
    babies = sorted({d % step for d in diagonals} - {0})
    giants = sorted({d - d % step for d in diagonals} - {0})
    return DiagonalPlan(step, tuple(babies), tuple(giants))


def cheapest_plan(size: int, diagonals: Collection[int]) -> DiagonalPlan:
    """The cheapest plan over baby steps 1, 2, 4, ..., `size`; of equals that with fewer rotations.

    Products with plaintexts are as many as diagonals in every plan. Baby-step giant-step: Halevi and Shoup, "Faster
    homomorphic linear transformations in HElib" (2018).
    """
    steps = [1 << log for log in range(size.bit_length())]
    plans = [plan_with(step, diagonals) for step in steps]
    return min(plans, key=lambda plan: (plan.cost, plan.rotations, -plan.step))
