"""What the primes of a module say about the words of its regions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.analysis import float_bounds, signed_bounds
from fhelium_ir.analysis.prime_groups import group_primes
from fhelium_ir.dialects import rns
from fhelium_ir.dialects.ckks_params import PARAMS, parameters_of
from fhelium_ir.dialects.zq import ARITHMETICS, MIXED, MIXED_GROUPS, Arithmetic, are_signed
from fhelium_ir.parameters import Parameters

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


def prime_groups(ops: Sequence[Operation]) -> tuple[Parameters | None, tuple[str | None, ...]]:
    """Parameters and groups of the primes of a mixed module; None and a single None for any other.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None or found[1].name != MIXED:
        return None, (None,)
    return parameters_of(found[0]), tuple(group.name for group in MIXED_GROUPS)


def _largest(module: ModuleOp, group: str | None) -> int:
    """The largest prime of a group; 1 if it has none."""
    return max(group_primes(parameters_of(module), group) or (1,))


def _arithmetic(stated: Arithmetic, group: str | None) -> Arithmetic:
    """What kernels compute in: the group's arithmetic in a mixed module."""
    return stated if group is None else ARITHMETICS[group]


def largest_prime(ops: Sequence[Operation], group: str | None = None) -> int:
    """The largest prime of a module whose words have a sign, or of such a group of a mixed one; 0 for any other.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None or not _arithmetic(found[1], group).signed:
        return 0
    return _largest(found[0], group)


def word_capacity(ops: Sequence[Operation], group: str | None = None) -> int:
    """How many times the largest prime fits into an integer word; every admitted one fits 4 times."""
    found = _module(ops)
    if found is None or _arithmetic(found[1], group).floating or PARAMS not in found[0].attributes:
        return SMALLEST_CAPACITY
    largest = _largest(found[0], group)
    capacity = min(LARGEST_CAPACITY, (1 << found[1].word_bits) // largest)
    return capacity - capacity % 2 if found[1].signed else capacity


def products_fit(
    ops: Sequence[Operation], terms: int, bound: Fraction, group: str | None = None
) -> bool:
    """Whether so many products of words with this bound and centred ones add up in a word with a sign.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None:
        return False
    arithmetic = _arithmetic(found[1], group)
    if not arithmetic.signed:
        return False
    fit = float_bounds.terms_fit if arithmetic.floating else signed_bounds.terms_fit
    return fit(terms, bound, _largest(found[0], group))


MIXED_WIDTH = 6
"""Entries for one source limb in the conversion table of a group of a mixed module, see the resource dialect."""


def conversion_width(arithmetic: str | None, correction: str, mixed: bool = False) -> int:
    """Entries of a conversion table for one source limb: integers of 64 bits, or a word if there is one."""
    if mixed:
        return MIXED_WIDTH
    if are_signed(arithmetic):
        return 4 if correction == "nearest" else 1
    return 3
