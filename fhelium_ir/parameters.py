"""CKKS parameters: the ring, the modulus chain, the special primes and their rules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2, prod

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.primes import is_prime

SECRETS = ("ternary",)
"""Secret distributions that the client can sample."""

PRIME_LIMIT = 1 << 62
"""Every arithmetic works on primes below this."""

SECURITY_LIMITS = {
    1 << 10: 26,
    1 << 11: 53,
    1 << 12: 106,
    1 << 13: 214,
    1 << 14: 430,
    1 << 15: 868,
    1 << 16: 1747,
    1 << 17: 3523,
}
"""Largest log2(P * Q) by ring degree for 128-bit classical security with a ternary secret and an
error of standard deviation 3.19 or more: Bossuat et al., "Security guidelines for implementing
homomorphic encryption" (2024)."""


@dataclass(frozen=True)
class Parameters:
    """The ring, the moduli and the key-switching gadget of one CKKS instance.

    Attributes:
        ring_degree: N, a power of two.
        q: primes q_0..q_L of the chain in level order; q_0 is the last to remain.
        p: special primes of key switching.
        digits: number of digits asked for; `digit_count` is the number in use.
        scale_bits: log2 of the default scale.
        secret: distribution of the secret, one of `SECRETS`.
        insecure: accepts what misses the 128-bit limit.
    """

    ring_degree: int
    q: tuple[int, ...]
    p: tuple[int, ...]
    digits: int
    scale_bits: int
    secret: str = "ternary"
    insecure: bool = False

    @property
    def top_level(self) -> int:
        """Level of a fresh ciphertext."""
        return len(self.q) - 1

    @property
    def slots(self) -> int:
        """Complex values per plaintext: N/2."""
        return self.ring_degree // 2

    @property
    def primes(self) -> tuple[int, ...]:
        """All primes, the chain first."""
        return self.q + self.p

    @property
    def default_scale(self) -> Fraction:
        """2^scale_bits."""
        return Fraction(1 << self.scale_bits)

    @property
    def word_bits(self) -> int:
        """Width of the words of interface tensors: 32 if every prime is below 2^30, else 64."""
        return 32 if max(self.primes) < 1 << 30 else 64

    @property
    def digit_size(self) -> int:
        """Limbs per key-switching digit; the last digit may hold fewer."""
        return -(-len(self.q) // self.digits)

    def digit_count(self, limbs: int | None = None) -> int:
        """Digits of a polynomial of `limbs` limbs (default: all of the chain)."""
        return -(-(len(self.q) if limbs is None else limbs) // self.digit_size)

    def digit(self, index: int) -> range:
        """Indices into q of the limbs of one digit of the whole chain."""
        start = index * self.digit_size
        return range(start, min(start + self.digit_size, len(self.q)))

    def digit_product(self, index: int) -> int:
        """Product of the primes of one digit of the whole chain."""
        return prod(self.q[limb] for limb in self.digit(index))

    def galois(self, steps: int) -> int:
        """Galois element of the left rotation by `steps` slots: 5^steps mod 2N."""
        return pow(5, steps % self.slots, 2 * self.ring_degree)

    @property
    def conjugation(self) -> int:
        """Galois element of complex conjugation."""
        return 2 * self.ring_degree - 1

    def modulus(self, level: int) -> int:
        """q_0 * ... * q_level."""
        return prod(self.q[: level + 1])

    def hash(self) -> str:
        """SHA-256 over the facts that keys depend on, in hex: not the scale or `insecure`."""
        facts = [self.ring_degree, list(self.q), list(self.p), self.digits, self.secret]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def validate(self) -> None:
        """Checks what every computation needs.

        Raises:
            FheliumError: names the prime or the number that breaks a rule.
        """
        self.validate_shape()
        for name, primes in (("q", self.q), ("p", self.p)):
            _check_primes(name, primes, self.ring_degree)
        for prime in self.p:
            if prime in self.q:
                raise FheliumError(f"modulus {prime} stands in both q and p")
        special = prod(self.p)
        for index in range(self.digit_count()):
            product = self.digit_product(index)
            if product > special:
                raise FheliumError(
                    f"the special primes ({log2_text(special, 1)} bits) are smaller than the digit "
                    f"that starts at q{self.digit(index).start} ({log2_text(product, 1)} bits)"
                )

    def validate_shape(self) -> None:
        """Checks all but the values of the primes.

        Raises:
            FheliumError: names the number that breaks a rule.
        """
        degree = self.ring_degree
        if degree < 8 or degree > 1 << 17 or degree & (degree - 1):
            raise FheliumError(f"ring degree {degree} is not a power of two from 8 to 131072")
        if not self.q or not self.p:
            raise FheliumError("parameters need at least one prime in q and one in p")
        if not 1 <= self.digits <= len(self.q):
            raise FheliumError(f"digits = {self.digits} is not between 1 and {len(self.q)} primes")
        if not 1 <= self.scale_bits < 1024:
            raise FheliumError(f"default scale 2**{self.scale_bits} is out of range")
        if self.secret not in SECRETS:
            raise FheliumError(f"unknown secret distribution '{self.secret}'")

    def check_security(self) -> None:
        """Compares the exact product P * Q with the 128-bit limit unless marked insecure.

        Raises:
            FheliumError: states log2(P * Q), the limit and what to do.
        """
        if self.insecure:
            return
        limit = SECURITY_LIMITS.get(self.ring_degree)
        modulus = prod(self.primes)
        if limit is None:
            raise FheliumError(
                f"no 128-bit security limit is known for ring degree {self.ring_degree}; "
                "use 1024 to 131072, or write `insecure` in the parameters"
            )
        if modulus > 1 << limit:
            raise FheliumError(
                f"parameters are insecure: log2(P*Q) = {log2_text(modulus, 2)} is above {limit}, "
                f"the 128-bit limit of ring degree {self.ring_degree}; use fewer or smaller "
                "primes, a larger ring, or write `insecure` in the parameters"
            )


def log2_text(value: int, decimals: int) -> str:
    """log2 of a positive integer, rounded up: what exceeds a power of two never prints as it."""
    unit = 10**decimals
    count = ceil(log2(value) * unit)
    whole, part = divmod(count, unit)
    # just above 2^whole the logarithm is the same float as at 2^whole
    if part == 0 and value > 1 << whole:
        count += 1
    return f"{count / unit:.{decimals}f}"


def _check_primes(name: str, primes: Sequence[int], degree: int) -> None:
    seen: set[int] = set()
    for prime in primes:
        if prime in seen:
            raise FheliumError(f"modulus {prime} is repeated in {name}")
        seen.add(prime)
        if not 2 < prime < PRIME_LIMIT:
            raise FheliumError(f"modulus {prime} in {name} is not between 3 and 2^62")
        if not is_prime(prime):
            raise FheliumError(f"modulus {prime} in {name} is not prime")
        if (prime - 1) % (2 * degree):
            raise FheliumError(f"modulus {prime} in {name} is not 1 modulo {2 * degree}")
