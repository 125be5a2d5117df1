"""Handlers that write the encrypted computation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir.attributes import CiphertextType, ciphertext_type
from fhelium_ir.frontends.heir.handles import Ciphertext, Matrix, Plaintext, Storage
from fhelium_ir.frontends.heir.machine import UNKNOWN, Handler, Machine, Node
from fhelium_ir.frontends.heir.writer import Writer


class Server:
    """The handlers of `ckks`, `lwe`, `kernel` and `preprocessing` ops for one writer."""

    def __init__(self, writer: Writer, public_range: float):
        self.writer = writer
        writer.public_range = public_range
        self._encodings = 0

    def handlers(self) -> dict[str, Handler]:
        return {
            "lwe.rlwe_encode": self._encode,
            "preprocessing.empty": _empty,
            "preprocessing.store": _store,
            "preprocessing.load": _load,
            "ckks.add": self._sum,
            "ckks.sub": self._sum,
            "lwe.radd": self._sum,
            "lwe.rsub": self._sum,
            "ckks.add_plain": self._plain_sum,
            "ckks.sub_plain": self._plain_sum,
            "lwe.radd_plain": self._plain_sum,
            "lwe.rsub_plain": self._plain_sum,
            "ckks.mul": self._mul,
            "lwe.rmul": self._mul,
            "ckks.mul_plain": self._mul_plain,
            "lwe.rmul_plain": self._mul_plain,
            "ckks.negate": self._negate,
            "lwe.rnegate": self._negate,
            "ckks.rotate": self._rotate,
            "ckks.relinearize": self._relinearize,
            "ckks.rescale": self._rescale,
            "ckks.level_reduce": self._level_reduce,
            "kernel.eval_chebyshev": self._chebyshev,
            "kernel.prepare_linear_transform": _prepare,
            "kernel.apply_linear_transform": self._linear_transform,
            "kernel.linear_transform": self._linear_transform,
        }

    def _encode(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        self._encodings += 1
        bits = node.integer("scale")
        if values[0] is UNKNOWN:
            return (Plaintext(self._encodings, None, bits, node.op),)
        vector = vector_of(node, values[0], self.writer.slots)
        return (Plaintext(self._encodings, vector, bits, node.op),)

    def _sum(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        left, right = _ciphertexts(node, values)
        self.writer.at(node.op)
        result = self.writer.sum(left.value, right.value, node.name.endswith("sub"))
        return self._checked(node, result)

    def _plain_sum(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        self.writer.at(node.op)
        subtract = node.name.endswith("sub_plain")
        if isinstance(values[0], Plaintext):
            plain, ciphertext = values
            (right,) = _ciphertexts(node, [ciphertext])
            value = self.writer.negate(right.value) if subtract else right.value
            return self._checked(node, self.writer.plain_sum(value, _plain(node, plain)))
        (left,) = _ciphertexts(node, values[:1])
        result = self.writer.plain_sum(left.value, _plain(node, values[1]), subtract)
        return self._checked(node, result)

    def _mul(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        left, right = _ciphertexts(node, values)
        self.writer.at(node.op)
        return self._checked(node, self.writer.product(left.value, right.value))

    def _mul_plain(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        plain, ciphertext = values if isinstance(values[0], Plaintext) else values[::-1]
        (left,) = _ciphertexts(node, [ciphertext])
        self.writer.at(node.op)
        return self._checked(node, self.writer.plain_product(left.value, _plain(node, plain)))

    def _negate(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values)
        self.writer.at(node.op)
        return self._checked(node, self.writer.negate(operand.value))

    def _rotate(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values[:1])
        steps = values[1] if len(values) > 1 else node.integer("static_shift")
        if not isinstance(steps, int):
            raise FheliumError("ckks.rotate: the number of steps must be an integer")
        self.writer.at(node.op)
        return self._checked(node, self.writer.rotate(operand.value, steps))

    def _relinearize(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values)
        if node.attributes.get("to_basis", [0, 1]) != [0, 1]:
            raise FheliumError("ckks.relinearize: the result must have the basis (1, s)")
        self.writer.at(node.op)
        return self._checked(node, self.writer.relinearize(operand.value))

    def _rescale(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values)
        self.writer.at(node.op)
        count = self._levels(node, operand)
        if count == 0:
            raise FheliumError("ckks.rescale: the result is at the level of the operand")
        return self._checked(node, self.writer.rescale(operand.value, count))

    def _level_reduce(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values[:1])
        self.writer.at(node.op)
        return self._checked(
            node, self.writer.reduce_level(operand.value, self._levels(node, operand))
        )

    def _chebyshev(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values)
        given = node.attributes.get("coefficients")
        coefficients = given.tolist() if isinstance(given, np.ndarray) else given
        if not isinstance(coefficients, list):
            raise FheliumError("kernel.eval_chebyshev: needs an attribute `coefficients`")
        numbers = [_number(value) for value in cast("list[Any]", coefficients)]
        domain = tuple(
            float(node.attributes.get(key, default))
            for key, default in (("domain_lower", -1.0), ("domain_upper", 1.0))
        )
        self.writer.at(node.op)
        result = self.writer.polynomial(operand.value, numbers, (domain[0], domain[1]))
        return self._checked(node, result)

    def _linear_transform(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        (operand,) = _ciphertexts(node, values[:1])
        (matrix,) = _prepare(machine, node, values[1:], frame)
        self.writer.at(node.op)
        result = self.writer.linear_transform(operand.value, matrix.rows, matrix.diagonals)
        return self._checked(node, result)

    def _levels(self, node: Node, operand: Ciphertext) -> int:
        """How many primes an op drops: HEIR states it by the type of the result."""
        level, stated = self.writer.level_of(operand.value), _stated(node)
        if level is None:
            return 1
        if stated.level > level:
            raise FheliumError(
                f"{node.name}: the result is at level {stated.level}, the operand at {level}"
            )
        return level - stated.level

    def _checked(self, node: Node, result: Any) -> Sequence[Any]:
        """The result, if its level and size are what HEIR states."""
        type_ = result.type.data
        stated = _stated(node)
        if type_.level is not None and (type_.level, type_.size) != (stated.level, stated.size):
            raise FheliumError(
                f"{node.name}: HEIR states level {stated.level} and {stated.size} polynomials, "
                f"the operands give level {type_.level} and {type_.size}"
            )
        return (Ciphertext(result),)


def _stated(node: Node) -> CiphertextType:
    stated = ciphertext_type(node.op.results[0].type)
    if stated is None:
        raise FheliumError(f"{node.name}: the result must be a ciphertext")
    return stated


def _ciphertexts(node: Node, values: list[Any]) -> list[Ciphertext]:
    for value in values:
        if not isinstance(value, Ciphertext):
            raise FheliumError(f"{node.name}: the operand must be a ciphertext")
    return cast("list[Ciphertext]", values)


def _plain(node: Node, value: Any) -> Plaintext:
    if not isinstance(value, Plaintext):
        raise FheliumError(f"{node.name}: the operand must be a plaintext")
    return value


def _number(value: Any) -> float:
    if isinstance(value, FloatAttr):
        return value.value.data
    return float(value)


def vector_of(node: Node, values: Any, slots: int) -> Any:
    """What is encoded, as a vector float64 [n] whose length divides the slots."""
    vector = np.array(values, dtype=np.float64).reshape(-1)
    if vector.size == 0 or slots % vector.size:
        raise FheliumError(
            f"{node.name}: a vector of {vector.size} numbers is encoded, which does not divide "
            f"the {slots} slots"
        )
    vector.flags.writeable = False
    return vector


def _empty(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    return (Storage(),)


def _site(node: Node, indices: list[Any]) -> tuple[int, ...]:
    for index in indices:
        if not isinstance(index, int):
            raise FheliumError(f"{node.name}: an index must be an integer")
    return (node.integer("site_id"), *indices)


def _store(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    value, storage = values[0], values[1]
    storage.entries[_site(node, values[2:])] = value
    return ()


def _load(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    place = _site(node, values[1:])
    storage: Storage = values[0]
    if place not in storage.entries:
        where = f"site {place[0]}" + (f", indices {list(place[1:])}" if place[1:] else "")
        raise FheliumError(f"{node.name}: nothing was stored at {where}")
    return (storage.entries[place],)


def _prepare(machine: Machine, node: Node, values: list[Any], frame: list[Any]) -> Sequence[Any]:
    """A matrix by its diagonals: row r holds diagonal `diagonal_indices[r]`."""
    if isinstance(values[0], Matrix):
        return (values[0],)
    rows: Any = values[0]
    diagonals = node.attributes.get("diagonal_indices")
    if rows is UNKNOWN or not isinstance(diagonals, list) or np.ndim(rows) != 2:
        raise FheliumError(f"{node.name}: needs a constant matrix and `diagonal_indices`")
    return (Matrix(rows, tuple(cast("list[int]", diagonals))),)


STORAGE_HANDLERS: dict[str, Handler] = {
    "preprocessing.empty": _empty,
    "preprocessing.store": _store,
    "preprocessing.load": _load,
}
