"""What the builders of region graphs share: nodes, columns and tables, each once, and facts of the bundles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.analysis.digit_rows import ProductRows
from fhelium_ir.analysis.region_nodes import Node, Quotients, Table
from fhelium_ir.analysis.region_words import products_fit
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.rns import PolyFacts, PolyType
from fhelium_ir.dialects.zq import (
    FLOATING,
    INTERFACE_WORD,
    INTERFACE_WORDS,
    are_signed,
    arithmetic_of,
)
from fhelium_ir.parameters import Parameters

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
    if before.arithmetic not in INTERFACE_WORDS or before.arithmetic == after.arithmetic:
        return False
    return after.exponent in (None, 0) and after.of_group(FLOATING).below != 1


def reindexes(op: Operation) -> bool:
    """Whether any consumer can absorb an op: it moves words and computes nothing."""
    # Asked thousands of times, and `isinstance` takes long for classes of xDSL.
    return type(op) in _INDEX_KINDS or reads_interface(op)


class Unfusable(Exception):
    """A set of ops that cannot be one region; the message says why."""


def facts_of(value: SSAValue) -> PolyFacts:
    """Facts of a bundle."""
    type_: Attribute = value.type
    if not isinstance(type_, PolyType):
        raise Unfusable(f"{type_} is no bundle of residue polynomials")
    return type_.data


Rows = tuple[int, ...]


@dataclass(frozen=True)
class Place:
    """Where a value is wanted: a row of it per program row (-1: none, it reads as 0), a permutation of the elements
    (-1: none), the path of re-indexings that led here, which names the column, and whether rows may be missing."""

    rows: Rows
    permutation: int = -1
    path: tuple[int, ...] = ()
    masked: bool = False


class GraphBuilder:
    """Nodes, columns and tables of one graph; in a mixed module that of one group of primes."""

    def __init__(
        self,
        ops: tuple[Operation, ...],
        inputs: tuple[SSAValue, ...],
        mixed: Parameters | None,
        group: str | None,
    ):
        self.ops = ops
        self.mixed, self.group = mixed, group
        self.position = {op: index for index, op in enumerate(ops)}
        self.inputs = {value: index for index, value in enumerate(inputs)}
        self.nodes: dict[Node, int] = {}
        self.columns: dict[tuple[object, ...], int] = {}
        self.column_values: list[Rows] = []
        self.tables: dict[tuple[object, ...], int] = {}
        self.table_list: list[Table] = []
        self.memo: dict[tuple[SSAValue, Place], int] = {}
        self.anchor: ntt.TransformOp | None = None
        self.quotients: Quotients | None = None
        self.product: rns.AccumulateOp | None = None
        self.product_rows: ProductRows | None = None

    def node(self, kind: str, operands: Sequence[int], *data: int | str | bool) -> int:
        """The number of a node, shared by equal nodes."""
        node = Node(kind, tuple(operands), data)
        return self.nodes.setdefault(node, len(self.nodes))

    def column(self, key: tuple[object, ...], values: Rows) -> int:
        if key not in self.columns:
            self.columns[key] = len(self.column_values)
            self.column_values.append(values)
        return self.columns[key]

    def table(self, key: tuple[object, ...], table: Table) -> int:
        if key not in self.tables:
            self.tables[key] = len(self.table_list)
            self.table_list.append(table)
        return self.tables[key]

    def facts(self, value: SSAValue) -> PolyFacts:
        """Facts of a bundle as the kernels of this group see them."""
        return facts_of(value).of_group(self.group)

    def arithmetic(self, facts: PolyFacts) -> str:
        if facts.arithmetic is None:
            raise Unfusable("the representatives are undecided; run track-montgomery first")
        found = arithmetic_of(facts.of_group(self.group).arithmetic)
        assert found is not None
        return found.name

    def stored_as_integers(self, values: Sequence[SSAValue]) -> tuple[int, ...]:
        """Which bundles are canonical integers where kernels compute with doubles."""
        found: list[int] = []
        for index, value in enumerate(values):
            known = isinstance(value.type, PolyType)
            if known and self.facts(value).arithmetic == INTERFACE_WORD:
                found.append(index)
        return tuple(found)

    def offset(self, value: SSAValue) -> int:
        """The multiple of q that keeps a difference from this word positive, 0 if words have a sign."""
        below = self.below(value)
        return 0 if are_signed(self.facts(value).arithmetic) else below

    def below(self, value: SSAValue) -> int:
        below = self.facts(value).below
        if below is None:
            raise Unfusable("the representatives are undecided; run track-montgomery first")
        return below

    def through_views(self, value: SSAValue) -> tuple[int, list[Operation]]:
        """The region input that `value` views, and the views from the outermost on."""
        views: list[Operation] = []
        while value not in self.inputs:
            op = value.owner
            if not isinstance(op, Operation) or not is_view(op):
                raise Unfusable("this operand has to be in memory")
            views.append(op)
            value = op.operands[0]
        return self.inputs[value], views

    def reduces_terms(self, terms: int, bound: Fraction) -> bool:
        """Whether the partial sums of products of words with this bound are reduced one by one."""
        return not products_fit(self.ops, terms, bound, self.group)


def is_view(op: Operation) -> bool:
    return isinstance(op, VIEW_OPS) or reads_interface(op)
