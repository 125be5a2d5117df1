import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.keys import KeyGenerator, KeySet
from fhelium_ir.client.parameters import generate
from fhelium_ir.client.storage import load_keys, load_secret, save_keys, save_secret
from fhelium_ir.compiler.errors import FheliumError

PARAMETERS = generate(1 << 11, [20], [21], 1, 15)
TINY = generate(32, [40, 30], [41], 2, 30, insecure=True)


def test_secret_round_trip(tmp_path: Path) -> None:
    secret = KeyGenerator(PARAMETERS).secret()
    path = tmp_path / "secret.safetensors"
    save_secret(path, secret)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    loaded = load_secret(path, PARAMETERS)
    assert np.array_equal(loaded.coefficients, secret.coefficients)
    assert np.array_equal(loaded.evaluations, secret.evaluations)
    assert not loaded.insecure
    assert [p.name for p in tmp_path.iterdir()] == ["secret.safetensors"]


def test_a_secret_replaces_a_readable_file_with_a_private_one(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("old")
    path.chmod(0o644)
    save_secret(path, KeyGenerator(PARAMETERS, seed=1).secret())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_secret(path, PARAMETERS).insecure


def test_keys_round_trip(tmp_path: Path) -> None:
    client = Client(TINY, seed=2)
    keys = client.key_set(True, [TINY.galois(1), TINY.galois(-1), TINY.conjugation])
    path = tmp_path / "keys"
    save_keys(path, keys)
    loaded = load_keys(path, TINY)
    assert loaded.public is not None and loaded.relinearization is not None
    assert torch.equal(loaded.public.data, client.public.data)
    assert torch.equal(loaded.relinearization.data, client.key("relinearize").data)
    assert loaded.relinearization.kind == "relinearize"
    assert sorted(loaded.galois) == sorted(keys.galois)
    for element, key in loaded.galois.items():
        assert (key.kind, key.galois, key.insecure) == ("galois", element, True)
        assert torch.equal(key.data, client.key("galois", element).data)


def test_a_partial_key_set(tmp_path: Path) -> None:
    client = Client(TINY, seed=2)
    save_keys(tmp_path / "keys", KeySet(TINY, None, None, {5: client.key("galois", 5)}))
    loaded = load_keys(tmp_path / "keys", TINY)
    assert loaded.public is None and loaded.relinearization is None
    assert list(loaded.galois) == [5]


def test_other_parameters_are_refused(tmp_path: Path) -> None:
    client = Client(TINY, seed=2)
    save_secret(tmp_path / "secret", client.secret)
    save_keys(tmp_path / "keys", client.key_set(True, []))
    other = replace(TINY, digits=1)
    with pytest.raises(FheliumError, match="other parameters"):
        load_secret(tmp_path / "secret", other)
    with pytest.raises(FheliumError, match="other parameters"):
        load_keys(tmp_path / "keys", other)


def test_the_wrong_kind_of_file_is_refused(tmp_path: Path) -> None:
    client = Client(TINY, seed=2)
    save_secret(tmp_path / "secret", client.secret)
    save_keys(tmp_path / "keys", client.key_set(True, []))
    with pytest.raises(FheliumError, match="does not hold"):
        load_keys(tmp_path / "secret", TINY)
    with pytest.raises(FheliumError, match="does not hold"):
        load_secret(tmp_path / "keys", TINY)


@pytest.mark.parametrize("content", [b"", b"junk", b"\xff" * 64, b"\x02\0\0\0\0\0\0\0{}"])
def test_broken_files_are_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken"
    path.write_bytes(content)
    with pytest.raises(FheliumError, match="cannot read"):
        load_secret(path, TINY)


def test_a_truncated_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    save_keys(path, Client(TINY, seed=2).key_set(True, []))
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(FheliumError, match="cannot read"):
        load_keys(path, TINY)


def test_missing_files_and_folders(tmp_path: Path) -> None:
    with pytest.raises(FheliumError, match="cannot read"):
        load_secret(tmp_path / "none", TINY)
    with pytest.raises(FheliumError, match="cannot write"):
        save_secret(tmp_path / "none" / "secret", Client(TINY, seed=1).secret)


def test_a_failed_write_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "secret"
    save_secret(path, Client(TINY, seed=1).secret)
    before = path.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(FheliumError, match="No space left"):
        save_secret(path, Client(TINY, seed=2).secret)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["secret"]
