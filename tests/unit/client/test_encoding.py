import cmath
import random
from fractions import Fraction

import numpy as np
import pytest

from fhelium_ir.client.encoding import decode, encode, from_residues, replicate, to_residues
from fhelium_ir.client.transform import automorphism
from fhelium_ir.compiler.errors import FheliumError


def _slots(coefficients: list[int], scale: Fraction | int) -> list[complex]:
    """Direct O(N^2) evaluation at zeta^(5^j)."""
    degree = len(coefficients)
    roots = [cmath.exp(1j * cmath.pi * k / degree) for k in range(2 * degree)]
    values = [float(Fraction(c) / scale) for c in coefficients]
    return [
        sum(v * roots[pow(5, j, 2 * degree) * i % (2 * degree)] for i, v in enumerate(values))
        for j in range(degree // 2)
    ]


def _vector(slots: int, seed: int) -> np.ndarray[tuple[int], np.dtype[np.complex128]]:
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, slots) + 1j * rng.uniform(-1, 1, slots)


@pytest.mark.parametrize("degree", [8, 16, 64])
@pytest.mark.parametrize("scale", [1 << 40, 1 << 100, Fraction(3 << 50, 7)])
def test_encoding_has_the_slots_asked_for(degree: int, scale: Fraction | int) -> None:
    values = _vector(degree // 2, degree)
    coefficients = encode(values, scale, degree)
    tolerance = 1e-14 + degree / float(scale)
    assert np.abs(np.array(_slots(coefficients, scale)) - values).max() < tolerance


@pytest.mark.parametrize("degree", [8, 16, 64])
@pytest.mark.parametrize("scale", [1, 1 << 40, 1 << 100, Fraction(1 << 61, 97)])
def test_decoding_is_direct_evaluation(degree: int, scale: Fraction | int) -> None:
    rng = random.Random(degree)
    coefficients = [round(scale * rng.uniform(-9, 9)) for _ in range(degree)]
    difference = decode(coefficients, scale) - np.array(_slots(coefficients, scale))
    assert np.abs(difference).max() < 1e-12


def test_known_encodings() -> None:
    # a constant, X^(N/2) = i at every zeta^(5^j) because 5^j = 1 mod 4, and X itself
    assert encode([3.0], 1 << 70, 8) == [3 << 70, 0, 0, 0, 0, 0, 0, 0]
    assert encode([1j], 1 << 30, 8) == [0, 0, 0, 0, 1 << 30, 0, 0, 0]
    zeta = [cmath.exp(1j * cmath.pi * e / 8) for e in (1, 5, 9, 13)]
    assert encode(zeta, 1 << 30, 8) == [0, 1 << 30, 0, 0, 0, 0, 0, 0]
    assert encode([0.0], 1 << 40, 8) == [0] * 8


def test_coefficients_are_rounded_to_nearest() -> None:
    assert encode([0.75, 0.75, 0.75, 0.75], 1, 8)[0] == 1
    assert encode([-0.75], 1, 8)[0] == -1
    assert encode([0.25], 1, 8)[0] == 0
    assert encode([1.0], Fraction(5, 3), 8)[0] == 2


@pytest.mark.parametrize("magnitude", [1e-300, 1e-9, 1e9, 1e300])
def test_relative_error_does_not_depend_on_magnitude(magnitude: float) -> None:
    degree = 1 << 10
    values = _vector(degree // 2, 3) * magnitude
    scale = Fraction(2) ** 90 / Fraction(magnitude)
    decoded = decode(encode(values, scale, degree), scale)
    assert np.abs(decoded - values).max() < 2e-15 * magnitude


def test_round_trip_at_a_large_ring_degree() -> None:
    degree = 1 << 16
    values = _vector(degree // 2, 9)
    assert np.abs(decode(encode(values, 1 << 90, degree), 1 << 90) - values).max() < 5e-15


@pytest.mark.parametrize("steps", [1, 2, 3, -1, 0, 5])
def test_automorphism_rotates_left(steps: int) -> None:
    values = _vector(4, 1)
    coefficients = np.array(encode(values, 1 << 40, 8), dtype=np.int64)
    element = pow(5, steps, 16)
    assert steps != -1 or element == 13
    rotated = decode(automorphism(coefficients, element).tolist(), 1 << 40)
    expected = [values[(j + steps) % 4] for j in range(4)]
    assert np.abs(rotated - np.array(expected)).max() < 1e-10


def test_automorphism_conjugates() -> None:
    values = _vector(8, 2)
    coefficients = np.array(encode(values, 1 << 40, 16), dtype=np.int64)
    decoded = decode(automorphism(coefficients, 31).tolist(), 1 << 40)
    assert np.abs(decoded - values.conj()).max() < 1e-10


def test_replicate() -> None:
    assert replicate([1, 2j], 8).tolist() == [1, 2j, 1, 2j, 1, 2j, 1, 2j]
    assert replicate(np.arange(4), 4).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("values", [[1, 2, 3], [], [[1, 2]], list(range(16))])
def test_lengths_that_do_not_divide_the_slots(values: list[float]) -> None:
    with pytest.raises(FheliumError, match="weights has shape"):
        replicate(values, 8, "weights")


@pytest.mark.parametrize(
    "bad", [float("nan"), float("inf"), -float("inf"), complex(0, float("nan"))]
)
def test_values_that_are_not_finite(bad: complex) -> None:
    with pytest.raises(FheliumError, match="weights holds a value that is not finite"):
        encode([1.0, bad], 1 << 40, 8, "weights")


@pytest.mark.parametrize("scale", [0, -1, Fraction(-1, 2)])
def test_scales_that_are_not_positive(scale: Fraction | int) -> None:
    with pytest.raises(FheliumError, match="must be positive"):
        encode([1.0], scale, 8)


def test_residues_of_exact_integers() -> None:
    primes = [97, 4293918721, 1152921504607338497]
    values = [0, 1, -1, 1 << 62, -(1 << 63), (1 << 63) - 1, 1 << 100, -(3**70)]
    for part in (values, values[:4]):
        residues = to_residues(part, primes)
        assert residues.dtype == np.int64
        assert residues.tolist() == [[v % q for v in part] for q in primes]


def test_chinese_remainder_is_centred() -> None:
    primes = [97, 193, 1152921504607338497]
    modulus = 97 * 193 * 1152921504607338497
    half = modulus // 2
    values = [0, 1, -1, half, -half, half - 1, -half + 1, 12345678901234567890]
    assert from_residues(to_residues(values, primes), primes) == values
    beyond = to_residues([half + 1, modulus, -half - 1, modulus - 1], primes)
    assert from_residues(beyond, primes) == [-half, 0, half, -1]
