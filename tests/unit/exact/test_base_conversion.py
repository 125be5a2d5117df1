"""Base conversion of the integers at which it can go wrong, and the division that uses it, against exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import floor, prod

import numpy as np
import pytest

from fhelium_ir.parameters import Parameters
from tests.unit.exact.machine import (
    BEYOND_60_BITS,
    POLYNOMIAL,
    Words,
    facts_of,
    function,
    largest_prime,
    linked,
    lowered,
    poly,
    run,
)
from tests.unit.reference.textbook import evaluated, interpolated, primes_below

TOP = [q for q, _ in zip(primes_below((1 << 62) - 1, 8), range(4), strict=False)]
MIDDLE = [q for q, _ in zip(primes_below(1 << 61, 8), range(6), strict=False)]
SMALL = [q for q, _ in zip(primes_below(1 << 20, 8), range(6), strict=False)]
TOP_32 = [q for q, _ in zip(primes_below((1 << 30) - 1, 8), range(6), strict=False)]


def edges(product: int) -> list[int]:
    """Integers modulo a product where a nearest or a centred representative changes its mind."""
    half = (product - 1) // 2
    quarter = product // 4
    near = [0, 1, product - 1, product - 2, half - 1, half, half + 1, half + 2]
    return [*near, quarter, 3 * quarter + 1, product // 3, 2 * product // 3]


def in_rows(numbers: Sequence[Sequence[int]], primes: Sequence[int]) -> Words:
    """Residues [1, primes, N] of N integers per prime."""
    return np.array(
        [[[x % q for x in row] for row, q in zip(numbers, primes, strict=True)]], dtype=object
    )


def batched(numbers: Sequence[int], degree: int = 8) -> list[list[int]]:
    """The numbers in rows of N, the last one filled up with zeros."""
    padded = [*numbers, *[0] * (-len(numbers) % degree)]
    return [padded[first : first + degree] for first in range(0, len(padded), degree)]


def nearest(x: int, primes: Sequence[int]) -> int:
    """sum_i v_i * D/d_i - u * D for u = floor(1/2 + sum_i t_i), as the representation states it.

    t_i is v_i / d_i in units of 2^-32: floor(v_i * 2^s * m / 2^64), m = floor(2^(96-s) / d_i), with
    s = max(0, 33 - bits of d_i).
    """
    product, total, overflow = prod(primes), 0, Fraction(1, 2)
    for d in primes:
        v = x * pow(product // d, -1, d) % d
        shift = max(0, 33 - d.bit_length())
        reciprocal = floor(Fraction(1 << (96 - shift), d))
        overflow += Fraction(floor(Fraction((v << shift) * reciprocal, 1 << 64)), 1 << 32)
        total += v * (product // d)
    y = total - floor(overflow) * product
    # The formula is close to the nearest representative: never further off than the rounding of the t_i.
    assert (y - x) % product == 0
    assert abs(y) <= product // 2 + len(primes) * (product >> 31) + 1
    return y


def centred(x: int, primes: Sequence[int]) -> int:
    """sum_i v_i * D/d_i with centred v_i, congruent to x modulo D."""
    product, total = prod(primes), 0
    for d in primes:
        v = x * pow(product // d, -1, d) % d
        total += (v - d if v > (d - 1) // 2 else v) * (product // d)
    assert (total - x) % product == 0 and 2 * abs(total) <= len(primes) * product
    return total


def conversion(facts: Parameters, source: str, target: str, nearest: bool, size: int = 0) -> str:
    """Punctured residues of an argument over `source`, then their conversion to `target`."""
    own = f"own({size})" if size else ""
    before = poly(facts, source, "coefficient")
    mine = poly(facts, source, "coefficient", digits=own)
    after = poly(facts, target, "coefficient", digits=f"complement({size})" if size else "")
    lines = [f"%d = rns.digits %x0 {{size = {size}}} : {before}"] if size else []
    operand = "%d" if size else "%x0"
    kind = '"canonical", correction = "nearest"' if nearest else '"centred", correction = "none"'
    lines += [
        f"%v = rns.mul_constant {operand} {{constant = #rns.constant<punctured_inverse>}} : {mine}",
        f"%r0 = rns.base_convert %v {{lift = {kind}}} : {mine} -> {after}",
    ]
    return function(facts, [before], [after], "\n".join(lines))


NEAREST: dict[str, tuple[list[int], list[int]]] = {
    "one tiny": ([97, 193, 257], [17]),
    "one of 20 bits": (SMALL[:3], SMALL[3:4]),
    "one of 62 bits": ([17, *TOP[1:3]], TOP[:1]),
    "one beyond 60 bits": ([17, SMALL[0], TOP[0]], [BEYOND_60_BITS]),
    "two tiny": ([BEYOND_60_BITS, 12289], [17, 97]),
    "two of 61 bits": ([17, 97, *MIDDLE[2:4]], MIDDLE[:2]),
    "tiny and 62 bits": ([97, *TOP[1:]], [17, TOP[0]]),
    "three of 20 bits": ([17, BEYOND_60_BITS], SMALL[:3]),
    "three of 62 bits": ([17, TOP[3], SMALL[0]], TOP[:3]),
    "four of mixed sizes": ([12289, TOP[1]], [17, 97, SMALL[0], TOP[0]]),
    "four of 62 bits": ([17, MIDDLE[0]], TOP),
    "four of 30 bits": ([17, 12289], TOP_32[:4]),
    "three of 30 bits to 30 bits": (TOP_32[3:], TOP_32[:3]),
}


@pytest.mark.parametrize("name", NEAREST)
def test_nearest(name: str) -> None:
    q, p = NEAREST[name]
    if prod(p) >= max(q):
        facts, source, target, primes, others = (
            facts_of(8, q, p),
            f"p 0:{len(p)}",
            f"q 0:{len(q)}",
            p,
            q,
        )
    else:
        # The primes to divide by are the last ones of the chain.
        facts = facts_of(8, [*q, *p], MIDDLE[4:])
        source, target = f"q {len(q)}:{len(q) + len(p)}", f"q 0:{len(q)}"
        primes, others = p, q
    module = lowered(conversion(facts, source, target, nearest=True))
    for row in batched(edges(prod(primes))):
        for where in ("checked", "interpret"):
            (found,) = run(linked(module, where), in_rows([row] * len(primes), primes))
            expected = [[nearest(x, primes) % t for x in row] for t in others]
            assert found.tolist() == [expected]


def digits_of(limbs: int, size: int) -> list[range]:
    return [range(start, min(start + size, limbs)) for start in range(0, limbs, size)]


CHAINS = {
    "mixed": [17, TOP[1], 97, BEYOND_60_BITS, SMALL[0]],
    "top": [MIDDLE[0], *TOP[:3], MIDDLE[1]],
    "tiny": [17, 97, 113, 193, 241],
}


@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("chain", CHAINS)
@pytest.mark.parametrize("limbs", [2, 3, 5])
def test_centred_digits(chain: str, size: int, limbs: int) -> None:
    q, p = CHAINS[chain][:limbs], [257, MIDDLE[2], MIDDLE[3], MIDDLE[4], MIDDLE[5]]
    p = p if chain != "tiny" else [257, 337, 12289]
    facts = Parameters(8, tuple(q), tuple(p), -(-limbs // size), 20, insecure=True)
    module = lowered(conversion(facts, f"q 0:{limbs}", f"q 0:{limbs} p 0:{len(p)}", False, size))
    groups = digits_of(limbs, size)
    everywhere = edges(prod(q))
    own = [batched(edges(prod(q[i] for i in group))) for group in groups]
    inputs = [[row] * limbs for row in batched(everywhere)]
    inputs += [
        [own[i // size][k % len(own[i // size])] for i in range(limbs)] for k in range(len(own[0]))
    ]
    executables = linked(module, "checked"), linked(module)
    for rows in inputs:
        expected: list[list[int]] = []
        for digit, group in enumerate(groups):
            primes = [q[i] for i in group]
            # The integer of this digit, from its own residues.
            numbers = [remainder([rows[i][k] for i in group], primes) for k in range(8)]
            others = [q[i] for i in range(limbs) if i // size != digit] + p
            expected += [[centred(x, primes) % t for x in numbers] for t in others]
        for executable in executables:
            (found,) = run(executable, in_rows(rows, q))
            assert found.tolist() == [expected]


def remainder(residues: Sequence[int], primes: Sequence[int]) -> int:
    product = prod(primes)
    cofactors = [product // q for q in primes]
    return (
        sum(r * c * pow(c, -1, q) for r, c, q in zip(residues, cofactors, primes, strict=True))
        % product
    )


@pytest.mark.parametrize("target", ["cpu", "triton-interpret"])
def test_conversions_on_other_targets(target: str) -> None:
    facts = facts_of(8, [12289, TOP[1]], [17, 97, SMALL[0], TOP[0]])
    module = lowered(conversion(facts, "p 0:4", "q 0:2", nearest=True))
    executable = linked(module, target)
    for row in batched(edges(prod(facts.p))):
        (found,) = run(executable, in_rows([row] * 4, facts.p))
        assert found.tolist() == [[[nearest(x, facts.p) % t for x in row] for t in facts.q]]


RESCALED = {
    "62 bits": [TOP[1], TOP[2], TOP[0]],
    "tiny last": [TOP[0], BEYOND_60_BITS, 17],
    "tiny first": [17, 97, TOP[0]],
    "30 bits": TOP_32[1:4],
    "one stays": [BEYOND_60_BITS, MIDDLE[0]],
}


@pytest.mark.parametrize("chain", RESCALED)
@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_rescale_at_its_edges(chain: str, target: str) -> None:
    q = RESCALED[chain]
    p = TOP_32[4:6] if max(q) < 1 << 30 else [MIDDLE[2], MIDDLE[3]]
    facts, level = facts_of(8, q, p), len(q) - 1
    before = f"!ckks.ciphertext<level = {level}, scale = 2**9>"
    after = f"!ckks.ciphertext<level = {level - 1}, scale = 2**9 / q{level}>"
    text = function(facts, [before], [after], f"%r0 = ckks.rescale %x0 : {before}")
    executable = linked(lowered(text, ("convert-ckks-to-rns", *POLYNOMIAL)), target)
    last, modulus = q[-1], prod(q)
    lasts = [0, 1, last - 1, (last - 1) // 2, (last + 1) // 2, (last - 3) // 2, last // 3, last - 2]
    bases = [0, last, modulus - last, (modulus // (2 * last)) * last, modulus // 3 // last * last]
    for base in bases:
        numbers = [(base + x) % modulus for x in lasts]
        # The first polynomial has these coefficients; the second is -1 = Q - 1 in every residue.
        rows = [[[x % prime for x in numbers] for prime in q], [[prime - 1] * 8 for prime in q]]
        words = np.array(
            [[evaluated(row, prime) for row, prime in zip(part, q, strict=True)] for part in rows],
            dtype=object,
        )
        (found,) = run(executable, words)
        for component, integers in enumerate((numbers, [modulus - 1] * 8)):
            for row, prime in zip(found[component].tolist(), q[:-1], strict=True):
                exact = [Fraction(x - nearest(x, [last]), last) for x in integers]
                assert all(value.denominator == 1 for value in exact)
                assert interpolated(row, prime) == [value.numerator % prime for value in exact]


def test_rescale_of_residues_that_are_all_minus_one_is_zero() -> None:
    """-1 / q_l is nearest to 0, in evaluations (the constant -1) as in coefficients."""
    for arithmetic in ("mont32", "mont64"):
        top = largest_prime(arithmetic, 64)
        q = [top, *(q for q, _ in zip(primes_below(top - 1, 64), range(3), strict=False))]
        q, p = q[1:], q[:1]
        facts = facts_of(64, q, p)
        before = "!ckks.ciphertext<level = 2, scale = 2**9>"
        after = "!ckks.ciphertext<level = 1, scale = 2**9 / q2>"
        text = function(facts, [before], [after], f"%r0 = ckks.rescale %x0 : {before}")
        module = lowered(text, ("convert-ckks-to-rns", *POLYNOMIAL))
        values = [[prime - 1] * 64 for prime in q]
        coefficients = [evaluated([prime - 1] * 64, prime) for prime in q]
        words = np.array([values, coefficients], dtype=object)
        for target in ("checked", "interpret", "cpu"):
            (found,) = run(linked(module, target), words)
            assert (found == 0).all()
