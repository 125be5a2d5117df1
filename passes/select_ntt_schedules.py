"""`select-ntt-schedules`: the contract of every transform and the order of every evaluation."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.region_words import LARGEST_CAPACITY
from fhelium_ir.analysis.representatives import Words, poly, words_of
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import ntt
from fhelium_ir.dialects.ntt import Contract, ContractAttr
from fhelium_ir.dialects.rns import PolyFacts, PolyType
from fhelium_ir.dialects.zq import FLOATING

PASS = "select-ntt-schedules"
ORDER = "bit_reversed"

FORWARD = Contract(ORDER, input_below=4, output_below=4)
"""Lazy Cooley-Tukey butterflies take and leave words in [0, 4q) (Harvey, "Faster arithmetic for
number-theoretic transforms", 2014); in between, the lowering lets sums fill the word.
"""

INVERSE = Contract(ORDER, input_below=2, output_below=2)
"""Lazy Gentleman-Sande butterflies take and leave words in [0, 2q), the product with N^-1 included."""

CONTRACTS = {FLOATING: "float_contract"}
"""Properties that hold the contracts of groups of primes in a mixed module; all others are `contract`."""

SIGNED_INPUT = 2
"""What butterflies on words with a sign take: products and canonical integers are words of at most q."""


def best_contract(op: ntt.TransformOp, words: Words, facts: PolyFacts) -> Contract:
    """The narrowest contract that the butterflies achieve.

    Butterflies of `fp64` reduce words where a sum would leave its capacity, so a result is as wide
    as the capacity. So is that of the forward ones of `smont32`, but no wider than is of use.
    """
    capacity = words.capacity(facts.basis)
    if words.arithmetic.floating:
        return Contract(ORDER, SIGNED_INPUT, capacity)
    if words.arithmetic.signed and isinstance(op, ntt.ForwardOp):
        return Contract(ORDER, SIGNED_INPUT, min(capacity, LARGEST_CAPACITY))
    return FORWARD if isinstance(op, ntt.ForwardOp) else INVERSE


@dataclass(frozen=True)
class SelectNttSchedules(ModulePass):
    """Gives every transform its contract and every evaluation domain its order, bit-reversed.

    A hand-written contract is kept if the butterflies achieve it: their words stay in an interval,
    so an operand may not exceed that interval, and a result may be said to lie in it or in a wider
    one that fits the word. The exponent stays; only the inverse can change it, through N^-1. Values
    do not change.

    Needs select-arithmetic.
    """

    name = PASS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        words = words_of(op, PASS)
        types: dict[SSAValue, Attribute] = {}
        counts: Counter[tuple[str, Contract]] = Counter()
        for inner in op.walk():
            for region in inner.regions:
                for block in region.blocks:
                    for argument in block.args:
                        _order(argument, types)
            for result in inner.results:
                _order(result, types)
            if isinstance(inner, ntt.TransformOp):
                for group in words.groups:
                    chosen = _select(inner, group)
                    if chosen is not None:
                        counts[inner.name, chosen] += 1
        commit_types(op, types)
        for (name, best), count in counts.items():
            contract = f"{ORDER}, below {best.input_below}q in, below {best.output_below}q out"
            remark(PASS, None, "applied", f"{count} {name}: {contract}")


def _order(value: SSAValue, types: dict[SSAValue, Attribute]) -> None:
    facts = poly(value)
    if facts is not None and facts.domain == "evaluation" and facts.order is None:
        types[value] = PolyType(replace(facts, order=ORDER))


def _select(op: ntt.TransformOp, words: Words) -> Contract | None:
    """Gives a transform its contract; None if it has one."""
    facts = poly(op.operand)
    assert facts is not None
    best = best_contract(op, words, facts)
    stated = op.contract_of(words.group)
    if stated is not None:
        _check(op, stated, best, words, facts)
        remark(PASS, op, "analysis", "kept the contract that is stated")
        return None
    if best.output_below > words.capacity(facts.basis):
        raise FheliumError(
            f"{PASS}: words below {best.output_below}q do not fit {words.arithmetic.name} for the "
            f"primes {facts.basis}",
            location_of(op),
        )
    op.properties[CONTRACTS.get(words.group or "", "contract")] = ContractAttr(best)
    return best


def _changes(op: ntt.TransformOp, words: Words) -> tuple[int, ...]:
    """The changes of the exponent that a transform can make; words of a mixed module's `fp64` have none."""
    fixed = isinstance(op, ntt.ForwardOp) or words.group == FLOATING
    return (0,) if fixed else (-1, 0, 1)


def _check(
    op: ntt.TransformOp, given: Contract, best: Contract, words: Words, facts: PolyFacts
) -> None:
    """Raises FheliumError if the butterflies do not achieve a contract."""
    capacity = words.capacity(facts.basis)
    problem = None
    if given.input_below > best.input_below:
        problem = f"takes words below {best.input_below}q at most, not {given.input_below}q"
    elif given.output_below < best.output_below:
        problem = f"leaves words below {best.output_below}q, not {given.output_below}q"
    elif given.output_below > capacity:
        problem = f"has words of {capacity}q at most, not {given.output_below}q"
    elif given.exponent_change not in _changes(op, words):
        problem = f"cannot change the exponent by {given.exponent_change}"
    if problem is not None:
        raise FheliumError(
            f"{PASS}: the contract is not achievable: {op.name} {problem}", location_of(op)
        )
