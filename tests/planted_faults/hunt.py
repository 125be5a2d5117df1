"""Plants each fault in a process of its own and lets random programs find it."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection

from fhelium_ir.testing.random_programs import Choices, make_program
from tests.fuzz_programs.checks import CheckFailed, Effort, check_text
from tests.fuzz_programs.fuzz import check_broken, effort_of
from tests.planted_faults.planting import Fault, planted


@dataclass(frozen=True)
class Found:
    """How a fault was found: by which check, on which program, after how many seconds; empty if it was not."""

    fault: str
    check: str = ""
    program: str = ""
    seconds: float = 0.0
    programs: int = 0


def hunt(fault: Fault, names: Iterable[str], limit_s: float) -> Found:
    """Checks programs by name until one finds the fault; in a forked process, which is stopped at the limit."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_search, args=(fault, names, limit_s, theirs))
    process.start()
    theirs.close()
    found = Found(fault.name, seconds=limit_s)
    try:
        # A fault may make a kernel or a pass run forever, or crash: then its process is stopped or has ended.
        if ours.poll(limit_s):
            found = ours.recv()
    except EOFError:
        found = replace(found, check="a crash")
    process.kill()
    process.join()
    return found


def _search(fault: Fault, names: Iterable[str], limit_s: float, answer: Connection) -> None:
    start, count = time.perf_counter(), 0
    with tempfile.TemporaryDirectory(prefix="fhelium-faults-") as folder:
        # Objects of faulty code must not stay in the cache, and sound ones must not hide the fault.
        os.environ["FHELIUM_CACHE_DIR"] = folder
        with planted(fault):
            for name in names:
                check = _check(name, fault.target)
                count += 1
                seconds = time.perf_counter() - start
                if check is not None:
                    answer.send(Found(fault.name, check, name, seconds, count))
                    return
                if seconds > limit_s:
                    break
    answer.send(Found(fault.name, "", "", time.perf_counter() - start, count))


def _check(name: str, target: str) -> str | None:
    """The check in which the program of a name, or the broken one beside it, fails.

    Every other program is lowered to kernels, which run on one target: each kind of target costs seconds.
    """
    program = make_program(Choices.seeded(name))
    effort = effort_of(Choices.seeded(f"{name}/effort"))
    switches = 3 if target == "triton-interpret" else effort.switches
    targets = (target,) if effort.targets or target != "interpret" else ()
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
