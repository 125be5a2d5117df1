"""What the primes of a module say about the words of its regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.dialects import rns
from fhelium_ir.dialects.ckks_params import PARAMS, parameters_of
from fhelium_ir.dialects.zq import FLOATING_WORDS, Arithmetic

SMALLEST_CAPACITY, LARGEST_CAPACITY = 4, 16
"""Beyond 16 a wider interval saves no reduction, and fewer values make more kernels equal."""


def _module(ops: Sequence[Operation]) -> tuple[ModuleOp, Arithmetic] | None:
    """The ops' module and its arithmetic, if it states one."""
    module: Operation | None = ops[0]
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    arithmetic = module.attributes.get(rns.ARITHMETIC) if module is not None else None
    if module is None or not isinstance(arithmetic, rns.ArithmeticAttr):
        return None
    return module, arithmetic.arithmetic


def largest_prime(ops: Sequence[Operation]) -> int:
    """The largest prime of an `fp64` module, 0 in any other.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None or not found[1].floating:
        return 0
    return max(parameters_of(found[0]).primes)


def word_capacity(ops: Sequence[Operation]) -> int:
    """How many times the largest prime fits into an unsigned word; every admitted one fits 4 times."""
    found = _module(ops)
    if found is None or found[1].floating or PARAMS not in found[0].attributes:
        return SMALLEST_CAPACITY
    largest = max(parameters_of(found[0]).primes)
    return min(LARGEST_CAPACITY, (1 << found[1].word_bits) // largest)


def conversion_width(arithmetic: str | None, correction: str) -> int:
    """Entries of a conversion table for one source limb: integers, or doubles if there is one."""
    if arithmetic in FLOATING_WORDS:
        return 4 if correction == "nearest" else 1
    return 3
