"""Base conversion on words with a sign: of `fp64`, or of `smont32`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects import arith
from xdsl.dialects.builtin import f64, i64
from xdsl.ir import SSAValue

from fhelium_ir.analysis.region_nodes import Node
from fhelium_ir.dialects import zq

if TYPE_CHECKING:
    from fhelium_ir.lowering.region_kernels import NodeEmitter

_MAGIC = 1.5 * 2**52
"""Adding it to an integer of less than 2^51 puts that into the low bits of the double's mantissa."""

_MAGIC_BITS = 0x4338000000000000

ANY_BELOW = 1 << 50
"""`below` of a residue modulo one prime that is taken for a word of another one, however small."""


def convert_signed(emitter: NodeEmitter, node: Node) -> list[SSAValue]:
    """sum_i c_i * (D/d_i) - u' * D with centred residues c_i, reduced.

    Corrections: `none`, u' = 0; `nearest`, u' is computed here; `given`, u' lies in scratch memory; `rounded`, there is
    one limb of doubles, and u' is 0 or -1.
    """
    *numbers, eager, correction = node.data
    buffer, start, count, table, base = (int(number) for number in numbers)
    build, coefficients = emitter.build, emitter.table_buffer(table)
    first, entries = emitter.column(start), emitter.column(base)
    if correction == "rounded":
        return _round(emitter, buffer, first, coefficients, entries)
    registers = len(emitter.positions)
    nearest = correction == "nearest"
    width = 4 if nearest else 1
    last = build.emit(arith.SubiOp(emitter.column(count), build.constant(1)))
    carried = [build.zero()] * registers
    if nearest:
        carried += [build.constant(0)] * (2 * registers)
    with build.loop(emitter.bound(count), carried) as loop:
        offset = build.add(entries, width, build.mul(loop.index, width))
        factor = build.load(coefficients, offset)
        if nearest:
            factor = small_to_word(emitter, factor)
        words = source_limb(emitter, buffer, first, build.emit(arith.MinUIOp(loop.index, last)))
        loop.yielded = [
            emitter.partial(loop.carried[r], word, factor, bool(eager))
            for r, word in enumerate(words)
        ]
        if nearest:
            entry = [build.load(coefficients, build.add(offset, k)) for k in (1, 2, 3)]
            terms = [overflow(emitter, word, *entry) for word in words]
            for k in range(2):
                for r in range(registers):
                    total = loop.carried[(k + 1) * registers + r]
                    loop.yielded.append(build.emit(arith.AddiOp(total, terms[r][k])))
    sums = loop.results[:registers]
    if correction != "none":
        negative = build.load(coefficients, entries)
        if nearest:
            negative = small_to_word(emitter, negative)
            quotients = [
                quotient_of(emitter, loop.results[registers + r], loop.results[2 * registers + r])
                for r in range(registers)
            ]
        else:
            quotients = given_quotients(emitter)
        for r, quotient in enumerate(quotients):
            product = emitter.product(quotient, negative)
            sums[r] = build.emit(zq.AddOp(sums[r], product, emitter.modulus))
    terms = 1 if correction == "none" else 2
    return [emitter.settled(total, bool(eager), terms) for total in sums]


def source_limb(
    emitter: NodeEmitter, buffer: int, first: SSAValue, limb: SSAValue
) -> list[SSAValue]:
    """Words of a source limb at the positions."""
    build = emitter.build
    row = build.mul(build.add(first, limb), emitter.graph.degree)
    source = emitter.input(buffer)
    return [build.load(source, build.add(row, *position)) for position in emitter.positions]


def given_quotients(emitter: NodeEmitter) -> list[SSAValue]:
    """The quotients that `quotient_kernel` has left."""
    build, found = emitter.build, emitter.graph.quotients
    assert found is not None
    row = build.mul(emitter.column(found.component), emitter.graph.degree)
    scratch = emitter.scratch(0)
    return [emitter.load_word(scratch, build.add(row, *p)) for p in emitter.positions]


def _round(
    emitter: NodeEmitter, buffer: int, first: SSAValue, coefficients: SSAValue, entries: SSAValue
) -> list[SSAValue]:
    """One source limb: the residue in [-d/2, d/2] whose quotient rounds to 0, modulo the target's prime."""
    build = emitter.build
    prime = build.load(coefficients, entries)
    lowest = build.load(coefficients, build.add(entries, 1))
    rounded: list[SSAValue] = []
    for word in source_limb(emitter, buffer, first, build.constant(0)):
        below = build.emit(arith.CmpfOp(word, lowest, "olt"))
        moved = build.emit(arith.AddfOp(word, prime))
        lifted = build.emit(arith.SelectOp(below, moved, word))
        rounded.append(build.emit(zq.ReduceOp(lifted, emitter.modulus, ANY_BELOW, 1)))
    return rounded


def quotient_of(emitter: NodeEmitter, fractions: SSAValue, negatives: SSAValue) -> SSAValue:
    """u' as a word: u, from fractions in units of 2^-32, less the number of negative residues."""
    build = emitter.build
    rounded = build.emit(arith.AddiOp(fractions, build.constant(1 << 31)))
    multiple = build.value(build.shift_right(rounded, 32))
    return small_to_word(emitter, build.emit(arith.SubiOp(multiple, negatives)))


def overflow(
    emitter: NodeEmitter, word: SSAValue, reciprocal: SSAValue, shift: SSAValue, prime: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """v/d in units of 2^-32, and whether v, the canonical integer of the centred word, is word + d.

    Beyond a shorter digit's limbs reciprocal and prime are 0, and so are both.
    """
    build = emitter.build
    canonical, signed = canonical_integer(emitter, word, prime)
    was_moved = build.compare("ne", canonical, signed)
    fraction = fraction_of(emitter, canonical, reciprocal, shift)
    return fraction, build.emit(arith.ExtUIOp(was_moved, i64))


def canonical_integer(
    emitter: NodeEmitter, word: SSAValue, prime: SSAValue
) -> tuple[SSAValue, SSAValue]:
    """A centred word as the integer of [0, d), and as a signed one."""
    build = emitter.build
    if word.type == f64:
        lifted = build.emit(arith.AddfOp(word, build.float_constant(_MAGIC)))
        bits = build.emit(arith.BitcastOp(lifted, i64))
        signed = build.emit(arith.SubiOp(bits, build.constant(_MAGIC_BITS)))
    else:
        signed = build.emit(arith.ExtSIOp(word, i64))
    negative = build.compare("slt", signed, build.constant(0))
    moved = build.emit(arith.AddiOp(signed, prime))
    return build.emit(arith.SelectOp(negative, moved, signed)), signed


def fraction_of(
    emitter: NodeEmitter, canonical: SSAValue, reciprocal: SSAValue, shift: SSAValue
) -> SSAValue:
    """v/d in units of 2^-32, for the canonical integer v."""
    build = emitter.build
    scaled = build.emit(arith.ShLIOp(canonical, shift))
    product = arith.MulUIExtendedOp(scaled, reciprocal)
    build.block.add_op(product)
    return product.results[1]


def small_to_word(emitter: NodeEmitter, value: SSAValue) -> SSAValue:
    """A signed i64 as a word: of less than 2^51 in magnitude as a double, of less than 2^31 as a signed word."""
    build = emitter.build
    if not emitter.floating:
        return build.to_word(value)
    moved = build.emit(arith.AddiOp(value, build.constant(_MAGIC_BITS)))
    double = build.emit(arith.BitcastOp(moved, f64))
    return build.emit(arith.SubfOp(double, build.float_constant(_MAGIC)))
