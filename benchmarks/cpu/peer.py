"""The side of the benchmark that asks a process of OpenFHE for times."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import cast

SCRIPT = Path(__file__).with_name("openfhe_peer.py")


class Peer:
    """OpenFHE in a process of its own; `reason` says why there is none.

    Args:
        python: an interpreter that has the package `openfhe`, a path or a name on PATH.
        setting: ring degree, limbs, bits of a prime, digits.
        threads: for OMP_NUM_THREADS.
    """

    def __init__(self, python: str, setting: tuple[int, int, int, int], threads: int):
        self.reason = ""
        self.rows: list[str] = []
        self._process: subprocess.Popen[str] | None = None
        found = shutil.which(python)
        if found is None:
            self.reason = f"no '{python}'"
            return
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment["OMP_NUM_THREADS"] = str(threads)
        self._process = subprocess.Popen(
            [found, str(SCRIPT), *map(str, setting)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )
        answer = cast("dict[str, object] | None", self._read())
        if answer is None or "error" in answer:
            self.reason = str((answer or {}).get("error", "the process ended"))
            self.close()
            return
        self.rows = cast("list[str]", answer["rows"])

    def times(self, row: str, runs: int) -> list[tuple[float, float]]:
        """Seconds of some runs of a row, on the clock and of the processors; none if it is not measured."""
        if self._process is None or row not in self.rows:
            return []
        assert self._process.stdin is not None
        self._process.stdin.write(f"{row} {runs}\n")
        self._process.stdin.flush()
        found = cast("list[tuple[float, float]] | None", self._read()) or []
        return [(clock, used) for clock, used in found]

    def _read(self) -> object:
        assert self._process is not None and self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line.strip() else None

    def close(self) -> None:
        """Ends the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
