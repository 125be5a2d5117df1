"""The expression graph of a fusion region: what its kernels compute, element by element, and where they read and write.

This is the one access-pattern interface of the compiler. Region formation asks it whether a set of ops can be one
kernel chain (`Unfusable` says why not), resource inference asks it which tables the kernels read, and the lowering
turns it into kernels. Each caller builds it anew from the ops, so the three always agree.

A kernel runs over *program rows*. A region with a transform has one program row for each row of each component of the
transform; any other region has one for each row of a component and computes its components side by side. Every op but a
base conversion keeps the prime of a row, so a program row has one prime. Which rows of which buffer a program row
reads is data, not code: columns of a table of row numbers. Ops that only re-index (restrict, extract, pad, digits,
pack, automorphism) disappear into those columns and into index permutations.

The graph without the contents of its columns and tables is the *shape* of the region: regions of equal shape share
kernels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.rns import Limb, PolyFacts, PolyType

INDEX_OPS = (
    rns.RestrictOp,
    rns.ExtractOp,
    rns.PadOp,
    rns.DigitsOp,
    rns.AutomorphismOp,
)
"""Ops that only re-index their operand: any consumer can absorb them."""

VIEW_OPS = (rns.RestrictOp, rns.ExtractOp, rns.DigitsOp)
"""Index ops that select whole rows of their operand."""


class Unfusable(Exception):
    """A set of ops that cannot be one region; the message says why."""


@dataclass(frozen=True)
class Node:
    """One value of one element.

    kinds, with operands and data:

    - `load` (): (buffer, column, masked, permutation or -1) a word of a region input; a masked row that is -1 gives 0
    - `anchor` (): the transform's result
    - `add` (a, b); `sub` (a, b): (offset,), a - b + offset * q; `mul` (a, b); `negate` (a): (offset,)
    - `mul_constant` (a): (table, column) product with a constant
    - `raise`, `lower` (a): Montgomery exponent plus or minus one
    - `reduce` (a): (from, to)
    - `flip` (a): (offset, permutation) negation where the permutation's sign says so
    - `convert` (): (buffer, start column, count column, table, base column, correction) base conversion of a region
      input
    - `accumulate` (): (own buffer, converted buffer, key buffer, table, base column, count column, component,
      permutation)
    """

    kind: str
    operands: tuple[int, ...] = ()
    data: tuple[int | str | bool, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table that kernels read: its resource kind and parameters, all that defines its contents.

    kinds: `constants`, `conversion`, `permutation` as in the resource dialect; `rows` for the digit rows of an
    accumulation.
    """

    kind: str
    constant: rns.Constant | None = None
    source: PolyFacts | None = None
    target: PolyFacts | None = None
    exponent: int = 0
    correction: str = ""
    galois: int = 0
    domain: str = ""
    values: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Transform:
    """The transform of a region: direction, contract, schedule and the node that feeds it."""

    direction: str
    contract: ntt.Contract
    schedule: ntt.Schedule | None
    source: int


@dataclass(frozen=True)
class Output:
    """A component of a region result: which node is stored, in which result, at which column's row."""

    node: int
    result: int
    column: int


