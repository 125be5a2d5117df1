"""Products, reductions, sums and conversions of `fp64` at the largest words that a type allows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
import torch

from fhelium_ir.analysis.representatives import Words as WordLimits
from fhelium_ir.analysis.representatives import derived_below
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import rns, zq
from fhelium_ir.dialects.rns import Basis
from fhelium_ir.parameters import Parameters
from fhelium_ir.primes import is_prime
from fhelium_ir.universe import make_context
from tests.unit.exact.floats import (
    INTEGERS,
    LIMIT,
    ROUGH,
    capacity,
    centred,
    product,
    run,
    words,
)
from tests.unit.exact.machine import (
    POLYNOMIAL,
    REGION,
    Words,
    facts_of,
    function,
    linked,
    lowered,
    poly,
    region,
)
from tests.unit.reference.textbook import parsed, primes_below

DEGREE = 8
EVALUATION = "evaluation(bit_reversed)"
BELOW_50_BITS = next(primes_below(1 << 50, DEGREE))
PRIMES = [
    *ROUGH,
    BELOW_50_BITS,
    next(primes_below(int(2**49.68), DEGREE)),
    next(primes_below(1 << 49, DEGREE)),
    next(primes_below(1 << 40, DEGREE)),
    12289,
    17,
]
STEEP = {
    (4457388427922735, -562949947534377): 0.866,
    (2279393794143196, -562949947534371): 0.7489,
}
"""For ROUGH[1]: factors and the size of their product in units of q. The bounds are 7/8, which all products have, and
1/2 + |x w / q| 2^-52, here 0.7531."""


def one_prime(q: int) -> Parameters:
    """q, and two special primes that are no larger, so that they widen no bound."""
    smaller = list(islice(primes_below(q - 1, DEGREE), 2)) if q > 300 else [113, 193]
    return facts_of(DEGREE, [q], smaller)


def in_rows(values: Sequence[int]) -> list[Words]:
    """The values in rows of N, [1, 1, N] each, the last one filled up with zeros."""
    padded = [*values, *[0] * (-len(values) % DEGREE)]
    return [
        np.array([[padded[first : first + DEGREE]]], dtype=object)
        for first in range(0, len(padded), DEGREE)
    ]


def float_end_words(q: int, below: int) -> list[int]:
    """The ends of |w| <= below * q/2, and both sides of the half-integral multiples of q inside."""
    top = below * q // 2
    found = {0, 1, top, top - 1, top - 2}
    for multiple in {0, 1, below // 2, (below - 1) // 2, below // 2 - 1} - {-1}:
        for near in ((q - 1) // 2, (q + 1) // 2, 0, 1):
            found.add(multiple * q + near)
    return sorted({sign * word for word in found if word <= top for sign in (1, -1)})


def largest_factors(q: int) -> list[tuple[int, int]]:
    """(left, right) of products that just fit: right cannot grow by one; a few where q is tiny."""
    most = min(capacity(q), 1 << 12)
    found: list[tuple[int, int]] = []
    for left in sorted({1, 2, 3, most // 2, most}):
        right = min((1 << 53) // (left * q), most)
        if right:
            found.append((left, right))
    return found


def hard_pairs(q: int, left: int, right: int) -> list[tuple[int, int]]:
    """Factors at their ends, and such that the quotient lies next to a half-integer."""
    rng = random.Random(q + left)
    tops = left * q // 2, right * q // 2
    pairs = [(a * x, b * y) for x in tops[:1] for y in tops[1:] for a in (1, -1) for b in (1, -1)]
    pairs += STEEP if q == ROUGH[1] else []
    for w in [tops[1], tops[1] - 1, 1 - tops[1], rng.randrange(1, tops[1] + 1)]:
        if w % q == 0:
            continue
        for _ in range(60 if q in ROUGH else 12):
            # Residues from q/2 to 7/8 q: which multiple of q goes depends on the roundings.
            target = rng.choice((1, -1)) * (q // 2 + rng.choice((0, 1, rng.randrange(3 * q // 8))))
            x = target * pow(w, -1, q) % q
            x += (tops[0] - x) // q * q
            pairs.append((x if x <= tops[0] else x - q, w))
            x -= (x + tops[0]) // q * q
            pairs.append((x, w))
    return [(x, w) for x, w in pairs if abs(x) <= tops[0] and abs(w) <= tops[1]]


def product_module(q: int, left: int, right: int, below: int) -> str:
    facts = one_prime(q)
    a, b, c = (poly(facts, "q 0:1", EVALUATION, words=words(n)) for n in (left, right, below))
    return region(facts, "fp64", [a, b], [c], f"%v0 = rns.mul %a0, %a1 : {a}, {b} -> {c}")


@pytest.mark.parametrize("q", PRIMES)
def test_products_of_the_largest_words(q: int) -> None:
    for left, right in largest_factors(q):
        module = lowered(product_module(q, left, right, 2), REGION)
        executables = linked(module, "checked"), linked(module)
        pairs = hard_pairs(q, left, right)
        rows = zip(*(in_rows([pair[k] for pair in pairs]) for k in (0, 1)), strict=True)
        worst = 0
        for x, y in rows:
            for executable in executables:
                (found,) = run(executable, x, y)
                assert ((found - x * y) % q == 0).all()
                expected = [product(a, b, q) for a, b in zip(x[0, 0], y[0, 0], strict=True)]
                assert found[0, 0].tolist() == expected
                for a, b, word in zip(x[0, 0], y[0, 0], expected, strict=True):
                    assert abs(word) <= Fraction(q, 2) + Fraction(abs(a * b), 1 << 52)
                worst = max(worst, *map(abs, expected))
        assert 8 * worst <= 7 * q
        if q == ROUGH[1] and (left, right) == (8, 1):
            assert worst > 0.866 * q


def test_bounds_of_products_are_nearly_reached() -> None:
    q = ROUGH[1]
    for (x, w), size in STEEP.items():
        assert size * q < abs(product(x, w, q)) < (size + 0.001) * q


def test_factors_that_are_too_large_are_reduced_or_refused() -> None:
    q = ROUGH[0]
    # 3 * 3 * q is above 2^53: the product's bound is none.
    refused = parsed(product_module(q, 3, 3, 2))
    (mul,) = (op for op in refused.walk() if isinstance(op, rns.MulOp))
    limits = WordLimits(zq.ARITHMETICS["fp64"], one_prime(q))
    assert derived_below(mul, [3, 3], limits) == 1 << 53 > limits.capacity(Basis((0, 1)))
    facts = one_prime(q)
    type_ = poly(facts, "q 0:1", EVALUATION)
    body = "\n".join(
        [
            *(f"%s{k} = rns.add %x{k}, %x{k + 1} : {type_}" for k in (0, 2)),
            f"%r0 = rns.mul %s0, %s2 : {type_}",
        ]
    )
    text = function(facts, [type_] * 4, [type_], body)
    module = lowered(text, ("select-arithmetic{arithmetic=fp64}", *POLYNOMIAL[1:]))
    ends = [0, 1, q - 1, q - 2, (q - 1) // 2, (q + 1) // 2, q // 3, 2 * q // 3]
    rng = random.Random(1)
    for _ in range(8):
        inputs = [in_rows([rng.choice(ends) for _ in range(DEGREE)])[0] for _ in range(4)]
        for target in ("checked", "interpret"):
            (found,) = run(linked(module, target), *inputs)
            expected = (inputs[0] + inputs[1]) * (inputs[2] + inputs[3]) % q
            assert (found == expected).all()


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("q", [ROUGH[1], 12289])
def test_wide_factors_on_either_side(q: int, swapped: bool) -> None:
    """A sum of four canonical words times one: as wide as a word can be, whichever factor it is."""
    facts = one_prime(q)
    type_ = poly(facts, "q 0:1", EVALUATION)
    factors = "%x4, %s2" if swapped else "%s2, %x4"
    body = "\n".join(
        [
            f"%s0 = rns.add %x0, %x1 : {type_}",
            f"%s1 = rns.add %s0, %x2 : {type_}",
            f"%s2 = rns.add %s1, %x3 : {type_}",
            f"%r0 = rns.mul {factors} : {type_}",
        ]
    )
    text = function(facts, [type_] * 5, [type_], body)
    module = lowered(text, ("select-arithmetic{arithmetic=fp64}", *POLYNOMIAL[1:]))
    ends = [0, 1, q - 1, q - 2, (q - 1) // 2, (q + 1) // 2, q // 3, 2 * q // 3]
    inputs = [in_rows([ends[(k * (j + 1)) % 8] for k in range(8)])[0] for j in range(5)]
    for target in ("checked", "interpret", "cpu"):
        (found,) = run(linked(module, target), *inputs)
        assert (found == sum(inputs[:4]) * inputs[4] % q).all()


@pytest.mark.parametrize("target", ["checked", "interpret", "cpu"])
@pytest.mark.parametrize("q", [*PRIMES, 1111962998542273])
def test_reductions_of_full_words(q: int, target: str) -> None:
    """From the whole word to the centred residue, which is unique; up to 2^52."""
    below, facts = capacity(q), one_prime(q)
    a, c = (poly(facts, "q 0:1", EVALUATION, words=words(n)) for n in (below, 1))
    body = f"%v0 = rns.set_representative %a0 : {a} -> {c}"
    executable = linked(lowered(region(facts, "fp64", [a], [c], body), REGION), target)
    values = float_end_words(q, below)
    last = (LIMIT - 1 - (q + 1) // 2) // q
    near = [
        sign * (k * q + q // 2 + move)
        for k in (last, last - 1)
        for move in (0, 1)
        for sign in (1, -1)
    ]
    values += [x for x in near if abs(x) <= below * q // 2]
    assert max(values) > LIMIT - q and max(values) < LIMIT
    for row in in_rows(values):
        (found,) = run(executable, row)
        assert found[0, 0].tolist() == [centred(x, q) for x in row[0, 0].tolist()]


@pytest.mark.parametrize("target", ["checked", "interpret", "cpu"])
@pytest.mark.parametrize("q", PRIMES)
def test_conversions_from_and_to_integers(q: int, target: str) -> None:
    facts = one_prime(q)
    integers = poly(facts, "q 0:1", EVALUATION, words=INTEGERS)
    ends = [0, 1, 2, q // 2 - 1, q // 2, q // 2 + 1, q - 2, q - 1]
    for below in (2, 1):
        doubles = poly(facts, "q 0:1", EVALUATION, words=words(below))
        body = f"%v0 = rns.set_representative %a0 : {integers} -> {doubles}"
        text = region(facts, "fp64", [integers], [doubles], body)
        executable = linked(lowered(text, REGION), target)
        (found,) = run(executable, in_rows(ends)[0])
        wanted = ends if below == 2 else [centred(x, q) for x in ends]
        assert found[0, 0].tolist() == wanted
    for below in sorted({1, 2, capacity(q)}):
        doubles = poly(facts, "q 0:1", EVALUATION, words=words(below))
        body = f"%v0 = rns.set_representative %a0 : {doubles} -> {integers}"
        text = region(facts, "fp64", [doubles], [integers], body)
        executable = linked(lowered(text, REGION), target)
        for row in in_rows(float_end_words(q, below)):
            (found,) = run(executable, row)
            assert (found == row % q).all()


def test_zeros_of_either_sign_are_the_integer_0() -> None:
    facts = one_prime(ROUGH[0])
    integers, doubles = (poly(facts, "q 0:1", EVALUATION, words=w) for w in (INTEGERS, words(1)))
    body = f"%v0 = rns.set_representative %a0 : {doubles} -> {integers}"
    module = lowered(region(facts, "fp64", [doubles], [integers], body), REGION)
    for target in ("checked", "interpret", "cpu"):
        zeros = torch.tensor([[[0.0, -0.0] * 4]], dtype=torch.float64)
        (found,) = linked(module, target).run(zeros)
        assert (found == 0).all()


@pytest.mark.parametrize("op", ["add", "sub"])
@pytest.mark.parametrize("q", [*ROUGH, 12289])
def test_two_words_that_fill_the_word_together(q: int, op: str) -> None:
    facts, most = one_prime(q), capacity(q)
    # The last tile has lanes for four rows where there is one.
    for left, tile in ((1, ""), (most // 2, "1, 4, 1"), (most - 1, "4, 2, 1")):
        a, b, c = (
            poly(facts, "q 0:1", EVALUATION, words=words(below))
            for below in (left, most - left, most)
        )
        body = f"%v0 = rns.{op} %a0, %a1 : {a}, {b}"
        module = lowered(region(facts, "fp64", [a, b], [c], body, tile), REGION)
        top, other = left * q // 2, (most - left) * q // 2
        x = np.array([[[top, top, -top, -top, 0, 1, -1, 0]]], dtype=object)
        y = np.array([[[other, -other, other, -other, 0, other, -other, 1]]], dtype=object)
        for target in ("checked", "interpret", "cpu"):
            (found,) = run(linked(module, target), x, y)
            assert (found == (x + y if op == "add" else x - y)).all()


@pytest.mark.parametrize("q", [*ROUGH, 12289])
def test_signs_cost_nothing(q: int) -> None:
    """Negation and an automorphism of coefficients keep the interval, even of full words."""
    facts, most = one_prime(q), capacity(q)
    type_ = poly(facts, "q 0:1", "coefficient", words=words(most))
    top = most * q // 2
    row = [top, -top, top - 1, 1 - top, 0, 1, -1, (q - 1) // 2]
    for op, expected in (
        ("rns.negate %a0", [-x for x in row]),
        ("rns.automorphism %a0 {galois = 15}", [row[0], *(-x for x in row[:0:-1])]),
    ):
        text = region(facts, "fp64", [type_], [type_], f"%v0 = {op} : {type_}")
        module = lowered(text, REGION)
        for target in ("checked", "interpret", "cpu"):
            (found,) = run(linked(module, target), in_rows(row)[0])
            assert found[0, 0].tolist() == expected


@pytest.mark.parametrize("rest", ["add", "sub"])
@pytest.mark.parametrize(("q", "count"), [(ROUGH[0], 3), (ROUGH[0], 4), (ROUGH[0], 9), (97, 20)])
def test_chains_that_fill_the_word(q: int, count: int, rest: str) -> None:
    facts = one_prime(q)
    type_ = poly(facts, "q 0:1", EVALUATION)
    lines, value = list[str](), "%x0"
    for index in range(1, count):
        name = "%r0" if index == count - 1 else f"%s{index}"
        lines.append(f"{name} = rns.{rest} {value}, %x{index} : {type_}")
        value = name
    text = function(facts, [type_] * count, [type_], "\n".join(lines))
    module = lowered(text, ("select-arithmetic{arithmetic=fp64}", *POLYNOMIAL[1:]))
    assert module.attributes[rns.ARITHMETIC] == rns.ArithmeticAttr("fp64")
    signs = [1] + [1 if rest == "add" else -1] * (count - 1)
    patterns = [
        [[q - 1] * 8] * count,
        [[q - 1 if sign > 0 else 0] * 8 for sign in signs],
        [[0 if sign > 0 else q - 1] * 8 for sign in signs],
        # Sums next to odd multiples of q/2.
        [[q // 2 + j % 2 if k == 0 else q - 1 for j in range(8)] for k in range(count)],
        [[(q - 1) * ((k + j) % 2) for j in range(8)] for k in range(count)],
    ]
    for target in ("checked", "interpret"):
        executable = linked(module, target)
        for pattern in patterns:
            inputs = [in_rows(row)[0] for row in pattern]
            (found,) = run(executable, *inputs)
            expected = sum(sign * x for sign, x in zip(signs, inputs, strict=True)) % q
            assert (found == expected).all()


def test_the_first_prime_that_is_too_large() -> None:
    beyond = next(q for q in range((1 << 50) + 1, (1 << 50) + 16 * 400, 16) if is_prime(q))
    assert not zq.ARITHMETICS["fp64"].admits(beyond)
    assert zq.ARITHMETICS["fp64"].admits(BELOW_50_BITS)
    type_ = poly(facts_of(DEGREE, [17], [beyond]), "q 0:1", EVALUATION)
    text = function(
        facts_of(DEGREE, [17], [beyond]), [type_], [type_], f"%r0 = rns.negate %x0 : {type_}"
    )
    reason = f"fp64 admits primes below 2\\^50, p0 = {beyond} does not fit"
    with pytest.raises(FheliumError, match=reason):
        Pipeline("forced", ("select-arithmetic{arithmetic=fp64}",)).run(
            make_context(), parsed(text)
        )
