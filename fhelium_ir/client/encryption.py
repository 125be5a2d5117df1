"""Encryption and decryption of integer polynomials (RLWE); encoding is a separate step.

Decrypted CKKS results carry the encryption and evaluation error. An adversary who sees them can
learn the secret key (Li and Micciancio, "On the security of homomorphic encryption on approximate
numbers", 2021: IND-CPA-D): keep decrypted values as private as the key, or add noise first. No
constant-time claim is made.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import ArrayLike

from fhelium_ir.client.encoding import encode, from_residues, replicate, to_residues
from fhelium_ir.client.headroom import has_headroom
from fhelium_ir.client.keys import (
    PublicKey,
    SecretKey,
    interface_tensor,
    small_evaluations,
)
from fhelium_ir.client.modular import IntArray, add, mul, sub
from fhelium_ir.client.randomness import Randomness
from fhelium_ir.client.transform import forward_limbs, inverse_limbs
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters


def encrypt_values(
    key: PublicKey | SecretKey,
    values: ArrayLike,
    scale: Fraction | int,
    level: int,
    randomness: Randomness,
    name: str = "input",
) -> torch.Tensor:
    """Encodes complex values, replicated to all slots, and encrypts them: torch [2, level+1, N].

    Args:
        key: public, or secret for less noise.
        values: vector whose length divides the slot count.
        scale: exact.
        level: of the ciphertext.
        randomness: of the encryption.
        name: what to call the values in an error.

    Raises:
        FheliumError: the values do not fit the slots, are not finite, or have no headroom (see `headroom`).
    """
    parameters = key.parameters
    slots = replicate(values, parameters.slots, name)
    largest = float(np.abs(slots).max())
    if not has_headroom(scale, largest, primes_at(parameters, level)):
        raise FheliumError(
            f"{name} has no headroom at level {level}: 2 * scale * {largest:g} is not below "
            "the product of the remaining primes"
        )
    coefficients = encode(slots, scale, parameters.ring_degree, name)
    return encrypt(key, coefficients, level, randomness)


def encrypt(
    key: PublicKey | SecretKey,
    coefficients: Sequence[int],
    level: int,
    randomness: Randomness,
) -> torch.Tensor:
    """A fresh ciphertext (c0, c1) of an exact integer polynomial [N] at one level.

    Returns:
        torch [2, level+1, N], evaluation domain, bit-reversed, [0, q), interface dtype. With a
        public key c = v*(b, a) + (e0 + m, e1), v uniform ternary; with the secret key
        c = (-a*s + e + m, a).
    """
    primes = primes_at(key.parameters, level)
    message = forward_limbs(to_residues(coefficients, primes), primes)
    if isinstance(key, PublicKey):
        pair = _public_zero(key, primes, randomness)
    else:
        pair = _secret_zero(key, primes, randomness)
    for index, q in enumerate(primes):
        pair[0, index] = add(pair[0, index], message[index], q)
    return interface_tensor(pair, key.parameters)


def plaintext_tensor(
    parameters: Parameters, coefficients: Sequence[int], level: int, extended: bool = False
) -> torch.Tensor:
    """An integer polynomial [N] as interface tensor [1, level+1, N], evaluation domain.

    If it is extended, limbs modulo the special primes follow, of the integers centred modulo Q_l.
    """
    primes = primes_at(parameters, level)
    if extended:
        modulus = parameters.modulus(level)
        coefficients = [(x + modulus // 2) % modulus - modulus // 2 for x in coefficients]
        primes = (*primes, *parameters.p)
    return interface_tensor(
        forward_limbs(to_residues(coefficients, primes), primes)[None], parameters
    )


def decrypt(secret: SecretKey, ciphertext: torch.Tensor) -> list[int]:
    """c0 + c1*s (+ c2*s^2) modulo Q_l as centred integers [N].

    Args:
        secret: the secret key.
        ciphertext: [2 or 3, limbs, N], evaluation domain, bit-reversed, values in [0, q).
    """
    parameters = secret.parameters
    shape = tuple(ciphertext.shape)
    if len(shape) != 3 or shape[0] not in (2, 3) or shape[2] != parameters.ring_degree:
        raise FheliumError(
            f"a ciphertext of shape {list(shape)} does not match [2 or 3, limbs, "
            f"{parameters.ring_degree}]"
        )
    primes = primes_at(parameters, shape[1] - 1)
    words = np.asarray(ciphertext.detach().cpu().numpy(), dtype=np.int64)
    if bool((words < 0).any()) or bool((words >= np.array(primes)[:, None]).any()):
        raise FheliumError("a ciphertext holds a word outside [0, q)")
    rows: list[IntArray] = []
    for index, q in enumerate(primes):
        total = words[-1, index]
        for component in reversed(words[:-1, index]):
            total = add(mul(total, secret.evaluations[index], q), component, q)
        rows.append(total)
    return from_residues(inverse_limbs(np.stack(rows), primes), primes)


def flood(
    coefficients: Sequence[int], bits: int, modulus: int, randomness: Randomness
) -> list[int]:
    """Adds to each coefficient an integer that is uniform in [-2^(bits-1), 2^(bits-1)).

    An error of absolute value at most B in a coefficient is hidden up to a statistical distance of B / 2^bits. For
    what this gives against IND-CPA-D attacks see docs/security.md.

    Raises:
        FheliumError: not between 1 and the bits of the modulus that the coefficients are centred by.
    """
    if not 1 <= bits < modulus.bit_length():
        raise FheliumError(
            f"noise of {bits} bits was asked for: a result modulo {modulus.bit_length()} bits takes "
            f"1 to {modulus.bit_length() - 1}"
        )
    noise = randomness.stream("flooding").integers(bits, len(coefficients))
    half = 1 << (bits - 1)
    return [value + added - half for value, added in zip(coefficients, noise, strict=True)]


def primes_at(parameters: Parameters, level: int) -> tuple[int, ...]:
    """The primes q_0..q_level; raises FheliumError for a level outside the chain."""
    if not 0 <= level <= parameters.top_level:
        raise FheliumError(f"level {level} is not between 0 and {parameters.top_level}")
    return parameters.q[: level + 1]


def _public_zero(key: PublicKey, primes: tuple[int, ...], randomness: Randomness) -> IntArray:
    degree = key.parameters.ring_degree
    ephemeral = randomness.stream("encryption ephemeral").ternary(degree)
    errors = randomness.stream("encryption error").error(2 * degree).reshape(2, degree)
    v = small_evaluations(ephemeral, primes)
    pair = small_evaluations(errors, primes)
    public = np.asarray(key.data.numpy(), dtype=np.int64)
    for component in range(2):
        for index, q in enumerate(primes):
            product = mul(public[component, index], v[index], q)
            pair[component, index] = add(pair[component, index], product, q)
    return pair


def _secret_zero(key: SecretKey, primes: tuple[int, ...], randomness: Randomness) -> IntArray:
    degree = key.parameters.ring_degree
    error = randomness.stream("encryption error").error(degree)
    mask = randomness.stream("encryption mask")
    a = np.stack([mask.uniform(q, degree) for q in primes])
    b = small_evaluations(error, primes)
    for index, q in enumerate(primes):
        b[index] = sub(b[index], mul(a[index], key.evaluations[index], q), q)
    return np.stack([b, a])
