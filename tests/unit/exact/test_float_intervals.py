"""Largest words of transforms on `fp64`, derived from the ops of their kernels: no op gets one that it does not take.

An interval is followed through each kernel in integers, from the rules of docs/numerics.md, "Floating-point words":
another derivation than that of the lowering, which tracks bounds while it decides what to reduce.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from xdsl.dialects.builtin import ModuleOp, f64
from xdsl.ir import SSAValue

from fhelium_ir.analysis import float_bounds
from fhelium_ir.dialects import kernel, zq
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.lowering.butterflies import FloatButterflies
from tests.unit.exact.floats import capacity, float_facts, transform_text
from tests.unit.exact.machine import REGION, lowered
from tests.unit.exact.test_transforms import name_of

TABLES = ("twiddles", "inverse_degree")


class TooLarge(AssertionError):
    """An op gets a word that it does not take."""


def product(x: int, w: int, q: int) -> int:
    """The largest product of words of at most these magnitudes.

    Raises:
        TooLarge: |x w| is above (2^51 - 1/2) q.
    """
    if 2 * x * w > ((1 << 52) - 1) * q:
        raise TooLarge("zq.mul")
    # q/2 + |x w| 2^-52 and 7/8 q, rounded down.
    return min((q << 51) + x * w >> 52, 7 * q // 8)


def largest_words(function: kernel.FuncOp, q: int, loaded: int) -> Iterator[int]:
    """What the stores of a kernel write at most, if it reads words of at most `loaded`.

    Raises:
        TooLarge: an op gets a word that it does not take.
    """
    words: dict[SSAValue, int] = {}
    for op in function.walk():
        match op:
            case kernel.LoadOp() if op.result.type == f64:
                words[op.result] = q // 2 if op.buffer.name_hint in TABLES else loaded
            case zq.MulOp():
                words[op.result] = product(words[op.lhs], words[op.rhs], q)
            case zq.AddOp() | zq.SubOp():
                words[op.result] = words[op.lhs] + words[op.rhs]
                if words[op.result] > 1 << 53:
                    raise TooLarge(op.name)
            case zq.ReduceOp():
                value = words[op.value]
                if value >= 1 << 52 or 2 * value > op.from_.value.data * q:
                    raise TooLarge(op.name)
                words[op.result] = q // 2
            case kernel.ExchangeOp():
                widest = max(words[value] for value in op.inputs)
                words.update((result, widest) for result in op.outputs)
            case kernel.StoreOp():
                yield words[op.value]
            case _:
                pass


def check(module: ModuleOp, q: int, below: int) -> None:
    """Follows the largest words from kernel to kernel: from at most q to the interval of the contract."""
    loaded = q
    for function in (op for op in module.walk() if isinstance(op, kernel.FuncOp)):
        loaded = max(largest_words(function, q, loaded))
    if 2 * loaded > below * q:
        raise TooLarge("the contract")


SCHEDULES = [
    Schedule(kernels, 1, 1, 1, table_stages)
    for kernels, tables in (
        (((4, 4), (4, 4)), (0, 3, 8, 12)),
        (((4, 3), (3, 3)), (0, 4, 7, 10)),
        (((3, 2), (3, 2), (3,)), (0, 3, 8)),
        (((2,), (4,), (4,), (2, 1)), (0, 3, 6)),
        (((1,), (1,), (2, 2), (4,)), (0, 3, 5)),
    )
    for table_stages in tables
]


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("schedule", SCHEDULES, ids=name_of)
def test_every_op_takes_the_largest_words(schedule: Schedule, direction: str) -> None:
    degree = 1 << schedule.stages()
    for size in ("50", "49.68", "49", "30"):
        facts = float_facts(size, degree)
        module = lowered(transform_text(facts, direction, schedule), REGION)
        for q in facts.q:
            check(module, q, capacity(max(facts.q)))


@pytest.mark.parametrize("direction", ["forward", "inverse"])
def test_loosened_bounds_are_found(direction: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each bound is needed: with any of them looser some op gets too large a word."""
    facts = float_facts("50", 1 << 16)
    text = transform_text(facts, direction, Schedule(((4, 4), (4, 4)), 1, 1, 1, 4))
    limit, tracked = float_bounds.limit, float_bounds.product

    def looser_limit(largest: int) -> Fraction:
        return limit(largest) + 1

    def smaller_products(bound: Fraction, largest: int, factor: Fraction) -> Fraction:
        return min(tracked(bound, largest, factor), Fraction(1, 2))

    def centred(self: FloatButterflies, y: SSAValue) -> Fraction:
        return Fraction(1, 2)

    for place, name, change in (
        (float_bounds, "limit", looser_limit),
        (float_bounds, "product", smaller_products),
        (FloatButterflies, "_factor", centred),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(place, name, change)
            module = lowered(text, REGION)
            with pytest.raises(TooLarge):
                check(module, facts.q[0], capacity(max(facts.q)))
