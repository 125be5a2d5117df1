"""`slots`: differences of slots, above the `ckks` dialect."""

from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import Dialect
from xdsl.irdl import (
    IRDLOperation,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects import ckks


@irdl_op_definition
class DifferenceOp(IRDLOperation):
    """How much slots grow from left to right: slot j is x[j + steps] - x[j]."""

    name = "slots.difference"
    T: ClassVar = VarConstraint("T", base(ckks.CiphertextType))
    operand = operand_def(T)
    steps = prop_def(IntegerAttr[I64])
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$operand `by` $steps attr-dict `:` type($result)"

    def verify_(self) -> None:
        if self.steps.value.data < 1:
            raise VerifyException("slots.difference: steps must be at least 1")


Slots = Dialect("slots", [DifferenceOp], [])
