"""The page 'where does my pass go' is true of the default pipeline."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from tests.lit_files import ROOT

PAGE = ROOT / "docs" / "where-does-my-pass-go.md"
PROGRAM = ROOT / "docs" / "examples" / "weigh.mlir"
DEFAULT = universe.PIPELINES[universe.DEFAULT_PIPELINE]


def names(cell: str) -> list[str]:
    """The names in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def table() -> dict[str, tuple[list[str], list[str]]]:
    """Dialects and module attributes after each pass, as the page says; `` is the input."""
    text = PAGE.read_text(encoding="utf-8")
    rows = text.partition("| after | dialects |")[2].split("\n")[2:]
    found: dict[str, tuple[list[str], list[str]]] = {}
    for row in rows:
        if not row.startswith("|"):
            break
        after, dialects, attributes = row.strip("|").split("|")
        found["".join(names(after))] = (names(dialects), names(attributes))
    return found


def state(module: ModuleOp) -> tuple[list[str], list[str]]:
    """Dialects, without builtin and func, and attributes of a module."""
    dialects = {op.dialect_name() for op in module.walk()} - {"builtin", "func"}
    return sorted(dialects), sorted(module.attributes)


def test_every_default_pass_is_there_in_order() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert list(table()) == ["", *DEFAULT]
    steps = re.findall(r"^\d+\. (?:`([\w-]+)`|\(input\)):", text, re.MULTILINE)
    assert steps == ["", *DEFAULT]


def test_dialects_and_attributes_are_those_of_the_pipeline() -> None:
    context = universe.make_context()
    module = parse_module(context, PROGRAM.read_text(), PROGRAM.name)
    found = {"": state(module)}
    Pipeline.named(universe.DEFAULT_PIPELINE).run(
        context, module, after_pass=lambda p, m: found.update({p.name: state(m)})
    )
    assert found == table()


def test_every_pass_that_the_page_names_exists() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for name in re.findall(r"`([a-z]+(?:-[a-z]+)+)`", text):
        assert name in universe.PASSES or name in ("select-",), name
