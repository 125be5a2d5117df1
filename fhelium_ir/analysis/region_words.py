"""What the primes of a module say about the words of its regions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis import float_bounds, signed_bounds
from fhelium_ir.dialects import rns
from fhelium_ir.dialects.ckks_params import PARAMS, parameters_of
from fhelium_ir.dialects.rns import PolyType
from fhelium_ir.dialects.zq import INTERFACE_WORD, Arithmetic, are_signed

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
    """The largest prime of a module whose words have a sign, 0 in any other.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None or not found[1].signed:
        return 0
    return max(parameters_of(found[0]).primes)


def word_capacity(ops: Sequence[Operation]) -> int:
    """How many times the largest prime fits into an integer word; every admitted one fits 4 times."""
    found = _module(ops)
    if found is None or found[1].floating or PARAMS not in found[0].attributes:
        return SMALLEST_CAPACITY
    largest = max(parameters_of(found[0]).primes)
    capacity = min(LARGEST_CAPACITY, (1 << found[1].word_bits) // largest)
    return capacity - capacity % 2 if found[1].signed else capacity


def products_fit(ops: Sequence[Operation], terms: int, bound: Fraction) -> bool:
    """Whether so many products of words with this bound and centred ones add up in a word with a sign.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None or not found[1].signed:
        return False
    largest = max(parameters_of(found[0]).primes)
    fit = float_bounds.terms_fit if found[1].floating else signed_bounds.terms_fit
    return fit(terms, bound, largest)


def stored_as_integers(values: Sequence[SSAValue]) -> tuple[int, ...]:
    """Which bundles are canonical integers of an `fp64` program: other words than those inside."""
    found: list[int] = []
    for index, value in enumerate(values):
        type_ = value.type
        if isinstance(type_, PolyType) and type_.data.arithmetic == INTERFACE_WORD:
            found.append(index)
    return tuple(found)


def conversion_width(arithmetic: str | None, correction: str) -> int:
    """Entries of a conversion table for one source limb: integers of 64 bits, or a word if there is one."""
    if are_signed(arithmetic):
        return 4 if correction == "nearest" else 1
    return 3
