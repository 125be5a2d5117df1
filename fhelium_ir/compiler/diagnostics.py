"""How tools show an error: `file:line:column: error: ...`, the source line and a caret.

This module imports nothing heavy, so that usage errors are quick.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fhelium_ir.compiler.errors import FheliumError

MAX_LINE = 160
"""Longest source line shown; of a longer one, the part around the caret."""

MAX_MESSAGE = 600
"""Longest message shown; the middle of a longer one is left out."""

_LOCATION = re.compile(r"(?P<file>.*):(?P<line>\d+):(?P<column>\d+)")


def format_error(error: BaseException, sources: Mapping[str, str] | None = None) -> str:
    """The text of an error for the terminal, without a newline at its end.

    Args:
        error: a FheliumError, or any other exception, which is then called an internal error.
        sources: text by file name, to show the line that the location names.
    """
    if not isinstance(error, FheliumError):
        return _format_foreign(error)
    place = f"{error.location}: " if error.location is not None else ""
    lines = [f"{place}error: {_readable(error.message)}"]
    if error.location is not None:
        lines += source_line(error.location, sources or {})
    if error.note is not None:
        lines.append(error.note)
    return "\n".join(lines)


def _format_foreign(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "error: the input is nested too deeply"
    if isinstance(error, MemoryError):
        return "error: out of memory"
    if isinstance(error, OSError):
        name = f"'{error.filename}': " if error.filename is not None else ""
        return f"error: {name}{error.strerror or error}"
    return f"error: internal error: {type(error).__name__}: {_readable(str(error))}"


def _readable(message: str) -> str:
    """A message in one line of bounded length, without control characters."""
    message = " ".join(line.strip() for line in message.splitlines() if line.strip())
    if len(message) > MAX_MESSAGE:
        message = f"{message[: MAX_MESSAGE // 2]} ... {message[-MAX_MESSAGE // 2 :]}"
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in message)


def source_line(location: str, sources: Mapping[str, str]) -> list[str]:
    """The source line that `file:line:column` names and a line with a caret; nothing if unknown."""
    match = _LOCATION.fullmatch(location)
    if match is None or (text := sources.get(match["file"])) is None:
        return []
    lines = text.split("\n")
    number, column = int(match["line"]), int(match["column"])
    if not 1 <= number <= len(lines):
        return []
    line = lines[number - 1].rstrip("\r")
    start = max(0, column - MAX_LINE * 3 // 4) if len(line) > MAX_LINE else 0
    shown = "".join(c if c.isprintable() or c == "\t" else "?" for c in line[start:][:MAX_LINE])
    # Tabs stay tabs, so that the caret stands below its character whatever the tab width.
    before = shown[: max(0, column - 1 - start)]
    return [shown, "".join("\t" if c == "\t" else " " for c in before) + "^"]
