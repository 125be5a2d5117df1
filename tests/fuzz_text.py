"""Mutated and truncated MLIR texts through `fhelium-opt`: each must end with exit code 0 or 1.

    python -m tests.fuzz_text --count 20000 --seed 1

The texts of the lit tests and the examples are the start; the same seed gives the same inputs. All run
in one process. What counts as a failure: a traceback, another exit code, more than `LIMIT_S`
seconds, an error that calls itself internal, or an empty error.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import random
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from fhelium_ir import universe
from fhelium_ir.tools import fhelium_opt
from tests.lit_files import LIT_ROOT, ROOT

LIMIT_S = 20
"""Seconds for one input, the whole pipeline included."""

PIPELINE_SHARE = 0.05
"""Part of the inputs with parameters that go through the default pipeline as well."""

PASS_SHARE = 0.2
"""Part of all inputs that go through one pass, whether it fits their stage or not."""

NUMBERS = ("0", "-1", "1", "3", "64", "2147483648", "18446744073709551616", "9" * 400, "1.5e999")
SNIPPETS = (
    "{", "}", "<", ">", "(", ")", '"', "loc(", "#", "!", "%", "@", "?", "->", "\0", "\xff",
    "!ckks.ciphertext<", "#ckks.params<", "!rns.poly<", "dense<", "^bb0(", "2**", "/", ",", ":",
)  # fmt: skip


class _TimeOut(BaseException):
    """The time guard; no `except Exception` swallows it."""


@dataclass
class Report:
    """Inputs by exit code, and the failures: what is wrong, the options and the input."""

    codes: dict[int, int] = field(default_factory=dict[int, int])
    pipelines: int = 0
    slowest: float = 0.0
    failures: list[tuple[str, list[str], bytes]] = field(
        default_factory=list[tuple[str, list[str], bytes]]
    )


def corpus() -> list[str]:
    """The texts that inputs are made from."""
    files = [*LIT_ROOT.rglob("*.mlir"), *(ROOT / "examples").rglob("*.mlir")]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(files)]
    parts = [part for text in texts for part in text.split("// -----\n")]
    return [part for part in parts if part.strip()]


def _cut(text: str, rng: random.Random, texts: list[str]) -> str:
    return text[: rng.randrange(len(text) + 1)]


def _delete(text: str, rng: random.Random, texts: list[str]) -> str:
    start, length = rng.randrange(len(text) + 1), rng.choice((1, 2, 5, 20, 100))
    return text[:start] + text[start + length :]


def _repeat(text: str, rng: random.Random, texts: list[str]) -> str:
    start, length = rng.randrange(len(text) + 1), rng.choice((1, 5, 30, 200))
    part = text[start : start + length]
    return text[:start] + part * rng.choice((2, 3, 50)) + text[start + length :]


def _character(text: str, rng: random.Random, texts: list[str]) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + chr(rng.randrange(1, 256)) + text[place + 1 :]


def _insert(text: str, rng: random.Random, texts: list[str]) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(SNIPPETS) + text[place:]


def _number(text: str, rng: random.Random, texts: list[str]) -> str:
    places = [i for i, c in enumerate(text) if c.isdigit()]
    if not places:
        return text
    start = end = rng.choice(places)
    while end < len(text) and text[end].isdigit():
        end += 1
    return text[:start] + rng.choice(NUMBERS) + text[end:]


def _word(text: str, rng: random.Random, texts: list[str]) -> str:
    """Replaces a word by another one of the same text."""
    words = text.split(" ")
    words[rng.randrange(len(words))] = rng.choice(words)
    return " ".join(words)


def _line(text: str, rng: random.Random, texts: list[str]) -> str:
    """Removes, doubles or moves a line, or takes one from another text."""
    lines = text.splitlines(keepends=True) or [""]
    place = rng.randrange(len(lines))
    other = rng.choice(rng.choice(texts).splitlines(keepends=True) or [""])
    new = rng.choice(([], [lines[place]] * 2, [other], [lines[place], other]))
    lines[place : place + 1] = new
    return "".join(lines)


_MUTATIONS: tuple[Callable[[str, random.Random, list[str]], str], ...] = (
    _cut, _delete, _repeat, _character, _insert, _number, _number, _word, _word, _line, _line,
)  # fmt: skip


def make_input(texts: list[str], rng: random.Random) -> tuple[bytes, list[str]]:
    """One input and the options to run it with."""
    text = rng.choice(texts)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        text = rng.choice(_MUTATIONS)(text, rng, texts)
    data = text.encode("utf-8", errors="replace")
    if rng.random() < 0.02:
        data = rng.randbytes(rng.choice((1, 10, 300)))
    options = rng.choice(([], ["--print-generic"], ["--print-loc"], ["-p", "canonicalize,cse"]))
    if b"ckks.params" in data and rng.random() < PIPELINE_SHARE:
        options = ["-p", universe.DEFAULT_PIPELINE]
    elif rng.random() < PASS_SHARE:
        options = ["-p", rng.choice(tuple(universe.PASSES))]
    return data, options


@contextlib.contextmanager
def _time_guard(seconds: float) -> Generator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeOut("".join(traceback.format_stack(frame, limit=6)))

    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def problem(path: Path, options: list[str], report: Report) -> str | None:
    """Runs the driver on a file; what is wrong with how it ended, or None."""
    out, err = io.StringIO(), io.StringIO()
    start = time.perf_counter()
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _time_guard(LIMIT_S):
            code = fhelium_opt.main([str(path), *options])
    except _TimeOut as stopped:
        return f"no end after {LIMIT_S} s\n{stopped}"
    except BaseException:
        return f"an exception left the tool\n{traceback.format_exc(limit=-3)}"
    report.slowest = max(report.slowest, time.perf_counter() - start)
    report.codes[code] = report.codes.get(code, 0) + 1
    said = err.getvalue()
    if code not in (0, 1):
        return f"exit code {code}"
    if "Traceback" in said or "internal error" in said:
        return said
    if code == 1 and "error: " not in said:
        return f"exit code 1 without an error: {said!r}"
    return None


def fuzz(count: int, seed: int, show: Callable[[int, Report], None] | None = None) -> Report:
    """Runs `count` inputs made from `seed`."""
    texts = corpus()
    rng = random.Random(seed)
    report = Report()
    with tempfile.TemporaryDirectory(prefix="fhelium-fuzz-") as folder:
        path = Path(folder) / "input.mlir"
        for number in range(count):
            data, options = make_input(texts, rng)
            path.write_bytes(data)
            report.pipelines += universe.DEFAULT_PIPELINE in options
            wrong = problem(path, options, report)
            if wrong is not None:
                report.failures.append((wrong, options, data))
            if number % 50 == 49:
                # The driver switches collection off while it runs.
                gc.collect()
            if show is not None and number % 500 == 499:
                show(number + 1, report)
    return report


def main() -> int:
    """Entry point; returns 1 if any input failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="write the failing inputs into this folder")
    arguments = parser.parse_args()
    start = time.perf_counter()

    def show(done: int, report: Report) -> None:
        if sys.stderr.isatty():
            print(f"\r{done} inputs, {len(report.failures)} failures", end="", file=sys.stderr)

    report = fuzz(arguments.count, arguments.seed, show)
    for number, (wrong, options, data) in enumerate(report.failures):
        print(f"failure {number}: {' '.join(options)}\n{wrong.strip()}")
        if arguments.keep is not None:
            arguments.keep.mkdir(parents=True, exist_ok=True)
            (arguments.keep / f"{number}.mlir").write_bytes(data)
    codes = ", ".join(f"{n} with exit code {code}" for code, n in sorted(report.codes.items()))
    seconds = time.perf_counter() - start
    print(
        f"seed {arguments.seed}: {arguments.count} inputs, {codes}, {report.pipelines} through the "
        f"default pipeline, {len(report.failures)} failures, slowest {report.slowest:.2f} s, "
        f"{seconds:.0f} s in all"
    )
    return 1 if report.failures else 0


if __name__ == "__main__":
    sys.exit(main())
