"""Rows that re-indexing ops read: the row of the operand for each row that is wanted of the result, -1 for none."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from fhelium_ir.dialects import rns
from fhelium_ir.dialects.rns import PolyFacts

Rows = tuple[int, ...]


def restricted(op: rns.RestrictOp, rows: Rows) -> Rows:
    """Rows of the operand of a restriction."""
    outer, inner = _facts(op.operand).basis.limbs(), _facts(op.result).basis.limbs()
    row_of = {limb: index for index, limb in enumerate(outer)}
    mapped = [row_of[limb] for limb in inner]
    return tuple(
        -1 if row < 0 else row // len(inner) * len(outer) + mapped[row % len(inner)] for row in rows
    )


def embedded(op: rns.EmbedOp, rows: Rows) -> Rows:
    """Rows of the operand, -1 where it has none."""
    outer, inner = _facts(op.result).basis.limbs(), _facts(op.operand).basis.limbs()
    row_of = {limb: index for index, limb in enumerate(inner)}
    mapped = [row_of.get(limb, -1) for limb in outer]
    found: list[int] = []
    for row in rows:
        component, place = divmod(row, len(outer))
        known = row >= 0 and mapped[place] >= 0
        found.append(component * len(inner) + mapped[place] if known else -1)
    return tuple(found)


def view_rows(op: Operation, rows: Rows) -> Rows:
    """Rows of a view's operand."""
    match op:
        case rns.RestrictOp():
            return restricted(op, rows)
        case rns.ExtractOp():
            first = op.first.value.data * len(_facts(op.operand).rows())
            return tuple(row + first for row in rows)
        case _:
            return rows


def through(views: Sequence[Operation], row: int) -> int:
    """The row that views, the outermost first, make of a row of their result."""
    for view in views:
        if not isinstance(view, rns.AutomorphismOp):
            (row,) = view_rows(view, (row,))
    return row


def _facts(value: SSAValue) -> PolyFacts:
    assert isinstance(value.type, rns.PolyType)
    return value.type.data
