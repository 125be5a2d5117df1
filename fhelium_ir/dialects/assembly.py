"""What `ckks`, `rns` and `ntt` share: types made of facts, and ops whose result types follow.

Assembly of such an op is `%r = dialect.op %a, %b {properties} : operand types [-> result types]`;
equal operand types are written once, and result types only where they do not follow from the
operands.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Data, TypeAttribute
from xdsl.irdl import IRDLOperation
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

FactsT = TypeVar("FactsT")
T = TypeVar("T")


class FactType(Data[FactsT], TypeAttribute, ABC):
    """A type whose parameter is a frozen dataclass of facts; None is absent and prints as `?`."""


def conflict(left: Attribute, right: Attribute) -> str | None:
    """The first fact that two types of one kind both state and in which they differ, or None."""
    if type(left) is not type(right) or not isinstance(left, FactType):
        return None if left == right else "type"
    return fact_conflict(cast(Any, left).data, cast(Any, right).data)


def fact_conflict(left: Any, right: Any) -> str | None:
    """`conflict` on two fact dataclasses of one class."""
    for field in fields(left):
        ours, theirs = getattr(left, field.name), getattr(right, field.name)
        if ours is not None and theirs is not None and ours != theirs:
            return field.name
    return None


def optional(parser: AttrParser, parse: Callable[[], T]) -> T | None:
    """Parses a fact that may be absent, written `?`."""
    return None if parser.parse_optional_punctuation("?") is not None else parse()


def shown(value: object) -> str:
    """Text of a fact that may be absent."""
    return "?" if value is None else str(value)


def integer_property(properties: Mapping[str, Attribute], name: str, default: int = 0) -> int:
    """Value of an integer property, or the default where it is absent."""
    attribute = properties.get(name)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else default


class FactOp(IRDLOperation, ABC):
    """An op whose result types follow from its operand types and properties through `infer`."""

    INFERS: ClassVar[bool] = True
    """Whether assembly leaves the result types out where they follow."""

    @classmethod
    @abstractmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        """Result types; facts that do not follow are absent.

        Raises:
            VerifyException: the operands break a rule of the op.
        """

    def verify_(self) -> None:
        operands = [operand.type for operand in self.operands]
        for result, want in zip(
            self.results, type(self).infer(operands, self.properties), strict=True
        ):
            self.check_result(result.type, want)

    def check_result(self, found: Attribute, want: Attribute) -> None:
        """Compares a result's type with the one that `infer` gives.

        Raises:
            VerifyException: names the first fact that differs.
        """
        fact = conflict(found, want)
        if fact is not None:
            raise VerifyException(
                f"{self.name}: the result's {fact} does not follow from the operands: "
                f"expected {want}, found {found}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> FactOp:
        start = parser.pos
        unresolved = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        names = [] if unresolved is None else unresolved
        written = parser.parse_optional_attr_dict()
        types: list[Attribute] = []
        if names:
            parser.parse_punctuation(":")
            types = list(
                parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            )
            if len(types) == 1:
                types *= len(names)
        end = parser.pos
        if len(types) != len(names):
            parser.raise_error(f"{len(names)} operands need as many types, or one", start, end)
        operands = parser.resolve_operands(names, types, start)
        declared = set(cls.get_irdl_definition().properties)
        properties = {key: value for key, value in written.items() if key in declared}
        attributes = {key: value for key, value in written.items() if key not in declared}
        if cls.INFERS:
            try:
                results = list(cls.infer(types, properties))
            except VerifyException as error:
                parser.raise_error(str(error), start, end)
            if parser.parse_optional_punctuation("->") is not None:
                results = list(
                    parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
                )
        else:
            parser.parse_punctuation("->" if names else ":")
            results = list(
                parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
            )
        return cls.create(
            operands=operands, result_types=results, properties=properties, attributes=attributes
        )

    def _follows(self) -> bool:
        """Whether `infer` gives the result types with every fact that they state."""
        if not self.INFERS:
            return False
        try:
            want = type(self).infer([operand.type for operand in self.operands], self.properties)
        except VerifyException:
            return False
        return list(want) == [result.type for result in self.results]

    def print(self, printer: Printer) -> None:
        if self.operands:
            printer.print_string(" ")
            printer.print_list(self.operands, printer.print_operand)
        written = {**self.properties, **self.attributes}
        if written:
            printer.print_string(" ")
            printer.print_attr_dict(written)
        if self.operands:
            printer.print_string(" : ")
            types = [operand.type for operand in self.operands]
            printer.print_list(
                types[:1] if len(set(types)) == 1 else types, printer.print_attribute
            )
        if not self._follows():
            printer.print_string(" -> " if self.operands else " : ")
            printer.print_list([result.type for result in self.results], printer.print_attribute)
