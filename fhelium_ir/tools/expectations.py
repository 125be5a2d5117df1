"""`--verify-diagnostics`: `expected-error`, `-warning` and `-remark` comments against what was said.

As in MLIR: `// expected-error {{text}}` expects an error on its own line whose message contains the
text; `@+N`, `@-N`, `@above`, `@below` name another line, `@unknown` a diagnostic without a place in
this file. With `-re` behind the kind, the parts of the text in inner `{{}}` are regular expressions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.remarks import Remark

_EXPECTED = re.compile(
    r"expected-(?P<kind>error|warning|remark)(?P<regex>-re)?\s*"
    r"(?:@(?P<place>[+-]\d+|above|below|unknown))?\s*\{\{(?P<text>.*)\}\}\s*$"
)
_ATTEMPT = re.compile(r"expected-(?:error|warning|remark)\b.*")
_INNER = re.compile(r"\{\{(.*?)\}\}")
_LOCATION = re.compile(r"(?P<file>.*):(?P<line>\d+):(?P<column>\d+)")

Kind = Literal["error", "warning", "remark"]


@dataclass(frozen=True)
class Diagnostic:
    """One error, warning or remark; `line` is 0 where it has no place in the file."""

    kind: str
    message: str
    line: int
    location: str | None


@dataclass(frozen=True)
class Expectation:
    """A diagnostic that must appear on `line`; 0 means without a place in the file."""

    kind: str
    text: str
    regex: bool
    line: int
    written_at: int
    column: int

    def matches(self, diagnostic: Diagnostic) -> bool:
        """Whether a diagnostic is the expected one."""
        if (self.kind, self.line) != (diagnostic.kind, diagnostic.line):
            return False
        if not self.regex:
            return self.text in diagnostic.message
        parts = _INNER.split(self.text)
        pattern = "".join(p if i % 2 else re.escape(p) for i, p in enumerate(parts))
        try:
            return re.search(pattern, diagnostic.message) is not None
        except re.error:
            return False


def diagnostics_of(
    file: str, error: FheliumError | None, remarks: Iterable[Remark]
) -> list[Diagnostic]:
    """The remarks of a run and the error that ended it, with their lines in `file`."""
    found = [
        Diagnostic(r.severity, r.message, _line(file, r.location), r.location) for r in remarks
    ]
    if error is not None:
        found.append(
            Diagnostic("error", error.message, _line(file, error.location), error.location)
        )
    return found


def _line(file: str, location: str | None) -> int:
    match = _LOCATION.fullmatch(location or "")
    return int(match["line"]) if match is not None and match["file"] == file else 0


def read_expectations(text: str, file: str) -> list[Expectation]:
    """The expectations written in a text.

    Raises:
        FheliumError: one that is malformed, with its place.
    """
    lines = text.split("\n")
    found: list[Expectation] = []
    for number, line in enumerate(lines, start=1):
        start = line.find("//")
        attempt = _ATTEMPT.search(line, start) if start >= 0 else None
        if attempt is None:
            continue
        column = attempt.start() + 1
        match = _EXPECTED.match(line, attempt.start())
        if match is None:
            raise FheliumError(
                f"malformed expectation '{attempt[0].strip()}'; write "
                "expected-error|warning|remark [@+N|@-N|@above|@below|@unknown] {{text}}",
                f"{file}:{number}:{column}",
            )
        target = _target_line(lines, number, match["place"])
        regex = match["regex"] is not None
        found.append(Expectation(match["kind"], match["text"], regex, target, number, column))
    return found


def _target_line(lines: Sequence[str], number: int, place: str | None) -> int:
    if place is None:
        return number
    if place == "unknown":
        return 0
    if place in ("above", "below"):
        # The nearest line that holds no expectation itself.
        step = -1 if place == "above" else 1
        number += step
        while 1 <= number <= len(lines) and "expected-" in lines[number - 1]:
            number += step
        return number
    return number + int(place)


def mismatches(
    file: str, expectations: Sequence[Expectation], diagnostics: Sequence[Diagnostic]
) -> list[FheliumError]:
    """What is unexpected or missing; each diagnostic meets at most one expectation."""
    waiting = list(expectations)
    wrong: list[FheliumError] = []
    for diagnostic in diagnostics:
        met = next((e for e in waiting if e.matches(diagnostic)), None)
        if met is not None:
            waiting.remove(met)
            continue
        kind, message = diagnostic.kind, diagnostic.message
        wrong.append(FheliumError(f"unexpected {kind}: {message}", diagnostic.location))
    for left in waiting:
        where = f"on line {left.line}" if left.line else "without a place in this file"
        wrong.append(
            FheliumError(
                f'expected {left.kind} "{left.text}" was not produced {where}',
                f"{file}:{left.written_at}:{left.column}",
            )
        )
    return wrong
