"""Lookup of implementations: by type and name, absent and ambiguous choices, files and entry points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path

import pytest
import torch
from xdsl.ir import Operation

from fhelium_ir.analysis.requirements import ResourceRequirement
from fhelium_ir.backend import discovery
from fhelium_ir.backend.registry import (
    OperationEffect,
    OperationImplementation,
    OperationImplementationRegistry,
    OperationInvocation,
    active_registry,
    use_registry,
)
from fhelium_ir.backend.resources import BoundResource
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import fusion, rns
from fhelium_ir.dialects.ntt import Schedule
from tests.unit.backend.programs import PARAMS, parsed

POLY = "!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>"
TEXT = f"""
module attributes {{ckks.params = {PARAMS}, rns.arithmetic = #rns.arithmetic<mont64>}} {{
func.func @f(%a : {POLY}, %b : {POLY}) -> !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)> {{
  %c = rns.add %a, %b : {POLY}
  return %c : !rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>
}} }}
"""


@dataclass(frozen=True)
class Fake:
    """An implementation that is never executed."""

    name: str
    operation_types: tuple[type[Operation], ...] = (rns.AddOp,)
    supports_in_place: bool = False

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        return ()

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        raise AssertionError


@dataclass(frozen=True)
class FakeFusion(Fake):
    operation_types: tuple[type[Operation], ...] = (fusion.FusedOp,)
    answer: int | None = 1
    schedule: Schedule | None = None

    def match_fusion(self, operations: Sequence[Operation]) -> int | None:
        return self.answer

    def select_ntt_schedule(self, **facts: object) -> Schedule | None:
        return self.schedule


def add() -> Operation:
    module = parsed(TEXT)
    found = next(op for op in module.walk() if isinstance(op, rns.AddOp))
    # The module must stay alive as long as the op.
    found.attributes.clear()
    return found


def test_lookup_by_type() -> None:
    one, other = Fake("one"), Fake("other", (rns.MulOp,))
    registry = OperationImplementationRegistry([one, other])
    assert registry.candidates(rns.AddOp) == (one,)
    assert registry.candidates(rns.SubOp) == ()
    assert registry.select(add()) is one
    assert registry.implementations == (one, other)


def test_names_do_not_decide_support() -> None:
    misnamed = Fake("rns.add", (rns.MulOp,))
    registry = OperationImplementationRegistry([misnamed])
    with pytest.raises(FheliumError, match=r"'rns.add' does not execute 'rns.add'; there are no"):
        registry.select(add(), "rns.add")


def test_a_name_chooses_among_candidates() -> None:
    one, other = Fake("one"), Fake("other")
    registry = OperationImplementationRegistry([one, other])
    assert registry.select(add(), "other") is other
    with pytest.raises(FheliumError, match=r"several implementations take 'rns.add': one, other"):
        registry.select(add())
    with pytest.raises(FheliumError, match="unknown implementation 'otter'; did you mean 'other'"):
        registry.select(add(), "otter")
    registry.register(Fake("best"), preferred=True)
    assert registry.select(add()).name == "best"
    registry.register(Fake("better"), preferred=True)
    with pytest.raises(FheliumError, match=r"several implementations take 'rns.add': best, better"):
        registry.select(add())


def test_an_absent_choice_names_the_op() -> None:
    with pytest.raises(FheliumError, match=r"no implementation executes 'rns.add'; there are no"):
        OperationImplementationRegistry().select(add())


def test_a_program_can_name_an_implementation() -> None:
    from xdsl.dialects.builtin import StringAttr

    registry = OperationImplementationRegistry([Fake("one"), Fake("other")])
    op = add()
    assert OperationImplementationRegistry([Fake("one")]).select_whole(op) is None
    op.attributes[fusion.IMPLEMENTATION] = StringAttr("other")
    assert registry.select(op).name == "other"
    whole = registry.select_whole(op)
    assert whole is not None and whole.name == "other"


def test_what_is_registered_is_checked() -> None:
    registry = OperationImplementationRegistry([Fake("one")])
    with pytest.raises(FheliumError, match="an implementation named 'one' is registered"):
        registry.register(Fake("one"))
    incomplete: object = type("Incomplete", (), {"name": "x", "operation_types": ()})()
    with pytest.raises(FheliumError, match="it lacks supports_in_place, resource_requirements, ex"):
        registry.register(incomplete)  # pyright: ignore[reportArgumentType]


def test_a_copy_is_independent() -> None:
    registry = OperationImplementationRegistry([Fake("one")])
    registry.copy().register(Fake("other"))
    assert [entry.name for entry in registry.implementations] == ["one"]


def test_fusion_asks_each_implementation() -> None:
    no, one = FakeFusion("no", answer=None), FakeFusion("one")
    registry = OperationImplementationRegistry([no, one, Fake("whole")])
    assert registry.select_fusion([add()]) is one
    registry.register(FakeFusion("plumbing", answer=0))
    with pytest.raises(FheliumError, match=r"region around 'rns.add': one, plumbing; name one or"):
        registry.select_fusion([add()])
    registry.register(FakeFusion("best"), preferred=True)
    chosen = registry.select_fusion([add()])
    assert chosen is not None and chosen.name == "best"
    assert OperationImplementationRegistry([no]).select_fusion([add()]) is None


def test_schedules_are_offered() -> None:
    first, second = (Schedule(((stages,),), 1, 1, 1) for stages in (3, 4))
    registry = OperationImplementationRegistry(
        [FakeFusion("none"), FakeFusion("a", schedule=first)]
    )
    assert registry.select_ntt_schedule(None, degree=16) == first
    assert registry.select_ntt_schedule("none", degree=16) is None
    registry.register(FakeFusion("same", schedule=first))
    assert registry.select_ntt_schedule(None, degree=16) == first
    registry.register(FakeFusion("b", schedule=second))
    with pytest.raises(FheliumError, match="several implementations offer schedules: a, same, b"):
        registry.select_ntt_schedule(None, degree=16)
    registry.register(FakeFusion("best", schedule=second), preferred=True)
    assert registry.select_ntt_schedule(None, degree=16) == second


def test_the_active_registry() -> None:
    registry = OperationImplementationRegistry()
    with use_registry(registry):
        assert active_registry() is registry
    assert active_registry() is discovery.default_registry()
    names = [entry.name for entry in active_registry().implementations]
    assert names[:3] == ["triton-rns-fused", "triton-rns-pointwise", "kernel-launch"]
    assert all(
        isinstance(entry, OperationImplementation) for entry in active_registry().implementations
    )


def test_effects() -> None:
    op = add()
    assert OperationEffect.of(op, False) == OperationEffect((), (None,))
    assert OperationEffect.of(op, True) == OperationEffect((0,), (0,))


def test_invocations_read_their_module() -> None:
    module = parsed(TEXT)
    op = next(op for op in module.walk() if isinstance(op, rns.AddOp))
    invocation = OperationInvocation.of(op)
    assert invocation.parameters.ring_degree == 16
    assert invocation.input_shapes == ((1, 2, 16), (1, 2, 16))
    assert invocation.result_shapes == ((1, 2, 16),)
    assert invocation.dtype == "int64" and invocation.arithmetic.radix == 1 << 64
    alone = op.clone()
    with pytest.raises(FheliumError, match=r"'rns.add' stands in no module with a `ckks.params`"):
        OperationInvocation.of(alone)


def test_files_register(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "from fhelium_ir.lowering.triton.rns import TritonRnsImplementation\n"
        "def register(registry):\n"
        "    registry.register(TritonRnsImplementation(name='mine'), preferred=True)\n"
    )
    registry = discovery.registry_with([str(path)], defaults=False)
    assert [entry.name for entry in registry.implementations] == ["mine"]
    assert registry.is_preferred(registry.get("mine"))
    extended = discovery.registry_with([str(path)])
    assert {"mine", "triton-rns-fused"} <= {entry.name for entry in extended.implementations}
    assert "mine" not in {entry.name for entry in discovery.default_registry().implementations}


@pytest.mark.parametrize(
    "text, message",
    [
        ("x = 1\n", r"defines no function `register\(registry\)`"),
        ("1 / 0\n", "fails: ZeroDivisionError"),
        ("def register(registry):\n    registry.register(3)\n", "int is no implementation"),
        ("def register(registry):\n    registry.absent\n", "fails: AttributeError"),
    ],
)
def test_bad_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(FheliumError, match=message):
        discovery.registry_with([str(path)])


def test_a_missing_file() -> None:
    with pytest.raises(FheliumError, match=r"cannot read 'absent.py': No such file"):
        discovery.registry_with(["absent.py"])


def register_sample(registry: OperationImplementationRegistry) -> None:
    registry.register(Fake("sample"))


@pytest.mark.parametrize("value, error", [("register_sample", ""), ("absent", "cannot be loaded")])
def test_entry_points(monkeypatch: pytest.MonkeyPatch, value: str, error: str) -> None:
    entry = EntryPoint("sample", f"{__name__}:{value}", discovery.ENTRY_POINTS)

    def entry_points(group: str) -> EntryPoints:
        assert group == "fhelium_ir.implementations"
        return EntryPoints([entry])

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    discovery.default_registry.cache_clear()
    try:
        if error:
            with pytest.raises(FheliumError, match=error):
                discovery.default_registry()
        else:
            assert discovery.default_registry().get("sample").name == "sample"
    finally:
        discovery.default_registry.cache_clear()
