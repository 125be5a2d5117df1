"""`zq`: arithmetic modulo a prime q on one machine word.

Every value is a word that stands for a residue; how far it may exceed q (its lazy interval) is known to the producer
and appears here only as integer attributes. `convert-zq-to-arith` expands each op to `arith`.

In the Montgomery arithmetics words are signless integers, and products follow Montgomery, "Modular multiplication
without trial division" (1985), with R = 2^word: `mul(a, b) = a * b / R mod q`, and the result lies in
[1, q + a*b/R], below 2q whenever a*b < q*R. A factor that is known in advance may come with its
quotient by q instead: `mul_shoup`.

In `smont32` these words are read as signed integers in an interval around 0, which saves the multiples of q that keep
unsigned differences from becoming negative: `mul(a, b)` is at most `q/2 + |a*b|/R` in magnitude (docs/numerics.md,
"Signed words").

In `fp64` words are doubles that hold signed integers, R is 1, and a product is reduced with the rounded quotient
(docs/numerics.md, "Floating-point words").
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import (
    I64,
    Float64Type,
    IntegerAttr,
    IntegerType,
    StringAttr,
    f64,
    i32,
    i64,
)
from xdsl.ir import Dialect, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

WordType: TypeAlias = IntegerType | Float64Type

FLOAT_PRIME_BITS = 50
"""Primes of `fp64` are below 2^50: two bits of a double's 53 remain for lazy sums and the sign."""


@dataclass(frozen=True)
class Arithmetic:
    """A way to multiply modulo q: its name, the width of its word in bits and its Montgomery radix R = 2^radix_bits.

    Words are unsigned integers, with `signed` signed ones, or with `floating` doubles that hold signed integers.
    `interface`: how types spell the canonical integers in which residues cross the interface of a program, where these
    are other words than those inside.
    """

    name: str
    word_bits: int
    radix_bits: int
    floating: bool = False
    signed: bool = False
    interface: str = ""

    @property
    def radix(self) -> int:
        return 1 << self.radix_bits

    @property
    def word(self) -> WordType:
        return f64 if self.floating else IntegerType(self.word_bits)

    @property
    def prime_bits(self) -> int:
        """Admitted primes are below 2^prime_bits."""
        return FLOAT_PRIME_BITS if self.floating else self.word_bits - 2

    def admits(self, q: int) -> bool:
        """Whether words of four times q fit, and a product of one with a reduced one is below 2q."""
        return q < 1 << self.prime_bits


FLOATING = "fp64"
"""The arithmetic on doubles."""

SIGNED = "smont32"
"""Montgomery's arithmetic on signed words."""

INTERFACE_WORD = "int64"
"""How types spell canonical 64-bit integers, the form in which values cross the interface of an `fp64` program."""

SIGNED_INTERFACE_WORD = "int32"
"""The same of a `smont32` program: canonical integers, which are signed words as well."""

ARITHMETICS: dict[str, Arithmetic] = {
    "mont32": Arithmetic("mont32", 32, 32),
    SIGNED: Arithmetic(SIGNED, 32, 32, signed=True, interface=SIGNED_INTERFACE_WORD),
    FLOATING: Arithmetic(FLOATING, 64, 0, floating=True, signed=True, interface=INTERFACE_WORD),
    "mont64": Arithmetic("mont64", 64, 64),
}

INTERFACE_WORDS = {a.interface: a for a in ARITHMETICS.values() if a.interface}
"""The words that only cross interfaces, and the arithmetics of their programs."""

FLOATING_WORDS = (FLOATING, INTERFACE_WORD)
"""The representatives of an `fp64` program; R is 1 in both, so all exponents are 0."""


def arithmetic_of(words: str | None) -> Arithmetic | None:
    """The arithmetic of a program that has such words, inside or at its interface; None for no known ones."""
    if words is None:
        return None
    return INTERFACE_WORDS.get(words) or ARITHMETICS.get(words)


def are_signed(words: str | None) -> bool:
    """Whether a program with such words computes on words with a sign."""
    arithmetic = arithmetic_of(words)
    return arithmetic is not None and arithmetic.signed


