"""Structured ops against textbook formulas, before and after their expansion, with the levels they take."""

from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import func

from fhelium_ir.analysis.ranges import value_ranges
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.remarks import collect_remarks
from tests.unit.passes.expanding import (
    CHECKED,
    after,
    cleartext,
    count,
    dense,
    levels_used,
    polynomial,
    program,
    transform,
)

X = np.array([-1.0, -0.75, -0.3, -0.1, 0.0, 0.4, 0.9, 1.0])


def horner(coefficients: list[float], x: np.ndarray) -> np.ndarray:
    total = np.zeros_like(x)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def cosines(coefficients: list[float], t: np.ndarray) -> np.ndarray:
    """The sum of c_k cos(k arccos t)."""
    return sum((c * np.cos(k * np.arccos(t)) for k, c in enumerate(coefficients)), np.zeros_like(t))


def numbers(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, shape)


@pytest.mark.parametrize("degree", [1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 16, 27, 31, 32, 63])
def test_polynomials_take_as_few_levels_as_possible(degree: int) -> None:
    values = numbers(degree, degree + 1).tolist()
    for basis, textbook in (("monomial", horner), ("chebyshev", cosines)):
        module = program(polynomial(values, basis=f'"{basis}"'), levels=7)
        expected = textbook(values, X)
        np.testing.assert_allclose(cleartext(module, x=X), expected, atol=1e-12)
        managed = after(module, CHECKED)
        np.testing.assert_allclose(cleartext(managed, x=X), expected, atol=1e-12)
        assert levels_used(managed) == ceil(log2(degree + 1))


@pytest.mark.parametrize(
    "degree, products", [(3, 2), (7, 5), (15, 8), (31, 13), (63, 18), (127, 27)]
)
def test_polynomials_take_few_products(degree: int, products: int) -> None:
    """At most 2 sqrt(d + 1) + log2(d + 1), against d - 1 of Horner's rule."""
    module = after(program(polynomial(numbers(1, degree + 1))), "ckks-expand")
    assert count(module, "ckks.mul") == products
    assert products <= 2 * (degree + 1) ** 0.5 + log2(degree + 1)


def test_zero_coefficients_cost_nothing() -> None:
    for basis in ("monomial", "chebyshev"):
        full = numbers(3, 16)
        odd, even = full.copy(), full.copy()
        odd[::2], even[1::2] = 0, 0
        counts = {
            name: after(program(polynomial(v, basis=f'"{basis}"')), "ckks-expand")
            for name, v in (("full", full), ("odd", odd), ("even", even))
        }
        constants = {name: count(m, "ckks.mul_plain") for name, m in counts.items()}
        assert constants["odd"] < constants["full"] and constants["even"] < constants["full"]
        assert count(counts["even"], "ckks.mul") < count(counts["full"], "ckks.mul")


def test_a_power_is_its_squares() -> None:
    module = program(polynomial([0, 0, 0, 0, 0, 0, 0, 0, 1]))
    managed = after(module, CHECKED)
    assert (count(managed, "ckks.mul"), count(managed, "ckks.mul_plain")) == (3, 0)
    assert levels_used(managed) == 3
    np.testing.assert_allclose(cleartext(managed, x=X), X**8, atol=1e-14)


@given(
    st.lists(st.sampled_from([0.0, 1.0, -1.0, 0.5, -0.25, 2.0]), min_size=2, max_size=20).filter(
        lambda values: any(values[1:])
    ),
    st.booleans(),
)
@settings(max_examples=60)
def test_any_polynomial(values: list[float], monomial: bool) -> None:
    basis, textbook = ("monomial", horner) if monomial else ("chebyshev", cosines)
    module = program(polynomial(values, basis=f'"{basis}"'))
    managed = after(module, CHECKED)
    np.testing.assert_allclose(cleartext(managed, x=X), textbook(values, X), atol=1e-12)
    degree = max(k for k, c in enumerate(values) if c)
    assert levels_used(managed) <= ceil(log2(degree + 1))


def test_a_domain_takes_one_level_more() -> None:
    values = numbers(5, 8).tolist()
    x = np.linspace(-2, 6, 8)
    body = polynomial(values, basis='"chebyshev"', domain="array<f64: -2.0, 6.0>")
    module = program(body, arguments="%x : !ckks.ciphertext {ckks.range = 6.0 : f64}")
    managed = after(module, CHECKED)
    expected = cosines(values, (x - 2) / 4)
    np.testing.assert_allclose(cleartext(module, x=x), expected, atol=1e-12)
    np.testing.assert_allclose(cleartext(managed, x=x), expected, atol=1e-12)
    assert levels_used(managed) == 4


def test_chebyshev_is_stable_where_monomials_are_not() -> None:
    """T_60: coefficients of monomials reach 10^21, a float then has no digit left."""
    values = [0.0] * 60 + [1.0]
    module = after(program(polynomial(values, basis='"chebyshev"'), levels=7), "ckks-expand")
    np.testing.assert_allclose(cleartext(module, x=X), np.cos(60 * np.arccos(X)), atol=1e-11)


def test_ranges_stay_tight() -> None:
    """|sum of c_k T_k| <= sum of |c_k|: the range analysis knows it after the expansion, too."""
    values = numbers(7, 32)
    module = program(polynomial(values, basis='"chebyshev"'))
    for found in (module, after(module, "ckks-expand"), after(module, CHECKED)):
        (function,) = (op for op in found.ops if isinstance(op, func.FuncOp))
        last = function.body.block.last_op
        assert last is not None
        bound = value_ranges(function)[last.operands[0]]
        assert np.abs(values).sum() <= bound <= np.abs(values).sum() * 1.0001


