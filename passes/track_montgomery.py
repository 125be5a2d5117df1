"""`track-montgomery`: the representative of every bundle, with the fewest conversions and
reductions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.constants import place_constants
from fhelium_ir.analysis.exponents import (
    Exponents,
    conversion_words,
    is_constant,
    solve_exponents,
)
from fhelium_ir.analysis.region_graph import reindexes
from fhelium_ir.analysis.representatives import (
    CONVERTED_BELOW,
    INTERFACE_BELOW,
    Words,
    below_of,
    contract_of,
    derived_below,
    is_interface,
    name_of,
    poly,
    required_below,
    with_below,
    words_of,
)
from fhelium_ir.analysis.word_interface import convert_interfaces
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark, remarks_wanted
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.rns import PolyFacts, PolyType
from fhelium_ir.dialects.zq import INTERFACE_WORD

PASS = "track-montgomery"


@dataclass(frozen=True)
class TrackMontgomery(ModulePass):
    """Decides arithmetic, exponent and interval of every bundle, and inserts what conversions
    remain.

    Exponents come from a minimum cut (see `fhelium_ir.analysis.exponents`): conversions cost their
    words, constants absorb what they can, and of equally cheap solutions the one with the fewest
    values times R is taken. Then one walk derives the intervals and reduces a value only where the
    next op would leave its word or its contract; a value is converted once for each exponent, and
    its reduction is part of that conversion where both serve a use. A plaintext or key that is
    needed at several exponents is declared once for each. Exponents and intervals that the text
    states are kept and checked; a `set_representative` without an interval reduces fully. Values do
    not change.

    Needs select-arithmetic and select-ntt-schedules.
    """

    name = PASS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        words = words_of(op, PASS)
        if words.arithmetic.interface:
            convert_interfaces(op, words)
        exponents = solve_exponents(op)
        tracker = _Tracker(words, exponents)
        for inner in list(op.walk()):
            if isinstance(inner, func.FuncOp) and not inner.is_declaration:
                tracker.run(inner.body.block)
        tracker.types.update(place_constants(op, exponents.consumed, words))
        commit_types(op, tracker.types)
        if remarks_wanted():
            tracker.summarize()


def _keeps_interval(op: Operation) -> bool:
    """Whether a re-indexing leaves every word as it is: an automorphism of coefficients negates."""
    facts = poly(op.operands[0])
    return not (
        isinstance(op, rns.AutomorphismOp) and facts is not None and facts.domain == "coefficient"
    )


@lru_cache(maxsize=4096)
def _poly_type(facts: PolyFacts) -> PolyType:
    return PolyType(facts)


Below = tuple[int, ...]
"""Intervals of a value, one for each group of words."""

Needed = tuple[int | None, ...]
"""Intervals that a use needs; None where any will do."""


def _narrower(left: Needed, right: Needed) -> Needed:
    """What satisfies both."""
    pairs = zip(left, right, strict=True)
    return tuple(min((b for b in pair if b is not None), default=None) for pair in pairs)


def _within(below: Below, needed: Needed) -> bool:
    return all(n is None or b <= n for b, n in zip(below, needed, strict=True))


def _text(below: Below) -> str:
    """`2q`, or for two groups of words `2q and 8q`."""
    return " and ".join(f"{bound}q" for bound in below)


@dataclass
class _Tracker:
    """One walk over the ops in program order.

    `below` is the interval of each value seen, for each group of words; `available` the values that
    stand for a value at an exponent: itself if that is its own exponent, then its conversions and
    reductions; `last` the op after which the next of those goes.
    """

    words: Words
    exponents: Exponents
    below: dict[SSAValue, Below] = field(default_factory=dict[SSAValue, Below])
    types: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    available: dict[tuple[SSAValue, int], list[SSAValue]] = field(
        default_factory=dict[tuple[SSAValue, int], list[SSAValue]]
    )
    needed: dict[tuple[SSAValue, int], Needed] = field(
        default_factory=dict[tuple[SSAValue, int], Needed]
    )
    last: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])
    converted: int = 0
    converted_words: int = 0
    reduced: int = 0

    def run(self, block: Block) -> None:
        """Tracks the ops of a function's block."""
        ops = list(block.ops)
        for op in reversed(ops):
            self._collect_needs(op)
        for argument in block.args:
            if poly(argument) is not None:
                below = (INTERFACE_BELOW,) * len(self.words.groups)
                self._define(argument, below, block.parent_op())
        for op in ops:
            try:
                self._visit(op)
            except FheliumError as error:
                raise FheliumError(error.message, error.location or location_of(op)) from error

    def exponent_at(self, op: Operation, index: int) -> int:
        """The exponent at which an operand is consumed."""
        known = self.exponents.consumed.get((op, index))
        return self.exponents.stored[op.operands[index]] if known is None else known

    def _collect_needs(self, op: Operation) -> None:
        required = self._required(op)
        if not any(required):
            return
        for index, operand in enumerate(op.operands):
            if poly(operand) is not None and not is_constant(operand):
                key = (operand, self.exponent_at(op, index))
                self.needed[key] = _narrower(required, self.needed.get(key, required))

    def _required(self, op: Operation) -> Needed:
        """The interval that an op's operands must have; what only re-indexes hands on what its
        uses need, so that a value is reduced once, where it is computed, for all of them.
        """
        if reindexes(op) and not is_interface(op.operands[0]) and _keeps_interval(op):
            key = (op.results[0], self.exponents.stored[op.results[0]])
            return self.needed.get(key, (None,) * len(self.words.groups))
        return tuple(required_below(op, group.group) for group in self.words.groups)

    def _define(self, value: SSAValue, derived: Below, op: Operation | None) -> None:
        """Records a value's representative; a wider interval that the text states is kept."""
        facts = poly(value)
        assert facts is not None
        arithmetic = self.words.interface if is_interface(value) else self.words.arithmetic.name
        if facts.arithmetic not in (None, arithmetic):
            raise FheliumError(
                f"{PASS}: {name_of(value)} is stored for {facts.arithmetic}, the module's "
                f"arithmetic is {arithmetic}",
                location_of(op) if op is not None else None,
            )
        found: list[int] = []
        for stated, least in zip(below_of(facts, self.words), derived, strict=True):
            if stated is not None and stated < least:
                raise FheliumError(
                    f"{PASS}: {name_of(value)} is said to be below {stated}q, but only {least}q "
                    "follows",
                    location_of(op) if op is not None else None,
                )
            found.append(least if stated is None else stated)
        exponent = self.exponents.stored[value]
        facts = replace(facts, arithmetic=arithmetic, exponent=exponent)
        self._record(value, facts, tuple(found))
        self.available[value, exponent] = [value]

    def _record(self, value: SSAValue, facts: PolyFacts, below: Below) -> None:
        """Records interval and type of a value; canonical integers have one interval for all words."""
        self.below[value] = below
        stated = below[:1] if facts.arithmetic == INTERFACE_WORD else below
        self.types[value] = _poly_type(with_below(facts, stated))

    def _visit(self, op: Operation) -> None:
        bundles = [i for i, operand in enumerate(op.operands) if poly(operand) is not None]
        required = self._required(op)
        values = list(op.operands)
        for index in bundles:
            if not is_constant(values[index]):
                new = self._at(op, index, required)
                if new is not values[index]:
                    op.operands[index] = new
        if len(bundles) and op.results and not any(required):
            for number, group in enumerate(self.words.groups):
                self._fit_word(op, values, number, group)
        self._decide_change(op, values)
        for result in op.results:
            if poly(result) is None or is_constant(result):
                continue
            derived: list[int] = []
            for number, group in enumerate(self.words.groups):
                below = derived_below(op, self._bounds(op, number), group)
                assert below is not None
                self._check_capacity(op, result, below, group)
                derived.append(below)
            self._define(result, tuple(derived), op)

    def _bounds(self, op: Operation, group: int) -> list[int]:
        return [self.below[v][group] if v in self.below else 1 for v in op.operands]

    def _fit_word(
        self, op: Operation, values: Sequence[SSAValue], number: int, group: Words
    ) -> None:
        """Reduces the larger operand, then the other one, while the result leaves its word."""
        facts = poly(op.results[0])
        if facts is None:
            return
        capacity = group.capacity(facts.basis)
        count = len(self.words.groups)
        while True:
            bounds = self._bounds(op, number)
            derived = derived_below(op, bounds, group)
            if derived is None or derived <= capacity or max(bounds) == 1:
                return
            index = bounds.index(max(bounds))
            below = group.narrower(bounds[index])
            while below > 1:
                bounds[index] = below
                derived = derived_below(op, bounds, group)
                if derived is not None and derived <= capacity:
                    break
                below = group.narrower(below)
            wanted = tuple(below if other == number else None for other in range(count))
            op.operands[index] = self._at(op, index, wanted, values[index])

    def _check_capacity(self, op: Operation, result: SSAValue, below: int, group: Words) -> None:
        facts = poly(result)
        assert facts is not None
        capacity = group.capacity(facts.basis)
        if below > capacity:
            raise FheliumError(
                f"{PASS}: {op.name}: {name_of(result)} is below {below}q, but a word of "
                f"{group.arithmetic.name} holds {capacity}q for the primes {facts.basis}",
                location_of(op),
            )

    def _at(
        self, op: Operation, index: int, required: Needed, value: SSAValue | None = None
    ) -> SSAValue:
        """The value that stands for an operand at the exponent and in the interval that a use
        needs.
        """
        original = op.operands[index] if value is None else value
        exponent = self.exponents.consumed.get((op, index))
        if exponent is None:
            exponent = self.exponents.stored[original]
        known = self.available.setdefault((original, exponent), [])
        wanted = self.needed.get((original, exponent))
        if wanted is not None:
            # Some use needs the narrower interval: then all uses share it, and one value is kept.
            required = _narrower(required, wanted)
        for candidate in known:
            if _within(self.below[candidate], required):
                return candidate
        source = min(known, key=lambda v: self.below[v]) if known else original
        natural = self.below[source]
        if not known:
            # Only words that have a radix are multiplied.
            natural = tuple(
                CONVERTED_BELOW if group.arithmetic.radix_bits else below
                for group, below in zip(self.words.groups, natural, strict=True)
            )
        below = tuple(
            have if want is None else min(have, want)
            for have, want in zip(natural, required, strict=True)
        )
        facts = poly(original)
        assert facts is not None
        facts = replace(facts, arithmetic=self.words.arithmetic.name, exponent=exponent)
        new = rns.SetRepresentativeOp(source, None, _poly_type(with_below(facts, below)))
        new.location = op.location
        new.result.name_hint = original.name_hint
        self._insert(original, new)
        self._record(new.result, facts, below)
        known.append(new.result)
        self._remark_new(op, index, original, source, exponent, below)
        return new.result

    def _insert(self, value: SSAValue, new: Operation) -> None:
        """Places an op right after the producer of `value` and what was placed there before."""
        owner = value.owner
        anchor = self.last.get(value) or (owner if isinstance(owner, Operation) else None)
        if anchor is not None:
            assert anchor.parent is not None
            anchor.parent.insert_op_after(new, anchor)
        else:
            assert isinstance(owner, Block) and owner.first_op is not None
            owner.insert_op_before(new, owner.first_op)
        self.last[value] = new

    def _decide_change(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """Writes the exponent of a constant, or the change through N^-1, that the solution asks
        for.
        """
        if isinstance(op, rns.MulConstantOp):
            change = self._change(op, values[0])
            op.properties["exponent"] = IntegerAttr(change + 1, i64)
        elif isinstance(op, ntt.InverseOp):
            contract = contract_of(op, PASS)
            change = self._change(op, values[0])
            if change != contract.exponent_change:
                new = replace(contract, exponent_change=change)
                op.properties["contract"] = ntt.ContractAttr(new)

    def _change(self, op: Operation, operand: SSAValue) -> int:
        before = self.exponents.consumed.get((op, 0))
        if before is None:
            before = self.exponents.stored[operand]
        return self.exponents.stored[op.results[0]] - before

    def _remark_new(
        self,
        op: Operation,
        index: int,
        value: SSAValue,
        source: SSAValue,
        exponent: int,
        below: Below,
    ) -> None:
        stored = self.exponents.stored[value]
        name = name_of(value)
        if source is not value or stored == exponent:
            self.reduced += 1
            text = f"reduced {name} from {_text(self.below[source])} to {_text(below)}"
            remark(PASS, op, "applied", text)
            return
        mixed = self.words.parameters if len(self.words.groups) > 1 else None
        words = conversion_words(value, mixed)
        self.converted += 1
        self.converted_words += words
        remark(
            PASS,
            op,
            "applied",
            f"converted {name} from exponent {stored} to {exponent}, below {_text(below)}: {words} words",
        )
        remark(
            PASS,
            op,
            "missed",
            f"the conversion of {name} stays: it has exponent {stored} because "
            f"{self._why_stored(value)}, and {op.name} needs exponent {exponent} because "
            f"{self._why_consumed(op, index, exponent)}",
        )

    def _why_stored(self, value: SSAValue) -> str:
        """Traces an exponent back to the value where it is fixed."""
        exponents, origin = self.exponents, value
        while origin not in exponents.stored_why:
            owner = origin.owner
            if not isinstance(owner, Operation):
                break
            same = [
                v for v in owner.operands if exponents.stored.get(v) == exponents.stored[origin]
            ]
            if not same:
                break
            origin = same[0]
        why = exponents.stored_why.get(origin, "that is the cheapest solution")
        return why if origin is value else f"of {name_of(origin)}: {why}"

    def _why_consumed(self, op: Operation, index: int, exponent: int) -> str:
        known = self.exponents.consumed_why.get((op, index))
        if known is not None:
            return known
        for other, operand in enumerate(op.operands):
            if other != index and self.exponents.stored.get(operand) == exponent:
                return f"its other operand has it: {self._why_stored(operand)}"
        return "that is the cheapest solution"

    def summarize(self) -> None:
        """The remark about the whole module."""
        remark(
            PASS,
            None,
            "applied",
            f"inserted {self.converted} conversions ({self.converted_words} words) and "
            f"{self.reduced} reductions",
        )
