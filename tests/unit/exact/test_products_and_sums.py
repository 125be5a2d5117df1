"""Products and sums at the largest words that a type allows."""

from __future__ import annotations

from math import ceil

import numpy as np
import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import rns
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.parameters import Parameters
from fhelium_ir.primes import is_prime
from fhelium_ir.universe import make_context
from tests.unit.exact.machine import (
    BEYOND_60_BITS,
    POLYNOMIAL,
    REGION,
    TARGETS,
    Words,
    end_words,
    facts_of,
    function,
    largest_prime,
    linked,
    lowered,
    poly,
    region,
    run,
)
from tests.unit.reference.textbook import parsed, primes_below

NEARLY_32_BITS = 4293918721
"""2^32 - 2^20 + 1: its square leaves 64 bits by little, its multiples leave 32 bits."""

BELOW_61_BITS = next(primes_below(1 << 61, 8))
BELOW_60_BITS = next(primes_below(1 << 60, 8))

EVALUATION = "evaluation(bit_reversed)"


def product_text(facts: Parameters) -> str:
    type_ = poly(facts, f"q 0:{len(facts.q)}", EVALUATION)
    return function(facts, [type_, type_], [type_], f"%r0 = rns.mul %x0, %x1 : {type_}")


def rows(facts: Parameters, word: int) -> Words:
    """The word q + word (for a negative one) in every place."""
    return np.array([[[word % q] * facts.ring_degree for q in facts.q]], dtype=object)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("degree", [8, 1 << 10])
def test_the_square_of_minus_one_is_one(degree: int, target: str) -> None:
    facts = facts_of(degree, [NEARLY_32_BITS], [BEYOND_60_BITS])
    module = lowered(product_text(facts))
    assert module.attributes[rns.ARITHMETIC] == rns.ArithmeticAttr("mont64")
    (found,) = run(linked(module, target), rows(facts, -1), rows(facts, -1))
    assert (found == 1).all()


@pytest.mark.parametrize("degree", [8, 1 << 13])
def test_the_square_of_minus_one_for_every_size_of_prime(degree: int) -> None:
    tiny = [12289] if degree == 8 else []
    for arithmetic in ("mont32", "smont32", "mont64"):
        top = largest_prime(arithmetic, degree)
        others = [BEYOND_60_BITS, NEARLY_32_BITS] if arithmetic == "mont64" else []
        facts = facts_of(degree, [*tiny, *others, next(primes_below(top - 1, degree))], [top])
        stated = f"insecure>, rns.arithmetic = #rns.arithmetic<{arithmetic}>"
        module = lowered(product_text(facts).replace("insecure>", stated))
        for target in ("checked", "interpret"):
            (found,) = run(linked(module, target), rows(facts, -1), rows(facts, -1))
            assert (found == 1).all()


def test_a_schedule_of_32_bits_cannot_be_forced_on_a_larger_prime() -> None:
    facts = facts_of(8, [NEARLY_32_BITS], [BEYOND_60_BITS])
    reason = f"mont32 admits primes below 2\\^30, q0 = {NEARLY_32_BITS} does not fit"
    module = parsed(product_text(facts))
    with pytest.raises(FheliumError, match=reason):
        Pipeline("forced", ("select-arithmetic{arithmetic=mont32}",)).run(make_context(), module)
    stated = product_text(facts).replace(
        "insecure>", "insecure>, rns.arithmetic = #rns.arithmetic<mont32>"
    )
    with pytest.raises(FheliumError, match=reason):
        lowered(stated)


@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
def test_the_first_prime_that_is_too_large_for_an_arithmetic(arithmetic: str) -> None:
    bound = 1 << (ARITHMETICS[arithmetic].word_bits - 2)
    beyond = next(q for q in range(bound + 1, bound + 16 * 400, 16) if is_prime(q))
    facts = Parameters(8, (beyond,), (beyond,), 1, 20, insecure=True)
    assert not ARITHMETICS[arithmetic].admits(beyond)
    assert ARITHMETICS[arithmetic].admits(largest_prime(arithmetic, 8))
    if arithmetic == "mont64":
        with pytest.raises(FheliumError):
            facts.validate()  # no arithmetic takes it, so no parameters do
        return
    facts = facts_of(8, [beyond], [BEYOND_60_BITS])
    with pytest.raises(FheliumError, match="does not fit"):
        lowered(product_text(facts), ("select-arithmetic{arithmetic=mont32}",))


