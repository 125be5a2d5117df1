"""Ops of the `ckks` dialect that `ckks-expand` and `unroll-loops` turn into others."""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import (
    I64,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from fhelium_ir.dialects.assembly import FactOp, integer_property
from fhelium_ir.dialects.ckks_types import (
    OPEN,
    CiphertextType,
    CiphertextUnaryOp,
    ciphertext_facts,
    require_evaluation,
    require_size,
)

BASES = ("monomial", "chebyshev")


class StructuredOp(FactOp, ABC):
    """An op without a rule of its own in the lowering: `ckks-expand` replaces it."""


@irdl_op_definition
class LinearTransformOp(StructuredOp):
    """A constant n x n matrix times the vector in the slots.

    The matrix is a constant tensor<nxnxf64> A, n a power of two that divides the slot count. Slot j of the result is
    the sum over d = 0..n-1 of A[j mod n][(j + d) mod n] times slot j + d: the product A x if the slots hold a vector
    of length n repeated. With `diagonals = array<i64: d0, d1, ...>` the operand is a tensor<kxnxf64> whose row r is the
    generalised diagonal d_r, A[j][(j + d_r) mod n] in column j; the other diagonals are zero (Halevi and Shoup,
    "Algorithms in HElib", 2014).
    """

    name = "ckks.linear_transform"
    operand = operand_def(CiphertextType)
    matrix = operand_def(base(TensorType))
    diagonals = opt_prop_def(DenseArrayBase[I64])
    result = result_def(CiphertextType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, matrix: SSAValue, diagonals: Sequence[int] | None = None):
        given: dict[str, Attribute] = {}
        if diagonals is not None:
            given["diagonals"] = DenseArrayBase.from_list(i64, list(diagonals))
        types = self.infer([operand.type, matrix.type], given)
        super().__init__(operands=[operand, matrix], result_types=types, properties=given)

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 2)
        require_evaluation(cls.name, facts)
        tensor = operands[1]
        if not isinstance(tensor, TensorType) or tensor.get_element_type() != f64:
            raise VerifyException(f"{cls.name}: the matrix must be a tensor of f64, found {tensor}")
        shape = tensor.get_shape()
        if len(shape) != 2 or shape[1] < 1 or shape[1] & (shape[1] - 1):
            raise VerifyException(
                f"{cls.name}: the matrix must have two dimensions, and a power of two of columns, "
                f"found {tensor}"
            )
        diagonals = properties.get("diagonals")
        if diagonals is None:
            if shape[0] != shape[1]:
                raise VerifyException(f"{cls.name}: the matrix must be square, found {tensor}")
        else:
            _check_diagonals(cls.name, diagonals, shape[0], shape[1])
        return [CiphertextType(OPEN)]

    @property
    def size(self) -> int:
        """n."""
        tensor: Attribute = self.matrix.type
        assert isinstance(tensor, TensorType)
        return tensor.get_shape()[1]

    @property
    def diagonal_numbers(self) -> tuple[int, ...] | None:
        """The diagonals that the rows are, None if the operand is the matrix itself."""
        return None if self.diagonals is None else _integers(self.diagonals)


def _integers(attribute: DenseArrayBase[I64]) -> tuple[int, ...]:
    return tuple(attribute.get_values())


def _check_diagonals(op: str, attribute: Attribute, rows: int, size: int) -> None:
    if not isa(attribute, DenseArrayBase[I64]):
        raise VerifyException(f"{op}: diagonals must be `array<i64: ...>`, found {attribute}")
    numbers = _integers(attribute)
    if len(numbers) != rows:
        raise VerifyException(f"{op}: {len(numbers)} diagonals are named, the tensor has {rows}")
    for number in numbers:
        if not 0 <= number < size:
            raise VerifyException(f"{op}: diagonal {number} is not between 0 and {size - 1}")
    if len(set(numbers)) < len(numbers):
        raise VerifyException(f"{op}: a diagonal is named twice")


