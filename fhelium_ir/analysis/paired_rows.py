"""Which program rows a program of the first kernel of a forward transform computes together.

In a base conversion the target rows of a digit read the same source limbs. A program with two of them loads each source
word once.
"""

from __future__ import annotations

from collections.abc import Sequence

from fhelium_ir.analysis.region_nodes import Node, Quotients, Transform

TOGETHER = ("none", "given")
"""Corrections of conversions that are computed for two rows at once."""


def shared_conversion(nodes: Sequence[Node], transform: Transform) -> int | None:
    """The number of the one base conversion that feeds a transform, if it can be computed for two rows at once."""
    found: set[int] = set()
    pending = [transform.source]
    while pending:
        number = pending.pop()
        node = nodes[number]
        pending.extend(node.operands)
        if node.kind.startswith("convert"):
            found.add(number)
    if len(found) != 1:
        return None
    (number,) = found
    node = nodes[number]
    return number if node.kind == "convert" and node.data[-1] in TOGETHER else None


def paired_rows(
    nodes: Sequence[Node],
    transform: Transform | None,
    columns: Sequence[Sequence[int]],
    quotients: Quotients | None,
) -> tuple[tuple[int, int], ...]:
    """Pairs of program rows that convert the same limbs, in the order of their first rows; a row that is left over is
    paired with itself. Empty where a program has one row.

    Args:
        columns: of the row table, as in `RegionGraph`.
        quotients: that a kernel in front of the transform has left, for each component.
    """
    if transform is None or transform.schedule is None or transform.direction != "forward":
        return ()
    number = shared_conversion(nodes, transform)
    if transform.schedule.converted_rows == 1 or number is None:
        return ()
    _, start, count, *_ = (int(entry) for entry in nodes[number].data[:-1])
    chosen = [start, count] + ([quotients.component] if quotients is not None else [])
    waiting: dict[tuple[int, ...], int] = {}
    pairs: dict[int, int] = {}
    for row, key in enumerate(zip(*(columns[column] for column in chosen), strict=True)):
        first = waiting.pop(key, None)
        if first is None:
            waiting[key] = pairs[row] = row
        else:
            pairs[first] = row
    return tuple(pairs.items())
