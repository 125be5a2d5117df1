"""`convert-zq-to-arith`: modular arithmetic becomes machine arithmetic.

Word-sized residues with lazy intervals need no division: additions and subtractions are plain,
a reduction is a chain of unsigned minima (`x - m*q` wraps to a huge word when x < m*q), and a
product is Montgomery's or Shoup's. On signed words a multiple of q is added or subtracted by sign. On doubles, products
and reductions subtract q times the rounded quotient.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith, builtin, math
from xdsl.dialects.builtin import FloatAttr, IntegerType, f64, i32, i64
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel, zq
from fhelium_ir.lowering.word_ops import (
    binary,
    constant,
    conversion,
    integer_attr,
    wide_product,
)

_TWO_52_BITS = 0x4330000000000000
"""The bits of the double 2^52; an integer below 2^52 in its low bits is added to it."""

_MAGIC_BITS = 0x4338000000000000
"""The bits of 1.5 * 2^52; a signed integer below 2^51 is added to it."""


@dataclass(frozen=True)
class ConvertZqToArith(ModulePass):
    """Expands every `zq` op inside `kernel.func` bodies to `arith` on words.

    Value-preserving, word for word: the results equal those of the `zq` ops whenever these stay
    inside their intervals. What depends on the modulus alone (multiples of q, the widened q) is
    computed once, right after `zq.modulus`, so it stays as uniform over the lanes as the modulus.

    Raises:
        FheliumError: a `zq` op stands outside of a kernel, or its modulus does not come from a
            `zq.modulus` of the same kernel.
    """

    name = "convert-zq-to-arith"

    def apply(self, ctx: Context, op: builtin.ModuleOp) -> None:
        listener = _listener.get()
        kernels = [func for func in all_ops(op) if type(func) is kernel.FuncOp]
        # Whoever compiles them in several processes is not left with a long one at the end.
        for func in sorted(kernels, key=lambda func: -len(all_ops(func))):
            _Expander().expand(func.body.block)
            if listener is not None:
                listener(func)
        for left in all_ops(op):
            if left.name.startswith(_PREFIX):
                raise FheliumError(
                    f"convert-zq-to-arith: '{left.name}' is outside of a kernel.func",
                    location_of(left),
                )


Listener: TypeAlias = Callable[[kernel.FuncOp], None]

_listener: ContextVar[Listener | None] = ContextVar("fhelium_kernel_listener", default=None)


@contextmanager
def hear_kernels(listener: Listener) -> Generator[None]:
    """While the `with` block runs, calls `listener` with each kernel as soon as it has been expanded, those of most
    operations first. It must leave the kernels as they are, and no pass changes them afterwards."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


_PREFIX = f"{zq.Zq.name}."

_EXPANDED: frozenset[type[Operation]] = frozenset(
    (
        zq.AddOp,
        zq.SubOp,
        zq.MulOp,
        zq.MulShoupOp,
        zq.ReduceOp,
        zq.CanonicalOp,
        zq.ToFloatOp,
        zq.ToIntegerOp,
    )
)


