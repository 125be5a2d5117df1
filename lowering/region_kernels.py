"""The kernels of one region: its element-wise graph, and the butterflies of its transform."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, i32, i64
from xdsl.ir import SSAValue

from fhelium_ir.analysis.region_graph import Node, RegionGraph
from fhelium_ir.dialects import kernel, ntt, zq
from fhelium_ir.lowering.kernel_builder import TABLE_ELEMENTS, Argument, Index, KernelBuilder

Position = tuple[Index, int]
"""Index of an element in its row: a part that the registers share, and a number."""

MODULI_COLUMNS = 4
"""Columns of the moduli table: q, q^-1 mod R, R mod q, R^2 mod q."""

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
    """A kernel and what each of its arguments stands for; the grid's first axis, and rows per program on the second."""

    function: kernel.FuncOp
    arguments: tuple[Argument, ...]
    column_blocks: int
    rows: int


def pointwise_kernel(graph: RegionGraph, tile: Tile, name: str) -> KernelCode:
    """The kernel of a region without transform: one element of every output per lane."""
    columns = min(tile.columns, graph.degree)
    emitter = _Emitter(graph, tile.rows)
    lanes = [*([tile.rows] if tile.rows > 1 else []), columns]
    build = emitter.build
    column = build.emit(kernel.LaneIdOp(len(lanes) - 1))
    block = build.emit(kernel.ProgramIdOp(0))
    position = build.add(build.mul(block, columns), column)
    emitter.begin([(position, 0)])
    emitter.store_outputs(None)
    return emitter.finish(name, lanes, graph.degree // columns, tile.warps)


def transform_kernel(
    graph: RegionGraph, schedule: ntt.Schedule, step: int, name: str
) -> KernelCode:
    """Kernel number `step`, in order of execution, of a region with a transform."""
    transform = graph.transform
    assert transform is not None
    return _Pass(graph, schedule, transform.direction == "forward", step).build(name)


class _Emitter:
    """Emits the nodes of a graph for the elements that a lane holds (`positions`, one per register)."""

    def __init__(self, graph: RegionGraph, rows: int):
        self.graph = graph
        self.rows = rows
        self.build = KernelBuilder(zq.ARITHMETICS[graph.arithmetic])
        build = self.build
        self.table = build.buffer(Argument("rows"), i32, "rows")
        self.moduli = build.buffer(Argument("moduli"), build.word, "moduli")
        self.valid: SSAValue | None = None
        program: SSAValue = build.emit(kernel.ProgramIdOp(1))
        if rows > 1:
            lane = build.emit(kernel.LaneIdOp(0))
            wanted = build.value(build.add(build.mul(program, rows), lane))
            count = build.argument(Argument("count"), i64, "count")
            self.valid = build.compare("ult", wanted, count)
            last = build.emit(arith.SubiOp(count, build.constant(1)))
            program = build.emit(arith.MinUIOp(wanted, last))
        self.row: SSAValue = program
        self.entry = build.mul(program, len(graph.columns) + 1)
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

    def begin(self, positions: Sequence[Position]) -> None:
        """Starts a phase: nodes are emitted anew for these element positions."""
        self.positions = list(positions)
        self.values = {}
        self._permuted = {}

    def finish(self, name: str, lanes: Sequence[int], column_blocks: int, warps: int) -> KernelCode:
        arguments = tuple(self.build.arguments)
        function = self.build.finish(name, lanes, 2)
        function.attributes["num_warps"] = IntegerAttr(warps, i64)
        return KernelCode(function, arguments, column_blocks, self.rows)

    def column(self, index: int) -> SSAValue:
        """Entry `index` of this program row in the row table, i64."""
        if index not in self._columns:
            offset = self.build.add(self.entry, index + 1)
            self._columns[index] = self.build.load_index(self.table, offset)
        return self._columns[index]

    def bound(self, index: int) -> SSAValue:
        """The largest entry of a column: a trip count that all rows of a launch share."""
        return self.build.argument(Argument("bound", index), i64, f"bound{index}")

    def row_start(self, index: int) -> Index:
        """Offset of the row that column `index` names."""
        if index not in self._row_starts:
            self._row_starts[index] = self.build.mul(self.column(index), self.graph.degree)
        return self._row_starts[index]

    def input(self, index: int) -> SSAValue:
        return self.build.buffer(Argument("input", index), self.build.word, f"in{index}")

    def table_buffer(self, index: int) -> SSAValue:
        kind = self.graph.tables[index].kind
        element = TABLE_ELEMENTS[kind] or self.build.word
        return self.build.buffer(Argument("table", index), element, f"{kind}{index}")

    def permuted(self, table: int) -> list[SSAValue]:
        """Entries of an index permutation at the positions."""
        if table not in self._permuted:
            buffer = self.table_buffer(table)
            self._permuted[table] = [
                self.build.load_index(buffer, self.build.add(*p)) for p in self.positions
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
                values = self._convert(node)
            case "accumulate":
                self._accumulate(node)
                return
            case "mul_constant":
                table, column = _integers(node)
                constant = self.build.load(self.table_buffer(table), self.column(column))
                values = [self.product(value, constant) for value in operands[0]]
            case "raise":
                square = self.build.load(self.moduli, self.build.add(self.words, 3))
                values = [self.product(value, square) for value in operands[0]]
            case "lower":
                one = self.build.constant(1, self.build.word)
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
        return self.build.emit(zq.MulOp(x, y, self.modulus))

    def reduce(self, x: SSAValue, below: int, to: int) -> SSAValue:
        return x if below <= to else self.build.emit(zq.ReduceOp(x, self.modulus, below, to))

    def _negative(self, x: SSAValue, offset: int) -> SSAValue:
        zero = self.build.constant(0, self.build.word)
        return self.build.emit(zq.SubOp(zero, x, self.modulus, offset))

    def _load(self, node: Node) -> list[SSAValue]:
        buffer, column, masked, permutation = _integers(node)
        build = self.build
        source, start = self.input(buffer), self.row_start(column)
        mask = None
        if masked:
            mask = build.compare("sge", self.column(column), build.constant(0))
        positions = self.positions
        if permutation >= 0:
            permuted = self.permuted(permutation)
            bits = self.graph.degree.bit_length() - 1
            signed = self.graph.tables[permutation].domain == "coefficient"
            positions = [(build.low_bits(p, bits) if signed else p, 0) for p in permuted]
        return [build.load(source, build.add(start, *p), mask) for p in positions]

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
        *numbers, correction = node.data
        buffer, start, count, table, base = (int(number) for number in numbers)
        build, registers = self.build, len(self.positions)
        source, coefficients = self.input(buffer), self.table_buffer(table)
        zero, none = build.constant(0, build.word), build.constant(0)
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
                sums.append(self._partial(loop.carried[r], word, factor))
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
            self._partial(total[r], build.to_word(overflow[r]), negative) for r in range(registers)
        ]

    def _partial(self, total: SSAValue, x: SSAValue, y: SSAValue) -> SSAValue:
        """total + x * y below 2q, for a total below 2q and a reduced y."""
        summed = self.build.emit(zq.AddOp(total, self.product(x, y), self.modulus))
        return self.reduce(summed, PARTIAL_SUM + 2, PARTIAL_SUM)

    def _accumulate(self, node: Node) -> None:
        """Inner product over digits, all wanted components in one loop."""
        own, converted, key, table, base, count, _, permutation = _integers(node)
        build, registers = self.build, len(self.positions)
        same = {
            _integers(other)[6]: index
            for index, other in enumerate(self.graph.nodes)
            if other.kind == "accumulate" and _without(other, 6) == _without(node, 6)
        }
        components = sorted(same)
        digits = self.table_buffer(table)
        zero, none = build.constant(0, build.word), build.constant(0)
        positions = self.positions
        if permutation >= 0:
            positions = [(p, 0) for p in self.permuted(permutation)]
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
                mine = build.load(self.input(own), build.add(starts[0], *positions[r]), masks[0])
                other = build.load(
                    self.input(converted), build.add(starts[1], *self.positions[r]), masks[1]
                )
                # One of the two is masked off and reads as 0.
                digit = build.emit(arith.OrIOp(mine, other))
                for k, start in enumerate(keys):
                    factor = build.load(self.input(key), build.add(start, *self.positions[r]))
                    carried = loop.carried[r * len(components) + k]
                    loop.yielded.append(self._partial(carried, digit, factor))
        for k, component in enumerate(components):
            self.values[same[component]] = [
                loop.results[r * len(components) + k] for r in range(registers)
            ]

    def store_outputs(self, anchor: list[SSAValue] | None) -> None:
        """Stores every output at the current positions."""
        if anchor is not None:
            for index, node in enumerate(self.graph.nodes):
                if node.kind == "anchor":
                    self.values[index] = anchor
        ready = [self.node(output.node) for output in self.graph.outputs]
        for output, values in zip(self.graph.outputs, ready, strict=True):
            argument = Argument("output", output.result)
            buffer = self.build.buffer(argument, self.build.word, f"out{output.result}")
            start = self.row_start(output.column)
            for value, position in zip(values, self.positions, strict=True):
                self.build.store(value, buffer, self.build.add(start, *position), self.valid)


class _Pass:
    """One kernel of a transform.

    With n = log2 N, a kernel that performs stages s0 .. s0 + a + b - 1 works on tiles of 2^(a+b) elements whose indices
    differ in the bits [low, low + a + b), low = n - s0 - a - b. An element's index is g : mid : lo, with g the s0 bits
    above and lo the low bits below. The column number j = g : lo names the tile. The first a stages pair elements whose
    mid differs in its upper a bits: these are the registers. An exchange with a lane axis of extent 2^a then brings the
    lower b bits into the registers. That axis holds those b bits and, above them, the lowest a - b bits of j.
    """

    def __init__(self, graph: RegionGraph, schedule: ntt.Schedule, forward: bool, step: int):
        self.graph = graph
        self.forward = forward
        count = len(schedule.kernels)
        self.which = step if forward else count - 1 - step
        self.first, self.last = step == 0, step == count - 1
        groups = schedule.kernels[self.which]
        self.a = groups[0]
        self.b = groups[1] if len(groups) == 2 else 0
        self.start = sum(sum(groups) for groups in schedule.kernels[: self.which])
        self.bits = graph.degree.bit_length() - 1
        self.low = self.bits - self.start - self.a - self.b
        self.schedule = schedule
        self.columns = schedule.columns
        self.emitter = _Emitter(graph, schedule.rows)

    def build(self, name: str) -> KernelCode:
        emitter, build = self.emitter, self.emitter.build
        transform = self.graph.transform
        assert transform is not None
        lanes = [self.schedule.rows] if self.schedule.rows > 1 else []
        axis = -1
        if self.b:
            # The axis with contiguous elements comes last.
            axis = len(lanes) + (1 if self.low == 0 else 0)
            extents = [self.columns, 1 << self.a] if self.low == 0 else [1 << self.a, self.columns]
            column_axis = len(lanes) + (0 if self.low == 0 else 1)
            lanes += extents
            self.alpha: Index = build.emit(kernel.LaneIdOp(axis))
        else:
            column_axis = len(lanes)
            lanes += [self.columns]
            self.alpha = 0
        block = build.emit(kernel.ProgramIdOp(0))
        lane = build.emit(kernel.LaneIdOp(column_axis))
        self.column = build.add(build.mul(block, self.columns), lane)
        self.twiddles = build.buffer(Argument("twiddles"), build.word, "twiddles")
        self.twiddle_row = build.mul(emitter.limb, self.graph.degree)
        before, after = self.register_layout(), self.lane_layout()
        if self.forward:
            values = self._read(before, transform.source)
            below = [transform.contract.input_below if self.first else 4] * len(values)
            values, below = self._first_group(values, below)
            if self.b:
                values = build.exchange(values, axis)
                values, below = self._second_group(values, below)
            self._write(after if self.b else before, values)
        else:
            values = self._read(after if self.b else before, transform.source)
            below = [2] * len(values)
            if self.b:
                values, below = self._second_group(values, below)
                values = build.exchange(values, axis)
            values, below = self._first_group(values, below)
            self._write(before, values)
        tiles = 1 << (self.bits - self.a - self.b)
        per_program = self.columns << (self.a - self.b if self.b else 0)
        return emitter.finish(name, lanes, tiles // per_program, self.schedule.warps)

    def _place(self, j: Index, mid: Index, register_mid: int) -> Position:
        """Index g : mid : lo of an element of tile j; mid is the sum of a lane's part and a register's."""
        build = self.emitter.build
        g, lo = self._high(j), build.low_bits(j, self.low) if self.start else j
        if not self.low:
            lo = 0
        base = build.add(
            build.mul(g, 1 << (self.bits - self.start)), build.mul(mid, 1 << self.low), lo
        )
        return base, register_mid << self.low

    def _high(self, j: Index) -> Index:
        """The g of tile j: j has start + low bits."""
        return self.emitter.build.shift_right(j, self.low) if self.start else 0

    def register_layout(self) -> list[Position]:
        """Positions while the upper a bits of mid are the register index."""
        build = self.emitter.build
        j, m0 = self._tile_of_lane(), build.low_bits(self.alpha, self.b)
        return [self._place(j, m0, register << self.b) for register in range(1 << self.a)]

    def _tile_of_lane(self) -> Index:
        build = self.emitter.build
        if not self.b:
            return self.column
        inner = build.shift_right(self.alpha, self.b)
        return build.add(build.mul(self.column, 1 << (self.a - self.b)), inner)

    def _tile_of_register(self, register: int) -> Index:
        build = self.emitter.build
        inner = register >> self.b
        return build.add(build.mul(self.column, 1 << (self.a - self.b)), inner)

    def lane_layout(self) -> list[Position]:
        """Positions while the register index is what the exchange axis was."""
        build = self.emitter.build
        if not self.b:
            return []
        return [
            self._place(
                self._tile_of_register(register),
                build.mul(self.alpha, 1 << self.b),
                register & ((1 << self.b) - 1),
            )
            for register in range(1 << self.a)
        ]

    def _read(self, positions: list[Position], source: int) -> list[SSAValue]:
        emitter = self.emitter
        emitter.begin(positions)
        if self.first:
            return emitter.node(source)
        start = emitter.build.mul(emitter.row, self.graph.degree)
        buffer = self._scratch()
        return [emitter.build.load(buffer, emitter.build.add(start, *p)) for p in positions]

    def _write(self, positions: list[Position], values: list[SSAValue]) -> None:
        emitter = self.emitter
        if self.last:
            emitter.begin(positions)
            emitter.store_outputs(values)
            return
        start = emitter.build.mul(emitter.row, self.graph.degree)
        buffer = self._scratch()
        for value, position in zip(values, positions, strict=True):
            emitter.build.store(value, buffer, emitter.build.add(start, *position), emitter.valid)

    def _scratch(self) -> SSAValue:
        """Between its kernels a transform lives in the region's first result, which has its shape."""
        build = self.emitter.build
        return build.buffer(Argument("output", 0), build.word, "out0")

    def _first_group(
        self, values: list[SSAValue], below: list[int]
    ) -> tuple[list[SSAValue], list[int]]:
        """Stages over the upper a bits of mid."""
        build = self.emitter.build
        g = self._high(self._tile_of_lane())
        stages = range(self.a)
        for t in stages if self.forward else reversed(stages):
            half = 1 << (self.a - 1 - t)
            for upper in range(1 << t):
                block = build.add(build.mul(g, 1 << t), upper)
                pairs = [(upper * 2 * half + o, upper * 2 * half + o + half) for o in range(half)]
                self._butterflies(values, below, pairs, self.start + t, block)
        return values, below

    def _second_group(
        self, values: list[SSAValue], below: list[int]
    ) -> tuple[list[SSAValue], list[int]]:
        """Stages over the lower b bits of mid, for each of the 2^(a-b) tiles in the registers."""
        build = self.emitter.build
        stages = range(self.b)
        for u in stages if self.forward else reversed(stages):
            t, half = self.a + u, 1 << (self.b - 1 - u)
            for tile in range(1 << (self.a - self.b)):
                base = tile << self.b
                g = self._high(self._tile_of_register(base))
                for upper in range(1 << u):
                    block = build.add(build.mul(g, 1 << t), build.mul(self.alpha, 1 << u), upper)
                    first = base + upper * 2 * half
                    pairs = [(first + o, first + o + half) for o in range(half)]
                    self._butterflies(values, below, pairs, self.start + t, block)
        return values, below

    def _butterflies(
        self,
        values: list[SSAValue],
        below: list[int],
        pairs: Sequence[tuple[int, int]],
        stage: int,
        block: Index,
    ) -> None:
        """Butterflies that share the twiddle of `block` in `stage`, in place."""
        build = self.emitter.build
        if not self.forward and stage == 0:
            self._last_inverse_butterflies(values, below, pairs)
            return
        offset = build.add(self.twiddle_row, block, 1 << stage)
        twiddle = build.load(self.twiddles, offset)
        for i, j in pairs:
            if self.forward:
                self._cooley_tukey(values, below, i, j, twiddle)
            else:
                self._gentleman_sande(values, below, i, j, twiddle)

    def _cooley_tukey(
        self, values: list[SSAValue], below: list[int], i: int, j: int, twiddle: SSAValue
    ) -> None:
        """(u, v) -> (u + w v, u - w v) with operands and results below 4q."""
        emitter = self.emitter
        product = emitter.product(values[j], twiddle)
        u, bound = values[i], below[i]
        if bound > 2:
            u, bound = emitter.reduce(u, bound, 2), 2
        values[i] = emitter.build.emit(zq.AddOp(u, product, emitter.modulus))
        values[j] = emitter.build.emit(zq.SubOp(u, product, emitter.modulus, 2))
        below[i] = below[j] = bound + 2

    def _gentleman_sande(
        self, values: list[SSAValue], below: list[int], i: int, j: int, twiddle: SSAValue
    ) -> None:
        """(u, v) -> (u + v, w (u - v)) with operands and results below 2q."""
        emitter = self.emitter
        u, v = values[i], values[j]
        total = emitter.build.emit(zq.AddOp(u, v, emitter.modulus))
        values[i] = emitter.reduce(total, 4, 2)
        difference = emitter.build.emit(zq.SubOp(u, v, emitter.modulus, 2))
        values[j] = emitter.product(difference, twiddle)
        below[i] = below[j] = 2

    def _last_inverse_butterflies(
        self, values: list[SSAValue], below: list[int], pairs: Sequence[tuple[int, int]]
    ) -> None:
        """Stage 0 of the inverse: the factor N^-1, and its exponent change, are part of both legs' constants."""
        emitter, build = self.emitter, self.emitter.build
        table = build.buffer(Argument("inverse_degree"), build.word, "inverse_degree")
        entry = build.mul(emitter.limb, 2)
        scale = build.load(table, entry)
        twiddle = build.load(table, build.add(entry, 1))
        for i, j in pairs:
            u, v = values[i], values[j]
            total = build.emit(zq.AddOp(u, v, emitter.modulus))
            difference = build.emit(zq.SubOp(u, v, emitter.modulus, 2))
            values[i] = emitter.product(total, scale)
            values[j] = emitter.product(difference, twiddle)
            below[i] = below[j] = 2


def _integers(node: Node) -> tuple[int, ...]:
    return tuple(int(number) for number in node.data)


def _without(node: Node, index: int) -> tuple[int | str | bool, ...]:
    return node.data[:index] + node.data[index + 1 :]
