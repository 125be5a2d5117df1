"""The lit test files, and what their RUN lines say."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIT_ROOT = ROOT / "tests" / "lit"


def lit_files() -> list[Path]:
    """Every lit test, sorted; files in folders named Inputs are data of tests."""
    files = LIT_ROOT.rglob("*.mlir")
    return sorted(f for f in files if "Inputs" not in f.relative_to(LIT_ROOT).parts)


def lit_name(path: Path) -> str:
    """The path below tests/lit, as the name of a test."""
    return path.relative_to(LIT_ROOT).as_posix()


def run_lines(text: str) -> list[str]:
    """The commands of the RUN lines, with continued lines joined."""
    commands: list[str] = []
    continued = False
    for match in re.finditer(r"//\s*RUN:(.*)", text):
        line = match[1].strip()
        part = line.removesuffix("\\").strip()
        if continued:
            commands[-1] += f" {part}"
        else:
            commands.append(part)
        continued = line.endswith("\\")
    return commands


@dataclass(frozen=True)
class FileCheckCall:
    """One `filecheck` in a RUN line: its arguments without the name of the check file."""

    prefixes: tuple[str, ...]
    arguments: tuple[str, ...]


def filecheck_calls(text: str) -> list[FileCheckCall]:
    """Every use of filecheck on the test file itself."""
    calls: list[FileCheckCall] = []
    for command in run_lines(text):
        for stage in re.split(r"\|\|?|&&|;", command):
            if "filecheck" not in stage:
                continue
            words = shlex.split(re.sub(r"\d?[<>]+\s*\S+", "", stage))
            arguments = words[words.index("filecheck") + 1 :]
            if "%s" not in arguments:
                continue
            arguments.remove("%s")
            calls.append(FileCheckCall(_prefixes(arguments), tuple(arguments)))
    return calls


def _prefixes(arguments: list[str]) -> tuple[str, ...]:
    prefixes: list[str] = []
    words = [part for argument in arguments for part in argument.split("=", 1)]
    for option, value in pairwise(words):
        if option.lstrip("-") in ("check-prefix", "check-prefixes"):
            prefixes += value.split(",")
    return tuple(prefixes) or ("CHECK",)
