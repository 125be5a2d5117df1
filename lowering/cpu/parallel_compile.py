"""LLVM IR to object files in several processes at once; threads would wait for llvmlite's lock."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Set
from pathlib import Path
from queue import SimpleQueue
from threading import Semaphore, Thread

import fhelium_ir
from fhelium_ir.lowering.cpu.binding import object_code
from fhelium_ir.lowering.cpu.compile_worker import read_message, write_message

WORKER_MODULE = "fhelium_ir.lowering.cpu.compile_worker"

AHEAD = 2
"""Texts that a process has at most: one under way and the next one."""

Job = tuple[str, str]
Texts = Iterable[Job]


def available_cores() -> int:
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Compiling:
    """LLVM IR on its way to object files.

    Args:
        workers: how many processes to start; below 2, this process compiles when the results are asked for.
    """

    def __init__(self, workers: int):
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._done: dict[str, bytes] = {}
        self._texts: dict[str, str] = {}
        count = workers if workers > 1 else 0
        processes = [process for _ in range(count) if (process := _start_worker()) is not None]
        self._workers = [_Worker(process, self._jobs, self._done) for process in processes]

    @property
    def names(self) -> Set[str]:
        """Of all texts so far."""
        return self._texts.keys()

    def add(self, name: str, text: str) -> None:
        """Hands a text to the processes."""
        self._texts[name] = text
        self._jobs.put((name, text))

    def close(self) -> None:
        """Says that no text follows: the processes end behind the last one."""
        for _ in self._workers:
            self._jobs.put(None)

    def finish(self) -> dict[str, bytes]:
        """The object files by name; what a process failed to compile is compiled in this one.

        Raises:
            FheliumError: LLVM refuses a text.
        """
        self.close()
        for worker in self._workers:
            worker.join()
        done = self._done
        return {name: done.get(name) or object_code(text) for name, text in self._texts.items()}


def compile_texts(texts: Texts, workers: int) -> dict[str, bytes]:
    """Object files by name.

    Args:
        texts: names and LLVM IR, taken one after the other while workers run.
        workers: how many processes to start, see `Compiling`.

    Raises:
        FheliumError: LLVM refuses a text.
    """
    compiling = Compiling(workers)
    try:
        for name, text in texts:
            compiling.add(name, text)
    finally:
        compiling.close()
    return compiling.finish()


def _start_worker() -> subprocess.Popen[bytes] | None:
    if not sys.executable or getattr(sys, "frozen", False):
        return None  # there is no interpreter to start, or it is a program of its own
    package_parent = str(Path(fhelium_ir.__file__).parent.parent)
    # The paths of this process, so that nothing needs to be searched again: -S starts faster.
    paths = [package_parent, *(path or os.getcwd() for path in sys.path)]
    try:
        return subprocess.Popen(
            # Not -m, which imports more.
            [sys.executable, "-S", "-P", "-c", f"from {WORKER_MODULE} import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
    except OSError:
        return None


class _Worker:
    """A process that is given jobs by one thread and read by another one, until there are no more or it fails.

    It has the next text before it is done with one: threads of this process wait for Python's lock, up to 5 ms each
    time, while texts are being made.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        jobs: SimpleQueue[Job | None],
        done: dict[str, bytes],
    ):
        self._process = process
        self._jobs = jobs
        self._done = done
        self._sent: SimpleQueue[str | None] = SimpleQueue()
        self._room = Semaphore(AHEAD)
        self._failed = False
        self._threads = [Thread(target=run, daemon=True) for run in (self._feed, self._collect)]
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        """Waits for the end of the process."""
        for thread in self._threads:
            thread.join()

    def _feed(self) -> None:
        stream = self._process.stdin
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while self._room.acquire() and not self._failed and (job := self._jobs.get()):
                name, text = job
                write_message(stream, text.encode())
                self._sent.put(name)
        with contextlib.suppress(OSError):
            stream.close()
        self._sent.put(None)

    def _collect(self) -> None:
        stream = self._process.stdout
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while (name := self._sent.get()) is not None:
                answer = read_message(stream)
                if answer is None:
                    break
                if answer:
                    self._done[name] = answer
                self._room.release()
        self._failed = True
        self._room.release()
        stream.close()
        self._process.kill()
        self._process.wait()
