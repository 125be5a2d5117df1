"""Reproducers: the module before a failing pass and the pipeline that is left, in one file."""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import PassObserver, Step
from fhelium_ir.tools.files import write_output
from fhelium_ir.tools.inspection import printer_of_broken_ir

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

HEAD = "// fhelium-opt reproducer"
_OPTIONS = re.compile(r"^// options: (.*)$", re.MULTILINE)


@dataclass
class ReproducerWriter(PassObserver):
    """Writes a reproducer when a pass, or the verification after it, fails.

    Keeps a copy of the module before each pass: the failing one may have changed half of it.
    """

    path: str
    verify_each: bool
    before: ModuleOp | None = None

    def before_pass(self, step: Step, module: ModuleOp) -> None:
        self.before = module.clone()

    def pass_failed(self, step: Step, error: FheliumError) -> None:
        assert self.before is not None
        text = reproducer_text(self.before, step.rest, self.verify_each, error)
        try:
            write_output(self.path, text)
        except FheliumError as failed:
            # The pass's own error matters more.
            print(f"note: no reproducer: {failed.message}", file=sys.stderr)
        else:
            print(f"note: wrote the reproducer '{self.path}'", file=sys.stderr)


def reproducer_text(
    module: ModuleOp, specs: tuple[str, ...], verify_each: bool, error: FheliumError
) -> str:
    """A module behind comments that say how to run it and what is wrong."""
    options = ["-p", ",".join(specs), *([] if verify_each else ["--no-verify-each"])]
    comments = (
        f"{HEAD}; replay it with --run-reproducer\n"
        f"// options: {shlex.join(options)}\n"
        f"// error: {' '.join(error.message.split())}\n"
    )
    return comments + printer_of_broken_ir(locations=False)(module)


@dataclass(frozen=True)
class Reproducer:
    """What the comments of a reproducer say."""

    pipeline: str
    verify_each: bool


def read_reproducer(text: str, name: str) -> Reproducer:
    """The pipeline and options of a reproducer.

    Nothing else is taken from the file: it cannot name plugins to load or files to write.

    Raises:
        FheliumError: the text is no reproducer.
    """
    match = _OPTIONS.search(text)
    if not text.startswith(HEAD) or match is None:
        raise FheliumError("this is no reproducer: it has no line '// options: ...'", f"{name}:1:1")
    line = text.count("\n", 0, match.start()) + 1
    try:
        words = shlex.split(match[1])
    except ValueError as error:
        raise FheliumError(f"cannot read the options: {error}", f"{name}:{line}:1") from error
    verify_each = "--no-verify-each" not in words
    words = [word for word in words if word != "--no-verify-each"]
    if len(words) != 2 or words[0] != "-p":
        raise FheliumError(
            "the options of a reproducer are -p PASSES and --no-verify-each", f"{name}:{line}:1"
        )
    return Reproducer(words[1], verify_each)
