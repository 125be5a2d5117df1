"""Pipelines as text."""

from __future__ import annotations

import pytest

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline, make_pass, pass_options
from fhelium_ir.compiler.remarks import collect_remarks, remark, remarks_wanted
from fhelium_ir.universe import make_context


@pytest.fixture(autouse=True)
def _sample(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    path = "tests.unit.tools.sample_passes:AddToMul"
    monkeypatch.setitem(universe.PASSES, "add-to-mul", path)


@pytest.mark.parametrize(
    "text, passes",
    [
        ("", ()),
        ("cse", ("cse",)),
        (" cse ,\n dce ", ("cse", "dce")),
        ("add-to-mul{limit=1}", ("add-to-mul{limit=1}",)),
        ("add-to-mul{ limit = 1   keep-names=false }", ("add-to-mul{limit=1 keep-names=false}",)),
        ("cse,fhelium-default,dce", ("cse", *universe.PIPELINES["fhelium-default"], "dce")),
    ],
)
def test_parse(text: str, passes: tuple[str, ...]) -> None:
    assert Pipeline.parse(text).passes == passes


def test_the_text_of_a_pipeline_parses_to_itself() -> None:
    pipeline = Pipeline.parse("cse,add-to-mul{limit=1 keep-names=false},dce")
    assert Pipeline.parse(",".join(pipeline.passes)) == pipeline


def test_named_and_until() -> None:
    default = Pipeline.named(universe.DEFAULT_PIPELINE)
    assert default.until("ckks-check").passes[-2:] == ("ckks-manage", "ckks-check")
    with pytest.raises(FheliumError, match="pass 'cse' is not in the pipeline"):
        default.until("cse")
    with pytest.raises(FheliumError, match="did you mean 'fhelium-default'"):
        Pipeline.named("fhelium-defualt")


def test_make_pass_reads_options() -> None:
    module_pass = make_pass("add-to-mul{limit=3 keep-names=false}")
    assert str(module_pass) == "add-to-mul{limit=3 keep_names=false}"
    assert pass_options(type(module_pass)) == {"limit": "int = 1000", "keep-names": "bool = True"}


def test_run_calls_back_after_each_pass() -> None:
    context = make_context()
    module = parse_module(context, "func.func private @f() -> ()")
    seen: list[str] = []
    Pipeline.parse("cse,dce").run(context, module, after_pass=lambda p, _: seen.append(p.name))
    assert seen == ["cse", "dce"]


def test_remarks_reach_the_innermost_listener_only() -> None:
    assert not remarks_wanted()
    remark("p", None, "applied", "nobody hears this")
    with collect_remarks() as outer:
        remark("p", None, "applied", "one")
        with collect_remarks() as inner:
            remark("p", None, "missed", "two")
        remark("p", None, "analysis", "three")
    assert [r.text for r in outer] == ["one", "three"]
    assert [str(r) for r in inner] == ["remark: [p] missed: two"]
    assert not remarks_wanted()
