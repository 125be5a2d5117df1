"""Keeping what was measured of a machine, for the next program that asks."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path


def keep(path: Path, content: Mapping[str, object]) -> None:
    """Writes a description as JSON if the folder can be written; readers never see half of it."""
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        os.replace(temporary, path)
    except OSError:
        return