@irdl_attr_definition
class ModulusType(ParametrizedAttribute, TypeAttribute):
    """A prime together with what its arithmetic needs; spelt `!zq.modulus<mont64>`."""

    name = "zq.modulus"
    arithmetic_name: StringAttr

    @staticmethod
    def of(arithmetic: Arithmetic) -> ModulusType:
        return ModulusType(StringAttr(arithmetic.name))

    @property
    def arithmetic(self) -> Arithmetic:
        return ARITHMETICS[self.arithmetic_name.data]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[StringAttr]:
        with parser.in_angle_brackets():
            position = parser.pos
            name = parser.parse_identifier()
            if name not in ARITHMETICS:
                parser.raise_error(
                    f"unknown arithmetic '{name}', expected one of {', '.join(ARITHMETICS)}",
                    position,
                    parser.pos,
                )
        return [StringAttr(name)]

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.arithmetic_name.data)

    def verify(self) -> None:
        if self.arithmetic_name.data not in ARITHMETICS:
            raise VerifyException(f"unknown arithmetic '{self.arithmetic_name.data}'")


_WORD = base(IntegerType) | base(Float64Type)


@irdl_op_definition
class ModulusOp(IRDLOperation):
    """Bundles q with q^-1 mod R, both one word, into a modulus that the other ops take; for `fp64` with 1/q rounded."""

    name = "zq.modulus"
    T: ClassVar = VarConstraint("T", _WORD)
    q = operand_def(T)
    q_inverse = operand_def(T)
    result = result_def(ModulusType)
    traits = traits_def(Pure())
    assembly_format = "$q `,` $q_inverse attr-dict `:` type($q) `->` type($result)"

    def __init__(self, q: SSAValue, q_inverse: SSAValue, arithmetic: Arithmetic):
        super().__init__(operands=[q, q_inverse], result_types=[ModulusType.of(arithmetic)])

    def verify_(self) -> None:
        _check_word(self.q, self.result)


class BinaryZqOp(IRDLOperation, ABC):
    """Two residues of one modulus to one."""

    T: ClassVar = VarConstraint("T", _WORD)
    lhs = operand_def(T)
    rhs = operand_def(T)
    modulus = operand_def(ModulusType)
    result = result_def(T)
    traits = traits_def(Pure())

    def verify_(self) -> None:
        _check_word(self.lhs, self.modulus)


@irdl_op_definition
class AddOp(BinaryZqOp):
    """`lhs + rhs` with no reduction: the intervals add up."""

    name = "zq.add"
    assembly_format = "$lhs `,` $rhs `mod` $modulus attr-dict `:` type($result) `,` type($modulus)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue, modulus: SSAValue):
        Operation.__init__(self, operands=[lhs, rhs, modulus], result_types=[lhs.type])


@lru_cache(1024)
def _number(value: int) -> IntegerAttr[I64]:
    """A number as a property; making one takes longer than the operation, and few are different."""
    return IntegerAttr(value, i64)


@irdl_op_definition
class SubOp(BinaryZqOp):
    """`lhs - rhs + offset * q` with no reduction; rhs must be below `offset * q`, so the result is never negative.

    Words of `fp64` and `smont32` have a sign: their offset is 0.
    """

    name = "zq.sub"
    offset = prop_def(IntegerAttr[I64])
    assembly_format = (
        "$lhs `,` $rhs `mod` $modulus `offset` $offset attr-dict "
        "`:` type($result) `,` type($modulus)"
    )

    def __init__(self, lhs: SSAValue, rhs: SSAValue, modulus: SSAValue, offset: int):
        Operation.__init__(
            self,
            operands=[lhs, rhs, modulus],
            result_types=[lhs.type],
            properties={"offset": _number(offset)},
        )

    def verify_(self) -> None:
        super().verify_()
        offset = self.offset.value.data
        assert isinstance(self.modulus.type, ModulusType)
        arithmetic = self.modulus.type.arithmetic
        if arithmetic.signed:
            if offset != 0:
                raise VerifyException(
                    f"zq.sub: words of {arithmetic.name} have a sign, their offset is 0"
                )
        elif offset < 1:
            raise VerifyException("zq.sub: offset must be at least 1")


