"""Plans levels, scales and relinearization of a function that states none; the rules stand here and nowhere else.

A plan counts levels downwards from where the function starts, so it needs no parameters: `ckks-manage` turns it into
ops on a given chain, `select-parameters` finds a chain for it. Each ciphertext is either at the scale S_l of its level
or a product at S_l^2 (see `fhelium_ir.analysis.level_scales`); this is waterline rescaling (Dathathri et al., "EVA",
2020) with exact scales (Kim, Papadimitriou, Polyakov, 2022).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.dialects import arith, func
from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis.ranges import RANGE, value_ranges
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks

PASS = "ckks-manage"

Kind = Literal[
    "argument",
    "op",
    "add",
    "sub",
    "negate",
    "add_plain",
    "sub_plain",
    "relinearize",
    "rescale",
    "lower",
    "raise",
]
"""`op` is the op of the source itself; `lower` brings a value of scale S_m down to a level l < m, to exactly S_l, and
`raise` makes it a product at level l <= m, both by a constant 1."""

SUMS = (ckks.AddOp, ckks.SubOp, ckks.AddPlainOp, ckks.SubPlainOp)


@dataclass(frozen=True, eq=False)
class Node:
    """A ciphertext of the plan.

    Attributes:
        depth: levels below the start.
        product: whether the scale is S^2 instead of S.
        size: components, 2 or 3.
        bound: on |slot|, of the range analysis.
        source: the op of the function that wants this value.
        value: the function's value that this is, None for one that the plan adds.
        plaintext: right operand where `kind` needs one.
    """

    kind: Kind
    operands: tuple[Node, ...]
    depth: int
    product: bool
    size: int
    bound: float
    source: Operation
    value: SSAValue | None = None
    plaintext: SSAValue | None = None


@dataclass(frozen=True)
class LevelPlan:
    """What to compute, in order; every node is needed for an output.

    Attributes:
        arguments: the ciphertext arguments that are used, and the others at depth 0.
        depth: levels needed.
    """

    function: func.FuncOp
    arguments: Mapping[SSAValue, Node]
    nodes: tuple[Node, ...]
    outputs: tuple[Node, ...]
    depth: int

    def first_below(self, depth: int) -> Operation:
        """The op at which the function first goes deeper than `depth`."""
        return next(node.source for node in self.nodes if node.depth > depth)

    @property
    def conversions(self) -> int:
        return sum(node.kind in ("lower", "raise") for node in self.nodes)


def plan_levels(function: func.FuncOp, fixed: Mapping[SSAValue, int] | None = None) -> LevelPlan:
    """The plan of one function.

    Args:
        function: one block, no level, scale or size stated but for arguments.
        fixed: depths of arguments that may not be chosen.

    Raises:
        FheliumError: an op has no rule, or a returned value is no ciphertext.
    """
    given = dict(fixed or {})
    early = _Planner(function, given).plan()
    shifts = _late_starts(early, given)
    if not shifts:
        return early
    late = _Planner(function, {**given, **shifts}).plan()
    better = (late.depth, late.conversions) <= (early.depth, early.conversions)
    return late if better else early


@dataclass(frozen=True)
class _Term:
    """A summand: a ciphertext or a plaintext, added or subtracted."""

    node: Node | None
    plaintext: SSAValue | None
    negative: bool
    source: Operation


@dataclass(frozen=True)
class _Sum:
    """A partial sum, which is to be negated where `negative`."""

    node: Node
    negative: bool


class _Planner:
    def __init__(self, function: func.FuncOp, starts: Mapping[SSAValue, int]) -> None:
        self.function = function
        self.starts = starts
        self.ranges = value_ranges(function)
        self.uses = _live_uses(function)
        self.nodes: list[Node] = []
        self.values: dict[SSAValue, Node] = {}
        self.waiting: dict[SSAValue, list[_Term]] = {}
        self.known: dict[tuple[str, Node, int], Node] = {}
        self.product_like = _product_like(function, self.uses)
        self.products: dict[Operation, int] = {}

    def plan(self) -> LevelPlan:
        for argument in self.function.args:
            if isinstance(argument.type, ckks.CiphertextType):
                depth = self.starts.get(argument, 0)
                bound = self.ranges[argument]
                node = Node("argument", (), depth, False, 2, bound, self.function, argument)
                self.values[argument] = self._keep(node)
        arguments = dict(self.values)
        outputs: tuple[Node, ...] = ()
        for op in self.function.body.block.ops:
            if isinstance(op, func.ReturnOp):
                outputs = tuple(self._output(operand, op) for operand in op.operands)
            elif any(result in self.uses for result in op.results):
                self._visit(op)
        nodes = _needed(self.nodes, outputs)
        depth = max((node.depth for node in nodes), default=0)
        return LevelPlan(self.function, arguments, nodes, outputs, depth)

    def _keep(self, node: Node) -> Node:
        self.nodes.append(node)
        return node

    def _visit(self, op: Operation) -> None:
        match op:
            case arith.ConstantOp() | ckks.EncodeOp():
                return  # encoded at each use, at the use's level and scale
            case ckks.AddOp() | ckks.SubOp() | ckks.AddPlainOp() | ckks.SubPlainOp():
                terms = self._terms(op)
                if self._feeds_sum(op.result):
                    self.waiting[op.result] = terms
                else:
                    self.values[op.result] = self._add_up(terms, op)
            case ckks.MulOp():
                left, right = (self._rescaled(self._node(v)) for v in (op.lhs, op.rhs))
                depth = max(left.depth, right.depth)
                pair = (self._lowered(left, depth, op), self._lowered(right, depth, op))
                self._finish(op, op.result, pair, product=True, size=3)
            case ckks.MulPlainOp():
                left = self._rescaled(self._node(op.lhs))
                self._finish(op, op.result, (left,), product=True, size=2, plaintext=op.rhs)
            case ckks.NegateOp():
                node = self._node(op.operand)
                # The form that others use costs nothing.
                reduced = self.known.get(("relinearize", node, node.depth), node)
                node = self.known.get(("rescale", reduced, node.depth + 1), node)
                self._finish(op, op.result, (node,), node.product, node.size)
            case ckks.RotateOp() | ckks.ConjugateOp():
                node = self._relinearized(self._node(op.operand))
                if not self._stays_product(op):
                    # With fewer limbs a key switch is cheaper.
                    node = self._rescaled(node)
                self._finish(op, op.result, (node,), node.product, 2)
            case _:
                hint = "; run ckks-expand first" if isinstance(op, ckks.StructuredOp) else ""
                raise FheliumError(
                    f"{PASS}: {op.name} has no rule for automatic levels{hint}", location_of(op)
                )

    def _finish(
        self,
        op: Operation,
        result: SSAValue,
        operands: tuple[Node, ...],
        product: bool,
        size: int,
        plaintext: SSAValue | None = None,
    ) -> None:
        depth, bound = operands[0].depth, self.ranges.get(result, math.inf)
        node = Node("op", operands, depth, product, size, bound, op, result, plaintext)
        self.values[result] = self._keep(node)

    def _node(self, value: SSAValue) -> Node:
        return self.values[value]

    def _output(self, value: SSAValue, op: Operation) -> Node:
        if value not in self.values:
            raise FheliumError(f"{PASS}: only ciphertexts can be returned", location_of(op))
        return self._rescaled(self.values[value])

    def _convert(
        self, kind: Kind, x: Node, depth: int, product: bool, size: int, op: Operation
    ) -> Node:
        """x in another form; made once for all uses."""
        key = (kind, x, depth)
        if key not in self.known:
            node = Node(kind, (x,), depth, product, size, x.bound, op)
            self.known[key] = self._keep(node)
        return self.known[key]

    def _relinearized(self, x: Node) -> Node:
        """x with two components."""
        if x.size == 2:
            return x
        return self._convert("relinearize", x, x.depth, x.product, 2, x.source)

    def _rescaled(self, x: Node) -> Node:
        """x at the scale of its level: a product is relinearized first and loses a level.

        The level is charged to the op that made the product.
        """
        if not x.product:
            return x
        reduced = self._relinearized(x)
        return self._convert("rescale", reduced, x.depth + 1, False, 2, x.source)

    def _lowered(self, x: Node, depth: int, op: Operation) -> Node:
        return x if x.depth == depth else self._convert("lower", x, depth, False, 2, op)

    # Sums: additions whose result only goes into another addition are one sum of many terms.

    def _feeds_sum(self, value: SSAValue) -> bool:
        # A promised range (ckks.range) belongs to the value itself, so it has to stay one.
        if self.uses.get(value) != 1 or RANGE in _owner(value).attributes:
            return False
        return any(isinstance(user, SUMS) and user.result in self.uses for user in _users(value))

    def _stays_product(self, op: ckks.RotateOp | ckks.ConjugateOp) -> bool:
        """Whether a product is rotated as it is: if it is one of several in a sum, which is then rescaled once."""
        if self.uses[op.operand] != 1 or not self._feeds_sum(op.result):
            return False
        root = next(use.operation for use in op.result.uses)
        while self._feeds_sum(root.results[0]):
            root = next(user for user in _users(root.results[0]) if isinstance(user, SUMS))
        if root not in self.products:
            self.products[root] = self._count_products(root)
        return self.products[root] > 1

    def _count_products(self, root: Operation) -> int:
        count, pending = 0, [root]
        while pending:
            for operand in pending.pop().operands:
                owner = operand.owner
                if isinstance(owner, SUMS) and self._feeds_sum(operand):
                    pending.append(owner)
                elif operand in self.product_like:
                    count += 1
        return count

    def _terms(
        self, op: ckks.AddOp | ckks.SubOp | ckks.AddPlainOp | ckks.SubPlainOp
    ) -> list[_Term]:
        subtracts = isinstance(op, ckks.SubOp | ckks.SubPlainOp)
        terms = self._ciphertext_terms(op.lhs, op)
        if isinstance(op, ckks.PlainOp):
            return [*terms, _Term(None, op.rhs, subtracts, op)]
        right = self._ciphertext_terms(op.rhs, op)
        return terms + [
            _Term(t.node, t.plaintext, t.negative != subtracts, t.source) for t in right
        ]

    def _ciphertext_terms(self, value: SSAValue, op: Operation) -> list[_Term]:
        waiting = self.waiting.pop(value, None)
        return [_Term(self.values[value], None, False, op)] if waiting is None else waiting

    def _add_up(self, terms: Sequence[_Term], op: Operation) -> Node:
        """The sum with the fewest conversions.

        Terms of one form are added as they are. If a product is as deep as the deepest term, the others become products
        by a constant, and the sum is one; otherwise products are rescaled and everything is brought to the deepest
        level. Components of size 3 are relinearized after they are added.
        """
        groups: dict[tuple[bool, int, int], _Sum] = {}
        for term in terms:
            if term.node is not None:
                self._join(groups, _Sum(term.node, term.negative), term.source)
        deepest = {
            form: max((depth for product, depth, _ in groups if product == form), default=-1)
            for form in (False, True)
        }
        as_product = deepest[True] >= deepest[False]
        depth = max(deepest.values())
        for level in range(depth if as_product else depth + 1):
            for size in (3, 2):
                part = groups.pop((True, level, size), None)
                if part is None:
                    continue
                if size == 3 and (True, level, 2) in groups:
                    reduced = _Sum(self._relinearized(part.node), part.negative)
                    self._join(groups, reduced, op)
                else:
                    reduced = _Sum(self._rescaled(part.node), part.negative)
                    self._join(groups, reduced, op)
        for form, level, size in list(groups):
            if form or (level == depth and not as_product):
                continue
            part = groups.pop((form, level, size))
            if as_product:
                moved = self._convert("raise", part.node, depth, True, 2, op)
            else:
                moved = self._lowered(part.node, depth, op)
            self._join(groups, _Sum(moved, part.negative), op)
        high, low = groups.get((as_product, depth, 3)), groups.get((as_product, depth, 2))
        if high is not None and low is not None:
            total = self._plus(_Sum(self._relinearized(high.node), high.negative), low, op)
        else:
            total = high or low
        assert total is not None
        node = total.node
        if total.negative:
            node = self._combine("negate", (node,), op)
        for term in terms:
            if term.plaintext is not None:
                kind: Kind = "sub_plain" if term.negative else "add_plain"
                node = self._combine(kind, (node,), term.source, term.plaintext)
        return self._named(node, op)

    def _join(
        self, groups: dict[tuple[bool, int, int], _Sum], part: _Sum, source: Operation
    ) -> None:
        node = part.node
        key = (node.product, node.depth, node.size)
        groups[key] = self._plus(groups[key], part, source) if key in groups else part

    def _plus(self, left: _Sum, right: _Sum, source: Operation) -> _Sum:
        if left.negative == right.negative:
            node = self._combine("add", (left.node, right.node), source)
            return _Sum(node, left.negative)
        plus, minus = (right, left) if left.negative else (left, right)
        return _Sum(self._combine("sub", (plus.node, minus.node), source), False)

    def _combine(
        self,
        kind: Kind,
        operands: tuple[Node, ...],
        source: Operation,
        plaintext: SSAValue | None = None,
    ) -> Node:
        first = operands[0]
        bound = sum(node.bound for node in operands)
        if plaintext is not None:
            bound += self.ranges.get(plaintext, math.inf)
        return self._keep(
            Node(
                kind,
                operands,
                first.depth,
                first.product,
                first.size,
                bound,
                source,
                None,
                plaintext,
            )
        )

    def _named(self, node: Node, op: Operation) -> Node:
        """The last node of a sum, as the value of `op`, with the bound that the range analysis knows."""
        value = op.results[0]
        bound = min(node.bound, self.ranges.get(value, math.inf))
        assert self.nodes[-1] is node
        self.nodes[-1] = replace(node, bound=bound, value=value)
        return self.nodes[-1]


def _users(value: SSAValue) -> list[Operation]:
    return [use.operation for use in value.uses]


def _product_like(function: func.FuncOp, uses: Mapping[SSAValue, int]) -> set[SSAValue]:
    """Values that can be products that are not rescaled yet."""
    found: set[SSAValue] = set()
    for op in function.body.block.ops:
        match op:
            case ckks.MulOp() | ckks.MulPlainOp():
                found.add(op.result)
            case ckks.RotateOp() | ckks.ConjugateOp():
                if op.operand in found and uses.get(op.operand) == 1:
                    found.add(op.result)
            case (
                ckks.AddOp()
                | ckks.SubOp()
                | ckks.AddPlainOp()
                | ckks.SubPlainOp()
                | ckks.NegateOp()
            ):
                if any(operand in found for operand in op.operands):
                    found.add(op.result)
            case _:
                pass
    return found


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, Operation)
    return owner


def _live_uses(function: func.FuncOp) -> dict[SSAValue, int]:
    """How often each value that an output depends on is used by ops that are needed."""
    uses: dict[SSAValue, int] = {}
    for op in reversed(list(function.body.block.ops)):
        if isinstance(op, func.ReturnOp) or any(result in uses for result in op.results):
            for operand in op.operands:
                uses[operand] = uses.get(operand, 0) + 1
    return uses


def _needed(nodes: Sequence[Node], outputs: Sequence[Node]) -> tuple[Node, ...]:
    wanted = set(outputs)
    kept: list[Node] = []
    for node in reversed(nodes):
        if node in wanted:
            wanted.update(node.operands)
            kept.append(node)
    return tuple(reversed(kept))


def _late_starts(plan: LevelPlan, fixed: Mapping[SSAValue, int]) -> dict[SSAValue, int]:
    """Depths at which arguments may start so that no conversion is needed to get there.

    Nodes that share a level through their operands move together, down to where the first conversion takes one of
    them; what an output depends on without a conversion stays. A value that an addition would raise arrives one level
    deeper instead, where the others are once they are rescaled.
    """
    groups = _Groups()
    for node in plan.nodes:
        if node.kind not in ("lower", "raise"):
            for operand in node.operands:
                groups.union(node, operand)
    slack: dict[Node, int] = {groups.find(node): 0 for node in plan.outputs}
    for node in plan.nodes:
        if node.kind in ("lower", "raise"):
            (operand,) = node.operands
            group = groups.find(operand)
            if group != groups.find(node):
                room = node.depth + (node.kind == "raise") - operand.depth
                slack[group] = min(slack.get(group, room), room)
    for value in fixed:
        slack[groups.find(plan.arguments[value])] = 0
    moved = {v: slack.get(groups.find(n), 0) for v, n in plan.arguments.items() if v not in fixed}
    return {value: shift for value, shift in moved.items() if shift > 0}


class _Groups:
    """Disjoint sets of nodes."""

    def __init__(self) -> None:
        self.parent: dict[Node, Node] = {}

    def find(self, node: Node) -> Node:
        root = node
        while root in self.parent:
            root = self.parent[root]
        while node != root:
            self.parent[node], node = root, self.parent[node]
        return root

    def union(self, left: Node, right: Node) -> None:
        a, b = self.find(left), self.find(right)
        if a != b:
            self.parent[a] = b
