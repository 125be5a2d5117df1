"""Precision of a managed program: how large the errors of its outputs are to be expected.

The noise model is heuristic and average-case: each source of error is a polynomial with independent coefficients of
variance v, so that its slots are independent circular Gaussians of variance N*v (canonical embedding; Costache, Curtis,
Hales, Murphy, Ogilvie, Player, "On the precision loss in approximate homomorphic encryption", 2023). With sigma the
error of the client's sampler, a ternary secret (variance 2/3) and s, the secret's slots, of variance 2N/3:

- encryption: v*e + e0 + e1*s, with e of the public key, v ternary;
- rescale, and the division by P of a key switch: t0 + t1*s (+ t2*s^2), each rounded to the nearest integer: 1/12;
  of an extended ciphertext, which is not divided yet, both at once in its rescale;
- key switch: sum over digits of w_j*e_j / P, where w_j is a sum of one uniform number per limb in [-D_j/2, D_j/2];
- encoding: rounded coefficients, 1/12 each; a vector of length n that repeats has only 2n that are not 0. The error of
  a single real number is known exactly. A constant 1 counts as alignment;
- adopt_scale: the values change by a known ratio.

Variances alone would miss that errors of one source add up linearly and that |values| differ from slot to slot. So the
errors are drawn from these distributions and carried through the program beside values: to first order, plus the
products of errors. The keys' and the secret's slots are drawn once per trial, as they are shared by all ops. Inputs are
drawn too: all at the end of their range, random signs, and uniform; with random phases where the program conjugates,
because `conj(x) - x` is nothing for real numbers. The estimate is twice the largest error of any slot in any trial,
which a run exceeds with small probability only. No encryption happens, and no key is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import log2, prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith, func
from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis.ranges import argument_attribute, argument_range, constant_values
from fhelium_ir.client.randomness import ERROR_SIGMA
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters

Complex = NDArray[np.complex128]

KINDS = ("encryption", "key switch", "rescale", "encoding", "alignment")
ENCRYPTION, KEY_SWITCH, RESCALE, ENCODING, ALIGNMENT = range(len(KINDS))

MARGIN = 2.0
"""The estimate is this times the largest error drawn."""

FLOAT_ERROR = 2.0**-50
"""Relative error of the transforms in encoding and decoding, see `fhelium_ir.client.encoding`."""

SECRET_VARIANCE = 2 / 3
SAMPLES = 1 << 14
"""About this many slots are drawn, at least `TRIALS` trials."""
TRIALS = 4


@dataclass(frozen=True)
class OutputPrecision:
    """The expected error of one output, absolute.

    Attributes:
        error: bound on the error of a slot that holds with high probability.
        parts: the same by source, in the order of `KINDS`; they add up like a sum of variances, not linearly.
    """

    error: float
    parts: Mapping[str, float]

    @property
    def bits(self) -> float:
        """-log2 of the error: bits after the binary point that are right."""
        return -log2(self.error) if self.error > 0 else float("inf")


@dataclass
class _Noisy:
    """Values [trials, slots] and their errors [kinds, trials, slots]."""

    value: Complex
    error: Complex


def output_precision(
    function: func.FuncOp, parameters: Parameters, seed: int = 0
) -> list[OutputPrecision]:
    """Estimates for every output of a function with levels and scales.

    Raises:
        FheliumError: an op without a rule, or a type without level or scale.
    """
    return _Simulation(function, parameters, seed).run()


class _Simulation:
    def __init__(self, function: func.FuncOp, parameters: Parameters, seed: int) -> None:
        self.function = function
        self.parameters = parameters
        self.random = np.random.default_rng(seed)
        self.slots = parameters.slots
        self.trials = max(TRIALS, SAMPLES // self.slots)
        degree = parameters.ring_degree
        self.secret = self.gaussian(degree * SECRET_VARIANCE)
        self.public = self.gaussian(degree * ERROR_SIGMA**2)
        self.conjugates = any(isinstance(op, ckks.ConjugateOp) for op in function.body.block.ops)
        self.noisy: dict[SSAValue, _Noisy] = {}

    def run(self) -> list[OutputPrecision]:
        block = self.function.body.block
        last_use = {operand: op for op in block.ops for operand in op.operands}
        for index, argument in enumerate(block.args):
            self.noisy[argument] = self.input(argument, index)
        for op in block.ops:
            if isinstance(op, func.ReturnOp):
                return [self.result(self.noisy[operand]) for operand in op.operands]
            if isinstance(op, arith.ConstantOp):
                continue
            self.noisy[op.results[0]] = self.visit(op)
            for operand in op.operands:
                if last_use[operand] is op:
                    self.noisy.pop(operand, None)
        return []

    def result(self, x: _Noisy) -> OutputPrecision:
        flat = FLOAT_ERROR * float(np.abs(x.value).max(initial=0.0))
        parts = {
            kind: MARGIN * float(np.abs(x.error[index]).max(initial=0.0))
            for index, kind in enumerate(KINDS)
        }
        total = MARGIN * float(np.abs(x.error.sum(axis=0)).max(initial=0.0))
        # Sources may cancel in the sample; a report says no less than for any one of them.
        return OutputPrecision(max(total, *parts.values()) + flat, parts)

    def gaussian(self, variance: float) -> Complex:
        """Circular Gaussians [trials, slots] of a variance E|z|^2."""
        parts = self.random.standard_normal((2, self.trials, self.slots))
        return np.sqrt(variance / 2) * (parts[0] + 1j * parts[1])

    def scale(self, value: SSAValue) -> float:
        return float(self.exact_scale(value))

    def exact_scale(self, value: SSAValue) -> Fraction:
        type_ = value.type
        assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
        if type_.data.scale is None or type_.data.level is None:
            raise FheliumError(
                f"{type_} has no level or scale: run ckks-manage first", location_of(self.function)
            )
        return type_.data.scale.value(self.parameters.q)

    def input(self, argument: SSAValue, index: int) -> _Noisy:
        bound = argument_range(self.function, index)
        attribute = argument_attribute(self.function, index, "ckks.slots")
        count = attribute.value.data if isinstance(attribute, ckks.IntegerAttr) else self.slots
        shape = (self.trials, count)
        values = self.random.uniform(-bound, bound, shape)
        values[0] = bound
        values[1] = bound * self.random.choice([-1.0, 1.0], count)
        drawn = values.astype(np.complex128)
        if self.conjugates:
            drawn[2] = bound * np.exp(2j * np.pi * self.random.uniform(0, 1, count))
        value = np.tile(drawn, (1, self.slots // count))
        error = np.zeros((len(KINDS), self.trials, self.slots), dtype=np.complex128)
        scale, degree = self.scale(argument), self.parameters.ring_degree
        error[ENCODING] = self.gaussian(2 * count / 12) / scale
        error[ENCODING] += self.gaussian((FLOAT_ERROR * bound) ** 2)
        if isinstance(argument.type, ckks.CiphertextType):
            ephemeral = self.gaussian(degree * SECRET_VARIANCE)
            first, second = (self.gaussian(degree * ERROR_SIGMA**2) for _ in range(2))
            fresh = ephemeral * self.public + first + second * self.secret
            error[ENCRYPTION] = fresh / scale
        return _Noisy(value, error)

    def visit(self, op: Operation) -> _Noisy:
        match op:
            case ckks.EncodeOp():
                return self.encode(op)
            case ckks.AddOp() | ckks.AddPlainOp():
                x, y = self.noisy[op.lhs], self.noisy[op.rhs]
                return _Noisy(x.value + y.value, x.error + y.error)
            case ckks.SubOp() | ckks.SubPlainOp():
                x, y = self.noisy[op.lhs], self.noisy[op.rhs]
                return _Noisy(x.value - y.value, x.error - y.error)
            case ckks.MulOp() | ckks.MulPlainOp():
                x, y = self.noisy[op.lhs], self.noisy[op.rhs]
                total = x.error.sum(axis=0)
                return _Noisy(x.value * y.value, x.error * y.value + (x.value + total) * y.error)
            case ckks.NegateOp():
                x = self.noisy[op.operand]
                return _Noisy(-x.value, -x.error)
            case ckks.ModSwitchOp() | ckks.ExtendOp():
                return self.noisy[op.operand]
            case ckks.ModDownOp():
                return self.with_error(op.operand, KEY_SWITCH, self.rounding(2), op.result)
            case ckks.RescaleOp():
                size = _facts(op.operand).size or 2
                return self.with_error(op.operand, RESCALE, self.rounding(size), op.result)
            case ckks.AdoptScaleOp():
                return self.adopt(op)
            case ckks.RelinearizeOp():
                return self.with_error(op.operand, KEY_SWITCH, self.key_switch(op), op.result)
            case ckks.RotateOp():
                if op.step % self.slots == 0:
                    return self.noisy[op.operand]
                x = self.noisy[op.operand]
                moved = _Noisy(
                    np.roll(x.value, -op.step, axis=-1), np.roll(x.error, -op.step, axis=-1)
                )
                return self.plus(moved, KEY_SWITCH, self.key_switch(op) / self.scale(op.result))
            case ckks.ConjugateOp():
                x = self.noisy[op.operand]
                moved = _Noisy(x.value.conj(), x.error.conj())
                return self.plus(moved, KEY_SWITCH, self.key_switch(op) / self.scale(op.result))
            case _:
                raise FheliumError(f"{op.name} has no rule for its precision", location_of(op))

    def with_error(self, operand: SSAValue, kind: int, error: Complex, result: SSAValue) -> _Noisy:
        return self.plus(self.noisy[operand], kind, error / self.scale(result))

    def plus(self, x: _Noisy, kind: int, error: Complex) -> _Noisy:
        total = x.error.copy()
        total[kind] += error
        return _Noisy(x.value, total)

    def adopt(self, op: ckks.AdoptScaleOp) -> _Noisy:
        x = self.noisy[op.operand]
        ratio = float(self.exact_scale(op.operand) / self.exact_scale(op.result) - 1)
        error = x.error * (1 + ratio)
        error[ALIGNMENT] += x.value * ratio
        return _Noisy(x.value, error)

    def encode(self, op: ckks.EncodeOp) -> _Noisy:
        numbers = np.array(constant_values(op))
        scale = self.exact_scale(op.result)
        value = np.tile(numbers, self.slots // numbers.size).astype(np.complex128)
        shape = (len(KINDS), self.trials, self.slots)
        error = np.zeros(shape, dtype=np.complex128)
        if numbers.size == 1:
            exact = Fraction(float(numbers[0])) * scale
            kind = ALIGNMENT if numbers[0] == 1.0 else ENCODING
            error[kind] = float((round(exact) - exact) / scale)
        else:
            error[ENCODING] = self.gaussian(2 * numbers.size / 12) / float(scale)
        error[ENCODING] += self.gaussian((FLOAT_ERROR * float(np.abs(numbers).max())) ** 2)
        return _Noisy(np.broadcast_to(value, shape[1:]), error)

    def rounding(self, size: int) -> Complex:
        """Error of rounding every component to integers, in units of 1/scale."""
        variance = self.parameters.ring_degree / 12
        total = self.gaussian(variance) + self.gaussian(variance) * self.secret
        return total + self.gaussian(variance) * self.secret**2 if size == 3 else total

    def key_switch(self, op: ckks.RelinearizeOp | ckks.RotateOp | ckks.ConjugateOp) -> Complex:
        """Error of one key switch at the operand's level, in units of 1/scale."""
        parameters = self.parameters
        level = _facts(op.operand).level
        assert level is not None
        special = prod(parameters.p)
        total = self.gaussian(0.0) if op.extended else self.rounding(2)
        for digit in range(parameters.digit_count(level + 1)):
            limbs = [limb for limb in parameters.digit(digit) if limb <= level]
            size = prod(parameters.q[limb] for limb in limbs)
            ratio = float(Fraction(size, special))
            degree = parameters.ring_degree
            lifted = self.gaussian(degree * len(limbs) / 12 * ratio**2)
            total = total + lifted * self.gaussian(degree * ERROR_SIGMA**2)
        return total


def _facts(value: SSAValue) -> ckks.CiphertextFacts:
    assert isinstance(value.type, ckks.CiphertextType)
    return value.type.data
