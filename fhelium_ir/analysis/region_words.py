"""What the primes of a module say about the words of its regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.dialects import rns
from fhelium_ir.dialects.ckks_params import parameters_of
from fhelium_ir.dialects.zq import FLOATING_WORDS, Arithmetic

SMALLEST_CAPACITY, LARGEST_CAPACITY = 4, 16
"""Beyond 16 a wider interval saves no reduction, and fewer values make more kernels equal."""


def _words(ops: Sequence[Operation]) -> tuple[Arithmetic, int] | None:
    """The arithmetic and the largest prime of the ops' module, if it states an arithmetic."""
    module: Operation | None = ops[0]
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    arithmetic = module.attributes.get(rns.ARITHMETIC) if module is not None else None
    if module is None or not isinstance(arithmetic, rns.ArithmeticAttr):
        return None
    return arithmetic.arithmetic, max(parameters_of(module).primes)


def largest_prime(ops: Sequence[Operation]) -> int:
    """The largest prime of an `fp64` module, 0 in any other."""
    words = _words(ops)
    return words[1] if words is not None and words[0].floating else 0


def word_capacity(ops: Sequence[Operation]) -> int:
    """How many times the largest prime fits into an unsigned word; every admitted one fits 4 times."""
    words = _words(ops)
    if words is None or words[0].floating:
        return SMALLEST_CAPACITY
    return min(LARGEST_CAPACITY, (1 << words[0].word_bits) // words[1])


def conversion_width(arithmetic: str | None, correction: str) -> int:
    """Entries of a conversion table for one source limb: integers, or doubles if there is one."""
    if arithmetic in FLOATING_WORDS:
        return 4 if correction == "nearest" else 1
    return 3
