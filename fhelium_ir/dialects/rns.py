"""`rns`: the polynomial stage. A value is a bundle of residue polynomials in Z_q[X]/(X^N + 1).

Limbs, key-switching digits and components are axes of the type, never separate values. A bundle's rows are its residue
polynomials in memory order; row r of component c starts at (c * rows + r) * N.

Hybrid key switching follows Han and Ki, "Better bootstrapping for approximate homomorphic encryption" (2020).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from xdsl.dialects.builtin import I64, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects.assembly import FactOp, fact_conflict, integer_property
from fhelium_ir.dialects.rns_types import (
    ARITHMETIC,
    ORDERS,
    ArithmeticAttr,
    Basis,
    Constant,
    ConstantAttr,
    Digits,
    Limb,
    PolyFacts,
    PolyType,
    parse_basis,
    poly_facts,
    sum_below,
    widest,
    word_facts,
)
from fhelium_ir.dialects.zq import (
    FLOATING,
    FLOATING_WORDS,
    INTERFACE_WORD,
    MIXED,
    arithmetic_of,
)

__all__ = [
    "ARITHMETIC",
    "ORDERS",
    "ArithmeticAttr",
    "Basis",
    "Constant",
    "ConstantAttr",
    "Digits",
    "Limb",
    "PolyFacts",
    "PolyType",
    "parse_basis",
    "poly_facts",
    "word_facts",
]


def _same_shape(op: str, left: PolyFacts, right: PolyFacts) -> PolyFacts:
    fact = fact_conflict(left.unbounded(), right.unbounded())
    if fact is not None:
        raise VerifyException(
            f"{op}: the operands must have equal {fact}: the left one has "
            f"{getattr(left, fact)}, the right one {getattr(right, fact)}"
        )
    return replace(
        left,
        order=left.order or right.order,
        arithmetic=left.arithmetic or right.arithmetic,
        exponent=left.exponent if left.exponent is not None else right.exponent,
    )


def _product_exponent(arithmetic: str | None, left: int | None, right: int | None) -> int | None:
    """The exponent of a product of words at two exponents; None while one of them is open."""
    if left is None or right is None:
        return None
    if arithmetic in FLOATING_WORDS:
        return 0
    return left + right - 1


class BinaryOp(FactOp, ABC):
    """Two bundles of one shape to one, element by element."""

    lhs = operand_def(PolyType)
    rhs = operand_def(PolyType)
    result = result_def(PolyType)
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        types = self.infer([lhs.type, rhs.type], {})
        super().__init__(operands=[lhs, rhs], result_types=types)


class AdditiveOp(BinaryOp, ABC):
    """Operands have equal exponents; the intervals add up."""

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        left, right = word_facts(cls.name, operands[0]), word_facts(cls.name, operands[1])
        below = sum_below(left.below, right.below)
        float_below = sum_below(left.float_below, right.float_below)
        shape = _same_shape(cls.name, left, right)
        return [PolyType(replace(shape, below=below, float_below=float_below))]


@irdl_op_definition
class AddOp(AdditiveOp):
    """Sum."""

    name = "rns.add"


@irdl_op_definition
class SubOp(AdditiveOp):
    """Difference."""

    name = "rns.sub"


@irdl_op_definition
class MulOp(BinaryOp):
    """Product in the evaluation domain; exponents e1 and e2 give e1 + e2 - 1."""

    name = "rns.mul"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        left, right = word_facts(cls.name, operands[0]), word_facts(cls.name, operands[1])
        for side, facts in (("left", left), ("right", right)):
            if facts.domain != "evaluation":
                raise VerifyException(
                    f"{cls.name}: a product needs the evaluation domain, the {side} operand is in "
                    f"the {facts.domain} domain"
                )
        exponent = _product_exponent(left.arithmetic, left.exponent, right.exponent)
        shape = _same_shape(cls.name, replace(left, exponent=None), replace(right, exponent=None))
        return [PolyType(replace(shape.unbounded(), exponent=exponent))]


class UnaryOp(FactOp, ABC):
    """One bundle to one."""

    operand = operand_def(PolyType)
    result = result_def(PolyType)
    traits = traits_def(Pure())

    def __init__(
        self,
        operand: SSAValue,
        properties: Mapping[str, Attribute] | None = None,
        result_type: Attribute | None = None,
    ):
        given = dict(properties or {})
        types = [result_type] if result_type else self.infer([operand.type], given)
        super().__init__(operands=[operand], result_types=types, properties=given)


@irdl_op_definition
class NegateOp(UnaryOp):
    """Negation; an interval b becomes b + 1, and that of `fp64` stays as it is."""

    name = "rns.negate"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = word_facts(cls.name, operands[0])
        return [PolyType(replace(facts, below=_negated_below(facts)))]


def _negated_below(facts: PolyFacts) -> int | None:
    """The interval of words after a change of sign."""
    if facts.below is None or facts.arithmetic == FLOATING:
        return facts.below
    return facts.below + 1


@irdl_op_definition
class MulConstantOp(UnaryOp):
    """Product with one constant per limb, stored with Montgomery exponent `exponent` (absent until decided)."""

    name = "rns.mul_constant"
    constant = prop_def(ConstantAttr)
    exponent = opt_prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = word_facts(cls.name, operands[0])
        constant = properties.get("constant")
        if not isinstance(constant, ConstantAttr):
            raise VerifyException(f"{cls.name}: needs a property `constant`")
        divisor = constant.data.basis if constant.data.kind == "inverse" else None
        if divisor is not None and set(divisor.limbs()) & set(facts.basis.limbs()):
            raise VerifyException(f"{cls.name}: {divisor} is not invertible in {facts.basis}")
        stated = integer_property(properties, "exponent") if "exponent" in properties else None
        exponent = _product_exponent(facts.arithmetic, facts.exponent, stated)
        return [PolyType(replace(facts.unbounded(), exponent=exponent))]

    @property
    def constant_exponent(self) -> int:
        """Montgomery exponent of the stored constant; 1 leaves the operand's exponent as it is."""
        return integer_property(self.properties, "exponent", 1)


