from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError

PARAMETERS = generate(1 << 13, [60, 40], [60], 2, 40)
TINY = generate(32, [50, 40, 40], [50], 3, 40, insecure=True)


def _vector(slots: int) -> np.ndarray[tuple[int], np.dtype[np.complex128]]:
    rng = np.random.default_rng(8)
    return rng.uniform(-1, 1, slots) + 1j * rng.uniform(-1, 1, slots)


@pytest.fixture(scope="module")
def client() -> Client:
    return Client(PARAMETERS)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize(("symmetric", "bound"), [(False, 3e-7), (True, 3e-9)])
def test_decryption_inverts_encryption(
    client: Client, level: int, symmetric: bool, bound: float
) -> None:
    values = _vector(4096)
    ciphertext = client.encrypt_vector(values, 1 << 40, level, symmetric=symmetric)
    error = np.abs(client.decrypt_vector(ciphertext, 1 << 40) - values)
    # sigma of a slot: sqrt(N * 10.5 * (1 + 4N/3)) / 2^40 = 2.8e-8 with the public key and
    # sqrt(N * 10.6) / 2^40 = 2.7e-10 with the secret key; about 4 sigma is expected of 4096
    assert 0 < error.max() < bound


def test_a_rational_scale_and_a_replicated_vector() -> None:
    client = Client(TINY, seed=1)
    scale = Fraction(1 << 81, TINY.q[2])
    decrypted = client.decrypt_vector(client.encrypt_vector([1, -2j], scale, 1), scale)
    assert np.abs(decrypted - np.tile([1, -2j], 8)).max() < 1e-8


def test_another_client_cannot_decrypt(client: Client) -> None:
    values = _vector(4096)
    ciphertext = client.encrypt_vector(values, 1 << 40, 1)
    assert np.abs(Client(PARAMETERS).decrypt_vector(ciphertext, 1 << 40) - values).max() > 1


def test_a_client_from_an_existing_secret(client: Client) -> None:
    values = _vector(4096)
    ciphertext = client.encrypt_vector(values, 1 << 40, 1)
    again = Client(PARAMETERS, secret=client.secret)
    assert np.abs(again.decrypt_vector(ciphertext, 1 << 40) - values).max() < 2e-6
    with pytest.raises(FheliumError, match="other parameters"):
        Client(TINY, secret=client.secret)


def test_ciphertext_times_plaintext_pointwise() -> None:
    # evaluation domain: residues multiply word by word, scales multiply
    client = Client(TINY, seed=4)
    left, right = _vector(16), _vector(16)[::-1]
    ciphertext = client.encrypt_vector(left, 1 << 40, 2)
    plaintext = client.encode_plaintext(right, 1 << 40, 2)
    assert list(plaintext.shape) == [1, 3, 32] and plaintext.dtype == torch.int64
    product = torch.empty_like(ciphertext)
    for component in range(2):
        for i, q in enumerate(TINY.q):
            pairs = zip(ciphertext[component, i].numpy(), plaintext[0, i].numpy(), strict=True)
            product[component, i] = torch.tensor([int(x) * int(y) % q for x, y in pairs])
    assert np.abs(client.decrypt_vector(product, 1 << 80) - left * right).max() < 1e-8


def test_keys_are_made_once() -> None:
    client = Client(TINY, seed=1)
    assert client.key("galois", 5) is client.key("galois", 5)
    assert client.key("galois", 5) is not client.key("galois", 25)
    assert client.key("galois", 25).galois == 25
    assert client.key("relinearize") is client.key("relinearize")
    assert client.public is client.public
    keys = client.key_set(False, [5])
    assert keys.relinearization is None and keys.galois[5] is client.key("galois", 5)


def test_keys_that_do_not_exist() -> None:
    client = Client(TINY, seed=1)
    with pytest.raises(FheliumError, match="no key"):
        client.key("galois")
    with pytest.raises(FheliumError, match="no key"):
        client.key("relinearize", 5)
    with pytest.raises(FheliumError, match="not a Galois element"):
        client.key("galois", 4)


def test_seeds_reproduce() -> None:
    def run(seed: int) -> torch.Tensor:
        return Client(TINY, seed=seed).encrypt_vector([1.0], 1 << 40, 1)

    assert torch.equal(run(3), run(3))
    assert not torch.equal(run(3), run(4))


def test_insecure_flags(client: Client) -> None:
    assert not client.insecure and not client.key("relinearize").insecure
    seeded = Client(PARAMETERS, seed=0)
    assert seeded.insecure and seeded.key("galois", 5).insecure and seeded.public.insecure
    assert Client(replace(PARAMETERS, insecure=True)).insecure
    assert Client(PARAMETERS, secret=seeded.secret).insecure


def test_insecure_or_invalid_parameters_are_refused() -> None:
    with pytest.raises(FheliumError, match="ring degree 32"):
        Client(replace(TINY, insecure=False))
    with pytest.raises(FheliumError, match="not prime"):
        Client(replace(TINY, p=(TINY.p[0] + 64,)))


def test_values_without_headroom_are_refused(client: Client) -> None:
    with pytest.raises(FheliumError, match="price has no headroom at level 0"):
        client.encrypt_vector([1 << 20], 1 << 40, 0, "price")
    decrypted = client.decrypt_vector(client.encrypt_vector([1 << 18], 1 << 40, 0), 1 << 40)
    assert np.abs(decrypted - (1 << 18)).max() < 1e-5


def test_bad_values_are_named(client: Client) -> None:
    with pytest.raises(FheliumError, match="price holds a value that is not finite"):
        client.encrypt_vector([float("nan")], 1 << 40, 0, "price")
    with pytest.raises(FheliumError, match="price has shape"):
        client.encode_plaintext([1.0, 2.0, 3.0], 1 << 40, 0, "price")
    with pytest.raises(FheliumError, match="level 7"):
        client.encrypt_vector([1.0], 1 << 40, 7)
