"""The documentation says what the tools do: commands are run, outputs compared, IR and Python checked.

A `console` block holds commands after `$ ` and below each what it prints. Those of fhelium-opt and fhelium-run are run
from the root. The text below must occur in the output in this order; `...` stands for anything, and white space is
all the same, so long lines may be wrapped. Of fhelium-run, numbers with a decimal point are not compared.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType

import pytest

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.tools import fhelium_opt, fhelium_run
from tests.lit_files import ROOT

TOOLS: dict[str, Callable[[list[str]], int]] = {
    "fhelium-opt": fhelium_opt.main,
    "fhelium-run": fhelium_run.main,
}
PAGES = tuple(
    ROOT / page
    for page in (
        "README.md",
        "docs/architecture.md",
        "docs/numerics.md",
        "docs/programs.md",
        "docs/management.md",
        "docs/python-api.md",
        "docs/coming-from-heir.md",
        "docs/security.md",
    )
)
"""The tutorial has tests of its own."""

SESSION = "python-api.md"
"""The page whose Python blocks are one session; the text block below one is what it prints."""

LONGEST_LINE = 120

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
_ERROR = re.compile(r"^(\S+:\d+:\d+: )?error: ", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d+(e-?\d+)?|-?\d+e-\d+")


@dataclass(frozen=True)
class Block:
    """A fenced block: file name, line of its fence, language and text."""

    page: str
    line: int
    language: str
    text: str


@dataclass(frozen=True)
class Command:
    """A command of a tool and the text that stands below it."""

    tool: str
    arguments: tuple[str, ...]
    expected: str


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(page.name, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in _BLOCK.finditer(text)
    ]


def commands(text: str) -> list[Command]:
    """The commands of the tools in a console block; a line that ends with a backslash goes on."""
    found: list[Command] = []
    for part in re.split(r"^\$ ", text.replace("\\\n", " "), flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        tool, *arguments = shlex.split(command)
        if tool in TOOLS:
            found.append(Command(tool, tuple(arguments), output))
    return found


def normal(text: str, numbers: bool) -> str:
    """Text with runs of space and of rules as one, and with `#` for numbers unless they count."""
    text = re.sub(r"[━─]+", "─", " ".join(text.split()))
    return text if numbers else _NUMBER.sub("#", text)


def first_missing(expected: str, output: str, numbers: bool = True) -> str | None:
    """The first part of `expected`, cut at `...`, that does not follow in `output`."""
    rest = normal(output, numbers)
    for part in expected.split("..."):
        wanted = normal(part, numbers)
        _, found, after = rest.partition(wanted) if wanted else ("", "-", rest)
        if not found:
            return wanted
        rest = after
    return None


ALL_BLOCKS = [block for page in PAGES for block in blocks(page)]


def of_language(language: str) -> list[object]:
    """The blocks of a language as test parameters; those of the session are not run one by one."""
    return [
        pytest.param(block, id=f"{block.page}:{block.line}")
        for block in ALL_BLOCKS
        if block.language == language and block.page != SESSION
    ]


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like the root, as far as the pages name files, where commands may write."""
    for name in ("docs", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("block", of_language("console"))
@pytest.mark.usefixtures("workplace")
def test_commands_print_what_is_shown(block: Block) -> None:
    for command in commands(block.text):
        stream = StringIO()
        with redirect_stdout(stream), redirect_stderr(stream):
            code = TOOLS[command.tool](list(command.arguments))
        assert (code != 0) == bool(_ERROR.search(command.expected)), stream.getvalue()
        numbers = command.tool != "fhelium-run"
        assert first_missing(command.expected, stream.getvalue(), numbers) is None


@pytest.mark.parametrize("block", of_language("mlir"))
def test_ir_is_valid(block: Block) -> None:
    verify_module(parse_module(universe.make_context(), block.text, block.page))


@pytest.mark.usefixtures("workplace")
def test_the_python_session_prints_what_is_shown() -> None:
    names: dict[str, object] = {"__name__": "session"}
    shown = 0
    stream = StringIO()
    for block in blocks(ROOT / "docs" / SESSION):
        if block.language == "python":
            stream = StringIO()
            with redirect_stdout(stream):
                exec(compile(block.text, f"{block.page}:{block.line}", "exec"), names)
        else:
            assert block.text == stream.getvalue(), block.line
            shown += 1
    assert shown >= 4


@pytest.mark.parametrize("block", of_language("python"))
@pytest.mark.usefixtures("workplace")
def test_python_runs(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("documented")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    exec(compile(block.text, block.page, "exec"), module.__dict__)


@pytest.mark.parametrize(
    "file",
    ["weigh.mlir", "neighbours.mlir", "weigh.json", "fold_negations.py"],
)
def test_files_are_shown_as_they_are(file: str) -> None:
    text = (ROOT / "docs" / "examples" / file).read_text()
    assert text.strip() in [block.text.strip() for block in ALL_BLOCKS]


def test_every_pass_and_op_is_described() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text()
    for name in universe.PIPELINES[universe.DEFAULT_PIPELINE]:
        assert f"| `{name}` |" in architecture, name
    programs = (ROOT / "docs" / "programs.md").read_text()
    for op in universe.load_dialect("ckks").operations:
        assert f"### `{op.name}`" in programs, op.name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_page_is_sound(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    long = [n for n, line in enumerate(text.split("\n"), start=1) if len(line) > LONGEST_LINE]
    assert not long
    for target in _LINK.findall(_BLOCK.sub("", text)):
        assert (page.parent / target).exists(), target


def test_a_wrong_transcript_is_found() -> None:
    output = "one 1.5\ntwo\nthree\n"
    assert first_missing("one 1.5 two\n...\n", output) is None
    assert first_missing("one ... three", output) is None
    assert first_missing("one 2.5", output, numbers=False) is None
    assert first_missing("one 2.5", output) == "one 2.5"
    assert first_missing("three ... two", output) == "two"
    (command,) = commands("$ make test\n$ fhelium-opt a \\\n  -p 'b,c'\nout\n")
    assert command == Command("fhelium-opt", ("a", "-p", "b,c"), "out\n")
