"""Noise that is added to decrypted results."""

from __future__ import annotations

import numpy as np
import pytest

from fhelium_ir.client.client import Client
from fhelium_ir.client.encryption import flood
from fhelium_ir.client.parameters import generate
from fhelium_ir.client.randomness import Randomness
from fhelium_ir.compiler.errors import FheliumError

TINY = generate(32, [50, 40], [51], 2, 40, insecure=True)


@pytest.mark.parametrize("bits", [1, 3, 8, 13, 64, 100])
def test_noise_is_uniform_and_centred(bits: int) -> None:
    count = 20000
    noise = flood([0] * count, bits, 1 << 101, Randomness(seed=4))
    half = 1 << (bits - 1)
    assert min(noise) >= -half and max(noise) < half
    scaled = np.array([value / half for value in noise])
    # Uniform on [-1, 1): mean 0 (less half a step), variance 1/3 (1/4 for one bit), 6 sigma.
    assert abs(scaled.mean() + 0.5 / half) < 6 * (1 / 3 / count) ** 0.5 + 1e-9
    variance = (4.0**bits - 1) / 12 / half**2
    assert abs(scaled.var() - variance) < 0.03
    if bits <= 8:
        counts = np.bincount(np.array(noise) + half, minlength=2 * half)
        expected = count / (2 * half)
        assert np.abs(counts - expected).max() < 6 * expected**0.5


def test_coefficients_are_kept() -> None:
    values = [1 << 80, -(1 << 80), 5]
    found = flood(values, 4, 1 << 90, Randomness(seed=1))
    assert all(-8 <= f - v < 8 for f, v in zip(found, values, strict=True))


def test_each_decryption_has_its_own_noise() -> None:
    client = Client(TINY, seed=1)
    ciphertext = client.encrypt_vector([1, -1], 1 << 40, 1)
    plain = client.decrypt_vector(ciphertext, 1 << 40)
    noisy = [client.decrypt_vector(ciphertext, 1 << 40, 30) for _ in range(2)]
    assert not np.array_equal(noisy[0], noisy[1])
    for values in noisy:
        # At most N 2^29 / 2^40 in a slot, and some of it.
        assert 1e-5 < np.abs(values - plain).max() <= 32 * 2.0**-11
    assert np.array_equal(client.decrypt_vector(ciphertext, 1 << 40), plain)


@pytest.mark.parametrize("bits", [0, -1, 91, 1000])
def test_sizes_without_sense(bits: int) -> None:
    with pytest.raises(FheliumError, match=f"noise of {bits} bits was asked for: .* 1 to 90"):
        flood([0], bits, TINY.modulus(1), Randomness(seed=1))
