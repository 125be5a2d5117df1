"""Products, reductions, sums and conversions of `smont32` at the largest words that a type allows."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import islice

import numpy as np
import pytest

from fhelium_ir.analysis import signed_bounds
from fhelium_ir.analysis.representatives import Words as WordLimits
from fhelium_ir.analysis.representatives import check_representatives
from fhelium_ir.backend.executable import Executable
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import rns, zq
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.kernel import KernelFault
from tests.unit.exact.floats import centred
from tests.unit.exact.machine import (
    REGION,
    Words,
    facts_of,
    function,
    linked,
    lowered,
    poly,
    region,
)
from tests.unit.exact.signed import (
    BOUNDS,
    HALF,
    INTEGERS,
    RADIX,
    capacity,
    primes_of,
    product,
    run,
    words,
)
from tests.unit.reference.textbook import parsed, primes_below

DEGREE = 32
EVALUATION = "evaluation(bit_reversed)"
PRIMES = [
    next(primes_below((1 << 30) - 1, DEGREE)),
    *(primes_of(size, DEGREE)[0] for size in BOUNDS),
    next(primes_below(1 << 20, DEGREE)),
    193,
]
TARGETS = ("checked", "interpret", "cpu")


def one_prime(q: int) -> Parameters:
    """q, and a special prime that is no larger, so that it widens no bound; for the smallest one a larger one."""
    if q < 300:
        return facts_of(DEGREE, [q], [257])
    return facts_of(DEGREE, [q], list(islice(primes_below(q - 1, DEGREE), 2)))


def end_words(q: int, below: int) -> list[int]:
    """The ends of [-below * q/2, below * q/2), and both sides of the half-integral multiples of q inside."""
    low, high = -(below * q // 2), (below * q - 1) // 2
    found = {0, 1, -1, low, low + 1, high, high - 1}
    for multiple in range(-min(below, 40) // 2 - 1, min(below, 40) // 2 + 1):
        for near in (0, 1, -1, q // 2, q // 2 + 1, q - 1):
            found.add(multiple * q + near)
    return sorted(word for word in found if low <= word <= high)


def in_rows(values: Sequence[int]) -> Words:
    """The values in rows of N, [rows, 1, N], the last one filled up with zeros."""
    padded = [*values, *[0] * (-len(values) % DEGREE)]
    return np.array(padded, dtype=object).reshape(-1, 1, DEGREE)


def flat(found: Words, count: int) -> list[int]:
    return found.reshape(-1).tolist()[:count]


def executables(q: int, text: Callable[[Parameters], str]) -> list[Executable]:
    module = lowered(text(one_prime(q)), REGION)
    return [linked(module, target) for target in TARGETS]


def one_operand(q: int, before: str, after: str, line: str, count: int) -> list[Executable]:
    """`line` with %a0 and its type; operands are [components, 1, N]."""

    def text(facts: Parameters) -> str:
        types = [poly(facts, "q 0:1", EVALUATION, count, words=some) for some in (before, after)]
        body = line.replace("BEFORE", types[0]).replace("AFTER", types[1])
        return region(facts, "smont32", [types[0]], [types[1]], body)

    return executables(q, text)


CHANGE = "%v0 = rns.set_representative %a0 : BEFORE -> AFTER"


@pytest.mark.parametrize("q", PRIMES)
def test_reductions(q: int) -> None:
    """To every narrower interval, from the ends of every wider one; and to canonical integers."""
    most = min(16, capacity(q))
    for below in {2, 3, 4, min(5, most), most - 1, most}:
        ends = end_words(q, below)
        given = in_rows(ends)
        for to in {1, 2, 3, below - 1}:
            if to >= below:
                continue
            for executable in one_operand(q, words(below), words(to), CHANGE, len(given)):
                found = flat(run(executable, given)[0], len(ends))
                assert all((a - b) % q == 0 for a, b in zip(ends, found, strict=True))
                assert -to * q <= 2 * min(found) and 2 * max(found) < to * q
                if to == 1:
                    assert found == [centred(word, q) for word in ends]
        for executable in one_operand(q, words(below), INTEGERS, CHANGE, len(given)):
            assert flat(run(executable, given)[0], len(ends)) == [word % q for word in ends]


@pytest.mark.parametrize("q", PRIMES)
def test_exponents_and_integers(q: int) -> None:
    """Any word changes its exponent, and canonical integers are words."""
    ends = end_words(q, capacity(q))
    given = in_rows(ends)
    raised = one_operand(q, words(capacity(q)), words(2, 1), CHANGE, len(given))
    lowered_again = one_operand(q, words(capacity(q), 1), words(2), CHANGE, len(given))
    for executables_, factor in ((raised, RADIX), (lowered_again, pow(RADIX, -1, q))):
        for executable in executables_:
            found = flat(run(executable, given)[0], len(ends))
            assert all((a * factor - b) % q == 0 for a, b in zip(ends, found, strict=True))
            assert max(map(abs, found)) < q
    integers = [0, 1, q // 2, q // 2 + 1, q - 1]
    line = "%e = rns.set_representative %a0 : BEFORE -> {}\n%v0 = rns.add %e, %e : {}"
    inside = poly(one_prime(q), "q 0:1", EVALUATION, 1, words=words(2))
    for executable in one_operand(q, INTEGERS, words(4), line.replace("{}", inside), 1):
        found = flat(run(executable, in_rows(integers))[0], len(integers))
        assert found == [2 * word for word in integers]


def pairs_of(q: int, left: int, right: int) -> list[tuple[int, int]]:
    """Factors at their ends, and such that the low word of the product asks for an extreme multiple of q."""
    rng = random.Random(q + left)
    tops = [((-(b * q // 2)), (b * q - 1) // 2) for b in (left, right)]
    pairs = [(x, y) for x in (*tops[0], 0, 1) for y in (*tops[1], 0, -1)]
    for y in (*tops[1], rng.randrange(*tops[1]) | 1):
        tries = [rng.randrange(tops[0][0], tops[0][1] + 1) for _ in range(1000)]
        pairs += [(best(tries, key=lambda x: product(x, y, q)), y) for best in (min, max)]
    return pairs


@pytest.mark.parametrize("q", PRIMES)
def test_products(q: int) -> None:
    """The word that the definition gives, in the interval that follows; any two words may be multiplied."""
    most = capacity(q)
    limits = WordLimits(zq.ARITHMETICS["smont32"], one_prime(q))
    for left, right in ((1, 1), (2, 2), (most, 1), (most, most)):
        pairs = pairs_of(q, left, right)
        given = [in_rows([pair[k] for pair in pairs]) for k in range(2)]
        below = limits.product(left, right, rns.Basis((0, 1), (0, 0)))

        def text(
            facts: Parameters,
            rows: int = len(given[0]),
            left: int = left,
            right: int = right,
            below: int = below,
        ) -> str:
            a, b, c = (
                poly(facts, "q 0:1", EVALUATION, rows, words=words(k, 1))
                for k in (left, right, below)
            )
            return region(
                facts, "smont32", [a, b], [c], f"%v0 = rns.mul %a0, %a1 : {a}, {b} -> {c}"
            )

        for executable in executables(q, text):
            found = flat(run(executable, *given)[0], len(pairs))
            assert found == [product(x, y, q) for x, y in pairs]
            bound = q / 2 + max(abs(x * y) for x, y in pairs) / RADIX
            assert max(map(abs, found)) <= bound
            assert -below * q <= 2 * min(found) and 2 * max(found) < below * q
            if q > 1 << 27:
                assert max(map(abs, found)) > 0.94 * bound


@pytest.mark.parametrize("q", PRIMES)
@pytest.mark.parametrize("kind", ["add", "sub"])
def test_sums(kind: str, q: int) -> None:
    most = min(16, capacity(q))
    for left in {1, 2, most // 2, most - 1}:
        right = most - left
        pairs = [(x, y) for x in end_words(q, left)[::7] for y in end_words(q, right)[::5]]
        for x in (end_words(q, left)[0], end_words(q, left)[-1]):
            pairs += [(x, y) for y in (end_words(q, right)[0], end_words(q, right)[-1])]
        given = [in_rows([pair[k] for pair in pairs[: 60 * DEGREE]]) for k in range(2)]

        def text(
            facts: Parameters, rows: int = len(given[0]), left: int = left, right: int = right
        ) -> str:
            a, b, c = (
                poly(facts, "q 0:1", EVALUATION, rows, words=words(k))
                for k in (left, right, left + right)
            )
            line = f"%v0 = rns.{kind} %a0, %a1 : {a}, {b}"
            return region(facts, "smont32", [a, b], [c], line)

        sign = 1 if kind == "add" else -1
        for executable in executables(q, text):
            found = flat(run(executable, *given)[0], len(pairs))
            assert found == [x + sign * y for x, y in pairs[: len(found)]]


@pytest.mark.parametrize("domain", ["coefficient", EVALUATION])
def test_signs(domain: str) -> None:
    """Negation and automorphisms at the ends of the word; the lower end has no negative in the same interval."""
    q = PRIMES[0]
    facts = one_prime(q)
    low, high = -(3 * q // 2) - 1, (3 * q - 1) // 2
    given = in_rows([low + 1, high, 0, 1, -1] * 7)[:1]
    before, after = (poly(facts, "q 0:1", domain, words=words(k)) for k in (3, 4))
    module = lowered(
        region(facts, "smont32", [before], [after], f"%v0 = rns.negate %a0 : {before}"), REGION
    )
    for target in TARGETS:
        (found,) = run(linked(module, target), given)
        assert (found == -given).all()


def test_intervals_are_derived() -> None:
    """Sums add up, a sign costs one, sums of products are below 2, and a word holds an even number of q/2."""
    facts = one_prime(PRIMES[0])
    limits = WordLimits(zq.ARITHMETICS["smont32"], facts)
    basis = rns.Basis((0, 1), (0, 0))
    assert limits.capacity(basis) == 4
    assert limits.product(4, 1, basis) == 2 and limits.product(4, 4, basis) == 3
    assert limits.interface == "int32"
    for q in PRIMES:
        assert signed_bounds.limit(q) * q <= HALF
        assert signed_bounds.limit(q) >= 2 and 2 * signed_bounds.limit(q) * q <= RADIX


def test_words_beyond_their_interval_are_refused() -> None:
    q = PRIMES[0]
    for before, after, word in (
        (words(4), words(2), 2 * q),
        (words(3), INTEGERS, (3 * q + 1) // 2),
    ):
        checked = one_operand(q, before, after, CHANGE, 1)[0]
        given = in_rows([word])
        with pytest.raises(KernelFault, match="is not within from\\*q/2"):
            run(checked, given)
        run(checked, in_rows([word - 1]))


def test_what_leaves_the_word_is_an_error() -> None:
    facts = one_prime(PRIMES[0])
    a, b = (poly(facts, "q 0:1", EVALUATION, words=words(k)) for k in (3, 6))
    integers = poly(facts, "q 0:1", EVALUATION, words=INTEGERS)
    body = (
        f"%e = rns.set_representative %x0 : {integers} -> {a}\n%s = rns.add %e, %e : {a}\n"
        f"%r0 = rns.set_representative %s : {b} -> {integers}"
    )
    extra = ", rns.arithmetic = #rns.arithmetic<smont32>"
    module = parsed(function(facts, [integers], [integers], body, extra))
    with pytest.raises(FheliumError, match="but a word of smont32 holds 4q"):
        check_representatives(module)