PRIMES = {
    "mont64": [17, NEARLY_32_BITS, BELOW_60_BITS, BEYOND_60_BITS, BELOW_61_BITS],
    "mont32": [17, 12289, next(primes_below(1 << 28, 8))],
}


def one_prime(arithmetic: str, q: int) -> Parameters:
    others = primes_below((1 << (ARITHMETICS[arithmetic].word_bits - 2)) - 1, 8)
    return facts_of(8, [q], [p for p, _ in zip(others, range(3), strict=False) if p != q])


def capacity(arithmetic: str, q: int) -> int:
    """The largest number of q that a word holds; a few of them where q is tiny."""
    return min((1 << ARITHMETICS[arithmetic].word_bits) // q, 64)


def largest_intervals(arithmetic: str, q: int) -> list[tuple[int, int, int]]:
    """(left, right, result) of products that just fit: right cannot grow by one."""
    radix, most = ARITHMETICS[arithmetic].radix, capacity(arithmetic, q)
    found: list[tuple[int, int, int]] = []
    for left in sorted({1, 2, most // 2, most - 1, most} - {0}):
        fitting = [b for b in range(1, most + 1) if 1 + ceil(left * b * q / radix) <= most]
        right = max(fitting)
        found.append((left, right, 1 + -(-left * right * q // radix)))
    return found


@pytest.mark.parametrize(
    ("arithmetic", "q"),
    [(name, q) for name, primes in PRIMES.items() for q in [*primes, largest_prime(name, 8)]],
)
def test_products_of_the_largest_unreduced_words(arithmetic: str, q: int) -> None:
    facts, radix = one_prime(arithmetic, q), ARITHMETICS[arithmetic].radix
    inverse = pow(radix, -1, q)
    for left, right, below in largest_intervals(arithmetic, q):
        a, b, c = (
            poly(facts, "q 0:1", EVALUATION, words=f"{arithmetic}(e = 1, below = {interval})")
            for interval in (left, right, below)
        )
        body = f"%v0 = rns.mul %a0, %a1 : {a}, {b} -> {c}"
        module = lowered(region(facts, arithmetic, [a, b], [c], body), REGION)
        executables = linked(module, "checked"), linked(module)
        for shift in range(8):
            x = np.array([[_spread(q, left, shift)]], dtype=object)
            y = np.array([[_spread(q, right, 2 * shift)]], dtype=object)
            for executable in executables:
                (found,) = run(executable, x, y)
                assert (found % q == x * y * inverse % q).all()
                assert (found < below * q).all()


def _spread(q: int, below: int, shift: int) -> list[int]:
    """Eight words at the ends of an interval: the top first, then going down or up from there."""
    top = below * q - 1
    near = [max(0, top - k * (shift + 1)) for k in range(4)]
    words = end_words(q, below)
    return near + [words[-1 - (shift * 3 + k) % len(words)] for k in range(4)]


def summed(count: int, rest: str) -> tuple[str, list[int]]:
    """A chain over `count` arguments, and the sign of each; `rest` alternates between its ops."""
    lines, signs, value = list[str](), [1], "%x0"
    ops = rest.split("/")
    for index in range(1, count):
        op = ops[(index - 1) % len(ops)]
        name = "%r0" if index == count - 1 else f"%s{index}"
        left, right = (f"%x{index}", value) if op == "rsub" else (value, f"%x{index}")
        lines.append(f"{name} = rns.{'sub' if op == 'rsub' else op} {left}, {right} : TYPE")
        if op == "rsub":
            signs = [-sign for sign in signs]
        signs.append(-1 if op == "sub" else 1)
        value = name
    return "\n".join(lines), signs


@pytest.mark.parametrize("rest", ["add", "sub", "rsub", "rsub/add"])
@pytest.mark.parametrize(
    ("arithmetic", "q", "count"),
    [
        ("mont64", BELOW_60_BITS, 16),
        ("mont64", BELOW_60_BITS, 17),
        ("mont64", BELOW_61_BITS, 16),
        ("mont64", largest_prime("mont64", 8), 16),
        ("mont32", largest_prime("mont32", 8), 9),
    ],
)
def test_chains_that_fill_the_word(arithmetic: str, q: int, count: int, rest: str) -> None:
    facts = one_prime(arithmetic, q)
    type_ = poly(facts, "q 0:1", EVALUATION)
    body, signs = summed(count, rest)
    text = function(facts, [type_] * count, [type_], body.replace("TYPE", type_))
    passes = (f"select-arithmetic{{arithmetic={arithmetic}}}", *POLYNOMIAL[1:])
    module = lowered(text, passes)
    # Every operand q - 1 drives a sum to its end, q - 1 and 0 by sign drive a difference.
    patterns = [
        [[q - 1] * 8] * count,
        [[q - 1 if sign > 0 else 0] * 8 for sign in signs],
        [[0 if sign > 0 else q - 1] * 8 for sign in signs],
        [[(q - 1) * ((k + j) % 2) for j in range(8)] for k in range(count)],
    ]
    for target in ("checked", "interpret"):
        executable = linked(module, target)
        for pattern in patterns:
            inputs = [np.array([[row]], dtype=object) for row in pattern]
            (found,) = run(executable, *inputs)
            columns = zip(*pattern, strict=True)
            expected = [
                sum(s * x for s, x in zip(signs, column, strict=True)) % q for column in columns
            ]
            assert found.tolist() == [[expected]]


@pytest.mark.parametrize("op", ["add", "sub"])
@pytest.mark.parametrize("q", [BELOW_60_BITS, BEYOND_60_BITS, BELOW_61_BITS])
def test_two_words_that_fill_the_word_together(q: int, op: str) -> None:
    facts, most = one_prime("mont64", q), capacity("mont64", q)
    # The last tile has lanes for four rows where there is one.
    for left, tile in ((1, ""), (most // 2, "1, 4, 1"), (most - 1, "4, 2, 1")):
        a, b, c = (
            poly(facts, "q 0:1", EVALUATION, words=f"mont64(e = 0, below = {below})")
            for below in (left, most - left, most)
        )
        body = f"%v0 = rns.{op} %a0, %a1 : {a}, {b}"
        module = lowered(region(facts, "mont64", [a, b], [c], body, tile), REGION)
        top, other = left * q - 1, (most - left) * q - 1
        x = np.array([[[top, top, 0, 0, top, q - 1, 0, top]]], dtype=object)
        y = np.array([[[other, 0, other, 0, q - 1, other, 1, 1]]], dtype=object)
        for target in ("checked", "interpret", "cpu"):
            (found,) = run(linked(module, target), x, y)
            sign = 1 if op == "add" else -1
            assert (found % q == (x + sign * y) % q).all() and (found < most * q).all()


@pytest.mark.parametrize(
    ("arithmetic", "q"),
    [("mont64", BELOW_60_BITS), ("mont64", BELOW_61_BITS), ("mont64", 17), ("mont32", 17)]
    + [(name, largest_prime(name, 8)) for name in ("mont32", "mont64")],
)
@pytest.mark.parametrize("change", [-1, 0, 1])
def test_conversions_of_full_words(arithmetic: str, q: int, change: int) -> None:
    facts, most = one_prime(arithmetic, q), capacity(arithmetic, q)
    factor = pow(ARITHMETICS[arithmetic].radix, change, q)
    for before in sorted({2, 3, most} - {0, 1}):
        for after in sorted({1, before - 1}):
            a, c = (
                poly(facts, "q 0:1", EVALUATION, words=f"{arithmetic}(e = {e}, below = {below})")
                for e, below in ((1, before), (1 + change, after))
            )
            body = f"%v0 = rns.set_representative %a0 : {a} -> {c}"
            module = lowered(region(facts, arithmetic, [a], [c], body), REGION)
            executable, words = linked(module), end_words(q, before)
            for first in range(0, len(words), 8):
                some = (words[first : first + 8] + [0] * 8)[:8]
                x = np.array([[some]], dtype=object)
                (found,) = run(executable, x)
                assert (found % q == x * factor % q).all() and (found < after * q).all()
