"""Secret, public and evaluation keys.

Evaluation keys use the hybrid gadget (Han and Ki, "Better bootstrapping for approximate
homomorphic encryption", 2020) independent of the level: key j encrypts P*s' modulo the primes of
digit j and 0 modulo all others, so that one key serves every level. Key tensors are in the
evaluation domain, bit-reversed, canonical [0, q), limbs in the order Q, P; int32 when every prime
is below 2^30, else int64. No constant-time claim is made.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch

from fhelium_ir.client.modular import IntArray, add, mul, mul_factor, prepare, signed_residues, sub
from fhelium_ir.client.randomness import Randomness
from fhelium_ir.client.transform import automorphism, forward
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

KeyKind = Literal["relinearize", "galois"]


@dataclass(frozen=True, eq=False)
class SecretKey:
    """The secret polynomial s.

    Attributes:
        coefficients: int64 [N], values -1, 0, 1.
        evaluations: int64 [L+K, N], evaluation domain, bit-reversed, [0, q), Q then P.
        insecure: made from a test seed, or under insecure parameters.
        identity: random text that files of this key and of all made with it carry; it says nothing about the key.
    """

    parameters: Parameters
    coefficients: IntArray = field(repr=False)
    evaluations: IntArray = field(repr=False)
    insecure: bool
    identity: str = ""


@dataclass(frozen=True, eq=False)
class PublicKey:
    """An encryption of zero (b, a), b = -a*s + e, over Q: torch [2, L, N]."""

    parameters: Parameters
    data: torch.Tensor
    insecure: bool


@dataclass(frozen=True, eq=False)
class EvaluationKey:
    """Switches s' to s: torch [digits, 2, L+K, N], digit j is (b_j, a_j).

    s' is s^2 for kind "relinearize" (galois is None), s(X^galois) for kind "galois".
    """

    parameters: Parameters
    kind: KeyKind
    galois: int | None
    data: torch.Tensor
    insecure: bool


@dataclass(frozen=True, eq=False)
class KeySet:
    """The keys a client hands out: no secret key. Galois keys are indexed by Galois element.

    `identity` is that of the secret key.
    """

    parameters: Parameters
    public: PublicKey | None
    relinearization: EvaluationKey | None
    galois: Mapping[int, EvaluationKey]
    identity: str = ""

    @property
    def insecure(self) -> bool:
        """Whether a key of the set is insecure."""
        keys = (self.public, self.relinearization, *self.galois.values())
        return any(key is not None and key.insecure for key in keys)


def secret_key(
    parameters: Parameters, coefficients: IntArray, insecure: bool, identity: str = ""
) -> SecretKey:
    """The secret key with given int64 coefficients [N] in -1, 0, 1."""
    return SecretKey(
        parameters,
        coefficients,
        small_evaluations(coefficients, parameters.primes),
        insecure or parameters.insecure,
        identity,
    )


def small_evaluations(coefficients: IntArray, primes: tuple[int, ...]) -> IntArray:
    """Evaluations [..., limbs, N] of a signed int64 polynomial [..., N] modulo each prime."""
    return np.stack([forward(signed_residues(coefficients, q), q) for q in primes], axis=-2)


def interface_tensor(values: IntArray, parameters: Parameters) -> torch.Tensor:
    """A contiguous torch tensor of the interface dtype from canonical residues."""
    dtype = np.int32 if parameters.word_bits == 32 else np.int64
    return torch.as_tensor(np.ascontiguousarray(values, dtype=dtype))


class KeyGenerator:
    """Makes keys from one source of randomness.

    Args:
        parameters: a valid set.
        seed: test seed; marks every key insecure.
        randomness: shares the streams of a client instead of starting new ones.
    """

    def __init__(
        self, parameters: Parameters, seed: int | None = None, randomness: Randomness | None = None
    ) -> None:
        parameters.validate()
        self.parameters = parameters
        self._randomness = Randomness(seed) if randomness is None else randomness

    def secret(self) -> SecretKey:
        """A fresh secret with uniform coefficients in -1, 0, 1."""
        coefficients = self._randomness.stream("secret").ternary(self.parameters.ring_degree)
        identity = self._randomness.stream("identity").bytes(16).hex()
        return secret_key(self.parameters, coefficients, self._randomness.insecure, identity)

    def public(self, secret: SecretKey) -> PublicKey:
        """An encryption of zero over the whole chain Q."""
        pair = self._zeros(secret, "public", self.parameters.q, 1)[0]
        data = interface_tensor(pair, self.parameters)
        return PublicKey(self.parameters, data, self._insecure(secret))

    def relinearization(self, secret: SecretKey) -> EvaluationKey:
        """The key from s^2 to s."""
        squares = [
            mul(row, row, q)
            for row, q in zip(secret.evaluations, self.parameters.primes, strict=True)
        ]
        return self._switching(secret, "relinearize", None, np.stack(squares))

    def rotation(self, secret: SecretKey, steps: int) -> EvaluationKey:
        """The key of the left rotation by `steps` slots."""
        return self.galois(secret, self.parameters.galois(steps))

    def conjugation(self, secret: SecretKey) -> EvaluationKey:
        """The key of complex conjugation."""
        return self.galois(secret, self.parameters.conjugation)

    def galois(self, secret: SecretKey, element: int) -> EvaluationKey:
        """The key from s(X^element) to s; element is odd, between 1 and 2N."""
        if element % 2 == 0 or not 0 < element < 2 * self.parameters.ring_degree:
            raise FheliumError(f"{element} is not a Galois element: odd, from 1 to 2N - 1")
        image = automorphism(secret.coefficients, element)
        evaluations = small_evaluations(image, self.parameters.primes)
        return self._switching(secret, "galois", element, evaluations)

    def _switching(
        self, secret: SecretKey, kind: KeyKind, element: int | None, source: IntArray
    ) -> EvaluationKey:
        parameters = self.parameters
        count = parameters.digit_count()
        data = self._zeros(secret, "evaluation", parameters.primes, count)
        gadget = math.prod(parameters.p)
        for index, q in enumerate(parameters.q):
            digit = index // parameters.digit_size
            term = mul(source[index], gadget % q, q)
            data[digit, 0, index] = add(data[digit, 0, index], term, q)
        tensor = interface_tensor(data, parameters)
        return EvaluationKey(parameters, kind, element, tensor, self._insecure(secret))

    def _zeros(
        self, secret: SecretKey, purpose: str, primes: tuple[int, ...], count: int
    ) -> IntArray:
        """`count` encryptions of zero (-a*s + e, a): [count, 2, limbs, N]."""
        degree = self.parameters.ring_degree
        mask = self._randomness.stream(f"{purpose} mask")
        error = self._randomness.stream(f"{purpose} error").error(count * degree)
        errors = error.reshape(count, degree)
        data = np.empty((count, 2, len(primes), degree), dtype=np.int64)
        for index, q in enumerate(primes):
            a = mask.uniform(q, count * degree).reshape(count, degree)
            product = mul_factor(a, prepare(secret.evaluations[index], q))
            data[:, 0, index] = sub(forward(signed_residues(errors, q), q), product, q)
            data[:, 1, index] = a
        return data

    def _insecure(self, secret: SecretKey) -> bool:
        return secret.insecure or self._randomness.insecure
