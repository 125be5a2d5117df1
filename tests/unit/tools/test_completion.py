"""The completion scripts: syntax, content, and what bash really completes."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from fhelium_ir import universe
from fhelium_ir.tools import fhelium_opt, fhelium_run
from fhelium_ir.tools.completion import SHELLS

TOOLS = {"fhelium-opt": fhelium_opt, "fhelium-run": fhelium_run}
CASES = [pytest.param(tool, shell, id=f"{tool}-{shell}") for tool in TOOLS for shell in SHELLS]


def script(tool: str, shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What `tool --completion shell` prints."""
    assert TOOLS[tool].main(["--completion", shell]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.mark.parametrize("tool, shell", CASES)
def test_the_script_is_sound(
    tool: str, shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """The shell itself checks the syntax, where it is installed."""
    text = script(tool, shell, capsys)
    file = tmp_path / "script"
    file.write_text(text)
    if shutil.which(shell) is not None:
        subprocess.run([shell, "-n", str(file)], check=True)
    # Quotes are balanced on every line: no help text breaks out of its string.
    for line in text.replace("\\'", "").splitlines():
        if not line.startswith("#"):
            assert line.count("'") % 2 == 0, line


@pytest.mark.parametrize("tool, shell", CASES)
def test_every_option_is_there(tool: str, shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(tool, shell, capsys)
    words = set(re.findall(r"[\w-]+", text))
    for action in TOOLS[tool].make_argument_parser().optional_actions():
        for name in action.option_strings:
            wanted = name.lstrip("-") if shell == "fish" else name
            assert wanted in words, name


@pytest.mark.parametrize("shell", SHELLS)
def test_every_pass_pipeline_and_target_is_there(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = set(re.findall(r"[\w-]+", script("fhelium-opt", shell, capsys)))
    assert {*universe.PASSES, *universe.PIPELINES, *universe.TARGETS} <= words
    targets = set(fhelium_run.TARGETS)
    assert targets <= set(re.findall(r"[\w-]+", script("fhelium-run", shell, capsys)))


def complete(text: str, tool: str, words: list[str], folder: Path) -> list[str]:
    """What bash offers for the last word of a command line; COMP_WORDS as bash splits them."""
    quoted = " ".join(f"'{word}'" for word in words)
    lines = [
        "compopt() { :; }",
        text,
        f"COMP_WORDS=({quoted})",
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))",
        f"_{tool.replace('-', '_')}",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    result = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    return result.stdout.split()


@pytest.mark.parametrize(
    "words, offered",
    [
        (["-p", "convert-ckks"], ["convert-ckks-to-rns"]),
        (["-p", "cse,fhelium-d"], ["cse,fhelium-default"]),
        (["-p", "cse,dce,ckks-c"], ["cse,dce,ckks-check"]),
        (["--passes", "=", "cse,ckks-m"], ["cse,ckks-manage"]),
        (["-t", "resources"], ["resources-json"]),
        (["--target", "=", "resources"], ["resources-json"]),
        (["--stop-after", "track"], ["track-montgomery"]),
        (["--remarks", "=", "app"], ["applied"]),
        (["--load-d"], ["--load-dialect"]),
        (["--verify-e"], ["--verify-each"]),
        (["--remarks", "=", "miss"], ["missed"]),
        (["--completion", "="], ["bash", "fish", "zsh"]),
        # Nothing fits: bash itself completes files.
        (["-o", "x"], []),
        (["exam"], []),
    ],
)
def test_what_bash_completes(
    words: list[str], offered: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = script("fhelium-opt", "bash", capsys)
    assert complete(text, "fhelium-opt", ["fhelium-opt", *words], tmp_path) == offered


def test_files_are_left_to_bash(capsys: pytest.CaptureFixture[str]) -> None:
    for tool in TOOLS:
        assert f"complete -o default -F _{tool.replace('-', '_')} {tool}" in script(
            tool, "bash", capsys
        )


def test_an_unknown_shell_is_one_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert fhelium_opt.main(["--completion", "tcsh"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "tcsh" in error


def test_fhelium_run_still_needs_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert fhelium_run.main([]) == 1
    assert "required: FILE" in capsys.readouterr().err
