"""Each pass of the default pipeline leaves a location on every op, without help of the driver."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, UnknownLoc

from fhelium_ir import universe
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import PassObserver, Pipeline, Step
from tests.lit_files import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.mlir"))


class Lost(PassObserver):
    """Collects the ops that a pass leaves without a location, before the driver fills them in."""

    def __init__(self) -> None:
        self.ops: list[str] = []
        self.passes = 0

    def after_apply(self, step: Step, module: ModuleOp) -> None:
        self.passes += 1
        self.ops += [
            f"{step.name}: {op.name}" for op in module.walk() if isinstance(op.location, UnknownLoc)
        ]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_op_has_a_location_after_each_pass(path: object) -> None:
    name = str(path)
    context = universe.make_context()
    with open(name, encoding="utf-8") as file:
        module = parse_module(context, file.read(), name)
    lost = Lost()
    pipeline = Pipeline.named(universe.DEFAULT_PIPELINE)
    pipeline.run(context, module, verify_each=False, observers=[lost])
    assert lost.passes == len(pipeline.passes)
    assert sorted(set(lost.ops)) == []
    assert all((location_of(op) or "").startswith(name) for op in module.walk())
