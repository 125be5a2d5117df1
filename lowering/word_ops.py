"""Operations on words, made without what their constructors check and sort out, which takes twice as long as the rest.

The verifier checks the same.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

O = TypeVar("O", bound=Operation)  # noqa: E741


def binary(kind: type[O], lhs: SSAValue, rhs: SSAValue) -> O:
    """An operation whose two operands and one result have the same type."""
    return kind.create(operands=(lhs, rhs), result_types=(lhs.type,))


def conversion(kind: type[O], value: SSAValue, to: Attribute) -> O:
    """A word as one of another type."""
    return kind.create(operands=(value,), result_types=(to,))


def constant(value: IntegerAttr | FloatAttr) -> arith.ConstantOp:
    """A constant of the attribute's type."""
    return arith.ConstantOp.create(result_types=(value.type,), properties={"value": value})


@lru_cache(4096)
def integer_attr(value: int, type_: IntegerType) -> IntegerAttr[IntegerType]:
    """A number as an attribute; making one takes long, and few are different."""
    return IntegerAttr(value, type_)


def wide_product(lhs: SSAValue, rhs: SSAValue) -> arith.MulUIExtendedOp:
    """Both words of an unsigned product."""
    return arith.MulUIExtendedOp.create(operands=(lhs, rhs), result_types=(lhs.type, lhs.type))
