"""The reference pages are current, complete and true: every example and command works."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline, pass_options
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.tools import fhelium_opt, reference_pages
from fhelium_ir.tools.reference_docstrings import prose, split_sections, summary
from tests.lit_files import ROOT

OPS = [
    op.name
    for name in reference_pages.own_dialects()
    for op in universe.load_dialect(name).operations
]
OWN_PASSES = [n for n, path in universe.PASSES.items() if str(path).startswith("fhelium_ir.")]


def test_the_pages_are_current() -> None:
    assert reference_pages.check(reference_pages.all_pages()) == [], "run `make docs`"


def test_the_pages_do_not_depend_on_the_hash_seed() -> None:
    expected = reference_pages.all_pages()
    code = "from fhelium_ir.tools.reference_pages import all_pages; print(repr(all_pages()))"
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stdout == f"{expected!r}\n"


def test_stale_missing_and_left_over_pages_are_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / reference_pages.FOLDER
    folder.mkdir(parents=True)
    pages = {f"{reference_pages.FOLDER}/{name}.md": "text\n" for name in ("good", "stale", "none")}
    monkeypatch.setattr(reference_pages, "ROOT", tmp_path)
    monkeypatch.setattr(reference_pages, "all_pages", lambda: pages)
    (folder / "good.md").write_text("text\n")
    (folder / "stale.md").write_text("old\n")
    (folder / "extra.md").write_text("text\n")
    assert reference_pages.main(["--check"]) == 1
    assert capsys.readouterr().err == (
        "error: docs/reference/stale.md is not current; docs/reference/none.md is missing; "
        "docs/reference/extra.md is left over: run `make docs`\n"
    )
    assert reference_pages.main([]) == 0
    assert sorted(path.name for path in folder.iterdir()) == ["good.md", "none.md", "stale.md"]
    assert reference_pages.main(["--check"]) == 0


@pytest.mark.parametrize("op_name", OPS)
def test_each_op_has_an_example_that_works(op_name: str) -> None:
    example = reference_pages.op_example(op_name)
    assert example is not None, f"no lit test tests/lit/dialects/{op_name.replace('.', '/')}.mlir"
    module = parse_module(universe.make_context(), example, op_name)
    verify_module(module)
    assert any(op.name == op_name for op in module.walk())
    page = (ROOT / reference_pages.FOLDER / f"{op_name.partition('.')[0]}.md").read_text()
    assert f"```mlir\n{example}\n```" in page


@pytest.mark.parametrize("name", list(universe.PASSES))
def test_each_pass_has_a_command_that_works(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = reference_pages.pass_command(name)
    assert f"$ {command}\n" in (ROOT / reference_pages.FOLDER / "passes.md").read_text()
    tool, *arguments = shlex.split(command)
    assert tool == "fhelium-opt"
    # It runs the pass that it is about.
    passes = Pipeline.parse(arguments[arguments.index("-p") + 1])
    if "--stop-after" in arguments:
        passes = passes.until(arguments[arguments.index("--stop-after") + 1])
    assert passes.passes[-1] == name
    monkeypatch.chdir(ROOT)
    assert fhelium_opt.main(arguments) == 0, capsys.readouterr().err
    assert capsys.readouterr().out.startswith("builtin.module")


@pytest.mark.parametrize("name", OWN_PASSES)
def test_each_pass_and_option_is_described(name: str) -> None:
    pass_type = universe.load_pass(name)
    assert prose(pass_type)
    texts = reference_pages.option_texts(pass_type)
    assert set(texts) == set(pass_options(pass_type))
    assert all(texts.values())


@pytest.mark.parametrize("dialect", reference_pages.own_dialects())
def test_everything_in_a_dialect_is_described(dialect: str) -> None:
    loaded = universe.load_dialect(dialect)
    for thing in (*loaded.operations, *loaded.attributes):
        assert prose(thing), thing.name
    page = reference_pages.dialect_page(dialect)
    # A constraint that has no words appears in the notation of xDSL's classes.
    assert re.findall(r"\w+Constraint\b|RangeOf", page) == []


def anchors(page: str) -> list[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: list[str] = []
    for title in re.findall(r"^#+ (.*)$", page, re.MULTILINE):
        anchor = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
        found.append(anchor if anchor not in found else f"{anchor}-1")
    return found


def test_links_lead_somewhere() -> None:
    pages = reference_pages.all_pages()
    for path, text in pages.items():
        prose_text = re.sub(r"(?ms)^```.*?^```$", "", text)
        for target in re.findall(r"\]\(([^)]+)\)", prose_text):
            file, _, anchor = target.partition("#")
            other = (ROOT / path).parent / file if file else ROOT / path
            if file.startswith(".."):
                assert other.is_file(), target
            else:
                name = other.relative_to(ROOT).as_posix()
                assert name in pages and (not anchor or anchor in anchors(pages[name])), target


def test_sections_of_docstrings() -> None:
    text = "Does it.\n\nMore\ntext.\n\nOptions:\n    a: one\n        two.\n    b_c: three.\n\nEnd."
    prose_text, sections = split_sections(text)
    assert prose_text.split() == ["Does", "it.", "More", "text.", "End."]
    assert sections == {"Options": {"a": "one two.", "b_c": "three."}}

    def documented() -> None:
        """Does it: well.

        - one
          and a half
        - two

        More
        text.
        """

    assert prose(documented) == "Does it: well.\n\n- one and a half\n- two\n\nMore text."
    assert summary(documented) == "Does it: well"
