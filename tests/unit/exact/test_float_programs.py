"""Whole programs on words of `fp64`: every target gives the residues of the reference."""

from __future__ import annotations

from itertools import islice

import pytest

from fhelium_ir.parameters import Parameters
from tests.unit.end_to_end.stages import Runner, compile_stages, module_text
from tests.unit.reference.textbook import primes_below

DEGREE = 16
TOP = tuple(islice(primes_below((1 << 50) - 1, DEGREE), 12))
MIDDLE = tuple(islice(primes_below(1 << 40, DEGREE), 8))

PRODUCTS = """func.func @f(%x : CIPHER, %y : CIPHER) -> LOWER {
  %p = ckks.mul %x, %y : CIPHER
  %q = ckks.relinearize %p : SQUARE
  %r = ckks.rotate %q {steps = 3} : SQUARED
  %c = ckks.conjugate %r : SQUARED
  %s = ckks.sub %q, %c : SQUARED
  %t = ckks.rescale %s : SQUARED
  return %t : LOWER
}
"""

PLAIN = """func.func @f(%x : CIPHER, %y : PLAINTEXT) -> LOWER {
  %k = arith.constant dense<[0.5, -1.0, 0.25, 1.0, 0.0, -0.125, 1.0, -1.0]> : tensor<8xf64>
  %e = ckks.encode %k : tensor<8xf64> -> PLAINTEXT
  %a = ckks.add_plain %x, %y : CIPHER, PLAINTEXT
  %p = ckks.mul_plain %a, %e : CIPHER, PLAINTEXT
  %n = ckks.negate %p : SQUARED
  %t = ckks.rescale %n : SQUARED
  return %t : LOWER
}
"""

CHAINS = {
    "one digit a limb": Parameters(DEGREE, (TOP[1], *MIDDLE[:2]), (TOP[0],), 3, 40, insecure=True),
    "digits of two and one": Parameters(
        DEGREE, (TOP[2], *MIDDLE[:2]), TOP[:2], 2, 40, insecure=True
    ),
    "five full limbs": Parameters(DEGREE, TOP[1:6], (TOP[0],), 5, 49, insecure=True),
    "one digit": Parameters(DEGREE, TOP[3:6], TOP[:3], 1, 49, insecure=True),
}


def program(parameters: Parameters, body: str) -> str:
    level, scale = len(parameters.q) - 1, parameters.scale_bits
    cipher = f"!ckks.ciphertext<level = {level}, scale = 2**{scale}"
    squared = f"!ckks.ciphertext<level = {level}, scale = 2**{2 * scale}"
    names = {
        "CIPHER": f"{cipher}>",
        "SQUARED": f"{squared}>",
        "SQUARE": f"{squared}, size = 3>",
        "LOWER": f"!ckks.ciphertext<level = {level - 1}, scale = 2**{2 * scale} / q{level}>",
        "PLAINTEXT": f"!ckks.plaintext<level = {level}, scale = 2**{scale}>",
    }
    for name, text in names.items():
        body = body.replace(name, text)
    text = module_text(parameters, body)
    return text.replace("insecure>}", "insecure>, rns.arithmetic = #rns.arithmetic<fp64>}")


@pytest.mark.parametrize("body", [PRODUCTS, PLAIN], ids=["products", "plain"])
@pytest.mark.parametrize("chain", CHAINS)
def test_programs(chain: str, body: str) -> None:
    parameters = CHAINS[chain]
    parameters.validate()
    stages = compile_stages(program(parameters, body))
    assert "fp64" in str(stages.lowered.attributes["rns.arithmetic"])
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