@irdl_op_definition
class PolynomialOp(StructuredOp, CiphertextUnaryOp):
    """A polynomial with real coefficients of every slot.

    `coefficients` is a dense tensor<mxf64>, lowest degree first. With basis "monomial", the default, the result is the
    sum of c_k x^k. With "chebyshev" it is the sum of c_k T_k(t), T_k the Chebyshev polynomials of the first kind and
    t = (2 x - a - b) / (b - a) for `domain = array<f64: a, b>`, by default [-1, 1]. Slots must then be real numbers of
    that interval: outside of it values grow quickly.
    """

    name = "ckks.polynomial"
    coefficients = prop_def(DenseIntOrFPElementsAttr)
    basis = opt_prop_def(StringAttr)
    domain = opt_prop_def(DenseArrayBase[Float64Type])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 2)
        require_evaluation(cls.name, facts)
        values = _coefficients(cls.name, properties.get("coefficients"))
        for degree, value in enumerate(values):
            if not math.isfinite(value):
                raise VerifyException(f"{cls.name}: coefficient {degree} is {value}")
        if not any(values[1:]):
            raise VerifyException(
                f"{cls.name}: the polynomial is constant: every coefficient but the first is zero"
            )
        attribute = properties.get("basis")
        basis = attribute.data if isinstance(attribute, StringAttr) else BASES[0]
        if basis not in BASES:
            raise VerifyException(f'{cls.name}: the basis is "monomial" or "chebyshev"')
        domain = properties.get("domain")
        if domain is not None:
            if basis == "monomial":
                raise VerifyException(f"{cls.name}: a domain belongs to the basis chebyshev")
            _interval(cls.name, domain)
        return [CiphertextType(OPEN)]

    @property
    def values(self) -> tuple[float, ...]:
        """The coefficients, lowest degree first."""
        return _coefficients(self.name, self.coefficients)

    @property
    def basis_name(self) -> str:
        return BASES[0] if self.basis is None else self.basis.data

    @property
    def interval(self) -> tuple[float, float]:
        """The domain."""
        return (-1.0, 1.0) if self.domain is None else _interval(self.name, self.domain)


def _coefficients(op: str, attribute: Attribute | None) -> tuple[float, ...]:
    """The numbers of a dense vector; a splat is repeated to its length."""
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        numbers = tuple(x.value.data for x in attribute.get_attrs() if isinstance(x, FloatAttr))
        if numbers and len(attribute.get_shape()) == 1:
            return numbers
    raise VerifyException(f"{op}: needs a property `coefficients = dense<[...]> : tensor<nxf64>`")


def _interval(op: str, attribute: Attribute) -> tuple[float, float]:
    if isa(attribute, DenseArrayBase[Float64Type]):
        ends = tuple(attribute.get_values())
        if len(ends) == 2 and -math.inf < ends[0] < ends[1] < math.inf:
            return ends[0], ends[1]
    raise VerifyException(f"{op}: the domain must be `array<f64: a, b>` with a < b")


@irdl_op_definition
class SumSlotsOp(StructuredOp, CiphertextUnaryOp):
    """Adds to each slot its `count` - 1 right neighbours, indices wrapping.

    For a vector whose length `count` is, repeated through the slots, every slot gets the sum of the vector.
    """

    name = "ckks.sum_slots"
    count = prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 2)
        require_evaluation(cls.name, facts)
        if integer_property(properties, "count") < 1:
            raise VerifyException(f"{cls.name}: needs an integer property `count`, at least 1")
        return [CiphertextType(facts)]

    @property
    def number(self) -> int:
        return self.count.value.data

    @staticmethod
    def of(operand: SSAValue, count: int) -> SumSlotsOp:
        return SumSlotsOp(operand, {"count": IntegerAttr(count, i64)})


@irdl_op_definition
class RotateDynamicOp(FactOp):
    """Left rotation by a number of steps that `unroll-loops` computes: see `ckks.rotate`."""

    name = "ckks.rotate_dynamic"
    operand = operand_def(CiphertextType)
    steps = operand_def(IndexType)
    result = result_def(CiphertextType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, steps: SSAValue):
        types = self.infer([operand.type, steps.type], {})
        super().__init__(operands=[operand, steps], result_types=types)

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 2)
        require_evaluation(cls.name, facts)
        if not isinstance(operands[1], IndexType):
            raise VerifyException(f"{cls.name}: the steps must be an index, found {operands[1]}")
        return [CiphertextType(facts)]