@dataclass
class _Modulus:
    """A modulus and the values derived from it, which stand in order right after its op."""

    op: zq.ModulusOp
    last: Operation
    derived: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])

    def __post_init__(self) -> None:
        self.q, self.q_inverse = self.op.operands
        arithmetic = self.op.result.type.arithmetic
        self._word, self.arithmetic = arithmetic.word, arithmetic

    @property
    def word(self) -> IntegerType:
        assert isinstance(self._word, IntegerType)
        return self._word

    def double(self, name: str, value: float) -> SSAValue:
        """A constant of type f64."""
        if name in self.derived:
            return self.derived[name]
        return self._add(name, constant(FloatAttr(value, f64)))

    def magic(self) -> SSAValue:
        """1.5 * 2^52: adding it to a double of at most 2^51 rounds that to an integer."""
        return self.double("magic", 1.5 * 2**52)

    def integer(self) -> SSAValue:
        """q of `fp64` as an i64."""
        if "q_integer" in self.derived:
            return self.derived["q_integer"]
        lifted = self._add("q_lifted", binary(arith.AddfOp, self.q, self.magic()))
        bits = self._add("q_bits", arith.BitcastOp(lifted, i64))
        base = self.constant(_MAGIC_BITS, i64)
        return self._add("q_integer", binary(arith.SubiOp, bits, base))

    def minus_one(self) -> SSAValue:
        return self.double("minus_one", -1.0)

    def negative(self) -> SSAValue:
        """-q."""
        if "q_negative" in self.derived:
            return self.derived["q_negative"]
        return self._add("q_negative", binary(arith.MulfOp, self.q, self.minus_one()))

    def constant(self, value: int, word: IntegerType) -> SSAValue:
        name = f"c{value}i{word.width.data}"
        if name in self.derived:
            return self.derived[name]
        return self._add(name, constant(integer_attr(value, word)))

    def multiple(self, count: int) -> SSAValue:
        """`count * q`."""
        if count == 1:
            return self.q
        name = f"q{count}"
        if name in self.derived:
            return self.derived[name]
        return self._add(name, binary(arith.MuliOp, self.q, self.constant(count, self.word)))

    def minus_q(self) -> SSAValue:
        """-q modulo the word."""
        if "q_minus" in self.derived:
            return self.derived["q_minus"]
        return self._add("q_minus", binary(arith.SubiOp, self.constant(0, self.word), self.q))

    def minus_multiple(self, count: int) -> SSAValue:
        """`-count * q`."""
        name = f"q_minus{count}"
        if name in self.derived:
            return self.derived[name]
        zero, multiple = self.constant(0, self.word), self.multiple(count)
        return self._add(name, binary(arith.SubiOp, zero, multiple))

    def wide_signed(self) -> SSAValue:
        """q as an i64, for the products of signed 32-bit words."""
        if "q_wide" in self.derived:
            return self.derived["q_wide"]
        return self._add("q_wide", arith.ExtSIOp(self.q, i64))

    def half(self) -> SSAValue:
        """(q - 1) / 2."""
        if "q_half" in self.derived:
            return self.derived["q_half"]
        one = self.constant(1, self.word)
        return self._add("q_half", binary(arith.ShRUIOp, self.q, one))

    def wide(self) -> SSAValue:
        """q as an i64, for the products of 32-bit words."""
        if "q_wide" in self.derived:
            return self.derived["q_wide"]
        return self._add("q_wide", arith.ExtUIOp(self.q, i64))

    def _add(self, name: str, operation: Operation) -> SSAValue:
        result = operation.results[0]
        result.name_hint = name
        operation.location = self.op.location
        block = self.op.parent
        assert block is not None
        block.insert_op_after(operation, self.last)
        self.last = operation
        self.derived[name] = result
        return result


