"""Whole programs with an arithmetic for each group of primes: every target gives the residues of the reference."""

from __future__ import annotations

from itertools import islice

import pytest

from fhelium_ir.parameters import Parameters
from tests.unit.end_to_end.stages import KERNEL_PASSES, Runner, compile_stages
from tests.unit.exact.test_float_programs import PLAIN, PRODUCTS, program
from tests.unit.reference.textbook import primes_below

DEGREE = 16
WIDE = tuple(islice(primes_below(1 << 60, DEGREE), 6))[::-1]
"""Six primes of 60 bits, the smallest one first."""
NARROW = tuple(islice(primes_below(1 << 45, DEGREE), 8))
TOP = tuple(islice(primes_below((1 << 50) - 1, DEGREE), 3))

CHAINS = {
    # One digit a limb; the merged division by q3 and p reads both groups.
    "wide ends": Parameters(DEGREE, (WIDE[0], *NARROW[:3]), WIDE[1:2], 4, 45, insecure=True),
    # Digits and p have several runs of each group.
    "by turns": Parameters(
        DEGREE,
        (NARROW[0], WIDE[0], NARROW[1], WIDE[3], NARROW[2]),
        (NARROW[5], WIDE[1], WIDE[2]),
        2,
        45,
        insecure=True,
    ),
    # Results in doubles whose digits are all of the other group.
    "narrow q, wide p": Parameters(DEGREE, NARROW[:3], WIDE[1:4], 1, 45, insecure=True),
    "wide q, narrow p": Parameters(DEGREE, WIDE[:3], TOP, 2, 45, insecure=True),
}


def mixed(chain: str, body: str) -> str:
    return program(CHAINS[chain], body).replace("<fp64>", "<mixed64>")


def check(text: str, device: str, *targets: str) -> list[str]:
    """Compares all stages and targets with the program stage; returns the names of the kernels."""
    stages = compile_stages(text, device)
    runner = Runner.of(stages)
    for kind, seed in (("random", 1), ("largest", 0)):
        inputs = runner.residues(kind, seed)
        (expected,) = runner.program(inputs)
        assert (runner.polynomial("plan-memory", inputs)[0] == expected).all()
        for target in targets:
            # Under the interpreter the checked words of `zq`.
            after = KERNEL_PASSES[0 if target == "interpret" else -1]
            (found,) = runner.executable(target, inputs, after)
            assert (found == expected).all(), target
    return [str(op.properties["sym_name"]) for op in stages.lowered.ops if op.name == "kernel.func"]


@pytest.mark.parametrize("chain", ["wide ends", "wide q, narrow p"])
def test_products(chain: str) -> None:
    """Key switches, rotations, sums that are divided once, a division by a prime and P at once."""
    check(mixed(chain, PRODUCTS), "cpu", "interpret", "cpu")


def test_key_products_inside_of_transforms() -> None:
    kernels = check(mixed("narrow q, wide p", PRODUCTS), "gpu", "interpret")
    assert any("key_product" in name for name in kernels)
    assert any("quotients" in name for name in kernels)


def test_plaintexts_under_triton() -> None:
    check(mixed("by turns", PLAIN), "gpu", "triton-interpret")


ROWS = '{"name": "rows", "arithmetics": ["mont64"], "register_stages": 2, "exchange": false, "lanes": 4, "rows": 4, "warps": 1}'  # noqa: E501


def test_rows_that_share_a_program(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Rows with different numbers of source limbs side by side; transforms of several kernels."""
    device = tmp_path_factory.mktemp("device") / "rows.json"
    device.write_text(ROWS, encoding="utf-8")
    check(mixed("by turns", PRODUCTS), str(device), "interpret")
