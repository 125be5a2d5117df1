"""Key files: safetensors with the parameter hash in the metadata, written atomically.

Secret-key files have mode 0600 from the moment they exist. They are not encrypted.
"""

import json
import os
import secrets
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from fhelium_ir.client.keys import EvaluationKey, KeySet, PublicKey, SecretKey, secret_key
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

_SECRET = "secret key"
_KEYS = "public and evaluation keys"
_GALOIS = "galois."


def save_secret(path: Path | str, secret: SecretKey) -> None:
    """Write a secret key (its coefficients, int8 [N]) to a file of mode 0600."""
    tensors = {"secret": torch.as_tensor(secret.coefficients.astype(np.int8))}
    _write(Path(path), tensors, secret.parameters, _SECRET, secret.insecure, 0o600)


def load_secret(path: Path | str, parameters: Parameters) -> SecretKey:
    """Read a secret key; FheliumError unless it was made for these parameters."""
    tensors, insecure = _read(Path(path), parameters, _SECRET)
    data = tensors.get("secret")
    if data is None or list(data.shape) != [parameters.ring_degree] or data.dtype != torch.int8:
        raise FheliumError(f"{path} does not hold a secret key of {parameters.ring_degree} words")
    coefficients = np.asarray(data.numpy(), dtype=np.int64)
    if bool((np.abs(coefficients) > 1).any()):
        raise FheliumError(f"{path} holds a secret coefficient outside -1, 0, 1")
    return secret_key(parameters, coefficients, insecure)


def save_keys(path: Path | str, keys: KeySet) -> None:
    """Write the public and evaluation keys of a set to one file."""
    tensors = {f"{_GALOIS}{element}": key.data for element, key in keys.galois.items()}
    insecure = any(key.insecure for key in keys.galois.values())
    for name, key in (("public", keys.public), ("relinearize", keys.relinearization)):
        if key is not None:
            tensors[name] = key.data
            insecure = insecure or key.insecure
    _write(Path(path), tensors, keys.parameters, _KEYS, insecure, 0o666)


def load_keys(path: Path | str, parameters: Parameters) -> KeySet:
    """Read a key set; FheliumError unless it was made for these parameters."""
    tensors, insecure = _read(Path(path), parameters, _KEYS)
    limbs, degree = len(parameters.primes), parameters.ring_degree
    dtype = torch.int32 if parameters.word_bits == 32 else torch.int64
    public: PublicKey | None = None
    relinearization: EvaluationKey | None = None
    galois: dict[int, EvaluationKey] = {}
    for name, data in tensors.items():
        shape = [parameters.digit_count(), 2, limbs, degree]
        if name == "public":
            shape = [2, len(parameters.q), degree]
        if list(data.shape) != shape or data.dtype != dtype:
            raise FheliumError(f"key '{name}' in {path} is not {dtype} of shape {shape}")
        element = name.removeprefix(_GALOIS)
        if name == "public":
            public = PublicKey(parameters, data, insecure)
        elif name == "relinearize":
            relinearization = EvaluationKey(parameters, "relinearize", None, data, insecure)
        elif element != name and element.isdecimal():
            key = EvaluationKey(parameters, "galois", int(element), data, insecure)
            galois[int(element)] = key
        else:
            raise FheliumError(f"{path} holds an unknown key '{name}'")
    return KeySet(parameters, public, relinearization, galois)


def _write(
    path: Path,
    tensors: dict[str, torch.Tensor],
    parameters: Parameters,
    content: str,
    insecure: bool,
    mode: int,
) -> None:
    metadata = {
        "content": content,
        "parameters": parameters.hash(),
        "insecure": "yes" if insecure else "no",
    }
    # a temporary file in the same folder: os.replace is atomic, readers never see half a key
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(save(tensors, metadata))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise FheliumError(f"cannot write {path}: {error.strerror}") from error


def _read(path: Path, parameters: Parameters, content: str) -> tuple[dict[str, torch.Tensor], bool]:
    try:
        data = path.read_bytes()
        metadata = _metadata(data)
        tensors = load(data)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise FheliumError(f"cannot read {path} as a key file: {error}") from error
    if metadata.get("content") != content:
        raise FheliumError(f"{path} does not hold {content}")
    if metadata.get("parameters") != parameters.hash():
        raise FheliumError(f"{path} was made for other parameters (its parameter hash differs)")
    return tensors, metadata.get("insecure") != "no"


def _metadata(data: bytes) -> dict[str, str]:
    """The metadata of a safetensors file: 8 bytes of header size, then the header in JSON."""
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size])["__metadata__"]
