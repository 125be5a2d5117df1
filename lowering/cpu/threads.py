"""The programs of one launch on several threads; native code runs without Python's lock.

Programs do not depend on each other, so the split changes no result.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from functools import cache
from queue import SimpleQueue
from time import perf_counter

import torch

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu.crew import AWAKE_WORD, LINE, STATE_BYTES, crew

THREADS_VARIABLE = "FHELIUM_THREADS"

CHUNKS = 4
"""Pieces of a launch for each thread, the later the smaller. Whoever is free takes the next one, so that a thread which
other work holds up does not hold up the launch."""

ROUNDS = 4000
"""Rounds of waiting for the next launch after which a thread goes to sleep, some ten microseconds to a hundred."""

Call = Callable[[int, int, bytes], None]
"""A native function as ctypes knows it."""


def default_threads() -> int:
    """`FHELIUM_THREADS`, or as many threads as torch uses.

    Raises:
        FheliumError: the variable is no positive number.
    """
    chosen = os.environ.get(THREADS_VARIABLE)
    if not chosen:
        return torch.get_num_threads()
    if not (chosen.isascii() and chosen.isdigit() and int(chosen) > 0):
        raise FheliumError(f"{THREADS_VARIABLE} must be a positive number, found '{chosen}'")
    return int(chosen)


class Pool:
    """Threads that wait for launches as long as the process lives; there are as many as once needed."""

    def __init__(self) -> None:
        self._crew = crew()
        self._memory = ctypes.create_string_buffer(STATE_BYTES + LINE)
        self._state = -(-ctypes.addressof(self._memory) // LINE) * LINE
        self._awake = ctypes.c_int64.from_address(self._state + 8 * AWAKE_WORD)
        self._wanted: SimpleQueue[None] = SimpleQueue()
        self._busy = threading.Lock()
        self._count = 0

    def run(self, call: Call, programs: int, chunks: int, words: bytes, others: int) -> float:
        """Runs all programs in this thread and in others: those that are awake, and so many in all if they wake up in
        time. Nobody waits for a thread that has not begun.

        Returns:
            The seconds per program of the first chunk.
        """
        if not self._busy.acquire(blocking=False):
            # The others work for another thread's launch.
            return _timed(call, programs, words)
        try:
            while self._count < others:
                threading.Thread(target=self._work, daemon=True, name="fhelium-kernels").start()
                self._count += 1
            try:
                address = ctypes.cast(call, ctypes.c_void_p).value  # pyright: ignore[reportArgumentType]
                first = self._crew.share(self._state, address, programs, chunks, words)
                for _ in range(others - self._awake.value):
                    self._wanted.put(None)
                return _timed(call, first, words)
            finally:
                # Whatever happened: the others use the caller's buffers.
                self._crew.finish(self._state)
        finally:
            self._busy.release()

    def _work(self) -> None:
        while True:
            self._wanted.get()
            self._crew.watch(self._state, ROUNDS)


def _timed(call: Call, end: int, words: bytes) -> float:
    """Runs the programs up to `end`; the seconds that each took."""
    start = perf_counter()
    call(0, end, words)
    return (perf_counter() - start) / max(end, 1)


@cache
def pool() -> Pool:
    """The threads of this process."""
    return Pool()


if hasattr(os, "register_at_fork"):
    # The child has none of the threads.
    os.register_at_fork(after_in_child=pool.cache_clear)


def run_split(call: Call, programs: int, parts: int, words: bytes) -> float:
    """Runs `call(begin, end, words)` on ranges that make up all programs, on about `parts` threads.

    Args:
        call: does not raise and releases Python's lock.
        parts: from 1 to `programs`.
        words: the last argument of each call.

    Returns:
        The seconds per program, without the time to hand over and to wait.
    """
    chunks = min(programs, CHUNKS * parts)
    return pool().run(call, programs, chunks, words, parts - 1)
