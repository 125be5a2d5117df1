"""LLVM IR to object files in several processes at once; threads would wait for llvmlite's lock."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from queue import SimpleQueue

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


def compile_texts(texts: Texts, workers: int) -> dict[str, bytes]:
    """Object files by name.

    Args:
        texts: names and LLVM IR, taken one after the other while workers run.
        workers: how many processes to start; below 2, this process compiles. What a process
            fails to compile is compiled in this one.

    Raises:
        FheliumError: LLVM refuses a text.
    """
    if workers < 2:
        return {name: object_code(text) for name, text in texts}
    jobs: SimpleQueue[tuple[str, str] | None] = SimpleQueue()
    done: dict[str, bytes] = {}
    left: dict[str, str] = {}
    started = [process for _ in range(workers) if (process := _start_worker()) is not None]
    threads = [
        threading.Thread(target=_feed, args=(process, jobs, done), daemon=True)
        for process in started
    ]
    try:
        for thread in threads:
            thread.start()
        for name, text in texts:
            left[name] = text
            jobs.put((name, text))
        for _ in threads:
            jobs.put(None)
        for thread in threads:
            thread.join()
    finally:
        for _ in threads:
            jobs.put(None)
        for process in started:
            process.kill()
            process.wait()
    return {name: done.get(name) or object_code(text) for name, text in left.items()}


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