@irdl_op_definition
class SetRepresentativeOp(UnaryOp):
    """The only conversion of representatives: another exponent, a narrower interval, or the other form of word of the
    same residues, doubles of `fp64` or signed words and canonical integers.
    """

    name = "rns.set_representative"
    INFERS: ClassVar[bool] = False

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        known = arithmetic_of(facts.arithmetic)
        arithmetic = None if known is not None and known.interface else facts.arithmetic
        return [PolyType(replace(facts.unbounded(), arithmetic=arithmetic, exponent=None))]

    def verify_(self) -> None:
        super().verify_()
        before = poly_facts(self.name, self.operand.type).arithmetic
        after = poly_facts(self.name, self.result.type).arithmetic
        fits = arithmetic_of(before) == arithmetic_of(after)
        if {before, after} == {MIXED, INTERFACE_WORD}:
            fits = True
        if None not in (before, after) and not fits:
            raise VerifyException(f"{self.name}: {before} does not become {after}")


@irdl_op_definition
class RestrictOp(UnaryOp):
    """A view of some of the limbs."""

    name = "rns.restrict"
    INFERS: ClassVar[bool] = False

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        if facts.digits is not None:
            raise VerifyException(f"{cls.name}: a bundle with digits has no limb views")
        return [operands[0]]

    def verify_(self) -> None:
        facts = poly_facts(self.name, self.operand.type)
        self.infer([self.operand.type], self.properties)
        result = poly_facts(self.name, self.result.type)
        if not facts.basis.contains(result.basis):
            raise VerifyException(
                f"{self.name}: {result.basis} is no part of the operand's basis {facts.basis}"
            )
        fact = fact_conflict(replace(facts, basis=result.basis), result)
        if fact is not None:
            raise VerifyException(f"{self.name}: a view cannot change the {fact}")


@irdl_op_definition
class EmbedOp(UnaryOp):
    """The operand's limbs among those of a larger basis; every other limb is 0."""

    name = "rns.embed"
    INFERS: ClassVar[bool] = False

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        if facts.digits is not None:
            raise VerifyException(f"{cls.name}: a bundle with digits cannot be embedded")
        return [operands[0]]

    def verify_(self) -> None:
        facts = poly_facts(self.name, self.operand.type)
        self.infer([self.operand.type], self.properties)
        result = poly_facts(self.name, self.result.type)
        if not result.basis.contains(facts.basis):
            raise VerifyException(
                f"{self.name}: the operand's basis {facts.basis} is no part of {result.basis}"
            )
        fact = fact_conflict(replace(facts, basis=result.basis), result)
        if fact is not None:
            raise VerifyException(f"{self.name}: other limbs cannot change the {fact}")


