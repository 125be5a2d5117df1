"""Imports point one way: tools, then lowering, then passes, then the rest of fhelium_ir."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lit_files import ROOT

RINGS = {"tools": 3, "lowering": 2, "passes": 1}
"""Ring by subpackage; all others are in ring 0. Imports stay in a ring or go inwards."""

REFERENCE_MAY_IMPORT = {"reference", "dialects", "compiler", "parameters"}
"""The reference is the oracle: it shares no code with what it judges.

`parameters` is the data behind the dialects' `#ckks.params`."""


def modules() -> Iterator[tuple[str, Path]]:
    """Long name and path of every module of the package, through the two links."""
    package = ROOT / "fhelium_ir"
    for folder, _, files in os.walk(package, followlinks=True):
        for file in sorted(files):
            if file.endswith(".py"):
                path = Path(folder) / file
                parts = path.relative_to(ROOT).with_suffix("").parts
                name = ".".join(parts)
                yield name.removesuffix(".__init__"), path


def imports(name: str, source: str, is_package: bool) -> Iterator[str]:
    """The absolute names of the modules that a source file imports, wherever in it."""
    package = name if is_package else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, *([base] if base else [])])
            # `from fhelium_ir import passes` names a subpackage behind the import.
            yield from (f"{base}.{alias.name}" for alias in node.names)


def subpackage(name: str) -> str:
    """`passes` for `fhelium_ir.passes.x`; empty for what is not a module of fhelium_ir."""
    parts = name.split(".")
    return parts[1] if parts[0] == "fhelium_ir" and len(parts) > 1 else ""


def violations(name: str, source: str, is_package: bool = False) -> list[str]:
    """What is wrong with the imports of one module."""
    wrong: list[str] = []
    mine = subpackage(name)
    for imported in imports(name, source, is_package):
        theirs = subpackage(imported)
        if imported.split(".")[0] in ("passes", "lowering"):
            wrong.append(f"{imported}: the long name is fhelium_ir.{imported}")
        if not theirs:
            continue
        if RINGS.get(theirs, 0) > RINGS.get(mine, 0):
            wrong.append(f"{imported}: points outwards")
        if mine == "reference" and theirs not in REFERENCE_MAY_IMPORT:
            wrong.append(f"{imported}: the reference may not import it")
    return wrong


@pytest.mark.parametrize("name, path", [pytest.param(n, p, id=n) for n, p in modules()])
def test_imports_point_inwards(name: str, path: Path) -> None:
    assert violations(name, path.read_text(), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    "name, source",
    [
        ("fhelium_ir.passes.x", "import fhelium_ir.lowering.y"),
        ("fhelium_ir.passes.x", "from fhelium_ir import tools"),
        ("fhelium_ir.backend.x", "def f():\n    from fhelium_ir.passes.y import z"),
        ("fhelium_ir.lowering.x", "from ..tools import fhelium_opt"),
        ("fhelium_ir.lowering.x", "from passes.y import z"),
        ("fhelium_ir.reference.x", "from fhelium_ir.client.keys import y"),
        ("fhelium_ir.reference.x", "from fhelium_ir.backend import y"),
        ("fhelium_ir.universe", "import fhelium_ir.passes"),
    ],
)
def test_a_wrong_import_is_found(name: str, source: str) -> None:
    assert len(violations(name, source)) == 1


@pytest.mark.parametrize(
    "name, source",
    [
        ("fhelium_ir.tools.x", "from fhelium_ir.lowering import y"),
        ("fhelium_ir.lowering.x", "from fhelium_ir.passes.y import z"),
        ("fhelium_ir.passes.x", "from fhelium_ir.compiler.remarks import remark"),
        ("fhelium_ir.reference.x", "from fhelium_ir.dialects.ckks import y"),
        ("fhelium_ir.passes.x", "import numpy"),
    ],
)
def test_a_right_import_is_accepted(name: str, source: str) -> None:
    assert violations(name, source) == []


def test_the_linked_folders_are_seen() -> None:
    names = {name for name, _ in modules()}
    assert {"fhelium_ir.passes", "fhelium_ir.lowering"} <= names
