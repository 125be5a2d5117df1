"""What a plan of levels asks of the parameters: sizes of the chain's primes, digits of key switching, their cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, inf, log2

from fhelium_ir.analysis.level_plan import LevelPlan, Node
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters

SPARE_BITS = 0.6
"""For the distance of primes and level scales from powers of two."""


@dataclass(frozen=True)
class Shape:
    """Sizes of primes in bits and the number of digits; `cost` is that of all key switches."""

    q_bits: tuple[int, ...]
    p_bits: tuple[int, ...]
    digits: int
    cost: float

    @property
    def total_bits(self) -> int:
        return sum(self.q_bits) + sum(self.p_bits)


def chain_bits(plans: Sequence[LevelPlan], scale_bits: int, max_bits: int) -> tuple[int, ...]:
    """Sizes of q_0, q_1, ...: one prime of the scale's size for each level, below them what every value needs to fit.

    A value at S or S^2 that is k levels above the end has k primes of the scale's size over the lowest ones; twice its
    bound must stay below their product. The lowest primes are as few as `max_bits` allows.

    Raises:
        FheliumError: a value has no bound.
    """
    base = scale_bits + 1.0
    for plan in plans:
        for node in plan.nodes:
            if node.bound == inf:
                raise FheliumError(
                    "a value has no bound: state smaller inputs with ckks.range",
                    location_of(node.source),
                )
            if node.bound > 0:
                spare = plan.depth - node.depth
                need = (2 if node.product else 1) * scale_bits + log2(node.bound) + 1
                base = max(base, need + SPARE_BITS - spare * scale_bits)
    count = ceil(base / max_bits)
    depth = max((plan.depth for plan in plans), default=0)
    return (ceil(base / count),) * count + (scale_bits,) * depth


def shapes(
    plans: Sequence[LevelPlan], q_bits: tuple[int, ...], max_bits: int, ring_degree: int
) -> list[Shape]:
    """One shape for each useful number of digits, cheapest first."""
    found: list[Shape] = []
    for size in range(1, len(q_bits) + 1):
        digits = -(-len(q_bits) // size)
        if -(-len(q_bits) // digits) != size:
            continue  # this many digits have fewer limbs each
        digit_bits = max(sum(q_bits[i : i + size]) for i in range(0, len(q_bits), size))
        # P has to be above the product of a digit's primes, which need not be below their nominal sizes.
        spare = SPARE_BITS if size > 1 else 0.0
        count = ceil((digit_bits + spare) / max_bits)
        p_bits = (ceil((digit_bits + spare) / count),) * count
        lowest = len(q_bits) - 1 - max((plan.depth for plan in plans), default=0)
        cost = sum(
            _key_switch_cost(lowest + plan.depth - node.depth, size, count, ring_degree)
            for plan in plans
            for node in _key_switches(plan)
        )
        found.append(Shape(q_bits, p_bits, digits, cost))
    return sorted(found, key=lambda shape: (shape.cost, shape.total_bits, shape.digits))


def _key_switches(plan: LevelPlan) -> Iterator[Node]:
    for node in plan.nodes:
        rotates = isinstance(node.source, ckks.RotateOp | ckks.ConjugateOp)
        if node.kind == "relinearize" or (node.kind == "op" and rotates):
            yield node


def _key_switch_cost(level: int, digit_size: int, special: int, ring_degree: int) -> float:
    """Transforms of one key switch, each as much as log2 N passes over a limb, and the passes over its key."""
    limbs = level + 1
    digits = -(-limbs // digit_size)
    up = digits * (limbs + special) - limbs  # a digit's own limbs stay as they are
    transforms = limbs + up + 2 * special + 2 * limbs
    return transforms * log2(ring_degree) + 2 * digits * (limbs + special)


def build(shape: Shape, ring_degree: int, scale_bits: int) -> Parameters:
    """Primes for a shape, without the security check; raises FheliumError if there are not enough."""
    return generate(
        ring_degree, shape.q_bits, shape.p_bits, shape.digits, scale_bits, insecure=True
    )
