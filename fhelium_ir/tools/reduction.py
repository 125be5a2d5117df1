"""`--reduce`: shrink a module while a command keeps failing on it with the same error.

Delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002)
on the ops of a module; on the lines of a text that does not parse. Parts are tried from large to
small, each size once over what is left, so the number of runs grows about linearly.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.printing import mlir_text

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

TIMEOUT_S = 120.0
"""A run that takes longer counts as one that does not fail in the same way."""


class _OutOfRuns(Exception):
    """The limit of runs is reached."""


@dataclass
class _Test:
    """Runs the command on a text; `signature` is what the original failure looks like."""

    command: str
    file: Path
    limit: int
    runs: int = 0
    signature: tuple[int, str] | None = None

    def fails(self, text: str) -> bool:
        """Whether the command fails on a text as it did on the original."""
        if self.runs >= self.limit:
            raise _OutOfRuns
        found = self.run(text)
        return found is not None and found == self.signature

    def run(self, text: str) -> tuple[int, str] | None:
        """Exit code and error text; None for success and for a run without end."""
        self.runs += 1
        self.file.write_text(text, encoding="utf-8")
        name = shlex.quote(str(self.file))
        marked = "{file}" in self.command
        line = self.command.replace("{file}", name) if marked else f"{self.command} {name}"
        try:
            done = subprocess.run(
                line, shell=True, capture_output=True, check=False, timeout=TIMEOUT_S
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode == 0:
            return None
        return done.returncode, error_text(done.stderr.decode("utf-8", errors="replace"))


def error_text(output: str) -> str:
    """The first error of an output, or else its last line, without places, names and numbers."""
    lines = output.strip().split("\n")
    line = next((line for line in lines if "error:" in line), lines[-1])
    message = line.partition("error:")[2] or line
    message = re.sub(r"%[\w$.-]+", "%", message)
    message = re.sub(r"\S+:\d+:\d+", "PLACE", message)
    return re.sub(r"\d+", "N", message).strip()


def reduce_text(text: str, name: str, command: str, limit: int) -> str:
    """The smallest text found on which the command fails as it does on `text`.

    Args:
        name: the name of the input, for errors.
        command: run by the shell, with the name of a file for `{file}` or at its end.
        limit: how often the command may run.

    Raises:
        FheliumError: the command does not fail on `text`.
    """
    with tempfile.TemporaryDirectory(prefix="fhelium-reduce-") as folder:
        test = _Test(command, Path(folder) / "reduced.mlir", limit)
        test.signature = test.run(text)
        if test.signature is None:
            raise FheliumError(f"the command does not fail on '{name}'")
        print(f"note: reducing for: {test.signature[1]}", file=sys.stderr)
        try:
            module = parse_module(universe.make_context(), text, name)
        except FheliumError:
            return _reduce_lines(text, test)
        if not test.fails(mlir_text(module)):
            # What fails is the text as it is written, such as a place in it.
            return _reduce_lines(text, test)
        return _reduce_module(module, test)


def _reduce_lines(text: str, test: _Test) -> str:
    lines = text.splitlines(keepends=True)
    left = _shrink(lines, lambda kept: test.fails("".join(kept)))
    print(f"note: {len(left)} of {len(lines)} lines, {test.runs} runs", file=sys.stderr)
    return "".join(left)


def _shrink(items: Sequence[str], still_fails: Callable[[Sequence[str]], bool]) -> Sequence[str]:
    """Leaves out parts of a sequence, halves first, as long as the rest still fails."""
    size = max(1, len(items) // 2)
    try:
        while True:
            start = 0
            while start < len(items):
                kept = [*items[:start], *items[start + size :]]
                if kept and still_fails(kept):
                    items = kept
                else:
                    start += size
            if size == 1:
                return items
            size //= 2
    except _OutOfRuns:
        return items


def _reduce_module(module: ModuleOp, test: _Test) -> str:
    best = _smallest(module, test.fails)
    print(f"note: {_count(best)} of {_count(module)} ops, {test.runs} runs", file=sys.stderr)
    return mlir_text(best)


def shrink_module(module: ModuleOp, fails: Callable[[str], bool]) -> str:
    """The smallest text found of which `fails` is true, as it is of the module's."""
    return mlir_text(_smallest(module, fails))


def _smallest(module: ModuleOp, fails: Callable[[str], bool]) -> ModuleOp:
    while True:
        smaller = _sweep(module, fails)
        if _count(smaller) == _count(module):
            return smaller
        module = smaller


def _count(module: ModuleOp) -> int:
    return sum(1 for _ in module.walk())


def _sweep(module: ModuleOp, fails: Callable[[str], bool]) -> ModuleOp:
    """Tries to leave out parts of all ops, from the last op to the first, halves first."""
    size = max(1, _count(module) // 2)
    try:
        while True:
            end = _count(module)
            while end > 1:
                start = max(1, end - size)
                smaller = without(module, start, end)
                if smaller is not None and fails(mlir_text(smaller)):
                    module = smaller
                end = start
            if size == 1:
                return module
            size //= 2
    except _OutOfRuns:
        return module


def without(module: ModuleOp, start: int, end: int) -> ModuleOp | None:
    """A copy without the ops of these numbers, in program order with the module as number 0.

    A result that is still used is replaced by an earlier value of its type; an op stays where
    there is none, and so does the last op of a block. None if every op stays.
    """

    copy = module.clone()
    ops: list[Operation] = list(copy.walk())
    changed = False
    for op in reversed(ops[start:end]):
        block = op.parent
        if block is None or (op is block.last_op and op.parent_op() is not copy):
            continue
        replaced = [_earlier(result, op) if result.first_use else result for result in op.results]
        if any(value is None for value in replaced):
            continue
        for result, value in zip(op.results, replaced, strict=True):
            if value is not None and value is not result:
                result.replace_all_uses_with(value)
        op.detach()
        op.erase()
        changed = True
    return copy if changed else None


def _earlier(result: SSAValue, op: Operation) -> SSAValue | None:
    """A value of the same type that is visible where `op` stands: the nearest one."""
    for operand in op.operands:
        if operand.type == result.type:
            return operand
    before = op.prev_op
    steps = 0
    while before is not None and steps < 1000:
        for value in before.results:
            if value.type == result.type:
                return value
        before, steps = before.prev_op, steps + 1
    block = op.parent
    for argument in block.args if block is not None else ():
        if argument.type == result.type:
            return argument
    return None
