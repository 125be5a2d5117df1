"""The lit tests can fail: no misspelt directive, none that passes whatever the tool prints."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

from fhelium_ir import universe
from tests.lit_files import filecheck_calls, lit_files, lit_name, run_lines

SUFFIX = r"(-(NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-\d+))?(\{LITERAL\})?"
LIT_WORDS = {"RUN", "REQUIRES", "UNSUPPORTED", "XFAIL", "DEFINE", "REDEFINE", "COM"}

FILES = [pytest.param(path, id=lit_name(path)) for path in lit_files()]


def misspelt_directives(text: str) -> list[str]:
    """The comments that look like a directive of filecheck or lit and are none."""
    prefixes = {prefix for call in filecheck_calls(text) for prefix in call.prefixes}
    wrong: list[str] = []
    for match in re.finditer(r"^\s*(?://|#|;)\s*([A-Za-z][\w{}-]*)(\s*)(:?)", text, re.MULTILINE):
        word, space, colon = match.groups()
        if colon and not space and _is_directive(word, prefixes):
            continue
        if _looks_like_directive(word, bool(colon), prefixes):
            wrong.append(match[0].strip())
    return wrong


def _is_directive(word: str, prefixes: set[str]) -> bool:
    return word in LIT_WORDS or any(re.fullmatch(re.escape(p) + SUFFIX, word) for p in prefixes)


def _looks_like_directive(word: str, colon: bool, prefixes: set[str]) -> bool:
    head = re.split(r"[-_{]", word.upper())[0]
    known = [*prefixes, *(p.split("-")[0] for p in prefixes), *LIT_WORDS, "CHECK"]
    if head in known and head != "COM":
        # Prose may begin with such a word: only capitals or a colon make it look like a directive.
        return colon or word == word.upper()
    # Short words such as RUN resemble too many others.
    close = difflib.get_close_matches(head, [k for k in known if len(k) > 3], n=1, cutoff=0.75)
    return bool(close) and word == word.upper()


def passes_on(path: Path, arguments: tuple[str, ...], text: str) -> bool:
    """Whether filecheck accepts `text` for the checks in a file."""
    options = parse_argv_options(["filecheck", *arguments, "--dump-input=never", str(path)])
    return Matcher(options, FInput("<input>", text), Parser.from_opts(options)).run() == 0


@pytest.mark.parametrize("path", FILES)
def test_directives_are_spelt_right(path: Path) -> None:
    assert misspelt_directives(path.read_text()) == []


@pytest.mark.parametrize("path", FILES)
def test_each_test_checks_something(path: Path) -> None:
    text = path.read_text()
    commands = run_lines(text)
    assert commands, "no RUN line"
    checked = re.compile(r"\b(filecheck|diff|cmp)\b|^\s*(not|!) ")
    assert any(checked.search(command) for command in commands), "no RUN line checks anything"
    for call in filecheck_calls(text):
        # filecheck itself refuses empty input, but not a blank line.
        assert not passes_on(path, call.arguments, "\n \n"), f"{call.prefixes} pass on blank input"


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK-NXT: x",
        "// CHECK NEXT: x",
        "// CHECK : x",
        "// CHEKC: x",
        "// CHCK-NEXT: x",
        "// CHECK-COUNT: x",
        "// CHECK_NEXT: x",
        "// CHECK-LABEL func.func @f",
        "// Check: x",
        "// CHECKS: x",
        "// OTHER-NEX: x",
        "//CHECK-NOTE: x",
    ],
)
def test_a_misspelt_directive_is_found(line: str) -> None:
    text = "// RUN: fhelium-opt %s | filecheck %s --check-prefixes=CHECK,OTHER\n" + line
    assert len(misspelt_directives(text)) == 1


@pytest.mark.parametrize(
    "line",
    [
        "// CHECK: x",
        "// CHECK-NEXT: x",
        "// CHECK-COUNT-3: x",
        "// CHECK-NOT{LITERAL}: [[x]]",
        "// OTHER-DAG: x",
        "// The checks below are about prefixes: all of them.",
        "// Other forms run elsewhere.",
        "// REQUIRES: cuda",
        "// NTT in registers.",
    ],
)
def test_a_right_line_is_accepted(line: str) -> None:
    text = "// RUN: fhelium-opt %s | filecheck %s --check-prefixes=CHECK,OTHER\n" + line
    assert misspelt_directives(text) == []


def test_checks_that_pass_on_anything_are_found(tmp_path: Path) -> None:
    path = tmp_path / "weak.mlir"
    path.write_text("// CHECK-NOT: x\n// STRONG: y\n")
    assert passes_on(path, (), "\n \n")
    assert not passes_on(path, ("--check-prefix=STRONG",), "\n \n")


def passes_with_code() -> list[str]:
    """The registered passes that this project contains."""
    return [name for name, path in universe.PASSES.items() if universe.is_available(path)]


@pytest.mark.parametrize("name", passes_with_code())
def test_each_pass_has_a_lit_test(name: str) -> None:
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    named = [
        path
        for path in lit_files()
        if any(word.search(command) for command in run_lines(path.read_text()))
    ]
    assert named, f"no RUN line in tests/lit names the pass {name}"
