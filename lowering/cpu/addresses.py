"""Offsets as sums of multiples: where a load or store stands, and which ones stand side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.lane_analysis import LaneFacts, keeps_all

Root = SSAValue | int
"""A value of the kernel that is no sum, or the number of a lane axis: the lane's position on it."""


@dataclass(frozen=True)
class Offset:
    """`constant` + sum of factor * root, modulo 2^64."""

    constant: int
    terms: tuple[tuple[Root, int], ...]

    def factor(self, root: Root) -> int:
        """What a root is multiplied by."""
        return next((factor for known, factor in self.terms if known == root), 0)


class Offsets:
    """Takes offsets apart.

    Args:
        facts: what is the same for all lanes stays a root.
        aliases: other names of values.
    """

    def __init__(self, facts: LaneFacts, aliases: Mapping[SSAValue, SSAValue]):
        self._facts = facts
        self._aliases = aliases
        self._known: dict[SSAValue, tuple[int, dict[Root, int]]] = {}

    def of(self, value: SSAValue) -> Offset:
        """The sum that a value is."""
        constant, terms = self._parts(value)
        return Offset(constant, tuple((root, factor) for root, factor in terms.items() if factor))

    def _parts(self, value: SSAValue) -> tuple[int, dict[Root, int]]:
        while value in self._aliases:
            value = self._aliases[value]
        if value not in self._known:
            self._known[value] = self._take_apart(value)
        return self._known[value]

    def _take_apart(self, value: SSAValue) -> tuple[int, dict[Root, int]]:
        op = value.owner
        if type(op) is arith.ConstantOp and isinstance(op.value, IntegerAttr):
            return op.value.value.data, {}
        if type(op) is kernel.LaneIdOp:
            # An axis of one lane is as good as the number 0.
            return 0, {op.axis.value.data: 1} if self._facts.masks[value] else {}
        if type(op) is arith.AndIOp and keeps_all(op, self._facts):
            return self._parts(op.lhs)
        if self._facts.masks.get(value, 0) == 0:
            return 0, {value: 1}
        if type(op) is arith.AddiOp:
            return _sum(self._parts(op.lhs), self._parts(op.rhs), 1)
        if type(op) is arith.SubiOp:
            return _sum(self._parts(op.lhs), self._parts(op.rhs), -1)
        if type(op) is arith.MuliOp or type(op) is arith.ShLIOp:
            number = op.rhs.owner
            if isinstance(number, arith.ConstantOp) and isinstance(number.value, IntegerAttr):
                factor = number.value.value.data
                if type(op) is arith.ShLIOp:
                    factor = 1 << (factor & 63)
                return _sum((0, {}), self._parts(op.lhs), factor)
        return 0, {value: 1}


def _sum(
    left: tuple[int, dict[Root, int]], right: tuple[int, dict[Root, int]], factor: int
) -> tuple[int, dict[Root, int]]:
    terms = dict(left[1])
    for root, times in right[1].items():
        terms[root] = terms.get(root, 0) + factor * times
    return left[0] + factor * right[0], terms
