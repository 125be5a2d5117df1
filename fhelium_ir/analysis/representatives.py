"""Representatives of the polynomial stage: the machine word, the intervals that follow from an op,
and their check.

A stored word is x * R^e mod q plus a multiple of q, in [0, below * q), for `fp64` at most
below * q/2 in magnitude, for `smont32` in [-below * q/2, below * q/2). `below` is an integer that
holds for every prime of the value's basis, so the largest one decides. In a mixed module there is
one for each group of primes, and all rules hold for each group by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis.prime_groups import group_primes, in_group, prime_of
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ntt, resource, rns
from fhelium_ir.dialects.ckks_params import parameters_of
from fhelium_ir.dialects.rns import ARITHMETIC, ArithmeticAttr, Basis, PolyFacts, PolyType
from fhelium_ir.dialects.zq import (
    INTERFACE_WORD,
    INTERFACE_WORDS,
    MIXED,
    MIXED_GROUPS,
    Arithmetic,
    towards_zero,
)
from fhelium_ir.parameters import Parameters

CONVERTED_BELOW = 2
"""A change of exponent is a product with a reduced constant, which lies below 2q."""

INTERFACE_BELOW = 1
"""Arguments and results of functions are reduced, with exponent 0."""

_UNBOUNDED = 1 << 53
"""`below` of a product or sum whose factors are too large: more than any word holds."""


@dataclass(frozen=True)
class Words:
    """What fits the words of a module: its arithmetic and its primes; or those of one `group` of a
    mixed module.
    """

    arithmetic: Arithmetic
    parameters: Parameters
    group: str | None = None
    _largest: dict[Basis, int] = field(default_factory=dict[Basis, int], compare=False)

    @property
    def groups(self) -> tuple[Words, ...]:
        """Those of each group of a mixed module; of any other module these ones."""
        if self.arithmetic.name != MIXED:
            return (self,)
        return tuple(Words(part, self.parameters, part.name) for part in MIXED_GROUPS)

    def largest(self, basis: Basis) -> int:
        """The largest prime of a basis; of a group that has none there, its largest prime, or 1.

        Raises:
            FheliumError: the module's parameters have no such prime.
        """
        known = self._largest.get(basis)
        if known is None:
            families = {"q": self.parameters.q, "p": self.parameters.p}
            for limb in basis.limbs():
                if limb.index >= len(families[limb.family]):
                    raise FheliumError(
                        f"the basis {basis} has the prime {limb.family}{limb.index}, the "
                        f"parameters have {len(families[limb.family])} primes {limb.family}"
                    )
            limbs = [x for x in basis.limbs() if in_group(x, self.parameters, self.group)]
            found = [prime_of(limb, self.parameters) for limb in limbs]
            known = max(found or group_primes(self.parameters, self.group) or (1,))
            self._largest[basis] = known
        return known

    def capacity(self, basis: Basis) -> int:
        """The largest `below` whose words fit: below * q <= 2^word. A word of `fp64` is at most
        2^52 in magnitude, so that one reduction centres it. For `smont32` it is an even number, so
        that making a word canonical has room for a multiple of q (docs/numerics.md).
        """
        bits = 53 if self.arithmetic.floating else self.arithmetic.word_bits
        found = (1 << bits) // self.largest(basis)
        return found - found % 2 if self.is_signed_integer else found

    @property
    def is_signed_integer(self) -> bool:
        """Whether words are signed integers."""
        return self.arithmetic.signed and not self.arithmetic.floating

    def product(self, left: int, right: int, basis: Basis) -> int:
        """`below` of a product.

        Montgomery: a*b/R + q < (1 + left * right * q / R) q, or of signed words |a b|/R + q/2 <=
        (1 + left * right * q / (2 R)) q/2, an end that no interval holds. For `fp64` the quotient |a b / q| is
        at most left * right * q/4, must not exceed 2^51, and moves the result by 2^-52 of itself
        beyond q/2. Where it does exceed that no word is wide enough.
        """
        scaled = left * right * self.largest(basis)
        if self.is_signed_integer:
            return 2 + scaled // (2 * self.arithmetic.radix)
        if not self.arithmetic.floating:
            return 1 + -(-scaled // self.arithmetic.radix)
        if scaled > 1 << 53:
            return _UNBOUNDED
        return 1 + -(-scaled // (1 << 53))

    def narrower(self, below: int) -> int:
        """The interval that a word is reduced to where it needs not be reduced fully: signed words
        take several steps, each of which halves it.
        """
        return towards_zero(below)[1] if self.is_signed_integer and below > 2 else 1

    @property
    def interface(self) -> str:
        """The representative in which values cross the interface of a function."""
        return self.arithmetic.interface or self.arithmetic.name


def words_of(module: ModuleOp, pass_name: str) -> Words:
    """The words of a module.

    Raises:
        FheliumError: the module has no parameters, or no arithmetic yet.
    """
    parameters = parameters_of(module)
    attribute = module.attributes.get(ARITHMETIC)
    if not isinstance(attribute, ArithmeticAttr):
        raise FheliumError(
            f"{pass_name}: the module has no attribute `{ARITHMETIC}`; run select-arithmetic first",
            location_of(module),
        )
    return Words(attribute.arithmetic, parameters)


def name_of(value: SSAValue) -> str:
    """How messages call a value."""
    return f"%{value.name_hint}" if value.name_hint else "a value"


def poly(value: SSAValue) -> PolyFacts | None:
    """Facts of a bundle; None for any other value."""
    return value.type.data if isinstance(value.type, PolyType) else None


def is_interface(value: SSAValue) -> bool:
    """Whether a bundle is stored as canonical integers that only cross interfaces."""
    facts = poly(value)
    return facts is not None and facts.arithmetic in INTERFACE_WORDS


def known_op(op: Operation) -> bool:
    """Whether the representatives of an op's operands and results have rules here."""
    return isinstance(op, _KNOWN)


