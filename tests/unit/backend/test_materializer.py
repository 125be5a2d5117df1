"""Tables against their definitions, computed here with Python integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntElementsAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i32,
    i64,
)
from xdsl.ir import Attribute

from fhelium_ir.backend.materializer import Materializer
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import resource, rns
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.parameters import Parameters
from tests.unit.end_to_end.programs import chain
from tests.unit.kernel_texts import bit_reverse, root_of_minus_one, transform

N = 32
BITS = {28: 32, 60: 64}
SETS = pytest.mark.parametrize("bits", [28, 60], ids=["mont32", "mont64"])
FIVE = {bits: chain(bits, 5, 2, 3) for bits in BITS}
"""Five primes in digits of three and two, and three special primes."""


class Keys:
    """Keys and plaintexts made of known words."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.asked: list[object] = []

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        self.asked.append((kind, galois))
        return self.tensor

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        self.asked.append((list(values), scale, level))
        return self.tensor


def materialize(
    bits: int,
    kind: str,
    parameters: Mapping[str, Attribute],
    shape: Sequence[int],
    word: int | None = None,
    keys: Keys | None = None,
) -> NDArray[np.int64]:
    """The declared table: a contiguous tensor of the declared shape and word."""
    buffer = resource.memref(shape, word or BITS[bits])
    declared = resource.DeclareOp("r", kind, parameters, buffer)
    declared.verify()
    source = keys or Keys(torch.zeros(0))
    found = Materializer(FIVE[bits], BITS[bits], source).materialize(declared)
    assert found.is_contiguous() and found.shape == torch.Size(shape)
    assert found.dtype == (torch.int32 if (word or BITS[bits]) == 32 else torch.int64)
    return found.numpy().astype(np.int64)


def unsigned(words: NDArray[np.int64], bits: int) -> list[int]:
    return [int(word) % (1 << bits) for word in words]


