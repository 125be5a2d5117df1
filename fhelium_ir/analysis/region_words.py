"""What the primes of a module say about the words of its regions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.analysis.prime_groups import group_primes
from fhelium_ir.dialects import rns
from fhelium_ir.dialects.ckks_params import PARAMS, parameters_of
from fhelium_ir.dialects.zq import FLOATING, FLOATING_WORDS, MIXED, MIXED_GROUPS, Arithmetic
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


def largest_prime(ops: Sequence[Operation], group: str | None = None) -> int:
    """The largest prime of an `fp64` module, or of that group of a mixed one; 0 for any other.

    Raises:
        FheliumError: the module has no parameters.
    """
    found = _module(ops)
    if found is None or (group or found[1].name) != FLOATING:
        return 0
    return _largest(found[0], group)


def word_capacity(ops: Sequence[Operation], group: str | None = None) -> int:
    """How many times the largest prime fits into an unsigned word; every admitted one fits 4 times."""
    found = _module(ops)
    floating = found is None or (group or found[1].name) == FLOATING
    if found is None or floating or PARAMS not in found[0].attributes:
        return SMALLEST_CAPACITY
    largest = _largest(found[0], group)
    return min(LARGEST_CAPACITY, (1 << found[1].word_bits) // largest)


MIXED_WIDTH = 6
"""Entries for one source limb in the conversion table of a group of a mixed module, see the resource dialect."""


def conversion_width(arithmetic: str | None, correction: str, mixed: bool = False) -> int:
    """Entries of a conversion table for one source limb: integers, or doubles if there is one."""
    if mixed:
        return MIXED_WIDTH
    if arithmetic in FLOATING_WORDS:
        return 4 if correction == "nearest" else 1
    return 3
