"""The expression graph of a fusion region: what its kernels compute, element by element, and where they read and write.

This is the one access-pattern interface of the compiler. Region formation asks it whether a set of ops can be one
kernel chain (`Unfusable` says why not), resource inference asks it which tables the kernels read, and the lowering
turns it into kernels. Each caller builds it anew from the ops, so the three always agree.

A kernel runs over *program rows*. A region with a transform has one program row for each row of each component of the
transform; any other region has one for each row of a component and computes its components side by side. Every op but a
base conversion keeps the prime of a row, so a program row has one prime. Which rows of which buffer a program row
reads is data, not code: columns of a table of row numbers. Ops that only re-index (restrict, extract, pad, digits,
pack, automorphism) disappear into those columns and into index permutations.

In a region that multiplies the transformed digits of a polynomial by a key, the digits never reach memory: the last
kernel of the transform runs over the rows of the result and, in a loop, over the digits of each. Such a graph describes
the result; `digits` is the graph of the transform, with program rows and columns of its own.

The graph without the contents of its columns and tables is the *shape* of the region: regions of equal shape share
kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.analysis.digit_rows import ProductRows, accumulate_rows, product_rows
from fhelium_ir.analysis.region_nodes import Node, Output, Quotients, RegionGraph, Table, Transform
from fhelium_ir.analysis.region_words import (
    conversion_width,
    largest_prime,
    products_fit,
    stored_as_integers,
    word_capacity,
)
from fhelium_ir.analysis.reindexing import embedded, restricted, through, view_rows
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.rns import PolyFacts, PolyType
from fhelium_ir.dialects.zq import (
    FLOATING_WORDS,
    INTERFACE_WORD,
    INTERFACE_WORDS,
    are_signed,
    arithmetic_of,
)

INDEX_OPS = (
    rns.RestrictOp,
    rns.EmbedOp,
    rns.ExtractOp,
    rns.PadOp,
    rns.DigitsOp,
    rns.AutomorphismOp,
)
"""Ops that only re-index their operand: any consumer can absorb them."""

_INDEX_KINDS: frozenset[type[Operation]] = frozenset(INDEX_OPS)

VIEW_OPS = (rns.RestrictOp, rns.ExtractOp, rns.DigitsOp)
"""Index ops that select whole rows of their operand."""


def reads_interface(op: Operation) -> bool:
    """Whether an op only makes words with a sign of canonical integers, which a load does on the way."""
    if type(op) is not rns.SetRepresentativeOp:
        return False
    before, after = facts_of(op.operand), facts_of(op.result)
    enters = before.arithmetic in INTERFACE_WORDS and before.arithmetic != after.arithmetic
    return enters and after.below != 1 and after.exponent in (None, 0)


def reindexes(op: Operation) -> bool:
    """Whether any consumer can absorb an op: it moves words and computes nothing."""
    # Asked thousands of times, and `isinstance` takes long for classes of xDSL.
    return type(op) in _INDEX_KINDS or reads_interface(op)


class Unfusable(Exception):
    """A set of ops that cannot be one region; the message says why."""


def build_graph(
    ops: Sequence[Operation], inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
) -> RegionGraph:
    """The graph of `ops`, in order, with results `outputs`; `inputs` numbers the values from outside.

    Raises:
        Unfusable: the ops cannot be one kernel chain.
    """
    return _Builder(tuple(ops), tuple(inputs)).build(tuple(outputs))


def facts_of(value: SSAValue) -> PolyFacts:
    """Facts of a bundle."""
    type_: Attribute = value.type
    if not isinstance(type_, PolyType):
        raise Unfusable(f"{type_} is no bundle of residue polynomials")
    return type_.data


_Rows = tuple[int, ...]


@dataclass(frozen=True)
class _Place:
    """Where a value is wanted: a row of it per program row (-1: none, it reads as 0), a permutation of the elements
    (-1: none), the path of re-indexings that led here, which names the column, and whether rows may be missing."""

    rows: _Rows
    permutation: int = -1
    path: tuple[int, ...] = ()
    masked: bool = False


class _Builder:
    def __init__(self, ops: tuple[Operation, ...], inputs: tuple[SSAValue, ...]):
        self.ops = ops
        self.position = {op: index for index, op in enumerate(ops)}
        self.inputs = {value: index for index, value in enumerate(inputs)}
        self.nodes: dict[Node, int] = {}
        self.columns: dict[tuple[object, ...], int] = {}
        self.column_values: list[_Rows] = []
        self.tables: dict[tuple[object, ...], int] = {}
        self.table_list: list[Table] = []
        self.memo: dict[tuple[SSAValue, _Place], int] = {}
        self.anchor: ntt.TransformOp | None = None
        self.quotients: Quotients | None = None
        self.product: rns.AccumulateOp | None = None
        self.product_rows: ProductRows | None = None

    def build(self, outputs: tuple[SSAValue, ...]) -> RegionGraph:
        if not outputs:
            raise Unfusable("a region needs a result")
        anchors = [op for op in self.ops if isinstance(op, ntt.TransformOp)]
        if len(anchors) > 1:
            raise Unfusable("two transforms need two regions")
        space = facts_of(outputs[0])
        if anchors:
            self.anchor = anchors[0]
            space = facts_of(self.anchor.result)
        digits = None
        self.product = self._key_product()
        if self.product is not None:
            space = facts_of(outputs[0])
            digits = self._digits(self.product, space)
        rows = space.rows()
        transform = None
        stored: list[Output] = []
        if self.anchor is not None and digits is None:
            every = _Place(tuple(range(len(rows) * space.components)))
            limbs = tuple(limb for _, limb in rows) * space.components
            transform = self._transform(self.anchor, every)
            for result, value in enumerate(outputs):
                self._check_space(facts_of(value), space, components=True)
                node = self.evaluate(value, every)
                stored.append(Output(node, result, self._column(("store",), every.rows)))
        else:
            limbs = tuple(limb for _, limb in rows)
            for result, value in enumerate(outputs):
                facts = facts_of(value)
                self._check_space(facts, space, components=False)
                for component in range(facts.components):
                    first = component * len(rows)
                    path = (-1 - component,) if facts.components > 1 else ()
                    place = _Place(tuple(range(first, first + len(rows))), path=path)
                    node = self.evaluate(value, place)
                    column = self._column(("store", component), place.rows)
                    stored.append(Output(node, result, column))
        tables = tuple(self.table_list)
        kinds = tuple(table.kind + table.domain for table in tables)
        if digits is not None:
            digits = replace(digits, tables=tables, table_kinds=kinds)
        return RegionGraph(
            space.degree,
            _decided(space),
            limbs,
            tuple(self.nodes),
            tuple(stored),
            transform,
            tuple(self.column_values),
            tables,
            kinds,
            stored_as_integers(tuple(self.inputs)),
            stored_as_integers(outputs),
            word_capacity(self.ops),
            largest_prime(self.ops),
            digits,
            digit_memory=self.product_rows.scratch() if self.product_rows is not None else None,
            quotients=self.quotients,
        )

    def _key_product(self) -> rns.AccumulateOp | None:
        """The inner product that reads the transform's result, if one does."""
        if self.anchor is None:
            return None
        found: list[rns.AccumulateOp] = []
        for op in self.ops:
            if not isinstance(op, rns.AccumulateOp):
                continue
            if op.converted is self.anchor.result:
                found.append(op)
            elif isinstance(op.converted.owner, rns.AutomorphismOp):
                raise Unfusable(
                    "an inner product that reads its digits through a permutation needs them in "
                    "memory: it takes elements that other programs transform"
                )
        if len(found) > 1:
            raise Unfusable("two inner products need two regions")
        if found and not isinstance(self.anchor, ntt.ForwardOp):
            raise Unfusable("an inner product follows a forward transform")
        return found[0] if found else None

    def _digits(self, product: rns.AccumulateOp, space: PolyFacts) -> RegionGraph:
        """The graph of the transform under an inner product, still without tables; begins the graph of the result."""
        assert self.anchor is not None
        facts = facts_of(self.anchor.result)
        self.product_rows = product_rows(product, space)
        rows = facts.rows()
        transform = self._transform(self.anchor, _Place(tuple(range(len(rows)))))
        scratch = self._column(("scratch",), self.product_rows.slots)
        graph = RegionGraph(
            facts.degree,
            _decided(facts),
            tuple(limb for _, limb in rows),
            tuple(self.nodes),
            (),
            transform,
            tuple(self.column_values),
            (),
            integer_inputs=stored_as_integers(tuple(self.inputs)),
            capacity=word_capacity(self.ops),
            largest_prime=largest_prime(self.ops),
            scratch_column=scratch,
        )
        self.nodes, self.columns, self.column_values, self.memo = {}, {}, [], {}
        return graph

    def _check_space(self, facts: PolyFacts, space: PolyFacts, *, components: bool) -> None:
        if facts.digits is not None and facts.digits.kind == "key":
            raise Unfusable("a key is no result")
        if [limb for _, limb in facts.rows()] != [limb for _, limb in space.rows()]:
            raise Unfusable("the results have different limbs")
        if components and facts.components != space.components:
            raise Unfusable("a result has other components than the transform")

    def _transform(self, op: ntt.TransformOp, every: _Place) -> Transform:
        if op.contract is None:
            raise Unfusable("the transform has no contract; run select-ntt-schedules first")
        schedule = op.schedule.data if op.schedule is not None else None
        source = self.evaluate(op.operand, every)
        direction = "forward" if isinstance(op, ntt.ForwardOp) else "inverse"
        return Transform(direction, op.contract.data, schedule, source)

    def node(self, kind: str, operands: Sequence[int], *data: int | str | bool) -> int:
        """The number of a node, shared by equal nodes."""
        node = Node(kind, tuple(operands), data)
        return self.nodes.setdefault(node, len(self.nodes))

    def _column(self, key: tuple[object, ...], values: _Rows) -> int:
        if key not in self.columns:
            self.columns[key] = len(self.column_values)
            self.column_values.append(values)
        return self.columns[key]

    def _table(self, key: tuple[object, ...], table: Table) -> int:
        if key not in self.tables:
            self.tables[key] = len(self.table_list)
            self.table_list.append(table)
        return self.tables[key]

    def evaluate(self, value: SSAValue, place: _Place) -> int:
        """The node of `value` at a place."""
        key = (value, place)
        if key not in self.memo:
            self.memo[key] = self._evaluate(value, place)
        return self.memo[key]

    def _evaluate(self, value: SSAValue, place: _Place) -> int:
        if value in self.inputs:
            return self._load(self.inputs[value], place)
        op = value.owner
        if not isinstance(op, Operation) or op not in self.position:
            raise Unfusable("a value is neither computed here nor an input")
        match op:
            case rns.AddOp():
                return self.node("add", self._both(op, place))
            case rns.SubOp():
                return self.node("sub", self._both(op, place), _offset(op.rhs))
            case rns.MulOp():
                return self.node("mul", self._both(op, place))
            case rns.NegateOp():
                operand = self.evaluate(op.operand, place)
                return self.node("negate", [operand], _offset(op.operand))
            case rns.MulConstantOp():
                return self._mul_constant(op, place)
            case rns.SetRepresentativeOp():
                return self._set_representative(op, place)
            case rns.PackOp():
                component, inner = self._component(op.result, place)
                return self.evaluate(op.parts[component], inner)
            case ntt.TransformOp():
                if self.product is not None:
                    raise Unfusable("transformed digits that others read have to be in memory")
                if place.permutation >= 0 or place.masked or place.path:
                    raise Unfusable("a transform's result is re-indexed inside the region")
                return self.node("anchor", [])
            case rns.BaseConvertOp():
                return self._convert(op, place)
            case rns.AccumulateOp():
                if op is self.product:
                    return self._multiply_digits(op, place)
                return self._accumulate(op, place)
            case _ if reindexes(op):
                return self._index(op, place)
            case _:
                raise Unfusable(f"{op.name} has no kernel form")

    def _both(self, op: rns.BinaryOp, place: _Place) -> list[int]:
        return [self.evaluate(op.lhs, place), self.evaluate(op.rhs, place)]

    def _load(self, buffer: int, place: _Place) -> int:
        column = self._column(("row", buffer, place.path), place.rows)
        return self.node("load", [], buffer, column, place.masked, place.permutation)

    def _component(self, value: SSAValue, place: _Place) -> tuple[int, _Place]:
        """The one component of `value` that a place selects, and the place inside that component."""
        rows = len(facts_of(value).rows())
        components = {row // rows for row in place.rows if row >= 0}
        if len(components) != 1:
            raise Unfusable(
                "components are computed side by side only in regions without transform"
            )
        component = components.pop()
        inner = tuple(row - component * rows if row >= 0 else -1 for row in place.rows)
        # The component is chosen here, so a path that began by choosing it no longer depends on it.
        path = place.path[1:] if place.path and place.path[0] < 0 else place.path
        return component, _Place(inner, place.permutation, path, place.masked)

    def _index(self, op: Operation, place: _Place) -> int:
        """A re-indexing: evaluates the operand at another place."""
        path, masked = (*place.path, self.position[op]), place.masked
        match op:
            case rns.DigitsOp() | rns.SetRepresentativeOp():
                return self.evaluate(op.operand, place)  # the rows stay where they are
            case rns.ExtractOp():
                first = op.first.value.data * len(facts_of(op.operand).rows())
                rows = tuple(row + first if row >= 0 else -1 for row in place.rows)
            case rns.PadOp():
                facts = facts_of(op.operand)
                count = facts.components * len(facts.rows())
                rows = tuple(row if row < count else -1 for row in place.rows)
                masked = masked or facts.components < op.components.value.data
            case rns.RestrictOp():
                rows = restricted(op, place.rows)
            case rns.EmbedOp():
                rows, masked = embedded(op, place.rows), True
            case rns.AutomorphismOp():
                return self._automorphism(
                    op, _Place(place.rows, place.permutation, path, place.masked)
                )
            case _:
                raise Unfusable(f"{op.name} has no kernel form")
        return self.evaluate(op.operands[0], _Place(rows, place.permutation, path, masked))

    def _permutation(self, op: rns.AutomorphismOp) -> int:
        """The table of an automorphism's index permutation."""
        domain = facts_of(op.operand).domain
        table = Table("permutation", galois=op.element, domain=domain)
        return self._table(("permutation", op.element, domain), table)

    def _automorphism(self, op: rns.AutomorphismOp, place: _Place) -> int:
        if place.permutation >= 0:
            raise Unfusable("two automorphisms in a row need two regions")
        facts = facts_of(op.operand)
        table = self._permutation(op)
        there = _Place(place.rows, table, place.path, place.masked)
        inner = self.evaluate(op.operand, there)
        if facts.domain == "evaluation":
            return inner
        return self.node("flip", [inner], _offset(op.operand), table)

    def _mul_constant(self, op: rns.MulConstantOp, place: _Place) -> int:
        facts = facts_of(op.operand)
        table = self._table(
            ("constants", self.position[op]),
            Table(
                "constants",
                constant=op.constant.data,
                source=replace(facts.unrepresented(), components=1, order=None),
                exponent=op.constant_exponent,
            ),
        )
        rows = len(facts.rows())
        own = tuple(row % rows if row >= 0 else 0 for row in place.rows)
        column = self._column(("constant", self.position[op], place.path), own)
        return self.node("mul_constant", [self.evaluate(op.operand, place)], table, column)

    def _set_representative(self, op: rns.SetRepresentativeOp, place: _Place) -> int:
        before, after = facts_of(op.operand), facts_of(op.result)
        node = self.evaluate(op.operand, place)
        below = _below(op.operand)
        if before.exponent is None or after.exponent is None or after.below is None:
            raise Unfusable("a representative is undecided; run track-montgomery first")
        if before.arithmetic in INTERFACE_WORDS:
            below = 2
        leaves = after.arithmetic in INTERFACE_WORDS and before.arithmetic != after.arithmetic
        if leaves and after.arithmetic == INTERFACE_WORD:
            if below > 1:
                node = self.node("reduce", [node], below, 1)
            return self.node("to_integer", [node])
        change = after.exponent - before.exponent
        for _ in range(abs(change)):
            node, below = self.node("raise" if change > 0 else "lower", [node]), 2
        if leaves:
            return self.node("canonical", [node], below)
        if after.below < below:
            node = self.node("reduce", [node], below, after.below)
        return node

    def _through_views(self, value: SSAValue) -> tuple[int, list[Operation]]:
        """The region input that `value` views, and the views from the outermost on."""
        views: list[Operation] = []
        while value not in self.inputs:
            op = value.owner
            if not isinstance(op, Operation) or not _is_view(op):
                raise Unfusable("this operand has to be in memory")
            views.append(op)
            value = op.operands[0]
        return self.inputs[value], views

    def _convert(self, op: rns.BaseConvertOp, place: _Place) -> int:
        if place.permutation >= 0 or place.masked:
            raise Unfusable("a base conversion cannot be re-indexed")
        source, target = facts_of(op.operand), facts_of(op.result)
        buffer, views = self._through_views(op.operand)
        source_rows, target_rows = source.rows(), target.rows()
        counts = {digit: 0 for digit, _ in source_rows}
        firsts: dict[int, int] = {}
        for index, (digit, _) in enumerate(source_rows):
            counts[digit] += 1
            firsts.setdefault(digit, index)
        start, count, base = list[int](), list[int](), list[int]()
        longest = max(counts.values())
        correction = self._correction(op, longest)
        width = conversion_width(source.arithmetic, correction)
        for row in place.rows:
            component, inner = divmod(row, len(target_rows))
            digit = target_rows[inner][0]
            first = component * len(source_rows) + firsts[digit]
            for view in views:
                (first,) = view_rows(view, (first,))
            start.append(first)
            count.append(counts[digit])
            base.append(inner * (longest + 1) * width)
        position = self.position[op]
        listed = Table(
            "conversion",
            source=replace(source.unrepresented(), components=1),
            target=replace(target.unrepresented(), components=1),
            correction=correction,
            exponent=target.exponent or 0,
        )
        table = self._table(("conversion", position), listed)
        columns = [
            self._column((name, position, place.path), tuple(values))
            for name, values in (("start", start), ("count", count), ("base", base))
        ]
        if correction == "given":
            components = tuple(row // len(target_rows) for row in place.rows)
            self.quotients = Quotients(
                buffer,
                columns[0],
                columns[1],
                self._table(("quotients", position), replace(listed, correction="nearest")),
                self._column(("component", position), components),
                components[-1] + 1,
            )
        # The last term is the multiple of the source's product.
        terms = longest + (correction in ("nearest", "given"))
        eager = self._reduces_terms(terms, Fraction(1, 2))
        return self.node("convert", [], buffer, *columns[:2], table, columns[2], eager, correction)

    def _correction(self, op: rns.BaseConvertOp, longest: int) -> str:
        """How kernels correct the conversion: quotients in front of a transform have a kernel of their own."""
        correction = op.correction.data
        words = facts_of(op.operand).arithmetic
        if not are_signed(words) or correction == "none":
            return correction
        if longest == 1:
            return "rounded" if words in FLOATING_WORDS else correction
        anchor = self.anchor
        feeds = anchor is not None and op.result is anchor.operand
        return "given" if feeds and self.quotients is None else correction

    def _reduces_terms(self, terms: int, bound: Fraction) -> bool:
        """Whether the partial sums of products of words with this bound are reduced one by one."""
        return not products_fit(self.ops, terms, bound)

    def _multiply_digits(self, op: rns.AccumulateOp, place: _Place) -> int:
        """The inner product with digits that come out of the region's transform."""
        if place.permutation >= 0 or place.masked:
            raise Unfusable("an inner product cannot be re-indexed")
        assert self.product_rows is not None
        component, inner = self._component(op.result, place)
        key_buffer, key_views = self._through_views(op.key)
        if key_views:
            raise Unfusable("the key of an inner product has to be in memory")
        position, listed = self.position[op], self.product_rows
        own = self.evaluate(op.own, _Place(listed.own, path=(position,), masked=True))
        table = self._table(("digits", position), Table("rows", values=listed.values))
        first = tuple(row * listed.entries * 4 for row in range(len(inner.rows)))
        base = self._column(("digit base", position), first)
        counts = self._column(("digit count", position), listed.counts)
        # All digits of the key, so that kernels do not depend on the level.
        terms = facts_of(op.key).digit_count() + 1
        return self.node(
            "key_product",
            [own],
            key_buffer,
            table,
            base,
            counts,
            _below(op.own),
            terms,
            component,
        )

    def _accumulate(self, op: rns.AccumulateOp, place: _Place) -> int:
        if place.permutation >= 0 or place.masked:
            raise Unfusable("an inner product cannot be re-indexed")
        component, inner = self._component(op.result, place)
        own_value, permutation = op.own, -1
        own_views = list[Operation]()
        while own_value not in self.inputs:
            view = own_value.owner
            if isinstance(view, rns.AutomorphismOp) and permutation < 0:
                permutation = self._permutation(view)
            elif not isinstance(view, Operation) or not _is_view(view):
                raise Unfusable("the digits of an inner product have to be in memory")
            assert isinstance(view, Operation)
            own_views.append(view)
            own_value = view.operands[0]
        own_buffer = self.inputs[own_value]
        converted, turned = op.converted, -1
        if converted not in self.inputs and isinstance(converted.owner, rns.AutomorphismOp):
            turned = self._permutation(converted.owner)
            converted = converted.owner.operand
        converted_buffer, converted_views = self._through_views(converted)
        key_buffer, key_views = self._through_views(op.key)
        if converted_views or key_views:
            raise Unfusable("the digits of an inner product have to be in memory")
        values, count = accumulate_rows(op, lambda row: through(own_views, row))
        position = self.position[op]
        table = self._table(("digits", position), Table("rows", values=values))
        limbs = len(facts_of(op.result).rows())
        first = tuple(row * count * 4 for row in inner.rows)
        base = self._column(("digit base", position), first)
        counts = self._column(("digit count", position), (count,) * len(inner.rows))
        assert len(values) == limbs * count
        return self.node(
            "accumulate",
            [],
            own_buffer,
            converted_buffer,
            key_buffer,
            table,
            base,
            counts,
            component,
            permutation,
            turned,
            self._reduces_terms(count, Fraction(max(_below(op.own), _below(op.converted)), 2)),
        )


def _is_view(op: Operation) -> bool:
    return isinstance(op, VIEW_OPS) or reads_interface(op)


def _decided(facts: PolyFacts) -> str:
    if facts.arithmetic is None:
        raise Unfusable("the representatives are undecided; run track-montgomery first")
    arithmetic = arithmetic_of(facts.arithmetic)
    assert arithmetic is not None
    return arithmetic.name


def _offset(value: SSAValue) -> int:
    """The multiple of q that keeps a difference from this word positive, 0 if words have a sign."""
    below = _below(value)
    return 0 if are_signed(facts_of(value).arithmetic) else below


def _below(value: SSAValue) -> int:
    below = facts_of(value).below
    if below is None:
        raise Unfusable("the representatives are undecided; run track-montgomery first")
    return below
