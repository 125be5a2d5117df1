from collections.abc import Callable, Sequence

import numpy as np
import pytest
import torch

from fhelium_ir.client.encryption import decrypt, encrypt, plaintext_tensor
from fhelium_ir.client.keys import KeyGenerator, PublicKey, SecretKey
from fhelium_ir.client.parameters import generate
from fhelium_ir.client.randomness import Randomness
from fhelium_ir.compiler.errors import FheliumError

Product = Callable[[Sequence[int], Sequence[int], int], list[int]]

LARGE = generate(1 << 13, [60, 40], [60], 2, 40)
SMALL = generate(32, [50, 40, 40], [50], 3, 40, insecure=True)


@pytest.fixture(scope="module")
def keys() -> tuple[SecretKey, PublicKey]:
    generator = KeyGenerator(LARGE, seed=1)
    secret = generator.secret()
    return secret, generator.public(secret)


def _message(bits: int, degree: int, seed: int = 0) -> list[int]:
    rng = np.random.default_rng(seed)
    return [
        int.from_bytes(rng.bytes(16), "little") % (1 << bits) - (1 << bits - 1)
        for _ in range(degree)
    ]


def _error(secret: SecretKey, ciphertext: torch.Tensor, message: list[int]) -> list[int]:
    return [x - y for x, y in zip(decrypt(secret, ciphertext), message, strict=True)]


def _trivial(part: list[int]) -> torch.Tensor:
    plaintext = plaintext_tensor(SMALL, part, 1)
    return torch.cat([plaintext, torch.zeros_like(plaintext)])


@pytest.mark.parametrize("level", [0, 1])
def test_fresh_errors(keys: tuple[SecretKey, PublicKey], level: int) -> None:
    secret, public = keys
    message = _message(90 if level else 55, 1 << 13)
    symmetric = _error(secret, encrypt(secret, message, level, Randomness(2)), message)
    assert abs(np.std(symmetric) / 10.5**0.5 - 1) < 0.05
    assert abs(np.mean(symmetric)) < 4 * 10.5**0.5 / 8192**0.5
    assert max(map(abs, symmetric)) <= 21
    # v*e + e0 + e1*s with ternary v and s of variance 2/3 each
    asymmetric = _error(secret, encrypt(public, message, level, Randomness(2)), message)
    assert abs(np.std(asymmetric) / (10.5 * (1 + 2 * 8192 * 2 / 3)) ** 0.5 - 1) < 0.1


def test_shape_and_dtype(keys: tuple[SecretKey, PublicKey]) -> None:
    ciphertext = encrypt(keys[1], [0] * 8192, 1, Randomness())
    assert list(ciphertext.shape) == [2, 2, 8192]
    assert ciphertext.dtype == torch.int64 and ciphertext.is_contiguous()
    words = generate(64, [29, 25], [29], 2, 25, insecure=True)
    secret = KeyGenerator(words, seed=1).secret()
    small = encrypt(secret, [1 << 20] * 64, 0, Randomness(1))
    assert small.dtype == torch.int32 and list(small.shape) == [2, 1, 64]
    assert max(map(abs, _error(secret, small, [1 << 20] * 64))) <= 21
    assert plaintext_tensor(words, [1] * 64, 1).dtype == torch.int32


@pytest.mark.parametrize("kind", [0, 1])
def test_two_encryptions_differ_in_every_limb(keys: tuple[SecretKey, PublicKey], kind: int) -> None:
    message = _message(50, 1 << 13)
    randomness = Randomness(4)
    first = encrypt(keys[kind], message, 1, randomness)
    second = encrypt(keys[kind], message, 1, randomness)
    # equal words of independent uniform residues are very rare: almost all must differ
    assert bool(((first != second).sum(dim=-1) > 8190).all())


