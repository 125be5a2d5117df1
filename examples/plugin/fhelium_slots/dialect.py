"""`slots`: sums over slots, above the `ckks` dialect."""

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
class SumOp(IRDLOperation):
    """Adds to each slot its `count - 1` right neighbours; `count` is a power of two."""

    name = "slots.sum"
    T: ClassVar = VarConstraint("T", base(ckks.CiphertextType))
    operand = operand_def(T)
    count = prop_def(IntegerAttr[I64])
    result = result_def(T)
    traits = traits_def(Pure())
    assembly_format = "$operand `over` $count attr-dict `:` type($result)"

    def verify_(self) -> None:
        count = self.count.value.data
        if count < 1 or count & (count - 1):
            raise VerifyException(f"slots.sum: {count} is not a power of two")


Slots = Dialect("slots", [SumOp], [])
