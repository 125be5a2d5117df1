"""Rules for the files of the project as a whole."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

from tests.lit_files import ROOT

MAX_LINES = 600
FOLDERS = ("fhelium_ir", "passes", "lowering", "tests", "benchmarks", "examples", "typings")


def python_files() -> Iterator[Path]:
    """Every Python file of the project, each once, under its real path."""
    yield from ROOT.glob("*.py")
    for folder in FOLDERS:
        for path in (ROOT / folder).rglob("*.py"):
            if ROOT / "fhelium_ir" in path.parents and path.resolve() != path:
                continue
            yield path


def test_no_file_is_too_long() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in python_files()}
    too_long = {str(path.relative_to(ROOT)): n for path, n in lengths.items() if n > MAX_LINES}
    assert too_long == {}


def test_the_walk_finds_files_of_all_rings() -> None:
    found = {path.relative_to(ROOT).as_posix() for path in python_files()}
    assert {"passes/__init__.py", "lowering/__init__.py", "fhelium_ir/universe.py"} <= found
    assert not any(path.startswith("fhelium_ir/passes/") for path in found)


def test_the_links_are_relative_links() -> None:
    for name in ("passes", "lowering"):
        link = ROOT / "fhelium_ir" / name
        assert link.is_symlink()
        assert link.readlink() == Path("..") / name


def test_ci_script_is_strict_bash() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o100
    assert "set -euo pipefail" in script.read_text()
    subprocess.run(["bash", "-n", str(script)], check=True)
