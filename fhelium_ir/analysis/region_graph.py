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
from dataclasses import replace
from fractions import Fraction

from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis.digit_rows import accumulate_rows, product_rows
from fhelium_ir.analysis.paired_rows import paired_rows
from fhelium_ir.analysis.prime_groups import in_group
from fhelium_ir.analysis.region_builder import (
    INDEX_OPS,
    VIEW_OPS,
    GraphBuilder,
    Place,
    Unfusable,
    facts_of,
    is_view,
    reads_interface,
    reindexes,
)
from fhelium_ir.analysis.region_conversions import convert_node
from fhelium_ir.analysis.region_nodes import Output, RegionGraph, Table, Transform
from fhelium_ir.analysis.region_words import largest_prime, prime_groups, word_capacity
from fhelium_ir.analysis.reindexing import embedded, restricted, through
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.rns import PolyFacts
from fhelium_ir.dialects.zq import INTERFACE_WORD, INTERFACE_WORDS

__all__ = [
    "INDEX_OPS",
    "VIEW_OPS",
    "Unfusable",
    "build_graph",
    "build_graphs",
    "facts_of",
    "reads_interface",
    "reindexes",
]


def build_graph(
    ops: Sequence[Operation], inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
) -> RegionGraph:
    """The graph of `ops`, in order, with results `outputs`; `inputs` numbers the values from outside.

    In a mixed module that of all rows as if they had one arithmetic, which tells whether there are kernels, and what
    they read and write.

    Raises:
        Unfusable: the ops cannot be one kernel chain.
    """
    parameters, groups = prime_groups(ops)
    return _Builder(tuple(ops), tuple(inputs), parameters, groups[-1]).build(tuple(outputs))


def build_graphs(
    ops: Sequence[Operation], inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]
) -> tuple[RegionGraph, ...]:
    """The graphs of the kernels: one, or in a mixed module one for each group of primes that has rows here.

    Kernels of different groups store different rows, and read of what is stored here only their own.

    Raises:
        Unfusable: the ops cannot be one kernel chain.
    """
    parameters, groups = prime_groups(ops)
    if parameters is None:
        return (build_graph(ops, inputs, outputs),)
    found: list[RegionGraph] = []
    for group in groups:
        builder = _Builder(tuple(ops), tuple(inputs), parameters, group)
        graph = builder.build(tuple(outputs))
        kept = [in_group(limb, parameters, group) for limb in graph.limbs]
        if not any(kept):
            continue
        digits = graph.digits
        if digits is not None:
            rows = [in_group(limb, parameters, group) for limb in digits.limbs]
            digits = digits.of_rows(rows)
        found.append(replace(graph.of_rows(kept), digits=digits))
    return tuple(found)


