"""Writes docs/reference: a page for each dialect and one for passes, pipelines and targets.

    python -m fhelium_ir.tools.reference_pages          write the pages (`make docs`)
    python -m fhelium_ir.tools.reference_pages --check  fail if a page is not what it should be

Everything comes from the definitions and their docstrings. The example of an op is taken from its
lit test, tests/lit/dialects/<dialect>/<op>.mlir; so it is known to work.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import cast, get_args

from xdsl.ir import Attribute, Data, Dialect, Operation, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    OpDef,
    OptOperandDef,
    OptPropertyDef,
    OptResultDef,
    VarOperandDef,
    VarResultDef,
)
from xdsl.passes import ModulePass

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import pass_options
from fhelium_ir.tools.command_line import ArgumentParser, run_tool
from fhelium_ir.tools.files import write_output
from fhelium_ir.tools.reference_constraints import constraint_text, range_text, trait_text
from fhelium_ir.tools.reference_docstrings import docstring, prose, split_sections, summary

ROOT = Path(__file__).resolve().parents[2]
FOLDER = "docs/reference"
EXAMPLES = "tests/lit/dialects"
PROGRAM = "docs/examples/neighbours.mlir"

NOTE = "<!-- Generated from the definitions by `make docs`; do not edit. -->"

UNDOCUMENTED = {"dce": "Removes operations without effects whose results nothing uses."}
"""Passes of xDSL that have no docstring."""

TITLES = {
    "ckks": "program stage",
    "rns": "polynomial stage",
    "ntt": "polynomial stage",
    "fusion": "region stage",
    "resource": "from the polynomial stage on",
    "zq": "kernel stage",
    "kernel": "kernel stage",
    "host": "host program",
}


def own_dialects() -> list[str]:
    """The dialects that this project defines."""
    return [name for name, path in universe.DIALECTS.items() if _is_own(path)]


def _is_own(entry: universe.Entry) -> bool:
    return isinstance(entry, str) and entry.startswith("fhelium_ir.")


def all_pages() -> dict[str, str]:
    """The text of every page by its path from the project's root."""
    pages = {f"{FOLDER}/README.md": index_page(), f"{FOLDER}/passes.md": passes_page()}
    for name in own_dialects():
        pages[f"{FOLDER}/{name}.md"] = dialect_page(name)
    return pages


def index_page() -> str:
    """The list of pages."""
    lines = ["# Reference", "", NOTE, "", "| dialect | stage | |", "|---|---|---|"]
    for name in own_dialects():
        text = _introduction(name).split("\n")[0]
        lines.append(f"| [`{name}`]({name}.md) | {TITLES.get(name, '')} | {text} |")
    lines += ["", "[Passes, pipelines and targets](passes.md)", ""]
    lines.append("Where a pass belongs: [Where does my pass go](../where-does-my-pass-go.md).")
    return "\n".join([*lines, ""])


def _introduction(dialect: str) -> str:
    """The docstring of the dialect's module, which begins with the dialect's name."""
    universe.load_dialect(dialect)
    path = universe.origin(universe.DIALECTS[dialect])
    text = prose(sys.modules[path.partition(":")[0]]).removeprefix(f"`{dialect}`: ")
    return text[:1].upper() + text[1:]


def dialect_page(name: str) -> str:
    """The page of one dialect: ops, then types and attributes."""
    dialect = universe.load_dialect(name)
    parts = [f"# Dialect `{name}`", NOTE, _introduction(name)]
    contents = [f"[`{op.name}`](#{_anchor(op.name)})" for op in dialect.operations]
    parts += [f"Operations: {', '.join(contents)}."]
    attributes = _attributes(dialect)
    if attributes:
        names = {op.name for op in dialect.operations}
        links = [
            # The second of two headings that differ in the sigil only gets a number.
            f"[`{_sigil(a)}{a.name}`](#{_anchor(a.name)}{'-1' if a.name in names else ''})"
            for a in attributes
        ]
        parts += [f"Types and attributes: {', '.join(links)}."]
    parts += ["## Operations", *(_op_section(op) for op in dialect.operations)]
    if attributes:
        parts += ["## Types and attributes", *(_attribute_section(a) for a in attributes)]
    return "\n\n".join(parts) + "\n"


def _attributes(dialect: Dialect) -> list[type[Attribute]]:
    return list(dialect.attributes)


