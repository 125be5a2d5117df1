"""What structured ops of the `ckks` dialect hold: the diagonals of a matrix."""

from __future__ import annotations

import math

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks

Diagonals = dict[int, tuple[float, ...]]
"""By number d in [0, n), in increasing order: A[j][(j + d) mod n] for j = 0..n-1."""


def matrix_diagonals(op: ckks.LinearTransformOp) -> Diagonals:
    """The generalised diagonals that are not zero.

    Raises:
        FheliumError: the matrix is not a constant, or an entry is infinite or NaN.
    """
    source = op.matrix.owner
    if not isinstance(source, arith.ConstantOp) or not isinstance(
        source.value, DenseIntOrFPElementsAttr
    ):
        raise FheliumError(
            f"{op.name}: the matrix must be an `arith.constant dense<...>`", location_of(op)
        )
    numbers = source.value.get_values()
    values = tuple(float(value) for value in numbers if not isinstance(value, tuple))
    size = op.size
    for index, value in enumerate(values):
        if not math.isfinite(value):
            place = f"[{index // size}][{index % size}]"
            raise FheliumError(
                f"{op.name}: entry {place} of the matrix is {value}", location_of(op)
            )
    if op.diagonal_numbers is not None:
        given = {d: values[r * size : (r + 1) * size] for r, d in enumerate(op.diagonal_numbers)}
    else:
        given = {
            d: tuple(values[j * size + (j + d) % size] for j in range(size)) for d in range(size)
        }
    return {d: given[d] for d in sorted(given) if any(given[d])}
