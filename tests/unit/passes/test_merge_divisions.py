"""merge-divisions: how many transforms are left, and that it changes values by roundings only."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.parameters import Parameters
from fhelium_ir.passes.ckks_check import CkksCheck
from fhelium_ir.reference.blocks import KeyName
from fhelium_ir.reference.program import run_program
from fhelium_ir.universe import make_context
from tests.unit.reference import textbook

LEVELS, SPECIAL = 4, 2
CHAIN = generate(64, (34, *(25,) * LEVELS), (34,) * SPECIAL, 3, 25, insecure=True)
TOP = f"!ckks.ciphertext<level = {LEVELS}, scale = 2**25>"
PASSES = "unroll-loops,ckks-expand,ckks-manage,ckks-check"


def lowered(function: str, merge: str) -> ModuleOp:
    """The polynomial stage of a function, after hoisting."""
    module = textbook.parsed(f"module attributes {{{textbook.attribute(CHAIN)}}} {{ {function} }}")
    text = f"{PASSES},merge-divisions{{{merge}}},convert-ckks-to-rns,place-domains,hoist-rotations"
    Pipeline.parse(text).run(make_context(), module)
    return module


def transforms(module: ModuleOp) -> tuple[int, int]:
    """Residue polynomials that are transformed back, and forward."""
    counts = {ntt.InverseOp: 0, ntt.ForwardOp: 0}
    for op in module.walk():
        if isinstance(op, ntt.InverseOp | ntt.ForwardOp):
            assert isinstance(op.result.type, rns.PolyType)
            facts = op.result.type.data
            counts[type(op)] += len(facts.rows()) * facts.components
    return counts[ntt.InverseOp], counts[ntt.ForwardOp]


def divisions(module: ModuleOp) -> int:
    return sum(
        isinstance(op, rns.BaseConvertOp) and op.lift.data == "canonical" for op in module.walk()
    )


def saved(function: str) -> tuple[int, int]:
    """Transforms that the pass saves, back and forward."""
    before = transforms(lowered(function, "enable=false"))
    after = transforms(lowered(function, "enable=true"))
    return before[0] - after[0], before[1] - after[1]


def test_a_merged_rescale_transforms_a_ciphertext_less() -> None:
    """Division by P and by q_l transform 2(l+1) + 2l limbs forward, that by P * q_l 2l; as many back."""
    function = f"""func.func @f(%x : {TOP}) -> !ckks.ciphertext<level = 3, scale = 2**50 / q4> {{
      %m = ckks.mul %x, %x : {TOP}
      %r = ckks.relinearize %m : !ckks.ciphertext<level = 4, scale = 2**50, size = 3>
      %s = ckks.rescale %r : !ckks.ciphertext<level = 4, scale = 2**50>
      return %s : !ckks.ciphertext<level = 3, scale = 2**50 / q4>
    }}"""
    assert saved(function) == (0, 2 * (LEVELS + 1))


def sum_of_products(count: int, step: int = 1) -> str:
    lines: list[str] = []
    for k in range(count):
        lines.append(f"%c{k} = arith.constant dense<[0.{k + 1}, 0.25]> : tensor<2xf64>")
        lines.append(f"%p{k} = ckks.encode %c{k} : tensor<2xf64> -> !ckks.plaintext")
        lines.append(f"%x{k} = ckks.rotate %x {{steps = {k * step}}} : !ckks.ciphertext")
        lines.append(f"%t{k} = ckks.mul_plain %x{k}, %p{k} : !ckks.ciphertext, !ckks.plaintext")
        if k:
            left = "%t0" if k == 1 else f"%s{k - 1}"
            lines.append(f"%s{k} = ckks.add {left}, %t{k} : !ckks.ciphertext")
    body = "\n".join(lines)
    return f"""func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {{
      {body}
      return %s{count - 1} : !ckks.ciphertext
    }}"""


def test_a_managed_sum_of_rotated_products_is_divided_once() -> None:
    """Seven key switches and a rescale: eight divisions without the pass, one with it."""
    function = sum_of_products(8)
    assert divisions(lowered(function, "enable=false")) == 8
    assert divisions(lowered(function, "enable=true")) == 1
    # At level 1, where the function starts: six divisions by P, 2K limbs back and 2(l+1) forward; the seventh is
    # merged with the rescale.
    back, forward = saved(function)
    assert (back, forward) == (6 * 2 * SPECIAL, 7 * 2 * 2)


def test_a_linear_transform_divides_inner_sums() -> None:
    """16 diagonals, baby step 8: the seven rotations of the operand are not divided; the inner sum that is rotated is,
    and the whole with the rescale."""
    rows = (", ".join(f"0.{1 + i * j % 7}" for j in range(16)) for i in range(16))
    matrix = "], [".join(rows)
    function = f"""func.func @f(%x : !ckks.ciphertext {{ckks.slots = 16 : i64}}) -> !ckks.ciphertext {{
      %m = arith.constant dense<[[{matrix}]]> : tensor<16x16xf64>
      %r = ckks.linear_transform %x, %m : !ckks.ciphertext, tensor<16x16xf64>
      return %r : !ckks.ciphertext
    }}"""
    assert divisions(lowered(function, "enable=false")) == 9
    assert divisions(lowered(function, "enable=true")) == 2


def values(body: str, seed: int, result: str, chain: Parameters = CHAIN) -> list[list[int]]:
    """The polynomials of %r, computed from a random %x of size 3 and %y of size 2 by the program stage."""
    generator = np.random.default_rng(seed)
    x = np.stack([generator.integers(0, q, (3, 64)) for q in chain.q], axis=1)
    y = np.stack([generator.integers(0, q, (2, 64)) for q in chain.q], axis=1)
    facts = f"level = {chain.top_level}, scale = 2**50"
    text = f"""module attributes {{{textbook.attribute(chain)}}} {{
      func.func @f(%x : !ckks.ciphertext<{facts}, size = 3>, %y : !ckks.ciphertext<{facts}>)
          -> !ckks.ciphertext<{result}> {{
        {
        body.replace("$x", f"!ckks.ciphertext<{facts}, size = 3>")
        .replace("$y", f"!ckks.ciphertext<{facts}>")
        .replace("$e", f"!ckks.ciphertext<{facts}, extended>")
    }
        return %r : !ckks.ciphertext<{result}>
      }} }}"""
    keys = ClientKeys(Client(chain, 7))
    named: dict[KeyName, NDArray[np.int64]] = {
        ("relinearize", None): keys.evaluation_key("relinearize", None).numpy().astype(np.int64),
        ("galois", 5): keys.evaluation_key("galois", 5).numpy().astype(np.int64),
    }
    (found,) = run_program(textbook.parsed(text), "f", {"x": x, "y": y}, named, no_encoding)
    return textbook.integers(found, chain.q[: found.shape[1]])


def no_encoding(values: object, scale: object, level: object) -> NDArray[np.int64]:
    raise AssertionError("nothing to encode")


HERE = f"level = {LEVELS}, scale = 2**50"
BELOW = f"level = {LEVELS - 1}, scale = 2**50 / q{LEVELS}"


@pytest.mark.parametrize(
    "extended, plain",
    [
        ("%e = ckks.relinearize %x {extended} : $x", "%r = ckks.relinearize %x : $x"),
        ("%e = ckks.rotate %y {steps = 1, extended} : $y", "%r = ckks.rotate %y {steps = 1} : $y"),
        ("%e = ckks.extend %y : $y", "%r = ckks.negate %y : $y"),
    ],
)
def test_dividing_at_once_is_what_the_key_switch_does(extended: str, plain: str) -> None:
    found = values(f"{extended}\n%r = ckks.mod_down %e : $e", 1, HERE)
    expected = values(plain, 1, HERE)
    if "negate" in plain:
        modulus = CHAIN.modulus(LEVELS)
        expected = [[-c % modulus for c in part] for part in expected]
    assert found == expected


def test_a_rescale_of_what_was_extended_only_is_the_rescale() -> None:
    found = values("%e = ckks.extend %y : $y\n%r = ckks.rescale %e : $e", 2, BELOW)
    assert found == values("%r = ckks.rescale %y : $y", 2, BELOW)


TINY = Parameters(64, (769, 641, 257), (1153,), 3, 5, insecure=True)
"""Primes so small that two roundings would often differ from one if q_l were even."""


def test_rounding_once_is_rounding_twice() -> None:
    """q_l is odd, so that the bounds between quotients are bounds between the integers rounded first."""
    below = "level = 1, scale = 2**50 / q2"
    for seed in range(8):
        extended = "%e = ckks.relinearize %x {extended} : $x\n%r = ckks.rescale %e : $e"
        divided = "%m = ckks.relinearize %x : $x\n%r = ckks.rescale %m : $y"
        assert values(extended, seed, below, TINY) == values(divided, seed, below, TINY)


def test_a_sum_is_rounded_once() -> None:
    """Coefficients differ by at most 1 from those of the sum of two quotients, and many do."""
    here, changed = "level = 2, scale = 2**50", 0
    extended = """%a = ckks.relinearize %x {extended} : $x
      %b = ckks.rotate %y {steps = 1, extended} : $y
      %s = ckks.add %a, %b : $e
      %r = ckks.mod_down %s : $e"""
    divided = """%a = ckks.relinearize %x : $x
      %b = ckks.rotate %y {steps = 1} : $y
      %r = ckks.add %a, %b : $y"""
    found, expected = values(extended, 1, here, TINY), values(divided, 1, here, TINY)
    for part, other in zip(found, expected, strict=True):
        modulus = TINY.modulus(2)
        differences = [textbook.centre(a - b, modulus) for a, b in zip(part, other, strict=True)]
        assert set(differences) <= {-1, 0, 1}
        changed += sum(map(abs, differences))
    assert changed > 8


def test_extended_values_stay_inside() -> None:
    text = f"""module attributes {{{textbook.attribute(CHAIN)}}} {{
      func.func @f(%x : {TOP}) -> !ckks.ciphertext<level = 4, scale = 2**25, extended> {{
        %r = ckks.rotate %x {{steps = 1, extended}} : {TOP}
        return %r : !ckks.ciphertext<level = 4, scale = 2**25, extended>
      }} }}"""
    with pytest.raises(
        FheliumError, match=r"output 0 .* of @f is extended: only a ciphertext divided by P"
    ):
        CkksCheck().apply(make_context(), textbook.parsed(text))


def test_extended_plaintexts_have_the_residues_of_their_centred_integers() -> None:
    client = Client(CHAIN, 1)
    wide = client.encode_plaintext([0.5, -0.25], Fraction(1 << 25), 1, extended=True).numpy()
    narrow = client.encode_plaintext([0.5, -0.25], Fraction(1 << 25), 1).numpy()
    assert wide.shape == (1, 2 + SPECIAL, 64)
    np.testing.assert_array_equal(wide[:, :2], narrow)
    (polynomial,) = textbook.integers(narrow.astype(np.int64), CHAIN.q[:2])
    modulus = CHAIN.modulus(1)
    for row, p in zip(wide[0, 2:], CHAIN.p, strict=True):
        centred = [textbook.centre(c, modulus) % p for c in polynomial]
        assert row.tolist() == textbook.evaluated(centred, p)