class _Expander:
    """Expands the zq ops of one kernel in one walk, in the order of the text."""

    def __init__(self) -> None:
        self.moduli: dict[SSAValue, _Modulus] = {}
        # What the zq op at hand expands to.
        self.new: list[Operation] = []

    def expand(self, block: Block) -> None:
        self._expand_block(block)
        for modulus in self.moduli.values():
            modulus.op.detach()
            modulus.op.erase()

    def _expand_block(self, block: Block) -> None:
        op = block.first_op
        while op is not None:
            following = op.next_op
            # Classes are compared: `isinstance` takes long for those of xDSL.
            if type(op) is zq.ModulusOp:
                self.moduli[op.result] = _Modulus(op, op)
            elif type(op) in _EXPANDED:
                self._replace(block, op)
            for region in op.regions:
                for inner in region.blocks:
                    self._expand_block(inner)
            op = following

    def _replace(self, block: Block, op: Operation) -> None:
        self.new = []
        # The modulus is the last operand of all of them.
        *words, last = op.operands
        modulus = self._modulus(op, last)
        arithmetic = modulus.arithmetic
        expand = self._on_signed if arithmetic.signed else self._on_integers
        if arithmetic.floating:
            expand = self._on_doubles
        result = expand(op, words, modulus)
        for new in self.new:
            new.location = op.location
        block.insert_ops_before(self.new, op)
        old = op.results[0]
        # A reduction without steps hands back its operand, which keeps the name that it has.
        if old.name_hint is not None and self.new:
            result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
        op.detach()
        op.erase()

    def _on_integers(self, op: Operation, words: Sequence[SSAValue], modulus: _Modulus) -> SSAValue:
        first = words[0]
        if type(op) is zq.AddOp:
            return self._emit(binary(arith.AddiOp, first, words[1]))
        if type(op) is zq.SubOp:
            lift = binary(arith.SubiOp, modulus.multiple(op.offset.value.data), words[1])
            return self._emit(binary(arith.AddiOp, first, self._emit(lift, "lift")))
        if type(op) is zq.ReduceOp:
            return self._reduce(first, modulus, op.steps())
        if type(op) is zq.MulOp:
            multiply = self._mont32 if first.type == i32 else self._mont64
            return multiply(first, words[1], modulus)
        if type(op) is zq.MulShoupOp:
            return self._shoup(first, words[1], words[2], modulus)
        raise AssertionError(op.name)

    def _on_signed(self, op: Operation, words: Sequence[SSAValue], modulus: _Modulus) -> SSAValue:
        del words
        match op:
            case zq.AddOp():
                return self._emit(binary(arith.AddiOp, op.lhs, op.rhs))
            case zq.SubOp():
                return self._emit(binary(arith.SubiOp, op.lhs, op.rhs))
            case zq.MulOp():
                return self._signed_product(op.lhs, op.rhs, modulus)
            case zq.ReduceOp():
                value = self._towards_zero(op.value, modulus, op.steps())
                centred = op.to.value.data == 1 < op.from_.value.data
                return self._centred(value, modulus) if centred else value
            case zq.CanonicalOp():
                first, *others = op.steps()
                lifted = self._emit(binary(arith.AddiOp, op.value, modulus.multiple(first)))
                # A negative word is a large unsigned one, and what it becomes is not.
                positive = self._emit(binary(arith.MinUIOp, op.value, lifted))
                return self._reduce(positive, modulus, others)
            case _:
                raise AssertionError(op.name)

    def _signed_product(self, lhs: SSAValue, rhs: SSAValue, modulus: _Modulus) -> SSAValue:
        """`lhs * rhs / 2^32 mod q`: the upper half of `lhs * rhs - m * q`, whose lower half is 0 for
        `m = lhs * rhs * q^-1 mod 2^32`, in the interval of signed words."""
        q_wide, shift = modulus.wide_signed(), modulus.constant(32, i64)
        wide = binary(arith.MuliOp, self._widen_signed(lhs), self._widen_signed(rhs))
        product = self._emit(wide, "product")
        low = self._emit(arith.TruncIOp(product, i32), "low")
        m = self._emit(binary(arith.MuliOp, low, modulus.q_inverse), "m")
        multiple = self._emit(binary(arith.MuliOp, self._widen_signed(m), q_wide), "mq")
        high, subtrahend = self._high(product, shift), self._high(multiple, shift)
        return self._emit(binary(arith.SubiOp, high, subtrahend))

    def _towards_zero(self, value: SSAValue, modulus: _Modulus, steps: Sequence[int]) -> SSAValue:
        """Adds multiples of q to negative words and subtracts them from others."""
        for step in steps:
            zero = modulus.constant(0, modulus.word)
            negative = self._emit(arith.CmpiOp(value, zero, "slt"), "negative")
            up, down = modulus.multiple(step), modulus.minus_multiple(step)
            moved = self._emit(arith.SelectOp(negative, up, down))
            value = self._emit(binary(arith.AddiOp, value, moved))
        return value

    def _centred(self, value: SSAValue, modulus: _Modulus) -> SSAValue:
        """The centred residue of a word of [-3/2 q, 3/2 q): with q/2 added, it is at least -q and below 2q."""
        shifted = self._emit(binary(arith.AddiOp, value, modulus.half()))
        lifted = self._emit(binary(arith.AddiOp, shifted, modulus.q))
        positive = self._emit(binary(arith.MinUIOp, shifted, lifted))
        reduced = self._reduce(positive, modulus, (1,))
        return self._emit(binary(arith.SubiOp, reduced, modulus.half()))

    def _on_doubles(self, op: Operation, words: Sequence[SSAValue], modulus: _Modulus) -> SSAValue:
        del words
        match op:
            case zq.AddOp():
                return self._emit(binary(arith.AddfOp, op.lhs, op.rhs))
            case zq.SubOp():
                return self._emit(binary(arith.SubfOp, op.lhs, op.rhs))
            case zq.ReduceOp():
                return self._remainder(op.value, modulus)
            case zq.MulOp():
                return self._float_product(op, modulus)
            case zq.ToFloatOp():
                bits = binary(arith.OrIOp, op.value, modulus.constant(_TWO_52_BITS, i64))
                double = arith.BitcastOp(self._emit(bits), f64)
                two_52 = modulus.double("two_52", 2.0**52)
                return self._emit(binary(arith.SubfOp, self._emit(double), two_52))
            case zq.ToIntegerOp():
                return self._to_integer(op.value, modulus)
            case _:
                raise AssertionError(op.name)

    def _float_product(self, op: zq.MulOp, modulus: _Modulus) -> SSAValue:
        """`lhs * rhs - c * q` with c the integer next to `fl(lhs * rhs) * fl(1/q)`.

        The product is h + l exactly, h its rounded value. Both h - c*q and the sum with l are
        small integers, so that no step behind the rounding of the quotient rounds.
        """
        lhs, rhs = op.lhs, op.rhs
        high = self._emit(binary(arith.MulfOp, lhs, rhs), "high")
        rounded = self._emit(math.FmaOp(high, modulus.q_inverse, modulus.magic()))
        count = self._emit(binary(arith.SubfOp, rounded, modulus.magic()), "count")
        minus_high = self._emit(binary(arith.MulfOp, high, modulus.minus_one()))
        low = self._emit(math.FmaOp(lhs, rhs, minus_high), "low")
        rest = self._emit(math.FmaOp(count, modulus.negative(), high), "rest")
        return self._emit(binary(arith.AddfOp, rest, low))

    def _remainder(self, value: SSAValue, modulus: _Modulus) -> SSAValue:
        """The centred residue: the value minus q times its rounded quotient, which is exact."""
        magic = modulus.magic()
        rounded = self._emit(math.FmaOp(value, modulus.q_inverse, magic))
        count = self._emit(binary(arith.SubfOp, rounded, magic), "count")
        return self._emit(math.FmaOp(count, modulus.negative(), value))

    def _to_integer(self, value: SSAValue, modulus: _Modulus) -> SSAValue:
        """The centred word as a signed integer, plus q if that is negative: doubles are few, other units are free."""
        lifted = self._emit(binary(arith.AddfOp, value, modulus.magic()))
        bits = self._emit(arith.BitcastOp(lifted, i64))
        signed = self._emit(binary(arith.SubiOp, bits, modulus.constant(_MAGIC_BITS, i64)))
        zero = modulus.constant(0, i64)
        negative = self._emit(arith.CmpiOp(signed, zero, "slt"))
        moved = self._emit(arith.SelectOp(negative, modulus.integer(), zero))
        return self._emit(binary(arith.AddiOp, signed, moved))

    def _modulus(self, op: Operation, value: SSAValue) -> _Modulus:
        found = self.moduli.get(value)
        if found is None:
            raise FheliumError(
                f"convert-zq-to-arith: the modulus of '{op.name}' must come from a zq.modulus "
                "of the same kernel",
                location_of(op),
            )
        return found

    def _emit(self, op: Operation, hint: str | None = None) -> SSAValue:
        self.new.append(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def _reduce(self, value: SSAValue, modulus: _Modulus, steps: Sequence[int]) -> SSAValue:
        for step in steps:
            less = self._emit(binary(arith.SubiOp, value, modulus.multiple(step)), "less")
            value = self._emit(binary(arith.MinUIOp, value, less))
        return value

    def _mont64(self, lhs: SSAValue, rhs: SSAValue, modulus: _Modulus) -> SSAValue:
        """`lhs * rhs / 2^64 mod q` by two wide products.

        With R = 2^64, `lhs * rhs = hi*R + lo` and `m = lo * q^-1 mod R`, the product
        `m*q = mh*R + ml` has `ml = lo * q^-1 * q = lo (mod R)`. The low words cancel in
        `lhs * rhs - m*q = (hi - mh)*R`, so `hi - mh` is `lhs * rhs / R mod q` without a carry. As
        `0 <= m*q < R*q`, `hi - mh` lies in (-q, lhs*rhs/R], and `hi + q - mh` in
        [1, q + lhs*rhs/R].
        """
        product = wide_product(lhs, rhs)
        self._emit(product, "low")
        low, high = product.results
        m = self._emit(binary(arith.MuliOp, low, modulus.q_inverse), "m")
        correction = wide_product(m, modulus.q)
        self._emit(correction)
        mq_high = correction.results[1]
        high.name_hint, mq_high.name_hint = "high", "mq_high"
        lifted = self._emit(binary(arith.AddiOp, high, modulus.q), "lifted")
        return self._emit(binary(arith.SubiOp, lifted, mq_high))

    def _mont32(self, lhs: SSAValue, rhs: SSAValue, modulus: _Modulus) -> SSAValue:
        """`lhs * rhs / 2^32 mod q` as in `_mont64`; wide products are i64 products."""
        q_wide, shift = modulus.wide(), modulus.constant(32, i64)
        product = self._emit(binary(arith.MuliOp, self._widen(lhs), self._widen(rhs)), "product")
        low = self._emit(conversion(arith.TruncIOp, product, i32), "low")
        m = self._emit(binary(arith.MuliOp, low, modulus.q_inverse), "m")
        correction = self._emit(binary(arith.MuliOp, self._widen(m), q_wide), "mq")
        lifted = self._emit(binary(arith.AddiOp, self._high(product, shift), modulus.q), "lifted")
        return self._emit(binary(arith.SubiOp, lifted, self._high(correction, shift)))

    def _shoup(
        self, value: SSAValue, factor: SSAValue, quotient: SSAValue, modulus: _Modulus
    ) -> SSAValue:
        """`value * factor - count * q` with `count = floor(value * quotient / R)`.

        The difference lies in [0, 2q) and so in the word: low halves are all that is wanted of both
        products.
        """
        if value.type == i32:
            estimate = binary(arith.MuliOp, self._widen(value), self._widen(quotient))
            count = self._high(self._emit(estimate, "estimate"), modulus.constant(32, i64))
        else:
            product = wide_product(value, quotient)
            self._emit(product)
            count = product.results[1]
        count.name_hint = "count"
        whole = self._emit(binary(arith.MuliOp, value, factor), "product")
        # Adding is for machines that multiply and add at once.
        multiple = self._emit(binary(arith.MuliOp, count, modulus.minus_q()), "multiple")
        return self._emit(binary(arith.AddiOp, whole, multiple))

    def _widen(self, word: SSAValue) -> SSAValue:
        return self._emit(conversion(arith.ExtUIOp, word, i64), "wide")

    def _widen_signed(self, word: SSAValue) -> SSAValue:
        return self._emit(arith.ExtSIOp(word, i64), "wide")

    def _high(self, wide: SSAValue, shift: SSAValue) -> SSAValue:
        shifted = self._emit(binary(arith.ShRUIOp, wide, shift))
        return self._emit(conversion(arith.TruncIOp, shifted, i32), "high")
