"""Range analysis of the program stage: a bound on the absolute value of every slot."""

from __future__ import annotations

import math
from fractions import Fraction

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, DictionaryAttr, FloatAttr
from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.analysis.structured import matrix_diagonals
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks

RANGE = "ckks.range"
"""Attribute of a function argument or of an op: a bound on |slot|, a positive float, default 1 for an argument.

On an op it is a promise of the writer, such as that Chebyshev polynomials of real numbers in [-1, 1] stay in [-1, 1];
it is believed where it is smaller than what the operands give."""


def value_ranges(function: func.FuncOp) -> dict[SSAValue, float]:
    """Bounds on |slot| of every ciphertext and plaintext of a function, rounded up.

    Encoding errors and noise are not counted. A bound beyond the largest float is infinite. Ops of
    other dialects give their results no bound, and neither have ops that depend on them.

    Raises:
        FheliumError: a range attribute or an encoded constant that is not valid.
    """
    ranges: dict[SSAValue, float] = {}
    for index, argument in enumerate(function.args):
        if isinstance(argument.type, ckks.CiphertextType | ckks.PlaintextType):
            ranges[argument] = argument_range(function, index)
    for op in function.body.walk():
        bound = _result_range(op, ranges)
        if bound is not None:
            promised = op.attributes.get(RANGE)
            if promised is not None:
                bound = min(bound, _positive(promised, op.name, op))
            ranges[op.results[0]] = bound
    return ranges


class ValueRanges:
    """The analysis of all functions that an operation holds, for `get_analysis`."""

    def __init__(self, op: Operation) -> None:
        self._ranges: dict[SSAValue, float] = {}
        for inner in op.walk():
            if isinstance(inner, func.FuncOp):
                self._ranges.update(value_ranges(inner))

    def bound(self, value: SSAValue) -> float | None:
        """The bound on |slot| of a value, or None if there is none."""
        return self._ranges.get(value)


def argument_attribute(function: func.FuncOp, index: int, name: str) -> Attribute | None:
    """The attribute `name` of one function argument, or None."""
    if function.arg_attrs is None:
        return None
    attributes = function.arg_attrs.data[index]
    assert isinstance(attributes, DictionaryAttr)
    return attributes.data.get(name)


def argument_range(function: func.FuncOp, index: int) -> float:
    """The bound that the range attribute of one argument states, 1 where there is none.

    Raises:
        FheliumError: the attribute is not a positive finite float.
    """
    attribute = argument_attribute(function, index, RANGE)
    if attribute is None:
        return 1.0
    return _positive(attribute, f"argument {index} of @{function.sym_name.data}", function)


def _positive(attribute: Attribute, label: str, op: Operation) -> float:
    if isinstance(attribute, FloatAttr):
        value = attribute.value.data
        if 0 < value < math.inf:
            return value
    raise FheliumError(
        f"{label}: {RANGE} must be a positive finite float such as `2.0 : f64`, found {attribute}",
        location_of(op),
    )


def constant_values(op: ckks.EncodeOp) -> tuple[float, ...]:
    """The finite values of the constant that an encode turns into a plaintext, at least one.

    Raises:
        FheliumError: the operand is not a constant, or a value is infinite or NaN.
    """
    source = op.values.owner
    if not isinstance(source, arith.ConstantOp) or not isinstance(
        source.value, DenseIntOrFPElementsAttr
    ):
        raise FheliumError(
            "ckks.encode: the values must be an `arith.constant dense<...>`", location_of(op)
        )
    numbers = source.value.get_values()
    values = tuple(float(value) for value in numbers if not isinstance(value, tuple))
    for index, value in enumerate(values):
        if not math.isfinite(value):
            raise FheliumError(f"ckks.encode: value {index} is {value}", location_of(op))
    return values


def _result_range(op: Operation, ranges: dict[SSAValue, float]) -> float | None:
    if isinstance(op, ckks.EncodeOp):
        return max(abs(value) for value in constant_values(op))
    if not op.name.startswith("ckks."):
        return None
    operands = [
        v for v in op.operands if isinstance(v.type, ckks.CiphertextType | ckks.PlaintextType)
    ]
    bounds = [ranges[operand] for operand in operands if operand in ranges]
    if not bounds or len(bounds) < len(operands):
        return None
    match op:
        case ckks.AdditiveOp() | ckks.AdditivePlainOp():
            return _add(*bounds)
        case ckks.MulOp() | ckks.MulPlainOp():
            return _multiply(*bounds)
        case ckks.LinearTransformOp():
            return _multiply(_row_sum(op), bounds[0])
        case ckks.PolynomialOp():
            return _polynomial(op, bounds[0])
        case ckks.SumSlotsOp():
            return _multiply(float(op.number), bounds[0])
        case _:
            # All others permute slots, change signs or change only the representation.
            return bounds[0]


def _row_sum(op: ckks.LinearTransformOp) -> float:
    """The largest sum of absolute values in a row of the matrix."""
    diagonals = matrix_diagonals(op).values()
    rows = [[abs(diagonal[j]) for diagonal in diagonals] for j in range(op.size)]
    # fsum rounds once, to the nearest
    return max(math.nextafter(math.fsum(row), math.inf) if any(row) else 0.0 for row in rows)


def _polynomial(op: ckks.PolynomialOp, bound: float) -> float:
    """Sum of |c_k| bound^k; of |c_k| in the basis chebyshev, whose operand lies in the domain."""
    total, power = 0.0, 1.0
    for value in op.values:
        total = _add(total, _multiply(abs(value), power))
        if op.basis_name == "monomial":
            power = _multiply(power, bound)
    return total


def _add(left: float, right: float) -> float:
    if math.isinf(left) or math.isinf(right):
        return math.inf
    return _round_up(Fraction(left) + Fraction(right))


def _multiply(left: float, right: float) -> float:
    if left == 0 or right == 0:
        return 0.0
    if math.isinf(left) or math.isinf(right):
        return math.inf
    return _round_up(Fraction(left) * Fraction(right))


def _round_up(value: Fraction) -> float:
    """The smallest float that is not below `value`."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
