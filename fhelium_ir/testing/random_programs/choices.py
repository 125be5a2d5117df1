"""Where the choices of a generator come from: a seed, or hypothesis, which can shrink them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Choices:
    """All choices are integers; 0, or the first of several things, is the simplest one.

    Attributes:
        integer: an integer from the first to the second argument, both included.
    """

    integer: Callable[[int, int], int]

    @staticmethod
    def seeded(seed: str) -> Choices:
        """The choices of a seed, the same on every machine."""
        return Choices(Random(seed).randint)

    def of(self, options: Sequence[T]) -> T:
        """One of several things."""
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """Whether something happens that is rare: never if `percent` is 0."""
        return self.integer(0, 99) >= 100 - percent

    def weighted(self, weights: Mapping[T, int]) -> T:
        """One key, as often as its weight says."""
        number = self.integer(0, sum(weights.values()) - 1)
        for key, weight in weights.items():
            number -= weight
            if number < 0:
                return key
        raise AssertionError("there are no weights")

    def number(self, limit: float) -> float:
        """A number from -limit to limit, some of them special."""
        special = self.integer(0, 9)
        if special < 3:
            return (1.0, -1.0, 0.5)[special] * min(1.0, limit)
        return round(self.integer(-1000, 1000) / 1000 * limit, 6)
