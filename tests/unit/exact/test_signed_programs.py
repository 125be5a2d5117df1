"""Whole programs on words of `smont32`: every target gives the residues of the reference."""

from __future__ import annotations

from itertools import islice

import pytest

from fhelium_ir.parameters import Parameters
from tests.unit.end_to_end.stages import Runner, compile_stages
from tests.unit.exact.test_float_programs import DEGREE, PLAIN, PRODUCTS, program
from tests.unit.reference.textbook import primes_below

TOP = tuple(islice(primes_below((1 << 30) - 1, DEGREE), 12))
LOW = tuple(islice(primes_below(1 << 28, DEGREE), 8))
SMALL = tuple(islice(primes_below(1 << 20, DEGREE), 4))

CHAINS = {
    "30 bits, digits of two": Parameters(DEGREE, TOP[2:6], TOP[:2], 2, 29, insecure=True),
    "28 bits, digits of two and one": Parameters(DEGREE, LOW[2:5], LOW[:2], 2, 27, insecure=True),
    "20 and 30 bits": Parameters(
        DEGREE, (TOP[2], SMALL[0], TOP[3], SMALL[1]), TOP[:2], 2, 25, insecure=True
    ),
}


CASES = [*((chain, PRODUCTS) for chain in CHAINS), ("30 bits, digits of two", PLAIN)]


@pytest.mark.parametrize(("chain", "body"), CASES, ids=[*CHAINS, "plain"])
def test_programs(chain: str, body: str) -> None:
    parameters = CHAINS[chain]
    parameters.validate()
    text = program(parameters, body).replace("arithmetic<fp64>", "arithmetic<smont32>")
    stages = compile_stages(text)
    assert "smont32" in str(stages.lowered.attributes["rns.arithmetic"])
    runner = Runner.of(stages)
    for kind, seed in (("random", 1), ("largest", 0)):
        inputs = runner.residues(kind, seed)
        (expected,) = runner.program(inputs)
        assert (runner.polynomial("plan-memory", inputs)[0] == expected).all()
        # The checked words of `zq`, and those of the machine.
        (found,) = runner.executable("interpret", inputs, "convert-regions-to-kernels")
        assert (found == expected).all()
        (found,) = runner.executable("cpu", inputs)
        assert (found == expected).all()
