"""Base conversion in a mixed module: source limbs in segments, each of words of one group of primes.

Kernels of either group read all source limbs. Those of `mont64` take words of `fp64` as canonical integers. Those of
`fp64` take an integer c of another limb, of up to 62 bits, as 2^32 h + l with 0 <= l < 2^32: two exact doubles, and the
products of h with 2^32 (D/d_i) and of l with D/d_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from fhelium_ir.analysis.region_nodes import Node
from fhelium_ir.analysis.region_words import MIXED_WIDTH
from fhelium_ir.dialects import zq
from fhelium_ir.lowering.kernel_builder import Index
from fhelium_ir.lowering.signed_conversion import (
    ANY_BELOW,
    canonical_integer,
    fraction_of,
    given_quotients,
    quotient_of,
    small_to_word,
)

if TYPE_CHECKING:
    from fhelium_ir.lowering.region_kernels import NodeEmitter

COEFFICIENT, UPPER, HELPER, SHIFT, PRIME, FIRST = range(MIXED_WIDTH)
"""Entries of a source limb, see the kind `conversion` in the resource dialect."""

HALF = 32
"""Bits of the lower part of an integer that is multiplied in `fp64`."""


@dataclass(frozen=True)
class Segment:
    """Source limbs of one group: columns with the first row, the number of rows and the first entry."""

    group: str
    start: int
    count: int
    entries: int

    @property
    def floating(self) -> bool:
        return self.group == zq.FLOATING


def convert_groups(emitter: NodeEmitter, node: Node) -> list[SSAValue]:
    """sum_i v_i * (D/d_i) - u * D, on words of the emitter's group."""
    buffer, table, base, eager, correction, *flat = node.data
    segments = [
        Segment(cast("str", flat[k]), int(flat[k + 1]), int(flat[k + 2]), int(flat[k + 3]))
        for k in range(0, len(flat), 4)
    ]
    conversion = GroupConversion(emitter, int(buffer), int(table), str(correction), bool(eager))
    if correction == "rounded":
        return conversion.rounded(segments[0])
    return conversion.converted(segments, int(base))


