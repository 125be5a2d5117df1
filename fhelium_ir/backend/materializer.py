"""Contents of declared resources: from kind, parameters and the module's parameters to a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects.builtin import DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute

from fhelium_ir.analysis.prime_groups import group_primes, in_group
from fhelium_ir.analysis.region_words import MIXED_WIDTH
from fhelium_ir.client import modular
from fhelium_ir.client.numbers import bit_reversal, primitive_root
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import resource, rns
from fhelium_ir.dialects.zq import ARITHMETICS, MIXED, group_of
from fhelium_ir.parameters import Parameters

if TYPE_CHECKING:
    from fhelium_ir.compiler.compilation import Compilation

IntArray = NDArray[np.int64]

Contents = IntArray | list[int] | list[list[int]] | list[list[list[int]]]
"""Residues as an array; words of up to 64 unsigned bits as nested lists."""


class KeySource(Protocol):
    """Where evaluation keys and encoded plaintexts come from: a client, or files that it sent."""

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        """Key of `kind` "relinearize" or "galois", [digits, 2, primes, N], evaluation domain, exponent 0."""
        ...

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        """An encoded vector, [1, limbs, N], evaluation domain, exponent 0; limbs of q, of an extended one those of p
        behind them.
        """
        ...


class Materializer:
    """Computes resources on demand, each once; tensors are on the CPU.

    Args:
        centred: residues are stored as signed integers around 0, as those that are declared as doubles always are.
        mixed: the module has an arithmetic for each group of primes; tables then state theirs.
    """

    def __init__(
        self,
        parameters: Parameters,
        radix_bits: int,
        keys: KeySource,
        *,
        centred: bool = False,
        mixed: bool = False,
    ):
        self.parameters = parameters
        self.centred = centred
        self.keys = keys
        self.mixed = mixed
        self._module_radix = self.radix = 1 << radix_bits
        self.primes = parameters.primes
        self._kinds: Mapping[str, Callable[[resource.DeclareOp], Contents]] = {
            "relinearization_key": self._key,
            "galois_key": self._key,
            "plaintext": self._plaintext,
            "moduli": self._moduli,
            "twiddles": self._twiddles,
            "inverse_degree": self._inverse_degree,
            "shoup_twiddles": self._shoup_twiddles,
            "shoup_inverse_degree": self._shoup_inverse_degree,
            "constants": self._constants,
            "conversion": self._conversion,
            "permutation": self._permutation,
            "rows": self._rows,
        }

    def materialize(self, declared: resource.DeclareOp) -> torch.Tensor:
        """The declared tensor: its shape, int32 or int64; words of 2^(bits-1) or more are stored in two's complement.

        Raises:
            FheliumError: the declaration has no shape, or what it describes has another one.
        """
        name = declared.sym_name.data
        if declared.buffer is None:
            raise FheliumError(f"resource @{name} has no shape; run infer-resources first")
        group = _group(declared)
        self.primes = group_primes(self.parameters, group)
        self.radix = ARITHMETICS[group].radix if group is not None else self._module_radix
        content = self._kinds[declared.kind.data](declared)
        doubles = declared.is_floating()
        if self.centred and not doubles:
            content = self._signed(declared, content)
        tensor = (
            self._doubles(declared, content) if doubles else _tensor(content, declared.word_bits())
        )
        _require_shape(declared, tensor)
        return tensor.contiguous()

    def _doubles(self, declared: resource.DeclareOp, content: Contents) -> torch.Tensor:
        """Residues as centred integers in doubles; of moduli q and 1/q rounded."""
        kind = declared.kind.data
        if kind == "moduli":
            rows = [[float(q), 1.0 / q, 1.0, 1.0] for q in self.primes]
            return torch.tensor(rows, dtype=torch.float64)
        array = np.array(content, dtype=np.int64)
        # The coefficients of conversions are centred already.
        if kind != "conversion":
            array = self._around_zero(declared, array)
        return torch.as_tensor(array.astype(np.float64))

    def _signed(self, declared: resource.DeclareOp, content: Contents) -> Contents:
        """Residues as centred integers; moduli stay what they are."""
        match declared.kind.data:
            case "moduli":
                return [
                    [q, inverse, _centred(one, q), _centred(square, q)]
                    for q, inverse, one, square in self._moduli(declared)
                ]
            case "conversion" | "permutation" | "rows":
                return content
            case _:
                return self._around_zero(declared, np.array(content, dtype=np.int64))

    def _around_zero(self, declared: resource.DeclareOp, array: IntArray) -> IntArray:
        """Centred residues; those of a prime stand in one row."""
        moduli = np.array(self._row_moduli(declared), dtype=np.int64)
        moduli = moduli.reshape((-1,) if array.ndim == 1 else (-1, 1))
        return np.where(array > moduli // 2, array - moduli, array)

    def _row_moduli(self, declared: resource.DeclareOp) -> list[int]:
        """The prime of each row of residues."""
        match declared.kind.data:
            case "constants":
                return [self._prime(limb) for _, limb in _facts(declared, "type").rows()]
            case "plaintext":
                level = _integer(declared, "level")
                special = self.parameters.p if "special" in declared.parameters.data else ()
                return [*self.parameters.q[: level + 1], *special]
            case _:
                return list(self.primes)

    def _stored(self, rows: IntArray, primes: Sequence[int], exponent: int) -> IntArray:
        """Residue rows [..., primes, N] of a key or plaintext as words of the module."""
        if not self.mixed:
            return self._with_exponent(rows, primes, exponent)
        out = rows.copy()
        for index, q in enumerate(primes):
            row = rows[..., index : index + 1, :]
            if group_of(q).floating:
                centred = np.where(row > q // 2, row - q, row).astype(np.float64)
                out[..., index : index + 1, :] = centred.view(np.int64)
            else:
                out[..., index : index + 1, :] = self._with_exponent(row, [q], exponent)
        return out

    def _with_exponent(self, rows: IntArray, primes: Sequence[int], exponent: int) -> IntArray:
        """Multiplies residue rows [..., primes, N] by R^exponent."""
        if exponent == 0:
            return rows
        out = rows.copy()
        for index, q in enumerate(primes):
            factor = modular.prepare(pow(self.radix, exponent, q), q)
            out[..., index, :] = modular.mul_factor(rows[..., index, :], factor)
        return out

    def _key(self, declared: resource.DeclareOp) -> IntArray:
        galois = declared.parameters.data.get("galois")
        element = None if galois is None else cast("IntegerAttr", galois).value.data
        kind = "relinearize" if element is None else "galois"
        tensor = self.keys.evaluation_key(kind, element)
        _require_shape(declared, tensor)
        key = tensor.numpy().astype(np.int64)
        return self._stored(key, self.parameters.primes, _integer(declared, "exponent"))

    def _plaintext(self, declared: resource.DeclareOp) -> IntArray:
        dense = declared.parameters.data["values"]
        assert isinstance(dense, DenseIntOrFPElementsAttr)
        values = [complex(cast(float, value)) for value in dense.get_values()]
        scale = Fraction(_string(declared, "scale"))
        level = _integer(declared, "level")
        extended = "special" in declared.parameters.data
        tensor = self.keys.plaintext(values, scale, level, extended)
        _require_shape(declared, tensor)
        rows = tensor.numpy().astype(np.int64)
        primes = self.parameters.q[: level + 1] + (self.parameters.p if extended else ())
        return self._stored(rows, primes, _integer(declared, "exponent"))

    def _moduli(self, declared: resource.DeclareOp) -> list[list[int]]:
        radix = self.radix
        return [[q, pow(q, -1, radix), radix % q, radix * radix % q] for q in self.primes]

    def _twiddles(self, declared: resource.DeclareOp) -> IntArray:
        return self._with_exponent(self._roots(declared), self.primes, 1)

    def _roots(self, declared: resource.DeclareOp) -> IntArray:
        """Twiddles as plain residues."""
        degree = self.parameters.ring_degree
        order = bit_reversal(degree)[_grouped(degree, declared)]
        inverse = _string(declared, "direction") == "inverse"
        rows: list[IntArray] = []
        for q in self.primes:
            root = primitive_root(degree, q)
            powers = _powers(pow(root, -1, q) if inverse else root, degree, q)
            rows.append(powers[order])
        return np.stack(rows)

    def _shoup_twiddles(self, declared: resource.DeclareOp) -> IntArray:
        return self._with_quotients(self._roots(declared)[:, : 1 << _integer(declared, "stages")])

    def _shoup_inverse_degree(self, declared: resource.DeclareOp) -> IntArray:
        return self._with_quotients(np.array(self._inverse_degree(declared), dtype=np.int64))

    def _with_quotients(self, factors: IntArray) -> IntArray:
        """Factors [primes, entries] and their quotients, as the kinds `shoup_...` hold them."""
        primes = self.primes
        # w R mod q = w R - quotient q, and the quotient is below R: modulo R it is -(w R mod q) / q.
        rests = self._with_exponent(factors, primes, 1).astype(np.uint64)
        inverses = np.array([[pow(-q, -1, self.radix)] for q in primes], dtype=np.uint64)
        quotients = rests * inverses
        if self.radix == 1 << 64:
            return np.stack([factors, quotients.view(np.int64)], axis=1)
        return (factors.astype(np.uint64) | quotients << np.uint64(32)).view(np.int64)

    def _inverse_degree(self, declared: resource.DeclareOp) -> list[list[int]]:
        degree, exponent = self.parameters.ring_degree, _integer(declared, "exponent")
        out: list[list[int]] = []
        for q in self.primes:
            scale = pow(degree, -1, q) * pow(self.radix, exponent, q) % q
            # The only twiddle of stage 0 is psi^(N/2).
            twiddle = pow(primitive_root(degree, q), -(degree // 2), q)
            out.append([scale, scale * twiddle % q])
        return out

    def _prime(self, limb: rns.Limb) -> int:
        return (self.parameters.q if limb.family == "q" else self.parameters.p)[limb.index]

    def _digit_primes(self, facts: rns.PolyFacts) -> dict[int, list[int]]:
        digits: dict[int, list[int]] = {}
        for digit, limb in facts.rows():
            digits.setdefault(digit, []).append(self._prime(limb))
        return digits

    def _constants(self, declared: resource.DeclareOp) -> list[int]:
        facts = _facts(declared, "type")
        attribute = declared.parameters.data["constant"]
        assert isinstance(attribute, rns.ConstantAttr)
        exponent = _integer(declared, "exponent")
        digits = self._digit_primes(facts)
        out: list[int] = []
        for digit, limb in facts.rows():
            q = self._prime(limb)
            if attribute.data.basis is not None:
                factor = prod(self._prime(other) for other in attribute.data.basis.limbs())
            else:
                factor = prod(digits[digit]) // q
            if not in_group(limb, self.parameters, _group(declared)):
                out.append(0)  # words of the other group; only masked words meet it
                continue
            power = 1 if attribute.data.kind == "product" else -1
            out.append(pow(factor, power, q) * pow(self.radix, exponent, q) % q)
        return out

    def _conversion(self, declared: resource.DeclareOp) -> list[list[list[int]]]:
        source, target = _facts(declared, "source"), _facts(declared, "target")
        correction = _string(declared, "correction")
        scale_exponent = 1 + _integer(declared, "exponent")
        digits = self._digit_primes(source)
        longest = max(len(primes) for primes in digits.values())
        width = declared.shape()[-1]
        # Padding adds nothing: no word is above the half, and m = 0.
        padding = [0, 0, 0, 0] if correction == "nearest" else [0, (1 << 63) - 1, 0, 0]
        out: list[list[list[int]]] = []
        for digit, limb in target.rows():
            t, primes = self._prime(limb), digits[digit]
            if correction == "rounded":
                out.append(_rounded(primes[0]))
                continue
            product, scale = prod(primes), pow(self.radix, scale_exponent, t)
            if width == MIXED_WIDTH:
                out.append(_mixed_entries(primes, longest, t, correction, scale, self.radix == 1))
                continue
            entries = [[-product * scale % t, 0, 0, 0]]
            for prime in primes:
                helper, shift = (prime - 1) // 2, 0
                if correction == "nearest":
                    shift, helper = _reciprocal(prime)
                entries.append([product // prime * scale % t, helper, shift, prime])
            entries.extend([padding] * (longest - len(primes)))
            if width != 3:
                # Factors of words with a sign are centred.
                entries = [[_centred(entry[0], t), *entry[1:]] for entry in entries]
            out.append([entry[:width] for entry in entries])
        return out

    def _permutation(self, declared: resource.DeclareOp) -> IntArray:
        degree, galois = self.parameters.ring_degree, _integer(declared, "galois")
        index = np.arange(degree, dtype=np.int64)
        if _string(declared, "domain") == "coefficient":
            return index * pow(galois, -1, 2 * degree) % (2 * degree)
        order = bit_reversal(degree)
        source = (galois * (2 * index + 1) % (2 * degree) - 1) // 2
        permutation = np.empty(degree, dtype=np.int64)
        permutation[order[index]] = order[source]
        return permutation

    def _rows(self, declared: resource.DeclareOp) -> IntArray:
        dense = declared.parameters.data["values"]
        assert isinstance(dense, DenseIntOrFPElementsAttr)
        return np.array(dense.get_values(), dtype=np.int64).reshape(declared.shape())


class DeclaredMaterializer:
    """The project's own `ResourceMaterializer`: declarations say all, materials give keys and plaintexts."""

    def materialize(
        self, declared: resource.DeclareOp, compilation: Compilation, /
    ) -> torch.Tensor:
        """The declared tensor, on the CPU.

        Raises:
            FheliumError: the module states no arithmetic, a material is missing, or its shape is another one.
        """
        module = declared.parent_op()
        arithmetic = module.attributes.get(rns.ARITHMETIC) if module is not None else None
        if not isinstance(arithmetic, rns.ArithmeticAttr):
            raise FheliumError("the module has no arithmetic; run select-arithmetic first")
        keys = compilation.materials or _NoMaterials()
        found = arithmetic.arithmetic
        materializer = Materializer(
            compilation.parameters,
            found.radix_bits,
            keys,
            centred=found.signed,
            mixed=arithmetic.data == MIXED,
        )
        return materializer.materialize(declared)


