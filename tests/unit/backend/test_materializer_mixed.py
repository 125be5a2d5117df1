"""Tables of a module with an arithmetic for each group of primes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from math import prod
from typing import cast

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute

from fhelium_ir.backend.materializer import Materializer
from fhelium_ir.dialects import resource, rns
from fhelium_ir.parameters import Parameters
from tests.unit.backend.test_materializer_doubles import Keys, centred, words
from tests.unit.kernel_texts import bit_reverse, root_of_minus_one
from tests.unit.reference.textbook import primes_below

N = 16
WIDE = tuple(islice(primes_below(1 << 60, N), 2))
NARROW = tuple(islice(primes_below(1 << 49, N), 3))
PARAMETERS = Parameters(N, (WIDE[1], *NARROW[:2]), (NARROW[2], WIDE[0]), 3, 40, insecure=True)
GROUPS = {"mont64": (WIDE[1], WIDE[0]), "fp64": NARROW}
R = 1 << 64


def materialize(
    kind: str,
    parameters: Mapping[str, Attribute],
    shape: Sequence[int],
    *,
    floating: bool = False,
    keys: torch.Tensor | None = None,
) -> list[object]:
    declared = resource.DeclareOp(
        "r", kind, parameters, resource.memref(shape, 64, floating=floating)
    )
    declared.verify()
    found = Materializer(PARAMETERS, 64, Keys(keys), mixed=True).materialize(declared)
    array = found.numpy() if floating else found.numpy().view(np.uint64)
    return cast("list[object]", array.astype(object).tolist())


def test_moduli_are_those_of_the_group() -> None:
    group = {"arithmetic": StringAttr("mont64")}
    want = [[q, pow(q, -1, R), R % q, R * R % q] for q in GROUPS["mont64"]]
    assert materialize("moduli", group, [2, 4]) == want
    group = {"arithmetic": StringAttr("fp64")}
    rows = [[float(q), 1 / q, 1.0, 1.0] for q in GROUPS["fp64"]]
    assert materialize("moduli", group, [3, 4], floating=True) == rows


def test_twiddles_are_those_of_the_group() -> None:
    direction = StringAttr("forward")
    for name, primes in GROUPS.items():
        floating = name == "fp64"
        parameters = {"direction": direction, "arithmetic": StringAttr(name)}
        rows = materialize("twiddles", parameters, [len(primes), N], floating=floating)
        for row, q in zip(rows, primes, strict=True):
            powers = [pow(root_of_minus_one(q, N), bit_reverse(j, 4), q) for j in range(N)]
            assert row == [centred(x, q) if floating else x * R % q for x in powers]


def test_a_key_has_words_of_both_groups() -> None:
    primes = PARAMETERS.primes
    shape = [3, 2, len(primes), N]
    key = words(shape, primes)
    found = materialize("relinearization_key", {"exponent": IntegerAttr(1, i64)}, shape, keys=key)
    stored = np.array(found, dtype=object)
    for row, q in enumerate(primes):
        plain = key[..., row, :].numpy().reshape(-1).tolist()
        there = stored[..., row, :].reshape(-1).tolist()
        if q in WIDE:
            assert there == [x * R % q for x in plain]
        else:
            doubles = np.array(there, dtype=np.uint64).view(np.float64).tolist()
            assert doubles == [centred(x, q) for x in plain]


def test_constants_of_the_other_group_are_0() -> None:
    facts = rns.PolyFacts(N, rns.Basis((0, 2)), 1, None, "coefficient")
    parameters = {
        "constant": rns.ConstantAttr(rns.Constant("inverse", rns.Basis((0, 0), (0, 2)))),
        "type": rns.PolyType(facts),
        "exponent": IntegerAttr(1, i64),
    }
    inverse = [pow(prod(PARAMETERS.p), -1, q) for q in PARAMETERS.q[:2]]
    integers = {**parameters, "arithmetic": StringAttr("mont64")}
    assert materialize("constants", integers, [2]) == [inverse[0] * R % PARAMETERS.q[0], 0]
    doubles = {**parameters, "arithmetic": StringAttr("fp64")}
    want = [0.0, centred(inverse[1], PARAMETERS.q[1])]
    assert materialize("constants", doubles, [2], floating=True) == want


@pytest.mark.parametrize("correction", ["none", "nearest"])
@pytest.mark.parametrize("group", ["mont64", "fp64"])
def test_conversions(group: str, correction: str) -> None:
    """Six integers for each source limb of either group; those of doubles centred, with 2^32 times the factor."""
    source = rns.PolyFacts(N, rns.Basis((0, 2)), 1, None, "coefficient")
    target = rns.PolyFacts(N, rns.Basis((0, 0), (0, 2)), 1, None, "coefficient")
    parameters = {
        "source": rns.PolyType(source),
        "target": rns.PolyType(target),
        "correction": StringAttr(correction),
        "exponent": IntegerAttr(0, i64),
        "arithmetic": StringAttr(group),
    }
    found = materialize("conversion", parameters, [2, 3, 6])
    sources = PARAMETERS.q[:2]
    product = prod(sources)

    def factor(x: int, t: int) -> int:
        return int(centred(x, t)) % (1 << 64) if group == "fp64" else x * R % t

    for row, t in zip(found, PARAMETERS.p, strict=True):
        if group == "fp64" and t in WIDE:
            continue  # no kernel of doubles computes this row
        want = [[factor(-product, t), 0, 0, 0, 0, 0]]
        for d in sources:
            upper = factor(product // d << 32, t) if group == "fp64" else 0
            entry = [factor(product // d, t), upper, d // 2, 0, d, 0]
            if correction == "nearest":
                # d has more than 33 bits; the least v with floor(v m / 2^64) at least 2^31.
                m = (1 << 96) // d
                entry[2], entry[5] = m, -(-(1 << 95) // m)
            want.append(entry)
        assert row == want