@pytest.mark.parametrize("kind", [0, 1])
def test_ciphertexts_look_uniform_in_every_limb(
    keys: tuple[SecretKey, PublicKey], kind: int
) -> None:
    ciphertext = encrypt(keys[kind], [0] * 8192, 1, Randomness(5))
    for component in range(2):
        for limb, q in enumerate(LARGE.q):
            unit = ciphertext[component, limb].numpy() / float(q)
            counts = np.bincount((unit * 64).astype(np.int64), minlength=64)
            assert ((counts - 128) ** 2 / 128).sum() < 112.3
            assert abs(unit.mean() - 0.5) < 4 / (12 * 8192) ** 0.5
            assert abs(unit.var() * 12 - 1) < 0.05


@pytest.mark.parametrize("kind", [0, 1])
def test_another_secret_decrypts_to_noise(keys: tuple[SecretKey, PublicKey], kind: int) -> None:
    message = _message(50, 1 << 13)
    ciphertext = encrypt(keys[kind], message, 1, Randomness(6))
    other = KeyGenerator(LARGE, seed=2).secret()
    error = _error(other, ciphertext, message)
    assert max(map(abs, error)) > 1 << 95


def test_one_flipped_bit_spoils_the_result(keys: tuple[SecretKey, PublicKey]) -> None:
    message = _message(50, 1 << 13)
    ciphertext = encrypt(keys[1], message, 1, Randomness(6))
    ciphertext[0, 1, 77] ^= 1
    assert max(map(abs, _error(keys[0], ciphertext, message))) > 1 << 95


def test_size_three_decrypts_with_the_square(negacyclic: Product) -> None:
    secret = KeyGenerator(SMALL, seed=3).secret()
    s = secret.coefficients.tolist()
    modulus = SMALL.q[0] * SMALL.q[1]
    parts = [_message(80, 32, seed) for seed in range(3)]
    ciphertext = torch.cat([plaintext_tensor(SMALL, part, 1) for part in parts])
    square = negacyclic(s, s, modulus)
    expected = [
        (x + y + z) % modulus
        for x, y, z in zip(
            parts[0],
            negacyclic(parts[1], s, modulus),
            negacyclic(parts[2], square, modulus),
            strict=True,
        )
    ]
    result = decrypt(secret, ciphertext)
    assert [value % modulus for value in result] == expected
    assert max(map(abs, result)) <= modulus // 2
    assert decrypt(secret, _trivial(parts[0])) == parts[0]


def test_plaintext_is_the_evaluation(evaluate: Callable[[Sequence[int], int], list[int]]) -> None:
    part = _message(100, 32)
    plaintext = plaintext_tensor(SMALL, part, 2)
    assert list(plaintext.shape) == [1, 3, 32]
    rows = [[int(x) for x in row] for row in plaintext[0].numpy()]
    assert rows == [evaluate([v % q for v in part], q) for q in SMALL.q]


@pytest.mark.parametrize("level", [-1, 3])
def test_levels_outside_the_chain(level: int) -> None:
    secret = KeyGenerator(SMALL, seed=3).secret()
    with pytest.raises(FheliumError, match=f"level {level} is not between 0 and 2"):
        encrypt(secret, [0] * 32, level, Randomness(1))


@pytest.mark.parametrize(
    "shape", [(1, 2, 32), (4, 2, 32), (2, 2, 16), (2, 32), (2, 0, 32), (2, 4, 32)]
)
def test_ciphertexts_of_a_wrong_shape(shape: tuple[int, ...]) -> None:
    secret = KeyGenerator(SMALL, seed=3).secret()
    with pytest.raises(FheliumError, match=r"shape|level"):
        decrypt(secret, torch.zeros(shape, dtype=torch.int64))


@pytest.mark.parametrize("word", [-1, SMALL.q[1]])
def test_words_that_are_not_canonical(word: int) -> None:
    secret = KeyGenerator(SMALL, seed=3).secret()
    ciphertext = torch.zeros((2, 2, 32), dtype=torch.int64)
    ciphertext[1, 1, 5] = word
    with pytest.raises(FheliumError, match="outside"):
        decrypt(secret, ciphertext)
