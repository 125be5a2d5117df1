"""Inputs of a program: named vectors, from Python or from JSON, checked against its interface."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import ArrayLike

from fhelium_ir.client.encoding import ComplexArray, encode, replicate
from fhelium_ir.client.encryption import encrypt_values, plaintext_tensor
from fhelium_ir.client.interface import Argument, Interface
from fhelium_ir.client.keys import PublicKey, SecretKey
from fhelium_ir.client.randomness import Randomness
from fhelium_ir.compiler.errors import FheliumError


def encrypt_inputs(
    key: PublicKey | SecretKey,
    interface: Interface,
    values: Mapping[str, ArrayLike],
    randomness: Randomness,
) -> dict[str, torch.Tensor]:
    """Encrypts the program's encrypted inputs: torch [2, level+1, N] by name.

    Raises:
        FheliumError: an input is missing, unknown, of another length, out of its range, or has no headroom.
    """
    vectors = checked_vectors(interface.encrypted, values, others=interface.plaintexts)
    return {
        argument.name: encrypt_values(
            key,
            vectors[argument.name],
            argument.scale,
            _encryptable(argument).level,
            randomness,
            f"input '{argument.name}'",
        )
        for argument in interface.encrypted
    }


def _encryptable(argument: Argument) -> Argument:
    if argument.size != 2:
        raise FheliumError(
            f"input '{argument.name}' is a ciphertext of size {argument.size}; "
            "a client encrypts ciphertexts of size 2"
        )
    return argument


def encode_plaintexts(
    interface: Interface, values: Mapping[str, ArrayLike]
) -> dict[str, torch.Tensor]:
    """Encodes the program's plaintext inputs: torch [1, level+1, N] by name.

    Raises:
        FheliumError: an input is missing, unknown, of another length, or out of its range.
    """
    parameters = interface.parameters
    vectors = checked_vectors(interface.plaintexts, values, others=interface.encrypted)
    encoded: dict[str, torch.Tensor] = {}
    for argument in interface.plaintexts:
        name, vector = f"input '{argument.name}'", vectors[argument.name]
        coefficients = encode(vector, argument.scale, parameters.ring_degree, name)
        encoded[argument.name] = plaintext_tensor(parameters, coefficients, argument.level)
    return encoded


def checked_vectors(
    arguments: Sequence[Argument],
    values: Mapping[str, object],
    where: str = "",
    others: Sequence[Argument] = (),
) -> dict[str, ComplexArray]:
    """One complex128 vector [length] for each argument.

    Args:
        values: lists or arrays by name.
        where: what to put in front of an error.
        others: inputs of the program that are given elsewhere.

    Raises:
        FheliumError: names a missing, unknown or malformed input.
    """
    names = [argument.name for argument in arguments]
    for name in values:
        other = next((argument for argument in others if argument.name == name), None)
        if other is not None:
            place = "is encrypted by the client" if other.encrypted else "is given to the server"
            raise FheliumError(f"{where}input '{name}' {place}, it does not belong here")
        if name not in names:
            known = f"expected {', '.join(names)}" if names else "there are none to give"
            raise FheliumError(f"{where}unknown input '{name}', {known}")
    return {argument.name: _vector(argument, values, where) for argument in arguments}


def _vector(argument: Argument, values: Mapping[str, object], where: str) -> ComplexArray:
    name = argument.name
    if name not in values:
        raise FheliumError(f"{where}input '{name}' is missing")
    given = values[name]
    if isinstance(given, list):
        entries = cast("list[object]", given)
        _check_length(argument, len(entries), where)
        vector = np.array([_number(entry, name, where) for entry in entries], dtype=np.complex128)
    else:
        vector = _array(given, name, where)
        _check_length(argument, vector.size, where)
    largest = float(np.abs(vector).max())
    if not largest <= argument.range * (1 + 1e-12):
        raise FheliumError(
            f"{where}input '{name}' holds a number of absolute value {largest:g}, the program "
            f"states a range of {argument.range:g} (`ckks.range` on the argument)"
        )
    return vector


def _check_length(argument: Argument, found: int, where: str) -> None:
    if found != argument.length:
        raise FheliumError(
            f"{where}input '{argument.name}' must have {argument.length} numbers, found {found}"
        )


def _array(given: object, name: str, where: str) -> ComplexArray:
    if not isinstance(given, np.ndarray | tuple | torch.Tensor):
        raise FheliumError(f"{where}input '{name}' must be a list of numbers")
    try:
        vector = np.asarray(cast("ArrayLike", given))
    except (TypeError, ValueError) as error:
        raise FheliumError(f"{where}input '{name}' must hold numbers: {error}") from error
    if vector.dtype.kind not in "iufc":
        raise FheliumError(f"{where}input '{name}' must hold numbers, found {vector.dtype}")
    return replicate(vector, vector.size, f"{where}input '{name}'")


def _number(entry: object, name: str, where: str) -> complex:
    if isinstance(entry, np.generic):
        entry = cast(object, entry.item())
    if isinstance(entry, complex):
        entry = [entry.real, entry.imag]
    parts = cast("list[object]", entry) if isinstance(entry, list) else [entry]
    if len(parts) not in (1, 2) or not all(
        isinstance(part, int | float) and not isinstance(part, bool) for part in parts
    ):
        raise FheliumError(f"{where}input '{name}' holds {entry!r}, expected a number or [re, im]")
    try:
        numbers = [float(cast("int | float", part)) for part in parts]
    except OverflowError as error:
        raise FheliumError(f"{where}input '{name}' holds an integer beyond 2^1024") from error
    if not all(math.isfinite(number) for number in numbers):
        raise FheliumError(f"{where}input '{name}' holds {entry!r}, which is not finite")
    return complex(*numbers)


def random_inputs(arguments: Iterable[Argument], seed: int | None) -> dict[str, ComplexArray]:
    """Random real numbers in [-range, range] for each argument."""
    generator = np.random.default_rng(seed)
    return {
        argument.name: generator.uniform(-argument.range, argument.range, argument.length)
        + np.zeros(argument.length, dtype=np.complex128)
        for argument in arguments
    }


def read_vectors(
    path: str, arguments: Sequence[Argument], others: Sequence[Argument] = ()
) -> dict[str, ComplexArray]:
    """The vectors of a JSON file: an object of named lists, complex numbers as [re, im].

    Raises:
        FheliumError: names a missing, unknown or malformed input.
    """
    return checked_vectors(arguments, read_object(path), f"'{path}': ", others)


def read_inputs(path: str, interface: Interface, encrypted: bool) -> dict[str, ComplexArray]:
    """The vectors of the inputs that the client encrypts, or of those that the server gives in plain.

    Where the program has a layout, the JSON file holds the tensors of the source program.

    Raises:
        FheliumError: names a missing, unknown or malformed input.
    """
    mine, others = interface.plaintexts, interface.encrypted
    if encrypted:
        mine, others = others, mine
    if interface.layout is None:
        return read_vectors(path, mine, others)
    tensors = interface.layout.read(read_object(path), encrypted, f"'{path}': ")
    return interface.layout.pack(tensors, [argument.name for argument in mine], encrypted)


def read_object(path: str) -> dict[str, object]:
    """The object that a JSON file holds; FheliumError if it holds none, or a name twice."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        loaded: object = json.loads(text, object_pairs_hook=_named_once)
    except OSError as error:
        raise FheliumError(f"cannot read '{path}': {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise FheliumError(f"'{path}' is not JSON: {error}") from error
    if not isinstance(loaded, dict):
        raise FheliumError(f"'{path}' must hold an object of named vectors")
    return cast("dict[str, object]", loaded)


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object; raises ValueError for a name that stands there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"input '{twice}' stands there twice")
    return found
