"""`place-domains`: the fewest transforms between the coefficient and the evaluation domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.representatives import poly
from fhelium_ir.compiler.locations import fuse
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.assembly import FactOp, fact_conflict

PASS = "place-domains"

LINEAR = (rns.AddOp, rns.SubOp, rns.NegateOp, rns.ExtractOp, rns.MulConstantOp)
"""Ops that commute with transforms: the same op on the values of the other domain."""


@dataclass(frozen=True)
class PlaceDomains(ModulePass):
    """Removes transforms, each step at least one; additions follow the cheaper side.

    - a transform of its inverse's result is that one's operand;
    - a transform of linear ops (add, sub, negate, extract, mul_constant) on values that were all
      transformed the other way is the same ops on those values' originals;
    - a transform of one value is computed once per block;
    - the sum or difference of two transforms that nothing else uses, perhaps after linear ops with
      one operand, is transformed once.

    Values do not change. Representatives must not be decided yet where ops move: run it before
    track-montgomery.
    """

    name = PASS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        counts: Counter[str] = Counter()
        for inner in list(op.walk()):
            for region in inner.regions:
                for block in region.blocks:
                    if any(isinstance(o, ntt.TransformOp) for o in block.ops):
                        _Placement(counts).run(block)
        # An op may now return a value whose type states more facts than the function's signature.
        commit_types(op, {})
        removed = counts["before"] - counts["after"]
        text = f"{removed} of {counts['before']} transforms removed"
        remark(PASS, None, "applied" if removed else "analysis", text)


@dataclass
class _Placement:
    """One sweep over a block in program order.

    `originals` maps a value to the value of the other domain that it is the transform of. `linear`
    holds the linear ops' results that could be had in the other domain without a transform.
    """

    counts: Counter[str]
    originals: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    linear: set[SSAValue] = field(default_factory=set[SSAValue])
    moved: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    position: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    known: dict[tuple[object, ...], ntt.TransformOp] = field(
        default_factory=dict[tuple[object, ...], ntt.TransformOp]
    )

    def run(self, block: Block) -> None:
        """Rewrites the ops of a block and erases what nothing uses any more."""
        before = _transforms(block)
        for number, op in enumerate(list(block.ops)):
            if isinstance(op, ntt.TransformOp):
                self._transform(op)
            elif isinstance(op, rns.AddOp | rns.SubOp) and self._merge(op):
                continue
            elif isinstance(op, LINEAR) and self._known_elsewhere(op):
                self.linear.add(op.results[0])
                self.position[op.results[0]] = number
        _erase_unused(block)
        self.counts["before"] += before
        self.counts["after"] += _transforms(block)

    def _known_elsewhere(self, op: Operation) -> bool:
        """Whether a linear op's operands can all be had in the other domain without a transform."""
        known = all(v in self.originals or v in self.linear for v in op.operands)
        return known and _undecided(op.results[0])

    def _transform(self, op: ntt.TransformOp) -> None:
        """Reuses, cancels or keeps one transform."""
        value = op.operand
        if value in self.originals:
            original = self.originals[value]
            if self._replaceable(op, original):
                _replace(op, original, f"{op.name} undoes the transform before it")
                return
        elif value in self.linear:
            moved = self._move(value, op)
            if self._replaceable(op, moved):
                _replace(op, moved, f"linear ops replace {op.name}: all operands are known there")
                return
        key = _key(op)
        earlier = self.known.get(key)
        if earlier is not None:
            earlier.location = fuse((earlier.location, op.location))
            _replace(op, earlier.result, f"{op.name} was computed before")
            return
        self.known[key] = op
        self.originals[op.result] = value

    def _replaceable(self, op: ntt.TransformOp, value: SSAValue) -> bool:
        """Whether a value of the result's domain can stand for the result: no fact differs."""
        facts, wanted = poly(value), poly(op.result)
        assert facts is not None and wanted is not None
        fact = fact_conflict(facts, wanted)
        if fact is None and facts.order is None and wanted.order is not None:
            fact = "order"
        if fact is None and (facts.exponent, facts.below) != (wanted.exponent, wanted.below):
            fact = "representative"
        if fact is not None:
            text = f"{op.name} stays: its result and its original differ in the {fact}"
            remark(PASS, op, "missed", text)
        return fact is None

    def _move(self, value: SSAValue, before: Operation) -> SSAValue:
        """The linear ops that lead to a value, in the other domain and in front of `before`."""
        needed: dict[SSAValue, None] = {}
        pending = [value]
        while pending:
            current = pending.pop()
            if current in needed or current in self.originals or current in self.moved:
                continue
            needed[current] = None
            owner = current.owner
            assert isinstance(owner, Operation)
            pending += owner.operands
        for current in sorted(needed, key=lambda v: self.position[v]):
            owner = current.owner
            assert isinstance(owner, FactOp)
            operands = [self._other(operand) for operand in owner.operands]
            self.moved[current] = _rebuild(owner, operands, before)
        return self._other(value)

    def _other(self, value: SSAValue) -> SSAValue:
        return self.originals[value] if value in self.originals else self.moved[value]

    def _merge(self, op: rns.AddOp | rns.SubOp) -> bool:
        """`T(a) + T(b)` becomes `T(a + b)` where nothing else uses the transforms."""
        if not _undecided(op.result):
            return False
        left, right = _chain(op.lhs), _chain(op.rhs)
        if left is None or right is None or op.lhs is op.rhs:
            return False
        first, second = left[-1], right[-1]
        assert isinstance(first, ntt.TransformOp)
        if first.name != second.name or first.properties != second.properties:
            return False
        operands = [self._untransformed(ops, op) for ops in (left, right)]
        total = _rebuild(op, operands, op)
        transform = type(first).create(
            operands=[total], result_types=[op.result.type], properties=dict(first.properties)
        )
        transform.location = fuse((first.location, second.location, op.location))
        assert isinstance(transform, ntt.TransformOp)
        assert op.parent is not None
        op.parent.insert_op_before(transform, op)
        remark(PASS, op, "applied", f"one {first.name} after {op.name} instead of two before it")
        transform.result.name_hint = op.result.name_hint
        op.result.replace_all_uses_with(transform.result)
        self.originals[transform.result] = total
        self.known[_key(transform)] = transform
        for gone in (*left, *right):
            self.originals.pop(gone.results[0], None)
        op.parent.erase_op(op)
        for gone in (*left, *right):
            if isinstance(gone, ntt.TransformOp):
                self.known.pop(_key(gone), None)
            assert gone.parent is not None
            gone.parent.erase_op(gone)
        return True

    def _untransformed(self, ops: Sequence[Operation], before: Operation) -> SSAValue:
        """A chain of linear ops that starts with a transform, without the transform."""
        value = ops[-1].operands[0]
        for op in reversed(ops[:-1]):
            assert isinstance(op, FactOp)
            value = _rebuild(op, [value], before)
        return value


