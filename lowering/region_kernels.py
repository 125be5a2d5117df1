"""The element-wise part of a region's kernels: the nodes of its graph, and the kernel of a region without transform."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, f64, i32, i64
from xdsl.ir import SSAValue

from fhelium_ir.analysis import signed_bounds
from fhelium_ir.analysis.region_nodes import Node, RegionGraph
from fhelium_ir.analysis.region_words import conversion_width
from fhelium_ir.dialects import kernel, zq
from fhelium_ir.lowering.group_conversion import convert_groups
from fhelium_ir.lowering.kernel_builder import TABLE_ELEMENTS, Argument, Index, KernelBuilder
from fhelium_ir.lowering.signed_conversion import convert_signed

Position = tuple[Index, int]
"""Index of an element in its row: a part that the registers share, and a number."""

MODULI_COLUMNS = 4
"""Columns of the moduli table: q, q^-1 mod R, R mod q, R^2 mod q."""

KEPT_BLOCKS = 16
"""Automorphisms keep aligned blocks of any power of two in bit-reversed order; so long vectors are."""

PARTIAL_SUM = 2
"""Partial sums of products are kept below 2q."""


@dataclass(frozen=True)
class Tile:
    """Lanes of a program of a region without transform: rows times columns, and its launch width."""

    rows: int
    columns: int
    warps: int


@dataclass(frozen=True)
class KernelCode:
    """A kernel and what each of its arguments stands for; the grid's first axis, and rows per program on the second.

    `digits`: it runs over the program rows of the region's digits. `components`: over components, of which it reads the
    first program row. `pairs`: over pairs of program rows.
    """

    function: kernel.FuncOp
    arguments: tuple[Argument, ...]
    column_blocks: int
    rows: int
    digits: bool = False
    components: bool = False
    pairs: bool = False

    def grid(self, graph: RegionGraph) -> tuple[int, int]:
        """Programs along each axis, for the region of this graph."""
        if self.components:
            assert graph.quotients is not None
            return self.column_blocks, graph.quotients.components
        rows = rows_of(graph, self.digits)
        if self.pairs:
            return self.column_blocks, len(rows.tables[rows.pairs].values)
        return self.column_blocks, -(-len(rows.limbs) // self.rows)

    def number(self, argument: Argument, graph: RegionGraph) -> int:
        """The value of a `bound`, `count` or `component_rows`, for the region of this graph."""
        rows = rows_of(graph, argument.digits)
        if argument.kind == "component_rows":
            assert graph.quotients is not None
            return len(rows.limbs) // graph.quotients.components
        if argument.kind == "count":
            return len(rows.limbs)
        return max(rows.columns[argument.index], default=0)


def rows_of(graph: RegionGraph, digits: bool) -> RegionGraph:
    """The graph whose program rows a kernel or an argument is about."""
    if not digits:
        return graph
    assert graph.digits is not None
    return graph.digits


def pointwise_kernel(graph: RegionGraph, tile: Tile, name: str) -> KernelCode:
    """The kernel of a region without transform: one element of every output per lane."""
    columns = min(tile.columns, graph.degree)
    emitter = NodeEmitter(graph, tile.rows)
    lanes = [*([tile.rows] if tile.rows > 1 else []), columns]
    build = emitter.build
    column = build.emit(kernel.LaneIdOp(len(lanes) - 1))
    block = build.emit(kernel.ProgramIdOp(0))
    position = build.add(build.mul(block, columns), column)
    emitter.begin([(position, 0)])
    emitter.store_outputs(None)
    return emitter.finish(name, lanes, graph.degree // columns, tile.warps)


class NodeEmitter:
    """Emits the nodes of a graph for the elements that a lane holds (`positions`, one per register).

    Args:
        graph: of a region, or of its digits.
        rows: program rows of a program.
        digits: the graph is that of a region's digits.
        components: a program works for a component, and reads its first program row.
        inside: emit the row that `inside` names into a kernel that others emit, too; by default the program's own.
    """

    def __init__(
        self,
        graph: RegionGraph,
        rows: int,
        digits: bool = False,
        inside: tuple[KernelBuilder, SSAValue] | None = None,
        *,
        components: bool = False,
    ):
        self.graph = graph
        self.rows = rows
        self.digits = digits
        self.components = components
        self.floating = graph.arithmetic == zq.FLOATING
        # In a mixed module memory holds integers, for `fp64` the bits of doubles.
        self.bits = graph.mixed and self.floating
        self.signed = zq.ARITHMETICS[graph.arithmetic].signed
        # No sum of products of words with a sign exceeds so many times q/2.
        self.capacity = 0
        if self.floating:
            self.capacity = (1 << 53) // graph.largest_prime
        elif self.signed:
            self.capacity = ceil(2 * signed_bounds.limit(graph.largest_prime))
        if inside is None:
            self.build = KernelBuilder(zq.ARITHMETICS[graph.arithmetic])
        else:
            self.build = inside[0]
        build = self.build
        self.table = build.buffer(Argument("rows", digits=digits), i32, self._hint("rows"))
        self.moduli = build.buffer(Argument("moduli"), build.word, "moduli")
        self.valid: SSAValue | None = None
        self.row: SSAValue = self._program_row() if inside is None else inside[1]
        self.entry = build.mul(self.row, graph.row_words)
        self.limb = build.load_index(self.table, self.entry)
        words = build.mul(self.limb, MODULI_COLUMNS)
        q = build.load(self.moduli, words)
        inverse = build.load(self.moduli, build.add(words, 1))
        self.modulus = build.emit(zq.ModulusOp(q, inverse, build.arithmetic))
        self.words = words
        self.positions: list[Position] = []
        self.values: dict[int, list[SSAValue]] = {}
        self._columns: dict[int, SSAValue] = {}
        self._row_starts: dict[int, Index] = {}
        self._permuted: dict[int, list[SSAValue]] = {}
        self._uniform: dict[tuple[object, ...], SSAValue] = {}
        # The quotients by q of factors that come with one.
        self.quotients: dict[SSAValue, SSAValue] = {}

    def _hint(self, name: str) -> str:
        return f"digit_{name}" if self.digits else name

    def _program_row(self) -> SSAValue:
        """The row of a lane: those beyond the last one compute the last one again and store nothing."""
        build = self.build
        program: SSAValue = build.emit(kernel.ProgramIdOp(1))
        if self.components:
            rows = build.argument(Argument("component_rows"), i64, "component_rows")
            return build.emit(arith.MuliOp(program, rows))
        if self.rows == 1:
            return program
        lane = build.emit(kernel.LaneIdOp(0))
        wanted = build.value(build.add(build.mul(program, self.rows), lane))
        count = build.argument(Argument("count", digits=self.digits), i64, self._hint("count"))
        self.valid = build.compare("ult", wanted, count)
        last = build.emit(arith.SubiOp(count, build.constant(1)))
        return build.emit(arith.MinUIOp(wanted, last))

    def begin(self, positions: Sequence[Position]) -> None:
        """Starts a phase: nodes are emitted anew for these element positions."""
        self.positions = list(positions)
        self.values = {}
        self._permuted = {}

    def finish(self, name: str, lanes: Sequence[int], column_blocks: int, warps: int) -> KernelCode:
        arguments = tuple(self.build.arguments)
        function = self.build.finish(name, lanes, 2)
        function.attributes["num_warps"] = IntegerAttr(warps, i64)
        return KernelCode(
            function, arguments, column_blocks, self.rows, self.digits, self.components
        )

    def column(self, index: int) -> SSAValue:
        """Entry `index` of this program row in the row table, i64."""
        if index not in self._columns:
            offset = self.build.add(self.entry, index + 1)
            self._columns[index] = self.build.load_index(self.table, offset)
        return self._columns[index]

    def bound(self, index: int) -> SSAValue:
        """The largest entry of a column: a trip count that all rows of a launch share."""
        argument = Argument("bound", index, self.digits)
        return self.build.argument(argument, i64, self._hint(f"bound{index}"))

    def row_start(self, index: int) -> Index:
        """Offset of the row that column `index` names."""
        if index not in self._row_starts:
            self._row_starts[index] = self.build.mul(self.column(index), self.graph.degree)
        return self._row_starts[index]

    @property
    def stored_word(self) -> zq.WordType:
        """Elements of buffers that hold words of the arithmetic."""
        return i64 if self.graph.mixed else self.build.word

    def load_word(self, buffer: SSAValue, offset: Index, mask: SSAValue | None = None) -> SSAValue:
        """A word of the arithmetic from a buffer of such words."""
        loaded = self.build.load(buffer, offset, mask)
        return self.build.emit(arith.BitcastOp(loaded, f64)) if self.bits else loaded

    def store_word(
        self, value: SSAValue, buffer: SSAValue, offset: Index, mask: SSAValue | None
    ) -> None:
        """Stores a word of the arithmetic."""
        stored = self.build.emit(arith.BitcastOp(value, i64)) if self.bits else value
        self.build.store(stored, buffer, offset, mask)

    def input(self, index: int) -> SSAValue:
        element = i64 if index in self.graph.integer_inputs else self.stored_word
        return self.build.buffer(Argument("input", index), element, f"in{index}")

    def load_input(self, index: int, offset: Index, mask: SSAValue | None = None) -> SSAValue:
        """A word of a region input; canonical integers become words of `fp64`."""
        if index not in self.graph.integer_inputs:
            return self.load_word(self.input(index), offset, mask)
        loaded = self.build.load(self.input(index), offset, mask)
        return self.build.emit(zq.ToFloatOp(loaded, self.modulus))

    def output(self, index: int) -> SSAValue:
        """The buffer of a region result."""
        element = i64 if index in self.graph.integer_outputs else self.stored_word
        return self.build.buffer(Argument("output", index), element, f"out{index}")

    def scratch(self, index: int) -> SSAValue:
        """The region's own memory."""
        return self.build.buffer(Argument("scratch", index), self.stored_word, f"scratch{index}")

    def table_buffer(self, index: int) -> SSAValue:
        table = self.graph.tables[index]
        kind = table.kind
        element = TABLE_ELEMENTS[kind] or self.build.word
        width = conversion_width(self.graph.arithmetic, table.correction, self.graph.mixed)
        if kind == "conversion" and width == 1:
            element = self.build.word
        return self.build.buffer(Argument("table", index), element, f"{kind}{index}")

    def permuted(self, table: int) -> list[SSAValue]:
        """Entries of an index permutation at the positions."""
        if table not in self._permuted:
            buffer, blocks = self.table_buffer(table), 1
            if self.graph.tables[table].domain == "evaluation":
                blocks = min(KEPT_BLOCKS, self.graph.degree)
            self._permuted[table] = [
                self.build.load_index(buffer, self.build.add(*p), blocks) for p in self.positions
            ]
        return self._permuted[table]

    def node(self, index: int) -> list[SSAValue]:
        """Values of a node, one per register."""
        if index not in self.values:
            self._emit_needed(index)
        return self.values[index]

    def _emit_needed(self, root: int) -> None:
        needed, pending = set[int](), [root]
        while pending:
            index = pending.pop()
            if index not in needed and index not in self.values:
                needed.add(index)
                pending.extend(self.graph.nodes[index].operands)
        for index in sorted(needed):
            if index not in self.values:
                self._emit(index, self.graph.nodes[index])

    def _emit(self, index: int, node: Node) -> None:
        operands = [self.values[operand] for operand in node.operands]
        match node.kind:
            case "load":
                values = self._load(node)
            case "convert":
                values = convert_signed(self, node) if self.signed else self._convert(node)
            case "convert_groups":
                values = convert_groups(self, node)
            case "accumulate":
                self._accumulate(node)
                return
            case "mul_constant":
                table, column = _integers(node)
                constant = self._shared(
                    (table, column),
                    lambda: self.build.load(self.table_buffer(table), self.column(column)),
                )
                values = [self.product(value, constant) for value in operands[0]]
            case "raise":
                square = self._shared(
                    ("square",),
                    lambda: self.build.load(self.moduli, self.build.add(self.words, 3)),
                )
                values = [self.product(value, square) for value in operands[0]]
            case "to_integer":
                values = [self.build.emit(zq.ToIntegerOp(v, self.modulus)) for v in operands[0]]
            case "canonical":
                (below,) = _integers(node)
                values = [
                    self.build.emit(zq.CanonicalOp(v, self.modulus, below)) for v in operands[0]
                ]
            case "lower":
                one = self.build.one()
                values = [self.product(value, one) for value in operands[0]]
            case "flip":
                values = self._flip(node, operands[0])
            case _:
                values = [
                    self._arithmetic(node, [operand[r] for operand in operands])
                    for r in range(len(self.positions))
                ]
        self.values[index] = values

    def _arithmetic(self, node: Node, operands: Sequence[SSAValue]) -> SSAValue:
        emit, modulus = self.build.emit, self.modulus
        match node.kind:
            case "add":
                return emit(zq.AddOp(operands[0], operands[1], modulus))
            case "sub":
                return emit(zq.SubOp(operands[0], operands[1], modulus, _integers(node)[0]))
            case "mul":
                return self.product(operands[0], operands[1])
            case "negate":
                return self._negative(operands[0], _integers(node)[0])
            case "reduce":
                return self.reduce(operands[0], *_integers(node))
            case _:
                raise AssertionError(f"node kind {node.kind}")

    def product(self, x: SSAValue, y: SSAValue) -> SSAValue:
        """x * y: by Shoup if y came with its quotient, else in the arithmetic of the words."""
        quotient = self.quotients.get(y)
        if quotient is not None:
            return self.build.emit(zq.MulShoupOp(x, y, quotient, self.modulus))
        return self.build.emit(zq.MulOp(x, y, self.modulus))

    def reduce(self, x: SSAValue, below: int, to: int) -> SSAValue:
        to = 1 if self.floating else to
        return x if below <= to else self.build.emit(zq.ReduceOp(x, self.modulus, below, to))

    def _negative(self, x: SSAValue, offset: int) -> SSAValue:
        return self.build.emit(zq.SubOp(self.build.zero(), x, self.modulus, offset))

    def _load(self, node: Node) -> list[SSAValue]:
        buffer, column, masked, permutation = _integers(node)
        build = self.build
        start, mask = self.row_start(column), None
        if masked:
            mask = self._shared(
                ("mask", column),
                lambda: build.compare("sge", self.column(column), build.constant(0)),
            )
        positions = self.positions
        if permutation >= 0:
            permuted = self.permuted(permutation)
            bits = self.graph.degree.bit_length() - 1
            signed = self.graph.tables[permutation].domain == "coefficient"
            positions = [(build.low_bits(p, bits) if signed else p, 0) for p in permuted]
        return [self.load_input(buffer, build.add(start, *p), mask) for p in positions]

    def _flip(self, node: Node, values: Sequence[SSAValue]) -> list[SSAValue]:
        offset, table = _integers(node)
        build = self.build
        degree = build.constant(self.graph.degree)
        out: list[SSAValue] = []
        for value, source in zip(values, self.permuted(table), strict=True):
            negative = self._negative(value, offset)
            flipped = build.compare("sge", source, degree)
            out.append(build.emit(arith.SelectOp(flipped, negative, value)))
        return out

    def _convert(self, node: Node) -> list[SSAValue]:
        """Base conversion: sum_i v_i * c_i + u * (-D), see rns.base_convert and the `conversion` resource."""
        *numbers, _, correction = node.data
        buffer, start, count, table, base = (int(number) for number in numbers)
        build, registers = self.build, len(self.positions)
        source, coefficients = self.input(buffer), self.table_buffer(table)
        zero, none = build.zero(), build.constant(0)
        first, entries = self.column(start), self.column(base)
        last = build.emit(arith.SubiOp(self.column(count), build.constant(1)))
        with build.loop(self.bound(count), [zero] * registers + [none] * registers) as loop:
            offset = build.add(entries, 3, build.mul(loop.index, 3))
            factor = build.to_word(build.load(coefficients, offset))
            helper = build.load(coefficients, build.add(offset, 1))
            shift = None
            if correction == "nearest":
                shift = build.load(coefficients, build.add(offset, 2))
            # Beyond a shorter digit's limbs the coefficients are 0, and its last limb is read again.
            limb = build.emit(arith.MinUIOp(loop.index, last))
            row = build.mul(build.add(first, limb), self.graph.degree)
            sums: list[SSAValue] = []
            overflows: list[SSAValue] = []
            for r, position in enumerate(self.positions):
                word = build.load(source, build.add(row, *position))
                sums.append(self.partial(loop.carried[r], word, factor))
                wide = build.from_word(word)
                if shift is None:
                    above = build.compare("ugt", wide, helper)
                    term = build.emit(arith.ExtUIOp(above, i64))
                else:
                    scaled = build.emit(arith.ShLIOp(wide, shift))
                    product = arith.MulUIExtendedOp(scaled, helper)
                    build.block.add_op(product)
                    term = product.results[1]
                overflows.append(build.emit(arith.AddiOp(loop.carried[registers + r], term)))
            loop.yielded = sums + overflows
        total, overflow = loop.results[:registers], loop.results[registers:]
        if correction == "nearest":
            half = build.constant(1 << 31)
            rounded = [build.emit(arith.AddiOp(u, half)) for u in overflow]
            overflow = [build.value(build.shift_right(u, 32)) for u in rounded]
        negative = build.to_word(build.load(coefficients, entries))
        return [
            self.partial(total[r], build.to_word(overflow[r]), negative) for r in range(registers)
        ]

    def partial(self, total: SSAValue, x: SSAValue, y: SSAValue, eager: bool = True) -> SSAValue:
        """total + x * y below 2q, for a total below 2q and a reduced y; as it is unless `eager`.

        Signed words below 2q are below q in magnitude.
        """
        summed = self.build.emit(zq.AddOp(total, self.product(x, y), self.modulus))
        if not eager:
            return summed
        return self.reduce(summed, PARTIAL_SUM + 2, PARTIAL_SUM)

    def _accumulate(self, node: Node) -> None:
        """Inner product over digits, all wanted components in one loop."""
        own, converted, key, table, base, count, _, permutation, turned, eager = _integers(node)
        build, registers = self.build, len(self.positions)
        same = {
            _integers(other)[6]: index
            for index, other in enumerate(self.graph.nodes)
            if other.kind == "accumulate" and _without(other, 6) == _without(node, 6)
        }
        components = sorted(same)
        digits = self.table_buffer(table)
        zero, none = build.zero(), build.constant(0)
        own_positions = self._permuted_positions(permutation)
        converted_positions = self._permuted_positions(turned)
        first = self.column(base)
        with build.loop(self.bound(count), [zero] * (registers * len(components))) as loop:
            offset = build.add(first, build.mul(loop.index, 4))
            rows = [build.load_index(digits, build.add(offset, k)) for k in range(2)]
            masks = [build.compare("sge", row, none) for row in rows]
            starts = [build.mul(row, self.graph.degree) for row in rows]
            keys = [
                build.mul(
                    build.load_index(digits, build.add(offset, 2 + component)), self.graph.degree
                )
                for component in components
            ]
            for r in range(registers):
                mine = self.load_input(own, build.add(starts[0], *own_positions[r]), masks[0])
                other = self.load_word(
                    self.input(converted), build.add(starts[1], *converted_positions[r]), masks[1]
                )
                # One of the two is masked off and reads as 0.
                join = arith.AddfOp if self.floating else arith.OrIOp
                digit = build.emit(join(mine, other))
                for k, start in enumerate(keys):
                    place = build.add(start, *self.positions[r])
                    factor = self.load_word(self.input(key), place)
                    carried = loop.carried[r * len(components) + k]
                    loop.yielded.append(self.partial(carried, digit, factor, bool(eager)))
        for k, component in enumerate(components):
            sums = [loop.results[r * len(components) + k] for r in range(registers)]
            self.values[same[component]] = [self.settled(value, bool(eager)) for value in sums]

    def settled(self, total: SSAValue, eager: bool, terms: int = 1) -> SSAValue:
        """A sum of products as a word that later nodes expect: if words have a sign it is reduced now.

        Args:
            eager: each partial sum has been reduced,
            terms: but for so many products, and the sum of the others is one term.
        """
        if self.floating:
            return self.build.emit(zq.ReduceOp(total, self.modulus, self.capacity, 1))
        if not self.signed:
            return total
        return self.reduce(total, PARTIAL_SUM * terms if eager else self.capacity, PARTIAL_SUM)

    def _permuted_positions(self, table: int) -> list[Position]:
        """The positions, re-indexed where `table` is a permutation."""
        if table < 0:
            return self.positions
        return [(position, 0) for position in self.permuted(table)]

    def store_outputs(self, anchor: list[SSAValue] | None) -> None:
        """Stores every output at the current positions."""
        if anchor is not None:
            for index, node in enumerate(self.graph.nodes):
                if node.kind == "anchor":
                    self.values[index] = anchor
        for output, values in zip(self.graph.outputs, self._output_values(), strict=True):
            buffer = self.output(output.result)
            start = self.row_start(output.column)
            plain = output.result in self.graph.integer_outputs
            store = self.build.store if plain else self.store_word
            for value, position in zip(values, self.positions, strict=True):
                store(value, buffer, self.build.add(start, *position), self.valid)

    def _output_values(self) -> list[list[SSAValue]]:
        """The values of every output, one register after the other, so that what a register needs on the way does not
        take registers for all of them."""
        positions, known = self.positions, dict(self.values)
        ready: list[list[SSAValue]] = [[] for _ in self.graph.outputs]
        for r, position in enumerate(positions):
            self.begin([position])
            self.values = {index: [values[r]] for index, values in known.items()}
            for values, output in zip(ready, self.graph.outputs, strict=True):
                values += self.node(output.node)
        self.begin(positions)
        return ready

    def _shared(self, key: tuple[object, ...], make: Callable[[], SSAValue]) -> SSAValue:
        """A value that all registers and nodes share; in a loop body it is made anew."""
        if self.build.in_loop:
            return make()
        if key not in self._uniform:
            self._uniform[key] = make()
        return self._uniform[key]


def _integers(node: Node) -> tuple[int, ...]:
    return tuple(int(number) for number in node.data)


def _without(node: Node, index: int) -> tuple[int | str | bool, ...]:
    return node.data[:index] + node.data[index + 1 :]
