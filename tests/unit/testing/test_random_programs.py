"""The generator of programs: it is deterministic, it covers everything, and its own oracle is right."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.testing.random_programs import Choices, RandomProgram, make_program
from fhelium_ir.testing.random_programs.broken import MISTAKES, break_program, square_of
from fhelium_ir.testing.random_programs.meaning import results
from fhelium_ir.testing.random_programs.statements import Function, Loop, Number, Op, walk
from fhelium_ir.testing.random_programs.strategies import random_programs
from fhelium_ir.universe import make_context
from tests.fuzz_programs.coverage import OPS, depth_of
from tests.fuzz_programs.fuzz import misbehaviour

COUNT = 300
CT = "!ckks.ciphertext"

PROGRAMS = [make_program(Choices.seeded(f"unit/{number}")) for number in range(COUNT)]

INSERTED = ("ckks.extend", "ckks.mod_down")
"""Ops that passes insert and nobody writes."""


def test_the_same_seed_gives_the_same_program() -> None:
    one, two = make_program(Choices.seeded("1/2")), make_program(Choices.seeded("1/2"))
    assert one.text == two.text and one.setting == two.setting
    assert make_program(Choices.seeded("1/3")).text != one.text


def test_every_op_and_every_kind_of_program_occurs() -> None:
    statements = [
        s for p in PROGRAMS for f in (p.function, *p.functions.values()) for s in walk(f.body)
    ]
    ops = Counter(f"ckks.{s.kind}" for s in statements if isinstance(s, Op))
    wanted = set(OPS) - set(INSERTED)
    assert wanted <= set(ops)
    # 200 of each in 1,000 programs
    assert min(ops[name] for name in wanted) >= 0.22 * COUNT
    kinds = {type(s).__name__ for s in statements}
    assert kinds == {"Op", "Number", "Loop", "Branch", "Call"}
    assert {p.style for p in PROGRAMS} == {"managed", "stated", "open", "selected"}
    assert {len(p.parameters.q) for p in PROGRAMS} == {1, 2, 3, 4, 5, 6}
    assert {depth_of(p) for p in PROGRAMS} >= {0, 1, 2, 3, 4, 5}
    assert {p.parameters.ring_degree for p in PROGRAMS} >= {8, 16, 32, 64, 128, 256}
    bits = {q.bit_length() for p in PROGRAMS for q in p.parameters.primes}
    assert min(bits) <= 28 and max(bits) >= 60


@pytest.mark.parametrize("number", range(0, COUNT, 10))
def test_programs_are_valid_text(number: int) -> None:
    verify_module(parse_module(make_context(), PROGRAMS[number].text, "random.mlir"))


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(random_programs(6))
def test_hypothesis_draws_programs(program: RandomProgram) -> None:
    verify_module(parse_module(make_context(), program.text, "random.mlir"))
    assert len(program.expected) == len(program.function.results)


def op(kind: str, result: str, *operands: str, **rest: object) -> Op:
    return Op(kind, result, operands, (CT,) * len(operands), **rest)  # type: ignore[arg-type]


def test_the_oracle_on_a_program_by_hand() -> None:
    # x = (1, 2, 3, 4); the sum of x rotated by 1 and by 2, squared, times (1, -1)
    body = (
        Number("constant", "one", (), 1),
        Number("constant", "three", (), 3),
        Loop("r", ("one", "three", "one"), "i", "s", "x",
             (op("rotate_dynamic", "t", "x", "i"), op("add", "n", "s", "t")), "n", CT),
        op("sub", "d", "r", "x"),
        op("mul", "q", "d", "d"),
        op("encode", "c", values=(1.0, -1.0)),
        op("mul_plain", "y", "q", "c"),
    )  # fmt: skip
    function = Function("f", (("x", CT, ""),), body, (("y", CT),))
    (found,) = results(function, {}, {"x": np.arange(1, 5).astype(complex)}, 4)
    np.testing.assert_array_equal(found, [25, -49, 25, -9])


def test_the_oracle_of_structured_ops() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0]).astype(complex)
    body = (
        op("linear_transform", "m", "x", values=(1.0, 2.0, 3.0, 4.0), rows=2),
        op("linear_transform", "d", "x", values=(2.0, 2.0), rows=1, diagonals=(1,)),
        op("polynomial", "p", "x", values=(1.0, 0.0, 2.0)),
        op("polynomial", "t", "x", values=(0.0, 0.0, 1.0), basis="chebyshev", domain=(0.0, 4.0)),
        op("sum_slots", "s", "x", count=3),
    )
    function = Function("f", (("x", CT, ""),), body, tuple((n, CT) for n in "mdpts"))
    m, d, p, t, s = results(function, {}, {"x": x}, 4)
    # slot j: the sum of A[j mod 2][(j + d) mod 2] times slot j + d
    np.testing.assert_array_equal(m, [1 + 4, 4 * 2 + 3 * 3, 3 + 8, 4 * 4 + 3 * 1])
    np.testing.assert_array_equal(d, [4, 6, 8, 2])
    np.testing.assert_array_equal(p, [3, 9, 19, 33])
    np.testing.assert_allclose(t, 2 * ((x - 2) / 2) ** 2 - 1)
    np.testing.assert_array_equal(s, [6, 9, 8, 7])


def test_squares_of_scales() -> None:
    assert square_of("2**40 * 3 / q2 / q3**2") == "2**80 * 3**2 / q2**2 / q3**4"


def example(style: str) -> RandomProgram:
    return next(p for p in PROGRAMS if p.style == style and len(p.text) < 1500)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_broken_programs_are_refused_with_one_error(mistake: str) -> None:
    found = [
        broken
        for style in ("managed", "stated", "open")
        if (broken := break_program(Choices.seeded("unit"), example(style), [mistake]))
    ]
    assert found
    for broken in found:
        assert misbehaviour(broken) is None, broken.text