def contract_of(op: ntt.TransformOp, pass_name: str, group: str | None = None) -> ntt.Contract:
    """The contract of a transform, in a mixed module that for the rows of a group.

    Raises:
        FheliumError: it has none yet.
    """
    contract = op.contract_of(group)
    if contract is None:
        raise FheliumError(
            f"{pass_name}: {op.name} has no contract; run select-ntt-schedules first",
            location_of(op),
        )
    return contract


def below_of(facts: PolyFacts, words: Words) -> tuple[int | None, ...]:
    """The interval of each group of words that a type states."""
    return tuple(facts.of_group(group.group).below for group in words.groups)


def with_below(facts: PolyFacts, below: Sequence[int | None]) -> PolyFacts:
    """Facts with the interval of each group of words."""
    return replace(facts, below=below[0], float_below=below[1] if len(below) > 1 else None)


def required_below(op: Operation, group: str | None = None) -> int | None:
    """The interval that an op takes whatever else is true of its operands; None if any word will
    do.
    """
    if isinstance(op, ntt.TransformOp):
        contract = op.contract_of(group)
        return contract.input_below if contract is not None else None
    if isinstance(op, rns.BaseConvertOp):
        return 1
    if isinstance(op, rns.SetRepresentativeOp) and is_interface(op.result):
        facts = poly(op.result)
        assert facts is not None
        # A double has to be centred; any signed word becomes canonical.
        return 1 if facts.arithmetic == INTERFACE_WORD else None
    if isinstance(op, func.ReturnOp | func.CallOp):
        return INTERFACE_BELOW
    return None


def derived_below(op: Operation, operands: Sequence[int], words: Words) -> int | None:
    """The smallest `below` that an op's result has for operands below these; None for an op without
    a bundle as result.

    A product with a constant, which is reduced, is below (1 + below * q / R) q. An accumulation
    reduces each partial sum below 2q. A base conversion ends with one product. In `fp64` both end
    with a reduction, a canonical integer is a word below 2, and a sign costs nothing. A key of words
    with a sign must be centred.
    """
    floating = words.arithmetic.floating
    match op:
        case rns.AddOp() | rns.SubOp():
            return operands[0] + operands[1]
        case rns.NegateOp():
            return operands[0] + (not floating)
        case rns.AutomorphismOp():
            facts = poly(op.operand)
            # X^i -> -X^j negates some coefficients; in the evaluation domain nothing is negated.
            negates = facts is not None and facts.domain == "coefficient" and not floating
            return operands[0] + negates
        case rns.MulOp():
            return words.product(operands[0], operands[1], _basis(op.result))
        case rns.MulConstantOp():
            return words.product(operands[0], 1, _basis(op.result))
        case rns.AccumulateOp() if words.arithmetic.signed and operands[2] != 1:
            return _UNBOUNDED
        case rns.AccumulateOp() | rns.BaseConvertOp():
            return 1 if floating else 2
        case rns.SetRepresentativeOp():
            return 2 if words.arithmetic.signed and is_interface(op.operand) else 1
        case ntt.ForwardOp() | ntt.InverseOp():
            contract = op.contract_of(words.group)
            return contract.output_below if contract is not None else None
        case resource.RefOp() | func.CallOp():
            return INTERFACE_BELOW
        case (
            rns.PackOp()
            | rns.ExtractOp()
            | rns.PadOp()
            | rns.RestrictOp()
            | rns.EmbedOp()
            | rns.DigitsOp()
        ):
            return max(operands)
        case _:
            return None


