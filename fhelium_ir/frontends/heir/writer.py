"""Writes a function of the `ckks` dialect, op by op, under HEIR's rules for levels and scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import ckks
from fhelium_ir.frontends.heir.handles import Plaintext
from fhelium_ir.frontends.heir.machine import Array
from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale

NOISE = 2.0**-50
"""HEIR's coefficients are exact to about this, relatively to the largest."""


GROSS = 0.4
"""Scales that differ by more, relatively, have not drifted apart: the program is wrong."""


class Writer:
    """One function.

    Args:
        parameters: of the module.
        slots: length of the vectors; all values are repeated with this period.
        managed: leave levels, scales and sizes to ckks-manage.
        tolerance: largest relative difference of two scales that may be taken as equal.
    """

    def __init__(self, parameters: Parameters, slots: int, managed: bool, tolerance: float):
        self.block = Block()
        self.parameters = parameters
        self.slots = slots
        self.managed = managed
        self.tolerance = tolerance
        self.public_range = 1.0
        self.plain_arguments: list[tuple[str, Plaintext]] = []
        self._attributes: list[dict[str, Attribute]] = []
        self._constants: dict[tuple[int, bytes], SSAValue] = {}
        self._encoded: dict[tuple[object, ...], SSAValue] = {}
        self._adopted: dict[tuple[SSAValue, Scale], SSAValue] = {}
        self._source: Operation | None = None

    def at(self, source: Operation) -> None:
        """What follows is for this op of HEIR: ops get its location."""
        self._source = source

    def _add(self, op: Operation) -> OpResult:
        if self._source is not None:
            op.location = self._source.location
        self.block.add_op(op)
        return op.results[0]

    def argument(
        self, name: str, type_: Attribute, bound: float, length: int | None = None
    ) -> SSAValue:
        """A new argument of the function.

        Args:
            name: of the input.
            type_: a ciphertext or plaintext.
            bound: on the absolute value of its slots.
            length: of the vector, if it is not `slots`.
        """
        length = self.slots if length is None else length
        attributes: dict[str, Attribute] = {
            "ckks.name": StringAttr(name),
            "ckks.slots": IntegerAttr(length, i64),
        }
        if bound != 1.0:
            attributes["ckks.range"] = FloatAttr(bound, f64)
        value = self.block.insert_arg(type_, len(self.block.args))
        value.name_hint = name
        self._attributes.append(attributes)
        return value

    def ciphertext_type(self, level: int, scale_bits: int, size: int = 2) -> ckks.CiphertextType:
        """The type of an argument."""
        if self.managed:
            return ckks.CiphertextType(ckks.OPEN)
        if not 0 <= level <= self.parameters.top_level:
            raise FheliumError(
                f"a ciphertext is at level {level}, but the parameters have "
                f"{len(self.parameters.q)} primes"
            )
        return ckks.CiphertextType(ckks.CiphertextFacts(level, Scale(scale_bits), size))

    def sum(self, left: SSAValue, right: SSAValue, subtract: bool = False) -> SSAValue:
        """Sum or difference; where the scales have drifted apart, one operand adopts the other's."""
        facts, others = _facts(left), _facts(right)
        if facts.scale is not None and others.scale is not None and facts.scale != others.scale:
            self._check_drift(facts.scale, others.scale, self.tolerance)
            if len(str(facts.scale)) <= len(str(others.scale)):
                right = self._adopt(right, facts.scale)
            else:
                left = self._adopt(left, others.scale)
        return self._emit(lambda: (ckks.SubOp if subtract else ckks.AddOp)(left, right))

    def _check_drift(self, left: Scale, right: Scale, tolerance: float) -> None:
        """Refuses two scales that differ by more than drift, or by more than the tolerance."""
        q = self.parameters.q
        bits = (left * right.inverse()).log2(q)
        drift = abs(2.0**bits - 1) if abs(bits) < 64 else float("inf")
        if drift <= tolerance:
            return
        if drift > GROSS:
            raise FheliumError(
                f"the scales of the operands are about 2^{left.log2(q):.2f} and 2^{right.log2(q):.2f}: "
                "the program adds values that were not brought to the same scale"
            )
        raise FheliumError(
            f"the scales of the operands, about 2^{left.log2(q):.2f}, have drifted apart by a "
            f"relative {drift:.2g}, more than the tolerance {tolerance:.2g}; leave scales to the "
            "compiler with levels=managed, or accept it with drift-bits"
        )

    def _adopt(self, value: SSAValue, scale: Scale) -> SSAValue:
        key = (value, scale)
        if key not in self._adopted:
            type_ = ckks.CiphertextType(replace(_facts(value), scale=scale))
            self._adopted[key] = self._add(ckks.AdoptScaleOp(value, type_, self.tolerance))
        return self._adopted[key]

    def plain_sum(self, left: SSAValue, right: Plaintext, subtract: bool = False) -> SSAValue:
        """Sum or difference with a plaintext, which is encoded at the ciphertext's exact scale."""
        if right.values is not None and not right.values.any():
            return left
        facts = _facts(left)
        if facts.scale is not None:
            # Encoded at the exact scale, the plaintext costs no precision, however far the scale has drifted.
            self._check_drift(facts.scale, Scale(right.scale_bits), GROSS)
        plain = self._plaintext(right, facts.level, facts.scale)
        return self._emit(lambda: (ckks.SubPlainOp if subtract else ckks.AddPlainOp)(left, plain))

    def negate(self, value: SSAValue) -> SSAValue:
        return self._emit(lambda: ckks.NegateOp(value))

    def product(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self._emit(lambda: ckks.MulOp(left, right))

    def plain_product(self, left: SSAValue, right: Plaintext) -> SSAValue:
        """Product with a plaintext at HEIR's scale."""
        scale = None if self.managed else Scale(right.scale_bits)
        plain = self._plaintext(right, _facts(left).level, scale)
        return self._emit(lambda: ckks.MulPlainOp(left, plain))

    def relinearize(self, value: SSAValue) -> SSAValue:
        if self.managed:
            return value
        return self._emit(lambda: ckks.RelinearizeOp(value))

    def rotate(self, value: SSAValue, steps: int) -> SSAValue:
        """Left rotation, by the shortest number of steps with the same effect on repeated vectors."""
        steps %= self.slots
        if steps == 0:
            return value
        return self._emit(lambda: ckks.RotateOp.by(value, steps))

    def rescale(self, value: SSAValue, count: int) -> SSAValue:
        """Divides by the last `count` primes."""
        if self.managed:
            return value
        for _ in range(count):
            current = value
            value = self._emit(lambda current=current: ckks.RescaleOp(current))
        return value

    def reduce_level(self, value: SSAValue, count: int) -> SSAValue:
        """Drops the last `count` primes."""
        if self.managed or count == 0:
            return value
        return self._emit(lambda: ckks.ModSwitchOp(value, {"levels": IntegerAttr(count, i64)}))

    def polynomial(
        self, value: SSAValue, coefficients: Sequence[float], domain: tuple[float, float]
    ) -> SSAValue:
        """A Chebyshev series. Coefficients that are rounding errors of the largest become zero, which costs nothing."""
        values = np.array(coefficients, dtype=np.float64)
        values[np.abs(values) < NOISE * float(np.abs(values).max(initial=0.0))] = 0.0
        properties: dict[str, Attribute] = {
            "coefficients": _dense(values),
            "basis": StringAttr("chebyshev"),
        }
        if domain != (-1.0, 1.0):
            properties["domain"] = DenseArrayBase.from_list(f64, list(domain))
        return self._emit(lambda: ckks.PolynomialOp(value, properties))

    def linear_transform(self, value: SSAValue, rows: Array, diagonals: Sequence[int]) -> SSAValue:
        """A product with a matrix whose rows are diagonals."""
        if rows.shape[1] == 0 or self.slots % rows.shape[1]:
            raise FheliumError(
                f"diagonals of {rows.shape[1]} numbers do not divide the {self.slots} slots"
            )
        constant = arith.ConstantOp(
            DenseIntOrFPElementsAttr.from_list(TensorType(f64, rows.shape), rows.ravel().tolist())
        )
        matrix = self._add(constant)
        return self._emit(lambda: ckks.LinearTransformOp(value, matrix, diagonals))

    def level_of(self, value: SSAValue) -> int | None:
        """The level of a ciphertext, None where the compiler manages."""
        return _facts(value).level

    def _emit(self, make: object) -> SSAValue:
        assert callable(make)
        try:
            op = make()
        except VerifyException as error:
            raise FheliumError(str(error)) from error
        assert isinstance(op, Operation)
        return self._add(op)

    def _plaintext(self, plain: Plaintext, level: int | None, scale: Scale | None) -> SSAValue:
        facts = ckks.PlaintextFacts() if self.managed else ckks.PlaintextFacts(level, scale)
        type_ = ckks.PlaintextType(facts)
        if plain.values is None:
            # ckks-manage wants each plaintext argument to be used in one way.
            use = len(self.plain_arguments) if self.managed else None
            key: tuple[object, ...] = (plain.number, facts, use)
            if key not in self._encoded:
                name = f"plain{len(self.plain_arguments)}"
                self.plain_arguments.append((name, plain))
                self._encoded[key] = self.argument(name, type_, self.public_range)
            return self._encoded[key]
        values = _shortest(plain.values)
        key = (values.size, values.tobytes(), facts)
        if key not in self._encoded:
            constant = self._constant(values)
            self._encoded[key] = self._add(ckks.EncodeOp(constant, type_))
        return self._encoded[key]

    def _constant(self, values: Array) -> SSAValue:
        key = (values.size, values.tobytes())
        if key not in self._constants:
            self._constants[key] = self._add(arith.ConstantOp(_dense(values)))
        return self._constants[key]

    def function(self, name: str, results: Sequence[SSAValue]) -> func.FuncOp:
        """The finished function."""
        self._source = None
        self.block.add_op(func.ReturnOp(*results))
        inputs = [argument.type for argument in self.block.args]
        outputs = [result.type for result in results]
        function = func.FuncOp(
            name,
            FunctionType.from_lists(inputs, outputs),
            Region(self.block),
            arg_attrs=ArrayAttr([DictionaryAttr(found) for found in self._attributes]),
        )
        return function


def _facts(value: SSAValue) -> ckks.CiphertextFacts:
    type_ = value.type
    assert isinstance(type_, ckks.CiphertextType)
    return type_.data


def _dense(values: Array) -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(
        TensorType(f64, [values.size]), values.astype(np.float64).tolist()
    )


def _shortest(values: Array) -> Array:
    """One number if all are equal."""
    return values[:1] if values.size > 1 and bool((values == values[0]).all()) else values