class _NoMaterials:
    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        raise FheliumError(f"no materials are bound, and a key of kind {kind} is needed")

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        raise FheliumError("no materials are bound, and a plaintext is needed")


def _grouped(degree: int, declared: resource.DeclareOp) -> IntArray:
    """For each entry of a table of twiddles its place in one in natural order, without groups."""
    natural = np.arange(degree, dtype=np.int64)
    groups = declared.parameters.data.get("groups")
    if not isinstance(groups, DenseArrayBase):
        return natural
    computed = declared.parameters.data.get("table_stages")
    table_stages = computed.value.data if isinstance(computed, IntegerAttr) else degree
    pieces: list[IntArray] = [natural[:1]]
    before = 0
    for stages in map(int, groups.get_values()):
        last = before + stages - 1
        if before < table_stages:
            for stage in range(before, last + 1):
                entries = natural[1 << stage : 2 << stage]
                pieces.append(entries.reshape(1 << before, -1).T.reshape(-1))
        else:
            # The first factor of the last stage for each block that is there before the group.
            pieces.append(natural[1 << last : 2 << last : 1 << (stages - 1)])
        before += stages
    return np.concatenate(pieces)


def _powers(root: int, count: int, q: int) -> IntArray:
    """root^0 .. root^(count-1) mod q by doubling."""
    powers = np.ones(count, dtype=np.int64)
    length = 1
    while length < count:
        factor = modular.prepare(pow(root, length, q), q)
        powers[length : 2 * length] = modular.mul_factor(powers[:length], factor)
        length *= 2
    return powers


