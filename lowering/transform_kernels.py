"""The kernels of a region with a transform: its butterflies, between the nodes that feed it and those that read it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith
from xdsl.dialects.builtin import UnitAttr, f64, i64
from xdsl.ir import SSAValue

from fhelium_ir.analysis.region_nodes import RegionGraph, Transform
from fhelium_ir.dialects import kernel, ntt
from fhelium_ir.lowering.butterflies import Bounds, butterflies_for
from fhelium_ir.lowering.kernel_builder import Argument, Index
from fhelium_ir.lowering.region_kernels import KernelCode, NodeEmitter, Position
from fhelium_ir.lowering.shoup_tables import ShoupTable
from fhelium_ir.lowering.twiddle_factors import TwiddleFactors


def transform_kernel(
    graph: RegionGraph, schedule: ntt.Schedule, step: int, name: str
) -> KernelCode:
    """Kernel number `step`, in order of execution, of a region with a transform."""
    transform = graph.transform
    assert transform is not None
    return TransformPass(graph, schedule, transform.direction == "forward", step).build(name)


class TransformPass:
    """One kernel of a transform.

    With n = log2 N, a kernel that performs stages s0 .. s0 + a + b - 1 works on tiles of 2^(a+b) elements whose indices
    differ in the bits [low, low + a + b), low = n - s0 - a - b. An element's index is g : mid : lo, with g the s0 bits
    above and lo the low bits below. The column number j = g : lo names the tile. The first a stages pair elements whose
    mid differs in its upper a bits: these are the registers. An exchange with a lane axis of extent 2^a then brings the
    lower b bits into the registers. That axis holds those b bits and, above them, a - b bits of j: the lowest ones if
    low = 0, else those above the lanes of columns, whose elements are contiguous.
    """

    def __init__(
        self,
        graph: RegionGraph,
        schedule: ntt.Schedule,
        forward: bool,
        step: int,
        emitter: NodeEmitter | None = None,
    ):
        self.graph = graph
        self.forward = forward
        count = len(schedule.kernels)
        self.which = step if forward else count - 1 - step
        self.first, self.last = step == 0, step == count - 1
        # Every second kernel begins with the rows that the one before it wrote last, which caches still hold.
        self.descending = step % 2 == 1
        groups = schedule.kernels[self.which]
        self.a = groups[0]
        self.b = groups[1] if len(groups) == 2 else 0
        self.start = sum(sum(groups) for groups in schedule.kernels[: self.which])
        self.bits = graph.degree.bit_length() - 1
        self.low = self.bits - self.start - self.a - self.b
        self.schedule = schedule
        self.columns = schedule.columns
        digits = graph.scratch_column >= 0
        self.emitter = emitter or NodeEmitter(graph, schedule.rows, digits)
        self.butterflies = butterflies_for(self.emitter)

    def set_up(self) -> None:
        """Emits what all phases share: lanes and the column number."""
        build = self.emitter.build
        lanes = [self.schedule.rows] if self.schedule.rows > 1 else []
        self.axis = -1
        if self.b:
            # The axis with contiguous elements comes last.
            self.axis = len(lanes) + (1 if self.low == 0 else 0)
            extents = [self.columns, 1 << self.a] if self.low == 0 else [1 << self.a, self.columns]
            column_axis = len(lanes) + (0 if self.low == 0 else 1)
            lanes += extents
            self.alpha: Index = build.emit(kernel.LaneIdOp(self.axis))
        else:
            column_axis = len(lanes)
            lanes += [self.columns]
            self.alpha = 0
        block = build.emit(kernel.ProgramIdOp(0))
        lane = build.emit(kernel.LaneIdOp(column_axis))
        self.block, self.lane = block, lane
        self.column = build.add(build.mul(block, self.columns), lane)
        self.lanes = lanes
        self._set_up_factors()

    def set_up_beside(self, other: TransformPass) -> None:
        """As `set_up`, for another row with the same lanes in the same kernel."""
        self.axis, self.alpha, self.lanes = other.axis, other.alpha, other.lanes
        self.block, self.lane, self.column = other.block, other.lane, other.column
        self._set_up_factors()

    def _set_up_factors(self) -> None:
        stages = range(self.start, self.start + self.a + self.b)
        self.twiddles = TwiddleFactors(self.emitter, self.butterflies, self.schedule, stages)
        # Behind the exchange neighbouring lanes would be 2^b elements apart: words cross memory before it or after a
        # second one.
        self.scattered = bool(self.b) and self.low == 0

    def build(self, name: str) -> KernelCode:
        self.set_up()
        build, axis = self.emitter.build, self.axis
        transform = self.graph.transform
        assert transform is not None
        before = self.register_layout()
        if self.forward:
            self.forward_from(before, self._read(before, transform.source))
        else:
            values = self._read(self.far_layout(before), transform.source)
            bounds = self._operand_bounds(transform, values)
            if self.scattered:
                values = build.exchange(values, axis)
            if self.b:
                values, bounds = self._second_group(values, bounds)
                self.butterflies.before_exchange(values, bounds, False)
                values = build.exchange(values, axis)
            values, bounds = self._first_group(values, bounds)
            self._write(before, values, bounds)
        return self.finish(name)

    def forward_from(self, before: list[Position], values: list[SSAValue]) -> None:
        """The stages of a forward transform on what has been read at the positions `before`, and the stores."""
        words, bounds = self.forward_stages(values)
        self._write(self.far_layout(before), words, bounds)

    def finish(self, name: str) -> KernelCode:
        """The kernel; the pass is spent."""
        tiles = 1 << (self.bits - self.a - self.b)
        per_program = self.columns << (self.a - self.b if self.b else 0)
        code = self.emitter.finish(name, self.lanes, tiles // per_program, self.schedule.warps)
        if self.descending:
            code.function.attributes[kernel.DESCENDING] = UnitAttr()
        return code

    def far_layout(self, before: list[Position]) -> list[Position]:
        """Positions of the registers at the end that is not the register layout: behind the stages of a forward
        transform, in front of those of an inverse one."""
        return before if self.scattered or not self.b else self.lane_layout()

    def forward_stages(self, values: list[SSAValue]) -> tuple[list[SSAValue], Bounds]:
        """The stages of a forward transform on the registers, from the register layout to the far one."""
        transform = self.graph.transform
        assert transform is not None
        values, bounds = self._first_group(values, self._operand_bounds(transform, values))
        if self.b:
            self.butterflies.before_exchange(values, bounds, True)
            values = self.emitter.build.exchange(values, self.axis)
            values, bounds = self._second_group(values, bounds)
        if self.scattered:
            self.butterflies.before_exchange(values, bounds, True)
            values = self.emitter.build.exchange(values, self.axis)
        return values, bounds

    def _operand_bounds(self, transform: Transform, values: list[SSAValue]) -> Bounds:
        """What is known of the words that the kernel reads."""
        bound = self.butterflies.stored_bound(self.start)
        if self.first:
            bound = self.butterflies.operand_bound(transform.contract.input_below)
        return [bound] * len(values)

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
        # Without the mask where it is not needed, so that neighbouring lanes are seen to be neighbours in memory.
        m0 = self.alpha if self.a == self.b else build.low_bits(self.alpha, self.b)
        j = self._tile_of_lane()
        return [self._place(j, m0, register << self.b) for register in range(1 << self.a)]

    def _tile_of_lane(self) -> Index:
        build = self.emitter.build
        if not self.b or self.a == self.b:
            return self.column
        return self._tile(build.shift_right(self.alpha, self.b))

    def _tile_of_register(self, register: int) -> Index:
        return self._tile(register >> self.b)

    def _tile(self, inner: Index) -> Index:
        """Number `inner` of the 2^(a-b) tiles of a column; neighbouring lanes have neighbouring elements."""
        build, count = self.emitter.build, 1 << (self.a - self.b)
        if self.low == 0:
            return build.add(build.mul(self.column, count), inner)
        start = build.mul(self.block, self.columns * count)
        return build.add(start, build.mul(inner, self.columns), self.lane)

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
        start, buffer = self._row_between()
        build = emitter.build
        if not self._scratch_holds_bits():
            return [emitter.load_word(buffer, build.add(start, *p)) for p in positions]
        words = [build.load(buffer, build.add(start, *p)) for p in positions]
        return [build.emit(arith.BitcastOp(word, f64)) for word in words]

    def _write(self, positions: list[Position], values: list[SSAValue], bounds: Bounds) -> None:
        emitter = self.emitter
        transform = self.graph.transform
        assert transform is not None
        if self.last:
            self.butterflies.finish(values, bounds, transform.contract.output_below)
            emitter.begin(positions)
            emitter.store_outputs(values)
            return
        self.butterflies.before_store(values, bounds)
        start, buffer = self._row_between()
        for value, position in zip(values, positions, strict=True):
            place = emitter.build.add(start, *position)
            if self._scratch_holds_bits():
                bits = emitter.build.emit(arith.BitcastOp(value, i64))
                emitter.build.store(bits, buffer, place, emitter.valid)
            else:
                emitter.store_word(value, buffer, place, emitter.valid)

    def _row_between(self) -> tuple[Index, SSAValue]:
        """Where a row lies between kernels: in the region's first result, which has the transform's shape, or in
        scratch memory. Its offset, and the buffer."""
        emitter, column = self.emitter, self.graph.scratch_column
        if column >= 0:
            return emitter.row_start(column), emitter.scratch(0)
        if self.graph.result_column >= 0:
            return emitter.row_start(self.graph.result_column), emitter.output(0)
        return emitter.build.mul(emitter.row, self.graph.degree), emitter.output(0)

    def _scratch_holds_bits(self) -> bool:
        """Whether that result is one of canonical integers, which hold the bits of doubles until the last kernel."""
        return self.graph.scratch_column < 0 and 0 in self.graph.integer_outputs

    def _first_group(self, values: list[SSAValue], bounds: Bounds) -> tuple[list[SSAValue], Bounds]:
        """Stages over the upper a bits of mid."""
        g = self._high(self._tile_of_lane())
        stages = range(self.a)
        for t in stages if self.forward else reversed(stages):
            self._stage(values, bounds, (self.start, self.a, t), g, 0)
        return values, bounds

    def _second_group(
        self, values: list[SSAValue], bounds: Bounds
    ) -> tuple[list[SSAValue], Bounds]:
        """Stages over the lower b bits of mid, for each of the 2^(a-b) tiles in the registers."""
        build, before = self.emitter.build, self.start + self.a
        stages = range(self.b)
        for u in stages if self.forward else reversed(stages):
            for tile in range(1 << (self.a - self.b)):
                base = tile << self.b
                g = self._high(self._tile_of_register(base))
                block = build.add(build.mul(g, 1 << self.a), self.alpha)
                self._stage(values, bounds, (before, self.b, u), block, base)
        return values, bounds

    def _stage(
        self,
        values: list[SSAValue],
        bounds: Bounds,
        group: tuple[int, int, int],
        block: Index,
        base: int,
    ) -> None:
        """Butterflies of one stage on the registers from `base` on, in place.

        Args:
            group: stages before the stage's group, its stages, and the number of the stage among them.
            block: number of the block, of those before the group, that the registers hold.
        """
        start, stages, stage = group
        half = 1 << (stages - 1 - stage)
        for inner in range(1 << stage):
            first = base + inner * 2 * half
            pairs = [(first + o, first + o + half) for o in range(half)]
            if not self.forward and start + stage == 0:
                self._last_inverse_butterflies(values, bounds, pairs)
                continue
            twiddle = self.twiddles.factor(start, stages, stage, block, inner)
            butterfly = self.butterflies.forward if self.forward else self.butterflies.inverse
            for i, j in pairs:
                butterfly(values, bounds, i, j, twiddle)

    def _last_inverse_butterflies(
        self, values: list[SSAValue], bounds: Bounds, pairs: Sequence[tuple[int, int]]
    ) -> None:
        """Stage 0 of the inverse: the factor N^-1, and its exponent change, are part of both legs' constants."""
        emitter, build = self.emitter, self.emitter.build
        if self.schedule.shoup:
            factors = ShoupTable(emitter, "shoup_inverse_degree", 2)
            scale, twiddle = factors.load(0), factors.load(1)
        else:
            table = build.buffer(Argument("inverse_degree"), build.word, "inverse_degree")
            entry = build.mul(emitter.limb, 2)
            scale = build.load(table, entry)
            twiddle = build.load(table, build.add(entry, 1))
        for i, j in pairs:
            self.butterflies.last_inverse(values, bounds, i, j, scale, twiddle)
