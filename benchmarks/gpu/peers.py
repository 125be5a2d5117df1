"""Stored times of other libraries, with what they were measured on."""

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
        libraries: commit or version, parameters and kind of time by library.
        rows: microseconds by row and library.
    """

    card: str
    libraries: Mapping[str, Mapping[str, str]]
    rows: Mapping[str, Mapping[str, float]]

    def describe(self) -> list[str]:
        """A line for each library: everything that is stored of it."""
        return [
            f"{name} on {self.card}: {', '.join(f'{key} {value}' for key, value in facts.items())}"
            for name, facts in self.libraries.items()
        ]

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