def _basis(value: SSAValue) -> Basis:
    facts = poly(value)
    assert facts is not None
    return facts.basis


_KNOWN = (
    rns.BinaryOp,
    rns.UnaryOp,
    rns.PackOp,
    rns.AccumulateOp,
    ntt.TransformOp,
    resource.RefOp,
    func.ReturnOp,
    func.CallOp,
)


def check_representatives(module: ModuleOp) -> None:
    """Re-derives the interval of every bundle from the operands' types: the check at the end of the
    polynomial stage.

    Raises:
        FheliumError: a fact is absent, an interval is understated, leaves its word or breaks a
        contract, or an argument or
            a result of a function is not reduced with exponent 0. The location is that of the op.
    """
    words = words_of(module, "representatives")
    for op in module.walk():
        try:
            _check_op(op, words)
        except FheliumError as error:
            raise FheliumError(error.message, error.location or location_of(op)) from error


def _check_op(op: Operation, words: Words) -> None:
    if isinstance(op, func.FuncOp) and not op.is_declaration:
        for argument in op.args:
            _check_interface(argument, words)
    bundles = [operand for operand in op.operands if poly(operand) is not None]
    bounds = [_check_value(operand, words) for operand in bundles]
    groups = words.groups
    for number, group in enumerate(groups):
        required = required_below(op, group.group)
        for operand, below in zip(bundles, bounds, strict=True):
            if required is not None and below[number] > required:
                raise FheliumError(
                    f"{op.name}: {name_of(operand)} is below {below[number]}q, the op takes "
                    f"{required}q"
                )
    if isinstance(op, func.ReturnOp | func.CallOp):
        for value in (*op.operands, *op.results):
            _check_interface(value, words)
    for result in op.results:
        if poly(result) is None:
            continue
        stated = _check_value(result, words)
        if not known_op(op):
            continue
        for number, (below, group) in enumerate(zip(stated, groups, strict=True)):
            derived = derived_below(op, [bound[number] for bound in bounds], group)
            if derived is not None and below < derived:
                raise FheliumError(
                    f"{op.name}: {name_of(result)} is said to be below {below}q, but only "
                    f"{derived}q follows from the operands"
                )


def _check_interface(value: SSAValue, words: Words) -> None:
    facts = poly(value)
    if facts is None:
        return
    below = _check_value(value, words)
    if facts.arithmetic != words.interface:
        raise FheliumError(
            f"{name_of(value)} crosses the interface of a function, so it must be stored as "
            f"{words.interface}, not {facts.arithmetic}"
        )
    if facts.exponent != 0 or below[0] != INTERFACE_BELOW:
        raise FheliumError(
            f"{name_of(value)} crosses the interface of a function, so it must have exponent 0 and "
            f"be below 1q; it has exponent {facts.exponent} and is below {below[0]}q"
        )


def _check_value(value: SSAValue, words: Words) -> list[int]:
    """The intervals of a value, one for each group of words."""
    facts = poly(value)
    assert facts is not None
    stated = below_of(facts, words)
    if facts.arithmetic is None or facts.exponent is None or None in stated:
        raise FheliumError(f"{name_of(value)} has no representative; run track-montgomery first")
    if facts.arithmetic not in (words.arithmetic.name, words.interface):
        raise FheliumError(
            f"{name_of(value)} is stored for {facts.arithmetic}, the module's arithmetic is "
            f"{words.arithmetic.name}"
        )
    bounds: list[int] = []
    for group, below in zip(words.groups, stated, strict=True):
        assert below is not None
        capacity = group.capacity(facts.basis)
        arithmetic = facts.arithmetic if group.group is None else group.group
        if below > capacity:
            raise FheliumError(
                f"{name_of(value)} is below {below}q, but a word of {arithmetic} holds "
                f"{capacity}q for the primes {facts.basis}"
            )
        bounds.append(below)
    return bounds