@irdl_op_definition
class ExtractOp(UnaryOp):
    """Components `first` to `first + count - 1`."""

    name = "rns.extract"
    first = prop_def(IntegerAttr[I64])
    count = prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        first = integer_property(properties, "first", -1)
        count = integer_property(properties, "count", -1)
        if first < 0 or count < 1 or first + count > facts.components:
            raise VerifyException(
                f"{cls.name}: components {first} to {first + count - 1} are not among the "
                f"operand's {facts.components}"
            )
        return [PolyType(replace(facts, components=count))]

    @staticmethod
    def of(operand: SSAValue, first: int, count: int = 1) -> ExtractOp:
        return ExtractOp(
            operand, {"first": IntegerAttr(first, i64), "count": IntegerAttr(count, i64)}
        )


@irdl_op_definition
class PadOp(UnaryOp):
    """Adds zero components at the end, up to `components`."""

    name = "rns.pad"
    components = prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        components = integer_property(properties, "components", -1)
        if not facts.components <= components <= 3:
            raise VerifyException(f"{cls.name}: cannot pad to {components} components")
        return [PolyType(replace(facts, components=components))]

    @staticmethod
    def to(operand: SSAValue, components: int) -> PadOp:
        return PadOp(operand, {"components": IntegerAttr(components, i64)})


@irdl_op_definition
class PackOp(FactOp):
    """Single components side by side."""

    name = "rns.pack"
    parts = var_operand_def(PolyType)
    result = result_def(PolyType)
    traits = traits_def(Pure())

    def __init__(self, parts: Sequence[SSAValue]):
        types = self.infer([part.type for part in parts], {})
        super().__init__(operands=[list(parts)], result_types=types)

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        if not 1 <= len(operands) <= 3:
            raise VerifyException(f"{cls.name}: packs one to three components")
        shape = poly_facts(cls.name, operands[0])
        parts = [shape]
        for operand in operands[1:]:
            other = poly_facts(cls.name, operand)
            parts.append(other)
            shape = _same_shape(cls.name, shape, other)
        if shape.components != 1:
            raise VerifyException(f"{cls.name}: the operands have one component each")
        below = widest([part.below for part in parts])
        float_below = widest([part.float_below for part in parts])
        wide = replace(shape, below=below, float_below=float_below)
        return [PolyType(replace(wide, components=len(operands)))]


@irdl_op_definition
class AutomorphismOp(UnaryOp):
    """X -> X^galois, in either domain; galois is odd and taken modulo 2N."""

    name = "rns.automorphism"
    galois = prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        galois = integer_property(properties, "galois", 0)
        if galois % 2 == 0 or not 0 < galois < 2 * facts.degree:
            raise VerifyException(
                f"{cls.name}: {galois} is not an odd number below {2 * facts.degree}"
            )
        below = _negated_below(facts) if facts.domain == "coefficient" else facts.below
        return [PolyType(replace(facts, below=below))]

    @property
    def element(self) -> int:
        return self.galois.value.data

    @staticmethod
    def by(operand: SSAValue, galois: int) -> AutomorphismOp:
        return AutomorphismOp(operand, {"galois": IntegerAttr(galois, i64)})


@irdl_op_definition
class DigitsOp(UnaryOp):
    """A view of a bundle as key-switching digits of `size` limbs."""

    name = "rns.digits"
    size = prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = poly_facts(cls.name, operands[0])
        size = integer_property(properties, "size", 0)
        if facts.digits is not None or facts.components != 1 or facts.basis.p[1] or size < 1:
            raise VerifyException(f"{cls.name}: needs one component over primes of q and a size")
        return [PolyType(replace(facts, digits=Digits("own", size)))]

    @staticmethod
    def of(operand: SSAValue, size: int) -> DigitsOp:
        return DigitsOp(operand, {"size": IntegerAttr(size, i64)})


