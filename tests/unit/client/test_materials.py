"""Keys and plaintexts for linking."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys, KeySetMaterials, without_keys
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError

TINY = generate(32, [50, 40], [51], 2, 40, insecure=True)


def test_a_key_set_gives_what_the_client_would() -> None:
    client = Client(TINY, seed=1)
    of_client, of_set = ClientKeys(client), KeySetMaterials(client.key_set(True, [5]))
    for kind, galois in (("relinearize", None), ("galois", 5)):
        key = of_set.evaluation_key(kind, galois)
        assert torch.equal(key, of_client.evaluation_key(kind, galois))
    plaintext = of_set.plaintext([0.5, -1], TINY.default_scale, 1)
    assert torch.equal(plaintext, of_client.plaintext([0.5, -1], TINY.default_scale, 1))
    assert torch.equal(plaintext, without_keys(TINY).plaintext([0.5, -1], TINY.default_scale, 1))
    assert torch.equal(plaintext, client.encode_plaintext([0.5, -1], TINY.default_scale, 1))


def test_a_missing_key_is_named() -> None:
    keys = Client(TINY, seed=1).key_set(True, [5])
    with pytest.raises(FheliumError, match=r"lack the key for rotation by 2 \(Galois element 25\)"):
        KeySetMaterials(keys).evaluation_key("galois", 25)
    with pytest.raises(FheliumError, match="lack the key for conjugation"):
        KeySetMaterials(keys).evaluation_key("galois", TINY.conjugation)
    with pytest.raises(FheliumError, match="lack the key for relinearization"):
        KeySetMaterials(replace(keys, relinearization=None)).evaluation_key("relinearize", None)
