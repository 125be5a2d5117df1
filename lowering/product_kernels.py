"""The last kernel of a transform whose results meet a key: the inner product of transformed digits, in registers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from xdsl.dialects import arith
from xdsl.ir import SSAValue

from fhelium_ir.analysis.region_nodes import Node, RegionGraph
from fhelium_ir.lowering.kernel_builder import Index
from fhelium_ir.lowering.region_kernels import KernelCode, NodeEmitter, Position
from fhelium_ir.lowering.transform_kernels import TransformPass

ENTRY = 4
"""Numbers of an entry of the table of digits: row, slot, two rows of the key."""


def product_kernel(graph: RegionGraph, name: str) -> KernelCode:
    """The last kernel of the transform of `graph.digits`, with the inner product that `graph` is about.

    A program computes one row of the result. It first multiplies what is already transformed, where the row's limb is a
    digit's own, and then, in a loop over the other digits, brings each through the last stages and multiplies it, for
    all components, in registers. With a single kernel the loop also computes what feeds the transform.
    """
    digits = graph.digits
    assert digits is not None and digits.transform is not None
    schedule = digits.transform.schedule
    assert schedule is not None
    emitter = NodeEmitter(graph, schedule.rows)
    step = len(schedule.kernels) - 1
    return _ProductPass(digits, schedule, True, step, emitter).product(graph, name)


class _ProductPass(TransformPass):
    """The pass is one of the graph of digits; its emitter stands in a row of the result."""

    def product(self, graph: RegionGraph, name: str) -> KernelCode:
        self.set_up()
        before = self.register_layout()
        final = self.far_layout(before)
        self.emitter.begin(final)
        index, node = next(
            (index, node) for index, node in enumerate(graph.nodes) if node.kind == "key_product"
        )
        same = {
            int(other.data[-1]): number
            for number, other in enumerate(graph.nodes)
            if other.kind == "key_product" and other.data[:-1] == node.data[:-1]
        }
        assert index in same.values()
        components = sorted(same)
        sums = self._sums(node, components, before, final)
        registers = len(final)
        for k, component in enumerate(components):
            self.emitter.values[same[component]] = sums[k * registers : (k + 1) * registers]
        self.emitter.store_outputs(None)
        return self.finish(name)

    def _sums(
        self, node: Node, components: Sequence[int], before: list[Position], final: list[Position]
    ) -> list[SSAValue]:
        """The inner products, component by component and register by register."""
        emitter, build = self.emitter, self.emitter.build
        key, table, base, count, own_below, terms, _ = (int(entry) for entry in node.data)
        entries, first = emitter.table_buffer(table), emitter.column(base)
        own = build.load_index(entries, first)
        mask = build.compare("sge", own, build.constant(0))
        words = emitter.node(node.operands[0])
        sums = [
            emitter.product(word, factor)
            for start in self._key_rows(entries, first, components)
            for word, factor in self._with_key(words, key, start, final, mask)
        ]
        # A row of its own per program takes its own number of digits; rows that share one are masked.
        alone = self.schedule.rows == 1
        trips = emitter.column(count) if alone else emitter.bound(count)
        with build.loop(trips, sums) as loop:
            entry = build.add(first, build.mul(loop.index, ENTRY), ENTRY)
            row = build.load_index(entries, entry)
            mask = None if alone else build.compare("sge", row, build.constant(0))
            words, bound = self._digit(entries, entry, row, before, mask)
            eager = not self.butterflies.products_fit(terms, own_below, bound)
            totals = iter(loop.carried)
            for start in self._key_rows(entries, entry, components):
                for word, factor in self._with_key(words, key, start, final, mask):
                    loop.yielded.append(emitter.partial(next(totals), word, factor, eager))
        return [emitter.settled(total, eager) for total in loop.results]

    def _digit(
        self,
        entries: SSAValue,
        entry: Index,
        row: SSAValue,
        before: list[Position],
        mask: SSAValue | None,
    ) -> tuple[list[SSAValue], Fraction]:
        """A transformed digit, anything where the mask is false; and the bound of its words."""
        emitter, build = self.emitter, self.emitter.build
        transform = self.graph.transform
        assert transform is not None
        if self.first:
            if mask is not None:
                row = build.emit(arith.MaxSIOp(row, build.constant(0)))
            source = NodeEmitter(self.graph, self.schedule.rows, True, (build, row))
            source.begin(before)
            values = source.node(transform.source)
            if mask is not None:
                # Of another row and prime, whose words need not fit this one's.
                zero = build.zero()
                values = [build.emit(arith.SelectOp(mask, value, zero)) for value in values]
        else:
            slot = build.load_index(entries, build.add(entry, 1))
            start = build.mul(slot, self.graph.degree)
            values = [
                emitter.load_word(emitter.scratch(0), build.add(start, *p), mask) for p in before
            ]
        words, bounds = self.forward_stages(values)
        return words, max(bounds)

    def _key_rows(self, entries: SSAValue, entry: Index, components: Sequence[int]) -> list[Index]:
        """Where the key's row for each component begins."""
        build = self.emitter.build
        return [
            build.mul(build.load_index(entries, build.add(entry, 2 + k)), self.graph.degree)
            for k in components
        ]

    def _with_key(
        self,
        words: Sequence[SSAValue],
        key: int,
        start: Index,
        positions: Sequence[Position],
        mask: SSAValue | None,
    ) -> Iterator[tuple[SSAValue, SSAValue]]:
        """Words of a digit and of the key, which is 0 and adds nothing where the mask is false.

        Each word of the key is loaded right before its use, so that few of them take registers.
        """
        emitter = self.emitter
        for word, position in zip(words, positions, strict=True):
            place = emitter.build.add(start, *position)
            yield word, emitter.load_word(emitter.input(key), place, mask)