def number(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


@SETS
def test_moduli(bits: int) -> None:
    radix = 1 << BITS[bits]
    rows = materialize(bits, "moduli", {}, [8, 4])
    for row, q in zip(rows, FIVE[bits].primes, strict=True):
        prime, inverse, one, square = unsigned(row, BITS[bits])
        assert prime == q
        assert prime * inverse % radix == 1
        assert (one, square) == (radix % q, radix**2 % q)


@SETS
@pytest.mark.parametrize("direction", ["forward", "inverse"])
def test_twiddles_are_powers_of_the_first_root(bits: int, direction: str) -> None:
    rows = materialize(bits, "twiddles", {"direction": StringAttr(direction)}, [8, N])
    for row, q in zip(rows.tolist(), FIVE[bits].primes, strict=True):
        psi = root_of_minus_one(q, N)
        sign = 1 if direction == "forward" else -1
        radix = 1 << BITS[bits]
        assert row == [pow(psi, sign * bit_reverse(j, 5), q) * radix % q for j in range(N)]


@SETS
@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize(
    ("groups", "table_stages"), [((3, 2), 3), ((2, 2, 1), 2), ((2, 1, 2), 3), ((1,) * 5, 2)]
)
def test_tables_of_twiddles_that_are_computed(
    bits: int, direction: str, groups: tuple[int, ...], table_stages: int
) -> None:
    """Stages that are read have all their powers; groups that compute theirs the first of their last stage by block."""
    schedule = Schedule(tuple((stages,) for stages in groups), 1, 1, 1, table_stages)
    naturals, before = [0], 0
    for stages in groups:
        # A stage's blocks are numbered block : inner.
        read = range(stages) if before < table_stages else ()
        for stage in read:
            first = 1 << (before + stage)
            assert len(naturals) == first
            order = product(range(1 << stage), range(1 << before))
            naturals += [first + (block << stage) + inner for inner, block in order]
        if not read:
            assert len(naturals) == schedule.twiddle_place(before)
            last = 1 << (before + stages - 1)
            naturals += [last + (block << (stages - 1)) for block in range(1 << before)]
        before += stages
    assert len(naturals) == schedule.twiddle_entries()
    for natural in range(1, 1 << table_stages):
        assert naturals[schedule.twiddle_entry(natural)] == natural
    named: dict[str, Attribute] = {
        "direction": StringAttr(direction),
        "groups": DenseArrayBase.from_list(i64, groups),
        "table_stages": number(table_stages),
    }
    rows = materialize(bits, "twiddles", named, [8, len(naturals)])
    radix, sign = 1 << BITS[bits], 1 if direction == "forward" else -1
    for row, q in zip(rows.tolist(), FIVE[bits].primes, strict=True):
        psi = root_of_minus_one(q, N)
        assert row == [pow(psi, sign * bit_reverse(j, 5), q) * radix % q for j in naturals]


@SETS
@pytest.mark.parametrize("exponent", [-1, 0, 1, 2])
def test_inverse_degree(bits: int, exponent: int) -> None:
    rows = materialize(bits, "inverse_degree", {"exponent": number(exponent)}, [8, 2])
    for row, q in zip(rows.tolist(), FIVE[bits].primes, strict=True):
        factor = pow(1 << BITS[bits], exponent, q)
        psi = root_of_minus_one(q, N)
        assert row[0] * N % q == factor
        # the twiddle of the first stage of the forward transform, undone last
        assert row[1] * N * pow(psi, N // 2, q) % q == factor


def with_quotients(
    bits: int, kind: str, parameters: dict[str, Attribute], count: int
) -> list[list[int]]:
    """The factors of a table with quotients, [primes, count], whose quotients are right."""
    width = BITS[bits]
    shape = [8, count] if width == 32 else [8, 2, count]
    table = materialize(bits, kind, parameters, shape, 64).tolist()
    factors: list[list[int]] = []
    for row, q in zip(table, FIVE[bits].primes, strict=True):
        if width == 32:
            words, quotients = [e % (1 << 32) for e in row], [e % (1 << 64) >> 32 for e in row]
        else:
            words, quotients = row[0], [e % (1 << 64) for e in row[1]]
        assert all(0 <= word < q for word in words)
        assert quotients == [(word << width) // q for word in words]
        factors.append(words)
    return factors


@SETS
@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("stages", [1, 3, 5])
def test_twiddles_with_quotients_are_plain(bits: int, direction: str, stages: int) -> None:
    groups = DenseArrayBase.from_list(i64, [2, 3])
    named: dict[str, Attribute] = {"direction": StringAttr(direction), "groups": groups}
    montgomery = materialize(bits, "twiddles", dict(named), [8, N]).tolist()
    named["stages"] = number(stages)
    plain = with_quotients(bits, "shoup_twiddles", named, 1 << stages)
    for row, raised, q in zip(plain, montgomery, FIVE[bits].primes, strict=True):
        assert [(word << BITS[bits]) % q for word in row] == raised[: 1 << stages]


@SETS
@pytest.mark.parametrize("exponent", [-1, 0, 1])
def test_inverse_degree_with_quotients(bits: int, exponent: int) -> None:
    named: dict[str, Attribute] = {"exponent": number(exponent)}
    plain = with_quotients(bits, "shoup_inverse_degree", named, 2)
    assert plain == materialize(bits, "inverse_degree", named, [8, 2]).tolist()


def digit_primes(parameters: Parameters, limbs: int) -> list[tuple[int, ...]]:
    return [parameters.q[start : min(start + 3, limbs)] for start in range(0, limbs, 3)]


@SETS
@pytest.mark.parametrize("limbs", [1, 3, 4, 5])
def test_punctured_inverses_of_digits(bits: int, limbs: int) -> None:
    facts = rns.PolyFacts(N, rns.Basis((0, limbs)), 1, rns.Digits("own", 3), "coefficient")
    parameters = {
        "constant": rns.ConstantAttr(rns.Constant("punctured_inverse")),
        "type": rns.PolyType(facts),
        "exponent": number(1),
    }
    found = materialize(bits, "constants", parameters, [limbs]).tolist()
    expected: list[int] = []
    for primes in digit_primes(FIVE[bits], limbs):
        for q in primes:
            product = prod(p for p in primes if p != q)
            expected.append(pow(product, -1, q) * (1 << BITS[bits]) % q)
    assert found == expected


@SETS
def test_punctured_inverses_of_the_special_primes(bits: int) -> None:
    facts = rns.PolyFacts(N, rns.Basis(p=(0, 3)), 2, None, "coefficient")
    parameters = {
        "constant": rns.ConstantAttr(rns.Constant("punctured_inverse")),
        "type": rns.PolyType(facts),
        "exponent": number(0),
    }
    found = materialize(bits, "constants", parameters, [3]).tolist()
    a, b, c = FIVE[bits].p
    assert found == [pow(b * c, -1, a), pow(a * c, -1, b), pow(a * b, -1, c)]


@SETS
def test_inverses_of_a_divisor(bits: int) -> None:
    facts = rns.PolyFacts(N, rns.Basis((0, 2)), 2, None, "evaluation", "bit_reversed")
    divisor = rns.Basis((2, 3), (1, 3))
    parameters = {
        "constant": rns.ConstantAttr(rns.Constant("inverse", divisor)),
        "type": rns.PolyType(facts),
        "exponent": number(1),
    }
    found = materialize(bits, "constants", parameters, [2]).tolist()
    sets = FIVE[bits]
    product = sets.q[2] * sets.p[1] * sets.p[2]
    for value, q in zip(found, sets.q[:2], strict=True):
        assert value * product % q == (1 << BITS[bits]) % q


@SETS
@pytest.mark.parametrize("limbs", [3, 4, 5])
@pytest.mark.parametrize("exponent", [0, 1])
def test_conversion_of_digits(bits: int, limbs: int, exponent: int) -> None:
    """A digit with fewer limbs than the first one is padded by terms that add nothing."""
    sets, radix = FIVE[bits], 1 << BITS[bits]
    source = rns.PolyFacts(N, rns.Basis((0, limbs)), 1, rns.Digits("own", 3), "coefficient")
    basis = rns.Basis((0, limbs), (0, 3))
    target = rns.PolyFacts(N, basis, 1, rns.Digits("complement", 3), "coefficient")
    digits = digit_primes(sets, limbs)
    wanted: list[tuple[int, tuple[int, ...]]] = []
    for primes in digits:
        others = [q for q in sets.q[:limbs] if q not in primes]
        wanted += [(t, primes) for t in (*others, *sets.p)]
    parameters = conversion(source, target, "none", exponent)
    rows = materialize(bits, "conversion", parameters, [len(wanted), 4, 3], 64).tolist()
    for row, (t, primes) in zip(rows, wanted, strict=True):
        factor = pow(radix, exponent + 1, t)
        product = prod(primes)
        assert row[0] == [-product * factor % t, 0, 0]
        for entry, d in zip(row[1:], primes, strict=False):
            assert entry == [product // d * factor % t, (d - 1) // 2, 0]
        # no residue is above this half, and the coefficient is 0
        assert all(entry == [0, 2**63 - 1, 0] for entry in row[1 + len(primes) :])


@SETS
def test_conversion_to_the_nearest(bits: int) -> None:
    sets = FIVE[bits]
    source = rns.PolyFacts(N, rns.Basis(p=(0, 3)), 2, None, "coefficient")
    target = rns.PolyFacts(N, rns.Basis((0, 5)), 2, None, "coefficient")
    parameters = conversion(source, target, "nearest", 0)
    rows = materialize(bits, "conversion", parameters, [5, 4, 3], 64)
    product = prod(sets.p)
    for row, t in zip(rows, sets.q, strict=True):
        radix = 1 << BITS[bits]
        assert row[0].tolist() == [-product * radix % t, 0, 0]
        for entry, d in zip(row[1:], sets.p, strict=True):
            coefficient, reciprocal, shift = unsigned(entry, 64)
            assert coefficient == product // d * radix % t
            assert shift == max(0, 33 - bits)
            assert reciprocal == 2 ** (96 - shift) // d < 2**64
            # the largest residue is less than one in units of 2^-32, and short of it by 2 at most
            fraction = ((d - 1) << shift) * reciprocal >> 64
            assert 2**32 - 2 - (2**32 // d) <= fraction < 2**32


def conversion(
    source: rns.PolyFacts, target: rns.PolyFacts, correction: str, exponent: int
) -> dict[str, Attribute]:
    return {
        "source": rns.PolyType(source),
        "target": rns.PolyType(target),
        "correction": StringAttr(correction),
        "exponent": number(exponent),
    }


ELEMENTS = [1, 3, 5, 25, 13, 61, 63]


@pytest.mark.parametrize("element", ELEMENTS)
def test_permutation_of_evaluations(element: int) -> None:
    """Against evaluating a(X^g) directly."""
    q = FIVE[28].q[0]
    a = [(i * i * 7919 + 12345) % q for i in range(N)]
    parameters = {"galois": number(element), "domain": StringAttr("evaluation")}
    permutation = materialize(28, "permutation", parameters, [N], 32).tolist()
    before, after = transform(a, q), transform(automorphism(a, element, q), q)
    assert [before[source] for source in permutation] == after


@pytest.mark.parametrize("element", ELEMENTS)
def test_permutation_of_coefficients(element: int) -> None:
    q = FIVE[28].q[0]
    a = [(i * i * 7919 + 12345) % q for i in range(N)]
    parameters = {"galois": number(element), "domain": StringAttr("coefficient")}
    permutation = materialize(28, "permutation", parameters, [N], 32).tolist()
    found: list[int] = [a[k] if k < N else -a[k - N] % q for k in permutation]
    assert found == automorphism(a, element, q)


def automorphism(a: Sequence[int], element: int, q: int) -> list[int]:
    """a(X^element): X^i goes to X^(i * element), and X^N = -1."""
    result = [0] * N
    for i, value in enumerate(a):
        quotient, place = divmod(i * element, N)
        result[place] = value if quotient % 2 == 0 else -value % q
    return result


@SETS
@pytest.mark.parametrize("galois", [None, 5])
@pytest.mark.parametrize("exponent", [0, 1])
def test_keys_are_scaled_by_the_radix(bits: int, galois: int | None, exponent: int) -> None:
    sets, radix = FIVE[bits], 1 << BITS[bits]
    dtype = torch.int32 if bits == 28 else torch.int64
    words = torch.stack([torch.arange(q - N, q) for q in sets.primes]).expand(2, 2, 8, N)
    keys = Keys(words.to(dtype).contiguous())
    parameters: dict[str, Attribute] = {"exponent": number(exponent)}
    kind = "relinearization_key"
    if galois is not None:
        kind, parameters["galois"] = "galois_key", number(galois)
    found = materialize(bits, kind, parameters, [2, 2, 8, N], keys=keys)
    assert keys.asked == [("relinearize" if galois is None else "galois", galois)]
    for index, q in enumerate(sets.primes):
        row = [(q - N + i) * radix**exponent % q for i in range(N)]
        assert found[:, :, index].reshape(4, N).tolist() == [row] * 4


def test_plaintexts_are_asked_for_with_their_exact_scale() -> None:
    words = torch.arange(2 * N, dtype=torch.int32).reshape(1, 2, N)
    keys = Keys(words)
    tensor = TensorType(f64, [2])
    parameters: dict[str, Attribute] = {
        "values": DenseIntOrFPElementsAttr.from_list(tensor, [0.5, -2.0]),
        "level": number(1),
        "scale": StringAttr("4503599627370496/12289"),
        "exponent": number(1),
    }
    found = materialize(28, "plaintext", parameters, [1, 2, N], keys=keys)
    assert keys.asked == [([0.5, -2.0], Fraction(2**52, 12289), 1)]
    for row, q in enumerate(FIVE[28].q[:2]):
        assert found[0, row].tolist() == [(row * N + i) * 2**32 % q for i in range(N)]


def test_rows_are_as_declared() -> None:
    dense = DenseIntElementsAttr.from_list(TensorType(i32, [2, 3]), [0, 1, 2, 5, 4, 3])
    assert materialize(28, "rows", {"values": dense}, [2, 3], 32).tolist() == [[0, 1, 2], [5, 4, 3]]


def test_words_beyond_the_sign_bit_wrap() -> None:
    """Inverses modulo R are of any size, and stored in two's complement."""
    inverses = materialize(60, "moduli", {}, [8, 4])[:, 1]
    assert inverses.min() < 0 < inverses.max()


@pytest.mark.parametrize("kind", ["moduli", "relinearization_key"])
def test_another_shape_than_declared(kind: str) -> None:
    parameters: dict[str, Attribute] = {} if kind == "moduli" else {"exponent": number(1)}
    keys = Keys(torch.zeros((2, 2, 7, N), dtype=torch.int32))
    shape = [7, 4] if kind == "moduli" else [2, 2, 8, N]
    with pytest.raises(FheliumError, match=r"resource @r is declared as .*, its contents are"):
        materialize(28, kind, parameters, shape, keys=keys)


def test_no_shape() -> None:
    declared = resource.DeclareOp("r", "moduli", {})
    source = Materializer(FIVE[28], 32, Keys(torch.zeros(0)))
    with pytest.raises(FheliumError, match="resource @r has no shape"):
        source.materialize(declared)
