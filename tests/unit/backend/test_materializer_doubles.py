"""Tables of doubles: centred residues, times no power of a radix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import islice, product
from typing import cast

import numpy as np
import torch
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr, TensorType, i64
from xdsl.dialects.builtin import f64 as double
from xdsl.ir import Attribute

from fhelium_ir.backend.materializer import Materializer
from fhelium_ir.dialects import resource, rns
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.parameters import Parameters
from tests.unit.kernel_texts import bit_reverse, root_of_minus_one
from tests.unit.reference.textbook import primes_below

N = 32
FP64 = ARITHMETICS["fp64"]
PRIMES = tuple(islice(primes_below(1 << 50, N), 5))
PARAMETERS = Parameters(N, PRIMES[:3], PRIMES[3:], 2, 40, insecure=True)


class Keys:
    """One tensor for whoever asks."""

    def __init__(self, tensor: torch.Tensor | None = None) -> None:
        self.tensor = torch.zeros(0) if tensor is None else tensor

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        return self.tensor

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        return self.tensor


def materialize(
    kind: str,
    parameters: Mapping[str, Attribute],
    shape: Sequence[int],
    keys: torch.Tensor | None = None,
) -> list[object]:
    declared = resource.DeclareOp("r", kind, parameters, resource.memref(shape, 64, floating=True))
    declared.verify()
    assert declared.is_floating() and declared.word_bits() == 64
    found = Materializer(PARAMETERS, FP64.radix_bits, Keys(keys)).materialize(declared)
    assert found.dtype == torch.float64 and found.is_contiguous() and found.shape == tuple(shape)
    return cast("list[object]", found.numpy().tolist())


def centred(x: int, q: int) -> float:
    residue = x % q
    return float(residue - q if 2 * residue > q else residue)


def test_primes_are_admitted() -> None:
    assert all(FP64.admits(q) for q in PRIMES)


def test_moduli_hold_the_rounded_inverse() -> None:
    rows = materialize("moduli", {}, [len(PRIMES), 4])
    assert rows == [[float(q), float(Fraction(1, q)), 1.0, 1.0] for q in PRIMES]


def test_twiddles() -> None:
    for direction, sign in (("forward", 1), ("inverse", -1)):
        shape = [len(PRIMES), N]
        rows = materialize("twiddles", {"direction": StringAttr(direction)}, shape)
        for row, q in zip(rows, PRIMES, strict=True):
            psi = root_of_minus_one(q, N)
            assert row == [centred(pow(psi, sign * bit_reverse(j, 5), q), q) for j in range(N)]


def test_inverse_degree() -> None:
    rows = materialize("inverse_degree", {"exponent": IntegerAttr(1, i64)}, [len(PRIMES), 2])
    for row, q in zip(rows, PRIMES, strict=True):
        first, last = pow(N, -1, q), pow(N * pow(root_of_minus_one(q, N), N // 2, q), -1, q)
        assert row == [centred(first, q), centred(last, q)]


def test_constants() -> None:
    facts = rns.PolyFacts(N, rns.Basis((0, 2)), 1, None, "coefficient")
    parameters = {
        "constant": rns.ConstantAttr(rns.Constant("inverse", rns.Basis((0, 0), (0, 1)))),
        "type": rns.PolyType(facts),
        "exponent": IntegerAttr(1, i64),
    }
    want = [centred(pow(PARAMETERS.p[0], -1, q), q) for q in PARAMETERS.q[:2]]
    assert materialize("constants", parameters, [2]) == want


def words(shape: Sequence[int], primes: Sequence[int]) -> torch.Tensor:
    """Residues [..., primes, N], the borders of the centred interval among them."""
    generator = np.random.default_rng(1)
    found = np.zeros(shape, dtype=np.int64)
    for row, q in enumerate(primes):
        found[..., row, :] = generator.integers(0, q, (*shape[:-2], shape[-1]))
        found[..., row, :5] = [0, 1, q - 1, (q - 1) // 2, (q + 1) // 2]
    return torch.as_tensor(found)


def test_keys_are_centred() -> None:
    shape = [2, 2, len(PRIMES), N]
    key = words(shape, PRIMES)
    found = materialize("galois_key", {"galois": IntegerAttr(5, i64)}, shape, key)
    want = np.zeros(shape)
    for place in product(*map(range, shape)):
        want[place] = centred(int(key[place]), PRIMES[place[2]])
    assert found == want.tolist()


def test_plaintexts_are_centred() -> None:
    shape = [1, 2, N]
    encoded = words(shape, PRIMES[:2])
    parameters = {
        "values": DenseIntOrFPElementsAttr.from_list(TensorType(double, [2]), [1.0, 2.0]),
        "level": IntegerAttr(1, i64),
        "scale": StringAttr("1024"),
    }
    want = np.zeros(shape)
    for place in product(*map(range, shape)):
        want[place] = centred(int(encoded[place]), PRIMES[place[1]])
    assert materialize("plaintext", parameters, shape, encoded) == want.tolist()
