"""Docstrings as Markdown."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(r"(Options|Raises|Args|Returns|Attributes):\s*")
_ITEM = re.compile(r"([\w-]+): (.*)")


def docstring(thing: object) -> str:
    """The docstring of a thing itself, not of a base class, without its indentation."""
    return inspect.cleandoc(thing.__doc__ or "")


def split_sections(text: str) -> tuple[str, dict[str, dict[str, str]]]:
    """The prose of a docstring, and its sections: the text of each item by name."""
    prose: list[str] = []
    sections: dict[str, dict[str, str]] = {}
    section: dict[str, str] | None = None
    item = ""
    for line in text.split("\n"):
        if (match := _SECTION.fullmatch(line)) is not None:
            section = sections.setdefault(match[1], {})
        elif section is None or (line and not line.startswith(" ")):
            section = None
            prose.append(line)
        elif (match := _ITEM.fullmatch(line.strip())) is not None and line.startswith("    "):
            if line[4] != " ":
                item = match[1]
                section[item] = match[2]
            else:
                section[item] += f" {line.strip()}"
        elif line.strip() and item in section:
            section[item] += f" {line.strip()}"
    return "\n".join(prose).strip(), sections


def prose(thing: object) -> str:
    """The docstring of a thing as Markdown paragraphs, each in one line; lists stay lists."""
    text, sections = split_sections(docstring(thing))
    raised = [f"- {name}: {why}" for name, why in sections.get("Raises", {}).items()]
    parts = [_reflow(part) for part in re.split(r"\n\s*\n", text) if part.strip()]
    if raised:
        parts.append("\n".join(["Errors:", "", *raised]))
    return "\n\n".join(parts)


def summary(thing: object) -> str:
    """The first sentence of a docstring."""
    text, _ = split_sections(docstring(thing))
    first = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.:]) (?=[A-Z])", first)[0].rstrip(".:")


def _reflow(paragraph: str) -> str:
    lines: list[str] = []
    for line in paragraph.split("\n"):
        if line.startswith("    "):
            # An indented block is code.
            lines.append(line)
        elif not lines or re.match(r"\s*- ", line):
            lines.append(line.rstrip())
        else:
            lines[-1] += f" {line.strip()}"
    return "\n".join(lines)
