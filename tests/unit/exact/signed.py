"""Words of `smont32` for the exact tests: modules on signed words, a model of the product, and inputs that drive words
to the ends of what docs/numerics.md, "Signed words", says of them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
import pytest
import torch

from fhelium_ir.analysis import signed_bounds
from fhelium_ir.backend.executable import Executable
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import kernel_signed
from tests.unit.exact.floats import DOMAINS, Driver, Largest, centred, inverse_rows, plain_rows
from tests.unit.exact.machine import Words, facts_of, poly, region
from tests.unit.reference.textbook import primes_below, reversed_bits, root

RADIX = 1 << 32
HALF = 1 << 31

BOUNDS = {"30": 1073692673, "29": 535453697, "28.39": 350371841, "28": 267943937}
"""Primes are no larger than these. Sums of 4, 8, 12 and 16 times q/2 fit the word; at N = 4096 the second prime of each
size has a path of blocks with large factors.
"""


def capacity(q: int) -> int:
    """The largest `below` of words for a prime: an even number."""
    return RADIX // q // 2 * 2


@lru_cache
def primes_of(size: str, degree: int) -> tuple[int, ...]:
    """Three primes, the largest first."""
    found = primes_below(BOUNDS[size] + 1, degree)
    return tuple(q for q, _ in zip(found, range(3), strict=False))


def signed_facts(size: str, degree: int) -> Parameters:
    """Two primes q and a prime p of one size: p is the largest."""
    p, *q = primes_of(size, degree)
    return facts_of(degree, q, [p])


def words(below: int, exponent: int = 0) -> str:
    """The representative, as types spell it."""
    return f"smont32(e = {exponent}, below = {below})"


INTEGERS = "int32(e = 0, below = 1)"


def run(executable: Executable, *inputs: Words) -> list[Words]:
    """Runs on signed integers, and returns signed integers."""
    tensors = [torch.as_tensor(values.astype(np.int32)) for values in inputs]
    return [result.numpy().astype(object) for result in executable.run(*tensors)]


def product(x: int, w: int, q: int) -> int:
    """(x * w - m * q) / 2^32, with the signed m for which that is an integer."""
    m = (x * w * pow(q, -1, RADIX) + HALF) % RADIX - HALF
    return (x * w - m * q) >> 32


def outside(found: Words, primes: Sequence[int], below: int) -> bool:
    """Whether a word [components, rows, N] is not in [-below * q/2, below * q/2)."""
    return any(
        2 * min(row) < -below * q or 2 * max(row) >= below * q
        for part in found
        for q, row in zip(primes, part.tolist(), strict=True)
    )


@contextmanager
def largest_sum() -> Generator[Largest]:
    """Watches the sums of signed words that are computed by a `checked` executable."""
    found, add = Largest(), kernel_signed.add

    def watched(name: str, total: kernel_signed.Wide) -> kernel_signed.Checked:
        found.word = max(found.word, float(np.abs(total).max()))
        return add(name, total)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_signed, "add", watched)
        yield found


def transform_text(
    facts: Parameters, direction: str, schedule: Schedule, components: int = 1
) -> str:
    """One transform of the primes q in a region, from words of at most q to what the contract of the compiler says."""
    below = min(16, capacity(max(facts.q))) if direction == "forward" else 2
    source, target = DOMAINS[direction]
    basis = f"q 0:{len(facts.q)}"
    before = poly(facts, basis, source, components, words=words(2))
    after = poly(facts, basis, target, components, words=words(below))
    body = (
        f"%v0 = ntt.{direction} %a0 {{contract = #ntt.contract<bit_reversed, input = 2, "
        f"output = {below}, exponent = 0>, schedule = {ScheduleAttr(schedule)}}} : {before}"
    )
    return region(facts, "smont32", [before], [after], body)


@lru_cache
def factors(degree: int, q: int) -> tuple[int, ...]:
    """Centred powers psi^bitrev(j), times 2^32."""
    psi = root(degree, q)
    return tuple(centred(pow(psi, reversed_bits(j, degree), q) * RADIX, q) for j in range(degree))


class SignedDriver(Driver):
    """The driver of floats.py with products of signed words: these are largest where the low word of the product and q
    ask for m = -2^31, and v * w has the wanted sign."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.table = factors(self.degree, self.q)

    def _product(self, x: int, factor: int) -> int:
        return product(x, factor, self.q)

    def _helpful_sign(self, factor: int, wanted: int) -> int:
        return wanted if factor > 0 else -wanted


def clamped(row: Sequence[int], q: int) -> list[int]:
    """Words of [-q, q)."""
    return [min(max(word, -q), q - 1) for word in row]


def steepest_path(degree: int, q: int, stages: int) -> int:
    """The block of the last of some stages whose factor, and those on the way to it, are largest in magnitude."""
    table = factors(degree, q)

    def weight(block: int) -> int:
        # Legs grow, so later factors count for more.
        return sum(
            (stage + 2) * abs(table[(1 << stage) + (block >> (stages - 1 - stage))])
            for stage in range(stages)
        )

    return max(range(1 << (stages - 1)), key=weight)


@lru_cache
def driven_rows(degree: int, q: int, stages: int) -> tuple[tuple[int, ...], ...]:
    """Coefficients that drive the multiplied leg of a stage, of either sign, along the steepest path."""
    block = steepest_path(degree, q, stages)
    rows: list[tuple[int, ...]] = []
    for sign in (1, -1):
        rows.append(tuple(clamped(SignedDriver(degree, q, stages, block).drive(sign), q)))
    return tuple(rows)


def free_stages(q: int) -> int:
    """How many forward stages pass without a step towards 0."""
    bound, stages = signed_bounds.CENTRED * 2, 0
    while True:
        moved, bound = signed_bounds.forward_sum(
            bound, signed_bounds.product(bound, q), signed_bounds.limit(q)
        )
        if moved:
            return stages
        stages += 1


def rows_of(direction: str, degree: int, q: int) -> list[list[int]]:
    """Rows of words of [-q, q) that drive the words of a transform to their ends."""
    rows = plain_rows(degree, q)
    if direction == "inverse":
        rows += inverse_rows(degree, q)
    else:
        most = degree.bit_length() - 1
        counts = {min(count, most) for count in (2, free_stages(q) + 1, most)}
        rows += [list(row) for stages in sorted(counts) for row in driven_rows(degree, q, stages)]
    return [clamped(row, q) for row in rows]
