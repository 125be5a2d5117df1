"""`ckks`: the program stage. Values are ciphertexts and plaintexts.

A value at level l lives modulo q_0 * ... * q_l. The rules are those of Cheon, Kim, Kim, Song,
"Homomorphic encryption for arithmetic of approximate numbers" (2017), in the RNS form of Cheon,
Han, Kim, Kim, Song (2018).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from xdsl.dialects.builtin import I64, FloatAttr, IntegerAttr, TensorType, UnitAttr, f64, i64
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    base,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects.assembly import FactOp, integer_property
from fhelium_ir.dialects.ckks_params import PARAMS as PARAMS
from fhelium_ir.dialects.ckks_params import ParamsAttr as ParamsAttr
from fhelium_ir.dialects.ckks_params import parameters_of as parameters_of
from fhelium_ir.dialects.ckks_params import parse_scale as parse_scale
from fhelium_ir.dialects.ckks_structured import LinearTransformOp as LinearTransformOp
from fhelium_ir.dialects.ckks_structured import PolynomialOp as PolynomialOp
from fhelium_ir.dialects.ckks_structured import RotateDynamicOp as RotateDynamicOp
from fhelium_ir.dialects.ckks_structured import StructuredOp as StructuredOp
from fhelium_ir.dialects.ckks_structured import SumSlotsOp as SumSlotsOp
from fhelium_ir.dialects.ckks_types import DOMAINS as DOMAINS
from fhelium_ir.dialects.ckks_types import OPEN as OPEN
from fhelium_ir.dialects.ckks_types import (
    CiphertextFacts,
    CiphertextType,
    CiphertextUnaryOp,
    PlaintextFacts,
    PlaintextType,
    ciphertext_facts,
    require_divided,
    require_evaluation,
    require_size,
)
from fhelium_ir.scale import Scale


def _plaintext(op: str, type_: Attribute) -> PlaintextFacts:
    if not isinstance(type_, PlaintextType):
        raise VerifyException(f"{op}: the right operand must be a plaintext, found {type_}")
    return type_.data


def _require_equal(op: str, rule: str, left: object, right: object) -> None:
    if left is not None and right is not None and left != right:
        raise VerifyException(
            f"{op}: the operands must have equal {rule}s: the left one has {rule} {left}, "
            f"the right one {right}"
        )


def _product(left: Scale | None, right: Scale | None) -> Scale | None:
    return None if left is None or right is None else left * right


class CiphertextBinaryOp(FactOp, ABC):
    """Two ciphertexts to one."""

    lhs = operand_def(CiphertextType)
    rhs = operand_def(CiphertextType)
    result = result_def(CiphertextType)
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        types = self.infer([lhs.type, rhs.type], {})
        super().__init__(operands=[lhs, rhs], result_types=types)


class AdditiveOp(CiphertextBinaryOp, ABC):
    """Sum or difference of ciphertexts of one level, scale, size and domain."""

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        left = ciphertext_facts(cls.name, operands[0], "left operand")
        right = ciphertext_facts(cls.name, operands[1], "right operand")
        _require_equal(cls.name, "level", left.level, right.level)
        _require_equal(cls.name, "scale", left.scale, right.scale)
        _require_equal(cls.name, "size", left.size, right.size)
        _require_equal(cls.name, "domain", left.domain, right.domain)
        if left.extended != right.extended:
            side = "left" if left.extended else "right"
            raise VerifyException(
                f"{cls.name}: only the {side} operand is extended; extend the other one by ckks.extend, or divide by "
                "ckks.mod_down"
            )
        return [CiphertextType(_either(left, right))]


def _either(left: CiphertextFacts, right: CiphertextFacts) -> CiphertextFacts:
    return CiphertextFacts(
        left.level if left.level is not None else right.level,
        left.scale if left.scale is not None else right.scale,
        left.size if left.size is not None else right.size,
        left.domain if left.domain is not None else right.domain,
        left.extended,
    )


@irdl_op_definition
class AddOp(AdditiveOp):
    """Slot-wise sum of two ciphertexts."""

    name = "ckks.add"


@irdl_op_definition
class SubOp(AdditiveOp):
    """Slot-wise difference of two ciphertexts."""

    name = "ckks.sub"


@irdl_op_definition
class MulOp(CiphertextBinaryOp):
    """Slot-wise product of two size-2 ciphertexts: of size 3, and the scales multiply."""

    name = "ckks.mul"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        left = ciphertext_facts(cls.name, operands[0], "left operand")
        right = ciphertext_facts(cls.name, operands[1], "right operand")
        _require_equal(cls.name, "level", left.level, right.level)
        require_evaluation(cls.name, left, right)
        require_divided(cls.name, left, right)
        require_size(cls.name, left, 2)
        require_size(cls.name, right, 2)
        return [
            CiphertextType(
                CiphertextFacts(
                    left.level if left.level is not None else right.level,
                    _product(left.scale, right.scale),
                    None if left.size is None or right.size is None else 3,
                    "evaluation",
                )
            )
        ]


@irdl_op_definition
class NegateOp(CiphertextUnaryOp):
    """Slot-wise negation."""

    name = "ckks.negate"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        return [CiphertextType(ciphertext_facts(cls.name, operands[0]))]


class PlainOp(FactOp, ABC):
    """A ciphertext and a plaintext to a ciphertext."""

    lhs = operand_def(CiphertextType)
    rhs = operand_def(PlaintextType)
    result = result_def(CiphertextType)
    traits = traits_def(Pure())

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        types = self.infer([lhs.type, rhs.type], {})
        super().__init__(operands=[lhs, rhs], result_types=types)


class AdditivePlainOp(PlainOp, ABC):
    """Sum or difference with a plaintext of the ciphertext's level, scale and domain.

    With an extended ciphertext it is one with P times the plaintext, which itself is not extended.
    """

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        left = ciphertext_facts(cls.name, operands[0], "left operand")
        right = _plaintext(cls.name, operands[1])
        _require_equal(cls.name, "level", left.level, right.level)
        _require_equal(cls.name, "scale", left.scale, right.scale)
        _require_equal(cls.name, "domain", left.domain, right.domain)
        if right.extended:
            raise VerifyException(f"{cls.name}: an extended plaintext is a factor only")
        return [
            CiphertextType(
                _either(left, CiphertextFacts(right.level, right.scale, left.size, right.domain))
            )
        ]


@irdl_op_definition
class AddPlainOp(AdditivePlainOp):
    """Slot-wise sum with a plaintext."""

    name = "ckks.add_plain"


@irdl_op_definition
class SubPlainOp(AdditivePlainOp):
    """Slot-wise difference, ciphertext minus plaintext."""

    name = "ckks.sub_plain"


@irdl_op_definition
class MulPlainOp(PlainOp):
    """Slot-wise product with a plaintext; the scales multiply. Both operands are extended, or none."""

    name = "ckks.mul_plain"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        left = ciphertext_facts(cls.name, operands[0], "left operand")
        right = _plaintext(cls.name, operands[1])
        _require_equal(cls.name, "level", left.level, right.level)
        require_evaluation(cls.name, left, right)
        if left.extended != right.extended:
            extended, other = ("ciphertext", "plaintext")
            if right.extended:
                extended, other = other, extended
            raise VerifyException(f"{cls.name}: the {extended} is extended, the {other} is not")
        level = left.level if left.level is not None else right.level
        scale = _product(left.scale, right.scale)
        return [
            CiphertextType(CiphertextFacts(level, scale, left.size, "evaluation", left.extended))
        ]


class KeySwitchOp(CiphertextUnaryOp, ABC):
    """An op with a key switch; `extended` leaves out its division by P."""

    extended = opt_prop_def(UnitAttr)

    @staticmethod
    def switched(
        facts: CiphertextFacts, properties: Mapping[str, Attribute], name: str
    ) -> CiphertextType:
        """The result for an operand with these facts: size 2, extended if the op says so."""
        require_evaluation(name, facts)
        require_divided(name, facts)
        size = None if facts.size is None else 2
        return CiphertextType(replace(facts, size=size, extended="extended" in properties))


@irdl_op_definition
class RelinearizeOp(KeySwitchOp):
    """Brings a size-3 ciphertext back to size 2 with the relinearization key."""

    name = "ckks.relinearize"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 3)
        return [cls.switched(facts, properties, cls.name)]


@irdl_op_definition
class ExtendOp(CiphertextUnaryOp):
    """P times a ciphertext, modulo Q_l * P: 0 modulo every special prime."""

    name = "ckks.extend"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_evaluation(cls.name, facts)
        require_divided(cls.name, facts)
        return [CiphertextType(replace(facts, extended=True))]


@irdl_op_definition
class ModDownOp(CiphertextUnaryOp):
    """Divides an extended ciphertext by P with rounding; level and scale stay."""

    name = "ckks.mod_down"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_evaluation(cls.name, facts)
        if not facts.extended:
            raise VerifyException(f"{cls.name}: the operand is not extended")
        return [CiphertextType(replace(facts, extended=False))]


@irdl_op_definition
class RescaleOp(CiphertextUnaryOp):
    """Divides by the last prime q_l with rounding: level l - 1, scale over q_l. An extended ciphertext is divided by
    P * q_l at once."""

    name = "ckks.rescale"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_evaluation(cls.name, facts)
        if facts.level == 0:
            raise VerifyException(f"{cls.name}: a ciphertext at level 0 has no prime to give up")
        if facts.level is None:
            return [CiphertextType(replace(facts, scale=None, extended=False))]
        scale = None if facts.scale is None else facts.scale.over_prime(facts.level)
        return [CiphertextType(replace(facts, level=facts.level - 1, scale=scale, extended=False))]


@irdl_op_definition
class ModSwitchOp(CiphertextUnaryOp):
    """Drops the last `levels` primes (default 1) without dividing: the scale stays."""

    name = "ckks.mod_switch"
    levels = opt_prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        levels = integer_property(properties, "levels", 1)
        if levels < 1:
            raise VerifyException(f"{cls.name}: levels must be at least 1, found {levels}")
        if facts.level is None:
            return [CiphertextType(facts)]
        if levels > facts.level:
            raise VerifyException(
                f"{cls.name}: cannot drop {levels} primes from a ciphertext at level {facts.level}"
            )
        return [CiphertextType(replace(facts, level=facts.level - levels))]

    @property
    def dropped(self) -> int:
        return integer_property(self.properties, "levels", 1)


@irdl_op_definition
class AdoptScaleOp(CiphertextUnaryOp):
    """Declares another scale without computing: the values change by the ratio of the scales.

    For programs of other compilers, whose scales drift: ckks-check refuses a ratio that differs from 1 by more than
    `tolerance`.
    """

    name = "ckks.adopt_scale"
    INFERS: ClassVar[bool] = False
    tolerance = prop_def(FloatAttr)

    def __init__(self, operand: SSAValue, type_: CiphertextType, tolerance: float):
        IRDLOperation.__init__(
            self,
            operands=[operand],
            result_types=[type_],
            properties={"tolerance": FloatAttr(tolerance, f64)},
        )

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        tolerance = properties.get("tolerance")
        if not isinstance(tolerance, FloatAttr) or not 0 <= tolerance.value.data < 1:
            raise VerifyException(f"{cls.name}: needs a property `tolerance` from 0 to 1")
        return [CiphertextType(replace(facts, scale=None))]


@irdl_op_definition
class RotateOp(KeySwitchOp):
    """Left rotation: slot j of the result is slot j + steps of the operand, indices wrapping."""

    name = "ckks.rotate"
    steps = prop_def(IntegerAttr[I64])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        if not isinstance(properties.get("steps"), IntegerAttr):
            raise VerifyException(f"{cls.name}: needs an integer property `steps`")
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 2)
        return [cls.switched(facts, properties, cls.name)]

    @property
    def step(self) -> int:
        return self.steps.value.data

    @staticmethod
    def by(operand: SSAValue, steps: int) -> RotateOp:
        return RotateOp(operand, {"steps": IntegerAttr(steps, i64)})


@irdl_op_definition
class ConjugateOp(KeySwitchOp):
    """Complex conjugation of every slot."""

    name = "ckks.conjugate"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = ciphertext_facts(cls.name, operands[0])
        require_size(cls.name, facts, 2)
        return [cls.switched(facts, properties, cls.name)]


@irdl_op_definition
class EncodeOp(FactOp):
    """A constant vector as a plaintext.

    The operand is a constant tensor<nxf64> with n a divisor of the slot count; it is repeated to
    fill the slots.
    """

    name = "ckks.encode"
    INFERS: ClassVar[bool] = False
    values = operand_def(base(TensorType))
    result = result_def(PlaintextType)
    traits = traits_def(Pure())

    def __init__(self, values: SSAValue, type_: PlaintextType):
        super().__init__(operands=[values], result_types=[type_])

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        tensor = operands[0]
        assert isinstance(tensor, TensorType)
        shape = tensor.get_shape()
        if len(shape) != 1 or shape[0] < 1:
            raise VerifyException(f"{cls.name}: the values must be a vector, found {tensor}")
        if tensor.get_element_type() != f64:
            raise VerifyException(f"{cls.name}: the values must be of type f64, found {tensor}")
        return [PlaintextType(PlaintextFacts(domain=None))]

    def check_result(self, found: Attribute, want: Attribute) -> None:
        """Whether the plaintext is extended does not follow from the vector, like the other facts."""
        if isinstance(found, PlaintextType) and isinstance(want, PlaintextType):
            want = PlaintextType(replace(want.data, extended=found.data.extended))
        super().check_result(found, want)


Ckks = Dialect(
    "ckks",
    [
        AddOp,
        AdoptScaleOp,
        SubOp,
        NegateOp,
        MulOp,
        AddPlainOp,
        SubPlainOp,
        MulPlainOp,
        RelinearizeOp,
        ExtendOp,
        ModDownOp,
        RescaleOp,
        ModSwitchOp,
        RotateOp,
        ConjugateOp,
        EncodeOp,
        LinearTransformOp,
        PolynomialOp,
        SumSlotsOp,
        RotateDynamicOp,
    ],
    [ParamsAttr, CiphertextType, PlaintextType],
)
