"""Tables of signed words: centred residues at their exponents, as 32-bit integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import prod
from typing import cast

import pytest
import torch
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from fhelium_ir.backend.materializer import Materializer
from fhelium_ir.dialects import resource, rns
from fhelium_ir.dialects.rns import Basis, PolyFacts, PolyType
from fhelium_ir.parameters import Parameters
from tests.unit.backend.test_materializer_doubles import Keys
from tests.unit.kernel_texts import bit_reverse, root_of_minus_one
from tests.unit.reference.textbook import primes_below

N = 32
R = 1 << 32
PRIMES = tuple(islice(primes_below((1 << 30) - 1, N), 5))
PARAMETERS = Parameters(N, PRIMES[:3], PRIMES[3:], 2, 28, insecure=True)


def centred(x: int, q: int) -> int:
    residue = x % q
    return residue - q if 2 * residue > q else residue


def materialize(
    kind: str,
    parameters: Mapping[str, Attribute],
    shape: Sequence[int],
    keys: torch.Tensor | None = None,
    bits: int = 32,
) -> list[object]:
    declared = resource.DeclareOp("r", kind, parameters, resource.memref(shape, bits))
    declared.verify()
    found = Materializer(PARAMETERS, 32, Keys(keys), centred=True).materialize(declared)
    assert found.dtype == (torch.int32 if bits == 32 else torch.int64)
    return cast("list[object]", found.numpy().tolist())


def integer(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def test_moduli_stay_positive() -> None:
    rows = materialize("moduli", {}, [len(PRIMES), 4])
    for row, q in zip(cast("list[list[int]]", rows), PRIMES, strict=True):
        assert row[0] == q and row[1] * q % R == 1 and -R // 2 <= row[1] < R // 2
        assert row[2:] == [centred(R, q), centred(R * R, q)]


@pytest.mark.parametrize(("direction", "sign"), [("forward", 1), ("inverse", -1)])
def test_twiddles(direction: str, sign: int) -> None:
    rows = materialize("twiddles", {"direction": StringAttr(direction)}, [len(PRIMES), N])
    for row, q in zip(rows, PRIMES, strict=True):
        psi = root_of_minus_one(q, N)
        assert row == [centred(pow(psi, sign * bit_reverse(j, 5), q) * R, q) for j in range(N)]


def test_inverse_degree() -> None:
    rows = materialize("inverse_degree", {"exponent": integer(1)}, [len(PRIMES), 2])
    for row, q in zip(cast("list[list[int]]", rows), PRIMES, strict=True):
        assert row[0] == centred(pow(N, -1, q) * R, q) and abs(row[1]) < q / 2


def test_constants() -> None:
    facts = PolyFacts(N, Basis((0, 3), (0, 0)), domain="coefficient")
    constant = rns.ConstantAttr(rns.Constant("inverse", Basis((0, 0), (0, 2))))
    given = {"constant": constant, "type": PolyType(facts), "exponent": integer(1)}
    factor = prod(PARAMETERS.p)
    expected = [centred(pow(factor, -1, q) * R, q) for q in PARAMETERS.q]
    assert materialize("constants", given, [3]) == expected


@pytest.mark.parametrize("exponent", [0, 1])
def test_keys(exponent: int) -> None:
    key = torch.stack(
        [torch.arange(q - N, q).repeat(2, 2, 1).to(torch.int32) for q in PRIMES], dim=2
    )
    found = materialize(
        "relinearization_key", {"exponent": integer(exponent)}, [2, 2, len(PRIMES), N], key
    )
    expected = [[centred((q - N + k) * R**exponent, q) for k in range(N)] for q in PRIMES]
    assert found == [[expected] * 2] * 2


@pytest.mark.parametrize("correction", ["none", "nearest"])
def test_conversions(correction: str) -> None:
    source = PolyFacts(N, Basis((0, 0), (0, 2)), domain="coefficient")
    target = PolyFacts(N, Basis((0, 3), (0, 0)), domain="coefficient")
    given = {
        "source": PolyType(source),
        "target": PolyType(target),
        "correction": StringAttr(correction),
        "exponent": integer(0),
    }
    width, bits = (1, 32) if correction == "none" else (4, 64)
    found = cast(
        "list[list[list[int]]]", materialize("conversion", given, [3, 3, width], bits=bits)
    )
    product = prod(PARAMETERS.p)
    for rows, t in zip(found, PARAMETERS.q, strict=True):
        factors = [-product, *(product // d for d in PARAMETERS.p)]
        assert [row[0] for row in rows] == [centred(factor * R, t) for factor in factors]
        if correction == "nearest":
            assert [row[3] for row in rows[1:]] == list(PARAMETERS.p)
