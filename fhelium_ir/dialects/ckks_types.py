"""The types of the `ckks` dialect, their facts, and what its ops share."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_attr_definition, operand_def, result_def, traits_def
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects.assembly import FactOp, FactType, optional, shown
from fhelium_ir.dialects.ckks_params import parse_scale
from fhelium_ir.scale import Scale

DOMAINS = ("evaluation", "coefficient")


@dataclass(frozen=True)
class CiphertextFacts:
    """Level (limbs - 1), exact scale, number of components, domain.

    An `extended` ciphertext is P times a ciphertext, modulo Q_l * P; level and scale are those of the ciphertext.
    """

    level: int | None = None
    scale: Scale | None = None
    size: int | None = 2
    domain: str | None = "evaluation"
    extended: bool = False


OPEN = CiphertextFacts(None, None, None)
"""A ciphertext of which nothing is said."""


@dataclass(frozen=True)
class PlaintextFacts:
    """Level (limbs - 1), exact scale, domain.

    An `extended` plaintext has residues modulo the special primes too, those of its integers centred modulo Q_l.
    """

    level: int | None = None
    scale: Scale | None = None
    domain: str | None = "evaluation"
    extended: bool = False


_FactsT = TypeVar("_FactsT", CiphertextFacts, PlaintextFacts)


@irdl_attr_definition
class CiphertextType(FactType[CiphertextFacts]):
    """`!ckks.ciphertext<level = 1, scale = 2**40, size = 3>`; size 2 and domain evaluation are
    left out, and an absent level or scale is `?` or left out. `extended` stands at the end.

    `!ckks.ciphertext` alone is open: level, scale and size are left to ckks-manage."""

    name = "ckks.ciphertext"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> CiphertextFacts:
        return _parse_facts(parser, CiphertextFacts(), OPEN)

    def print_parameter(self, printer: Printer) -> None:
        if self.data == OPEN:
            return
        parts = [f"level = {shown(self.data.level)}", f"scale = {shown(self.data.scale)}"]
        if self.data.size != 2:
            parts.append(f"size = {shown(self.data.size)}")
        if self.data.domain != "evaluation":
            parts.append(f"domain = {shown(self.data.domain)}")
        if self.data.extended:
            parts.append("extended")
        printer.print_string(f"<{', '.join(parts)}>")


@irdl_attr_definition
class PlaintextType(FactType[PlaintextFacts]):
    """`!ckks.plaintext<level = 1, scale = 2**40>`."""

    name = "ckks.plaintext"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> PlaintextFacts:
        return _parse_facts(parser, PlaintextFacts(), PlaintextFacts())

    def print_parameter(self, printer: Printer) -> None:
        parts = [f"level = {shown(self.data.level)}", f"scale = {shown(self.data.scale)}"]
        if self.data.domain != "evaluation":
            parts.append(f"domain = {shown(self.data.domain)}")
        if self.data.extended:
            parts.append("extended")
        printer.print_string(f"<{', '.join(parts)}>")


def _parse_facts(parser: AttrParser, facts: _FactsT, bare: _FactsT) -> _FactsT:
    if parser.parse_optional_punctuation("<") is None:
        return bare
    names = ["level", "scale", "domain", "extended"]
    names += ["size"] if isinstance(facts, CiphertextFacts) else []
    while True:
        position = parser.pos
        name = parser.parse_keyword_in(names)
        names.remove(name)
        if name != "extended":
            parser.parse_punctuation("=")
        position = parser.pos
        if name == "extended":
            facts = replace(facts, extended=True)
        elif name == "scale":
            facts = replace(facts, scale=optional(parser, lambda: parse_scale(parser)))
        elif name == "domain":
            facts = replace(
                facts, domain=optional(parser, lambda: parser.parse_keyword_in(DOMAINS))
            )
        else:
            number = optional(parser, lambda: parser.parse_integer(allow_boolean=False))
            if number is not None and not (
                0 <= number < 4096 if name == "level" else 2 <= number <= 3
            ):
                parser.raise_error(
                    "a size is 2 or 3" if name == "size" else "a level is at least 0", position
                )
            facts = replace(facts, level=number) if name == "level" else _with_size(facts, number)
        if not names or parser.parse_optional_punctuation(",") is None:
            break
    parser.parse_punctuation(">")
    return facts


def _with_size(facts: _FactsT, size: int | None) -> _FactsT:
    return replace(facts, size=size) if isinstance(facts, CiphertextFacts) else facts


def ciphertext_facts(op: str, type_: Attribute, operand: str = "operand") -> CiphertextFacts:
    if not isinstance(type_, CiphertextType):
        raise VerifyException(f"{op}: the {operand} must be a ciphertext, found {type_}")
    return type_.data


def require_evaluation(op: str, *facts: CiphertextFacts | PlaintextFacts) -> None:
    for fact in facts:
        if fact.domain == "coefficient":
            raise VerifyException(f"{op}: the operands must be in the evaluation domain")


def require_divided(op: str, *facts: CiphertextFacts) -> None:
    """No operand is extended.

    Raises:
        VerifyException: one is.
    """
    if any(fact.extended for fact in facts):
        raise VerifyException(
            f"{op}: an operand is extended, that is, P times a ciphertext; divide it by ckks.mod_down first"
        )


def require_size(op: str, facts: CiphertextFacts, size: int) -> None:
    if facts.size is not None and facts.size != size:
        hint = "; relinearize it first" if size == 2 else ""
        raise VerifyException(
            f"{op}: the operand must have size {size}, found size {facts.size}{hint}"
        )


class CiphertextUnaryOp(FactOp, ABC):
    """One ciphertext to one."""

    operand = operand_def(CiphertextType)
    result = result_def(CiphertextType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, properties: Mapping[str, Attribute] | None = None):
        given = dict(properties or {})
        super().__init__(
            operands=[operand],
            result_types=self.infer([operand.type], given),
            properties=given,
        )
