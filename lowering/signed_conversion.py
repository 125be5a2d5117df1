"""Base conversion on words with a sign: of `fp64`, or of `smont32`."""

from __future__ import annotations

from collections.abc import Sequence
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
    if node.data[-1] == "rounded":
        return _round(emitter, node)
    return convert_together([emitter], node)[0]


def convert_together(emitters: Sequence[NodeEmitter], node: Node) -> list[list[SSAValue]]:
    """The conversion in several rows of the same source limbs and positions: each source word is loaded once.

    Only a single row may compute u' here (`nearest`).
    """
    *numbers, eager, correction = node.data
    buffer, start, count, table, base = (int(number) for number in numbers)
    first = emitters[0]
    build, coefficients = first.build, first.table_buffer(table)
    source, bases = first.column(start), [emitter.column(base) for emitter in emitters]
    registers = len(first.positions)
    nearest = correction == "nearest"
    assert not nearest or len(emitters) == 1
    width = 4 if nearest else 1
    last = build.emit(arith.SubiOp(first.column(count), build.constant(1)))
    carried = [build.zero()] * (registers * len(emitters))
    if nearest:
        carried += [build.constant(0)] * (2 * registers)
    with build.loop(first.bound(count), carried) as loop:
        offsets = [build.add(entries, width, build.mul(loop.index, width)) for entries in bases]
        factors = [build.load(coefficients, offset) for offset in offsets]
        if nearest:
            factors = [small_to_word(first, factor) for factor in factors]
        words = source_limb(first, buffer, source, build.emit(arith.MinUIOp(loop.index, last)))
        sums = iter(loop.carried)
        loop.yielded = [
            emitter.partial(next(sums), word, factor, bool(eager))
            for emitter, factor in zip(emitters, factors, strict=True)
            for word in words
        ]
        if nearest:
            entry = [build.load(coefficients, build.add(offsets[0], k)) for k in (1, 2, 3)]
            terms = [overflow(first, word, *entry) for word in words]
            for k in range(2):
                for r in range(registers):
                    total = loop.carried[(k + 1) * registers + r]
                    loop.yielded.append(build.emit(arith.AddiOp(total, terms[r][k])))
    quotients: list[SSAValue] = []
    if correction == "given":
        quotients = given_quotients(first)
    elif nearest:
        quotients = [
            quotient_of(first, loop.results[registers + r], loop.results[2 * registers + r])
            for r in range(registers)
        ]
    found: list[list[SSAValue]] = []
    for k, (emitter, entries) in enumerate(zip(emitters, bases, strict=True)):
        totals = loop.results[k * registers : (k + 1) * registers]
        if quotients:
            totals = _corrected(emitter, totals, quotients, coefficients, entries, nearest)
        terms_left = 1 if correction == "none" else 2
        found.append([emitter.settled(total, bool(eager), terms_left) for total in totals])
    return found


def _corrected(
    emitter: NodeEmitter,
    totals: Sequence[SSAValue],
    quotients: Sequence[SSAValue],
    coefficients: SSAValue,
    entries: SSAValue,
    nearest: bool,
) -> list[SSAValue]:
    """Sums less u' times the source's product, whose negative is the first of a row's coefficients."""
    build = emitter.build
    negative = build.load(coefficients, entries)
    if nearest:
        negative = small_to_word(emitter, negative)
    products = [emitter.product(quotient, negative) for quotient in quotients]
    return [
        build.emit(zq.AddOp(total, product, emitter.modulus))
        for total, product in zip(totals, products, strict=True)
    ]


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


def _round(emitter: NodeEmitter, node: Node) -> list[SSAValue]:
    """One source limb: the residue in [-d/2, d/2] whose quotient rounds to 0, modulo the target's prime."""
    buffer, start, _, table, base = (int(number) for number in node.data[:-2])
    build, coefficients = emitter.build, emitter.table_buffer(table)
    first, entries = emitter.column(start), emitter.column(base)
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
