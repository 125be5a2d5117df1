"""The operations that are timed: texts, inputs, and what they must at least move and multiply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import torch

from fhelium_ir.client.parameters import generate
from fhelium_ir.parameters import Parameters

PRIME_BITS = 50
DIGITS = 3
LIMBS = {1 << 13: 6, 1 << 14: 8, 1 << 15: 15, 1 << 16: 24}
"""Limbs of q by ring degree; p has as many as a digit."""

SCALE_BITS = 40


@dataclass(frozen=True)
class Row:
    """A program, and the modular products in it.

    Attributes:
        name: of the row.
        text: the program; its function is `row`.
        polynomial: it is one of the polynomial stage.
        products: modular products of words.
    """

    name: str
    text: str
    polynomial: bool
    products: int


@dataclass
class RandomMaterials:
    """Keys and plaintexts of random residues: what is computed does not depend on their meaning."""

    parameters: Parameters
    seed: int
    keys: dict[tuple[str, int | None], torch.Tensor] = field(
        default_factory=dict[tuple[str, int | None], torch.Tensor]
    )

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        """The same key each time that it is asked for."""
        if (kind, galois) not in self.keys:
            chosen = self.parameters
            size = -(-len(chosen.q) // chosen.digits)
            digits = -(-len(chosen.q) // size)
            primes = [*chosen.q, *chosen.p]
            shape = (digits, 2)
            seed = self.seed + 1 + (galois or 0)
            self.keys[kind, galois] = residues(shape, primes, chosen.ring_degree, seed)
        return self.keys[kind, galois]

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        """No row declares one."""
        raise NotImplementedError


def residues(shape: tuple[int, ...], primes: Sequence[int], degree: int, seed: int) -> torch.Tensor:
    """Random words below their primes, [*shape, primes, degree]."""
    generator = np.random.default_rng(seed)
    words = np.empty((*shape, len(primes), degree), dtype=np.int64)
    for limb, prime in enumerate(primes):
        words[..., limb, :] = generator.integers(0, prime, (*shape, degree))
    return torch.from_numpy(words)


def setting(degree: int) -> Parameters:
    """The parameters of a ring degree; no attention is paid to security."""
    limbs = LIMBS[degree]
    special = -(-limbs // DIGITS)
    return generate(
        degree, [PRIME_BITS] * limbs, [PRIME_BITS] * special, DIGITS, SCALE_BITS, insecure=True
    )


def rows(chosen: Parameters) -> list[Row]:
    """All rows of a ring degree, at its top level."""
    degree, limbs, special = chosen.ring_degree, len(chosen.q), len(chosen.p)
    level = limbs - 1
    one = f"!ckks.ciphertext<level = {level}, scale = 2**{SCALE_BITS}>"
    plain = f"!ckks.plaintext<level = {level}, scale = 2**{SCALE_BITS}>"
    two = f"level = {level}, scale = 2**{2 * SCALE_BITS}"
    transform = degree // 2 * (degree.bit_length() - 1)
    digit = -(-limbs // DIGITS)
    sizes = [min(digit, limbs - first) for first in range(0, limbs, digit)]
    total = limbs + special
    switch = (
        transform * (limbs + sum(total - size for size in sizes) + 2 * special + 2 * limbs)
        + degree * sum(size * (total - size) for size in sizes)
        + degree * (2 * len(sizes) * total + 2 * special * limbs + 2 * limbs)
    )
    rescale = 2 * (transform * limbs + degree * 2 * level)

    def program(name: str, arguments: str, body: str, result: str, products: int) -> Row:
        function = f"func.func @row({arguments}) -> {result} {{\n{body}return %r : {result}\n}}"
        return Row(name, _module(chosen, function), False, products)

    def transformed(name: str, op: str, source: str, target: str) -> Row:
        types = [f"!rns.poly<{degree}, q 0:{limbs}, components = 2, {d}>" for d in (source, target)]
        function = (
            f"func.func @row(%x : {types[0]}) -> {types[1]} {{\n"
            f"%r = {op} %x : {types[0]}\nreturn %r : {types[1]}\n}}"
        )
        return Row(name, _module(chosen, function), True, 2 * limbs * transform)

    return [
        transformed("forward", "ntt.forward", "coefficient", "evaluation(?)"),
        transformed("inverse", "ntt.inverse", "evaluation(bit_reversed)", "coefficient"),
        program(
            "multiply",
            f"%x : {one}, %y : {one}",
            f"%0 = ckks.mul %x, %y : {one}\n"
            f"%1 = ckks.relinearize %0 : !ckks.ciphertext<{two}, size = 3>\n"
            f"%r = ckks.rescale %1 : !ckks.ciphertext<{two}>\n",
            f"!ckks.ciphertext<level = {level - 1}, scale = 2**{2 * SCALE_BITS} / q{level}>",
            switch + rescale + 4 * limbs * degree,
        ),
        program(
            "rotate", f"%x : {one}", f"%r = ckks.rotate %x {{steps = 1}} : {one}\n", one, switch
        ),
        program(
            "rescale",
            f"%x : {one}",
            f"%r = ckks.rescale %x : {one}\n",
            f"!ckks.ciphertext<level = {level - 1}, scale = 2**{SCALE_BITS} / q{level}>",
            rescale,
        ),
        program(
            "ct-pt",
            f"%x : {one}, %y : {plain}",
            f"%r = ckks.mul_plain %x, %y : {one}, {plain}\n",
            f"!ckks.ciphertext<{two}>",
            2 * limbs * degree,
        ),
        program("add", f"%x : {one}, %y : {one}", f"%r = ckks.add %x, %y : {one}\n", one, 0),
    ]


def _module(chosen: Parameters, function: str) -> str:
    attribute = (
        f"#ckks.params<ring_degree = {chosen.ring_degree}, q = {list(chosen.q)}, "
        f"p = {list(chosen.p)}, digits = {chosen.digits}, scale = 2**{chosen.scale_bits}, "
        "secret = ternary, insecure>"
    )
    return f"module attributes {{ckks.params = {attribute}}} {{\n{function}\n}}\n"


def inputs_of(
    shapes: Sequence[tuple[int, ...]], chosen: Parameters, seed: int
) -> list[torch.Tensor]:
    """Random residues for arguments of these shapes, [components, limbs, N]."""
    return [
        residues(shape[:-2], chosen.q[: shape[-2]], shape[-1], seed + number)
        for number, shape in enumerate(shapes)
    ]
