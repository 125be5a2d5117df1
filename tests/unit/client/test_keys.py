import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from fhelium_ir.client.encoding import from_residues
from fhelium_ir.client.keys import EvaluationKey, KeyGenerator, SecretKey
from fhelium_ir.client.parameters import generate
from fhelium_ir.client.transform import inverse_limbs
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

Product = Callable[[Sequence[int], Sequence[int], int], list[int]]
Interpolation = Callable[[Sequence[int], int], list[int]]


def _parameters(digits: int, limbs: int = 5, degree: int = 64) -> Parameters:
    specials = -(-limbs // digits)
    return generate(degree, [45] + [40] * (limbs - 1), [46] * specials, digits, 40, insecure=True)


def _crt(residues: Sequence[int], primes: Sequence[int]) -> int:
    modulus = math.prod(primes)
    parts = zip(residues, primes, strict=True)
    return sum(r * pow(modulus // q, -1, q) * (modulus // q) for r, q in parts) % modulus


def _centred(value: int, modulus: int) -> int:
    value %= modulus
    return value - modulus if 2 * value > modulus else value


def _exact(words: torch.Tensor, primes: Sequence[int], interpolate: Interpolation) -> list[int]:
    """[limbs, N] in the evaluation domain to integers modulo the product of the primes."""
    rows = [
        interpolate([int(x) for x in row], q) for row, q in zip(words.numpy(), primes, strict=True)
    ]
    return [_crt(column, primes) for column in zip(*rows, strict=True)]


def _substitute(s: list[int], element: int) -> list[int]:
    degree, result = len(s), [0] * len(s)
    for i, value in enumerate(s):
        exponent = i * element % (2 * degree)
        result[exponent % degree] = value if exponent < degree else -value
    return result


def _key(generator: KeyGenerator, secret: SecretKey, name: str) -> EvaluationKey:
    if name == "relinearize":
        return generator.relinearization(secret)
    return generator.rotation(secret, -1) if name == "rotate" else generator.conjugation(secret)


@pytest.mark.parametrize("name", ["relinearize", "rotate", "conjugate"])
@pytest.mark.parametrize("digits", [1, 2, 4, 5])
def test_each_digit_encrypts_its_gadget_multiple(
    name: str, digits: int, negacyclic: Product, interpolate: Interpolation
) -> None:
    parameters = _parameters(digits)
    generator = KeyGenerator(parameters, seed=digits)
    secret = generator.secret()
    key = _key(generator, secret, name)
    count = {1: 1, 2: 2, 4: 3, 5: 5}[digits]
    assert list(key.data.shape) == [count, 2, len(parameters.primes), 64]
    s = secret.coefficients.tolist()
    modulus = math.prod(parameters.primes)
    source = {
        "relinearize": negacyclic(s, s, modulus),
        "rotate": _substitute(s, pow(5, -1, 128)),
        "conjugate": _substitute(s, 127),
    }[name]
    alpha = {1: 5, 2: 3, 4: 2, 5: 1}[digits]
    special = math.prod(parameters.p)
    for j in range(count):
        own = range(j * alpha, min((j + 1) * alpha, 5))
        factor = _crt(
            [special % q if i in own else 0 for i, q in enumerate(parameters.primes)],
            parameters.primes,
        )
        b, a = (_exact(part, parameters.primes, interpolate) for part in key.data[j])
        masked = negacyclic(a, s, modulus)
        error = [
            _centred(x + y - factor * z, modulus) for x, y, z in zip(b, masked, source, strict=True)
        ]
        assert max(map(abs, error)) <= 21
        assert 2 < np.std(error) < 4.5


def test_public_key_is_an_encryption_of_zero(
    negacyclic: Product, interpolate: Interpolation
) -> None:
    parameters = _parameters(5)
    generator = KeyGenerator(parameters, seed=3)
    secret = generator.secret()
    public = generator.public(secret)
    assert list(public.data.shape) == [2, 5, 64]
    modulus = math.prod(parameters.q)
    b, a = (_exact(part, parameters.q, interpolate) for part in public.data)
    masked = negacyclic(a, secret.coefficients.tolist(), modulus)
    error = [_centred(x + y, modulus) for x, y in zip(b, masked, strict=True)]
    assert 0 < max(map(abs, error)) <= 21


def _key_switch(
    d: list[int],
    key: EvaluationKey,
    level: int,
    negacyclic: Product,
    interpolate: Interpolation,
) -> list[list[int]]:
    """Textbook hybrid key switch on integers: (u0, u1) modulo Q_level."""
    parameters = key.parameters
    q, special = parameters.q[: level + 1], math.prod(parameters.p)
    current, modulus = math.prod(q), math.prod(q) * special
    used = [*range(level + 1), *range(len(parameters.q), len(parameters.primes))]
    total = [[0] * len(d), [0] * len(d)]
    for j in range(parameters.digit_count()):
        limbs = [i for i in parameters.digit(j) if i <= level]
        if not limbs:
            continue
        product = math.prod(q[i] for i in limbs)
        w = [0] * len(d)
        for i in limbs:
            cofactor = product // q[i]
            for n, value in enumerate(d):
                w[n] += _centred(value * pow(cofactor, -1, q[i]), q[i]) * cofactor
        for c in range(2):
            words = key.data[j, c][used]
            part = _exact(words, [parameters.primes[i] for i in used], interpolate)
            term = negacyclic(w, part, modulus)
            total[c] = [(x + y) % modulus for x, y in zip(total[c], term, strict=True)]
    return [[(x - _centred(x, special)) // special % current for x in part] for part in total]


@pytest.mark.parametrize(("digits", "level"), [(1, 2), (2, 2), (2, 1), (2, 0), (3, 2), (3, 0)])
@pytest.mark.parametrize("name", ["relinearize", "rotate"])
def test_textbook_key_switch(
    name: str, digits: int, level: int, negacyclic: Product, interpolate: Interpolation
) -> None:
    parameters = _parameters(digits, limbs=3, degree=32)
    generator = KeyGenerator(parameters, seed=7)
    secret = generator.secret()
    key = _key(generator, secret, name)
    modulus = math.prod(parameters.q[: level + 1])
    s = secret.coefficients.tolist()
    relinearize = name == "relinearize"
    source = negacyclic(s, s, modulus) if relinearize else _substitute(s, pow(5, -1, 64))
    rng = np.random.default_rng(level)
    d = [int.from_bytes(rng.bytes(32), "little") % modulus for _ in range(32)]
    u0, u1 = _key_switch(d, key, level, negacyclic, interpolate)
    wanted = negacyclic(d, source, modulus)
    shifted = negacyclic(u1, s, modulus)
    error = [_centred(x + y - z, modulus) for x, y, z in zip(u0, shifted, wanted, strict=True)]
    assert max(map(abs, error)) < 1 << 12


LARGE = generate(1 << 13, [60, 40], [60], 2, 40)


@pytest.fixture(scope="module")
def large() -> tuple[SecretKey, EvaluationKey]:
    generator = KeyGenerator(LARGE, seed=11)
    secret = generator.secret()
    return secret, generator.rotation(secret, 3)


def test_secret_is_balanced(large: tuple[SecretKey, EvaluationKey]) -> None:
    counts = [int((large[0].coefficients == v).sum()) for v in (-1, 0, 1)]
    assert sum(counts) == 1 << 13
    expected = (1 << 13) / 3
    # 2 degrees of freedom: 13.8 has probability 0.001
    assert sum((c - expected) ** 2 / expected for c in counts) < 13.8


def test_masks_are_uniform_in_every_limb(large: tuple[SecretKey, EvaluationKey]) -> None:
    seen: set[bytes] = set()
    for j in range(2):
        for i, q in enumerate(LARGE.primes):
            # b is masked by a*s and must look uniform too
            for component in range(2):
                row = large[1].data[j, component, i].numpy()
                unit = row / float(q)
                counts = np.bincount((unit * 64).astype(np.int64), minlength=64)
                # 63 degrees of freedom: 112.3 has probability 0.0001
                assert ((counts - 128) ** 2 / 128).sum() < 112.3
                assert abs(unit.mean() - 0.5) < 4 / math.sqrt(12 * 8192)
                assert abs(unit.var() * 12 - 1) < 0.05
                assert row.min() >= 0 and int(row.max()) < q
                seen.add(unit.tobytes())
    assert len(seen) == 12


def test_error_sigma(large: tuple[SecretKey, EvaluationKey]) -> None:
    secret, key = large
    for j in range(2):
        # digit j has no gadget term modulo the other primes: b + a*s is the error there
        rows = [i for i in range(3) if i != j]
        primes = [LARGE.primes[i] for i in rows]
        words = key.data[j].numpy()
        sums = [
            [
                (int(b) + int(a) * int(s)) % q
                for b, a, s in zip(words[0, i], words[1, i], secret.evaluations[i], strict=True)
            ]
            for i, q in zip(rows, primes, strict=True)
        ]
        error = from_residues(inverse_limbs(np.array(sums, dtype=np.int64), primes), primes)
        assert abs(np.std(error) / 10.5**0.5 - 1) < 0.05
        assert abs(np.mean(error)) < 4 * 10.5**0.5 / 8192**0.5
        assert max(map(abs, error)) <= 21


def test_keys_of_32_bit_primes_are_int32() -> None:
    parameters = generate(64, [29, 25, 25], [29], 3, 25, insecure=True)
    generator = KeyGenerator(parameters, seed=1)
    secret = generator.secret()
    assert generator.public(secret).data.dtype == torch.int32
    assert generator.relinearization(secret).data.dtype == torch.int32
    assert generator.relinearization(secret).data.is_contiguous()
    assert (
        KeyGenerator(LARGE, seed=1).public(KeyGenerator(LARGE).secret()).data.dtype == torch.int64
    )


def test_a_seed_reproduces_and_marks_everything() -> None:
    def make(seed: int | None) -> tuple[SecretKey, EvaluationKey]:
        generator = KeyGenerator(LARGE, seed)
        secret = generator.secret()
        return secret, generator.rotation(secret, 1)

    secret, key = make(5)
    assert secret.insecure and key.insecure
    assert torch.equal(make(5)[1].data, key.data)
    assert not torch.equal(make(6)[1].data, key.data)
    fresh_secret, fresh_key = make(None)
    assert not fresh_secret.insecure and not fresh_key.insecure
    assert not torch.equal(make(None)[1].data, fresh_key.data)
    # an insecure secret makes insecure keys, whatever the generator
    assert KeyGenerator(LARGE).conjugation(secret).insecure
    assert KeyGenerator(LARGE, seed=1).public(fresh_secret).insecure


def test_two_keys_for_one_element_are_fresh() -> None:
    generator = KeyGenerator(_parameters(5), seed=1)
    secret = generator.secret()
    first, second = generator.rotation(secret, 1), generator.rotation(secret, 1)
    assert bool((first.data != second.data).any(dim=-1).all())


def test_rotation_and_conjugation_elements() -> None:
    generator = KeyGenerator(generate(8, [40], [41], 1, 30, insecure=True), seed=1)
    secret = generator.secret()
    assert generator.rotation(secret, -1).galois == 13
    assert generator.rotation(secret, 3).galois == 13
    assert generator.conjugation(secret).galois == 15
    assert generator.relinearization(secret).galois is None
    for element in (2, -1, 17):
        with pytest.raises(FheliumError, match="not a Galois element"):
            generator.galois(secret, element)


def test_a_secret_does_not_print_its_coefficients() -> None:
    text = repr(KeyGenerator(_parameters(5), seed=1).secret())
    assert "coefficients" not in text and "evaluations" not in text
