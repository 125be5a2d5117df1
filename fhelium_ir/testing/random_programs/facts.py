"""Facts of values while a program is made: what they hold, and whether an op is allowed on them.

The rules are stricter than the compiler's, so that a program within them must compile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, log2

from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale
from fhelium_ir.testing.random_programs.statements import Op

CHEBYSHEV_GROWTH = 4.0
"""Interval arithmetic on the expanded form of a Chebyshev series finds a bound larger by up to this."""

SMALLEST_SCALE = 14
"""Bits. Below, errors would be as large as the values."""


UNIT = Scale()


class NotAllowed(Exception):
    """An op that the generator must not write."""


@dataclass(frozen=True)
class Facts:
    """Of a ciphertext or plaintext.

    Attributes:
        bound: on the absolute value of each slot.
        depth: levels used so far; for functions whose levels the compiler manages.
        level, scale, size: for functions that state them; size is 1 for plaintexts.
    """

    bound: float
    depth: int = 0
    level: int = 0
    scale: Scale = UNIT
    size: int = 2


@dataclass(frozen=True)
class Managed:
    """Rules of functions that leave levels and scales to the compiler.

    Attributes:
        levels: that the chain has.
        room: largest bound for which every value has headroom at every level.
        steps: of a rotation, at most; without parameters they are a lower bound on the slots.
    """

    levels: int
    room: float
    steps: int

    @staticmethod
    def on(parameters: Parameters, steps: int) -> Managed:
        spare = log2(parameters.q[0]) - parameters.scale_bits - 1.5
        return Managed(parameters.top_level, 2.0**spare, steps)

    def rule(self, op: Op, *x: Facts, count: int) -> Facts:
        """The facts of an op's result.

        Raises:
            NotAllowed: too deep or too large.
        """
        if op.kind == "encode":
            return Facts(max(map(abs, op.values)), 0, size=1)
        bound = result_bound(op, [facts.bound for facts in x], count)
        depth = max(facts.depth for facts in x) + levels_used(op)
        if op.kind in ("rotate", "rotate_dynamic") and abs(count) > self.steps:
            raise NotAllowed
        if depth > self.levels or bound > self.room:
            raise NotAllowed
        return Facts(bound, depth)


@dataclass(frozen=True)
class Stated:
    """Rules of functions that state levels and scales."""

    parameters: Parameters

    def rule(self, op: Op, *x: Facts, count: int) -> Facts:
        """The facts of an op's result.

        Raises:
            NotAllowed: by the rules of docs/programs.md, or there would be no headroom.
        """
        bound = result_bound(op, [facts.bound for facts in x], count)
        facts = self._facts(op, x, count)
        facts = replace(facts, bound=bound)
        self.check(facts)
        return facts

    def _facts(self, op: Op, x: tuple[Facts, ...], count: int) -> Facts:
        first = x[0]
        match op.kind:
            case "add" | "sub":
                _require(x[1].size == first.size)
                _require((x[1].level, x[1].scale) == (first.level, first.scale))
                return first
            case "add_plain" | "sub_plain":
                _require((x[1].level, x[1].scale) == (first.level, first.scale))
                return first
            case "mul":
                _require(first.size == x[1].size == 2 and first.level == x[1].level)
                return replace(first, scale=first.scale * x[1].scale, size=3)
            case "mul_plain":
                _require(first.level == x[1].level)
                return replace(first, scale=first.scale * x[1].scale)
            case "linear_transform":
                _require(first.size == 2)
                return replace(first, scale=first.scale * Scale(self.parameters.scale_bits))
            case "relinearize":
                _require(first.size == 3)
                return replace(first, size=2)
            case "rescale":
                _require(first.level > 0)
                scale = first.scale.over_prime(first.level)
                return replace(first, level=first.level - 1, scale=scale)
            case "mod_switch":
                _require(first.level >= max(1, count))
                return replace(first, level=first.level - max(1, count))
            case "rotate" | "rotate_dynamic" | "conjugate" | "sum_slots":
                _require(first.size == 2)
                return first
            case "negate":
                return first
            case _:
                raise NotAllowed

    def check(self, facts: Facts) -> None:
        """Raises NotAllowed without headroom, or where the scale is too small for any precision."""
        bits = facts.scale.log2(self.parameters.q)
        _require(bits >= SMALLEST_SCALE)
        # half a bit is left for errors
        have = log2(self.parameters.modulus(facts.level)) - 0.5
        _require(facts.bound == 0 or 1 + bits + log2(facts.bound) < have)


def _require(condition: bool) -> None:
    if not condition:
        raise NotAllowed


def levels_used(op: Op) -> int:
    """Levels that an op takes."""
    match op.kind:
        case "mul" | "mul_plain" | "linear_transform":
            return 1
        case "polynomial":
            degree = max(k for k, value in enumerate(op.values) if value)
            return ceil(log2(degree + 1)) + (op.domain not in (None, (-1.0, 1.0)))
        case _:
            return 0


def result_bound(op: Op, bounds: list[float], count: int) -> float:
    """A bound on the absolute value of a result's slots, from those of the operands."""
    match op.kind:
        case "add" | "sub" | "add_plain" | "sub_plain":
            return _up(bounds[0] + bounds[1])
        case "mul" | "mul_plain":
            return _up(bounds[0] * bounds[1])
        case "sum_slots":
            return _up(count * bounds[0])
        case "linear_transform":
            return _up(_row_sum(op) * bounds[0])
        case "polynomial":
            return _polynomial(op, bounds[0])
        case _:
            return bounds[0]


def _up(value: float) -> float:
    """Above what the compiler's own rounding makes of it."""
    return value * (1 + 2**-40)


def _row_sum(op: Op) -> float:
    size = len(op.values) // op.rows
    if op.diagonals is None:
        rows = [op.values[i * size : (i + 1) * size] for i in range(op.rows)]
    else:
        rows = [op.values[j::size] for j in range(size)]
    return max(sum(map(abs, row)) for row in rows)


def _polynomial(op: Op, bound: float) -> float:
    if op.basis == "chebyshev":
        low, high = op.domain or (-1.0, 1.0)
        _require(bound <= min(-low, high))
        return CHEBYSHEV_GROWTH * max(1.0, bound, sum(map(abs, op.values)))
    powers = [abs(c) * max(1.0, bound) ** k for k, c in enumerate(op.values)]
    # powers stand alone on the way
    return _up(max(bound, sum(powers), max(1.0, bound) ** (len(op.values) - 1)))


def ratio(left: Scale, right: Scale, q: tuple[int, ...]) -> Fraction:
    """How far the quotient of two scales differs from 1."""
    return abs((left * right.inverse()).value(q) - 1)
