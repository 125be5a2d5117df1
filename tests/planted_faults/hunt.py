"""Plants each fault in a process of its own and lets random programs find it."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import cast

from fhelium_ir.testing.random_programs import Choices, make_program
from tests.fuzz_programs.checks import CheckFailed, Effort, check_text
from tests.fuzz_programs.fuzz import check_broken, effort_of
from tests.planted_faults.planting import Fault, planted

SLOWNESS = 10
"""How many times longer than it computes a process may take on a busy machine."""


@dataclass(frozen=True)
class Found:
    """How a fault was found: by which check, on which program, after how many seconds; empty if it was not."""

    fault: str
    check: str = ""
    program: str = ""
    seconds: float = 0.0
    programs: int = 0


@dataclass
class _Running:
    """A process that looks for one fault."""

    fault: Fault
    process: BaseProcess
    answer: Connection
    deadline: float


def hunt(
    faults: Sequence[Fault], names: Callable[[Fault], Iterable[str]], limit_s: float, jobs: int = 1
) -> Iterator[Found]:
    """For each fault, checks programs by name until one finds it.

    Each fault has a forked process of its own; so many of them run at once. Seconds are those of the processor, so
    that it does not matter what else the machine does.
    """
    left, running = list(reversed(faults)), list[_Running]()
    while left or running:
        while left and len(running) < jobs:
            running.append(_start(left.pop(), names, limit_s))
        wait([one.answer for one in running], timeout=1.0)
        for one in list(running):
            found = _outcome(one, limit_s)
            if found is not None:
                running.remove(one)
                one.process.kill()
                one.process.join()
                yield found


def _start(fault: Fault, names: Callable[[Fault], Iterable[str]], limit_s: float) -> _Running:
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_search, args=(fault, names(fault), limit_s, theirs))
    process.start()
    theirs.close()
    return _Running(fault, process, ours, time.monotonic() + SLOWNESS * limit_s)


def _outcome(one: _Running, limit_s: float) -> Found | None:
    """What a process has found; None while it looks."""
    if one.answer.poll():
        try:
            return cast(Found, one.answer.recv())
        except EOFError:
            return Found(one.fault.name, "a crash")
    # A fault may make a kernel or a pass run forever.
    return Found(one.fault.name, seconds=limit_s) if time.monotonic() > one.deadline else None


def _search(fault: Fault, names: Iterable[str], limit_s: float, answer: Connection) -> None:
    start, count = time.process_time(), 0
    with tempfile.TemporaryDirectory(prefix="fhelium-faults-") as folder:
        # Objects of faulty code must not stay in the cache, and sound ones must not hide the fault.
        os.environ["FHELIUM_CACHE_DIR"] = folder
        with planted(fault):
            for name in names:
                check = _check(name, fault.target)
                count += 1
                seconds = time.process_time() - start
                if check is not None:
                    answer.send(Found(fault.name, check, name, seconds, count))
                    return
                if seconds > limit_s:
                    break
    answer.send(Found(fault.name, "", "", time.process_time() - start, count))


def _check(name: str, target: str) -> str | None:
    """The check in which the program of a name, or the broken one beside it, fails.

    Every other program is lowered to kernels, which run on one target: each kind of target costs seconds.
    """
    program = make_program(Choices.seeded(name))
    effort = effort_of(Choices.seeded(f"{name}/effort"))
    switches = 3 if target == "triton-interpret" else effort.switches
    targets = (target,) if target and (effort.targets or target != "interpret") else ()
    effort = replace(effort, targets=targets, switches=switches)
    try:
        check_text(program.text, program.setting, effort, program.inputs, program.expected)
    except CheckFailed as failed:
        return failed.check
    failure = check_broken(name)
    return None if failure is None else failure.check


def warm_up() -> None:
    """Imports what programs need, so that no process has to do it again."""
    program = make_program(Choices.seeded("warm"), 3)
    for target in ("interpret", "cpu", "triton-interpret"):
        check_text(program.text, program.setting, Effort(targets=(target,)))
    check_broken("warm")


def names_of(seed: str, first: Sequence[str] = ()) -> Iterable[str]:
    """Names of programs: some known ones, then those of a seed without end."""
    yield from first
    number = 0
    while True:
        yield f"{seed}/{number}"
        number += 1
