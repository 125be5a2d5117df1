"""Exact interpreter of the polynomial and region stages on numpy rows of residues.

A value is an int64 array in the shape of its type, `PolyFacts.shape()`, that holds the
*mathematical* residues x in [0, q), not the stored words x * R^e: representatives play no part,
and `rns.set_representative` is the identity. Inputs, keys and plaintexts have exponent 0, where
both are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import ntt, resource, rns
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import integers, residues
from fhelium_ir.reference.blocks import (
    Encode,
    KeyName,
    Rules,
    bind_arguments,
    check_residues,
    dense_vector,
    find_function,
    find_key,
    module_parameters,
    run_block,
)
from fhelium_ir.reference.residues import Rows


def run_polynomial(
    module: ModuleOp,
    name: str,
    inputs: Mapping[str, NDArray[np.generic]],
    keys: Mapping[KeyName, NDArray[np.int64]],
    encode: Encode,
) -> list[NDArray[np.int64]]:
    """Runs one function of the polynomial or region stage exactly.

    Args:
        module: a verified module.
        name: the function.
        inputs: by argument name, canonical residues in the shape of the argument's type.
        keys: evaluation keys [digits, 2, L+K, N], only those that are referred to.
        encode: encodes declared plaintexts.

    Returns:
        The function's results, canonical residues int64 in the shapes of the result types.

    Raises:
        FheliumError: names a missing or malformed input or key, or an op that is not of these
            stages.
    """
    function = find_function(module, name)
    stage = _Polynomials(module, keys, encode)
    arguments = bind_arguments(function, inputs, stage.read)
    return list(run_block(function.body.block, arguments, stage.rules()))


def _facts(value: SSAValue) -> rns.PolyFacts:
    if not isinstance(value.type, rns.PolyType):
        raise FheliumError(f"a value of type {value.type} has no reference")
    return value.type.data


class _Polynomials:
    """The rules of the ops, with what they need."""

    def __init__(
        self, module: ModuleOp, keys: Mapping[KeyName, NDArray[np.int64]], encode: Encode
    ) -> None:
        self.parameters: Parameters = module_parameters(module)
        self.keys = keys
        self.encode = encode
        self.declared = {
            op.sym_name.data: op for op in module.ops if isinstance(op, resource.DeclareOp)
        }

    def rules(self) -> Rules[Rows]:
        return {
            rns.AddOp: self.add,
            rns.SubOp: self.sub,
            rns.NegateOp: self.negate,
            rns.MulOp: self.mul,
            rns.MulConstantOp: self.mul_constant,
            rns.SetRepresentativeOp: self.same,
            rns.RestrictOp: self.restrict,
            rns.EmbedOp: self.embed,
            rns.ExtractOp: self.extract,
            rns.PadOp: self.pad,
            rns.PackOp: self.pack,
            rns.AutomorphismOp: self.automorphism,
            rns.DigitsOp: self.same,
            rns.BaseConvertOp: self.base_convert,
            rns.AccumulateOp: self.accumulate,
            ntt.ForwardOp: self.forward,
            ntt.InverseOp: self.inverse,
            resource.RefOp: self.ref,
        }

    def read(self, name: str, type_: Attribute, array: NDArray[np.generic]) -> Rows:
        """An input, checked against its type."""
        if not isinstance(type_, rns.PolyType):
            raise FheliumError(f"argument '{name}' of type {type_} has no reference")
        return check_residues(f"input '{name}'", array, type_.data.shape(), self.moduli(type_.data))

    def prime(self, limb: rns.Limb) -> int:
        family = self.parameters.q if limb.family == "q" else self.parameters.p
        if limb.index >= len(family):
            raise FheliumError(f"the parameters have no prime {limb.family}{limb.index}")
        return family[limb.index]

    def moduli(self, facts: rns.PolyFacts) -> list[int]:
        """The prime of every row."""
        return [self.prime(limb) for _, limb in facts.rows()]

    def digit_rows(self, facts: rns.PolyFacts) -> Iterator[tuple[int, list[int], list[int]]]:
        """Number, rows and primes of each digit; one digit 0 where there is no digit axis."""
        rows, moduli = facts.rows(), self.moduli(facts)
        for digit in sorted({digit for digit, _ in rows}):
            numbers = [number for number, (mine, _) in enumerate(rows) if mine == digit]
            yield digit, numbers, [moduli[number] for number in numbers]

    def by_row(self, value: SSAValue, function: Callable[..., Rows], *operands: Rows) -> Rows:
        """`function(*rows, q)` for every row of bundles that have the type of `value`."""
        moduli = self.moduli(_facts(value))
        rows = [
            function(*(operand[..., number, :] for operand in operands), q)
            for number, q in enumerate(moduli)
        ]
        return np.stack(rows, axis=-2)

    def add(self, op: rns.AddOp, a: Rows, b: Rows) -> Rows:
        return self.by_row(op.result, residues.add, a, b)

    def sub(self, op: rns.SubOp, a: Rows, b: Rows) -> Rows:
        return self.by_row(op.result, residues.sub, a, b)

    def negate(self, op: rns.NegateOp, a: Rows) -> Rows:
        return self.by_row(op.result, residues.negate, a)

    def mul(self, op: rns.MulOp, a: Rows, b: Rows) -> Rows:
        return self.by_row(op.result, residues.product, a, b)

    def forward(self, op: ntt.ForwardOp, a: Rows) -> Rows:
        return self.by_row(op.result, residues.forward, a)

    def inverse(self, op: ntt.InverseOp, a: Rows) -> Rows:
        return self.by_row(op.result, residues.inverse, a)

    def same(self, op: Operation, a: Rows) -> Rows:
        """A change of representative, or the view as digits, whose layout is the plain one."""
        return a

    def mul_constant(self, op: rns.MulConstantOp, a: Rows) -> Rows:
        facts, constant = _facts(op.operand), op.constant.data
        factors = (
            self.punctured_inverses(facts)
            if constant.basis is None
            else self.products(facts, constant.basis, -1 if constant.kind == "inverse" else 1)
        )
        rows = [
            residues.product(a[..., number, :], factor, q)
            for number, (factor, q) in enumerate(zip(factors, self.moduli(facts), strict=True))
        ]
        return np.stack(rows, axis=-2)

    def punctured_inverses(self, facts: rns.PolyFacts) -> list[int]:
        """(D / q_i)^-1 mod q_i per row, D the product of the row's digit or of the whole basis."""
        if facts.digits is not None and facts.digits.kind == "complement":
            raise FheliumError("punctured inverses belong to a digit's own limbs")
        factors = [0] * len(facts.rows())
        for _, numbers, primes in self.digit_rows(facts):
            for number, q in zip(numbers, primes, strict=True):
                factors[number] = pow(prod(primes) // q, -1, q)
        return factors

    def products(self, facts: rns.PolyFacts, basis: rns.Basis, exponent: int) -> list[int]:
        """The product of a basis per row, to a power."""
        product = prod(self.prime(limb) for limb in basis.limbs())
        return [pow(product, exponent, q) for q in self.moduli(facts)]

    def restrict(self, op: rns.RestrictOp, a: Rows) -> Rows:
        limbs = _facts(op.operand).basis.limbs()
        return a[..., [limbs.index(limb) for limb in _facts(op.result).basis.limbs()], :]

    def embed(self, op: rns.EmbedOp, a: Rows) -> Rows:
        facts = _facts(op.result)
        places = [facts.basis.limbs().index(limb) for limb in _facts(op.operand).basis.limbs()]
        result = np.zeros(facts.shape(), dtype=np.int64)
        result[..., places, :] = a
        return result

    def extract(self, op: rns.ExtractOp, a: Rows) -> Rows:
        first, count = op.first.value.data, op.count.value.data
        return a[..., first : first + count, :, :]

    def pad(self, op: rns.PadOp, a: Rows) -> Rows:
        result = np.zeros(_facts(op.result).shape(), dtype=np.int64)
        result[..., : a.shape[-3], :, :] = a
        return result

    def pack(self, op: rns.PackOp, *parts: Rows) -> Rows:
        return np.concatenate(parts, axis=-3)

    def automorphism(self, op: rns.AutomorphismOp, a: Rows) -> Rows:
        if _facts(op.operand).domain == "evaluation":
            return residues.automorphism_of_evaluations(a, op.element)

        def on_row(row: Rows, q: int) -> Rows:
            return residues.automorphism_of_coefficients(row, op.element, q)

        return self.by_row(op.result, on_row, a)

    def base_convert(self, op: rns.BaseConvertOp, a: Rows) -> Rows:
        """Row t: sum_i v_i * D/d_i - u*D mod t, D the product of the source digit's primes d_i."""
        source, target = _facts(op.operand), _facts(op.result)
        nearest = op.correction.data == "nearest"
        digits = {digit: (rows, primes) for digit, rows, primes in self.digit_rows(source)}
        result = np.zeros(target.shape(), dtype=np.int64)
        for digit, targets, moduli in self.digit_rows(target):
            numbers, primes = digits[digit]
            parts = [a[..., number, :] for number in numbers]
            overflow = overflow_count(parts, primes) if nearest else None
            lifted = parts if nearest else _centred(parts, primes)
            for number, t in zip(targets, moduli, strict=True):
                result[..., number, :] = _convert(lifted, primes, overflow, t)
        return result

    def accumulate(self, op: rns.AccumulateOp, own: Rows, converted: Rows, key: Rows) -> Rows:
        facts, key_limbs = _facts(op.converted), _facts(op.key).basis.limbs()
        own_limbs = _facts(op.own).basis.limbs()
        converted_rows = {row: number for number, row in enumerate(facts.rows())}
        result = np.zeros(_facts(op.result).shape(), dtype=np.int64)
        for number, limb in enumerate(facts.basis.limbs()):
            q, total = self.prime(limb), result[:, number]
            for digit in range(facts.digit_count()):
                # a digit's own limbs are not among its converted ones
                row = converted_rows.get((digit, limb))
                factor = own[0, own_limbs.index(limb)] if row is None else converted[0, row]
                term = residues.product(key[digit, :, key_limbs.index(limb)], factor, q)
                total = residues.add(total, term, q)
            result[:, number] = total
        return result

    def ref(self, op: resource.RefOp) -> Rows:
        symbol = op.symbol.string_value()
        declaration = self.declared.get(symbol)
        if declaration is None:
            raise FheliumError(f"resource @{symbol} is not declared")
        facts, parameters = op.result.type.data, declaration.parameters.data
        if facts.domain != "evaluation":
            raise FheliumError(f"resource @{symbol} is in the evaluation domain")
        match declaration.kind.data:
            case "relinearization_key":
                return self.key(("relinearize", None), facts)
            case "galois_key":
                return self.key(("galois", _integer(parameters["galois"])), facts)
            case "plaintext":
                return self.plaintext(symbol, parameters, facts)
            case kind:
                raise FheliumError(f"resource @{symbol} of kind '{kind}' is no bundle")

    def key(self, name: KeyName, facts: rns.PolyFacts) -> Rows:
        """The part of a key that its bundle's type names: leading digits, limbs of its basis."""
        key = find_key(self.keys, name, self.parameters)
        everything = rns.Basis((0, len(self.parameters.q)), (0, len(self.parameters.p))).limbs()
        size = rns.Digits("key", self.parameters.digit_size)
        if facts.digits != size or facts.components != 2 or facts.basis.q[0] != 0:
            raise FheliumError(f"a key is a bundle of two components with digits = {size}")
        part = key[: facts.digit_count()]
        return part[:, :, [everything.index(limb) for limb in facts.basis.limbs()]]

    def plaintext(
        self, symbol: str, parameters: Mapping[str, Attribute], facts: rns.PolyFacts
    ) -> Rows:
        scale, level = _fraction(parameters["scale"]), _integer(parameters["level"])
        encoded = self.encode(dense_vector(parameters["values"]), scale, level)
        name = f"plaintext @{symbol}"
        if "special" not in parameters:
            return check_residues(name, encoded, facts.shape(), self.moduli(facts))
        primes = self.parameters.q[: level + 1]
        rows = check_residues(name, encoded, (1, level + 1, self.parameters.ring_degree), primes)
        parts = [residues.inverse(rows[0, number], q) for number, q in enumerate(primes)]
        modulus = self.parameters.modulus(level)
        polynomial = residues.to_integers(np.stack(parts), primes)
        centred = integers.centred(polynomial, modulus)
        special = residues.to_residues(centred, self.parameters.p)
        special = [residues.forward(special[n], p) for n, p in enumerate(self.parameters.p)]
        return np.concatenate([rows, np.stack(special)[None]], axis=1)


def _integer(attribute: Attribute) -> int:
    if not isinstance(attribute, IntegerAttr):
        raise FheliumError(f"expected an integer, found {attribute}")
    return attribute.value.data


def _fraction(attribute: Attribute) -> Fraction:
    text = attribute.data if isinstance(attribute, StringAttr) else str(attribute)
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError) as error:
        raise FheliumError(f"expected a scale `numerator/denominator`, found {text}") from error