def test_a_warning_about_values_outside_of_the_domain() -> None:
    body = polynomial([0, 0, 1], basis='"chebyshev"', domain="array<f64: -2.0, 3.0>")
    for bound, warnings in ((2.0, 0), (2.5, 1)):
        module = program(body, arguments=f"%x : !ckks.ciphertext {{ckks.range = {bound} : f64}}")
        with collect_remarks(warnings_only=True) as remarks:
            after(module, "ckks-expand")
        assert len(remarks) == warnings
        assert all("may reach 2.5 or -2.5, its domain is [-2, 3]" in r.text for r in remarks)


@pytest.mark.parametrize("size", [1, 2, 4, 8, 32])
@pytest.mark.parametrize("bsgs", ["auto", "none", "1", "2", "3"])
def test_a_matrix_times_a_vector(size: int, bsgs: str) -> None:
    matrix, x = numbers(size, size, size), numbers(size + 1, size)
    degree = max(8, 2 * size)
    module = program(transform(matrix), degree, 1)
    expected = np.tile(matrix @ x, degree // 2 // size)
    np.testing.assert_allclose(cleartext(module, x=x), expected, atol=1e-13)
    expanded = after(module, f"ckks-expand{{bsgs={bsgs}}}")
    np.testing.assert_allclose(cleartext(expanded, x=x), expected, atol=1e-13)
    managed = after(expanded, "ckks-manage,ckks-check")
    assert levels_used(managed) == 1
    assert count(expanded, "ckks.mul_plain") == size


@pytest.mark.parametrize("size, rotations", [(4, 3), (8, 4), (16, 8), (32, 10), (64, 18)])
def test_baby_steps_and_giant_steps_save_rotations(size: int, rotations: int) -> None:
    """About 2 sqrt(n) instead of n - 1."""
    module = after(program(transform(numbers(1, size, size)), 2 * size, 1), "ckks-expand")
    assert count(module, "ckks.rotate") == rotations


def test_only_diagonals_that_are_not_zero_cost_something() -> None:
    band = np.triu(np.tril(numbers(2, 16, 16), 1), -1)
    band[0, 15] = 0.5
    module = after(program(transform(band), 32, 1), "ckks-expand")
    assert (count(module, "ckks.rotate"), count(module, "ckks.mul_plain")) == (2, 3)
    x = numbers(3, 16)
    np.testing.assert_allclose(cleartext(module, x=x), band @ x, atol=1e-14)


def test_other_vectors_are_transformed_as_the_op_says() -> None:
    """Slots that do not repeat: the sum over d of A[j mod n][(j + d) mod n] x[j + d]."""
    matrix, x, n = numbers(1, 4, 4), numbers(2, 16), 4
    expected = [
        sum(matrix[j % n, (j + d) % n] * x[(j + d) % 16] for d in range(n)) for j in range(16)
    ]
    module = program(transform(matrix), 32, 1)
    for found in (module, after(module, "ckks-expand"), after(module, "ckks-expand{bsgs=none}")):
        np.testing.assert_allclose(cleartext(found, x=x), expected, atol=1e-14)


def test_diagonals_by_number() -> None:
    rows, x = numbers(4, 2, 4), numbers(5, 4)
    matrix = np.zeros((4, 4))
    for row, d in zip(rows, (3, 1), strict=True):
        for j in range(4):
            matrix[j, (j + d) % 4] = row[j]
    body = (
        f"%m = arith.constant {dense(rows)}\n"
        "%r = ckks.linear_transform %x, %m {diagonals = array<i64: 3, 1>} : "
        "!ckks.ciphertext, tensor<2x4xf64>"
    )
    module = program(body, 8, 1)
    for found in (module, after(module, "ckks-expand")):
        np.testing.assert_allclose(cleartext(found, x=x), matrix @ x, atol=1e-14)


def test_a_zero_matrix() -> None:
    module = after(program(transform(np.zeros((2, 2))), 8, 1), CHECKED)
    assert cleartext(module, x=[1.0, 2.0]).tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("total", range(1, 9))
def test_sums_of_any_length(total: int) -> None:
    x = numbers(6, 8)
    module = program(f"%r = ckks.sum_slots %x {{count = {total}}} : !ckks.ciphertext", 16, 1)
    expanded = after(module, "ckks-expand")
    expected = [sum(x[(j + i) % 8] for i in range(total)) for j in range(8)]
    np.testing.assert_allclose(cleartext(module, x=x), expected, atol=1e-14)
    np.testing.assert_allclose(cleartext(expanded, x=x), expected, atol=1e-14)
    rotations = total.bit_length() + total.bit_count() - 2
    assert count(expanded, "ckks.rotate") == rotations
    assert levels_used(after(module, CHECKED)) == 0


def test_parameters_may_come_later() -> None:
    module = program(transform(numbers(1, 4, 4)))
    del module.attributes["ckks.params"]
    assert count(after(module, "ckks-expand"), "ckks.rotate") == 3


def test_a_wrong_option_is_refused() -> None:
    with pytest.raises(FheliumError, match="bsgs must be auto, none or a number of at least 1"):
        after(program(transform(np.eye(2))), "ckks-expand{bsgs=0}")
    with pytest.raises(FheliumError, match="ckks-expand"):
        after(program(transform(np.eye(2))), "ckks-expand{bsgs=some}")
