"""The client's side of a HEIR program: its own packing, as its helper functions state it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir import arithmetic, control, tensors
from fhelium_ir.frontends.heir.handles import Encrypted, Key, Plaintext
from fhelium_ir.frontends.heir.interface import Entry, Parameter
from fhelium_ir.frontends.heir.machine import Array, Handler, Machine, Node, tensor_shape
from fhelium_ir.frontends.heir.server import STORAGE_HANDLERS, vector_of

Slots = NDArray[np.complex128]


class HeirClient:
    """Packs inputs and unpacks results by running HEIR's helper functions on plain numbers.

    Inputs are called `arg0`, `arg1`, ... in the order of the function's arguments; encryptions of zero are not counted
    and need none.

    Args:
        module: of HEIR.
        entries: its functions, by name.
        plain: for each, the names of the plaintext arguments and the numbers of their encodings.
        ciphertexts: for each, the names of the ciphertext arguments, by HEIR's argument.
        slots: length of the vectors.
        ranges: for each, bounds on the inputs.
        handled: the ops that run on the server.
        limit: ops that may run.
    """

    def __init__(
        self,
        module: ModuleOp,
        entries: Mapping[str, Entry],
        plain: Mapping[str, Sequence[tuple[str, int]]],
        ciphertexts: Mapping[str, Sequence[Sequence[str]]],
        slots: int,
        ranges: Mapping[str, Sequence[float]],
        handled: Sequence[str],
        limit: int,
    ):
        self._module = module
        self._entries = entries
        self._plain = plain
        self._ciphertexts = ciphertexts
        self._slots = slots
        self._ranges = ranges
        self._limit = limit
        self._encoded: list[Plaintext] = []
        self._handlers: dict[str, Handler] = {
            **{name: self._skip for name in handled},
            **arithmetic.HANDLERS,
            **tensors.HANDLERS,
            **control.HANDLERS,
            **STORAGE_HANDLERS,
            "lwe.rlwe_encode": self._encode,
            "lwe.rlwe_encrypt": self._encrypt,
            "lwe.rlwe_decrypt": self._decrypt,
            "lwe.rlwe_decode": self._decode,
        }

    def _machine(self) -> Machine:
        self._encoded = []
        quick = {**arithmetic.QUICK, **tensors.QUICK}
        return Machine(self._module, self._handlers, limit=self._limit, quick=quick)

    def shapes(self, entry: str) -> dict[str, tuple[int, ...]]:
        """The shape of each input, by name; () is a single number."""
        return {f"arg{index}": shape for index, shape in self._inputs(self._entries[entry])}

    def _inputs(self, entry: Entry) -> list[tuple[int, tuple[int, ...]]]:
        return [
            (index, self._shape(entry, index))
            for index in range(len(entry.arguments))
            if index not in entry.zeros
        ]

    def _shape(self, entry: Entry, index: int) -> tuple[int, ...]:
        if index in entry.original:
            return tensor_shape(entry.original[index]) or ()
        parameter = entry.arguments[index]
        assert parameter is not None
        return (*(parameter.shape or ()), self._slots)

    def random_inputs(self, entry: str, seed: int | None) -> dict[str, Array]:
        """Random tensors in [-range, range]."""
        generator = np.random.default_rng(seed)
        found: dict[str, Array] = {}
        for index, shape in self._inputs(self._entries[entry]):
            bound = self._ranges[entry][index]
            found[f"arg{index}"] = generator.uniform(-bound, bound, shape)
        return found

    def read_inputs(self, entry: str, given: Mapping[str, object], where: str) -> dict[str, Array]:
        """Tensors from nested lists, with the shape of the source program.

        Raises:
            FheliumError: names a missing, unknown or malformed input.
        """
        wanted = self._inputs(self._entries[entry])
        names = [f"arg{index}" for index, _ in wanted]
        for name in given:
            if name not in names:
                raise FheliumError(
                    f"'{where}': unknown input '{name}', expected {', '.join(names)}"
                )
        found: dict[str, Array] = {}
        for index, shape in wanted:
            name = f"arg{index}"
            if name not in given:
                raise FheliumError(f"'{where}': input '{name}' is missing")
            found[name] = _tensor(name, given[name], shape, self._ranges[entry][index], where)
        return found

    def pack(self, entry: str, inputs: Mapping[str, Array]) -> dict[str, Slots]:
        """The vector of each argument of the written function."""
        source = self._entries[entry]
        found: dict[str, Slots] = {}
        for index, parameter in enumerate(source.arguments):
            if parameter is None:
                continue
            names = self._ciphertexts[entry][index]
            if index in source.zeros:
                vectors = [np.zeros(self._slots)] * len(names)
            else:
                vectors = self._pack(source, index, inputs[f"arg{index}"])
            for name, vector in zip(names, vectors, strict=True):
                found[name] = vector.astype(np.complex128)
        if self._plain[entry]:
            for name, number in self._plain[entry]:
                found[name] = self._public(source, inputs)[number - 1]
        return {name: np.tile(vector, self._slots // vector.size) for name, vector in found.items()}

    def _pack(self, entry: Entry, index: int, tensor: Array) -> list[Array]:
        function = entry.encrypt.get(index)
        if function is None:
            return list(tensor.reshape(-1, self._slots))
        value: Any = tensor.item() if tensor.shape == () else tensor
        scalar = tensor_shape(entry.original[index]) is None
        (result,) = self._machine().call(function, [value if scalar else _frozen(tensor), Key()])
        return [handle.values for handle in _flat(result)]

    def _public(self, entry: Entry, inputs: Mapping[str, Array]) -> list[Slots]:
        """Every vector that the entry function encodes, with the true public arguments."""
        arguments: list[Any] = []
        for index, parameter in enumerate(entry.arguments):
            if parameter is not None:
                arguments.append(_blank(parameter))
                continue
            tensor = inputs[f"arg{index}"]
            scalar = tensor_shape(entry.original[index]) is None
            arguments.append(tensor.item() if scalar else _frozen(tensor))
        self._machine().call(entry.name, arguments)
        return [
            plain.values.astype(np.complex128)
            for plain in self._encoded
            if plain.values is not None
        ]

    def unpack(self, entry: str, results: Sequence[Slots]) -> list[Array]:
        """The results in the shape of the source program."""
        source = self._entries[entry]
        remaining = [np.asarray(result.real) for result in results]
        found: list[Array] = []
        for index, parameter in enumerate(source.results):
            count = prod(parameter.shape or ())
            taken, remaining = remaining[:count], remaining[count:]
            function = source.decrypt.get(index)
            if function is None:
                found.append(np.array([vector[: self._slots] for vector in taken]))
                continue
            argument: Any = _handles(parameter, [Encrypted(vector) for vector in taken])
            (value,) = self._machine().call(function, [argument, Key()])
            found.append(np.asarray(value, dtype=np.float64))
        return found

    def _skip(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        return [_NOTHING] * len(node.results)

    def _encode(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        vector = vector_of(node, values[0], self._slots)
        plain = Plaintext(len(self._encoded) + 1, vector, node.integer("scale"), node.op)
        self._encoded.append(plain)
        return (plain,)

    def _encrypt(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        return (Encrypted(values[0].values),)

    def _decrypt(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        return (Plaintext(0, values[0].values, 0, node.op),)

    def _decode(
        self, machine: Machine, node: Node, values: list[Any], frame: list[Any]
    ) -> Sequence[Any]:
        shape = tensor_shape(node.op.results[0].type)
        vector = values[0].values
        if shape is None:
            return (float(vector[0]),)
        result = vector[: prod(shape)].reshape(shape).copy()
        return (result,)


_NOTHING = Encrypted(np.zeros(1))


def _frozen(tensor: Array) -> Array:
    copy = tensor.copy()
    copy.flags.writeable = False
    return copy


def _flat(value: Any) -> list[Any]:
    return list(cast("Array", value).reshape(-1)) if isinstance(value, np.ndarray) else [value]


def _handles(parameter: Parameter, handles: Sequence[Any]) -> Any:
    """A tensor of handles, or the only one."""
    if parameter.shape is None:
        return handles[0]
    array = np.empty(prod(parameter.shape), dtype=object)
    for index, handle in enumerate(handles):
        array[index] = handle
    return _frozen(array.reshape(parameter.shape))


def _blank(parameter: Parameter) -> Any:
    return _handles(parameter, [_NOTHING] * prod(parameter.shape or ()))


def _tensor(name: str, given: object, shape: tuple[int, ...], bound: float, where: str) -> Array:
    """A tensor of finite numbers within the bound, from nested lists."""
    text = "x".join(map(str, shape)) or "one number"
    try:
        tensor = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise FheliumError(f"'{where}': input '{name}' must be {text}: {error}") from error
    if tensor.shape != shape:
        found = "x".join(map(str, tensor.shape)) or "one number"
        raise FheliumError(f"'{where}': input '{name}' must have shape {text}, found {found}")
    largest = float(np.abs(tensor).max()) if tensor.size else 0.0
    if not math.isfinite(largest):
        raise FheliumError(f"'{where}': input '{name}' holds a number that is not finite")
    if largest > bound * (1 + 1e-12):
        raise FheliumError(
            f"'{where}': input '{name}' holds a number of absolute value {largest:g}, the program "
            f"was read with a range of {bound:g} (option `range` of the frontend)"
        )
    return tensor
