"""The lint sees the linked folders: an error planted in one of them is found."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lit_files import ROOT

PLANTED = 'def width() -> int:\n    return "sixteen"\n'


@pytest.mark.slow
def test_an_error_in_a_linked_folder_is_found(tmp_path: Path) -> None:
    """The project's own pyright settings, on a small tree of the same shape."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for folder in ("fhelium_ir", "passes", "lowering", "tests"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
    for name in ("passes", "lowering"):
        (tmp_path / "fhelium_ir" / name).symlink_to(Path("..") / name)
        (tmp_path / name / "planted.py").write_text(PLANTED)
    command = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    errors = [line for line in result.stdout.splitlines() if " - error: " in line]
    assert result.returncode == 1, result.stdout + result.stderr
    assert len(errors) == 2
    assert all("fhelium_ir/" in line for line in errors)