def _key(op: ntt.TransformOp) -> tuple[object, ...]:
    return (op.name, op.operand, tuple(sorted(op.properties.items())), op.result.type)


def _undecided(value: SSAValue) -> bool:
    facts = poly(value)
    return facts is not None and facts.exponent is None and facts.below is None


def _chain(value: SSAValue) -> list[Operation] | None:
    """The ops from a value back to a transform if each has one operand and one use, else None."""
    ops: list[Operation] = []
    while True:
        op = value.owner
        if not isinstance(op, Operation) or not value.has_one_use():
            return None
        ops.append(op)
        if isinstance(op, ntt.TransformOp):
            return ops if _undecided(value) else None
        if not isinstance(op, LINEAR) or len(op.operands) != 1:
            return None
        value = op.operands[0]


def _rebuild(op: FactOp, operands: Sequence[SSAValue], before: Operation) -> SSAValue:
    """The same op on other operands, in front of `before`."""
    properties: Mapping[str, Attribute] = op.properties
    types = type(op).infer([operand.type for operand in operands], properties)
    new = type(op).create(
        operands=operands,
        result_types=types,
        properties=dict(properties),
        attributes=dict(op.attributes),
    )
    new.location = op.location
    new.results[0].name_hint = op.results[0].name_hint
    assert before.parent is not None
    before.parent.insert_op_before(new, before)
    return new.results[0]


def _replace(op: ntt.TransformOp, value: SSAValue, text: str) -> None:
    remark(PASS, op, "applied", text)
    op.result.replace_all_uses_with(value)
    assert op.parent is not None
    op.parent.erase_op(op)


def _transforms(block: Block) -> int:
    return sum(isinstance(op, ntt.TransformOp) for op in block.ops)


def _erase_unused(block: Block) -> None:
    """Erases transforms and linear ops without uses, last first."""
    for op in reversed(list(block.ops)):
        if isinstance(op, (ntt.TransformOp, *LINEAR)) and op.results[0].first_use is None:
            block.erase_op(op)
