"""Progress on standard error: on a terminal only, and nothing of it stays."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from fhelium_ir.client.storage import load_interface
from fhelium_ir.tools import fhelium_run, progress
from tests.lit_files import ROOT


class Terminal(io.StringIO):
    """Standard error that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Makes standard error a terminal; pytest replaces it after the fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


def test_a_bar_counts_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with progress.bar("working", 3) as advance:
        for label in ("one", "two", "three"):
            advance(label)
    shown = stream.getvalue()
    assert "working" in shown and "2/3" in shown and "three" in shown
    # The line is erased at the end.
    assert shown.rstrip().endswith("\x1b[2K")


def test_elsewhere_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress.bar("working", 1) as advance:
        advance("one")
    with progress.step("working"):
        pass
    assert stream.getvalue() == ""


def test_an_error_ends_the_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = terminal(monkeypatch)
    with pytest.raises(ValueError, match="wrong"), progress.bar("working", 2) as advance:
        advance("one")
        raise ValueError("wrong")
    assert stream.getvalue().rstrip().endswith("\x1b[2K")


def test_the_64x64_example_shows_passes_and_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stream = terminal(monkeypatch)
    monkeypatch.chdir(tmp_path)
    example = str(ROOT / "examples" / "matvec64.mlir")
    assert fhelium_run.main(["compile", example, "-o", "d", "--target", "cpu"]) == 0
    shown = stream.getvalue()
    assert "compiling" in shown
    assert fhelium_run.main(["keygen", "d", "--secret", "S", "--public", "E"]) == 0
    shown = stream.getvalue()
    keys = len(load_interface("d").required_keys)
    assert keys >= 14
    assert "making keys" in shown
    # While the last key is made, all before it are done, and the public key.
    assert f"{keys}/{keys + 1}" in shown
    assert "rotation by" in shown
    assert "making keys" not in capsys.readouterr().out
