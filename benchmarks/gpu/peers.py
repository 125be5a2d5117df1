"""Times of other libraries, with what they were measured on: stored ones, and those of a library that is installed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

FILE = Path(__file__).parent.parent / "results" / "peers_h200.json"


@dataclass(frozen=True)
class Peers:
    """Times of other libraries on one card.

    Attributes:
        card: name.
        libraries: commit or version, parameters and kind of time by library; its card, if that is another one.
        rows: microseconds by row and library.
    """

    card: str
    libraries: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, Mapping[str, float]]

    def with_measured(self, name: str, report: Mapping[str, object], card: str) -> Peers:
        """With a library that has been timed in this run.

        Args:
            report: `rows`, microseconds by row, and what else is to be said of the library.
            card: that it ran on.
        """
        times = cast("Mapping[str, float]", report["rows"])
        facts = {key: str(value) for key, value in report.items() if key != "rows"}
        facts["card"] = card
        rows = {row: dict(found) for row, found in self.rows.items()}
        for row, microseconds in times.items():
            rows.setdefault(row, {})[name] = microseconds
        return Peers(self.card, {**self.libraries, name: facts}, rows)

    def describe(self) -> list[str]:
        """A line for each library: everything that is known of it."""
        lines: list[str] = []
        for name, facts in self.libraries.items():
            said = ", ".join(f"{key} {value}" for key, value in facts.items() if key != "card")
            lines.append(f"{name} on {facts.get('card', self.card)}: {said}")
        return lines

    def ratios(self, row: str, microseconds: float) -> dict[str, float]:
        """How many times longer the libraries take for a row."""
        return {name: round(us / microseconds, 2) for name, us in self.rows.get(row, {}).items()}


def stored_peers(path: Path = FILE) -> Peers:
    """What is stored."""
    data = json.loads(path.read_text(encoding="utf-8"))
    return Peers(
        cast(str, data["card"]),
        cast("Mapping[str, Mapping[str, str]]", data["libraries"]),
        cast("Mapping[str, Mapping[str, float]]", data["rows"]),
    )
