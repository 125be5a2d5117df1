"""Words of `fp64` for the exact tests: modules on doubles, a model of the product, and inputs that drive words to
the ends of what docs/numerics.md, "Floating-point words", says of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
import torch

from fhelium_ir.backend.executable import Executable, KernelLibrary
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import kernel_floats
from tests.unit.exact.machine import Words, facts_of, poly, region
from tests.unit.reference.textbook import primes_below, reversed_bits, root

ROUGH = (1125899886247937, 1125899895070721)
"""Primes just below 2^50, 1 modulo 2^13, whose reciprocals are rounded by nearly half a unit, up and down."""

LIMIT = 1 << 52
"""Products and reductions take words below this."""

MAGIC = 3 * 2.0**51

DOMAINS = {
    "forward": ("coefficient", "evaluation(bit_reversed)"),
    "inverse": ("evaluation(bit_reversed)", "coefficient"),
}


def capacity(q: int) -> int:
    """The largest `below` of words for a prime."""
    return (1 << 53) // q


@lru_cache
def primes_of(size: str, degree: int) -> tuple[int, ...]:
    """Three primes, the largest first: `rough` ones, or just below a power of two."""
    if size == "rough":
        (smaller,) = (q for q, _ in zip(primes_below(ROUGH[0] - 1, degree), range(1), strict=False))
        return (ROUGH[1], ROUGH[0], smaller)
    bound = int(2 ** Fraction(size)) if "." not in size else int(2.0 ** float(size))
    found = primes_below(bound - 1, degree)
    return tuple(q for q, _ in zip(found, range(3), strict=False))


def float_facts(size: str, degree: int) -> Parameters:
    """Two primes q and a prime p of one size: p is the largest."""
    p, *q = primes_of(size, degree)
    return facts_of(degree, q, [p])


def words(below: int) -> str:
    """The representative, as types spell it."""
    return f"fp64(e = 0, below = {below})"


INTEGERS = "int64(e = 0, below = 1)"


def tensor_of(values: Words, dtype: str) -> torch.Tensor:
    """Integers as the tensor of a buffer."""
    if dtype == "float64":
        doubles = values.astype(np.float64)
        assert (np.vectorize(int, otypes=[object])(doubles) == values).all()
        return torch.as_tensor(doubles)
    return torch.as_tensor(values.astype(np.int64))


def integers_of(tensor: torch.Tensor) -> Words:
    """The integers of a buffer; doubles that are none fail."""
    array = tensor.numpy()
    integers = np.vectorize(int, otypes=[object])(array)
    assert (integers == array).all(), "a word is no integer"
    return integers


def run(executable: Executable, *inputs: Words) -> list[Words]:
    """Runs on integers, and returns integers."""
    tensors = [
        tensor_of(values, spec.dtype)
        for values, spec in zip(inputs, executable.arguments, strict=True)
    ]
    return [integers_of(result) for result in executable.run(*tensors)]


def centred(x: int, q: int) -> int:
    """The residue in (-q/2, q/2)."""
    residue = x % q
    return residue - q if 2 * residue > q else residue


def fma(x: float, y: float, z: float) -> float:
    """x * y + z, rounded once."""
    return float(Fraction(x) * Fraction(y) + Fraction(z))


def product(x: int, w: int, q: int) -> int:
    """x * w - c * q, with c as docs/numerics.md computes it."""
    count = fma(float(x * w), 1.0 / q, MAGIC) - MAGIC
    assert count == int(count)
    return x * w - int(count) * q


def outside(found: Words, primes: Sequence[int], below: int) -> bool:
    """Whether a word [components, rows, N] is beyond `below * q/2`."""
    return any(
        2 * max(abs(word) for word in row) > below * q
        for part in found
        for q, row in zip(primes, part.tolist(), strict=True)
    )


@dataclass
class Recorded:
    """A kernel library that keeps what each launch left in its last argument."""

    library: KernelLibrary
    snapshots: list[Words] = field(default_factory=list[Words])

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        self.library.launch(name, grid, arguments)
        last = arguments[-1]
        assert isinstance(last, torch.Tensor)
        self.snapshots.append(integers_of(last.clone()))


def recorded(executable: Executable) -> tuple[Executable, Recorded]:
    """The executable on a library that records."""
    library = Recorded(executable.kernels)
    copy = Executable(
        executable.name,
        executable.arguments,
        executable.results,
        library,
        executable.resources,
        executable.host_source,
        executable.device,
    )
    return copy, library


@dataclass
class Largest:
    """The largest sum, in magnitude, that the exact interpreter has computed."""

    word: float = 0.0


@contextmanager
def largest_sum() -> Generator[Largest]:
    """Watches the sums of `fp64` words that are computed by a `checked` executable."""
    found, add = Largest(), kernel_floats.add

    def watched(
        lhs: kernel_floats.Floats, rhs: kernel_floats.Floats, name: str
    ) -> kernel_floats.Checked:
        checked = add(lhs, rhs, name)
        found.word = max(found.word, float(np.abs(checked.value).max()))
        return checked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel_floats, "add", watched)
        yield found


def transform_text(
    facts: Parameters, direction: str, schedule: Schedule, components: int = 1
) -> str:
    """One transform of the primes q in a region, of words of at most q to words of the full capacity."""
    below = capacity(max(facts.q))
    source, target = DOMAINS[direction]
    basis = f"q 0:{len(facts.q)}"
    before = poly(facts, basis, source, components, words=words(2))
    after = poly(facts, basis, target, components, words=words(below))
    body = (
        f"%v0 = ntt.{direction} %a0 {{contract = #ntt.contract<bit_reversed, input = 2, "
        f"output = {below}, exponent = 0>, schedule = {ScheduleAttr(schedule)}}} : {before}"
    )
    return region(facts, "fp64", [before], [after], body)


@lru_cache
def twiddles(degree: int, q: int) -> tuple[int, ...]:
    """Centred powers psi^bitrev(j)."""
    psi = root(degree, q)
    return tuple(centred(pow(psi, reversed_bits(j, degree), q), q) for j in range(degree))


@lru_cache
def factors(degree: int, q: int, schedule: Schedule | None) -> tuple[int, ...]:
    """The words that the kernels of a schedule multiply with, in natural order: twiddles, or products of them."""
    table = twiddles(degree, q)
    found = list(table)
    for start, stages in schedule.groups() if schedule is not None else ():
        for block in range(1 << start) if schedule is not None and schedule.computes(start) else ():
            first = table[(1 << (start + stages - 1)) + (block << (stages - 1))]
            for stage in reversed(range(stages)):
                place = (1 << (start + stage)) + (block << stage)
                found[place] = first
                for inner in range(1, 1 << stage):
                    found[place + inner] = product(first, table[inner], q)
                first = product(first, first, q)
    assert all((word - factor) % q == 0 for word, factor in zip(found, table, strict=True))
    return tuple(found)


@dataclass
class Driver:
    """Coefficients of at most q that drive one leg of a forward transform to its bound.

    A leg after stage s is u + r or u - r, with r the reduced product of v; u and v are legs after stage s - 1, and so
    on down to the coefficients. The leg follows one path of blocks. Every v is made as large as can be, and its own
    coefficient is then moved by a little, so that its product comes out as large as can be, with the sign that the path
    asks for.
    """

    degree: int
    q: int
    stages: int
    """How many stages the path is driven through without a reduction; before the last, v is the driven leg."""
    block: int
    schedule: Schedule | None = None
    """Where factors are computed."""

    def __post_init__(self) -> None:
        self.random = random.Random(0)
        self.row = [0] * self.degree
        self.table = factors(self.degree, self.q, self.schedule)

    def drive(self, sign: int) -> list[int]:
        """The coefficients whose leg `v` in front of the last driven stage has this sign and is extreme."""
        half = self.degree >> self.stages
        self._leg(self.stages - 1, half, sign)
        self._tuned(half, self.stages - 1, sign, sign)
        return self.row

    def _block(self, stage: int) -> int:
        return self.block >> (self.stages - 1 - stage)

    def _value(self, stage: int, offset: int) -> int:
        """The leg at an offset of the path's block in front of a stage."""
        if stage == 0:
            return self.row[offset]
        half = self.degree >> stage
        u, v = self._value(stage - 1, offset), self._value(stage - 1, offset + half)
        r = self._product(v, self.table[(1 << (stage - 1)) + self._block(stage - 1)])
        return u - r if self._block(stage) & 1 else u + r

    def _product(self, x: int, factor: int) -> int:
        """The product; a leg that is too large for it is reduced first."""
        fits = abs(x) < LIMIT and 2 * abs(x * factor) <= self.q * (LIMIT - 1)
        return product(x if fits else centred(x, self.q), factor, self.q)

    def _leg(self, stage: int, offset: int, sign: int) -> None:
        """Makes that leg extreme, with this sign."""
        self.row[offset] = sign * self.q
        for earlier in range(stage - 1, -1, -1):
            half = self.degree >> (earlier + 1)
            wanted = -sign if self._block(earlier + 1) & 1 else sign
            factor = self.table[(1 << earlier) + self._block(earlier)]
            # The sign of v that leaves the rounding of its quotient on the side of the wanted product.
            v_sign = self._helpful_sign(factor, wanted)
            self._leg(earlier, offset + half, v_sign)
            self._tuned(offset + half, earlier, v_sign, wanted)

    def _helpful_sign(self, factor: int, wanted: int) -> int:
        """r = q (x w/q - c) exceeds q/2 where x w fl(1/q) is below x w/q, and the other way round."""
        error = factor * (Fraction(1.0 / self.q) - Fraction(1, self.q))
        return -wanted if error > 0 else wanted

    def _tuned(self, offset: int, stage: int, sign: int, wanted: int) -> None:
        """Moves a coefficient by a little, so that the product of its leg is extreme in the wanted direction."""
        factor = self.table[(1 << stage) + self._block(stage)]
        value, start = self._value(stage, offset), self.row[offset]
        moves = [-sign * self.random.randrange(1 + self.q // 64) for _ in range(120)]
        best = max(moves, key=lambda move: wanted * self._product(value + move, factor))
        self.row[offset] = start + best


def steepest_block(degree: int, q: int, stage: int, schedule: Schedule | None = None) -> int:
    """The block of a stage whose factor is largest in magnitude."""
    table = factors(degree, q, schedule)
    return max(range(1 << stage), key=lambda block: abs(table[(1 << stage) + block]))


@lru_cache
def driven_rows(
    degree: int, q: int, stages: int, schedule: Schedule | None = None
) -> tuple[tuple[int, ...], ...]:
    """Coefficients that drive the multiplied leg of a stage, of either sign, in front of the steepest factor.

    Args:
        schedule: where factors are computed, by default nowhere.
    """
    block = steepest_block(degree, q, stages - 1, schedule)
    drivers = [Driver(degree, q, stages, block, schedule) for _ in (1, -1)]
    return tuple(tuple(driver.drive(sign)) for driver, sign in zip(drivers, (1, -1), strict=True))


def inverse_rows(degree: int, q: int, seed: int = 0) -> list[list[int]]:
    """Evaluations near +-q with signs by parity, so that sums and differences double in every stage; and such that sums
    of two, four or eight of them lie next to an odd multiple of q/2.
    """
    rng, stages, rows = random.Random(seed), degree.bit_length() - 1, list[list[int]]()
    masks = [0, degree - 1, *(rng.randrange(degree) for _ in range(2))]
    masks += [1 << bit for bit in range(stages)] + [2 << bit for bit in range(3)]
    for number, mask in enumerate(masks):
        signs = [1 - 2 * ((index & mask).bit_count() & 1) for index in range(degree)]
        for side in (1, -1):
            # Multiples of q would have quotients without a rounding.
            rows.append([side * sign * (q - rng.randrange(1 + q // 4096)) for sign in signs])
        for period in (1, 3, 7) if number < 2 else ():
            for near in ((q - 1) // 2, (q + 1) // 2):
                words = [near if index & period == period else q for index in range(degree)]
                rows.append([sign * word for sign, word in zip(signs, words, strict=True)])
    return rows


def plain_rows(degree: int, q: int, seed: int = 0) -> list[list[int]]:
    """Constants at the ends, single peaks, and random words of at most q."""
    rng = random.Random(seed)
    ends = [q, -q, q - 1, 1 - q, (q - 1) // 2, (q + 1) // 2, -(q + 1) // 2, 1, 0]
    rows = [[word] * degree for word in ends]
    rows += [[word if index == 1 else 0 for index in range(degree)] for word in (q, -q)]
    rows += [[rng.choice(ends) for _ in range(degree)] for _ in range(4)]
    rows += [[rng.randrange(-q, q + 1) for _ in range(degree)] for _ in range(4)]
    return rows


def driven_factors(
    fixed: Sequence[int], q: int, total: int, reduced: Callable[[int, int], int]
) -> list[int]:
    """For each fixed factor a centred one, such that the reduced products have exactly this sum.

    `reduced` gives the product of a fixed factor with another one. The products are nearly equal, but for the last one,
    which is small.
    """
    rng, rest, found = random.Random(0), total, list[int]()
    for number, factor in enumerate(fixed[:-1]):
        share = rest // (len(fixed) - 1 - number)
        centre = centred(share * pow(factor, -1, q), q)
        choices = [centre, *(rng.randrange(-(q // 2), q // 2 + 1) for _ in range(100))]
        products = {z: reduced(factor, z) for z in choices}
        found.append(min(choices, key=lambda z: abs(products[z] - share)))
        rest -= products[found[-1]]
    found.append(centred(rest * pow(fixed[-1], -1, q), q))
    assert reduced(fixed[-1], found[-1]) == rest
    return found
