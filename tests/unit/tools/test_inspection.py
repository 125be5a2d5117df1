"""Dumps, diffs, timing and statistics of a run."""

from __future__ import annotations

import io
import random
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import PassObserver, Pipeline, Step
from fhelium_ir.compiler.remarks import collect_remarks, remark, remarks_wanted
from fhelium_ir.tools.colour import wants_colour
from fhelium_ir.tools.inspection import Dumper, printer_of_broken_ir
from fhelium_ir.tools.ir_diff import LARGEST_MATCH, changes, unified_diff
from fhelium_ir.tools.pass_reports import Timer
from fhelium_ir.universe import make_context


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def apply_diff(old: str, diff: str) -> str:
    """What `patch` does, from the definition of the format."""
    lines, result, position = old.splitlines(), list[str](), 0
    for line in diff.splitlines()[2:]:
        if line.startswith("@@"):
            start, count = line.split()[1].removeprefix("-").split(",")
            first = int(start) - (1 if int(count) else 0)
            result += lines[position:first]
            position = first
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[position] == line[1:]
            position += 1
            if line.startswith(" "):
                result.append(line[1:])
    return "\n".join([*result, *lines[position:]])


@pytest.mark.parametrize("seed", range(30))
def test_a_diff_turns_the_old_text_into_the_new_one(seed: int) -> None:
    rng = random.Random(seed)
    old = [rng.choice("abcdef") for _ in range(rng.randrange(0, 60))]
    new = list(old)
    for _ in range(rng.randrange(0, 6)):
        place = rng.randrange(len(new) + 1)
        new[place : place + rng.randrange(3)] = rng.choices("xyzab", k=rng.randrange(3))
    diff = unified_diff("\n".join(old), "\n".join(new), "a", "b")
    assert (diff == "") == (old == new)
    if diff:
        assert apply_diff("\n".join(old), diff) == "\n".join(new)


def test_a_long_difference_is_one_change() -> None:
    old = [f"old {i}" for i in range(LARGEST_MATCH)]
    new = [f"new {i}" for i in range(LARGEST_MATCH)]
    found = changes(["same", *old, "end"], ["same", *new, "end"])
    assert [(c.old_start, c.old_end) for c in found] == [(1, LARGEST_MATCH + 1)]


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert wants_colour(Terminal())
    assert not wants_colour(io.StringIO())
    monkeypatch.setenv("NO_COLOR", "1")
    assert not wants_colour(Terminal())
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert not wants_colour(Terminal())
    assert "\033[31m-a\033[0m" in unified_diff("a", "b", "x", "y", colour=True)


TEXT = "func.func @f(%a: i32) -> i32 {\n  %b = arith.addi %a, %a : i32\n  return %a : i32\n}\n"


def module() -> ModuleOp:
    return parse_module(make_context(), TEXT, "f.mlir")


class Recorder(PassObserver):
    def __init__(self, name: str, calls: list[str]) -> None:
        self.name, self.calls = name, calls

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        self.calls.append(f"{self.name} before {step.name} {step.number} {','.join(step.rest)}")

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        self.calls.append(f"{self.name} applied {step.name}")

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        self.calls.append(f"{self.name} after {step.name}")

    def pass_failed(self, step: Step, error: FheliumError) -> None:
        self.calls.append(f"{self.name} failed {step.name}")


def test_observers_nest_around_each_pass() -> None:
    calls: list[str] = []
    observers = [Recorder("outer", calls), Recorder("inner", calls)]
    Pipeline.parse("cse,dce").run(make_context(), module(), observers=observers)
    assert calls[:6] == [
        "outer before cse 1 cse,dce",
        "inner before cse 1 cse,dce",
        "inner applied cse",
        "outer applied cse",
        "inner after cse",
        "outer after cse",
    ]
    assert calls[6] == "outer before dce 2 dce"
    assert not any("failed" in call for call in calls)


def test_observers_hear_of_a_failure() -> None:
    calls: list[str] = []
    with pytest.raises(FheliumError):
        Pipeline.parse("plan-memory{alignment=3}").run(
            make_context(), module(), observers=[Recorder("o", calls)]
        )
    assert calls[-1] == "o failed plan-memory"


def test_times_add_up_and_verification_stands_apart() -> None:
    ticks = iter(range(100))
    timer = Timer(clock=lambda: float(next(ticks)))
    with timer.stage("parse"):
        pass
    with timer.stage("pipeline"):
        Pipeline.parse("cse,dce").run(make_context(), module(), observers=[timer])
    with timer.stage("output"):
        pass
    rows = [line.split() for line in timer.report().splitlines()[1:]]
    times = {" ".join(row[3:]): float(row[0]) for row in rows}
    # Each stage and each part of a pass took one tick.
    assert times == {
        "total": 6.0,
        "parse": 1.0,
        "passes": 4.0,
        "run": 2.0,
        "cse": 1.0,
        "dce": 1.0,
        "verify": 2.0,
        "after cse": 1.0,
        "after dce": 1.0,
        "output": 1.0,
    }


def test_dumps_are_files_that_parse(tmp_path: Path) -> None:
    dumper = Dumper(printer_of_broken_ir(locations=False), tmp_path / "new" / "folder")
    Pipeline.parse("cse,dce").run(make_context(), module(), observers=[dumper])
    files = sorted((tmp_path / "new" / "folder").iterdir())
    assert [file.name for file in files] == ["00-input.mlir", "01-cse.mlir", "02-dce.mlir"]
    for file in files:
        parse_module(make_context(), file.read_text())


def test_a_folder_that_cannot_be_made_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    dumper = Dumper(printer_of_broken_ir(locations=False), tmp_path / "file" / "folder")
    with pytest.raises(FheliumError, match="cannot make the folder"):
        Pipeline.parse("cse").run(make_context(), module(), observers=[dumper])


def test_warnings_are_heard_where_remarks_are_not() -> None:
    with collect_remarks(warnings_only=True) as heard:
        assert not remarks_wanted()
        remark("p", None, "applied", "one")
        remark("p", None, "warning", "two")
    assert [str(r) for r in heard] == ["warning: [p] two"]


def test_broken_ir_still_prints() -> None:
    broken = module()
    add = next(op for op in broken.walk() if op.name == "arith.addi")
    add.operands = [add.operands[0]]
    text = printer_of_broken_ir(locations=False)(broken)
    assert "arith.addi" in text