def overflow_count(parts: Sequence[Rows], primes: Sequence[int]) -> Rows:
    """u = floor((2^31 + sum_i t_i) / 2^32), t_i the fraction v_i / p_i in units of 2^-32.

    t_i = floor(v_i * 2^s * m / 2^64) with s = max(0, 33 - bits of p_i), m = floor(2^(96-s) / p_i).
    """
    total = np.full(parts[0].shape, 1 << 31, dtype=np.uint64)
    for part, p in zip(parts, primes, strict=True):
        shift = max(0, 33 - p.bit_length())
        reciprocal = np.array([(1 << (96 - shift)) // p], dtype=np.uint64)
        words = part.astype(np.uint64) << np.uint64(shift)
        total = total + residues.high_product(words, reciprocal)
    return (total >> np.uint64(32)).astype(np.int64)


def _centred(parts: Sequence[Rows], primes: Sequence[int]) -> list[Rows]:
    return [
        np.where(part > (q - 1) // 2, part - q, part) for part, q in zip(parts, primes, strict=True)
    ]


def _convert(lifted: Sequence[Rows], primes: Sequence[int], overflow: Rows | None, t: int) -> Rows:
    """sum_i lifted_i * D/d_i - overflow * D mod t."""
    product = prod(primes)
    total = np.zeros_like(lifted[0])
    for part, d in zip(lifted, primes, strict=True):
        total = residues.add(total, residues.product(part % t, product // d % t, t), t)
    if overflow is not None:
        total = residues.sub(total, residues.product(overflow % t, product % t, t), t)
    return total