def _anchor(name: str) -> str:
    """The anchor that GitHub gives to a heading."""
    return name.replace(".", "").lower()


def _sigil(attribute: type[Attribute]) -> str:
    return "!" if issubclass(attribute, TypeAttribute) else "#"


def _op_section(op: type[Operation]) -> str:
    assert issubclass(op, IRDLOperation)
    definition = op.get_irdl_definition()
    parts = [f"### `{op.name}`", prose(op)]
    rows = _rows(definition)
    if rows:
        parts.append("\n".join(["| | name | |", "|---|---|---|", *rows]))
    traits = sorted(trait_text(trait) for trait in definition.traits.traits)
    if traits:
        parts.append(f"Traits: {', '.join(traits)}.")
    example = op_example(op.name)
    if example is not None:
        parts.append(f"```mlir\n{example}\n```")
    return "\n\n".join(parts)


def _rows(definition: OpDef) -> list[str]:
    rows: list[str] = []
    for name, operand in definition.operands:
        text = range_text(operand.constr) + _count(operand)
        rows.append(f"| operand | `{name}` | {text} |")
    for name, result in definition.results:
        rows.append(f"| result | `{name}` | {range_text(result.constr)}{_count(result)} |")
    for name, stated in definition.properties.items():
        if name in ("operandSegmentSizes", "resultSegmentSizes"):
            continue
        optional = ", optional" if isinstance(stated, OptPropertyDef) else ""
        rows.append(f"| property | `{name}` | {constraint_text(stated.constr)}{optional} |")
    for name, _ in definition.regions:
        rows.append(f"| region | `{name}` | |")
    return rows


def _count(definition: object) -> str:
    # An optional operand is a variadic one to xDSL.
    if isinstance(definition, OptOperandDef | OptResultDef):
        return ", optional"
    return ", any number" if isinstance(definition, VarOperandDef | VarResultDef) else ""


def op_example(op_name: str) -> str | None:
    """The part of the op's lit test that shows the op, without comments; None without a test."""
    dialect, _, name = op_name.partition(".")
    path = ROOT / EXAMPLES / dialect / f"{name}.mlir"
    if not path.is_file():
        return None
    for part in _top_level_parts(path.read_text(encoding="utf-8")):
        if any(_names(line, op_name) for line in part):
            return "\n".join(part)
    raise FheliumError(f"{EXAMPLES}/{dialect}/{name}.mlir does not show {op_name}")


def _names(line: str, op_name: str) -> bool:
    return op_name in line.replace("(", " ").replace('"', " ").split()


def _top_level_parts(text: str) -> list[list[str]]:
    """Groups of lines without comments, cut at empty lines outside of all braces."""
    parts: list[list[str]] = [[]]
    depth = 0
    for line in text.split("\n"):
        if line.strip().startswith("//"):
            continue
        if not line.strip() and depth == 0:
            parts.append([])
            continue
        depth += line.count("{") - line.count("}")
        parts[-1].append(line.rstrip())
    return [part for part in parts if part]


def _attribute_section(attribute: type[Attribute]) -> str:
    parts = [f"### `{_sigil(attribute)}{attribute.name}`", prose(attribute)]
    rows: list[str] = []
    if issubclass(attribute, ParametrizedAttribute):
        parameters = attribute.get_irdl_definition().parameters
        rows = [f"| `{name}` | {constraint_text(p.constr)} |" for name, p in parameters]
    elif issubclass(attribute, Data):
        data = _data_class(cast(type[Attribute], attribute))
        if data is not None:
            parts.append(prose(data))
            # Absence, which is how None appears in the text, is not worth a word for each.
            kinds = {f.name: str(f.type).removesuffix(" | None") for f in fields(data)}
            rows = [f"| `{name}` | `{_cell(kind)}` |" for name, kind in kinds.items()]
    if rows:
        parts.append("\n".join(["| parameter | |", "|---|---|", *rows]))
    return "\n\n".join(part for part in parts if part)


def _cell(text: str) -> str:
    """Text for a cell of a table."""
    return text.replace("|", "\\|")


@dataclass
class _AnyData:
    """Stands for the dataclass of an attribute; only its fields are looked at."""


