"""Arenas in host memory that one run leaves to the next.

Fresh memory costs a fault per page: at ring degree 2^16 half as much time again as a multiplication takes.
"""

from __future__ import annotations

import mmap
import weakref

import torch

KEPT = 1
"""Arenas of a size that are kept while nothing uses them; runs at the same time have one each."""


class Arenas:
    """Hands out buffers of bytes. A buffer whose last view is gone is handed out again, with whatever is in it."""

    def __init__(self) -> None:
        self._free: dict[int, list[mmap.mmap]] = {}

    def take(self, size: int) -> torch.Tensor:
        """Bytes in host memory, of which nothing else knows.

        Args:
            size: how many, at least one.
        """
        free = self._free.setdefault(size, [])
        try:
            memory = free.pop()
        except IndexError:
            memory = mmap.mmap(-1, size)
        view = memoryview(memory)
        # Torch holds the view as long as a tensor lies in the buffer.
        kept = weakref.finalize(view, _put_back, free, memory)
        kept.atexit = False
        return torch.frombuffer(view, dtype=torch.int8)


def _put_back(free: list[mmap.mmap], memory: mmap.mmap) -> None:
    if len(free) < KEPT:
        free.append(memory)
