"""Random parameters: small rings mostly, one to six limbs, every number of digits, primes of all sizes."""

from __future__ import annotations

from dataclasses import replace

from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import SECRETS, Parameters
from fhelium_ir.testing.random_programs.choices import Choices

RING_DEGREES = {
    8: 24, 16: 24, 32: 20, 64: 14, 128: 8, 256: 4, 512: 2, 1024: 2, 2048: 1, 4096: 1,
}  # fmt: skip
"""With weights: programs on larger rings say little more and take longer."""

LIMBS = {2: 5, 3: 8, 4: 7, 1: 1, 5: 4, 6: 4}

FAMILIES = {
    "small": (20, 26, 30),
    "medium": (28, 42, 49),
    "large": (34, 56, 61),
}
"""Smallest and largest scale, and the largest prime, in bits: primes below 2^30, below 2^50, below 2^61."""

FAMILY_WEIGHTS = {"small": 4, "medium": 3, "large": 4}


def random_chain(choices: Choices, follow: bool = True) -> Parameters:
    """Parameters that need not be secure.

    Args:
        follow: whether the primes above q_0 follow the scale; otherwise they are of any size from 28 bits on.
    """
    while True:
        try:
            return _chain(choices, follow)
        except FheliumError:
            # a small ring or a small size has too few primes: choose again
            continue


def _chain(choices: Choices, follow: bool) -> Parameters:
    degree = choices.weighted(RING_DEGREES)
    limbs = choices.weighted(LIMBS)
    if degree >= 512:
        limbs = min(limbs, 3)
    low, high, top = FAMILIES[choices.weighted(FAMILY_WEIGHTS)]
    scale = choices.integer(low, high)
    first = min(top, scale + choices.of((8, 10, 5, 12, 3)))
    digits = choices.integer(1, limbs)
    if follow:
        q_bits = [first, *([scale] * (limbs - 1))]
    else:
        q_bits = [choices.integer(max(scale, min(28, top)), top) for _ in range(limbs)]
    size = -(-limbs // digits)
    largest = max(q_bits)
    special = [min(largest + choices.integer(0, 1), top)] * (size + choices.chance(15))
    parameters = generate(degree, q_bits, special, digits, scale, insecure=True)
    return replace(parameters, secret=choices.of(SECRETS))
