"""Analyses are kept while the IR stays the same, and no longer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from fhelium_ir import universe
from fhelium_ir.compiler.analyses import (
    ALL_ANALYSES,
    Preserved,
    forget_analyses,
    get_analysis,
    keep_analyses,
    preserved_by,
)
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.universe import Provided


class Counted:
    """An analysis that knows how often it was made."""

    made: ClassVar[int] = 0

    def __init__(self, op: Operation) -> None:
        type(self).made += 1
        self.op = op


class Other(Counted):
    made: ClassVar[int] = 0


@dataclass(frozen=True)
class Ask(ModulePass):
    name = "ask"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        assert get_analysis(Counted, op) is get_analysis(Counted, op)
        assert get_analysis(Other, op).op is op


@dataclass(frozen=True)
class AskAndKeep(Ask):
    name = "ask-and-keep"
    preserved_analyses: ClassVar[Preserved] = ALL_ANALYSES


@dataclass(frozen=True)
class AskAndKeepOther(Ask):
    name = "ask-and-keep-other"
    preserved_analyses = (Other,)


@dataclass(frozen=True)
class Wrong(Ask):
    name = "wrong"
    preserved_analyses = "all"


@pytest.fixture(autouse=True)
def sample_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    for pass_type in (Ask, AskAndKeep, AskAndKeepOther, Wrong):
        provided = Provided("a test", lambda pass_type=pass_type: pass_type)
        monkeypatch.setitem(universe.PASSES, pass_type.name, provided)
    Counted.made = Other.made = 0


def run(passes: str) -> tuple[int, int]:
    """How often each analysis is made by a pipeline."""
    context = universe.make_context()
    module = parse_module(context, "func.func private @f() -> ()", "f.mlir")
    Pipeline.parse(passes).run(context, module)
    return Counted.made, Other.made


@pytest.mark.parametrize(
    "passes, made",
    [
        ("ask", (1, 1)),
        ("ask,ask", (2, 2)),
        ("ask,cse,ask", (2, 2)),
        ("ask-and-keep,ask", (1, 1)),
        ("ask-and-keep,ask-and-keep,ask,ask", (2, 2)),
        ("ask-and-keep,cse,ask", (2, 2)),
        ("ask-and-keep-other,ask", (2, 1)),
        ("ask-and-keep-other,ask-and-keep-other,ask-and-keep-other", (3, 1)),
    ],
)
def test_an_analysis_is_made_again_after_a_pass_that_does_not_preserve_it(
    passes: str, made: tuple[int, int]
) -> None:
    assert run(passes) == made


def test_a_second_run_starts_anew() -> None:
    assert run("ask-and-keep") == (1, 1)
    assert run("ask-and-keep") == (2, 2)


def test_each_operation_has_its_own() -> None:
    one, two = ModuleOp([]), ModuleOp([])
    with keep_analyses():
        assert get_analysis(Counted, one) is not get_analysis(Counted, two)
        assert get_analysis(Counted, two).op is two


def test_outside_of_a_pipeline_nothing_is_kept() -> None:
    module = ModuleOp([])
    assert get_analysis(Counted, module) is not get_analysis(Counted, module)
    forget_analyses()


def test_a_pass_may_forget_what_it_invalidates() -> None:
    module = ModuleOp([])
    with keep_analyses():
        counted, other = get_analysis(Counted, module), get_analysis(Other, module)
        forget_analyses((Other,))
        assert get_analysis(Other, module) is other
        assert get_analysis(Counted, module) is not counted


def test_an_inner_scope_does_not_disturb_the_outer_one() -> None:
    module = ModuleOp([])
    with keep_analyses():
        outer = get_analysis(Counted, module)
        with keep_analyses():
            assert get_analysis(Counted, module) is not outer
            forget_analyses()
        assert get_analysis(Counted, module) is outer


def test_a_wrong_declaration_is_one_clear_error() -> None:
    with pytest.raises(FheliumError, match="pass 'wrong': preserved_analyses must be a tuple"):
        run("wrong")
    assert preserved_by(Ask) == ()
