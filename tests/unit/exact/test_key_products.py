"""Inner products with a key inside the last kernel of a transform: every cut of it, every shape of digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.client.client import Client
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import fusion, host, ntt, rns
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.parameters import Parameters
from fhelium_ir.universe import DEFAULT_PIPELINE, PIPELINES, make_context
from tests.unit.exact.test_key_switching import Compiled, both, ciphertext
from tests.unit.reference.textbook import attribute, parsed, primes_below

DEGREE = 64


CUTS = tuple(
    Schedule(kernels, rows, columns, 1)
    for kernels, rows, columns in (
        (((3, 3),), 1, 1),
        (((3, 3),), 4, 1),
        (((3,), (3,)), 1, 4),
        (((3,), (3,)), 2, 8),
        (((2,), (2, 2)), 1, 2),
        (((2,), (2, 2)), 4, 4),
        (((2, 1), (2, 1)), 2, 2),
        (((2, 2), (2,)), 1, 4),
        (((2,), (2,), (2,)), 1, 16),
        (((1,), (2, 1), (2,)), 4, 2),
    )
)
"""One to three kernels, the last with and without an exchange; rows of their own and rows that share a program."""


def parameters(limbs: int, digits: int, special: int, bits: int = 28) -> Parameters:
    """Primes of so many bits, the special ones the largest."""
    every = [
        q for q, _ in zip(primes_below(1 << bits, DEGREE), range(limbs + special), strict=False)
    ]
    found = Parameters(
        DEGREE, tuple(every[special:]), tuple(every[:special]), digits, 18, insecure=True
    )
    found.validate()
    return found


def lowered(text: str, target: str, cut: Schedule, arithmetic: str) -> tuple[Compiled, ModuleOp]:
    """The program with all transforms cut so, and the module once memory has been planned."""
    passes, module = list(PIPELINES[DEFAULT_PIPELINE]), parsed(text)
    ends = [
        passes.index(name) + 1 for name in ("merge-divisions", "form-fusion-regions", "plan-memory")
    ]
    passes[passes.index("select-arithmetic")] = f"select-arithmetic{{arithmetic={arithmetic}}}"
    # There no grid is too small for it, and no sum too large.
    passes[passes.index("form-fusion-regions")] = "form-fusion-regions{device=interpreter}"
    Pipeline("program", tuple(passes[: ends[0]])).run(make_context(), module)
    program_stage = module.clone()
    Pipeline("fusion", tuple(passes[ends[0] : ends[1]])).run(make_context(), module)
    for op in module.walk():
        if isinstance(op, ntt.TransformOp):
            op.properties["schedule"] = ntt.ScheduleAttr(cut)
    Pipeline("memory", tuple(passes[ends[1] : ends[2]])).run(make_context(), module)
    regions = module.clone()
    Pipeline("kernels", tuple(passes[ends[2] :])).run(make_context(), module, verify_each=False)
    return Compiled(program_stage, module, target), regions


def check_regions(module: ModuleOp, kernels: int, products: int) -> None:
    """Each inner product stands in one region with the transform of its digits."""
    found = [
        region
        for region in module.walk()
        if isinstance(region, fusion.FusedOp)
        and any(isinstance(op, rns.AccumulateOp) for op in region.body.block.ops)
    ]
    assert len(found) == products
    for region in found:
        assert any(isinstance(op, ntt.ForwardOp) for op in region.body.block.ops)
        assert (region.scratch is not None) == (kernels > 1)


def run(
    facts: Parameters, level: int, target: str, cut: Schedule, arithmetic: str = "mont32"
) -> ModuleOp:
    """Relinearizes and rotates any residues: own limbs as they are, and through a permutation. The module that ran."""
    body = (
        f"%l = ckks.relinearize %x0 : {ciphertext(level, 3)}\n"
        f"%r = ckks.rotate %l {{steps = 1}} : {ciphertext(level)}"
    )
    text = (
        f"module attributes {{{attribute(facts)}}} {{\n"
        f"func.func @f(%x0 : {ciphertext(level, 3)}) -> {ciphertext(level)} {{\n"
        f"{body}\nreturn %r : {ciphertext(level)}\n}} }}"
    )
    compiled, regions = lowered(text, target, cut, arithmetic)
    check_regions(regions, len(cut.kernels), products=2)
    launches = [op for op in compiled.lowered.walk() if isinstance(op, host.LaunchOp)]
    assert sum("key_product" in op.callee.string_value() for op in launches) == 2
    low = np.random.default_rng(level)
    rows = [[low.integers(0, q, DEGREE) for q in facts.q[: level + 1]] for _ in range(3)]
    words = torch.as_tensor(np.stack(rows))
    if max(facts.primes) < 1 << 30:
        words = words.to(torch.int32)
    both(compiled, Client(facts, seed=level), [words])
    return compiled.lowered


@pytest.mark.parametrize("target", ("interpret", "cpu"))
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_every_cut(cut: Schedule, target: str) -> None:
    # Three digits of two limbs, the last of one.
    run(parameters(5, 3, 2), 4, target, cut)


@pytest.mark.parametrize(
    ("cut", "table_stages", "arithmetic"),
    [(CUTS[0], 3, "fp64"), (CUTS[4], 2, "fp64"), (CUTS[4], 4, "mont64"), (CUTS[6], 3, "fp64")],
    ids=str,
)
def test_computed_twiddles(cut: Schedule, table_stages: int, arithmetic: str) -> None:
    """In the loop over digits, too, late groups compute their factors."""
    computing = replace(cut, table_stages=table_stages)
    run(parameters(3, 2, 2, bits=50), 2, "interpret", computing, arithmetic)


@pytest.mark.parametrize("cut", [CUTS[1], CUTS[5], CUTS[8]], ids=str)
def test_triton(cut: Schedule) -> None:
    run(parameters(3, 2, 2), 2, "triton-interpret", cut)


@pytest.mark.parametrize("cut", [CUTS[4], CUTS[9]], ids=str)
@pytest.mark.parametrize(
    ("limbs", "digits", "special", "level"),
    [
        (1, 1, 1, 0),
        (3, 1, 3, 2),
        (3, 1, 3, 0),
        (4, 2, 2, 3),
        (4, 2, 2, 2),
        (4, 2, 3, 1),
        (4, 4, 1, 3),
        (4, 4, 1, 1),
        (7, 4, 2, 6),
        (7, 4, 2, 4),
    ],
)
def test_every_shape(limbs: int, digits: int, special: int, level: int, cut: Schedule) -> None:
    """One to four digits, full and ragged ones, at the top and where a level cuts digits short."""
    run(parameters(limbs, digits, special), level, "interpret", cut)


@pytest.mark.parametrize("cut", [CUTS[0], CUTS[4], CUTS[8]], ids=str)
def test_words_of_64_bits(cut: Schedule) -> None:
    run(parameters(3, 2, 2, bits=62), 2, "interpret", cut, "mont64")


@pytest.mark.parametrize("target", ("interpret", "cpu"))
@pytest.mark.parametrize("bits", [28, 30])
@pytest.mark.parametrize("cut", [CUTS[1], CUTS[4], CUTS[8]], ids=str)
def test_signed_words(cut: Schedule, bits: int, target: str) -> None:
    """Sums of four digits that fit the word, and primes so close to 2^30 that they are reduced on the way."""
    run(parameters(7, 4, 2, bits=bits), 6, target, cut, "smont32")


def test_signed_words_in_triton() -> None:
    run(parameters(3, 2, 2, bits=30), 2, "triton-interpret", CUTS[5], "smont32")


@pytest.mark.parametrize("target", ("interpret", "cpu"))
@pytest.mark.parametrize("cut", [CUTS[1], CUTS[4], CUTS[8]], ids=str)
def test_doubles(cut: Schedule, target: str) -> None:
    """Primes so close to 2^50 that sums are reduced on the way; four digits."""
    run(parameters(7, 4, 2, bits=50), 6, target, cut, "fp64")


def test_doubles_in_triton() -> None:
    run(parameters(3, 2, 2, bits=50), 2, "triton-interpret", CUTS[5], "fp64")


@pytest.mark.parametrize("bits", [44, 48, 49])
def test_doubles_with_room(bits: int) -> None:
    """Sums of four digits that fit without reductions, and those that just do not."""
    run(parameters(7, 4, 2, bits=bits), 6, "interpret", CUTS[4], "fp64")
