"""Operations on words, made without what their constructors check and sort out, which takes twice as long as the rest.

The verifier checks the same.
"""

from __future__ import annotations

from typing import TypeVar

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

O = TypeVar("O", bound=Operation)  # noqa: E741


def binary(kind: type[O], lhs: SSAValue, rhs: SSAValue) -> O:
    """An operation whose two operands and one result have the same type."""
    return kind.create(operands=(lhs, rhs), result_types=(lhs.type,))


def wide_product(lhs: SSAValue, rhs: SSAValue) -> arith.MulUIExtendedOp:
    """Both words of an unsigned product."""
    return arith.MulUIExtendedOp.create(operands=(lhs, rhs), result_types=(lhs.type, lhs.type))
