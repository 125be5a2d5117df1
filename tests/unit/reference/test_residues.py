import random

import numpy as np
import pytest

from fhelium_ir.reference import residues
from tests.unit.reference.textbook import (
    TOP_PRIME,
    evaluated,
    interpolated,
    reversed_bits,
    root,
    substituted,
)

PRIMES = [17, 97, 536870657, 2147483489, 4293918721, 1152921504607338497, TOP_PRIME[8]]


def edge_values(q: int) -> list[int]:
    half = q // 2
    known = {
        0,
        1,
        2,
        half - 1,
        half,
        half + 1,
        q - 2,
        q - 1,
        1 << (q.bit_length() - 1),
        2**31,
        2**32,
    }
    return sorted(x for x in known | {2**32 - 1, 2**31 - 1} if x < q)


@pytest.mark.parametrize("q", PRIMES)
def test_products_are_exact(q: int) -> None:
    rng = random.Random(q)
    values = edge_values(q) + [rng.randrange(q) for _ in range(50)]
    a = np.repeat(np.array(values), len(values))
    b = np.tile(np.array(values), len(values))
    expected = [x * y % q for x in values for y in values]
    assert residues.product(a, b, q).tolist() == expected
    assert residues.product(a, q - 1, q).tolist() == [-x % q for x in a.tolist()]


@pytest.mark.parametrize("q", PRIMES)
def test_minus_one_squares_to_one(q: int) -> None:
    assert residues.product(np.array([q - 1]), q - 1, q).tolist() == [1]


@pytest.mark.parametrize("q", PRIMES)
def test_sums_are_exact(q: int) -> None:
    values = edge_values(q)
    a, b = np.repeat(np.array(values), len(values)), np.tile(np.array(values), len(values))
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert residues.add(a, b, q).tolist() == [(x + y) % q for x, y in pairs]
    assert residues.sub(a, b, q).tolist() == [(x - y) % q for x, y in pairs]
    assert residues.negate(a, q).tolist() == [-x % q for x, _ in pairs]


def test_high_product_is_exact() -> None:
    rng = random.Random(1)
    edges = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 2**32, 2**64 - 1]
    values = edges + [rng.getrandbits(64) for _ in range(30)]
    a = np.repeat(np.array(values, dtype=np.uint64), len(values))
    b = np.tile(np.array(values, dtype=np.uint64), len(values))
    expected = [x * y >> 64 for x in values for y in values]
    assert residues.high_product(a, b).tolist() == expected


def test_the_root_is_that_of_the_smallest_generator() -> None:
    # modulo 97, 2 and 3 are squares and 4 is; 5 is a primitive root: psi = 5^(96/16)
    assert residues.root(8, 97) == pow(5, 6, 97) == 8
    assert residues.root(8, 17) == 3
    for q in PRIMES:
        assert residues.root(8, q) == root(8, q)
    with pytest.raises(ValueError):
        residues.root(64, 97)


@pytest.mark.parametrize("degree, q", [(8, q) for q in PRIMES] + [(64, TOP_PRIME[64])])
def test_transform_is_evaluation(degree: int, q: int) -> None:
    rng = random.Random(degree)
    rows = [[rng.randrange(q) for _ in range(degree)] for _ in range(3)] + [[q - 1] * degree]
    transformed = residues.forward(np.array(rows), q)
    assert transformed.tolist() == [evaluated(row, q) for row in rows]
    assert residues.inverse(transformed, q).tolist() == rows
    backward = residues.inverse(np.array(rows), q)
    assert backward.tolist() == [interpolated(row, q) for row in rows]


def test_a_monomial_takes_the_roots() -> None:
    degree, q = 1 << 12, 1152921504606830593
    x = np.zeros(degree, dtype=np.int64)
    x[1] = 1
    psi = root(degree, q)
    values = residues.forward(x, q)
    for i in (0, 1, 2, 1000, degree - 1):
        assert values[reversed_bits(i, degree)] == pow(psi, 2 * i + 1, q)


@pytest.mark.parametrize("element", [1, 3, 5, 13, 15])
def test_automorphisms_agree_in_both_domains(element: int) -> None:
    q = 97
    rows = np.random.default_rng(element).integers(0, q, (2, 8))
    rows[0, 3] = 0
    image = residues.automorphism_of_coefficients(rows, element, q)
    assert image.tolist() == [[x % q for x in substituted(r, element)] for r in rows.tolist()]
    evaluations = residues.automorphism_of_evaluations(residues.forward(rows, q), element)
    assert (evaluations == residues.forward(image, q)).all()


def test_chinese_remainders_and_back() -> None:
    primes = [97, 4293918721, 1152921504607338497]
    modulus = 97 * 4293918721 * 1152921504607338497
    values = [0, 1, modulus - 1, modulus // 2, modulus // 2 + 1, 96, 97, 3**80 % modulus]
    rows = residues.to_residues(values, primes)
    assert rows.dtype == np.int64
    assert rows.tolist() == [[x % q for x in values] for q in primes]
    assert residues.to_integers(rows, primes) == values
