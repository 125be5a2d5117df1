"""Python's garbage collector while a module is being made or changed."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def no_collection() -> Generator[None]:
    """Keeps the collector away: it would walk the whole IR again and again, and find next to nothing.

    What the body leaves behind in cycles is collected some time after it.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
