"""What fusion saves, with equal residues; and what the resource table promises, with what is allocated."""

from __future__ import annotations

from functools import cache
from math import prod
from typing import cast

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.backend.executable import DTYPES, Executable
from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks, host
from fhelium_ir.lowering.link import link
from fhelium_ir.lowering.resources_json import resource_table
from tests.unit.pipeline.examples import EXAMPLES, small_example

FUSE = "form-fusion-regions"
UNFUSED = f"{FUSE}{{fuse=false}}"
SEED = 20
SAVED = 1.8


@cache
def lowered(name: str, fuse: str) -> ModuleOp:
    passes = universe.PIPELINES[universe.DEFAULT_PIPELINE]
    module = small_example(name)
    pipeline = Pipeline("default", tuple(fuse if spec == FUSE else spec for spec in passes))
    pipeline.run(universe.make_context(), module)
    return module


@cache
def executable(name: str, fuse: str) -> Executable:
    module = lowered(name, fuse)
    client = Client(ckks.parameters_of(module), SEED)
    return link(module, ClientKeys(client), "interpret")


def launch_count(module: ModuleOp) -> int:
    return sum(isinstance(op, host.LaunchOp) for op in module.walk())


def random_residues(module: ModuleOp, program: Executable) -> list[torch.Tensor]:
    """Canonical residues for each argument: [components, limbs, N]."""
    generator = np.random.default_rng(SEED)
    found: list[torch.Tensor] = []
    for spec in program.arguments:
        components, limbs, degree = spec.shape
        moduli = np.array(ckks.parameters_of(module).q[:limbs], dtype=np.int64)
        words = generator.integers(0, moduli[:, None], (components, limbs, degree))
        found.append(torch.as_tensor(words).to(DTYPES[spec.dtype]))
    return found


@pytest.mark.parametrize("name", EXAMPLES)
def test_fusion_saves_launches_and_keeps_residues(name: str) -> None:
    fused, unfused = lowered(name, FUSE), lowered(name, UNFUSED)
    assert launch_count(unfused) >= SAVED * launch_count(fused)
    inputs = random_residues(fused, executable(name, FUSE))
    expected, runtime = executable(name, FUSE).run_counted(*inputs)
    found, unfused_runtime = executable(name, UNFUSED).run_counted(*inputs)
    assert runtime.launches == launch_count(fused)
    assert unfused_runtime.launches == launch_count(unfused)
    for ours, theirs in zip(expected, found, strict=True):
        assert torch.equal(ours, theirs)
        assert len(np.unique(ours.numpy())) > 1


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_table_lists_the_bytes_that_are_allocated(name: str) -> None:
    table = resource_table(lowered(name, FUSE))
    tensors = executable(name, FUSE).resources
    rows = {str(row["name"]): row for row in rows_of(table, "resources")}
    assert rows.keys() == tensors.keys()
    for symbol, tensor in tensors.items():
        assert rows[symbol]["bytes"] == tensor.numel() * tensor.element_size()
        assert rows[symbol]["shape"] == list(tensor.shape)
        assert rows[symbol]["dtype"] == str(tensor.dtype).removeprefix("torch.")
    assert table["total_bytes"] == sum(t.numel() * t.element_size() for t in tensors.values())


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_keys_in_the_table_are_those_of_the_program(name: str) -> None:
    parameters = ckks.parameters_of(lowered(name, FUSE))
    shape = (parameters.digit_count(), 2, len(parameters.primes), parameters.ring_degree)
    table = resource_table(lowered(name, FUSE))
    needed = {
        "dot_product": {1, 2, 4},
        "matvec": {1, 2, 3, 4, 5, 6, 7},
        "polynomial": set[int](),
    }
    keys = rows_of(table, "required_keys")
    galois = [int(str(key["galois"])) for key in keys if key["kind"] == "galois_key"]
    assert sorted(galois) == sorted(pow(5, k, 2 * parameters.ring_degree) for k in needed[name])
    relinearization = [key for key in keys if key["kind"] == "relinearization_key"]
    assert len(relinearization) == (0 if name == "matvec" else 1)
    for row in rows_of(table, "resources"):
        if str(row["kind"]).endswith("_key"):
            assert row["bytes"] == 8 * prod(shape)


def rows_of(table: dict[str, object], part: str) -> list[dict[str, object]]:
    return cast("list[dict[str, object]]", table[part])
