"""The tutorial is followed word by word: its files are written, its commands run, its outputs compared.

A block ```` ```language path ```` is a file; a block ```` ```console tutorial ```` holds commands after `$ ` and below
each what it prints. A line `...` stands for any lines, `...` within a line for any text.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lit_files import ROOT

TUTORIAL = ROOT / "docs" / "tutorial-custom-pass.md"
PLUGIN = ROOT / "examples" / "plugin"

_BLOCK = re.compile(r"^```(\w+) (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NOT_COPIED = shutil.ignore_patterns(
    ".*", "build", "dist", "*.egg-info", "__pycache__", "tests", "benchmarks", "Output"
)


def blocks(text: str) -> list[tuple[str, str]]:
    """The blocks that matter, in order: (path or `tutorial`, text)."""
    return [(match[2], match[3]) for match in _BLOCK.finditer(text)]


def commands(block: str) -> list[tuple[str, str]]:
    """The commands of a console block, with what each prints."""
    parts = re.split(r"^\$ ", block.replace("\\\n", ""), flags=re.MULTILINE)[1:]
    split = [part.partition("\n") for part in parts]
    return [(command, expected) for command, _, expected in split]


def matches(expected: str, output: str) -> bool:
    """Whether an output is what is written; `...` stands for anything."""
    pattern = re.escape(expected).replace(r"\.\.\.", "\x00")
    # A line of its own stands for any number of lines, none included.
    pattern = re.sub("(?m)^\x00\\\\\n", "(?:.*\n)*", pattern).replace("\x00", ".*")
    return re.fullmatch(pattern, output) is not None


def environment(folder: Path) -> dict[str, str]:
    """pip installs into `folder`/site, without dependencies; all else is this Python's."""
    site = folder / "site"
    programs = Path(sys.executable).parent
    return {
        "PATH": os.pathsep.join([str(site / "bin"), str(programs), os.environ["PATH"]]),
        "PYTHONPATH": str(site),
        "HOME": str(folder),
        "PIP_TARGET": str(site),
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",
        "PIP_NO_INDEX": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.mark.slow
def test_the_tutorial_works(tmp_path: Path) -> None:
    work = tmp_path / "work"
    shutil.copytree(ROOT, work / "fhelium-ir", ignore=NOT_COPIED, symlinks=True)
    count = 0
    for path, text in blocks(TUTORIAL.read_text(encoding="utf-8")):
        if path != "tutorial":
            (work / path).parent.mkdir(parents=True, exist_ok=True)
            (work / path).write_text(text, encoding="utf-8")
            continue
        for command, expected in commands(text):
            count += 1
            result = subprocess.run(
                ["bash", "-c", command],
                cwd=work,
                env=environment(tmp_path),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
                timeout=300,
            )
            assert matches(expected, result.stdout), f"$ {command}\n{result.stdout}"
            assert (result.returncode == 0) != ("error:" in expected), (
                f"$ {command}\n{result.stdout}"
            )
    assert count >= 10


def test_the_example_plugin_is_what_the_tutorial_makes() -> None:
    made = {
        path.removeprefix("slots/"): text
        for path, text in blocks(TUTORIAL.read_text(encoding="utf-8"))
        if path.startswith("slots/")
    }
    # The test module for pytest is an extra: here this project's own test runs the suite.
    del made["test_lit.py"]
    there = {
        path.relative_to(PLUGIN).as_posix(): path.read_text(encoding="utf-8")
        for path in PLUGIN.rglob("*")
        if path.is_file() and path.suffix in (".py", ".toml", ".mlir")
    }
    assert made == there


def test_every_console_block_is_run() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")
    assert re.findall(r"^```(?:console|shell|bash|sh)$", text, re.MULTILINE) == []


@pytest.mark.parametrize(
    "expected, output, same",
    [
        ("a\n", "a\n", True),
        ("a\n", "b\n", False),
        ("a\n", "a\nb\n", False),
        ("", "a\n", False),
        ("...\nb\n", "a\na\nb\n", True),
        ("...\nb\n", "b\n", True),
        ("...\nb\n", "a\nb\nc\n", False),
        ("2 passed in ...\n", "2 passed in 1.5s\n", True),
        ("2 passed in ...\n", "2 passed in 1.5s\nmore\n", False),
        ("a.b\n", "axb\n", False),
    ],
)
def test_outputs_are_compared(expected: str, output: str, same: bool) -> None:
    assert matches(expected, output) == same
