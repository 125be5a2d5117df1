"""Parsing MLIR text: every operation gets its location, every error its place."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from math import prod
from typing import Any, NoReturn

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    IndexType,
    IntegerType,
    ModuleOp,
    RankedStructure,
    UnknownLoc,
    UnregisteredAttr,
)
from xdsl.ir import AttributeInvT, Data, Operation, ParametrizedAttribute, SSAValue
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from fhelium_ir.compiler.errors import FheliumError, nearest
from fhelium_ir.compiler.locations import file_location

MAX_ELEMENTS = 1 << 24
"""Elements of a dense attribute."""


NOT_SUPPORTED = {
    "ckks.bootstrap": "there is no bootstrapping; start at a level with as many primes as the program is deep",
}
"""Operations that people may expect, and what to do without them."""


class _LinearLexer(MLIRLexer):
    """xDSL's lexer, in linear time: its own pattern is exponential in an unterminated string."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: int) -> MLIRToken:
        """Text stays text: printed strings have every byte beyond ASCII escaped."""
        token = super()._lex_string_literal(start_pos)
        if token.kind == MLIRTokenKind.BYTES_LIT:
            with suppress(UnicodeDecodeError):
                StringLiteral.from_span(token.span).bytes_contents.decode()
                return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


class LocatingParser(Parser):
    """A parser that stamps file, line and column on each operation it parses.

    The column is that of the operation's name, as in MLIR. An explicit `loc(...)` wins.
    """

    # Arithmetic on an attribute of an integer type takes time that grows with the type's width.
    _builtin_integer_type_regex = re.compile(r"^[su]?i(\d{1,5})$")

    def __init__(self, ctx: Context, input: str, name: str = "<unknown>") -> None:
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_LinearLexer(Input(input, name)))
        self._name = name
        self._line_starts = [0, *(i + 1 for i, c in enumerate(input) if c == "\n")]
        self._op_starts: list[int] = []
        self._first_uses: dict[str, Span] = {}

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of a character offset."""
        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._op_starts.append(self.pos)
        return results

    def _get_op_by_name(self, name: str) -> type[Operation]:
        stack = self._parser_state.dialect_stack
        if (op_type := self.ctx.get_optional_op(name, dialect_stack=stack)) is not None:
            return op_type
        if name in NOT_SUPPORTED:
            self.raise_error(f"{name} is not supported: {NOT_SUPPORTED[name]}", self._op_starts[-1])
        hint = nearest(name, (op.name for op in self.ctx.loaded_ops))
        self.raise_error(f"unknown operation '{name}'{hint}", self._op_starts[-1])

    def parse_operation(self) -> Operation:
        op = super().parse_operation()
        start = self._op_starts.pop()
        if isinstance(op.location, UnknownLoc):
            op.location = file_location(self._name, *self.position(start))
        return op

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        if operand.operand_name not in self.ssa_values:
            self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: int | None,
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        # The verifier of a type raises without a position, and an unknown name is reported behind
        # it: both errors should point at the name.
        start = self.pos
        try:
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        except VerifyException as error:
            self.raise_error(f"invalid '{attr_name}': {error}", self._name_before(attr_name, start))
        except ParseError as error:
            if error.msg != f"'{attr_name}' is not registered":
                raise
            kind = "type" if is_type else "attribute"
            self.raise_error(f"unknown {kind} '{attr_name}'", self._name_before(attr_name, start))

    def _parse_dense_literal_type(
        self,
    ) -> RankedStructure[IntegerType | IndexType | AnyFloat | ComplexType]:
        start = self.pos
        type_ = super()._parse_dense_literal_type()
        # A splat is stored element by element: a few characters must not fill the memory.
        if prod(type_.get_shape()) > MAX_ELEMENTS:
            self.raise_error(f"a dense attribute has at most {MAX_ELEMENTS} elements", start)
        return type_

    def _name_before(self, name: str, end: int) -> int:
        """Where the name of a type or attribute that ends before `end` begins, with its sigil."""
        found = self.lexer.input.content.rfind(name, 0, end)
        return end if found < 1 else found - 1

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        try:
            module = super().parse_module(allow_implicit_module)
        except ParseError as error:
            self._raise_clearer(error)
        if isinstance(module.location, UnknownLoc):
            module.location = file_location(self._name, 1, 1)
        return module

    def _raise_clearer(self, error: ParseError) -> NoReturn:
        """Point at the first use of a value that is never defined, not at the end of the file."""
        if error.msg == "Could not parse entire input!":
            error.msg = "expected an operation"
        if error.msg.startswith("values used but not defined"):
            for name in self.forward_ssa_references:
                if (span := self._first_uses.get(name)) is not None:
                    raise ParseError(span, f"value %{name} is used but never defined") from error
        raise error


def parse_module(ctx: Context, text: str, name: str = "<input>") -> ModuleOp:
    """Parse a module, with the location of each operation set. The module is not verified.

    Args:
        ctx: a context with the dialects, see `fhelium_ir.universe.make_context`.
        text: the MLIR text.
        name: the file name to put in locations and errors.

    Raises:
        FheliumError: at the first syntax error, with its place.
    """
    return parse_with(lambda: LocatingParser(ctx, text, name))


def parse_with(make: Callable[[], LocatingParser]) -> ModuleOp:
    """Parse a module with the parser that a function makes; see `parse_module`."""
    try:
        parser = make()
    except ParseError as error:
        raise parse_error(error) from error
    try:
        return parser.parse_module()
    except ParseError as error:
        raise parse_error(error) from error
    except RecursionError as error:
        raise FheliumError("the text is nested too deeply", _here(parser)) from error
    except FheliumError as error:
        if error.location is None:
            error.location = _here(parser)
        raise
    except Exception as error:
        # Custom parsers of dialects may fail in any way on garbage; the reader needs the place.
        message = str(error) or type(error).__name__
        raise FheliumError(message, _here(parser)) from error


def _here(parser: LocatingParser) -> str:
    line, column = parser.position(parser.pos)
    return f"{parser.lexer.input.name}:{line}:{column}"


def parse_error(error: ParseError) -> FheliumError:
    """The user's form of an xDSL parse error."""
    return FheliumError(error.msg, str(error.span.get_location()))