@dataclass(frozen=True)
class RegionGraph:
    """See the module's docstring. `columns[k][r]` is what column k holds for program row r; -1 is no row."""

    degree: int
    arithmetic: str
    limbs: tuple[Limb, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    transform: Transform | None
    columns: tuple[tuple[int, ...], ...]
    tables: tuple[Table, ...]
    table_kinds: tuple[str, ...] = field(default=())

    @property
    def shape(self) -> tuple[object, ...]:
        """What the kernels' text depends on; equal shapes share kernels."""
        return (
            self.degree,
            self.arithmetic,
            self.nodes,
            self.outputs,
            self.transform,
            len(self.columns),
            self.table_kinds,
        )


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
        rows = space.rows()
        transform = None
        stored: list[Output] = []
        if self.anchor is not None:
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
        return RegionGraph(
            space.degree,
            _decided(space),
            limbs,
            tuple(self.nodes),
            tuple(stored),
            transform,
            tuple(self.column_values),
            tuple(self.table_list),
            tuple(table.kind + table.domain for table in self.table_list),
        )

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
                return self.node("sub", self._both(op, place), _below(op.rhs))
            case rns.MulOp():
                return self.node("mul", self._both(op, place))
            case rns.NegateOp():
                operand = self.evaluate(op.operand, place)
                return self.node("negate", [operand], _below(op.operand))
            case rns.MulConstantOp():
                return self._mul_constant(op, place)
            case rns.SetRepresentativeOp():
                return self._set_representative(op, place)
            case rns.PackOp():
                component, inner = self._component(op.result, place)
                return self.evaluate(op.parts[component], inner)
            case ntt.TransformOp():
                if place.permutation >= 0 or place.masked or place.path:
                    raise Unfusable("a transform's result is re-indexed inside the region")
                return self.node("anchor", [])
            case rns.BaseConvertOp():
                return self._convert(op, place)
            case rns.AccumulateOp():
                return self._accumulate(op, place)
            case _ if isinstance(op, INDEX_OPS):
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
        if len(components) != 1 or place.masked:
            raise Unfusable(
                "components are computed side by side only in regions without transform"
            )
        component = components.pop()
        inner = tuple(row - component * rows for row in place.rows)
        # The component is chosen here, so a path that began by choosing it no longer depends on it.
        path = place.path[1:] if place.path and place.path[0] < 0 else place.path
        return component, replace(place, rows=inner, path=path)

    def _index(self, op: Operation, place: _Place) -> int:
        """A re-indexing: evaluates the operand at another place."""
        position = self.position[op]
        inner = replace(place, path=(*place.path, position))
        match op:
            case rns.DigitsOp():
                return self.evaluate(op.operand, place)  # the rows stay where they are
            case rns.ExtractOp():
                first = op.first.value.data * len(facts_of(op.operand).rows())
                shifted = tuple(row + first if row >= 0 else -1 for row in place.rows)
                return self.evaluate(op.operand, replace(inner, rows=shifted))
            case rns.PadOp():
                facts = facts_of(op.operand)
                count = facts.components * len(facts.rows())
                cut = tuple(row if row < count else -1 for row in place.rows)
                masked = place.masked or facts.components < op.components.value.data
                return self.evaluate(op.operand, replace(inner, rows=cut, masked=masked))
            case rns.RestrictOp():
                return self.evaluate(op.operand, replace(inner, rows=_restricted(op, place.rows)))
            case rns.AutomorphismOp():
                return self._automorphism(op, inner)
            case _:
                raise Unfusable(f"{op.name} has no kernel form")

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
        inner = self.evaluate(op.operand, replace(place, permutation=table))
        if facts.domain == "evaluation":
            return inner
        return self.node("flip", [inner], _below(op.operand), table)

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
        change = after.exponent - before.exponent
        for _ in range(abs(change)):
            node, below = self.node("raise" if change > 0 else "lower", [node]), 2
        if after.below < below:
            node = self.node("reduce", [node], below, after.below)
        return node

    def _through_views(self, value: SSAValue) -> tuple[int, list[Operation]]:
        """The region input that `value` views, and the views from the outermost on."""
        views: list[Operation] = []
        while value not in self.inputs:
            op = value.owner
            if not isinstance(op, Operation) or not isinstance(op, VIEW_OPS):
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
        for row in place.rows:
            component, inner = divmod(row, len(target_rows))
            digit = target_rows[inner][0]
            first = component * len(source_rows) + firsts[digit]
            for view in views:
                (first,) = _view_rows(view, (first,))
            start.append(first)
            count.append(counts[digit])
            base.append(inner * (longest + 1) * 3)
        position = self.position[op]
        correction = op.correction.data
        table = self._table(
            ("conversion", position),
            Table(
                "conversion",
                source=replace(source.unrepresented(), components=1),
                target=replace(target.unrepresented(), components=1),
                correction=correction,
                exponent=target.exponent or 0,
            ),
        )
        columns = [
            self._column((name, position, place.path), tuple(values))
            for name, values in (("start", start), ("count", count), ("base", base))
        ]
        return self.node(
            "convert", [], buffer, columns[0], columns[1], table, columns[2], correction
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
            elif not isinstance(view, VIEW_OPS):
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
        values, count = _digit_rows(op, own_views)
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
        )


def _restricted(op: rns.RestrictOp, rows: _Rows) -> _Rows:
    outer, inner = facts_of(op.operand).basis.limbs(), facts_of(op.result).basis.limbs()
    row_of = {limb: index for index, limb in enumerate(outer)}
    mapped = [row_of[limb] for limb in inner]
    return tuple(
        -1 if row < 0 else row // len(inner) * len(outer) + mapped[row % len(inner)] for row in rows
    )


def _view_rows(op: Operation, rows: _Rows) -> _Rows:
    """Rows of a view's operand."""
    match op:
        case rns.RestrictOp():
            return _restricted(op, rows)
        case rns.ExtractOp():
            first = op.first.value.data * len(facts_of(op.operand).rows())
            return tuple(row + first for row in rows)
        case _:
            return rows


def _digit_rows(
    op: rns.AccumulateOp, own_views: Sequence[Operation]
) -> tuple[tuple[tuple[int, ...], ...], int]:
    """For each result row and digit: the row of `own` or -1, of `converted` or -1, and the two rows of the key.

    Also the number of digits.
    """
    own, converted, key = facts_of(op.own), facts_of(op.converted), facts_of(op.key)
    own_row = {limb: index for index, (_, limb) in enumerate(own.rows())}
    converted_row = {row: index for index, row in enumerate(converted.rows())}
    key_limbs = [limb for _, limb in key.rows()]
    key_row = {limb: index for index, limb in enumerate(key_limbs)}
    assert converted.digits is not None
    count = converted.digit_count()
    values: list[tuple[int, ...]] = []
    for _, limb in facts_of(op.result).rows():
        for digit in range(count):
            other = converted_row.get((digit, limb), -1)
            mine = own_row[limb] if other < 0 else -1
            if mine >= 0:
                for view in own_views:
                    if not isinstance(view, rns.AutomorphismOp):
                        (mine,) = _view_rows(view, (mine,))
            first = digit * key.components * len(key_limbs) + key_row[limb]
            values.append((mine, other, first, first + len(key_limbs)))
    return tuple(values), count


def _decided(facts: PolyFacts) -> str:
    if facts.arithmetic is None:
        raise Unfusable("the representatives are undecided; run track-montgomery first")
    return facts.arithmetic


def _below(value: SSAValue) -> int:
    below = facts_of(value).below
    if below is None:
        raise Unfusable("the representatives are undecided; run track-montgomery first")
    return below
