"""Base conversions whose programs compute two residue polynomials at once: key switches, against integers."""

from __future__ import annotations

from math import ceil

import pytest
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.dialects import host, kernel
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.lowering.triton.kernels import TritonKernels
from tests.unit.exact.test_key_products import parameters, run

CUTS = tuple(
    Schedule(kernels, 1, columns, 1, converted_rows=2)
    for kernels, columns in (
        (((3, 3),), 1),
        (((3,), (3,)), 4),
        (((2,), (2, 2)), 2),
        (((2, 2), (2,)), 4),
        (((2,), (2,), (2,)), 16),
    )
)
"""One to three kernels, the first with and without an exchange."""


def pair_counts(module: ModuleOp) -> list[int]:
    """How many pairs of program rows each launch is given whose kernel has them, in order."""
    paired = {
        op.sym_name.data
        for op in module.walk()
        if isinstance(op, kernel.FuncOp)
        and any(argument.name_hint == "pairs" for argument in op.body.block.args)
    }
    return [
        op.grid_shape[-1]
        for op in module.walk()
        if isinstance(op, host.LaunchOp) and op.callee.string_value() in paired
    ]


def expected_pairs(limbs: int, digits: int, special: int, level: int) -> list[int]:
    """Of a key switch: of the digits, whose limbs are converted to all others, and of its division by the special
    primes, of two components."""
    size = ceil(limbs / digits)
    lengths = [min(size, level + 1 - start) for start in range(0, level + 1, size)]
    every = level + 1 + special
    return [sum(ceil((every - n) / 2) for n in lengths), 2 * ceil((level + 1) / 2)]


@pytest.mark.parametrize("target", ("interpret", "cpu"))
@pytest.mark.parametrize(("arithmetic", "bits"), [("fp64", 50), ("smont32", 30)])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_every_cut(cut: Schedule, arithmetic: str, bits: int, target: str) -> None:
    """Digits of two limbs but the last, and odd numbers of target rows: one of each digit is left over."""
    module = run(parameters(7, 4, 2, bits), 6, target, cut, arithmetic)
    first, second = expected_pairs(7, 4, 2, 6)
    # In a single kernel digits are converted one by one, in its loop.
    expected = [second] if len(cut.kernels) == 1 else [first, second]
    assert pair_counts(module) == 2 * expected
    assert (first, second) == (16, 8)


@pytest.mark.parametrize(
    ("limbs", "digits", "special", "level"),
    [(3, 1, 3, 2), (3, 1, 3, 0), (4, 2, 2, 2), (4, 2, 3, 1), (4, 4, 2, 3), (6, 2, 3, 3)],
)
def test_every_shape(limbs: int, digits: int, special: int, level: int) -> None:
    """Even and odd digits, and where a level cuts them short."""
    facts = parameters(limbs, digits, special, 49)
    module = run(facts, level, "interpret", CUTS[2], "fp64")
    assert pair_counts(module) == 2 * expected_pairs(limbs, digits, special, level)


def test_triton() -> None:
    module = run(parameters(3, 2, 2, 50), 2, "triton-interpret", CUTS[2], "fp64")
    assert pair_counts(module) == 2 * expected_pairs(3, 2, 2, 2)


def test_one_special_prime() -> None:
    """The division then rounds in each program, which has one row."""
    module = run(parameters(4, 4, 1, 50), 3, "interpret", CUTS[2], "fp64")
    assert pair_counts(module) == [expected_pairs(4, 4, 1, 3)[0]] * 2


@pytest.mark.parametrize("arch", [80, 90, 100])
def test_compiled(arch: int) -> None:
    """For a GPU that need not be there."""
    module = run(parameters(3, 2, 2, 50), 2, "interpret", CUTS[1], "fp64")
    kernels = [op.clone() for op in module.ops if isinstance(op, kernel.FuncOp)]
    paired = [op for op in kernels if "pairs" in {a.name_hint for a in op.body.block.args}]
    assert paired
    compiled = TritonKernels(ModuleOp(list(paired)), interpret=False).compile_for(
        ("cuda", arch, 32)
    )
    for found in compiled.values():
        text = found.asm["ptx"]
        assert isinstance(text, str) and f".target sm_{arch}" in text
