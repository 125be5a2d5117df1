"""What the command-line tools share."""

from __future__ import annotations

import warnings

import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.tools.command_line import run_tool


def test_a_warning_of_the_library_is_one_line() -> None:
    before = warnings.formatwarning
    lines: list[str] = []

    def body() -> int:
        lines.append(warnings.formatwarning("look at it", UserWarning, "file.py", 7))
        return 0

    assert run_tool(body, debug=False) == 0
    assert lines == ["warning: look at it\n"]
    assert warnings.formatwarning is before


def test_an_error_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    def body() -> int:
        raise FheliumError("it went wrong")

    assert run_tool(body, debug=False) == 1
    assert capfd.readouterr().err == "error: it went wrong\n"
