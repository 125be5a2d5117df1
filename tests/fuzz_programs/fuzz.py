"""The loop of the fuzzer: makes programs, checks them, and shrinks what fails."""

from __future__ import annotations

import contextlib
import gc
import io
import re
import signal
import tempfile
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.testing.random_programs import Choices, Setting, make_program
from fhelium_ir.testing.random_programs.broken import BrokenProgram, break_program
from fhelium_ir.tools import fhelium_opt
from fhelium_ir.tools.reduction import shrink_module
from tests.fuzz_programs.checks import PASSES, CheckFailed, Effort, Seen, check_text
from tests.fuzz_programs.coverage import Coverage

REDUCTION_SECONDS = 60.0
"""Of processor time, for one failure."""

LIMIT_S = 100.0
"""Of processor time, for one program."""

BROKEN = 3
"""Mistakes that are tried beside each program; those that are not possible in it count, too."""

FAILURES = 5
"""The run ends after so many."""


@dataclass(frozen=True)
class Failure:
    """A program that failed: which one, why, and the smallest text found that fails in the same check."""

    name: str
    check: str
    message: str
    text: str
    setting: Setting | None
    effort: Effort | None


@dataclass
class Report:
    """What a run has found."""

    coverage: Coverage = field(default_factory=Coverage)
    failures: list[Failure] = field(default_factory=list[Failure])
    seconds: float = 0.0
    cpu_seconds: float = 0.0


class _TimeOut(BaseException):
    """The time guard; no `except Exception` swallows it."""


@contextlib.contextmanager
def time_guard(seconds: float) -> Generator[None]:
    """Raises _TimeOut after so many seconds of this process's processor time."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TimeOut("".join(traceback.format_stack(frame, limit=4)))

    old = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)


def effort_of(choices: Choices) -> Effort:
    """How much of a program to check: kernels of every other one, Triton's interpreter rarely."""
    kind = choices.weighted({"polynomial": 10, "kernels": 9, "zq": 1, "triton": 1})
    targets = {
        "polynomial": (),
        "kernels": ("interpret", "cpu"),
        "zq": ("zq", "interpret", "cpu"),
        "triton": ("interpret", "cpu", "triton-interpret"),
    }[kind]
    return Effort(
        choices.weighted({"encrypted": 3, "largest": 2, "random": 1}),
        targets,
        frozenset(name for name in PASSES if choices.chance(15)),
        frozenset(name for name in PASSES if choices.chance(60)),
        3 if kind == "triton" else 8,
        choices.integer(1, 1 << 30),
    )


def check_seed(name: str, coverage: Coverage | None = None) -> Failure | None:
    """Makes the program of a name such as `1/17` and checks it; None if all is well."""
    program = make_program(Choices.seeded(name))
    effort, seen = effort_of(Choices.seeded(f"{name}/effort")), Seen()
    try:
        with time_guard(LIMIT_S):
            check_text(
                program.text, program.setting, effort, program.inputs, program.expected, seen
            )
    except CheckFailed as failed:
        return Failure(name, failed.check, str(failed), program.text, program.setting, effort)
    except _TimeOut as stopped:
        wrong = f"no end after {LIMIT_S} s\n{stopped}"
        return Failure(name, "no end", wrong, program.text, program.setting, None)
    if coverage is not None:
        coverage.add(program, seen)
    return None


def check_broken(name: str, coverage: Coverage | None = None) -> Failure | None:
    """Makes broken programs of a name and runs the driver on them; None if each is refused cleanly."""
    program = make_program(Choices.seeded(f"{name}/broken"), 5)
    for number in range(BROKEN):
        broken = break_program(Choices.seeded(f"{name}/mistake {number}"), program)
        if broken is None:
            continue
        wrong = misbehaviour(broken)
        if wrong is not None:
            return Failure(f"{name}/broken", broken.mistake, wrong, broken.text, None, None)
        if coverage is not None:
            coverage.broken[broken.mistake] += 1
    return None


def misbehaviour(program: BrokenProgram) -> str | None:
    """What is wrong with how `fhelium-opt` refuses a program: it must say one error with a location."""
    out, err = io.StringIO(), io.StringIO()
    with tempfile.TemporaryDirectory(prefix="fhelium-fuzz-") as folder:
        path = str(Path(folder) / "broken.mlir")
        Path(path).write_text(program.text, encoding="utf-8")
        arguments = [path, "-p", universe.DEFAULT_PIPELINE, "--stop-after", "ckks-check"]
        try:
            with (
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
                time_guard(LIMIT_S),
            ):
                code = fhelium_opt.main(arguments)
        except BaseException as error:
            return f"{type(error).__name__} left the tool: {error}"
        said = err.getvalue()
        errors = re.findall(r"^(?:(.*:\d+:\d+): )?error: ", said, re.MULTILINE)
        if code != 1 or out.getvalue():
            return f"exit code {code} instead of 1"
        if len(errors) != 1 or "Traceback" in said or "internal error" in said:
            return f"not one clean error: {said}"
        if not errors[0].startswith(f"{path}:"):
            return f"the error has no location: {said}"
    return None


def fuzz(
    seed: str,
    until: Callable[[int, float], bool],
    show: Callable[[int, Report], None] | None = None,
    tell: Callable[[Failure], None] | None = None,
    most: int = FAILURES,
) -> Report:
    """Checks programs of a seed and, beside each, broken ones.

    Args:
        until: of the programs and the seconds so far, whether to stop.
        show: called after each program.
        tell: called with each failure, before it is shrunk; without it nothing is shrunk.
        most: failures after which the run ends.
    """
    report, number = Report(), 0
    start, cpu_start = time.perf_counter(), time.process_time()
    while not until(number, time.perf_counter() - start) and len(report.failures) < most:
        name = f"{seed}/{number}"
        for check in (check_seed, check_broken):
            failure = check(name, report.coverage)
            if failure is not None and tell is not None:
                tell(failure)
                failure = reduced(failure)
            if failure is not None:
                report.failures.append(failure)
        number += 1
        if number % 10 == 0:
            # the driver switches collection off while it runs
            gc.collect()
        report.seconds = time.perf_counter() - start
        report.cpu_seconds = time.process_time() - cpu_start
        if show is not None:
            show(number, report)
    return report


def reduced(failure: Failure) -> Failure:
    """The failure with the smallest program found that fails in the same check."""
    setting, effort = failure.setting, failure.effort
    if setting is None or effort is None:
        return failure
    deadline = time.process_time() + REDUCTION_SECONDS

    def fails(text: str) -> bool:
        if time.process_time() > deadline:
            return False
        try:
            check_text(text, setting, effort)
        except CheckFailed as failed:
            return failed.check == failure.check
        return False

    if not fails(failure.text):
        # only with the inputs, or against the meaning, that the generator knows
        return failure
    module = parse_module(universe.make_context(), failure.text, "program.mlir")
    text = shrink_module(module, fails)
    return Failure(failure.name, failure.check, failure.message, text, setting, effort)


def reproducer(failure: Failure) -> str:
    """A text that says how to see the failure again, and the program."""
    lines = [
        f"// {line}" for line in (f"check: {failure.check}", *failure.message.splitlines()[:6])
    ]
    lines.append(f"// from: {failure.name}")
    if failure.setting is not None:
        lines += [f"// {failure.setting}", f"// {failure.effort}"]
    lines.append("// again: python -m tests.fuzz_programs --only NAME")
    return "\n".join([*lines, failure.text])
