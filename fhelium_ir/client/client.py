"""The data owner: holds the secret key, encrypts inputs, makes keys, decrypts results."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import torch
from numpy.typing import ArrayLike

from fhelium_ir.client.encoding import ComplexArray, decode, encode
from fhelium_ir.client.encryption import decrypt, encrypt_values, flood, plaintext_tensor
from fhelium_ir.client.inputs import encrypt_inputs
from fhelium_ir.client.interface import Interface
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
            self.secret.identity,
        )

    def keygen(self, interface: Interface) -> KeySet:
        """The public key, and the evaluation keys that a program needs and no others."""
        self._check(interface)
        elements = [galois for _, galois in interface.required_keys if galois is not None]
        return self.key_set(("relinearize", None) in interface.required_keys, elements)

    def encrypt(
        self, interface: Interface, values: Mapping[str, ArrayLike]
    ) -> dict[str, torch.Tensor]:
        """Encrypts the inputs of a program with the public key: torch [2, level+1, N] by name.

        Args:
            values: for each encrypted input a vector of the length that the program states.

        Raises:
            FheliumError: an input is missing, unknown, of another length, out of its range, or has no headroom.
        """
        self._check(interface)
        return encrypt_inputs(self.public, interface, values, self._randomness)

    def decrypt(
        self, interface: Interface, results: Sequence[torch.Tensor], flood: int | None = None
    ) -> list[ComplexArray]:
        """Decrypts the results of a program: complex128 [slots] each.

        Args:
            results: one ciphertext per result, on any device.
            flood: bits of uniform noise to add to each coefficient before decoding, so that results may be shown to
                others; see docs/security.md for how many are needed.

        Raises:
            FheliumError: a result is missing or does not fit the program.
        """
        self._check(interface)
        if len(results) != len(interface.results):
            raise FheliumError(
                f"program '{interface.name}' has {len(interface.results)} results, "
                f"found {len(results)}"
            )
        return [
            self.decrypt_vector(tensor, result.scale, flood)
            for tensor, result in zip(results, interface.results, strict=True)
        ]

    def _check(self, interface: Interface) -> None:
        if interface.parameters.hash() != self.parameters.hash():
            raise FheliumError(f"program '{interface.name}' was compiled for other parameters")

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
        key = self.secret if symmetric else self.public
        return encrypt_values(key, values, scale, level, self._randomness, name)

    def encode_plaintext(
        self,
        values: ArrayLike,
        scale: Fraction | int,
        level: int,
        name: str = "plaintext",
        extended: bool = False,
    ) -> torch.Tensor:
        """Encode complex values, replicated to all slots: torch [1, level+1, N].

        An extended plaintext has the limbs of the special primes too, [1, level+1+K, N].
        """
        coefficients = encode(values, scale, self.parameters.ring_degree, name)
        return plaintext_tensor(self.parameters, coefficients, level, extended)

    def decrypt_vector(
        self, ciphertext: torch.Tensor, scale: Fraction | int, noise_bits: int | None = None
    ) -> ComplexArray:
        """Decrypt and decode to complex128 [slots].

        The result carries the CKKS error, which leaks information on the secret key to whoever
        sees it (IND-CPA-D): publish it only with noise added, which `noise_bits` does (see `flood`).
        """
        coefficients = decrypt(self.secret, ciphertext)
        if noise_bits is not None:
            modulus = self.parameters.modulus(ciphertext.shape[1] - 1)
            coefficients = flood(coefficients, noise_bits, modulus, self._randomness)
        return decode(coefficients, scale)
