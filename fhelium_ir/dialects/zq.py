"""`zq`: arithmetic modulo a prime q on one machine word.

Every value is a signless integer word that stands for a residue; how far it may exceed q (its lazy interval) is known
to the producer and appears here only as integer attributes. `convert-zq-to-arith` expands each op to `arith`.

Montgomery products follow Montgomery, "Modular multiplication without trial division" (1985), with R = 2^word:
`mul(a, b) = a * b / R mod q`, and the result lies in [1, q + a*b/R], below 2q whenever a*b < q*R.
"""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, IntegerType, StringAttr, i64
from xdsl.ir import Dialect, ParametrizedAttribute, SSAValue, TypeAttribute
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


@dataclass(frozen=True)
class Arithmetic:
    """A way to multiply modulo q: its name, the width of its word in bits and its Montgomery radix R = 2^radix_bits."""

    name: str
    word_bits: int
    radix_bits: int

    @property
    def radix(self) -> int:
        return 1 << self.radix_bits

    @property
    def word(self) -> IntegerType:
        return IntegerType(self.word_bits)

    def admits(self, q: int, interval: int = 4) -> bool:
        """Whether words below `interval * q` fit and a product of one such word with a reduced one stays below 2q."""
        return interval * q <= 1 << self.word_bits and interval * q <= self.radix


ARITHMETICS: dict[str, Arithmetic] = {
    "mont32": Arithmetic("mont32", 32, 32),
    "mont64": Arithmetic("mont64", 64, 64),
}


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


_WORD = base(IntegerType)


@irdl_op_definition
class ModulusOp(IRDLOperation):
    """Bundles q with q^-1 mod R, both one word, into a modulus that the other ops take."""

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
        super().__init__(operands=[lhs, rhs, modulus], result_types=[lhs.type])


@irdl_op_definition
class SubOp(BinaryZqOp):
    """`lhs - rhs + offset * q` with no reduction; rhs must be below `offset * q`, so the result is never negative."""

    name = "zq.sub"
    offset = prop_def(IntegerAttr[I64])
    assembly_format = (
        "$lhs `,` $rhs `mod` $modulus `offset` $offset attr-dict "
        "`:` type($result) `,` type($modulus)"
    )

    def __init__(self, lhs: SSAValue, rhs: SSAValue, modulus: SSAValue, offset: int):
        super().__init__(
            operands=[lhs, rhs, modulus],
            result_types=[lhs.type],
            properties={"offset": IntegerAttr(offset, i64)},
        )

    def verify_(self) -> None:
        super().verify_()
        if self.offset.value.data < 1:
            raise VerifyException("zq.sub: offset must be at least 1")


@irdl_op_definition
class MulOp(BinaryZqOp):
    """Montgomery product `lhs * rhs / R mod q`, at most `q + lhs * rhs / R`, which must fit the word."""

    name = "zq.mul"
    assembly_format = "$lhs `,` $rhs `mod` $modulus attr-dict `:` type($result) `,` type($modulus)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue, modulus: SSAValue):
        super().__init__(operands=[lhs, rhs, modulus], result_types=[lhs.type])


@irdl_op_definition
class ReduceOp(IRDLOperation):
    """Brings a word below `from * q` under `to * q` by conditional subtractions."""

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
        super().__init__(
            operands=[value, modulus],
            result_types=[value.type],
            properties={"from": IntegerAttr(from_, i64), "to": IntegerAttr(to, i64)},
        )

    def verify_(self) -> None:
        _check_word(self.value, self.modulus)
        if not 1 <= self.to.value.data <= self.from_.value.data:
            raise VerifyException("zq.reduce: needs 1 <= to <= from")

    def steps(self) -> tuple[int, ...]:
        """The multiples of q to subtract conditionally, in order: [0, f) becomes [0, max(to, ceil(f/2)))."""
        bound, target, out = self.from_.value.data, self.to.value.data, list[int]()
        while bound > target:
            bound = max(target, (bound + 1) // 2)
            out.append(bound)
        return tuple(out)


def _check_word(word: SSAValue, modulus: SSAValue) -> None:
    assert isinstance(modulus.type, ModulusType)
    expected = modulus.type.arithmetic.word
    if word.type != expected:
        raise VerifyException(
            f"{modulus.type.arithmetic.name} works on {expected}, found {word.type}"
        )


Zq = Dialect("zq", [ModulusOp, AddOp, SubOp, MulOp, ReduceOp], [ModulusType])
