import random
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from fhelium_ir.client.modular import mul
from fhelium_ir.client.transform import (
    automorphism,
    forward,
    forward_limbs,
    inverse,
    inverse_limbs,
)

Product = Callable[[Sequence[int], Sequence[int], int], list[int]]
Evaluation = Callable[[Sequence[int], int], list[int]]

SIXTY_ONE_BITS = 1152921504607338497  # 1 mod 2^15
CASES = [
    (8, 17),
    (8, 97),
    (16, 97),
    (16, 4293918721),
    (16, SIXTY_ONE_BITS),
    (32, 12289),
    (64, 1125899906826241),
    (128, SIXTY_ONE_BITS),
]


def _polynomials(degree: int, q: int) -> list[list[int]]:
    rng = random.Random(degree * q)
    monomial = [0] * degree
    monomial[-1] = q - 1
    return [
        [q - 1] * degree,
        [(q - 1) * (i % 2) for i in range(degree)],
        [0] * degree,
        monomial,
        [rng.randrange(q) for _ in range(degree)],
    ]


@pytest.mark.parametrize(("degree", "q"), CASES)
def test_forward_is_direct_evaluation(degree: int, q: int, evaluate: Evaluation) -> None:
    polynomials = _polynomials(degree, q)
    result = forward(np.array(polynomials, dtype=np.int64), q)
    assert result.tolist() == [evaluate(p, q) for p in polynomials]


@pytest.mark.parametrize(("degree", "q"), CASES)
def test_inverse_is_direct_interpolation(degree: int, q: int, interpolate: Evaluation) -> None:
    evaluations = _polynomials(degree, q)
    result = inverse(np.array(evaluations, dtype=np.int64), q)
    assert result.tolist() == [interpolate(e, q) for e in evaluations]


@pytest.mark.parametrize(("degree", "q"), CASES)
def test_pointwise_product_is_the_negacyclic_product(
    degree: int, q: int, negacyclic: Product
) -> None:
    a, b = _polynomials(degree, q)[0], _polynomials(degree, q)[-1]
    transformed = forward(np.array([a, b], dtype=np.int64), q)
    product = inverse(mul(transformed[0], transformed[1], q), q)
    assert product.tolist() == negacyclic(a, b, q)


def test_a_large_transform_of_many_rows() -> None:
    # X^3 at psi^(2i+1); rows beyond one cache group; values at the ends of [0, q)
    degree, q = 1 << 14, SIXTY_ONE_BITS
    rows = np.zeros((5, degree), dtype=np.int64)
    rows[0] = q - 1
    rows[1, 3] = 1
    rows[2] = np.random.default_rng(3).integers(0, q, degree)
    rows[4] = rows[2]
    result = forward(rows, q)
    psi = next(
        r
        for r in (pow(g, (q - 1) // (2 * degree), q) for g in range(2, 99))
        if pow(r, degree, q) != 1
    )
    for i in (0, 1, 2, 12345, degree - 1):
        position = int(f"{i:014b}"[::-1], 2)
        assert int(result[1, position]) == pow(psi, 3 * (2 * i + 1), q)
        total = sum(pow(psi, (2 * i + 1) * k, q) for k in range(degree))
        assert int(result[0, position]) == -total % q
    assert result[3].tolist() == [0] * degree
    assert np.array_equal(result[2], result[4])
    assert np.array_equal(inverse(result, q), rows)


def test_limbs_are_transformed_each_with_its_prime() -> None:
    primes = [97, 193, SIXTY_ONE_BITS]
    values = np.random.default_rng(1).integers(0, 97, (2, 3, 16))
    result = forward_limbs(values, primes)
    for limb, q in enumerate(primes):
        assert np.array_equal(result[:, limb], forward(values[:, limb], q))
    assert np.array_equal(inverse_limbs(result, primes), values)


def test_automorphism_is_substitution() -> None:
    # 1 + 2X + 3X^7 at X^13 in Z[X]/(X^8+1): X^13 = -X^5, X^91 = X^(91-80) = X^11 = -X^3
    values = np.array([1, 2, 0, 0, 0, 0, 0, 3], dtype=np.int64)
    assert automorphism(values, 13).tolist() == [1, 0, 0, -3, 0, -2, 0, 0]
    assert automorphism(values, 1).tolist() == values.tolist()


def test_automorphism_evaluates_at_the_power(evaluate: Evaluation) -> None:
    degree, q, element = 16, 97, 25
    values = np.random.default_rng(5).integers(-40, 40, degree)
    image = forward(automorphism(values, element) % q, q)
    direct = evaluate(values.tolist(), q)
    for i in range(degree):
        source = element * (2 * i + 1) % (2 * degree) // 2
        assert int(image[int(f"{i:04b}"[::-1], 2)]) == direct[int(f"{source:04b}"[::-1], 2)]
