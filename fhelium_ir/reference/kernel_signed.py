"""Words of `smont32` in the exact interpreter of the kernel stage.

The `zq` ops are computed on 64-bit integers, from their definition, and not by the sequences that they are lowered to.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from fhelium_ir.dialects import zq
from fhelium_ir.reference.kernel_floats import Checked
from fhelium_ir.reference.kernel_memory import Array, KernelFault

Wide = NDArray[np.int64]

_HALF_RADIX = 1 << 31


def computes(op: zq.BinaryZqOp | zq.ReduceOp | zq.CanonicalOp) -> bool:
    """Whether an op is one on such words."""
    type_ = op.modulus.type
    return isinstance(type_, zq.ModulusType) and type_.arithmetic.name == zq.SIGNED


def evaluate(op: Operation, operands: Sequence[Array], q: Array, q_inverse: Array) -> Checked:
    """An op on words [programs, lanes...] of 32 bits, read as signed integers.

    Raises:
        KernelFault: the op is unknown.
    """
    words = [_wide(operand) for operand in operands]
    modulus = _wide(q)
    match op:
        case zq.AddOp():
            return add(op.name, words[0] + words[1])
        case zq.SubOp():
            return add(op.name, words[0] - words[1])
        case zq.MulOp():
            return _product(words[0], words[1], modulus, _wide(q_inverse))
        case zq.ReduceOp():
            return _reduced(op, words[0], modulus)
        case zq.CanonicalOp():
            outside = _outside(words[0], op.from_.value.data, modulus)
            message = "zq.canonical: the value is not within from*q/2"
            return Checked(_word(words[0] % _divisor(modulus)), ((outside, message),))
        case _:
            raise KernelFault(f"the interpreter does not know '{op.name}'")


def add(name: str, total: Wide) -> Checked:
    """`zq.add` and `zq.sub`: a sum or difference that has to fit the word."""
    leaves = (total < -_HALF_RADIX) | (total >= _HALF_RADIX)
    return Checked(_word(total), ((leaves, f"{name} leaves the word"),))


def _product(lhs: Wide, rhs: Wide, q: Wide, q_inverse: Wide) -> Checked:
    """`(lhs * rhs - m * q) / 2^32` with m = lhs * rhs * q^-1 modulo 2^32, signed: both products are below 2^62."""
    product = lhs * rhs
    m = _wide(_word(_wide(_word(product)) * q_inverse))
    rest = product - m * q
    wrong = (rest & (2 * _HALF_RADIX - 1)) != 0
    return Checked(_word(rest >> 32), ((wrong, "zq.mul: q_inverse is not the inverse of q"),))


def _reduced(op: zq.ReduceOp, value: Wide, q: Wide) -> Checked:
    """Towards 0 by multiples of q, or centred."""
    outside = _outside(value, op.from_.value.data, q)
    faults = ((outside, "zq.reduce: the value is not within from*q/2"),)
    if op.to.value.data == 1:
        residue = value % _divisor(q)
        value = np.where(2 * residue > q, residue - q, residue)
    else:
        for step in op.steps():
            value = value + np.where(value < 0, step * q, -step * q)
    return Checked(_word(value), faults)


def _outside(value: Wide, below: int, q: Wide) -> NDArray[np.bool_]:
    """Where a word is not in [-below * q/2, below * q/2)."""
    return (2 * value < -below * q) | (2 * value >= below * q)


def _divisor(q: Wide) -> Wide:
    return np.maximum(q, 1)


def _wide(words: Array) -> Wide:
    return words.astype(np.uint32).view(np.int32).astype(np.int64)


def _word(value: Wide) -> Array:
    return value.astype(np.int32).view(np.uint32)
