"""Primality of word-sized integers."""

from __future__ import annotations

_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)


def is_prime(n: int) -> bool:
    """Whether n is prime; larger n than 64 bits raise ValueError.

    Miller-Rabin with the first twelve primes, which decides every n < 2^64 (Sorenson and Webster,
    "Strong pseudoprimes to twelve prime bases", 2015).
    """
    if n >= 1 << 64:
        raise ValueError(f"primality is decided below 2^64 only, not for {n}")
    if n < 2:
        return False
    for small in _WITNESSES:
        if n % small == 0:
            return n == small
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    return all(_passes(n, witness, odd, twos) for witness in _WITNESSES)


def _passes(n: int, witness: int, odd: int, twos: int) -> bool:
    x = pow(witness, odd, n)
    if x in (1, n - 1):
        return True
    for _ in range(twos - 1):
        x = x * x % n
        if x == n - 1:
            return True
    return False
