"""Evaluation keys and encoded plaintexts for a program that is linked: of a key set, or of a client."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import torch

from fhelium_ir.client.client import Client
from fhelium_ir.client.encoding import encode
from fhelium_ir.client.encryption import plaintext_tensor
from fhelium_ir.client.interface import KeyName, key_names
from fhelium_ir.client.keys import KeySet
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters


class KeySetMaterials:
    """What a server has: keys that a client sent; plaintexts need none."""

    def __init__(self, keys: KeySet):
        self.keys = keys

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        """The key tensor; raises FheliumError, naming it, if the set lacks it."""
        keys = self.keys
        key = keys.relinearization if kind == "relinearize" else keys.galois.get(galois or 0)
        if key is None:
            name: KeyName = ("relinearize", None) if kind == "relinearize" else ("galois", galois)
            (words,) = key_names(keys.parameters, [name])
            element = "" if galois is None else f" (Galois element {galois})"
            raise FheliumError(f"the keys lack the key for {words}{element}")
        return key.data

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        """A constant of the program, encoded."""
        parameters = self.keys.parameters
        vector = np.array(values)
        coefficients = encode(vector, scale, parameters.ring_degree, "a constant")
        return plaintext_tensor(parameters, coefficients, level, extended)


def without_keys(parameters: Parameters) -> KeySetMaterials:
    """Materials of a program that needs no keys, or whose keys come later."""
    return KeySetMaterials(KeySet(parameters, None, None, {}))


class ClientKeys:
    """A client that makes keys as they are asked for, in one process with the server."""

    def __init__(self, client: Client):
        self.client = client

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        """The key tensor, made at first use."""
        return self.client.key("relinearize" if galois is None else "galois", galois).data

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        """A constant of the program, encoded."""
        return without_keys(self.client.parameters).plaintext(values, scale, level, extended)
