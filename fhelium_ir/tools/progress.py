"""Progress of long steps: a spinner or a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fhelium_ir.compiler.pipeline import PassObserver, Step

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Advance = Callable[[str], None]
"""Says that the next of a known number of steps begins, and what it is."""


@contextmanager
def step(text: str) -> Generator[None]:
    """Shows on standard error, while the `with` block runs, what is being done."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


@contextmanager
def bar(text: str, total: int) -> Generator[Advance]:
    """Shows on standard error, while the `with` block runs, how many of `total` steps are done and which one runs."""
    if not sys.stderr.isatty():
        yield lambda label: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[label]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(text, total=total, label="")
        begun = 0

        def advance(label: str) -> None:
            nonlocal begun
            progress.update(task, completed=begun, label=label)
            begun += 1

        yield advance


@dataclass(frozen=True)
class PassProgress(PassObserver):
    """Advances a bar at each pass."""

    advance: Advance

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        """Names the pass that begins."""
        self.advance(step.name)
