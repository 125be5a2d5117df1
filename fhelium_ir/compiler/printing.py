"""Printing modules as MLIR text, whole or a window around one operation."""

from __future__ import annotations

from io import StringIO
from typing import TextIO

from xdsl.dialects.builtin import UnknownLoc
from xdsl.ir import BlockArgument, Operation
from xdsl.printer import Printer

MAX_LINE = 160
"""Longest line of a window; the rest of a longer one is left out."""


def print_mlir(
    module: Operation, stream: TextIO, *, generic: bool = False, locations: bool = False
) -> None:
    """Write the module as MLIR text that ends with a newline.

    Args:
        generic: use the generic form of every op instead of its custom assembly.
        locations: print the location of each op as `loc(...)` behind it.
    """
    printer = _Printer(stream=stream, print_generic_format=generic, print_debuginfo=locations)
    printer.print_op(module)
    stream.write("\n")


def mlir_text(module: Operation, *, generic: bool = False, locations: bool = False) -> str:
    """The module as MLIR text."""
    stream = StringIO()
    print_mlir(module, stream, generic=generic, locations=locations)
    return stream.getvalue()


class _Printer(Printer):
    """Leaves out what says nothing: the unknown location of a block argument."""

    def print_block_argument(self, arg: BlockArgument, print_type: bool = True) -> None:
        shown = self.print_debuginfo
        self.print_debuginfo = shown and not isinstance(arg.location, UnknownLoc)
        super().print_block_argument(arg, print_type)
        self.print_debuginfo = shown


class _MarkingPrinter(Printer):
    """Notes where in the text one operation begins."""

    def __init__(self, target: Operation, buffer: StringIO, generic: bool) -> None:
        super().__init__(stream=buffer, print_generic_format=generic)
        self.target = target
        self.buffer = buffer
        self.start: int | None = None

    def print_op(self, op: Operation) -> None:
        if op is self.target:
            self.start = self.buffer.tell()
        super().print_op(op)


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def ir_window(op: Operation, radius: int = 2) -> str | None:
    """The line of the IR that `op` begins on, marked, and `radius` lines either side.

    The IR may be broken, and then it may not print: None in that case.
    """
    for generic in (False, True):
        buffer = StringIO()
        printer = _MarkingPrinter(op, buffer, generic)
        try:
            printer.print_op(_root(op))
        except Exception:
            continue
        text = buffer.getvalue()
        if printer.start is None:
            continue
        lines = text.split("\n")
        index = text.count("\n", 0, printer.start)
        first, last = max(0, index - radius), min(len(lines), index + radius + 1)
        return "\n".join(
            f"{'>' if i == index else ' '} {_shorten(lines[i])}" for i in range(first, last)
        )
    return None


def _shorten(line: str) -> str:
    return line if len(line) <= MAX_LINE else line[: MAX_LINE - 3] + "..."
