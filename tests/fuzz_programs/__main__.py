"""`python -m tests.fuzz_programs --minutes 20 --seed 1`: random programs through every stage and target.

Each program is valid: it has to compile, and every stage, every target and the decrypted results have to agree. Beside
each there are some with a mistake, which have to be refused with one error. Failures are shrunk and written to files.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.status import Status

from tests.fuzz_programs.fuzz import Report, check_broken, check_seed, fuzz, reproducer


def main(argv: list[str] | None = None) -> int:
    """Entry point; returns 1 if any program failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--programs", type=int, default=0, help="stop after so many programs")
    parser.add_argument("--seed", default="1")
    parser.add_argument(
        "--keep", type=Path, default=Path("fuzz-failures"), help="folder for failures"
    )
    parser.add_argument(
        "--only", metavar="NAME", help="check the one program of this name, such as 1/17"
    )
    arguments = parser.parse_args(argv)
    if arguments.only:
        return _check_one(arguments.only)
    console = Console(stderr=True)
    with console.status("starting") as status:
        report = fuzz(
            arguments.seed,
            lambda number, seconds: (
                seconds > 60 * arguments.minutes or number == arguments.programs > 0
            ),
            lambda number, report: _show(status, number, report),
            lambda failure: print(f"FAILED {failure.name}: {failure.message}", flush=True),
        )
    for number, failure in enumerate(report.failures):
        arguments.keep.mkdir(parents=True, exist_ok=True)
        path = arguments.keep / f"{arguments.seed}-{number}.mlir"
        path.write_text(reproducer(failure), encoding="utf-8")
        print(f"{failure.name}, {failure.check}: the smallest program is {os.fspath(path)}")
    seconds = f"{report.seconds:.0f} s, {report.cpu_seconds:.0f} s of them computing"
    print(f"seed {arguments.seed}: {seconds}, {len(report.failures)} failures")
    print(report.coverage.report())
    return 1 if report.failures else 0


def _show(status: Status, number: int, report: Report) -> None:
    status.update(f"{number} programs, {len(report.failures)} failures, {report.seconds:.0f} s")


def _check_one(name: str) -> int:
    base = name.removesuffix("/broken")
    failure = check_broken(base) if name != base else check_seed(name)
    if failure is None:
        print(f"{name}: nothing is wrong")
        return 0
    print(reproducer(failure))
    return 1


if __name__ == "__main__":
    sys.exit(main())
