"""Progress of long steps: a spinner on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def step(text: str) -> Generator[None]:
    """Shows on standard error, while the `with` block runs, what is being done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
