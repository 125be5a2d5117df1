"""The kernels of a region with a transform: its butterflies, between the nodes that feed it and those that read it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from fhelium_ir.analysis.region_graph import RegionGraph
from fhelium_ir.dialects import kernel, ntt, zq
from fhelium_ir.lowering.kernel_builder import Argument, Index
from fhelium_ir.lowering.region_kernels import KernelCode, NodeEmitter, Position


def transform_kernel(
    graph: RegionGraph, schedule: ntt.Schedule, step: int, name: str
) -> KernelCode:
    """Kernel number `step`, in order of execution, of a region with a transform."""
    transform = graph.transform
    assert transform is not None
    return _Pass(graph, schedule, transform.direction == "forward", step).build(name)


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
        self.emitter = NodeEmitter(graph, schedule.rows)

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
