"""Looking at the IR between passes: dumps to standard error or to files, and snapshots."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import PassObserver, Step
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.tools.colour import wants_colour
from fhelium_ir.tools.files import write_output
from fhelium_ir.tools.ir_diff import unified_diff

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

Print = Callable[["ModuleOp"], str]
"""How to print a module, with locations or without."""


def printer_of_broken_ir(locations: bool) -> Print:
    """Prints any module: in its generic form where a pass left IR that does not print otherwise."""

    def text(module: ModuleOp) -> str:
        for generic in (False, True):
            try:
                return mlir_text(module, generic=generic, locations=locations)
            except Exception:
                continue
        return "// this IR is broken and cannot be printed\n"

    return text


@dataclass
class IrPrinter(PassObserver):
    """Prints the module before or after passes to standard error.

    `before` and `after` are names of passes, or None for every pass.
    """

    print_module: Print
    before: Collection[str] | None = ()
    after: Collection[str] | None = ()

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        if self.before is None or step.name in self.before:
            self._dump("Before", step, module)

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        # Before verification: what a pass broke should be seen.
        if self.after is None or step.name in self.after:
            self._dump("After", step, module)

    def _dump(self, when: str, step: Step, module: ModuleOp) -> None:
        total = len(step.specs)
        sys.stderr.write(
            f"// -----// IR Dump {when} {step.name} ({step.number} of {total}) //----- //\n"
        )
        sys.stderr.write(self.print_module(module))


@dataclass
class ChangePrinter(PassObserver):
    """Prints what each pass changed as a unified diff to standard error; nothing for no change."""

    print_module: Print
    text: str | None = None

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        if self.text is None:
            self.text = self.print_module(module)

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        old, self.text = self.text or "", self.print_module(module)
        names = (f"before {step.name}", f"after {step.name}")
        sys.stderr.write(unified_diff(old, self.text, *names, colour=wants_colour(sys.stderr)))


@dataclass
class Dumper(PassObserver):
    """Writes `00-input.mlir` and then one numbered file after each pass into a folder."""

    print_module: Print
    folder: Path

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        if step.number == 1:
            self._write("00-input.mlir", module)

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        width = max(2, len(str(len(step.specs))))
        self._write(f"{step.number:0{width}}-{step.name}.mlir", module)

    def _write(self, name: str, module: ModuleOp) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            reason = error.strerror or error
            raise FheliumError(f"cannot make the folder '{self.folder}': {reason}") from error
        write_output(str(self.folder / name), self.print_module(module))


@dataclass(frozen=True)
class Snapshot:
    """The text of a module after a pass, or of the input."""

    name: str
    text: str
    module: ModuleOp


@dataclass
class SnapshotTaker(PassObserver):
    """Keeps the module after each pass."""

    snapshots: list[Snapshot] = field(default_factory=list[Snapshot])

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        if not self.snapshots:
            self._take("input", module)

    def after_pass(self, step: Step, module: ModuleOp) -> None:
        self._take(step.name, module)

    def all_stages(self, module: ModuleOp) -> list[Snapshot]:
        """The snapshots; of a run without passes, the module alone."""
        if not self.snapshots:
            self._take("input", module)
        return self.snapshots

    def _take(self, name: str, module: ModuleOp) -> None:
        self.snapshots.append(Snapshot(name, mlir_text(module), module.clone()))
