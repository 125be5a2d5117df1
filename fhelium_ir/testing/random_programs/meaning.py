"""What ops mean, on plain vectors: the oracle of generated programs, written from the definitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.polynomial import chebyshev, polynomial
from numpy.typing import NDArray

from fhelium_ir.testing.random_programs.statements import Function, Op, run

Vector = NDArray[np.complex128]


def results(
    function: Function,
    functions: Mapping[str, Function],
    inputs: Mapping[str, Vector],
    slots: int,
) -> list[Vector]:
    """The results of a function on vectors whose lengths divide the slot count."""

    def repeated(values: Sequence[float] | Vector) -> Vector:
        array = np.asarray(values, dtype=np.complex128)
        return np.tile(array, slots // len(array))

    def rule(op: Op, *x: Vector, count: int) -> Vector:
        match op.kind:
            case "encode":
                return repeated(op.values)
            case "add" | "add_plain":
                return x[0] + x[1]
            case "sub" | "sub_plain":
                return x[0] - x[1]
            case "mul" | "mul_plain":
                return x[0] * x[1]
            case "negate":
                return -x[0]
            case "conjugate":
                return np.conj(x[0])
            case "rotate" | "rotate_dynamic":
                return x[0][(np.arange(slots) + count) % slots]
            case "sum_slots":
                total = np.zeros_like(x[0])
                for offset in range(count):
                    total = total + x[0][(np.arange(slots) + offset) % slots]
                return total
            case "linear_transform":
                return _transform(op, x[0])
            case "polynomial":
                if op.basis == "chebyshev":
                    low, high = op.domain or (-1.0, 1.0)
                    t = (2 * x[0] - low - high) / (high - low)
                    return np.asarray(chebyshev.chebval(t, op.values), dtype=np.complex128)
                return np.asarray(polynomial.polyval(x[0], op.values), dtype=np.complex128)
            case _:
                return x[0]

    values = {name: repeated(vector) for name, vector in inputs.items()}
    run(function.body, values, {}, rule, functions)
    return [values[name] for name, _ in function.results]


def _transform(op: Op, x: Vector) -> Vector:
    """Slot j is the sum over d of A[j mod n][(j + d) mod n] times slot j + d."""
    table = np.array(op.values).reshape(op.rows, -1)
    size, slots = table.shape[1], len(x)
    j = np.arange(slots)
    total = np.zeros_like(x)
    for d in range(size):
        if op.diagonals is None:
            factors = table[j % size, (j + d) % size]
        elif d in op.diagonals:
            factors = table[op.diagonals.index(d), j % size]
        else:
            continue
        total = total + factors * x[(j + d) % slots]
    return total
