"""Tables of factors with their quotients by q, which Shoup's products in a transform take."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import SSAValue

from fhelium_ir.lowering.kernel_builder import Argument, Index
from fhelium_ir.lowering.region_kernels import NodeEmitter


class ShoupTable:
    """The factors of an emitter's limb and their quotients, as the kinds `shoup_...` of resources hold them.

    A 32-bit quotient is the upper half of its factor's entry, so that a lane reads both at once; 64-bit quotients stand
    in a row behind the factors of their prime, so that neighbouring lanes read neighbours.

    Args:
        kind: of the argument, `shoup_twiddles` or `shoup_inverse_degree`.
        entries: factors of a prime.
    """

    def __init__(self, emitter: NodeEmitter, kind: str, entries: int):
        self.emitter = emitter
        self.entries = entries
        build = emitter.build
        self.packed = build.word == i32
        self.buffer = build.buffer(Argument(kind), i64, kind)
        self.row = build.mul(emitter.limb, entries if self.packed else 2 * entries)

    def load(self, *terms: Index) -> SSAValue:
        """The factor whose number is the sum of the terms; `NodeEmitter.product` then knows its quotient."""
        build = self.emitter.build
        offset = build.add(self.row, *terms)
        entry = build.load(self.buffer, offset)
        if not self.packed:
            quotient = build.load(self.buffer, build.add(offset, self.entries))
            self.emitter.quotients[entry] = quotient
            return entry
        factor = build.emit(arith.TruncIOp(entry, i32))
        upper = build.emit(arith.ShRUIOp(entry, build.constant(32)))
        self.emitter.quotients[factor] = build.emit(arith.TruncIOp(upper, i32))
        return factor