@irdl_op_definition
class MulOp(BinaryZqOp):
    """Montgomery product `lhs * rhs / R mod q`, at most `q + lhs * rhs / R`, which must fit the word.

    For `smont32`, `(lhs * rhs - m * q) / R` with m = lhs * rhs / q mod R, a signed word: at most
    `q/2 + |lhs * rhs| / R` in magnitude, for any words.

    For `fp64` the product minus q times its rounded quotient, which must be at most 2^51 in magnitude.
    """

    name = "zq.mul"
    assembly_format = "$lhs `,` $rhs `mod` $modulus attr-dict `:` type($result) `,` type($modulus)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue, modulus: SSAValue):
        Operation.__init__(self, operands=[lhs, rhs, modulus], result_types=[lhs.type])


@irdl_op_definition
class MulShoupOp(IRDLOperation):
    """`value * factor mod q`, below 2q for any value, by a factor below q that is known in advance.

    With R = 2^word, `quotient` is `floor(factor * R / q)`, and the result is
    `value * factor - floor(value * quotient / R) * q` (Shoup; Harvey, "Faster arithmetic for number-theoretic
    transforms", 2014). The factor is a plain residue, so the result has the value's Montgomery exponent.
    """

    name = "zq.mul_shoup"
    T: ClassVar = VarConstraint("T", _WORD)
    value = operand_def(T)
    factor = operand_def(T)
    quotient = operand_def(T)
    modulus = operand_def(ModulusType)
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = (
        "$value `,` $factor `,` $quotient `mod` $modulus attr-dict "
        "`:` type($result) `,` type($modulus)"
    )

    def __init__(self, value: SSAValue, factor: SSAValue, quotient: SSAValue, modulus: SSAValue):
        Operation.__init__(
            self, operands=[value, factor, quotient, modulus], result_types=[value.type]
        )

    def verify_(self) -> None:
        _check_word(self.value, self.modulus)
        assert isinstance(self.modulus.type, ModulusType)
        arithmetic = self.modulus.type.arithmetic
        if arithmetic.floating:
            raise VerifyException("zq.mul_shoup: works on integers, words of fp64 are doubles")
        if arithmetic.signed:
            raise VerifyException(
                f"zq.mul_shoup: works on unsigned words, those of {arithmetic.name} have a sign"
            )


