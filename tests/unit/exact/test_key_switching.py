"""Key switching of every shape: compiled kernels, the exact reference and the secret key agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import ceil, prod

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from fhelium_ir.client.client import Client
from fhelium_ir.client.encryption import decrypt
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import resource
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.program import run_program
from fhelium_ir.universe import DEFAULT_PIPELINE, PIPELINES, make_context
from tests.unit.exact.machine import BEYOND_60_BITS, NoKeys
from tests.unit.reference.textbook import (
    RELINEARIZE,
    KeyName,
    attribute,
    centre,
    parsed,
    primes_below,
    substituted,
)

DEGREE = 8
WIDE = [q for q, _ in zip(primes_below((1 << 62) - 1, DEGREE), range(8), strict=False)]
SCALE = 2**18
"""Messages are far above what a key switch adds, and far below the smallest modulus of these tests."""

NOISE = 1 << 12
"""More than what one key switch adds to any coefficient at this ring degree."""


@dataclass(frozen=True)
class Compiled:
    """A program of one function at its program stage, and fully lowered for a target."""

    program_stage: ModuleOp
    lowered: ModuleOp
    target: str

    @property
    def required_keys(self) -> tuple[KeyName, ...]:
        """Kind and Galois element of every declared key."""
        found: list[KeyName] = []
        for op in self.lowered.walk():
            if isinstance(op, resource.DeclareOp) and op.kind.data.endswith("_key"):
                element = op.parameters.data.get("galois")
                number = element.value.data if isinstance(element, IntegerAttr) else None
                found.append(RELINEARIZE if number is None else ("galois", number))
        return tuple(found)


def compiled_text(text: str, target: str) -> Compiled:
    """The default pipeline, with schedules for a CPU where the target is one."""
    passes = PIPELINES[DEFAULT_PIPELINE]
    device = {"cpu": "cpu", "triton-interpret": "interpreter"}.get(target, "gpu")
    specs = [
        f'{name}{{device="{device}"}}' if name == "tune-ntt-schedules" else name for name in passes
    ]
    split, module = passes.index("convert-ckks-to-rns"), parsed(text)
    Pipeline("program", tuple(specs[:split])).run(make_context(), module)
    program_stage = module.clone()
    Pipeline("rest", tuple(specs[split:])).run(make_context(), module, verify_each=False)
    return Compiled(program_stage, module, target)


def compiled(
    facts: Parameters, inputs: Sequence[str], output: str, body: str, target: str
) -> Compiled:
    """A program of the program stage on %x0, %x1, ..., whose result is %r."""
    arguments = ", ".join(f"%x{index} : {type_}" for index, type_ in enumerate(inputs))
    return compiled_text(
        f"module attributes {{{attribute(facts)}}} {{\nfunc.func @f({arguments}) -> {output} {{\n"
        f"{body}\nreturn %r : {output}\n}} }}",
        target,
    )


def both(program: Compiled, client: Client, inputs: Sequence[torch.Tensor]) -> torch.Tensor:
    """The compiled result, after comparing it with the reference bit for bit."""
    source = ClientKeys(client) if program.required_keys else NoKeys()
    (result,) = link(program.lowered, source, program.target).run(*inputs)
    keys: dict[KeyName, NDArray[np.int64]] = {}
    for kind, element in program.required_keys:
        keys[kind, element] = (
            ClientKeys(client).evaluation_key(kind, element).numpy().astype(np.int64)
        )
    named = {f"x{index}": tensor.numpy() for index, tensor in enumerate(inputs)}
    (expected,) = run_program(program.program_stage, "f", named, keys, no_encoding)
    assert np.array_equal(result.numpy(), expected)
    return result


def no_encoding(values: object, scale: object, level: object) -> NDArray[np.int64]:
    raise AssertionError("nothing to encode")


def distance(a: Sequence[int], b: Sequence[int], modulus: int) -> int:
    """The largest coefficient of a - b modulo the modulus, centred."""
    return max(abs(centre(x - y, modulus)) for x, y in zip(a, b, strict=True))


def ciphertext(level: int, size: int = 2) -> str:
    return f"!ckks.ciphertext<level = {level}, scale = 2**18, size = {size}>"


def shapes() -> list[tuple[int, int, int]]:
    """(limbs, digits, special primes): 1 to 5 limbs in one digit, in two, in one for each limb."""
    found: list[tuple[int, int, int]] = []
    for limbs in range(1, 6):
        for digits in sorted({1, min(2, limbs), limbs}):
            fewest = ceil(ceil(limbs / digits) / 2)
            counts = {fewest, 3} if limbs in (1, 3) else {fewest}
            found += [(limbs, digits, count) for count in sorted(counts)]
    return found


@lru_cache
def parameters(limbs: int, digits: int, special: int, bits: int = 30) -> Parameters:
    """Limbs of one size, with special primes of twice the size or of the same."""
    q = [q for q, _ in zip(primes_below((1 << bits) - 1, DEGREE), range(limbs), strict=False)]
    facts = Parameters(DEGREE, tuple(q), tuple(WIDE[:special]), digits, 18, insecure=True)
    facts.validate()
    return facts


@pytest.mark.parametrize(("limbs", "digits", "special"), shapes())
def test_relinearization_and_rotation(limbs: int, digits: int, special: int) -> None:
    facts = parameters(limbs, digits, special)
    client, level = Client(facts, seed=limbs), limbs - 1
    low = np.random.default_rng(limbs)
    three = torch.as_tensor(
        np.stack([[low.integers(0, q, DEGREE) for q in facts.q] for _ in range(3)])
    )
    body = (
        f"%l = ckks.relinearize %x0 : {ciphertext(level, 3)}\n"
        f"%r = ckks.rotate %l {{steps = 1}} : {ciphertext(level)}"
    )
    program = compiled(facts, [ciphertext(level, 3)], ciphertext(level), body, "interpret")
    assert program.required_keys == (("relinearize", None), ("galois", 5))
    assert facts.digit_count() == digits or limbs == 5
    result = both(program, client, [three])
    # Random residues are a ciphertext of a random message: nothing is small but the error.
    message = decrypt(client.secret, three)
    expected = substituted(message, 5)
    assert distance(decrypt(client.secret, result), expected, prod(facts.q)) < NOISE


@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
@pytest.mark.parametrize(("limbs", "digits", "special"), [(5, 2, 2), (3, 3, 1)])
def test_other_targets(limbs: int, digits: int, special: int, target: str) -> None:
    facts = parameters(limbs, digits, special)
    client, level = Client(facts, seed=limbs), limbs - 1
    body = f"%r = ckks.conjugate %x0 : {ciphertext(level)}"
    program = compiled(facts, [ciphertext(level)], ciphertext(level), body, target)
    x = client.encrypt_vector(np.array([1, -1j, 0.5, -0.25]), SCALE, level)
    result = both(program, client, [x])
    error = np.abs(client.decrypt_vector(result, SCALE) - np.array([1, 1j, 0.5, -0.25])).max()
    assert error < 2.0**-8


@pytest.mark.parametrize(
    ("digits", "level"), [(1, 0), (1, 3), (2, 0), (2, 2), (2, 3), (5, 0), (5, 1), (5, 3)]
)
def test_keys_work_at_every_level(digits: int, level: int) -> None:
    """Digits that the level cuts short or takes away; a key of the whole chain."""
    facts = parameters(5, digits, 3)
    client = Client(facts, seed=9)
    body = f"%r = ckks.rotate %x0 {{steps = -1}} : {ciphertext(level)}"
    program = compiled(facts, [ciphertext(level)], ciphertext(level), body, "interpret")
    vector = np.array([1, -0.5j, 0.25 + 1j, -1])
    x = client.encrypt_vector(vector, SCALE, level)
    result = both(program, client, [x])
    expected = substituted(decrypt(client.secret, x), 13)
    modulus = prod(facts.q[: level + 1])
    assert distance(decrypt(client.secret, result), expected, modulus) < NOISE
    # Left rotation by -1: slot j - 1 moves to slot j.
    error = np.abs(client.decrypt_vector(result, SCALE) - np.roll(vector, 1)).max()
    assert error < 2.0**-8


@pytest.mark.parametrize(
    ("q", "p", "digits"),
    [
        (tuple(WIDE[1:4]), tuple(WIDE[:1]), 3),
        (tuple(WIDE[3:6]), tuple(WIDE[:3]), 1),
        ((BEYOND_60_BITS, WIDE[2], 12289), tuple(WIDE[:2]), 2),
    ],
)
def test_primes_of_62_bits(q: tuple[int, ...], p: tuple[int, ...], digits: int) -> None:
    """A word of four times the prime, so that every sum has to be reduced; ciphertexts of all q - 1 too."""
    facts = Parameters(DEGREE, q, p, digits, 18, insecure=True)
    facts.validate()
    client, modulus = Client(facts, seed=3), prod(q)
    body = (
        f"%l = ckks.relinearize %x0 : {ciphertext(2, 3)}\n"
        f"%r = ckks.rotate %l {{steps = 2}} : {ciphertext(2)}"
    )
    program = compiled(facts, [ciphertext(2, 3)], ciphertext(2), body, "interpret")
    rng = np.random.default_rng(1)
    inputs = [
        np.array([[[prime - 1] * DEGREE for prime in q]] * 3),
        np.array([[[(prime - 1) * (k % 2) for k in range(DEGREE)] for prime in q]] * 3),
        np.array([[[prime // 2 + k % 2 for k in range(DEGREE)] for prime in q]] * 3),
        np.stack([[rng.integers(0, prime, DEGREE) for prime in q] for _ in range(3)]),
    ]
    for words in inputs:
        three = torch.as_tensor(words)
        result = both(program, client, [three])
        expected = substituted(decrypt(client.secret, three), pow(5, 2, 2 * DEGREE))
        # Rounding in units of the smallest limb: its digit's error is divided by P.
        assert distance(decrypt(client.secret, result), expected, modulus) < NOISE


def test_relinearization_changes_a_ciphertext_by_little() -> None:
    """At N = 2^13 the three components and the two decrypt to polynomials closer than 2^12."""
    degree = 1 << 13
    q = (1152921504606748673, 1099511480321)
    facts = Parameters(degree, q, (1152921504606830593,), 2, 40)
    client = Client(facts, seed=5)
    vector = np.exp(2j * np.pi * np.arange(degree // 2) / 97)
    x = client.encrypt_vector(vector, 1 << 40, 1)
    y = client.encrypt_vector(vector.conj(), 1 << 40, 1)
    one = "!ckks.ciphertext<level = 1, scale = 2**40>"
    product, switched = (
        f"!ckks.ciphertext<level = 1, scale = 2**80, size = {size}>" for size in (3, 2)
    )
    text = (
        f"module attributes {{{attribute(facts).replace(', insecure', '')}}} {{\n"
        f"func.func @f(%x : {one}, %y : {one}) -> ({product}, {switched}) {{\n"
        f"%p = ckks.mul %x, %y : {one}\n%r = ckks.relinearize %p : {product}\n"
        f"return %p, %r : {product}, {switched} }} }}"
    )
    program = compiled_text(text, "cpu")
    three, two = link(program.lowered, ClientKeys(client), "cpu").run(x, y)
    assert three.shape[0] == 3 and two.shape[0] == 2
    before, after = decrypt(client.secret, three), decrypt(client.secret, two)
    assert 0 < distance(before, after, prod(q)) < 1 << 12
    # The message itself is far larger, so this is no accident.
    assert max(map(abs, before)) > 1 << 60
