"""Exact interpreter of the program stage: integer polynomials modulo Q_level, no residue numbers.

A ciphertext at level l is two or three polynomials in Z[X]/(X^N + 1) with coefficients in
[0, q_0 * ... * q_l). Residues appear at the interface only. Key switching is hybrid (Han and Ki,
"Better bootstrapping for approximate homomorphic encryption", 2020).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import arith
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference import integers, residues
from fhelium_ir.reference.blocks import (
    Encode,
    KeyName,
    Rules,
    bind_arguments,
    check_residues,
    constant_vector,
    find_function,
    find_key,
    module_parameters,
    run_block,
)
from fhelium_ir.reference.integers import Poly
from fhelium_ir.reference.residues import Rows


@dataclass(frozen=True)
class Value:
    """A ciphertext, or a plaintext (one component): coefficients in [0, q_0 * ... * q_level), of extended values in
    [0, q_0 * ... * q_level * P).
    """

    level: int
    components: tuple[Poly, ...]
    extended: bool = False


def run_program(
    module: ModuleOp,
    name: str,
    inputs: Mapping[str, NDArray[np.generic]],
    keys: Mapping[KeyName, NDArray[np.int64]],
    encode: Encode,
) -> list[NDArray[np.int64]]:
    """Runs one function of the program stage exactly.

    Args:
        module: a verified module whose types have levels and scales.
        name: the function.
        inputs: by argument name, ciphertexts [components, limbs, N] and plaintexts [1, limbs, N],
            canonical residues, evaluation domain, bit-reversed.
        keys: evaluation keys [digits, 2, L+K, N], only those needed.
        encode: encodes the constants of `ckks.encode`.

    Returns:
        The function's results as int64 [components, limbs, N] in the form of the inputs.

    Raises:
        FheliumError: names a missing or malformed input or key, a type without a level, or an op
            that is not of the program stage.
    """
    function = find_function(module, name)
    program = _Program(module_parameters(module), keys, encode)
    arguments = bind_arguments(function, inputs, program.read)
    results = run_block(function.body.block, arguments, program.rules())
    types = function.function_type.outputs.data
    return [program.write(value, type_) for value, type_ in zip(results, types, strict=True)]


class _Program:
    """The rules of the ops, with what they need."""

    def __init__(
        self,
        parameters: Parameters,
        keys: Mapping[KeyName, NDArray[np.int64]],
        encode: Encode,
    ) -> None:
        self.parameters = parameters
        self.special = prod(parameters.p)
        self.keys = keys
        self.encode_vector = encode
        self.key_coefficients: dict[KeyName, Rows] = {}

    def rules(self) -> Rules[Value]:
        return {
            arith.ConstantOp: self.constant,
            ckks.EncodeOp: self.encode,
            ckks.AddOp: self.add,
            ckks.SubOp: self.sub,
            ckks.NegateOp: self.negate,
            ckks.MulOp: self.mul,
            ckks.AddPlainOp: self.add_plain,
            ckks.SubPlainOp: self.sub_plain,
            ckks.MulPlainOp: self.mul_plain,
            ckks.RelinearizeOp: self.relinearize,
            ckks.ExtendOp: self.extend,
            ckks.ModDownOp: self.mod_down,
            ckks.RescaleOp: self.rescale,
            ckks.ModSwitchOp: self.mod_switch,
            ckks.AdoptScaleOp: self.same,
            ckks.RotateOp: self.rotate,
            ckks.ConjugateOp: self.conjugate,
        }

    def read(self, name: str, type_: Attribute, array: NDArray[np.generic]) -> Value:
        """The integers of an interface tensor."""
        if not isinstance(type_, ckks.CiphertextType | ckks.PlaintextType):
            raise FheliumError(f"argument '{name}' of type {type_} has no reference")
        size = type_.data.size if isinstance(type_, ckks.CiphertextType) else 1
        level = type_.data.level
        if level is None or size is None:
            raise FheliumError(f"{type_} of argument '{name}' has absent facts")
        if type_.data.extended:
            raise FheliumError(f"argument '{name}' of type {type_} has no reference")
        primes = self.primes(level)
        shape = (size, level + 1, self.parameters.ring_degree)
        rows = check_residues(f"input '{name}'", array, shape, primes)
        if type_.data.domain != "coefficient":
            rows = _inverse(rows, primes)
        return Value(level, tuple(residues.to_integers(part, primes) for part in rows))

    def write(self, value: Value, type_: Attribute) -> NDArray[np.int64]:
        """The interface tensor of a result."""
        primes = self.primes(value.level)
        rows = np.stack([residues.to_residues(part, primes) for part in value.components])
        coefficients = (
            isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
            and type_.data.domain == "coefficient"
        )
        return rows if coefficients else _forward(rows, primes)

    def primes(self, level: int) -> tuple[int, ...]:
        if level > self.parameters.top_level:
            raise FheliumError(f"level {level} is above the top level {self.parameters.top_level}")
        return self.parameters.q[: level + 1]

    def constant(self, op: arith.ConstantOp) -> Value:
        """`encode` reads the constant itself: as a value it is nothing."""
        return Value(0, ())

    def encode(self, op: ckks.EncodeOp, values: Value) -> Value:
        facts = op.result.type.data
        if facts.level is None or facts.scale is None:
            raise FheliumError(f"{op.result.type} has absent facts")
        scale = facts.scale.value(self.parameters.q)
        vector = constant_vector(op.values)
        encoded = self.encode_vector(vector, scale, facts.level)
        primes = self.primes(facts.level)
        shape = (1, facts.level + 1, self.parameters.ring_degree)
        rows = check_residues("the encoded constant", encoded, shape, primes)[0]
        polynomial = residues.to_integers(_inverse(rows, primes), primes)
        if facts.extended:
            polynomial = integers.centred(polynomial, self.parameters.modulus(facts.level))
        return Value(facts.level, (polynomial,), facts.extended)

    def add(self, op: Operation, a: Value, b: Value) -> Value:
        return self.each(integers.add, a, b)

    def sub(self, op: Operation, a: Value, b: Value) -> Value:
        return self.each(integers.sub, a, b)

    def each(self, function: Callable[[Poly, Poly, int], Poly], a: Value, b: Value) -> Value:
        """A function of components at equal places; what b lacks is 0."""
        modulus = self.modulus(a)
        zero = [0] * self.parameters.ring_degree
        missing = len(a.components) - len(b.components)
        others = b.components + (zero,) * missing
        pairs = zip(a.components, others, strict=True)
        return Value(a.level, tuple(function(x, y, modulus) for x, y in pairs), a.extended)

    def modulus(self, a: Value) -> int:
        """What the coefficients of a value are taken modulo."""
        return self.parameters.modulus(a.level) * (self.special if a.extended else 1)

    def negate(self, op: ckks.NegateOp, a: Value) -> Value:
        modulus = self.modulus(a)
        parts = tuple([-x % modulus for x in part] for part in a.components)
        return Value(a.level, parts, a.extended)

    def mul(self, op: ckks.MulOp, a: Value, b: Value) -> Value:
        modulus = self.parameters.modulus(a.level)
        (a0, a1), (b0, b1) = a.components, b.components
        low = integers.negacyclic_product(a0, b0)
        first = integers.negacyclic_product(a0, b1)
        second = integers.negacyclic_product(a1, b0)
        high = integers.negacyclic_product(a1, b1)
        middle = integers.add(first, second, modulus)
        return Value(
            a.level, (integers.reduce(low, modulus), middle, integers.reduce(high, modulus))
        )

    def add_plain(self, op: ckks.AddPlainOp, a: Value, plain: Value) -> Value:
        return self.each(integers.add, a, self.extend(op, plain) if a.extended else plain)

    def sub_plain(self, op: ckks.SubPlainOp, a: Value, plain: Value) -> Value:
        return self.each(integers.sub, a, self.extend(op, plain) if a.extended else plain)

    def mul_plain(self, op: ckks.MulPlainOp, a: Value, plain: Value) -> Value:
        modulus = self.modulus(a)
        (factor,) = plain.components
        products = (integers.negacyclic_product(part, factor) for part in a.components)
        parts = tuple(integers.reduce(part, modulus) for part in products)
        return Value(a.level, parts, a.extended)

    def extend(self, op: Operation, a: Value) -> Value:
        """P times a value, modulo Q * P: its residues modulo Q times P, and 0 modulo P."""
        parts = tuple([x * self.special for x in part] for part in a.components)
        return Value(a.level, parts, True)

    def mod_down(self, op: ckks.ModDownOp, a: Value) -> Value:
        modulus = self.parameters.modulus(a.level)
        special = self.parameters.p
        parts = tuple(divide_nearest(part, special, modulus) for part in a.components)
        return Value(a.level, parts)

    def rescale(self, op: ckks.RescaleOp, a: Value) -> Value:
        if a.level == 0:
            raise FheliumError("a ciphertext at level 0 has no prime to give up")
        divisor = (self.parameters.q[a.level], *(self.parameters.p if a.extended else ()))
        modulus = self.parameters.modulus(a.level - 1)
        return Value(
            a.level - 1, tuple(divide_nearest(part, divisor, modulus) for part in a.components)
        )

    def same(self, op: Operation, a: Value) -> Value:
        """The integers stay; only their declared scale changes."""
        return a

    def mod_switch(self, op: ckks.ModSwitchOp, a: Value) -> Value:
        result = Value(a.level - op.dropped, (), a.extended)
        modulus = self.modulus(result)
        return replace(
            result, components=tuple(integers.reduce(part, modulus) for part in a.components)
        )

    def relinearize(self, op: ckks.RelinearizeOp, a: Value) -> Value:
        c0, c1, c2 = a.components
        return self.switched(op, Value(a.level, (c0, c1)), c2, ("relinearize", None))

    def rotate(self, op: ckks.RotateOp, a: Value) -> Value:
        if op.step % self.parameters.slots == 0:
            return self.extend(op, a) if op.extended else a
        return self.apply_galois(op, a, self.parameters.galois(op.step))

    def conjugate(self, op: ckks.ConjugateOp, a: Value) -> Value:
        return self.apply_galois(op, a, self.parameters.conjugation)

    def apply_galois(self, op: ckks.KeySwitchOp, a: Value, element: int) -> Value:
        """a(X^element), switched back to the secret s from s(X^element)."""
        modulus = self.parameters.modulus(a.level)
        c0, c1 = (
            integers.reduce(integers.automorphism(part, element), modulus) for part in a.components
        )
        return self.switched(op, Value(a.level, (c0,)), c1, ("galois", element))

    def switched(self, op: ckks.KeySwitchOp, rest: Value, d: Poly, name: KeyName) -> Value:
        """The sum of `rest` and of d switched to s; P times the sum if the op leaves out the division by P."""
        products = Value(rest.level, self.key_products(d, rest.level, name), True)
        if op.extended:
            return self.each(integers.add, products, self.extend(op, rest))
        modulus = self.parameters.modulus(rest.level)
        special = self.parameters.p
        parts = tuple(divide_nearest(part, special, modulus) for part in products.components)
        return self.each(integers.add, Value(rest.level, parts), rest)

    def key_products(self, d: Poly, level: int, name: KeyName) -> tuple[Poly, ...]:
        """Two components (y0, y1) modulo Q * P with y0 + y1*s near P*d*s' where the key switches s' to s."""
        modulus = self.parameters.modulus(level)
        extended = modulus * self.special
        degree = self.parameters.ring_degree
        sums = [[0] * degree, [0] * degree]
        for digit, primes in enumerate(_digits(self.primes(level), self.parameters.digit_size)):
            lifted = digit_integers(d, primes)
            for component in range(2):
                key = self.key_integers(name, digit, component, level)
                term = integers.negacyclic_product(lifted, key)
                sums[component] = integers.add(sums[component], term, extended)
        return tuple(sums)

    def key_integers(self, name: KeyName, digit: int, component: int, level: int) -> Poly:
        """One polynomial of a key, modulo the product of the level's primes and P."""
        if name not in self.key_coefficients:
            key = find_key(self.keys, name, self.parameters)
            self.key_coefficients[name] = _inverse(key, self.parameters.primes)
        rows = self.key_coefficients[name][digit, component]
        q_rows, p_rows = rows[: level + 1], rows[len(self.parameters.q) :]
        primes = self.primes(level) + self.parameters.p
        return residues.to_integers(np.concatenate([q_rows, p_rows]), primes)