@irdl_op_definition
class BaseConvertOp(UnaryOp):
    """Approximate base conversion of punctured residues v_i (coefficient domain, reduced, exponent 0).

    Row t of the result is sum_i v_i * (D / d_i) - u * D modulo its prime, over the primes d_i of the source digit and
    their product D. `lift = "centred", correction = "none"`: u counts the v_i above d_i / 2, that is, v_i is taken in
    (-d_i/2, d_i/2). `lift = "canonical", correction = "nearest"`: u = floor(1/2 + sum_i v_i / d_i) in fixed point with
    32 fractional bits per term (docs/numerics.md fixes the operations). The coefficients D / d_i are constants, so the
    result may have any exponent.
    """

    name = "rns.base_convert"
    INFERS: ClassVar[bool] = False
    lift = prop_def(StringAttr)
    correction = prop_def(StringAttr)

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = word_facts(cls.name, operands[0])
        if facts.domain != "coefficient":
            raise VerifyException(f"{cls.name}: needs the coefficient domain")
        bounds = (facts.below, facts.float_below)
        if facts.exponent not in (None, 0) or not all(bound in (None, 1) for bound in bounds):
            raise VerifyException(f"{cls.name}: the operand must be reduced, with exponent 0")
        lift, correction = properties.get("lift"), properties.get("correction")
        pair = (
            lift.data if isinstance(lift, StringAttr) else "?",
            correction.data if isinstance(correction, StringAttr) else "?",
        )
        if pair not in (("centred", "none"), ("canonical", "nearest")):
            raise VerifyException(
                f"{cls.name}: lift and correction must be centred and none, or canonical and "
                f"nearest, found {pair[0]} and {pair[1]}"
            )
        return [operands[0]]

    def verify_(self) -> None:
        source = poly_facts(self.name, self.operand.type)
        self.infer([self.operand.type], self.properties)
        target = poly_facts(self.name, self.result.type)
        if source.digits is None:
            if target.digits is not None or set(source.basis.limbs()) & set(target.basis.limbs()):
                raise VerifyException(f"{self.name}: source and target bases must be disjoint")
        elif (
            source.digits.kind != "own"
            or target.digits != Digits("complement", source.digits.size)
            or target.basis.q != source.basis.q
        ):
            raise VerifyException(f"{self.name}: digits convert to their complement")
        if target.domain != "coefficient" or target.components != source.components:
            raise VerifyException(f"{self.name}: domain and components cannot change")


@irdl_op_definition
class AccumulateOp(FactOp):
    """Inner product with a key over the digits: sum_j d_j * key_j, two components.

    `own` holds each digit's own limbs (one bundle over q), `converted` the complement of each digit, `key` the key;
    all in the evaluation domain. Digit j uses key digit j; limbs are matched by prime.
    """

    name = "rns.accumulate"
    own = operand_def(PolyType)
    converted = operand_def(PolyType)
    key = operand_def(PolyType)
    result = result_def(PolyType)
    traits = traits_def(Pure())

    def __init__(self, own: SSAValue, converted: SSAValue, key: SSAValue):
        types = self.infer([own.type, converted.type, key.type], {})
        super().__init__(operands=[own, converted, key], result_types=types)

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        own, converted, key = (word_facts(cls.name, operand) for operand in operands)
        for facts in (own, converted, key):
            if facts.domain != "evaluation":
                raise VerifyException(f"{cls.name}: needs the evaluation domain")
        if own.digits is not None or own.components != 1:
            raise VerifyException(f"{cls.name}: `own` is one component without digits")
        if converted.digits is None or converted.digits.kind != "complement":
            raise VerifyException(f"{cls.name}: `converted` has complement digits")
        if key.digits != Digits("key", converted.digits.size):
            raise VerifyException(f"{cls.name}: the key must have digits of the same size")
        if own.basis.q != converted.basis.q or not key.basis.contains(converted.basis):
            raise VerifyException(f"{cls.name}: the bases do not fit together")
        if fact_conflict(
            replace(own.unbounded(), basis=key.basis, digits=None, exponent=None),
            replace(converted.unbounded(), basis=key.basis, digits=None, exponent=None),
        ):
            raise VerifyException(f"{cls.name}: `own` and `converted` differ")
        if None not in (own.exponent, converted.exponent) and own.exponent != converted.exponent:
            raise VerifyException(f"{cls.name}: `own` and `converted` have different exponents")
        exponent = _product_exponent(own.arithmetic, own.exponent, key.exponent)
        return [
            PolyType(
                replace(
                    converted.unbounded(),
                    components=key.components,
                    digits=None,
                    exponent=exponent,
                    order=own.order or converted.order or key.order,
                )
            )
        ]


Rns = Dialect(
    "rns",
    [
        AddOp,
        SubOp,
        NegateOp,
        MulOp,
        MulConstantOp,
        SetRepresentativeOp,
        RestrictOp,
        EmbedOp,
        ExtractOp,
        PadOp,
        PackOp,
        AutomorphismOp,
        DigitsOp,
        BaseConvertOp,
        AccumulateOp,
    ],
    [PolyType, ArithmeticAttr, ConstantAttr],
)
