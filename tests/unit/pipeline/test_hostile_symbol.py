"""Programs whose names look like Python run like any other."""

from __future__ import annotations

import pytest
import torch

from fhelium_ir import universe
from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.lowering.host_printer import host_functions
from fhelium_ir.lowering.link import link
from tests.lit_files import LIT_ROOT


@pytest.mark.parametrize("target", ["interpret", "triton-interpret"])
def test_a_hostile_program_runs_harmlessly(target: str) -> None:
    path = LIT_ROOT / "lowering" / "hostile_symbol.mlir"
    module = parse_module(universe.make_context(), path.read_text(), path.name)
    Pipeline.named(universe.DEFAULT_PIPELINE).run(universe.make_context(), module)
    client = Client(ckks.parameters_of(module), 3)
    names = [function.sym_name.data for function in host_functions(module)]
    assert names == ["a'); import os #", '\nimport os\n"""']
    negate = link(module, ClientKeys(client), target, names[1])
    (spec,) = negate.arguments
    ones = torch.ones(spec.shape, dtype=torch.int64)
    (result,) = negate.run(ones)
    primes = torch.tensor(ckks.parameters_of(module).q[: spec.shape[1]])
    assert torch.equal(result, (primes - 1)[None, :, None].expand(spec.shape))
    rotate = link(module, ClientKeys(client), target, names[0])
    assert [argument.name for argument in rotate.arguments] == ["'); import os #"]