def towards_zero(below: int) -> tuple[int, int]:
    """A step k that halves the interval of a signed word, as nearly as multiples of q can, and that interval.

    Words of [-below * q/2, below * q/2) are in [-b * q/2, b * q/2) with b = max(2k, below - 2k), after k * q has been
    added to negative ones and subtracted from others. Takes `below` of at least 3.
    """
    step = (below + 2) // 4
    return step, max(2 * step, below - 2 * step)


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Brings a word below `from * q` under `to * q` by conditional subtractions.

    For `smont32`, a word of [-from * q/2, from * q/2) to such an interval of `to`, by adding a multiple of q to
    negative words and subtracting it from others; with `to` 1 it becomes the centred residue.

    For `fp64`, a word of at most `from * q/2`, whose magnitude must be below 2^52, becomes the centred residue; `to`
    is 1.
    """

    name = "zq.reduce"
    T: ClassVar = VarConstraint("T", _WORD)
    value = operand_def(T)
    modulus = operand_def(ModulusType)
    from_ = prop_def(IntegerAttr[I64], prop_name="from")
    to = prop_def(IntegerAttr[I64])
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = (
        "$value `mod` $modulus `from` $from `to` $to attr-dict `:` type($result) `,` type($modulus)"
    )

    def __init__(self, value: SSAValue, modulus: SSAValue, from_: int, to: int):
        Operation.__init__(
            self,
            operands=[value, modulus],
            result_types=[value.type],
            properties={"from": _number(from_), "to": _number(to)},
        )

    def verify_(self) -> None:
        _check_word(self.value, self.modulus)
        if not 1 <= self.to.value.data <= self.from_.value.data:
            raise VerifyException("zq.reduce: needs 1 <= to <= from")
        assert isinstance(self.modulus.type, ModulusType)
        if self.modulus.type.arithmetic.floating and self.to.value.data != 1:
            raise VerifyException("zq.reduce: words of fp64 are reduced to 1")

    def steps(self) -> tuple[int, ...]:
        """The multiples of q to subtract conditionally, in order: [0, f) becomes [0, max(to, ceil(f/2))).

        Of a signed word those to move towards 0, see `towards_zero`; 1 is reached from 3 or less, by other means.
        """
        bound, target, out = self.from_.value.data, self.to.value.data, list[int]()
        assert isinstance(self.modulus.type, ModulusType)
        if self.modulus.type.arithmetic.signed:
            while bound > max(target, 3 if target == 1 else 2):
                step, bound = towards_zero(bound)
                out.append(step)
            return tuple(out)
        while bound > target:
            bound = max(target, (bound + 1) // 2)
            out.append(bound)
        return tuple(out)


@irdl_op_definition
class ToFloatOp(IRDLOperation):
    """The canonical integer of [0, q), below 2^52, as a word of `fp64`."""

    name = "zq.to_float"
    value = operand_def(i64)
    modulus = operand_def(ModulusType)
    result = result_def(f64)
    traits = traits_def(Pure())
    assembly_format = "$value `mod` $modulus attr-dict `:` type($modulus)"

    def __init__(self, value: SSAValue, modulus: SSAValue):
        Operation.__init__(self, operands=[value, modulus], result_types=[f64])

    def verify_(self) -> None:
        _check_word(self.result, self.modulus)


@irdl_op_definition
class ToIntegerOp(IRDLOperation):
    """The centred residue that a word of `fp64` holds as the canonical integer of [0, q)."""

    name = "zq.to_integer"
    value = operand_def(f64)
    modulus = operand_def(ModulusType)
    result = result_def(i64)
    traits = traits_def(Pure())
    assembly_format = "$value `mod` $modulus attr-dict `:` type($modulus)"

    def __init__(self, value: SSAValue, modulus: SSAValue):
        Operation.__init__(self, operands=[value, modulus], result_types=[i64])

    def verify_(self) -> None:
        _check_word(self.value, self.modulus)


@irdl_op_definition
class CanonicalOp(IRDLOperation):
    """The canonical integer of [0, q) of a word of `smont32` in [-from * q/2, from * q/2)."""

    name = "zq.canonical"
    value = operand_def(i32)
    modulus = operand_def(ModulusType)
    from_ = prop_def(IntegerAttr[I64], prop_name="from")
    result = result_def(i32)
    traits = traits_def(Pure())
    assembly_format = "$value `mod` $modulus `from` $from attr-dict `:` type($modulus)"

    def __init__(self, value: SSAValue, modulus: SSAValue, from_: int):
        Operation.__init__(
            self,
            operands=[value, modulus],
            result_types=[i32],
            properties={"from": IntegerAttr(from_, i64)},
        )

    def verify_(self) -> None:
        assert isinstance(self.modulus.type, ModulusType)
        arithmetic = self.modulus.type.arithmetic
        if arithmetic.name != SIGNED:
            raise VerifyException(f"zq.canonical: works on {SIGNED}, found {arithmetic.name}")
        if self.from_.value.data < 1:
            raise VerifyException("zq.canonical: needs from of at least 1")

    def steps(self) -> tuple[int, ...]:
        """The multiples of q: the first is added to negative words, the others are subtracted conditionally."""
        bound = -(-self.from_.value.data // 2)
        out = [bound]
        while bound > 1:
            bound = (bound + 1) // 2
            out.append(bound)
        return tuple(out)


def _check_word(word: SSAValue, modulus: SSAValue) -> None:
    assert isinstance(modulus.type, ModulusType)
    expected = modulus.type.arithmetic.word
    if word.type != expected:
        raise VerifyException(
            f"{modulus.type.arithmetic.name} works on {expected}, found {word.type}"
        )


Zq = Dialect(
    "zq",
    [ModulusOp, AddOp, SubOp, MulOp, MulShoupOp, ReduceOp, CanonicalOp, ToFloatOp, ToIntegerOp],
    [ModulusType],
)
