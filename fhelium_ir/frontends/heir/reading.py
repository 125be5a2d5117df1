"""Parsing the generic form of HEIR's text.

HEIR's dialects share names with those of this project and of xDSL, and their syntax changes from month to month: only
`builtin` is loaded, everything else stays unregistered. Ops keep their names, operands and regions, attributes and
types of unknown dialects their text, which `attributes.py` reads.
"""

from __future__ import annotations

import re
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp, UnregisteredAttr
from xdsl.ir import Data, ParametrizedAttribute

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import LocatingParser, parse_with

HOW = "--mlir-print-op-generic --mlir-print-local-scope"
"""The options of heir-opt that print what this frontend reads."""

_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|->|[<>()\[\]{}]')
_CLOSING = {">": "<", ")": "(", "]": "[", "}": "{"}


class _HeirParser(LocatingParser):
    """Reads each different unknown type once: HEIR writes them in full at every use, and they hold the whole chain."""

    def __init__(self, ctx: Context, input: str, name: str) -> None:
        super().__init__(ctx, input, name)
        self._bodies: dict[str, list[tuple[str, UnregisteredAttr]]] = {}

    def _parse_dialect_type_or_attribute_body(
        self,
        attr_name: str,
        is_type: bool,
        is_opaque: bool,
        starting_opaque_pos: int | None,
    ) -> UnregisteredAttr | ParametrizedAttribute | Data[Any]:
        start = self._current_token.span.start
        content = self.lexer.input.content
        key = f"{'!' if is_type else '#'}{attr_name}"
        if is_opaque or content[start] != "<":
            return super()._parse_dialect_type_or_attribute_body(
                attr_name, is_type, is_opaque, starting_opaque_pos
            )
        known = self._bodies.setdefault(key, [])
        # A balanced text ends where it ends, so a prefix that is known is the whole body.
        for index, (text, attribute) in enumerate(known):
            if content.startswith(text, start):
                if index:
                    known.insert(0, known.pop(index))
                self.lexer.pos = start + len(text)
                self._parser_state.current_token = self.lexer.lex()
                return attribute
        parsed = super()._parse_dialect_type_or_attribute_body(
            attr_name, is_type, is_opaque, starting_opaque_pos
        )
        if isinstance(parsed, UnregisteredAttr):
            known.insert(0, (f"<{parsed.value.data}>", parsed))
            del known[64:]
        return parsed

    def _raw_scan_balanced(self, pos: int) -> int:
        content, nesting = self.lexer.input.content, list[str]()
        for match in _BRACKET.finditer(content, pos):
            text = match.group()
            if text in "<([{":
                nesting.append(text)
            elif text in _CLOSING:
                if not nesting and text == ">":
                    return match.start()
                if not nesting or nesting.pop() != _CLOSING[text]:
                    self.raise_error(f"unbalanced '{text}'", match.start())
        self.raise_error("unexpected end of the text inside of a type or attribute")


def parse_heir(text: str, name: str) -> ModuleOp:
    """The module, with the location of each op set. Nothing is verified.

    Args:
        text: what `heir-opt` printed in generic form and local scope.
        name: the file name to put in locations and errors.

    Raises:
        FheliumError: at the first syntax error, with its place; text in pretty form gets a hint.
    """
    context = Context(allow_unregistered=True)
    context.load_dialect(Builtin)
    try:
        return parse_with(lambda: _HeirParser(context, text, name))
    except FheliumError as error:
        if '"builtin.module"' not in text:
            error.message += f"; the frontend heir reads what heir-opt {HOW} prints"
        raise
