"""Which rows an inner product over digits reads, as tables of numbers: the programs of its kernel know nothing else of
digits, so that ragged ones, levels and bases are contents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from fhelium_ir.dialects import rns
from fhelium_ir.dialects.rns import Limb, PolyFacts

_Rows = tuple[int, ...]


@dataclass(frozen=True)
class Scratch:
    """Memory of a region's own, live only while its kernels run: `rows` of N words.

    The first result may lie in its first `shared` rows: of these, the program that stores a row is the only one that
    reads it, and it has read it by then.
    """

    rows: int
    shared: int = 0


def accumulate_rows(
    op: rns.AccumulateOp, own_row: Callable[[int], int]
) -> tuple[tuple[_Rows, ...], int]:
    """Rows of an inner product whose digits are in memory.

    For each result row and digit: the row of `own` or -1, of `converted` or -1, and the two rows of the key.

    Args:
        own_row: the row in memory of a row of `own`.

    Returns:
        The table, and the number of digits.
    """
    own, converted = _facts(op.own), _facts(op.converted)
    own_place = {limb: index for index, (_, limb) in enumerate(own.rows())}
    converted_row = {row: index for index, row in enumerate(converted.rows())}
    count = converted.digit_count()
    values: list[_Rows] = []
    for _, limb in _facts(op.result).rows():
        for digit in range(count):
            other = converted_row.get((digit, limb), -1)
            mine = own_row(own_place[limb]) if other < 0 else -1
            values.append((mine, other, *_key_rows(op, digit, limb)))
    return tuple(values), count


@dataclass(frozen=True)
class ProductRows:
    """Rows of an inner product whose digits come out of a transform in the same region.

    Attributes:
        values: for each result row `entries` times (row, slot, two rows of the key). The first entry is that of the
            digit which the limb belongs to, its row 0, or -1 where there is none; the others are rows of the transform,
            padded with -1. A slot is the row of scratch memory where the digit lies between kernels.
        entries: per result row.
        counts: how many rows of the transform each result row takes.
        own: for each result row the row of the operand that is already transformed, or -1.
        slots: for each row of the transform its row of scratch memory.
        slot_count: rows of scratch memory.
        shared: of these, how many are read only by the program that computes the result row of that number.
    """

    values: tuple[_Rows, ...]
    entries: int
    counts: _Rows
    own: _Rows
    slots: _Rows
    slot_count: int
    shared: int

    def renumbered(self, numbers: Mapping[int, int]) -> ProductRows:
        """The same with other numbers of the transform's rows; rows without one are left out of no list, but -1."""
        values = tuple(
            (row if place % self.entries == 0 else numbers.get(row, -1), *rest)
            for place, (row, *rest) in enumerate(self.values)
        )
        return replace(self, values=values)

    def scratch(self) -> Scratch:
        """The scratch memory of the digits."""
        return Scratch(self.slot_count, self.shared)


def product_rows(op: rns.AccumulateOp, space: PolyFacts) -> ProductRows:
    """The rows of an inner product, one result row for each limb of `space`.

    The k-th digit that the program of a result row reads lies where component k of that row is stored, for all
    components; further digits lie behind. So the result can take the place of the digits.
    """
    own, converted = _facts(op.own), _facts(op.converted)
    own_row = {limb: index for index, (_, limb) in enumerate(own.rows())}
    converted_row = {row: index for index, row in enumerate(converted.rows())}
    limbs = [limb for _, limb in space.rows()]
    components = _facts(op.result).components
    shared = components * len(limbs)
    slots = [-1] * len(converted_row)
    free = shared
    lists: list[list[_Rows]] = []
    own_rows: list[int] = []
    for number, limb in enumerate(limbs):
        mine: _Rows = (-1, -1, *_key_rows(op, 0, limb))
        others: list[_Rows] = []
        own_rows.append(-1)
        for digit in range(converted.digit_count()):
            row = converted_row.get((digit, limb))
            if row is None:
                mine = (0, -1, *_key_rows(op, digit, limb))
                own_rows[-1] = own_row[limb]
                continue
            if len(others) < components:
                slots[row] = len(others) * len(limbs) + number
            else:
                slots[row], free = free, free + 1
            others.append((row, slots[row], *_key_rows(op, digit, limb)))
        lists.append([mine, *others])
    # Rows of limbs that no result has are transformed all the same.
    for row, slot in enumerate(slots):
        if slot < 0:
            slots[row], free = free, free + 1
    entries = max(len(listed) for listed in lists)
    values: list[_Rows] = []
    for listed in lists:
        padding = (-1, -1, *listed[-1][2:])
        values += [*listed, *[padding] * (entries - len(listed))]
    counts = tuple(len(listed) - 1 for listed in lists)
    return ProductRows(tuple(values), entries, counts, tuple(own_rows), tuple(slots), free, shared)


def _key_rows(op: rns.AccumulateOp, digit: int, limb: Limb) -> tuple[int, int]:
    key = _facts(op.key)
    limbs = [limb for _, limb in key.rows()]
    first = digit * key.components * len(limbs) + limbs.index(limb)
    return first, first + len(limbs)


def _facts(value: SSAValue) -> PolyFacts:
    assert isinstance(value.type, rns.PolyType)
    return value.type.data