class GroupConversion:
    """Emits a conversion for the positions of an emitter.

    Args:
        buffer, table: number of the region input and of the table of coefficients.
        correction: as in the node `convert_groups`.
        eager: partial sums are reduced one by one.
    """

    def __init__(
        self, emitter: NodeEmitter, buffer: int, table: int, correction: str, eager: bool = False
    ):
        self.emitter = emitter
        self.build = emitter.build
        self.source = emitter.input(buffer)
        self.entries = emitter.table_buffer(table)
        self.correction = correction
        self.eager = eager
        self.count = len(emitter.positions)
        self._integers: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}

    def converted(self, segments: list[Segment], base: int) -> list[SSAValue]:
        """Sums of products, corrected."""
        build, emitter = self.build, self.emitter
        sums = [build.zero()] * self.count
        counts = [build.constant(0)] * (self.count * self.counters)
        for segment in segments:
            sums, counts = self.segment(segment, sums, counts)
        if emitter.floating:
            return self._float_result(sums, counts, base)
        if self.correction == "nearest":
            half = build.constant(1 << 31)
            rounded = [build.emit(arith.AddiOp(count, half)) for count in counts]
            counts = [build.value(build.shift_right(count, 32)) for count in rounded]
        negative = build.load(self.entries, emitter.column(base))
        return [
            emitter.partial(total, count, negative)
            for total, count in zip(sums, counts, strict=True)
        ]

    def _float_result(
        self, sums: list[SSAValue], counts: list[SSAValue], base: int
    ) -> list[SSAValue]:
        build, emitter = self.build, self.emitter
        if self.correction != "none":
            negative = small_to_word(emitter, build.load(self.entries, emitter.column(base)))
            quotients = (
                given_quotients(emitter) if self.correction == "given" else self.quotients(counts)
            )
            for r, quotient in enumerate(quotients):
                product = emitter.product(quotient, negative)
                sums[r] = build.emit(zq.AddOp(sums[r], product, emitter.modulus))
        return [emitter.settled(total, False) for total in sums]

    def quotients(self, counts: list[SSAValue]) -> list[SSAValue]:
        """u' of each position, from the fractions and the numbers of negative words."""
        fractions, negatives = counts[: self.count], counts[self.count :]
        return [quotient_of(self.emitter, *pair) for pair in zip(fractions, negatives, strict=True)]

    @property
    def counters(self) -> int:
        """Integers that are counted for each position: for `fp64` fractions and negative words, else one of them."""
        if self.emitter.floating:
            return 2 if self.correction == "nearest" else 0
        return 1

    def segment(
        self,
        segment: Segment,
        sums: list[SSAValue],
        counts: list[SSAValue],
        *,
        only_counts: bool = False,
    ) -> tuple[list[SSAValue], list[SSAValue]]:
        """Adds the limbs of a segment; with `only_counts` nothing but what the quotient needs."""
        emitter, build = self.emitter, self.build
        count = emitter.column(segment.count)
        # A program of one row takes its own number of limbs; rows that share one are masked.
        alone = emitter.rows == 1
        trips = count if alone else emitter.bound(segment.count)
        first, entries = emitter.column(segment.start), emitter.column(segment.entries)
        with build.loop(trips, [*sums, *counts]) as loop:
            mask = None if alone else build.compare("ult", loop.index, count)
            entry = _Entry(self, build.add(entries, build.mul(loop.index, MIXED_WIDTH)), mask)
            row = build.mul(build.add(first, loop.index), emitter.graph.degree)
            inner, counted = loop.carried[: len(sums)], loop.carried[len(sums) :]
            for r, position in enumerate(emitter.positions):
                word = self.word(build.add(row, *position), segment, mask)
                if not only_counts:
                    inner[r] = self._term(word, entry, segment, inner[r])
                self._count(word, entry, segment, counted, r)
            loop.yielded = [*inner, *counted]
        return loop.results[: len(sums)], loop.results[len(sums) :]

    def word(self, offset: Index, segment: Segment, mask: SSAValue | None) -> SSAValue:
        """A source word: a double or an integer, as the segment's group has them."""
        loaded = self.build.load(self.source, offset, mask)
        return self.build.emit(arith.BitcastOp(loaded, f64)) if segment.floating else loaded

    def _term(self, word: SSAValue, entry: _Entry, segment: Segment, total: SSAValue) -> SSAValue:
        """total + v_i * (D/d_i), or with the centred c_i for v_i."""
        emitter = self.emitter
        if not emitter.floating:
            if segment.floating:
                word, _ = self._integer(word, entry)
            return emitter.partial(total, word, entry.load(COEFFICIENT))
        if segment.floating:
            return emitter.partial(total, word, entry.double(COEFFICIENT), self.eager)
        if self.correction == "none":
            word = self._centred(word, entry)
        upper, lower = self.parts(word)
        total = emitter.partial(total, upper, entry.double(UPPER), self.eager)
        return emitter.partial(total, lower, entry.double(COEFFICIENT), self.eager)

    def _integer(self, word: SSAValue, entry: _Entry) -> tuple[SSAValue, SSAValue]:
        """A double as a canonical integer and as a signed one."""
        if word not in self._integers:
            found = canonical_integer(self.emitter, word, entry.load(PRIME))
            self._integers[word] = found
        return self._integers[word]

    def _centred(self, word: SSAValue, entry: _Entry) -> SSAValue:
        """The centred residue of a canonical integer, as a signed one."""
        build = self.build
        above = build.compare("ugt", word, entry.load(HELPER))
        moved = build.emit(arith.SubiOp(word, entry.load(PRIME)))
        return build.emit(arith.SelectOp(above, moved, word))

    def parts(self, word: SSAValue) -> tuple[SSAValue, SSAValue]:
        """h and l of a signed integer 2^32 h + l, as doubles."""
        build = self.build
        upper = build.emit(arith.ShRSIOp(word, build.constant(HALF)))
        lower = build.emit(arith.AndIOp(word, build.constant((1 << HALF) - 1)))
        return small_to_word(self.emitter, upper), small_to_word(self.emitter, lower)

    def _count(
        self, word: SSAValue, entry: _Entry, segment: Segment, counted: list[SSAValue], r: int
    ) -> None:
        """Counts what the multiple of D needs of a word."""
        build, emitter = self.build, self.emitter
        if not self.counters:
            return
        moved: SSAValue | None = None
        if segment.floating:
            word, signed = self._integer(word, entry)
            moved = build.compare("ne", word, signed)
        if self.correction == "nearest":
            fraction = fraction_of(emitter, word, entry.load(HELPER), entry.load(SHIFT))
            counted[r] = build.emit(arith.AddiOp(counted[r], fraction))
            if moved is not None and emitter.floating:
                place = self.count + r
                one = build.emit(arith.ExtUIOp(moved, i64))
                counted[place] = build.emit(arith.AddiOp(counted[place], one))
            return
        if moved is None:
            moved = build.compare("ugt", word, entry.load(HELPER))
        one = build.emit(arith.ExtUIOp(moved, i64))
        counted[r] = build.emit(arith.AddiOp(counted[r], one))

    def rounded(self, segment: Segment) -> list[SSAValue]:
        """For `fp64` and one source limb: v, or v - d where that is nearer to 0, modulo the target's prime."""
        build, emitter = self.build, self.emitter
        entry = _Entry(self, emitter.column(segment.entries), None)
        row = build.mul(emitter.column(segment.start), emitter.graph.degree)
        prime, first = entry.load(PRIME), entry.load(FIRST)
        found: list[SSAValue] = []
        for position in emitter.positions:
            word = self.word(build.add(row, *position), segment, None)
            if segment.floating:
                lowest = small_to_word(emitter, build.emit(arith.SubiOp(first, prime)))
                below = build.emit(arith.CmpfOp(word, lowest, "olt"))
                moved = build.emit(arith.AddfOp(word, small_to_word(emitter, prime)))
                total = build.emit(arith.SelectOp(below, moved, word))
            else:
                above = build.compare("uge", word, first)
                lifted = build.emit(arith.SubiOp(word, prime))
                integer = build.emit(arith.SelectOp(above, lifted, word))
                upper, lower = self.parts(integer)
                product = emitter.product(upper, entry.double(UPPER))
                total = build.emit(zq.AddOp(product, lower, emitter.modulus))
            found.append(build.emit(zq.ReduceOp(total, emitter.modulus, ANY_BELOW, 1)))
        return found


class _Entry:
    """The entries of one source limb, each loaded when it is first wanted."""

    def __init__(self, conversion: GroupConversion, offset: Index, mask: SSAValue | None):
        self.conversion = conversion
        self.offset, self.mask = offset, mask
        self._loaded: dict[int, SSAValue] = {}
        self._doubles: dict[int, SSAValue] = {}

    def load(self, number: int) -> SSAValue:
        if number not in self._loaded:
            build = self.conversion.build
            place = build.add(self.offset, number)
            self._loaded[number] = build.load(self.conversion.entries, place, self.mask)
        return self._loaded[number]

    def double(self, number: int) -> SSAValue:
        """A coefficient, which is centred, as a double."""
        if number not in self._doubles:
            loaded = self.load(number)
            self._doubles[number] = small_to_word(self.conversion.emitter, loaded)
        return self._doubles[number]
