"""The twiddle factors of a transform's kernel: read from the table, or computed from one entry of a block.

With beta_t(o) the factor of stage t of a group for block o of those in front of the group, and W the table in natural
order, the factor of the i-th of its 2^t blocks is beta_t(o) * W[i], and beta_(t-1)(o) = beta_t(o)^2: the exponent of
psi in it is N/2^(s+t+1) * (2 rev(o) + 1) + N/2^t * rev_t(i), and the second part is the exponent in W[i], for every t.
(Bailey, "FFTs in external or hierarchical memory", 1990, computes factors from two short tables.)
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.lowering.butterflies import Butterflies
from fhelium_ir.lowering.kernel_builder import Argument, Index
from fhelium_ir.lowering.region_kernels import NodeEmitter
from fhelium_ir.lowering.shoup_tables import ShoupTable


class TwiddleFactors:
    """Loads and products of one kernel, which performs `stages`; every value is made once."""

    def __init__(
        self, emitter: NodeEmitter, butterflies: Butterflies, schedule: Schedule, stages: range
    ):
        self.build = emitter.build
        self.butterflies = butterflies
        self.schedule = schedule
        if stages.start < schedule.shoup:
            self.with_quotients = ShoupTable(emitter, "shoup_twiddles", 1 << schedule.shoup)
        if stages.stop > schedule.shoup:
            self.table = self.build.buffer(Argument("twiddles"), self.build.word, "twiddles")
            self.row = self.build.mul(emitter.limb, schedule.twiddle_entries())
        self._constants: dict[int, SSAValue] = {}
        self._first: dict[tuple[int, Index], list[SSAValue]] = {}

    def factor(self, start: int, stages: int, stage: int, block: Index, inner: int) -> SSAValue:
        """The factor of block `inner` of stage number `stage` of a group of `stages` stages.

        Args:
            start: stages before the group.
            block: number of the block of the stages before the group.
        """
        if start + stage < self.schedule.shoup:
            return self.with_quotients.load(block, inner << start, 1 << (start + stage))
        if not self.schedule.computes(start):
            place = self.build.add(block, inner << start)
            return self.build.load(
                self.table, self.build.add(self.row, place, 1 << (start + stage))
            )
        first = self._powers(start, stages, block)[stage]
        if inner == 0:
            return first
        return self.butterflies.twiddle(first, self._constant(inner))

    def _powers(self, start: int, stages: int, block: Index) -> list[SSAValue]:
        """beta_0, beta_1, ...: the table holds the last one."""
        key = (start, block)
        if key not in self._first:
            place = self.build.add(self.row, block, self.schedule.twiddle_place(start))
            powers = [self.build.load(self.table, place)]
            for _ in range(stages - 1):
                powers.append(self.butterflies.twiddle(powers[-1], powers[-1]))
            self._first[key] = powers[::-1]
        return self._first[key]

    def _constant(self, natural: int) -> SSAValue:
        """Entry `natural` of a table in natural order."""
        if natural not in self._constants:
            place = self.build.add(self.row, self.schedule.twiddle_entry(natural))
            self._constants[natural] = self.build.load(self.table, place)
        return self._constants[natural]
