import random

import pytest

from fhelium_ir.reference.integers import (
    add,
    automorphism,
    centred,
    negacyclic_product,
    reduce,
    sub,
)
from tests.unit.reference.textbook import schoolbook, substituted


@pytest.mark.parametrize("degree", [8, 16, 64])
@pytest.mark.parametrize("bits", [(1, 1), (7, 8), (30, 31), (63, 200), (500, 20)])
def test_product_is_schoolbook(degree: int, bits: tuple[int, int]) -> None:
    rng = random.Random(degree)
    a, b = ([rng.randint(-(2**n), 2**n) for _ in range(degree)] for n in bits)
    assert negacyclic_product(a, b) == schoolbook(a, b)


@pytest.mark.parametrize("exponent", range(1, 30))
@pytest.mark.parametrize("offset", [-1, 0, 1])
@pytest.mark.parametrize("sign", [-1, 1])
def test_the_largest_possible_coefficient_fits(exponent: int, offset: int, sign: int) -> None:
    # all terms of coefficient 0 have one sign, so it is degree * size^2 in absolute value
    degree, size = 8, 2**exponent + offset
    a, b = [size] * degree, [sign * size] + [-sign * size] * (degree - 1)
    product = negacyclic_product(a, b)
    assert product[0] == sign * degree * size**2
    assert product == schoolbook(a, b)


def test_known_products() -> None:
    x = [0, 1] + [0] * 6
    last = [0] * 7 + [1]
    assert negacyclic_product(x, last) == [-1] + [0] * 7
    assert negacyclic_product([0] * 8, last) == [0] * 8
    assert negacyclic_product([2**100] * 8, [0] * 8) == [0] * 8
    assert negacyclic_product(last, last) == [0] * 6 + [-1, 0]


def test_product_of_large_degree() -> None:
    degree, modulus = 1 << 13, (1 << 200) - 235
    rng = random.Random(1)
    a = [rng.randrange(modulus) for _ in range(degree)]
    shift, factor = 5000, 3**120
    b = [0] * degree
    b[shift] = factor
    product = reduce(negacyclic_product(a, b), modulus)
    moved = [-x for x in a[degree - shift :]] + a[: degree - shift]
    assert product == [x * factor % modulus for x in moved]


def test_degrees_must_agree() -> None:
    with pytest.raises(ValueError):
        negacyclic_product([1] * 8, [1] * 16)


def test_centred_is_symmetric_for_an_odd_modulus() -> None:
    assert centred([0, 3, 4, 6, 7, -4, -3], 7) == [0, 3, -3, -1, 0, 3, -3]
    assert centred([0, 3, 4, 7], 8) == [0, 3, -4, -1]


def test_sums_are_reduced() -> None:
    assert add([6, 0], [1, -1], 7) == [0, 6]
    assert sub([0, 6], [1, -1], 7) == [6, 0]
    assert reduce([-1, 7, 8], 7) == [6, 0, 1]


@pytest.mark.parametrize("element", [1, 3, 5, 13, 15])
def test_automorphism_is_a_ring_map(element: int) -> None:
    rng = random.Random(element)
    a, b = ([rng.randint(-99, 99) for _ in range(8)] for _ in range(2))
    assert automorphism(a, element) == substituted(a, element)
    assert automorphism(schoolbook(a, b), element) == schoolbook(
        automorphism(a, element), automorphism(b, element)
    )
    assert automorphism(automorphism(a, element), pow(element, -1, 16)) == a
