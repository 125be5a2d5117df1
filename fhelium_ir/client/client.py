"""The data owner: holds the secret key, encrypts inputs, makes keys, decrypts results."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import ArrayLike

from fhelium_ir.client.encoding import ComplexArray, decode, encode, replicate
from fhelium_ir.client.encryption import decrypt, encrypt, plaintext_tensor, primes_at
from fhelium_ir.client.headroom import has_headroom
from fhelium_ir.client.keys import (
    EvaluationKey,
    KeyGenerator,
    KeyKind,
    KeySet,
    PublicKey,
    SecretKey,
)
from fhelium_ir.client.randomness import Randomness
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters


class Client:
    """Keys and data of one owner.

    Args:
        parameters: validated and checked against the security table here.
        seed: test seed; makes everything reproducible and insecure.
        secret: an existing secret key of the same parameters, instead of a fresh one.
    """

    def __init__(
        self, parameters: Parameters, seed: int | None = None, secret: SecretKey | None = None
    ) -> None:
        parameters.validate()
        parameters.check_security()
        if secret is not None and secret.parameters != parameters:
            raise FheliumError("the secret key was made for other parameters")
        self.parameters = parameters
        self._randomness = Randomness(seed)
        self._generator = KeyGenerator(parameters, randomness=self._randomness)
        self.secret = self._generator.secret() if secret is None else secret
        self._public: PublicKey | None = None
        self._keys: dict[tuple[KeyKind, int | None], EvaluationKey] = {}

    @property
    def insecure(self) -> bool:
        """True with a test seed, under insecure parameters, or with an insecure secret key."""
        return self.secret.insecure or self._randomness.insecure

    @property
    def public(self) -> PublicKey:
        """The public key, made at first use."""
        if self._public is None:
            self._public = self._generator.public(self.secret)
        return self._public

    def key(self, kind: KeyKind, galois: int | None = None) -> EvaluationKey:
        """The evaluation key of a kind, made once; `galois` is the Galois element, not a step."""
        if (kind, galois) not in self._keys:
            if kind == "galois" and galois is not None:
                made = self._generator.galois(self.secret, galois)
            elif kind == "relinearize" and galois is None:
                made = self._generator.relinearization(self.secret)
            else:
                raise FheliumError(f"there is no key of kind '{kind}' for element {galois}")
            self._keys[kind, galois] = made
        return self._keys[kind, galois]

    def key_set(self, relinearize: bool, galois: Iterable[int]) -> KeySet:
        """The public key and the evaluation keys a program needs, for storage."""
        return KeySet(
            self.parameters,
            self.public,
            self.key("relinearize") if relinearize else None,
            {element: self.key("galois", element) for element in galois},
        )

    def encrypt_vector(
        self,
        values: ArrayLike,
        scale: Fraction | int,
        level: int,
        name: str = "input",
        symmetric: bool = False,
    ) -> torch.Tensor:
        """Encrypt complex values, replicated to all slots: torch [2, level+1, N].

        Args:
            values: vector whose length divides the slot count.
            scale: exact scale.
            level: level of the ciphertext.
            name: what to call the values in an error.
            symmetric: use the secret key (less noise) instead of the public key.

        Values without headroom (see `headroom`) are refused.
        """
        slots = replicate(values, self.parameters.slots, name)
        primes = primes_at(self.parameters, level)
        largest = float(np.abs(slots).max())
        if not has_headroom(scale, largest, primes):
            raise FheliumError(
                f"{name} has no headroom at level {level}: 2 * scale * {largest:g} is not below "
                "the product of the remaining primes"
            )
        coefficients = encode(slots, scale, self.parameters.ring_degree, name)
        key = self.secret if symmetric else self.public
        return encrypt(key, coefficients, level, self._randomness)

    def encode_plaintext(
        self, values: ArrayLike, scale: Fraction | int, level: int, name: str = "plaintext"
    ) -> torch.Tensor:
        """Encode complex values, replicated to all slots: torch [1, level+1, N]."""
        coefficients = encode(values, scale, self.parameters.ring_degree, name)
        return plaintext_tensor(self.parameters, coefficients, level)

    def decrypt_vector(self, ciphertext: torch.Tensor, scale: Fraction | int) -> ComplexArray:
        """Decrypt and decode to complex128 [slots].

        The result carries the CKKS error, which leaks information on the secret key to whoever
        sees it (IND-CPA-D): publish it only with noise added.
        """
        return decode(decrypt(self.secret, ciphertext), scale)
