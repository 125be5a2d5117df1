"""Sums and differences with a product of signed words, printed as sums of three words.

Such a product ends with the difference of two high words, and a butterfly adds it to a word and subtracts it from that.
GPUs add three words in one instruction, signs included: so each of the two takes the high words themselves.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue


def folded(op: Operation) -> bool:
    """Whether an op is such a difference that all users take apart."""
    if not isinstance(op, arith.SubiOp) or op.result.first_use is None:
        return False
    if not all(isinstance(word.owner, arith.TruncIOp) for word in op.operands):
        return False
    return all(
        isinstance(use.operation, arith.AddiOp | arith.SubiOp)
        and use.index == 1
        # The first term of two differences would have to be computed.
        and use.operation.operands[0] is not op.result
        for use in op.result.uses
    )


def three_terms(op: Operation) -> tuple[SSAValue, str, SSAValue, str, SSAValue] | None:
    """`a + b - c` or `a - b + c` that a sum or difference of a and such a difference is, with its signs."""
    if not isinstance(op, arith.AddiOp | arith.SubiOp):
        return None
    inner = op.rhs.owner
    if not isinstance(inner, arith.SubiOp) or not folded(inner):
        return None
    signs = ("+", "-") if isinstance(op, arith.AddiOp) else ("-", "+")
    return op.lhs, signs[0], inner.lhs, signs[1], inner.rhs
