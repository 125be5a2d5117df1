"""What `--time-passes` and `--pass-statistics` print."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fhelium_ir.compiler.pipeline import PassObserver, Step
from fhelium_ir.compiler.remarks import Remark

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from fhelium_ir.compiler.errors import FheliumError

REMARK_KINDS = ("applied", "missed", "analysis", "warning")


@dataclass
class PassTime:
    """Seconds that one pass took, and the verification after it."""

    name: str
    run: float = 0.0
    verify: float = 0.0


@dataclass
class Timer(PassObserver):
    """Times the stages of a run and, as an observer, each pass. It must be the last observer."""

    clock: Callable[[], float] = time.perf_counter
    stages: dict[str, float] = field(default_factory=dict[str, float])
    passes: list[PassTime] = field(default_factory=list[PassTime])
    _start: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Adds the time of a `with` block to a stage."""
        start = self.clock()
        try:
            yield
        finally:
            self.stages[name] = self.stages.get(name, 0.0) + self.clock() - start

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        self.passes.append(PassTime(step.name))
        self._start = self.clock()

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        now = self.clock()
        self.passes[-1].run = now - self._start
        self._start = now

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        self.passes[-1].verify = self.clock() - self._start

    def pass_failed(self, step: Step, error: FheliumError) -> None:
        last = self.passes[-1]
        if last.run == 0.0:
            last.run = self.clock() - self._start
        else:
            last.verify = self.clock() - self._start

    def report(self) -> str:
        """A tree of times: verification stands apart from the passes."""
        run = sum(entry.run for entry in self.passes)
        verify = sum(entry.verify for entry in self.passes)
        stages = {name: seconds for name, seconds in self.stages.items() if name != "pipeline"}
        rows = [("total", sum(stages.values()) + run + verify)]
        for name, seconds in stages.items():
            if name == "output":
                rows += self._pass_rows(run, verify)
            rows.append((f"  {name}", seconds))
        if "output" not in stages:
            rows += self._pass_rows(run, verify)
        total = max(rows[0][1], 1e-12)
        lines = ["===== time in seconds ====="]
        lines += [f"{s:10.4f} {100 * s / total:6.1f} %  {name}" for name, s in rows]
        return "".join(f"{line}\n" for line in lines)

    def _pass_rows(self, run: float, verify: float) -> list[tuple[str, float]]:
        if not self.passes:
            return []
        rows = [("  passes", run + verify), ("    run", run)]
        rows += [(f"      {entry.name}", entry.run) for entry in self.passes]
        rows += [("    verify", verify)]
        rows += [(f"      after {entry.name}", entry.verify) for entry in self.passes]
        return rows


@dataclass
class PassCounts:
    """Ops by dialect before and after a pass, and its remarks by kind."""

    name: str
    before: Counter[str]
    after: Counter[str] = field(default_factory=Counter[str])
    remarks: Counter[str] = field(default_factory=Counter[str])


@dataclass
class Statistics(PassObserver):
    """Counts ops by dialect around each pass, and the remarks that the pass adds to a list."""

    remarks: list[Remark]
    passes: list[PassCounts] = field(default_factory=list[PassCounts])
    _counts: Counter[str] | None = None
    _heard: int = 0

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        before = self._counts if self._counts is not None else count_ops(module)
        self.passes.append(PassCounts(step.name, before))
        self._heard = len(self.remarks)

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        entry = self.passes[-1]
        entry.after = self._counts = count_ops(module)
        entry.remarks = Counter(remark.kind for remark in self.remarks[self._heard :])

    def report(self) -> str:
        """Per pass the dialects whose number of ops changed, the total and the remarks."""
        lines = ["===== pass statistics ====="]
        for entry in self.passes:
            lines.append(entry.name)
            lines += [
                f"  {name:<10} {entry.before[name]:6} -> {entry.after[name]:6}"
                for name in sorted({*entry.before, *entry.after})
                if entry.before[name] != entry.after[name]
            ]
            lines.append(f"  {'all ops':<10} {entry.before.total():6} -> {entry.after.total():6}")
            counted = [f"{entry.remarks[k]} {k}" for k in REMARK_KINDS if entry.remarks[k]]
            if counted:
                lines.append(f"  remarks    {', '.join(counted)}")
        return "".join(f"{line}\n" for line in lines)


def count_ops(module: ModuleOp) -> Counter[str]:
    """The number of ops of each dialect, nested ones included."""
    return Counter(op.name.partition(".")[0] for op in module.walk())
