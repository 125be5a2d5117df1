"""The programs of one launch on several threads; native code runs without Python's lock.

Programs do not depend on each other, so the split changes no result.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from queue import SimpleQueue
from time import perf_counter

import torch

from fhelium_ir.compiler.errors import FheliumError

THREADS_VARIABLE = "FHELIUM_THREADS"

CHUNKS = 4
"""Pieces of a launch for each thread. Whoever is free takes the next one, so that a thread which other work holds up
does not hold up the launch."""

Call = Callable[[int, int, bytes], None]
_Chunk = tuple[int, int, bytes]
_Job = tuple[Call, "deque[_Chunk]", "SimpleQueue[BaseException | None]"]


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
    """Threads that wait for jobs as long as the process lives; there are as many as once needed."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._count = 0

    def run(self, call: Call, chunks: Sequence[_Chunk], others: int) -> float:
        """Runs `call(*chunk)` for every chunk, in this thread and in so many others.

        A thread that wakes up when nothing is left is not waited for.

        Returns:
            The seconds that the first one took.
        """
        if others > self._count:
            self._grow(others)
        left = deque(chunks[1:])
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for _ in range(others):
            self._jobs.put((call, left, done))
        mine = 1
        start = perf_counter()
        try:
            call(*chunks[0])
            seconds = perf_counter() - start
            while (chunk := _next(left)) is not None:
                mine += 1
                call(*chunk)
        finally:
            # Whatever happened here: nobody begins another chunk, and the others still use the caller's buffers.
            while _next(left) is not None:
                mine += 1
            failures = [done.get() for _ in range(len(chunks) - mine)]
        for failure in failures:
            if failure is not None:
                raise failure
        return seconds

    def _grow(self, count: int) -> None:
        with self._lock:
            while self._count < count:
                thread = threading.Thread(target=self._work, daemon=True, name="fhelium-kernels")
                thread.start()
                self._count += 1

    def _work(self) -> None:
        while True:
            call, left, done = self._jobs.get()
            while (chunk := _next(left)) is not None:
                try:
                    call(*chunk)
                    done.put(None)
                except BaseException as error:
                    done.put(error)


def _next(left: deque[_Chunk]) -> _Chunk | None:
    """Takes a chunk if one is left."""
    try:
        return left.popleft()
    except IndexError:
        return None


pool = Pool()


def _forget_threads() -> None:
    """After a fork the child has none of the threads."""
    global pool
    pool = Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)


def run_split(call: Call, programs: int, parts: int, words: bytes) -> float:
    """Runs `call(begin, end, words)` on ranges that make up all programs, on `parts` threads.

    Args:
        call: does not raise and releases Python's lock.
        parts: from 1 to `programs`.
        words: the last argument of each call.

    Returns:
        The seconds per program, without the time to hand over and to wait.
    """
    count = min(programs, CHUNKS * parts)
    bounds = [programs * chunk // count for chunk in range(count + 1)]
    chunks = [(begin, end, words) for begin, end in pairwise(bounds)]
    return pool.run(call, chunks, parts - 1) / bounds[1]
