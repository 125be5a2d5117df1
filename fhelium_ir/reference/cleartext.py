"""The program stage on plain complex vectors: what the decrypted result should be near."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.polynomial import chebyshev, polynomial
from numpy.typing import ArrayLike, NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import ckks
from fhelium_ir.reference.blocks import (
    Rules,
    bind_arguments,
    constant_array,
    find_function,
    module_parameters,
    run_block,
)

Vector = NDArray[np.complex128]


def run_cleartext(
    module: ModuleOp, name: str, inputs: Mapping[str, ArrayLike]
) -> list[NDArray[np.complex128]]:
    """Evaluates one function of the program stage on vectors instead of ciphertexts.

    Levels and scales play no part: they may be absent.

    Args:
        module: a module with parameters.
        name: the function.
        inputs: by argument name, a vector whose length divides the slot count N/2; it is repeated.

    Returns:
        The function's results, complex128 [N/2].

    Raises:
        FheliumError: names a missing input or one of a wrong length, or an unknown op.
    """
    function = find_function(module, name)
    slots = module_parameters(module).slots
    vectors = {key: np.asarray(value, dtype=np.complex128) for key, value in inputs.items()}

    def read(name: str, type_: Attribute, vector: NDArray[np.generic]) -> Vector:
        return _repeat(f"input '{name}'", vector.astype(np.complex128), slots)

    arguments = bind_arguments(function, vectors, read)
    return list(run_block(function.body.block, arguments, _rules(slots)))


def _repeat(name: str, vector: Vector, slots: int) -> Vector:
    if vector.ndim != 1 or vector.size == 0 or slots % vector.size:
        raise FheliumError(
            f"{name} has shape {list(vector.shape)}: its length must divide the {slots} slots"
        )
    return np.tile(vector, slots // vector.size)


def _rules(slots: int) -> Rules[Vector]:
    def constant(op: arith.ConstantOp) -> Vector:
        return constant_array(op.result).astype(np.complex128)

    def encode(op: ckks.EncodeOp, values: Vector) -> Vector:
        return _repeat("the constant", values, slots)

    return {
        arith.ConstantOp: constant,
        ckks.EncodeOp: encode,
        ckks.AddOp: _add,
        ckks.SubOp: _sub,
        ckks.NegateOp: _negate,
        ckks.MulOp: _mul,
        ckks.AddPlainOp: _add,
        ckks.SubPlainOp: _sub,
        ckks.MulPlainOp: _mul,
        ckks.RelinearizeOp: _same,
        ckks.ExtendOp: _same,
        ckks.ModDownOp: _same,
        ckks.RescaleOp: _same,
        ckks.ModSwitchOp: _same,
        ckks.AdoptScaleOp: _same,
        ckks.RotateOp: _rotate,
        ckks.ConjugateOp: _conjugate,
        ckks.LinearTransformOp: _linear_transform,
        ckks.PolynomialOp: _polynomial,
        ckks.SumSlotsOp: _sum_slots,
    }


def _add(op: Operation, a: Vector, b: Vector) -> Vector:
    return a + b


def _sub(op: Operation, a: Vector, b: Vector) -> Vector:
    return a - b


def _mul(op: Operation, a: Vector, b: Vector) -> Vector:
    return a * b


def _negate(op: Operation, a: Vector) -> Vector:
    return -a


def _same(op: Operation, a: Vector) -> Vector:
    return a


def _rotate(op: ckks.RotateOp, a: Vector) -> Vector:
    """Slot j of the result is slot j + steps of the operand."""
    return np.roll(a, -op.step)


def _conjugate(op: Operation, a: Vector) -> Vector:
    return a.conj()


def _linear_transform(op: ckks.LinearTransformOp, a: Vector, matrix: Vector) -> Vector:
    """Row by row: slot j is the product of row j mod n with the n slots from j on."""
    n = matrix.shape[1]
    if a.size % n:
        raise FheliumError(f"ckks.linear_transform: {n} columns do not divide the {a.size} slots")
    if op.diagonals is not None:
        rows, numbers = matrix, op.diagonals.get_values()
        matrix = np.zeros((n, n), dtype=np.complex128)
        for row, number in zip(rows, numbers, strict=True):
            for j in range(n):
                matrix[j, (j + number) % n] = row[j]
    wrapped = np.concatenate([a, a[:n]])
    return np.array(
        [np.roll(matrix[j % n], -j) @ wrapped[j : j + n] for j in range(a.size)],
        dtype=np.complex128,
    )


def _polynomial(op: ckks.PolynomialOp, a: Vector) -> Vector:
    coefficients = np.array(op.values, dtype=np.float64)
    if op.basis_name == "monomial":
        return np.asarray(polynomial.polyval(a, coefficients), dtype=np.complex128)
    low, high = op.interval
    t = (2 * a - (low + high)) / (high - low)
    return np.asarray(chebyshev.chebval(t, coefficients), dtype=np.complex128)


def _sum_slots(op: ckks.SumSlotsOp, a: Vector) -> Vector:
    """From prefix sums of the vector and its repetitions."""
    repeats = 1 + -(-op.number // a.size)
    prefix = np.concatenate([[0], np.cumsum(np.tile(a, repeats))])
    return prefix[op.number : op.number + a.size] - prefix[: a.size]
