"""The program stage against CKKS written from its definitions in `textbook`."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.program import digit_integers, divide_nearest, run_program
from tests.unit.reference import textbook
from tests.unit.reference.textbook import RELINEARIZE, KeyName, Poly, Scheme, parameters, schoolbook

NO_KEYS: Mapping[KeyName, NDArray[np.int64]] = {}


def no_encoding(values: object, scale: object, level: object) -> NDArray[np.int64]:
    raise AssertionError("nothing to encode")


def run(
    facts: Parameters,
    body: str,
    level: int,
    inputs: Mapping[str, list[Poly]],
    keys: Mapping[KeyName, NDArray[np.int64]] = NO_KEYS,
    result: str = "",
    plain: str = "",
) -> list[Poly]:
    """Runs a body that computes %r from %x, %y, ...; inputs are integer polynomials.

    Args:
        level: of the inputs.
        result: the result's facts if they are not those of %x.
        plain: the name of the argument that is a plaintext.
    """
    primes = facts.q[: level + 1]

    def type_of(name: str) -> str:
        if name == plain:
            return f"!ckks.plaintext<level = {level}, scale = 2**9>"
        return f"!ckks.ciphertext<level = {level}, scale = 2**9, size = {len(inputs[name])}>"

    types = {name: type_of(name) for name in inputs}
    out = f"!ckks.ciphertext<{result}>" if result else types["x"]
    arguments = ", ".join(f"%{name} : {type_}" for name, type_ in types.items())
    text = (
        f"module attributes {{{textbook.attribute(facts)}}} {{\n"
        f"func.func @f({arguments}) -> {out} {{\n"
        f"{body.replace('$x', types['x'])}\n"
        f"return %r : {out} }} }}"
    )
    tensors = {name: textbook.tensor(parts, primes) for name, parts in inputs.items()}
    (tensor,) = run_program(textbook.parsed(text), "f", tensors, keys, no_encoding)
    assert tensor.dtype == np.int64
    return textbook.integers(tensor, facts.q[: tensor.shape[1]])


FACTS = parameters(8, 3, 3, 20)
"""Three primes of q of 20 bits, one special prime, three digits."""


def sums(a: list[Poly], b: list[Poly], modulus: int, sign: int = 1) -> list[Poly]:
    return [
        [(x + sign * y) % modulus for x, y in zip(p, q, strict=True)]
        for p, q in zip(a, b, strict=True)
    ]


@pytest.mark.parametrize("size", [2, 3])
def test_additions_component_by_component(size: int) -> None:
    scheme, modulus = Scheme(FACTS), FACTS.modulus(1)
    x, y = ([scheme.uniform(modulus) for _ in range(size)] for _ in range(2))
    inputs = {"x": x, "y": y}
    zero: list[Poly] = [[0] * 8] * size
    assert run(FACTS, "%r = ckks.add %x, %y : $x", 1, inputs) == sums(x, y, modulus)
    assert run(FACTS, "%r = ckks.sub %x, %y : $x", 1, inputs) == sums(x, y, modulus, -1)
    assert run(FACTS, "%r = ckks.negate %x : $x", 1, {"x": x}) == sums(zero, x, modulus, -1)


@pytest.mark.parametrize("size", [2, 3])
def test_a_plaintext_meets_the_first_component_or_all(size: int) -> None:
    scheme, modulus = Scheme(FACTS), FACTS.modulus(2)
    x = [scheme.uniform(modulus) for _ in range(size)]
    p = scheme.uniform(modulus)
    inputs = {"x": x, "p": [p]}
    padded: list[Poly] = [p] + [[0] * 8] * (size - 1)
    types = "$x, !ckks.plaintext<level = 2, scale = 2**9>"

    def result_of(op: str, facts: str = "") -> list[Poly]:
        body = f"%r = ckks.{op} %x, %p : {types}"
        return run(FACTS, body, 2, inputs, result=facts, plain="p")

    assert result_of("add_plain") == sums(x, padded, modulus)
    assert result_of("sub_plain") == sums(x, padded, modulus, -1)
    products = [[c % modulus for c in schoolbook(part, p)] for part in x]
    assert result_of("mul_plain", f"level = 2, scale = 2**18, size = {size}") == products


def test_a_product_decrypts_to_the_product() -> None:
    scheme = Scheme(FACTS)
    m, n = scheme.small(1 << 20), scheme.small(1 << 20)
    inputs = {"x": scheme.encrypted(m, 2), "y": scheme.encrypted(n, 2)}
    result = run(
        FACTS, "%r = ckks.mul %x, %y : $x", 2, inputs, result="level = 2, scale = 2**18, size = 3"
    )
    assert len(result) == 3
    assert scheme.decrypted(result, 2) == schoolbook(m, n)


def test_mod_switch_keeps_small_messages() -> None:
    scheme = Scheme(FACTS)
    m = scheme.small(1 << 17)
    x = scheme.encrypted(m, 2, size=3)
    for levels, level in ((1, 1), (2, 0)):
        body = f"%r = ckks.mod_switch %x {{levels = {levels} : i64}} : $x"
        result = run(FACTS, body, 2, {"x": x}, result=f"level = {level}, scale = 2**9, size = 3")
        assert scheme.decrypted(result, level) == m
        assert result == [[c % FACTS.modulus(level) for c in part] for part in x]


@pytest.mark.parametrize("bits", [20, 32, 33, 50, 60])
def test_rescale_is_the_stated_formula(bits: int) -> None:
    facts = parameters(8, 3, 3, bits)
    scheme, modulus = Scheme(facts), facts.modulus(2)
    x = [scheme.uniform(modulus), [modulus - 1, 0, 1, modulus // 2, modulus // 2 + 1] + [7] * 3]
    result = run(
        facts, "%r = ckks.rescale %x : $x", 2, {"x": x}, result="level = 1, scale = 2**9 / q2"
    )
    assert result == [textbook.divided(part, facts.q[2:], facts.modulus(1)) for part in x]
    for part, divided in zip(x, result, strict=True):
        for before, after in zip(part, divided, strict=True):
            error = textbook.centre(before - facts.q[2] * after, modulus)
            assert abs(Fraction(error, facts.q[2])) < Fraction(1, 2) + Fraction(1, 2**31)


def test_rescale_of_minus_one_is_zero() -> None:
    # every residue is q - 1, in the coefficient and so in no evaluation domain: -1/q rounds to 0
    x: list[Poly] = [[FACTS.modulus(2) - 1] * 8] * 2
    result = run(
        FACTS, "%r = ckks.rescale %x : $x", 2, {"x": x}, result="level = 1, scale = 2**9 / q2"
    )
    assert result == [[0] * 8] * 2


@pytest.mark.parametrize("bits", [20, 33, 61])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_division_by_several_primes(bits: int, count: int) -> None:
    primes = textbook.primes_below(1 << bits, 8)
    p = [next(primes) for _ in range(count)]
    q, divisor = next(primes) * next(primes), prod(p)
    edges = [0, 1, divisor // 2, divisor // 2 + 1, divisor - 1, q * divisor - 1]
    rng = np.random.default_rng(bits)
    x = edges + [int(v) ** 9 % (q * divisor) for v in rng.integers(0, 2**62, 50)]
    result = divide_nearest(x, p, q)
    assert result == textbook.divided(x, p, q)
    for before, after in zip(x, result, strict=True):
        error = Fraction(textbook.centre(before - divisor * after, q * divisor), divisor)
        assert abs(error) < Fraction(1, 2) + Fraction(count, 2**31)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_digits_are_small_and_exact_modulo_their_primes(count: int) -> None:
    primes = FACTS.q[:count]
    product = prod(primes)
    d = [0, 1, product // 2, product // 2 + 1, product - 1, 12345, primes[0], 77**5]
    lifted = digit_integers(d, primes)
    assert lifted == textbook.digit(d, primes)
    assert [w % product for w in lifted] == [x % product for x in d]
    assert max(map(abs, lifted)) <= Fraction(count, 2) * product


def rounding_bound(facts: Parameters) -> int:
    """Bound on what ModDown of two components adds to a decryption with a ternary secret."""
    return facts.ring_degree // 2 + 1


def key_switch_cases() -> list[tuple[int, int, int]]:
    """(limbs of the chain, digits, level): 1, 2 and as many digits as limbs, at every level."""
    digits = {limbs: sorted({1, min(2, limbs), limbs}) for limbs in range(1, 6)}
    return [(n, d, level) for n in digits for d in digits[n] for level in range(n)]


@pytest.mark.parametrize("limbs, digits, level", key_switch_cases())
def test_relinearization(limbs: int, digits: int, level: int) -> None:
    facts = parameters(8, limbs, digits, 20)
    scheme, modulus = Scheme(facts, seed=limbs), facts.modulus(level)
    keys = {RELINEARIZE: scheme.key(RELINEARIZE)}
    x = [scheme.uniform(modulus) for _ in range(3)]
    body, result = "%r = ckks.relinearize %x : $x", f"level = {level}, scale = 2**9"
    y = run(facts, body, level, {"x": x}, keys, result)
    # bit for bit the formula, and what it decrypts to differs by the rounding only
    assert y == sums(x[:2], scheme.switched(x[2], level, RELINEARIZE), modulus)
    difference = sums([scheme.decrypted(x, level)], [scheme.decrypted(y, level)], modulus, -1)[0]
    assert max(abs(textbook.centre(c, modulus)) for c in difference) <= rounding_bound(facts)


@pytest.mark.parametrize("bits", [32, 33, 50, 60])
def test_relinearization_with_large_primes_and_noise(bits: int) -> None:
    facts = parameters(16, 3, 2, bits)
    scheme, modulus = Scheme(facts, noise=8), facts.modulus(2)
    keys = {RELINEARIZE: scheme.key(RELINEARIZE)}
    m = scheme.small(1 << 40)
    x = scheme.encrypted(m, 2, size=3)
    y = run(facts, "%r = ckks.relinearize %x : $x", 2, {"x": x}, keys, "level = 2, scale = 2**9")
    assert y == sums(x[:2], scheme.switched(x[2], 2, RELINEARIZE), modulus)
    error = max(abs(a - b) for a, b in zip(m, scheme.decrypted(y, 2), strict=True))
    assert 0 < error < 2 * 16 * 8 * 2 + rounding_bound(facts)


def rotated(scheme: Scheme, x: list[Poly], steps: int, level: int) -> list[Poly]:
    name: KeyName = ("galois", scheme.facts.galois(steps))
    body = f"%r = ckks.rotate %x {{steps = {steps} : i64}} : $x"
    return run(scheme.facts, body, level, {"x": x}, {name: scheme.key(name)})


@pytest.mark.parametrize("steps", [1, 2, 3, -1, 5, -7])
@pytest.mark.parametrize("level", [0, 2])
def test_rotation(steps: int, level: int) -> None:
    scheme, modulus = Scheme(FACTS), FACTS.modulus(level)
    m = scheme.small(1 << 17)
    x = scheme.encrypted(m, level)
    y = rotated(scheme, x, steps, level)
    element = pow(5, steps % 4, 16)
    moved = [textbook.substituted(part, element) for part in x]
    switched = scheme.switched([c % modulus for c in moved[1]], level, ("galois", element))
    assert y == sums([moved[0], [0] * 8], switched, modulus)
    # slot j + steps moves to slot j
    slots = textbook.slots_of(scheme.decrypted(y, level))
    assert np.abs(slots - np.roll(textbook.slots_of(m), -steps)).max() < 64


@pytest.mark.parametrize("first, second", [(1, 1), (1, 3), (2, 1), (2, 3), (-1, 1), (-1, 3)])
def test_rotations_compose(first: int, second: int) -> None:
    scheme = Scheme(FACTS)
    m = scheme.small(1 << 30)
    x = scheme.encrypted(m, 2)
    twice = scheme.decrypted(rotated(scheme, rotated(scheme, x, first, 2), second, 2), 2)
    once = textbook.substituted(m, pow(5, (first + second) % 4, 16))
    assert max(abs(a - b) for a, b in zip(twice, once, strict=True)) <= 2 * rounding_bound(FACTS)


def test_rotation_by_minus_one_uses_element_13() -> None:
    x: list[Poly] = [[1] * 8, [2] * 8]
    with pytest.raises(FheliumError, match="key 'galois 13' is missing") as caught:
        run(FACTS, "%r = ckks.rotate %x {steps = -1 : i64} : $x", 2, {"x": x})
    assert caught.value.location == "test.mlir:3:6"


@pytest.mark.parametrize("steps", [0, 4, -8])
def test_a_whole_turn_needs_no_key(steps: int) -> None:
    x: list[Poly] = [[1] * 8, [2] * 8]
    assert run(FACTS, f"%r = ckks.rotate %x {{steps = {steps} : i64}} : $x", 2, {"x": x}) == x


def test_conjugation_twice_is_the_identity() -> None:
    scheme = Scheme(FACTS)
    keys: dict[KeyName, NDArray[np.int64]] = {("galois", 15): scheme.key(("galois", 15))}
    m = scheme.small(1 << 30)
    body = "%r = ckks.conjugate %x : $x"
    once = run(FACTS, body, 2, {"x": scheme.encrypted(m, 2)}, keys)
    twice = run(FACTS, body, 2, {"x": once}, keys)
    slots = textbook.slots_of(scheme.decrypted(once, 2))
    assert np.abs(slots - textbook.slots_of(m).conj()).max() < 64
    decrypted = scheme.decrypted(twice, 2)
    assert max(abs(a - b) for a, b in zip(m, decrypted, strict=True)) <= 2 * rounding_bound(FACTS)


def test_a_missing_relinearization_key_is_named() -> None:
    x: list[Poly] = [[1] * 8] * 3
    with pytest.raises(FheliumError, match="key 'relinearize' is missing"):
        run(FACTS, "%r = ckks.relinearize %x : $x", 1, {"x": x}, result="level = 1, scale = 2**9")


def test_a_malformed_key_is_refused() -> None:
    x: list[Poly] = [[1] * 8] * 3
    key = Scheme(FACTS).key(RELINEARIZE)
    body, result = "%r = ckks.relinearize %x : $x", "level = 1, scale = 2**9"
    with pytest.raises(FheliumError, match=r"key 'relinearize' has shape \[2, 2, 4, 8\]"):
        run(FACTS, body, 1, {"x": x}, {RELINEARIZE: key[:2]}, result)
    key[0, 1, 3, 5] = FACTS.p[0]
    with pytest.raises(FheliumError, match=f"key 'relinearize' is not reduced modulo {FACTS.p[0]}"):
        run(FACTS, body, 1, {"x": x}, {RELINEARIZE: key}, result)


def identity_module(type_: str) -> str:
    return (
        f"module attributes {{{textbook.attribute(FACTS)}}} {{\n"
        f"func.func @f(%x : {type_}) -> {type_} {{ return %x : {type_} }} }}"
    )


def test_inputs_are_checked() -> None:
    module = textbook.parsed(identity_module("!ckks.ciphertext<level = 1, scale = 2**9>"))
    good = textbook.tensor([[1] * 8, [2] * 8], FACTS.q[:2])
    (same,) = run_program(module, "f", {"x": good.astype(np.int32)}, NO_KEYS, no_encoding)
    assert (same == good).all() and same.dtype == np.int64
    high, real = good.copy(), good.astype(np.float64)
    high[0, 1, 3] = FACTS.q[1]
    for inputs, message in (
        ({"y": good}, "input 'x' is missing"),
        ({"x": good[:, :1]}, r"input 'x' has shape \[2, 1, 8\], expected \[2, 2, 8\]"),
        ({"x": -good}, f"input 'x' is not reduced modulo {FACTS.q[0]}"),
        ({"x": high}, f"input 'x' is not reduced modulo {FACTS.q[1]}"),
        ({"x": real}, "input 'x' holds float64"),
    ):
        with pytest.raises(FheliumError, match=message):
            run_program(module, "f", inputs, NO_KEYS, no_encoding)


def test_a_coefficient_domain_interface_is_not_transformed() -> None:
    type_ = "!ckks.ciphertext<level = 1, scale = 2**9, domain = coefficient>"
    x = np.arange(32).reshape(2, 2, 8)
    (same,) = run_program(
        textbook.parsed(identity_module(type_)),
        "f",
        {"x": np.stack([x[:, 0], x[:, 0]], axis=1)},
        NO_KEYS,
        no_encoding,
    )
    assert (same[:, 0] == x[:, 0]).all() and (same[:, 1] == x[:, 0]).all()


def test_absent_levels_and_unknown_ops_are_refused() -> None:
    module = textbook.parsed(identity_module("!ckks.ciphertext"))
    with pytest.raises(FheliumError, match="of argument 'x' has absent facts"):
        run_program(module, "f", {"x": np.zeros((2, 1, 8))}, NO_KEYS, no_encoding)
    with pytest.raises(FheliumError, match=r"cannot run 'test\.op'") as caught:
        run(FACTS, '%r = "test.op"() : () -> $x', 1, {"x": [[1] * 8] * 2})
    assert caught.value.location == "test.mlir:3:6"


def test_constants_are_encoded_by_the_callable() -> None:
    calls: list[tuple[list[float], Fraction, int]] = []
    coefficients = [5, 0, -1, 0, 0, 0, 0, 2]

    def encode(values: NDArray[np.float64], scale: Fraction, level: int) -> NDArray[np.int64]:
        calls.append((values.tolist(), scale, level))
        return textbook.tensor([coefficients], FACTS.q[: level + 1])

    plain = "!ckks.plaintext<level = 1, scale = 2**9 * 3 / q2>"
    type_ = "!ckks.ciphertext<level = 1, scale = 2**9 * 3 / q2>"
    text = (
        f"module attributes {{{textbook.attribute(FACTS)}}} {{\n"
        f"func.func @f(%x : {type_}) -> {type_} {{\n"
        "%c = arith.constant dense<[1.5, -2.0]> : tensor<2xf64>\n"
        f"%e = ckks.encode %c : tensor<2xf64> -> {plain}\n"
        f"%r = ckks.add_plain %x, %e : {type_}, {plain}\n"
        f"return %r : {type_} }} }}"
    )
    modulus = FACTS.modulus(1)
    x = [Scheme(FACTS).uniform(modulus) for _ in range(2)]
    tensor = textbook.tensor(x, FACTS.q[:2])
    (result,) = run_program(textbook.parsed(text), "f", {"x": tensor}, NO_KEYS, encode)
    assert calls == [([1.5, -2.0], Fraction(2**9 * 3, FACTS.q[2]), 1)]
    expected = sums(x, [coefficients, [0] * 8], modulus)
    assert textbook.integers(result, FACTS.q[:2]) == expected