def digit_integers(d: Sequence[int], primes: Sequence[int]) -> Poly:
    """A small integer polynomial that equals d modulo D, the product of a digit's primes.

    w = sum_i v_i * D/q_i with v_i = d * (D/q_i)^-1 mod q_i, centred.
    """
    product = prod(primes)
    total = [0] * len(d)
    for q in primes:
        cofactor = product // q
        inverse = pow(cofactor, -1, q)
        parts = integers.centred([x % q * inverse for x in d], q)
        total = [w + v * cofactor for w, v in zip(total, parts, strict=True)]
    return total


def divide_nearest(a: Sequence[int], primes: Sequence[int], modulus: int) -> Poly:
    """a / P modulo `modulus`, nearest up to the fixed-point error, P the product of the primes.

    With v_i = a * (P/p_i)^-1 mod p_i in [0, p_i), a = sum_i v_i * P/p_i - u * P modulo P. The
    overflow count is u = floor((2^31 + sum_i t_i) / 2^32), where t_i is v_i / p_i in units of
    2^-32: floor(v_i * 2^s * m / 2^64), s = max(0, 33 - bits of p_i), m = floor(2^(96-s) / p_i).
    """
    divisor = prod(primes)
    lifted, halves = [0] * len(a), [1 << 31] * len(a)
    for p in primes:
        cofactor = divisor // p
        inverse = pow(cofactor, -1, p)
        shift = max(0, 33 - p.bit_length())
        reciprocal = (1 << (96 - shift)) // p
        parts = [x % p * inverse % p for x in a]
        lifted = [y + v * cofactor for y, v in zip(lifted, parts, strict=True)]
        halves = [t + ((v << shift) * reciprocal >> 64) for t, v in zip(halves, parts, strict=True)]
    return [
        (x - y + (t >> 32) * divisor) // divisor % modulus
        for x, y, t in zip(a, lifted, halves, strict=True)
    ]


def _digits(primes: Sequence[int], size: int) -> list[Sequence[int]]:
    """The primes of each digit; the last digit may hold fewer."""
    return [primes[start : start + size] for start in range(0, len(primes), size)]


def _forward(rows: Rows, primes: Sequence[int]) -> Rows:
    """Evaluations of [..., limbs, N]."""
    return np.stack([residues.forward(rows[..., i, :], q) for i, q in enumerate(primes)], axis=-2)


def _inverse(rows: Rows, primes: Sequence[int]) -> Rows:
    """Coefficients of [..., limbs, N]."""
    return np.stack([residues.inverse(rows[..., i, :], q) for i, q in enumerate(primes)], axis=-2)
