"""Every name in the universe leads to what it promises, or says clearly that it does not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError

TABLES = {
    "dialect": universe.DIALECTS,
    "pass": universe.PASSES,
    "target": universe.TARGETS,
}

ENTRIES = [
    pytest.param(kind, name, id=f"{kind}-{name}")
    for kind, table in TABLES.items()
    for name in table
]


@pytest.mark.parametrize("kind, name", ENTRIES)
def test_each_entry_loads(kind: str, name: str) -> None:
    if not universe.is_available(TABLES[kind][name]):
        pytest.skip("its module is not part of this tree")
    if kind == "dialect":
        assert universe.load_dialect(name).name == name
    elif kind == "pass":
        assert universe.load_pass(name).name == name
    else:
        assert callable(universe.load_target(name))


def test_pipelines_name_registered_passes_only() -> None:
    for passes in universe.PIPELINES.values():
        assert set(passes) <= set(universe.PASSES)


def test_pipelines_and_passes_share_no_name() -> None:
    assert not set(universe.PIPELINES) & set(universe.PASSES)


def test_a_context_loads_a_dialect_when_it_is_named() -> None:
    context = universe.make_context()
    assert list(context.loaded_dialects) == []
    assert context.get_optional_op("arith.addi") is not None
    assert [dialect.name for dialect in context.loaded_dialects] == ["arith"]


def test_a_wrong_name_in_a_pass_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(universe.PASSES, "alias", universe.PASSES["cse"])
    with pytest.raises(FheliumError, match="pass 'alias' calls itself 'cse'"):
        universe.load_pass("alias")


@pytest.mark.parametrize("load", [universe.load_dialect, universe.load_pass, universe.load_target])
def test_an_unknown_name_is_an_error(load: Callable[[str], object]) -> None:
    with pytest.raises(FheliumError, match=r"unknown (dialect|pass|target) 'zzzz'; known: "):
        load("zzzz")
