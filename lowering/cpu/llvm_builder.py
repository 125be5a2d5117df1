"""Short constructors for operations of xDSL's `llvm` dialect.

`Operation.create` skips the argument processing of the generated constructors, which takes several
times as long as everything else here: large kernels have thousands of operations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntegerAttr,
    IntegerType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

POINTER = llvm.LLVMPointerType()
I128 = IntegerType(128)

_NO_WRAP_FLAGS = IntegerAttr(0, 32)
_ALIGNMENT = IntegerAttr(64, 64)
_ORDERING = IntegerAttr(0, i64)
_FAST_MATH = llvm.FastMathAttr(None)
_DYNAMIC = DenseArrayBase.from_list(i32, [llvm.GEP_USE_SSA_VAL])
_PREDICATES = {flag.value: IntegerAttr(flag.to_int(), i64) for flag in llvm.ICmpPredicateFlag}


def integer_type(value: SSAValue | Attribute) -> IntegerType:
    """An integer type, or that of a value."""
    type_ = value.type if isinstance(value, SSAValue) else value
    assert isinstance(type_, IntegerType)
    return cast(IntegerType, type_)


class Code:
    """Blocks under construction; operations go to the end of the last one.

    `vector` says that the code is the body of a loop which LLVM is to vectorise,
    `has_vector_products` that it holds products which are functions to LLVM.

    Args:
        constants: the block that takes constants, and those it already has.
        first: the first block.
    """

    def __init__(self, constants: Constants, first: Block | None = None):
        self.constants = constants
        self.blocks = [first if first is not None else Block()]
        self.vector = False
        self.has_vector_products = False

    @property
    def block(self) -> Block:
        return self.blocks[-1]

    def start_block(self, argument_types: Sequence[Attribute] = ()) -> Block:
        """Goes on in a new block."""
        block = Block(arg_types=argument_types)
        self.blocks.append(block)
        return block

    def constant(self, value: int, type_: IntegerType = i64) -> SSAValue:
        return self.constants.get(value, type_)

    def append(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def binary(self, cls: type[Operation], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """An operation of two words of one type, without flags: it wraps around."""
        return self.append(cls.create(operands=(lhs, rhs), result_types=(lhs.type,)))

    def add(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.binary(llvm.AddOp, lhs, rhs)

    def mul(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.binary(llvm.MulOp, lhs, rhs)

    def shift_right(self, value: SSAValue, bits: int) -> SSAValue:
        return self.binary(llvm.LShrOp, value, self.constant(bits, integer_type(value)))

    def cast(self, cls: type[Operation], value: SSAValue, type_: Attribute) -> SSAValue:
        return self.append(cls.create(operands=(value,), result_types=(type_,)))

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.append(
            llvm.ICmpOp.create(
                operands=(lhs, rhs),
                result_types=(i1,),
                properties={"predicate": _PREDICATES[predicate]},
            )
        )

    def select(self, condition: SSAValue, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.append(
            llvm.SelectOp.create(
                operands=(condition, lhs, rhs),
                result_types=(lhs.type,),
                properties={"fastmathFlags": _FAST_MATH},
            )
        )

    def element(self, base: SSAValue, index: SSAValue, type_: Attribute) -> SSAValue:
        """The address of `base[index]`."""
        return self._address(base, index, type_, _DYNAMIC)

    def element_of_row(
        self, base: SSAValue, row: int, length: int, index: SSAValue, type_: Attribute
    ) -> SSAValue:
        """The address of `base[row * length + index]`."""
        if row:
            rows = DenseArrayBase.from_list(i32, [row])
            base = self._address(base, None, llvm.LLVMArrayType(length, type_), rows)
        return self.element(base, index, type_)

    def _address(
        self, base: SSAValue, index: SSAValue | None, type_: Attribute, constants: DenseArrayBase
    ) -> SSAValue:
        return self.append(
            llvm.GEPOp.create(
                operands=(base,) if index is None else (base, index),
                result_types=(POINTER,),
                properties={
                    "elem_type": type_,
                    "noWrapFlags": _NO_WRAP_FLAGS,
                    "rawConstantIndices": constants,
                    "inbounds": UnitAttr(),
                },
            )
        )

    def load(self, pointer: SSAValue, type_: Attribute) -> SSAValue:
        return self.append(
            llvm.LoadOp.create(
                operands=(pointer,), result_types=(type_,), properties={"ordering": _ORDERING}
            )
        )

    def store(self, value: SSAValue, pointer: SSAValue) -> None:
        self.block.add_op(
            llvm.StoreOp.create(operands=(value, pointer), properties={"ordering": _ORDERING})
        )

    def branch(self, target: Block, arguments: Sequence[SSAValue] = ()) -> None:
        self.block.add_op(llvm.BrOp.create(operands=arguments, successors=(target,)))

    def branch_if(
        self,
        condition: SSAValue,
        then: Block,
        then_arguments: Sequence[SSAValue],
        other: Block,
        other_arguments: Sequence[SSAValue],
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        op = llvm.CondBrOp(condition, then, then_arguments, other, other_arguments)
        op.attributes.update(attributes or {})
        self.block.add_op(op)


class Constants:
    """The entry block: constants, each of them once, and stack arrays."""

    def __init__(self, block: Block):
        self.block = block
        self._known: dict[tuple[int, IntegerType], SSAValue] = {}

    def get(self, value: int, type_: IntegerType) -> SSAValue:
        """A constant of a given type, taken modulo the size of its word."""
        width = type_.width.data
        value &= (1 << width) - 1
        known = self._known.get((value, type_))
        if known is None:
            signed = value - (1 << width) if value >> (width - 1) and width > 1 else value
            op = llvm.ConstantOp.create(
                result_types=(type_,), properties={"value": IntegerAttr(signed, type_)}
            )
            self.block.add_op(op)
            known = self._known[value, type_] = op.result
        return known

    def stack_array(self, count: int, type_: IntegerType) -> SSAValue:
        """A new array of `count` words on the stack."""
        op = llvm.AllocaOp.create(
            operands=(self.get(count, i64),),
            result_types=(POINTER,),
            properties={"elem_type": type_, "alignment": _ALIGNMENT},
        )
        self.block.add_op(op)
        return op.res
