"""Negacyclic number-theoretic transform on numpy arrays, in the project's convention.

Natural order in, bit-reversed out: out[bitrev(i)] = a(psi^(2i+1)), psi from
`numbers.primitive_root`. Forward is Cooley-Tukey with psi merged, inverse is Gentleman-Sande
(Longa and Naehrig, "Speeding up the number theoretic transform", 2016, algorithms 1 and 2).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from fhelium_ir.client.modular import Factor, IntArray, add, mul, mul_factor, prepare, sub
from fhelium_ir.client.numbers import bit_reversal, primitive_root

# Rows are transformed in groups of about this many words so that temporaries stay in cache.
_GROUP_WORDS = 1 << 16


@dataclass(frozen=True, eq=False)
class _Tables:
    """Twiddles of every stage, shaped for broadcasting, of one direction and one (N, q).

    The first `head` stages see the data as [rows, blocks, 2, half]. The others see it transposed,
    [rows, blocks, 2, half, columns] with 2^head columns, so that the innermost axis stays long.
    """

    head: int
    stages: tuple[Factor, ...]
    scale: Factor


def forward(values: IntArray, q: int) -> IntArray:
    """Forward transform of [..., N] (natural order, [0, q)) to evaluations, bit-reversed."""
    return _transform(values, q, _forward_group)


def inverse(values: IntArray, q: int) -> IntArray:
    """Inverse transform of [..., N] (bit-reversed evaluations) to coefficients, natural order."""
    return _transform(values, q, _inverse_group)


def forward_limbs(values: IntArray, primes: Sequence[int]) -> IntArray:
    """Forward transform of [..., limbs, N], limb i modulo primes[i]."""
    return np.stack([forward(values[..., i, :], q) for i, q in enumerate(primes)], axis=-2)


def inverse_limbs(values: IntArray, primes: Sequence[int]) -> IntArray:
    """Inverse transform of [..., limbs, N], limb i modulo primes[i]."""
    return np.stack([inverse(values[..., i, :], q) for i, q in enumerate(primes)], axis=-2)


def automorphism(coefficients: IntArray, element: int) -> IntArray:
    """X -> X^element on signed integer coefficients of shape [..., N]; element is odd."""
    degree = coefficients.shape[-1]
    exponents = np.arange(degree, dtype=np.int64) * (element % (2 * degree)) % (2 * degree)
    result = np.empty_like(coefficients)
    # X^(N+i) = -X^i
    result[..., exponents % degree] = np.where(exponents >= degree, -coefficients, coefficients)
    return result


def _transform(values: IntArray, q: int, group: Callable[[IntArray, int], IntArray]) -> IntArray:
    degree = values.shape[-1]
    rows = values.reshape(-1, degree)
    count = max(1, _GROUP_WORDS // degree)
    result = np.empty(rows.shape, dtype=np.int64)
    for start in range(0, rows.shape[0], count):
        result[start : start + count] = group(rows[start : start + count], q)
    return result.reshape(values.shape)


def _forward_group(rows: IntArray, q: int) -> IntArray:
    count, degree = rows.shape
    tables = _forward_tables(degree, q)
    columns = 1 << tables.head
    data = rows.copy()
    for stage, twiddle in enumerate(tables.stages):
        if stage == tables.head:
            data = _swap(data, columns)
        view = _blocks(data, count, degree, stage, tables.head)
        upper, lower = view[:, :, 0], mul_factor(view[:, :, 1], twiddle)
        view[:, :, 1] = sub(upper, lower, q)
        view[:, :, 0] = add(upper, lower, q)
    return _swap(data, degree // columns)


def _inverse_group(rows: IntArray, q: int) -> IntArray:
    count, degree = rows.shape
    tables = _inverse_tables(degree, q)
    columns = 1 << tables.head
    data = _swap(rows, columns)
    for stage in reversed(range(len(tables.stages))):
        view = _blocks(data, count, degree, stage, tables.head)
        upper, lower = view[:, :, 0], view[:, :, 1]
        difference = sub(upper, lower, q)
        view[:, :, 0] = add(upper, lower, q)
        view[:, :, 1] = mul_factor(difference, tables.stages[stage])
        if stage == tables.head:
            data = _swap(data, degree // columns)
    return mul_factor(data, tables.scale)


def _swap(data: IntArray, outer: int) -> IntArray:
    """Transpose each row seen as [outer, N/outer]; returns a contiguous array of equal shape."""
    count, degree = data.shape
    grid = data.reshape(count, outer, degree // outer).transpose(0, 2, 1)
    return np.ascontiguousarray(grid).reshape(count, degree)


def _blocks(data: IntArray, count: int, degree: int, stage: int, head: int) -> IntArray:
    """The view of the data in which the butterflies of a stage pair index 0 and 1 of axis 2."""
    if stage < head:
        return data.reshape(count, 1 << stage, 2, degree >> (stage + 1))
    return data.reshape(count, 1 << (stage - head), 2, degree >> (stage + 1), 1 << head)


@lru_cache(maxsize=256)
def _forward_tables(degree: int, q: int) -> _Tables:
    return _tables(degree, q, primitive_root(degree, q))


@lru_cache(maxsize=256)
def _inverse_tables(degree: int, q: int) -> _Tables:
    return _tables(degree, q, pow(primitive_root(degree, q), -1, q))


def _tables(degree: int, q: int, root: int) -> _Tables:
    powers = np.ones(1, dtype=np.int64)
    while powers.size < degree:
        powers = np.concatenate([powers, mul(powers, pow(root, powers.size, q), q)])
    twiddles = powers[bit_reversal(degree)]
    stages = degree.bit_length() - 1
    head = (stages + 1) // 2
    factors: list[Factor] = []
    for stage in range(stages):
        stage_twiddles = twiddles[1 << stage : 2 << stage]
        if stage < head:
            factors.append(prepare(stage_twiddles.reshape(-1, 1), q))
        else:
            grid = np.ascontiguousarray(stage_twiddles.reshape(1 << head, -1).T)
            factors.append(prepare(grid.reshape(-1, 1, 1 << head), q))
    return _Tables(head, tuple(factors), prepare(pow(degree, -1, q), q))
