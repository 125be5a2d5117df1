import random

import numpy as np
import pytest

from fhelium_ir.client.modular import add, mul, mul_factor, prepare, signed_residues, sub

MODULI = [
    3,
    12289,
    4293918721,
    (1 << 50) - 27,  # the largest prime of the narrow path
    1 << 50,
    (1 << 50) + 55,  # the smallest prime of the wide path
    (1 << 52) - 47,
    (1 << 53) - 111,
    1152921504607338497,
    (1 << 61) - 1,
    (1 << 62) - 57,  # the largest prime below 2^62
    (1 << 62) - 1,
]


def _operands(q: int) -> list[int]:
    edges = [0, 1, 2, q - 1, q - 2, q // 2, q // 2 + 1, q >> 31, 1 << 31, (1 << 31) - 1, 1 << 53]
    rng = random.Random(q)
    return [e % q for e in edges] + [rng.randrange(q) for _ in range(400)]


@pytest.mark.parametrize("q", MODULI)
def test_products_agree_with_integers(q: int) -> None:
    values = _operands(q)
    a = np.array(values, dtype=np.int64)
    expected = [x * y % q for x in values for y in values]
    assert mul(np.repeat(a, a.size), np.tile(a, a.size), q).tolist() == expected


@pytest.mark.parametrize("q", [4293918721, (1 << 50) - 27, (1 << 50) + 55, (1 << 62) - 57])
def test_products_next_to_a_multiple_of_the_modulus(q: int) -> None:
    # the exact quotient is a hair above or below an integer: the estimate may fall on either side
    rng = random.Random(1)
    values = [rng.randrange(q - q // 100, q) for _ in range(2000)]
    a = np.array(values, dtype=np.int64)
    for residue in (1, q - 1, 2, q - 2, q // 2, q // 2 + 1):
        b = np.array([pow(x, -1, q) * residue % q for x in values], dtype=np.int64)
        assert mul(a, b, q).tolist() == [residue] * len(values)


def test_square_of_minus_one() -> None:
    q = 4293918721
    assert mul(np.array([q - 1], dtype=np.int64), q - 1, q).tolist() == [1]


@pytest.mark.parametrize("q", MODULI)
def test_sums_and_differences_agree_with_integers(q: int) -> None:
    values = _operands(q)
    a = np.array(values, dtype=np.int64)
    b = a[::-1].copy()
    pairs = list(zip(values, reversed(values), strict=True))
    assert add(a, b, q).tolist() == [(x + y) % q for x, y in pairs]
    assert sub(a, b, q).tolist() == [(x - y) % q for x, y in pairs]


def test_signed_residues() -> None:
    values = np.array([-5, 5, -(1 << 62), 0], dtype=np.int64)
    assert signed_residues(values, 97).tolist() == [v % 97 for v in values.tolist()]


def test_a_factor_broadcasts() -> None:
    q = (1 << 61) - 1
    a = np.arange(1, 7, dtype=np.int64).reshape(2, 3)
    factor = prepare(np.array([[q - 1], [2]], dtype=np.int64), q)
    assert mul_factor(a, factor).tolist() == [[q - 1, q - 2, q - 3], [8, 10, 12]]


def test_modulus_out_of_range() -> None:
    with pytest.raises(ValueError, match="modulus"):
        prepare(1, 1 << 62)
