"""Base conversions in region graphs: where each program row finds source limbs and coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from xdsl.ir import Operation

from fhelium_ir.analysis.float_bounds import CENTRED
from fhelium_ir.analysis.prime_groups import prime_of
from fhelium_ir.analysis.region_builder import GraphBuilder, Place, Rows, Unfusable, facts_of
from fhelium_ir.analysis.region_nodes import Quotients, Table
from fhelium_ir.analysis.region_words import MIXED_WIDTH, conversion_width
from fhelium_ir.analysis.reindexing import view_rows
from fhelium_ir.dialects import rns
from fhelium_ir.dialects.rns import Basis, PolyFacts
from fhelium_ir.dialects.zq import FLOATING, FLOATING_WORDS, MIXED_GROUPS, are_signed, group_of
from fhelium_ir.parameters import Parameters


@dataclass(frozen=True)
class Sources:
    """What program rows read of a conversion's source.

    Attributes:
        digits: for each program row the digit that it converts, its first source row in the buffer, and the number of
            its target row within a component.
        groups: for each digit the groups of its limbs, in order; None where a module has one arithmetic.
    """

    digits: tuple[tuple[int, int, int], ...]
    groups: dict[int, tuple[str | None, ...]]

    @property
    def longest(self) -> int:
        """Limbs of the longest digit."""
        return max(len(groups) for groups in self.groups.values())


def convert_node(builder: GraphBuilder, op: rns.BaseConvertOp, place: Place) -> int:
    """The node of a base conversion at a place.

    Raises:
        Unfusable: the conversion cannot read what it converts from memory, or is re-indexed.
    """
    if place.permutation >= 0 or place.masked:
        raise Unfusable("a base conversion cannot be re-indexed")
    source, target = facts_of(op.operand), facts_of(op.result)
    buffer, views = builder.through_views(op.operand)
    found = _sources(source, target, place.rows, views, builder.mixed)
    position, mixed = builder.position[op], builder.mixed is not None
    correction = _correction(builder, op, found.longest)
    arithmetic = builder.facts(op.operand).arithmetic
    width = conversion_width(arithmetic, correction, mixed)
    listed = Table(
        "conversion",
        source=replace(source.unrepresented(), components=1),
        target=replace(target.unrepresented(), components=1),
        # In a mixed module all ways to be nearest read one table.
        correction=op.correction.data if mixed else correction,
        exponent=builder.facts(op.result).exponent or 0,
    )
    table = builder.table(("conversion", position), listed)
    bases = tuple(inner * (found.longest + 1) * width for _, _, inner in found.digits)

    def column(name: str, values: Sequence[int]) -> int:
        return builder.column((name, position, place.path), tuple(values))

    segments: tuple[tuple[str, int, int, int], ...] = ()
    start = count = -1
    if mixed:
        segments = tuple(
            (
                segment.group,
                column(f"start {number}", segment.starts),
                column(f"count {number}", segment.counts),
                column(f"entries {number}", _entries(bases, segment)),
            )
            for number, segment in enumerate(_segments(found))
        )
        base = column("base", bases)
        terms = max(map(_terms, found.groups.values()))
    else:
        start = column("start", [first for _, first, _ in found.digits])
        count = column("count", [len(found.groups[digit]) for digit, _, _ in found.digits])
        base = column("base", bases)
        terms = found.longest
    if correction == "given":
        rows = len(target.rows())
        components = tuple(row // rows for row in place.rows)
        nearest = table
        if not mixed:
            # Quotients depend on no target: the first one's row will do.
            known = replace(listed, correction="nearest", target=_first_row(listed.target))
            nearest = builder.table(("quotients", position), known)
        number = builder.column(("component", position), components)
        builder.quotients = Quotients(
            buffer, start, count, nearest, number, components[-1] + 1, segments
        )
    # The last term is the multiple of the source's product.
    eager = builder.reduces_terms(terms + (correction in ("nearest", "given")), CENTRED)
    if mixed:
        flat = [entry for segment in segments for entry in segment]
        return builder.node("convert_groups", [], buffer, table, base, eager, correction, *flat)
    return builder.node("convert", [], buffer, start, count, table, base, eager, correction)


def _first_row(target: PolyFacts | None) -> PolyFacts | None:
    """A bundle of the first limb of one without digits."""
    if target is None or target.digits is not None:
        return target
    first = target.basis.limbs()[0]
    alone = (first.index, first.index + 1)
    return replace(target, basis=Basis(q=alone) if first.family == "q" else Basis(p=alone))


def _sources(
    source: PolyFacts,
    target: PolyFacts,
    rows: Rows,
    views: Sequence[Operation],
    mixed: Parameters | None,
) -> Sources:
    source_rows, target_rows = source.rows(), target.rows()
    groups: dict[int, tuple[str | None, ...]] = {}
    firsts: dict[int, int] = {}
    for index, (digit, limb) in enumerate(source_rows):
        group = group_of(prime_of(limb, mixed)).name if mixed is not None else None
        groups[digit] = (*groups.get(digit, ()), group)
        firsts.setdefault(digit, index)
    found: list[tuple[int, int, int]] = []
    for row in rows:
        component, inner = divmod(row, len(target_rows))
        digit = target_rows[inner][0]
        first = component * len(source_rows) + firsts[digit]
        for view in views:
            (first,) = view_rows(view, (first,))
        found.append((digit, first, inner))
    return Sources(tuple(found), groups)


def _correction(builder: GraphBuilder, op: rns.BaseConvertOp, longest: int) -> str:
    """How kernels correct the conversion: quotients in front of a transform have a kernel of their own."""
    correction = op.correction.data
    words = builder.facts(op.operand).arithmetic
    if not are_signed(words) or correction == "none":
        return correction
    if longest == 1:
        return "rounded" if words in FLOATING_WORDS else correction
    anchor = builder.anchor
    feeds = anchor is not None and op.result is anchor.operand
    return "given" if feeds and builder.quotients is None else correction


@dataclass(frozen=True)
class _Segment:
    """A run of source limbs of one group: per program row its first row in the buffer, its length, 0 where the digit
    has none, and how many limbs of the digit are in front of it."""

    group: str
    starts: Rows
    counts: Rows
    before: Rows


def _segments(found: Sources) -> list[_Segment]:
    """The k-th run of each group, of all digits."""
    runs: dict[int, list[tuple[str | None, int, int]]] = {}
    for digit, groups in found.groups.items():
        runs[digit], before = [], 0
        for group, members in groupby(groups):
            length = len(list(members))
            runs[digit].append((group, before, length))
            before += length
    segments: list[_Segment] = []
    for name in (group.name for group in MIXED_GROUPS):
        of_group = {
            digit: [run for run in listed if run[0] == name] for digit, listed in runs.items()
        }
        for number in range(max(map(len, of_group.values()))):
            starts, counts, before = list[int](), list[int](), list[int]()
            for digit, first, _ in found.digits:
                listed = of_group[digit]
                _, ahead, length = listed[number] if number < len(listed) else (name, 0, 0)
                starts.append(first + ahead)
                counts.append(length)
                before.append(ahead)
            segments.append(_Segment(name, tuple(starts), tuple(counts), tuple(before)))
    return segments


def _entries(bases: Rows, segment: _Segment) -> list[int]:
    """Where the coefficients of a segment begin; the first entry of a row is that of the source's product."""
    return [
        base + (1 + before) * MIXED_WIDTH
        for base, before in zip(bases, segment.before, strict=True)
    ]


def _terms(groups: Sequence[str | None]) -> int:
    """Products of a sum in `fp64`: a limb of wider primes is multiplied in two parts."""
    return sum(1 if group == FLOATING else 2 for group in groups)
