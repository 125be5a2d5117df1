"""LLVM IR to object files in several processes at once; threads would wait for llvmlite's lock."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterable, Set
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

import fhelium_ir
from fhelium_ir.lowering.cpu.binding import object_code
from fhelium_ir.lowering.cpu.compile_worker import read_message, write_message

WORKER_MODULE = "fhelium_ir.lowering.cpu.compile_worker"

Texts = Iterable[tuple[str, str]]


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
        self._jobs: SimpleQueue[tuple[str, str] | None] = SimpleQueue()
        self._done: dict[str, bytes] = {}
        self._texts: dict[str, str] = {}
        count = workers if workers > 1 else 0
        processes = [process for _ in range(count) if (process := _start_worker()) is not None]
        self._threads = [
            Thread(target=_feed, args=(process, self._jobs, self._done), daemon=True)
            for process in processes
        ]
        for thread in self._threads:
            thread.start()

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
        for _ in self._threads:
            self._jobs.put(None)

    def finish(self) -> dict[str, bytes]:
        """The object files by name; what a process failed to compile is compiled in this one.

        Raises:
            FheliumError: LLVM refuses a text.
        """
        self.close()
        for thread in self._threads:
            thread.join()
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
            [sys.executable, "-S", "-P", "-m", WORKER_MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
    except OSError:
        return None


def _feed(
    process: subprocess.Popen[bytes],
    jobs: SimpleQueue[tuple[str, str] | None],
    done: dict[str, bytes],
) -> None:
    """Hands jobs to one worker until there are no more or the worker fails."""
    assert process.stdin is not None and process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        while (job := jobs.get()) is not None:
            name, text = job
            write_message(process.stdin, text.encode())
            answer = read_message(process.stdout)
            if answer is None:
                break
            if answer:
                done[name] = answer
    with contextlib.suppress(OSError):
        process.stdin.close()
    process.stdout.close()
    process.kill()
    process.wait()