class _Builder(GraphBuilder):
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
        transform, between = None, -1
        stored: list[Output] = []
        if self.anchor is not None and digits is None:
            every = Place(tuple(range(len(rows) * space.components)))
            limbs = tuple(limb for _, limb in rows) * space.components
            transform = self._transform(self.anchor, every)
            for result, value in enumerate(outputs):
                self._check_space(facts_of(value), space, components=True)
                node = self.evaluate(value, every)
                stored.append(Output(node, result, self.column(("store",), every.rows)))
            between = self.column(("store",), every.rows) if self.mixed is not None else -1
        else:
            limbs = tuple(limb for _, limb in rows)
            for result, value in enumerate(outputs):
                facts = facts_of(value)
                self._check_space(facts, space, components=False)
                for component in range(facts.components):
                    first = component * len(rows)
                    path = (-1 - component,) if facts.components > 1 else ()
                    place = Place(tuple(range(first, first + len(rows))), path=path)
                    node = self.evaluate(value, place)
                    column = self.column(("store", component), place.rows)
                    stored.append(Output(node, result, column))
        pairs = self._pairs(digits, transform)
        tables = tuple(self.table_list)
        kinds = tuple(table.kind + table.domain for table in tables)
        if digits is not None:
            digits = replace(digits, tables=tables, table_kinds=kinds, pairs=pairs)
        return RegionGraph(
            space.degree,
            self.arithmetic(space),
            limbs,
            tuple(self.nodes),
            tuple(stored),
            transform,
            tuple(self.column_values),
            tables,
            kinds,
            self.stored_as_integers(tuple(self.inputs)),
            self.stored_as_integers(outputs),
            word_capacity(self.ops, self.group),
            largest_prime(self.ops, self.group),
            digits,
            digit_memory=self.product_rows.scratch() if self.product_rows is not None else None,
            quotients=self.quotients,
            mixed=self.mixed is not None,
            result_column=between,
            pairs=pairs if digits is None else -1,
        )

    def _pairs(self, digits: RegionGraph | None, transform: Transform | None) -> int:
        """The table of program rows that programs of the first kernel compute together, -1 if they do not."""
        if self.mixed is not None:
            return -1  # each group would have pairs of its own
        if digits is not None:
            found = paired_rows(digits.nodes, digits.transform, digits.columns, None)
        else:
            nodes, columns = tuple(self.nodes), tuple(self.column_values)
            found = paired_rows(nodes, transform, columns, self.quotients)
        return self.table(("pairs",), Table("rows", values=found)) if found else -1

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
        if self.mixed is not None:
            numbers = [
                n for n, (_, limb) in enumerate(rows) if in_group(limb, self.mixed, self.group)
            ]
            own = {row: number for number, row in enumerate(numbers)}
            self.product_rows = self.product_rows.renumbered(own)
        transform = self._transform(self.anchor, Place(tuple(range(len(rows)))))
        scratch = self.column(("scratch",), self.product_rows.slots)
        graph = RegionGraph(
            facts.degree,
            self.arithmetic(facts),
            tuple(limb for _, limb in rows),
            tuple(self.nodes),
            (),
            transform,
            tuple(self.column_values),
            (),
            integer_inputs=self.stored_as_integers(tuple(self.inputs)),
            capacity=word_capacity(self.ops, self.group),
            largest_prime=largest_prime(self.ops, self.group),
            scratch_column=scratch,
            mixed=self.mixed is not None,
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

    def _transform(self, op: ntt.TransformOp, every: Place) -> Transform:
        contract = op.contract_of(self.group)
        if contract is None:
            raise Unfusable("the transform has no contract; run select-ntt-schedules first")
        schedule = op.schedule_of(self.group)
        source = self.evaluate(op.operand, every)
        direction = "forward" if isinstance(op, ntt.ForwardOp) else "inverse"
        return Transform(direction, contract, schedule, source)

    def evaluate(self, value: SSAValue, place: Place) -> int:
        """The node of `value` at a place."""
        key = (value, place)
        if key not in self.memo:
            self.memo[key] = self._evaluate(value, place)
        return self.memo[key]

    def _evaluate(self, value: SSAValue, place: Place) -> int:
        if value in self.inputs:
            return self._load(self.inputs[value], place)
        op = value.owner
        if not isinstance(op, Operation) or op not in self.position:
            raise Unfusable("a value is neither computed here nor an input")
        match op:
            case rns.AddOp():
                return self.node("add", self._both(op, place))
            case rns.SubOp():
                return self.node("sub", self._both(op, place), self.offset(op.rhs))
            case rns.MulOp():
                return self.node("mul", self._both(op, place))
            case rns.NegateOp():
                operand = self.evaluate(op.operand, place)
                return self.node("negate", [operand], self.offset(op.operand))
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
                return convert_node(self, op, place)
            case rns.AccumulateOp():
                if op is self.product:
                    return self._multiply_digits(op, place)
                return self._accumulate(op, place)
            case _ if reindexes(op):
                return self._index(op, place)
            case _:
                raise Unfusable(f"{op.name} has no kernel form")

    def _both(self, op: rns.BinaryOp, place: Place) -> list[int]:
        return [self.evaluate(op.lhs, place), self.evaluate(op.rhs, place)]

    def _load(self, buffer: int, place: Place) -> int:
        column = self.column(("row", buffer, place.path), place.rows)
        return self.node("load", [], buffer, column, place.masked, place.permutation)

    def _component(self, value: SSAValue, place: Place) -> tuple[int, Place]:
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
        return component, Place(inner, place.permutation, path, place.masked)

    def _index(self, op: Operation, place: Place) -> int:
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
                    op, Place(place.rows, place.permutation, path, place.masked)
                )
            case _:
                raise Unfusable(f"{op.name} has no kernel form")
        return self.evaluate(op.operands[0], Place(rows, place.permutation, path, masked))

    def _permutation(self, op: rns.AutomorphismOp) -> int:
        """The table of an automorphism's index permutation."""
        domain = facts_of(op.operand).domain
        table = Table("permutation", galois=op.element, domain=domain)
        return self.table(("permutation", op.element, domain), table)

    def _automorphism(self, op: rns.AutomorphismOp, place: Place) -> int:
        if place.permutation >= 0:
            raise Unfusable("two automorphisms in a row need two regions")
        facts = facts_of(op.operand)
        table = self._permutation(op)
        there = Place(place.rows, table, place.path, place.masked)
        inner = self.evaluate(op.operand, there)
        if facts.domain == "evaluation":
            return inner
        return self.node("flip", [inner], self.offset(op.operand), table)

    def _mul_constant(self, op: rns.MulConstantOp, place: Place) -> int:
        facts = facts_of(op.operand)
        table = self.table(
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
        column = self.column(("constant", self.position[op], place.path), own)
        return self.node("mul_constant", [self.evaluate(op.operand, place)], table, column)

    def _set_representative(self, op: rns.SetRepresentativeOp, place: Place) -> int:
        before, after = self.facts(op.operand), self.facts(op.result)
        node = self.evaluate(op.operand, place)
        below = self.below(op.operand)
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

    def _multiply_digits(self, op: rns.AccumulateOp, place: Place) -> int:
        """The inner product with digits that come out of the region's transform."""
        if place.permutation >= 0 or place.masked:
            raise Unfusable("an inner product cannot be re-indexed")
        assert self.product_rows is not None
        component, inner = self._component(op.result, place)
        key_buffer, key_views = self.through_views(op.key)
        if key_views:
            raise Unfusable("the key of an inner product has to be in memory")
        position, listed = self.position[op], self.product_rows
        own = self.evaluate(op.own, Place(listed.own, path=(position,), masked=True))
        table = self.table(("digits", position), Table("rows", values=listed.values))
        first = tuple(row * listed.entries * 4 for row in range(len(inner.rows)))
        base = self.column(("digit base", position), first)
        counts = self.column(("digit count", position), listed.counts)
        # All digits of the key, so that kernels do not depend on the level.
        terms = facts_of(op.key).digit_count() + 1
        return self.node(
            "key_product",
            [own],
            key_buffer,
            table,
            base,
            counts,
            self.below(op.own),
            terms,
            component,
        )

    def _accumulate(self, op: rns.AccumulateOp, place: Place) -> int:
        if place.permutation >= 0 or place.masked:
            raise Unfusable("an inner product cannot be re-indexed")
        component, inner = self._component(op.result, place)
        own_value, permutation = op.own, -1
        own_views = list[Operation]()
        while own_value not in self.inputs:
            view = own_value.owner
            if isinstance(view, rns.AutomorphismOp) and permutation < 0:
                permutation = self._permutation(view)
            elif not isinstance(view, Operation) or not is_view(view):
                raise Unfusable("the digits of an inner product have to be in memory")
            assert isinstance(view, Operation)
            own_views.append(view)
            own_value = view.operands[0]
        own_buffer = self.inputs[own_value]
        converted, turned = op.converted, -1
        if converted not in self.inputs and isinstance(converted.owner, rns.AutomorphismOp):
            turned = self._permutation(converted.owner)
            converted = converted.owner.operand
        converted_buffer, converted_views = self.through_views(converted)
        key_buffer, key_views = self.through_views(op.key)
        if converted_views or key_views:
            raise Unfusable("the digits of an inner product have to be in memory")
        values, count = accumulate_rows(op, lambda row: through(own_views, row))
        position = self.position[op]
        table = self.table(("digits", position), Table("rows", values=values))
        limbs = len(facts_of(op.result).rows())
        first = tuple(row * count * 4 for row in inner.rows)
        base = self.column(("digit base", position), first)
        counts = self.column(("digit count", position), (count,) * len(inner.rows))
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
            self.reduces_terms(
                count, Fraction(max(self.below(op.own), self.below(op.converted)), 2)
            ),
        )
