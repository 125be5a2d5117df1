"""Files of keys, ciphertexts and interfaces, see `fhelium_ir.client.files`.

Secret-key files have mode 0600 from the moment they exist. They are not encrypted.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from fhelium_ir.client.files import (
    FORMAT,
    PRIVATE,
    VERSION,
    Label,
    NewFile,
    check_version,
    read_tensors,
    tensor_file,
    write_files,
)
from fhelium_ir.client.interface import CONTENT, Interface
from fhelium_ir.client.keys import EvaluationKey, KeySet, PublicKey, SecretKey, secret_key
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

INTERFACE_FILE = "interface.json"
"""Name of the interface in the folder of a compiled program."""

_SECRET = "a secret key"
_KEYS = "public and evaluation keys"
_INPUTS = "encrypted inputs"
_RESULTS = "encrypted results"
_GALOIS = "galois."


@dataclass(frozen=True)
class Ciphertexts:
    """Ciphertexts of a file by name, torch [size, level+1, N] each.

    Attributes:
        tensors: canonical residues in [0, q).
        identity: of the secret key that decrypts them.
        insecure: a key was insecure.
    """

    tensors: Mapping[str, torch.Tensor]
    identity: str
    insecure: bool


# Keys.


def save_secret(path: Path | str, secret: SecretKey) -> None:
    """Write a secret key (its coefficients, int8 [N]) to a file of mode 0600."""
    write_files([_secret_file(Path(path), secret)])


def save_keys(path: Path | str, keys: KeySet) -> None:
    """Write the public and evaluation keys of a set to one file."""
    write_files([_keys_file(Path(path), keys)])


def save_pair(
    secret_path: Path | str, secret: SecretKey, keys_path: Path | str, keys: KeySet
) -> None:
    """Write a secret key and the keys made with it: both files, or after a failure neither.

    A file that exists is not replaced by a secret key, and the two paths must differ.
    """
    check_new(secret_path, keys_path)
    write_files([_secret_file(Path(secret_path), secret), _keys_file(Path(keys_path), keys)])


def check_new(secret_path: Path | str, keys_path: Path | str) -> None:
    """Raises FheliumError unless `save_pair` may write to these paths."""
    first, second = Path(secret_path), Path(keys_path)
    if first.absolute() == second.absolute():
        raise FheliumError(f"the secret key and the public keys cannot both go to '{first}'")
    if first.exists():
        raise FheliumError(f"'{first}' exists: a secret key does not replace a file, remove it")


def load_secret(path: Path | str, parameters: Parameters) -> SecretKey:
    """Read a secret key; FheliumError unless it was made for these parameters."""
    tensors, label = read_tensors(Path(path), _SECRET, parameters.hash())
    data = tensors.get("secret")
    if data is None or list(data.shape) != [parameters.ring_degree] or data.dtype != torch.int8:
        raise FheliumError(f"'{path}' does not hold a secret key of {parameters.ring_degree} words")
    coefficients = np.asarray(data.numpy(), dtype=np.int64)
    if bool((np.abs(coefficients) > 1).any()):
        raise FheliumError(f"'{path}' holds a secret coefficient outside -1, 0, 1")
    return secret_key(parameters, coefficients, label.insecure, label.identity)


def load_public(path: Path | str, parameters: Parameters) -> tuple[PublicKey, str]:
    """Read the public encryption key of a key file, without the evaluation keys, and its identity."""
    keys = _load_keys(Path(path), parameters, ("public",))
    if keys.public is None:
        raise FheliumError(f"'{path}' holds no public encryption key")
    return keys.public, keys.identity


def load_keys(path: Path | str, parameters: Parameters) -> KeySet:
    """Read a key set; FheliumError unless it was made for these parameters."""
    return _load_keys(Path(path), parameters, None)


def load_evaluation_keys(path: Path | str, interface: Interface) -> KeySet:
    """Read the evaluation keys that a program needs; what the file lacks is missing in the set."""
    names = {_name(galois) for _, galois in interface.required_keys}
    return _load_keys(Path(path), interface.parameters, names)


def _load_keys(path: Path, parameters: Parameters, wanted: Iterable[str] | None) -> KeySet:
    names = None if wanted is None else tuple(wanted)
    tensors, label = read_tensors(path, _KEYS, parameters.hash(), names)
    public: PublicKey | None = None
    relinearization: EvaluationKey | None = None
    galois: dict[int, EvaluationKey] = {}
    for name, data in tensors.items():
        _check_key(path, name, data, parameters)
        element = name.removeprefix(_GALOIS)
        if name == "public":
            public = PublicKey(parameters, data, label.insecure)
        elif name == "relinearize":
            relinearization = EvaluationKey(parameters, "relinearize", None, data, label.insecure)
        elif element != name and element.isdecimal():
            key = EvaluationKey(parameters, "galois", int(element), data, label.insecure)
            galois[int(element)] = key
        else:
            raise FheliumError(f"'{path}' holds an unknown key '{name}'")
    return KeySet(parameters, public, relinearization, galois, label.identity)


def _name(galois: int | None) -> str:
    return "relinearize" if galois is None else f"{_GALOIS}{galois}"


def _check_key(path: Path, name: str, data: torch.Tensor, parameters: Parameters) -> None:
    primes = parameters.primes
    shape = (parameters.digit_count(), 2, len(primes), parameters.ring_degree)
    if name == "public":
        primes = parameters.q
        shape = (2, len(primes), parameters.ring_degree)
    _check_residues(f"key '{name}' in '{path}'", data, shape, primes, parameters)


def _check_residues(
    what: str,
    data: torch.Tensor,
    shape: tuple[int, ...],
    primes: tuple[int, ...],
    parameters: Parameters,
) -> None:
    dtype = torch.int32 if parameters.word_bits == 32 else torch.int64
    if tuple(data.shape) != shape or data.dtype != dtype:
        raise FheliumError(f"{what} is not {dtype} of shape {list(shape)}")
    limits = torch.tensor(primes, dtype=dtype)[:, None]
    if bool((data < 0).any()) or bool((data >= limits).any()):
        raise FheliumError(f"{what} holds a word outside [0, q)")


def _secret_file(path: Path, secret: SecretKey) -> NewFile:
    tensors = {"secret": torch.as_tensor(secret.coefficients.astype(np.int8))}
    label = Label(_SECRET, secret.parameters.hash(), secret.insecure, secret.identity)
    return NewFile(path, tensor_file(tensors, label), PRIVATE)


def _keys_file(path: Path, keys: KeySet) -> NewFile:
    tensors = {_name(element): key.data for element, key in keys.galois.items()}
    if keys.public is not None:
        tensors["public"] = keys.public.data
    if keys.relinearization is not None:
        tensors[_name(None)] = keys.relinearization.data
    label = Label(_KEYS, keys.parameters.hash(), keys.insecure, keys.identity)
    return NewFile(path, tensor_file(tensors, label))


# Ciphertexts.


def save_inputs(path: Path | str, interface: Interface, inputs: Ciphertexts) -> None:
    """Write the encrypted inputs of a program."""
    _save_ciphertexts(Path(path), interface, inputs, _INPUTS)


def save_results(path: Path | str, interface: Interface, results: Ciphertexts) -> None:
    """Write the encrypted results of a program; their names are those of the interface."""
    _save_ciphertexts(Path(path), interface, results, _RESULTS)


def load_inputs(path: Path | str, interface: Interface) -> Ciphertexts:
    """Read the encrypted inputs of a program; FheliumError for a missing or malformed one."""
    expected = {a.name: (a.size, a.level) for a in interface.encrypted}
    return _load_ciphertexts(Path(path), interface, _INPUTS, "input", expected)


def load_results(path: Path | str, interface: Interface) -> Ciphertexts:
    """Read the encrypted results of a program; FheliumError for a missing or malformed one."""
    expected = {result.name: (result.size, result.level) for result in interface.results}
    return _load_ciphertexts(Path(path), interface, _RESULTS, "result", expected)


def _save_ciphertexts(path: Path, interface: Interface, given: Ciphertexts, content: str) -> None:
    label = Label(
        content, interface.parameters.hash(), given.insecure, given.identity, interface.hash()
    )
    # A program may return one tensor twice; safetensors refuses tensors that share memory.
    tensors = {name: tensor.cpu().contiguous().clone() for name, tensor in given.tensors.items()}
    write_files([NewFile(path, tensor_file(tensors, label))])


def _load_ciphertexts(
    path: Path,
    interface: Interface,
    content: str,
    kind: str,
    expected: Mapping[str, tuple[int, int]],
) -> Ciphertexts:
    parameters = interface.parameters
    tensors, label = read_tensors(path, content, parameters.hash())
    if label.program != interface.hash():
        raise FheliumError(f"'{path}' belongs to another program than '{interface.name}'")
    for name in tensors:
        if name not in expected:
            raise FheliumError(f"'{path}' holds an unknown {kind} '{name}'")
    for name, (size, level) in expected.items():
        if name not in tensors:
            raise FheliumError(f"'{path}': {kind} '{name}' is missing")
        shape, primes = (size, level + 1, parameters.ring_degree), parameters.q[: level + 1]
        _check_residues(f"{kind} '{name}' in '{path}'", tensors[name], shape, primes, parameters)
    return Ciphertexts(tensors, label.identity, label.insecure)


def save_values(path: Path | str, values: Mapping[str, NDArray[Any]]) -> None:
    """Write decrypted results as JSON, mode 0600: an object of named lists.

    A complex vector is a list of [re, im], a real tensor nested lists of numbers.
    """
    content = {name: _plain_data(array) for name, array in values.items()}
    write_files([NewFile(Path(path), (json.dumps(content) + "\n").encode(), PRIVATE)])


def _plain_data(array: NDArray[Any]) -> object:
    if array.dtype.kind == "c":
        return [[value.real, value.imag] for value in array.tolist()]
    return array.tolist()


# Interfaces.


def interface_text(interface: Interface, **server: object) -> str:
    """The interface as the text of its file; `server` is what only the server reads."""
    content = {
        "format": FORMAT,
        "version": VERSION,
        "content": CONTENT,
        "program": interface.hash(),
        **interface.facts(),
        "server": server,
    }
    return json.dumps(content, indent=2) + "\n"


def load_interface(path: Path | str) -> Interface:
    """The interface of a compiled program, from its file or the folder that holds it.

    Raises:
        FheliumError: there is none, or it is damaged.
    """
    return read_interface(path)[0]


def read_interface(path: Path | str) -> tuple[Interface, Mapping[str, object]]:
    """The interface of a compiled program, and what only the server reads."""
    file = Path(path)
    if file.is_dir():
        file = file / INTERFACE_FILE
    try:
        loaded: object = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        reason = error.strerror or error
        raise FheliumError(f"cannot read '{file}' as a {CONTENT}: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise FheliumError(f"cannot read '{file}' as a {CONTENT}: {error}") from error
    facts = cast("dict[str, object]", loaded) if isinstance(loaded, dict) else {}
    if (facts.get("format"), facts.get("content")) != (FORMAT, CONTENT):
        raise FheliumError(f"'{file}' does not hold a {CONTENT}")
    check_version(file, facts.get("version"))
    try:
        interface = Interface.of_facts(facts)
    except FheliumError as error:
        raise FheliumError(f"'{file}' is damaged: {error.message}") from error
    if facts.get("program") != interface.hash():
        raise FheliumError(f"'{file}' is damaged: its hash differs")
    server = facts.get("server")
    return interface, cast("dict[str, object]", server) if isinstance(server, dict) else {}
