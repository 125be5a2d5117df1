"""Names in a program are data: hostile ones are compiled and run without harm."""

from __future__ import annotations

import builtins
import json
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr, SymbolRefAttr

from fhelium_ir.dialects import host, kernel, resource
from fhelium_ir.tools import fhelium_run
from tests.unit.end_to_end.programs import Writer, chain, sums
from tests.unit.end_to_end.stages import KERNEL_PASSES, Runner, Stages, compile_stages

NAMES = [
    "a'); import os #",
    'a"); builtins.harm = 1 #',
    "'''\nimport builtins\nbuiltins.harm = 1\n'''",
    '"""\nbuiltins.harm = 1',
    "\\",
    "\\x27); builtins.harm = 1 #",
    "{builtins}%s%n",
    "../../harm",
    "наука 数",
    " ",
    "def",
    "tl",
    "a\u2028builtins.harm = 1",
    "run",
    "runtime",
    "!@#$%^&*()",
]
TARGETS = [("cpu", "cpu"), ("interpreter", "triton-interpret")]


def renamed(stages: Stages, name: str) -> Stages:
    """The lowered program with `name` in the symbols of its function, kernels and resources."""
    module = stages.lowered.clone()
    symbols: dict[str, str] = {}
    for op in module.ops:
        if isinstance(op, kernel.FuncOp | resource.DeclareOp):
            old = op.sym_name.data
            symbols[old] = f"{name}{old}"
            op.properties["sym_name"] = StringAttr(symbols[old])
    for op in module.walk():
        if isinstance(op, host.ResourceOp):
            op.properties["symbol"] = SymbolRefAttr(symbols[op.symbol.string_value()])
        elif isinstance(op, host.LaunchOp):
            op.properties["callee"] = SymbolRefAttr(symbols[op.callee.string_value()])
    module.verify()
    return Stages(stages.program, stages.polynomial, {KERNEL_PASSES[-1]: module})


@pytest.mark.parametrize("device, target", TARGETS)
@pytest.mark.parametrize("name", NAMES)
def test_hostile_function_and_argument_names(name: str, device: str, target: str) -> None:
    writer = Writer(chain(28, 1, 1), name)
    x, y = writer.argument("x"), writer.argument("y")
    writer.attributes[0]["ckks.name"] = StringAttr(name)
    stages = compile_stages(writer.text(writer.add(x, y)), device)
    run = Runner.of(stages)
    inputs = run.residues("random")
    inputs[name] = inputs["x"]
    (found,) = run.executable(target, inputs)
    (expected,) = run.program(inputs)
    np.testing.assert_array_equal(found, expected)
    assert not hasattr(builtins, "harm")


@pytest.mark.parametrize("device, target", TARGETS)
def test_hostile_kernel_and_resource_names(device: str, target: str) -> None:
    stages = compile_stages(sums(chain(28, 2, 2)), device)
    expected = Runner.of(stages).program(Runner.of(stages).residues("random"))
    for name in NAMES[:3]:
        run = Runner.of(renamed(stages, name))
        found = run.executable(target, run.residues("random"))
        np.testing.assert_array_equal(found, expected, err_msg=name)
        assert not hasattr(builtins, "harm")


@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
def test_the_command_line_takes_a_hostile_symbol(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = NAMES[0]
    writer = Writer(chain(60, 1, 1), name)
    x = writer.argument("x")
    writer.attributes[0]["ckks.name"] = StringAttr(name)
    text = writer.text(writer.negate(x))
    assert '@"a\'); import os #"' in text
    file, values = tmp_path / "p.mlir", tmp_path / "in.json"
    file.write_text(text)
    values.write_text(json.dumps({name: [0.5] * 16}))
    arguments = [str(file), "--target", target, "--inputs", str(values), "--entry", name]
    assert fhelium_run.main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == "" and out.startswith(f"{name}: ring degree 32") and "-0.50000000" in out
