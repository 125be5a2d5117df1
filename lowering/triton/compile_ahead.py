"""Compiling the kernels of a module in parallel before the first launch.

Triton compiles a kernel when it is first launched, one after the other. Here processes fill its disk cache first.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.triton import binding
from fhelium_ir.lowering.triton.compile_worker import Job, compile_job, options_of

WORKER = "fhelium_ir.lowering.triton.compile_worker"
MIN_JOBS = 3
"""With fewer kernels to compile the start of a process is not worth it: this one compiles them."""


def compile_ahead(jobs: Sequence[Job], target: tuple[str, int, int]) -> int:
    """Fills Triton's cache with the kernels that it does not hold yet, as far as this project knows.

    Args:
        jobs: source, Triton types of the parameters and warps of each kernel.
        target: backend, architecture and warp size of the GPU.

    Returns:
        How many kernels were handed to workers. A worker that fails leaves its kernels to the first launch.
    """
    marks = {_mark(job, target): job for job in jobs}
    missing = {mark: job for mark, job in marks.items() if not mark.exists()}
    if len(missing) < MIN_JOBS:
        for mark, job in missing.items():
            try:
                compile_job(job, binding.GpuTarget(*target))
            except FheliumError:
                continue  # the first launch reports it
            _touch(mark)
        return 0
    count = min(len(missing), os.cpu_count() or 1)
    # The largest sources first, dealt out in turn, so that no worker ends up with all of them.
    ordered = sorted(missing.items(), key=lambda item: -len(item[1][0]))
    shares = [ordered[start::count] for start in range(count)]
    workers = [_start([job for _, job in share], target) for share in shares]
    for worker, share in zip(workers, shares, strict=True):
        if worker is not None and worker.wait() == 0:
            for mark, _ in share:
                _touch(mark)
    return len(missing)


def _start(jobs: Sequence[Job], target: tuple[str, int, int]) -> subprocess.Popen[bytes] | None:
    request = json.dumps({"target": target, "jobs": jobs}).encode()
    path = os.pathsep.join(entry for entry in sys.path if entry)
    try:
        worker = subprocess.Popen(
            [sys.executable, "-m", WORKER],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path, "TRITON_INTERPRET": "0"},
        )
        assert worker.stdin is not None
        worker.stdin.write(request)
        worker.stdin.close()
    except OSError:
        return None
    return worker


def _triton_cache() -> Path:
    """Where Triton keeps its binaries."""
    stated = os.environ.get("TRITON_CACHE_DIR")
    home = os.environ.get("TRITON_HOME", str(Path.home()))
    return Path(stated) if stated else Path(home) / ".triton" / "cache"


def _mark(job: Job, target: tuple[str, int, int]) -> Path:
    """An empty file beside Triton's binaries that says that a kernel has been compiled; it goes when they go."""
    options = options_of(job[0], job[2]).as_keywords()
    content = json.dumps([job, target, options, version("triton")]).encode()
    return _triton_cache() / "fhelium-ir" / hashlib.sha256(content).hexdigest()


def _touch(mark: Path) -> None:
    try:
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError:
        return
