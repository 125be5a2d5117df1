"""Colour: only on a terminal, and never where NO_COLOR is set (https://no-color.org)."""

from __future__ import annotations

import os
from typing import TextIO

RED, GREEN, CYAN, BOLD = "31", "32", "36", "1"


def wants_colour(stream: TextIO) -> bool:
    """Whether to colour what goes to a stream."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def paint(text: str, code: str, wanted: bool) -> str:
    """The text in a colour, if wanted; `code` is an ANSI SGR parameter."""
    return f"\033[{code}m{text}\033[0m" if wanted else text