def _data_class(attribute: type[Attribute]) -> type[_AnyData] | None:
    """The dataclass that is the parameter of a `Data` attribute, or None for a plain value."""
    for base in getattr(attribute, "__orig_bases__", ()):
        for argument in cast("tuple[object, ...]", get_args(base)):
            if isinstance(argument, type) and is_dataclass(argument):
                return cast("type[_AnyData]", argument)
    return None


def passes_page() -> str:
    """The page of all passes, pipelines and targets."""
    parts = [
        "# Passes, pipelines and targets",
        NOTE,
        "A pass with options is written `name{option=value other=1,2}`; the passes of a pipeline "
        "are separated by commas. `fhelium-opt --help-pass NAME` prints the same on a terminal.",
    ]
    own = [name for name, path in universe.PASSES.items() if _is_own(path)]
    parts += ["## Passes", *(_pass_section(name) for name in own)]
    others = [name for name in universe.PASSES if name not in own]
    parts += ["## Passes of xDSL", *(_pass_section(name) for name in others)]
    parts.append("## Pipelines")
    for name, passes in universe.PIPELINES.items():
        links = [f"[`{p}`](#{p.partition('{')[0]})" for p in passes]
        parts.append(f"### `{name}`\n\n{', '.join(links)}.")
    parts.append("## Targets")
    parts.append("What `fhelium-opt -t TARGET` prints after the last pass.")
    rows = [
        f"| `{name}` | {summary(universe.load_target(name))} |"
        for name in universe.TARGETS
        if universe.is_available(universe.TARGETS[name])
    ]
    parts.append("\n".join(["| target | |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _pass_section(name: str) -> str:
    pass_type = universe.load_pass(name)
    parts = [f"### `{name}`", prose(pass_type) or UNDOCUMENTED.get(name, "")]
    options = pass_options(pass_type)
    if options:
        texts = option_texts(pass_type)
        rows = [
            f"| `{option}` | `{_cell(kind)}` | {_cell(texts.get(option, ''))} |".replace(
                "  |", " |"
            )
            for option, kind in options.items()
        ]
        parts.append("\n".join(["| option | type and default | |", "|---|---|---|", *rows]))
    parts.append(f"```console\n$ {pass_command(name)}\n...\n```")
    return "\n\n".join(part for part in parts if part)


def option_texts(pass_type: type[ModulePass]) -> dict[str, str]:
    """What the docstring of a pass says about each of its options."""
    _, sections = split_sections(docstring(pass_type))
    texts = {**sections.get("Attributes", {}), **sections.get("Options", {})}
    return {name.replace("_", "-"): text for name, text in texts.items()}


def pass_command(name: str) -> str:
    """A command that runs the pass where it belongs, from the project's root."""
    default = universe.DEFAULT_PIPELINE
    if name in universe.PIPELINES[default]:
        return f"fhelium-opt {PROGRAM} -p {default} --stop-after {name} --remarks=all"
    return f"fhelium-opt {PROGRAM} -p {name} --remarks=all"


def check(pages: dict[str, str]) -> list[str]:
    """What is wrong with the pages on disk: those that are missing, stale or left over."""
    wrong: list[str] = []
    for path, text in pages.items():
        file = ROOT / path
        if not file.is_file():
            wrong.append(f"{path} is missing")
        elif file.read_text(encoding="utf-8") != text:
            wrong.append(f"{path} is not current")
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / FOLDER).glob("*.md")}
    wrong += [f"{path} is left over" for path in sorted(here - set(pages))]
    return wrong


def main(argv: list[str] | None = None) -> int:
    """Write or check the pages; returns the exit code."""
    return run_tool(lambda: _main(sys.argv[1:] if argv is None else argv), debug=False)


def _main(argv: list[str]) -> int:
    parser = ArgumentParser(prog="reference_pages", description="Write docs/reference.")
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    options = argparse.Namespace()
    parser.parse(argv, options)
    pages = all_pages()
    if options.check:
        wrong = check(pages)
        if wrong:
            raise FheliumError(f"{'; '.join(wrong)}: run `make docs`")
        return 0
    (ROOT / FOLDER).mkdir(parents=True, exist_ok=True)
    for path, text in pages.items():
        write_output(str(ROOT / path), text)
    for path in (ROOT / FOLDER).glob("*.md"):
        if path.relative_to(ROOT).as_posix() not in pages:
            path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