def _tensor(content: Contents, bits: int) -> torch.Tensor:
    dtype = torch.int32 if bits == 32 else torch.int64
    if isinstance(content, np.ndarray):
        return torch.as_tensor(np.ascontiguousarray(content)).to(dtype)
    wrapped = np.array(content, dtype=object)
    half = 1 << (bits - 1)
    signed = (wrapped + half) % (1 << bits) - half
    return torch.as_tensor(signed.astype(np.int64)).to(dtype)


def _reciprocal(prime: int) -> tuple[int, int]:
    """Shift s and reciprocal m with which v/p is floor(v 2^s m / 2^64), in units of 2^-32."""
    shift = max(0, 33 - prime.bit_length())
    return shift, (1 << (96 - shift)) // prime


def _rounded(prime: int) -> list[list[int]]:
    """For one source limb: p, and what is smallest of the centred residues whose quotient rounds to 1 less p."""
    shift, reciprocal = _reciprocal(prime)
    first = -(-(1 << 95) // (reciprocal << shift))
    return [[prime], [first - prime]]


def _mixed_entries(
    primes: Sequence[int], longest: int, t: int, correction: str, scale: int, floating: bool
) -> list[list[int]]:
    """The row of a conversion table of a mixed module for one target prime."""
    product = prod(primes)

    def factor(number: int) -> int:
        return _centred(number % t, t) if floating else number % t

    entries = [[factor(-product * scale), 0, 0, 0, 0, 0]]
    for prime in primes:
        coefficient = product // prime * scale
        shift, helper, first = 0, (prime - 1) // 2, 0
        if correction == "nearest":
            shift, helper = _reciprocal(prime)
            first = -(-(1 << 95) // (helper << shift))
        upper = factor(coefficient << 32) if floating else 0
        entries.append([factor(coefficient), upper, helper, shift, prime, first])
    return [*entries, *([[0] * MIXED_WIDTH] * (longest - len(primes)))]


def _centred(residue: int, q: int) -> int:
    return residue - q if residue > q // 2 else residue


def _require_shape(declared: resource.DeclareOp, tensor: torch.Tensor) -> None:
    if tuple(tensor.shape) != declared.shape():
        raise FheliumError(
            f"resource @{declared.sym_name.data} is declared as "
            f"{'x'.join(map(str, declared.shape()))}, "
            f"its contents are {'x'.join(map(str, tensor.shape))}"
        )


def _group(declared: resource.DeclareOp) -> str | None:
    """The group of primes that a table of a mixed module is for."""
    if "arithmetic" not in declared.parameters.data:
        return None
    return _string(declared, "arithmetic")


def _integer(declared: resource.DeclareOp, name: str) -> int:
    attribute: Attribute | None = declared.parameters.data.get(name)
    return cast("IntegerAttr", attribute).value.data if attribute is not None else 0


def _string(declared: resource.DeclareOp, name: str) -> str:
    return cast(StringAttr, declared.parameters.data[name]).data


def _facts(declared: resource.DeclareOp, name: str) -> rns.PolyFacts:
    return cast(rns.PolyType, declared.parameters.data[name]).data
