"""The client's side of a HEIR program: its own packing, as its helper functions state it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.client.layout import Layout, TensorInput, read_tensors
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.frontends.heir import arithmetic, control, tensors
from fhelium_ir.frontends.heir.handles import Encrypted, Key, Plaintext
from fhelium_ir.frontends.heir.interface import Entry, Parameter
from fhelium_ir.frontends.heir.layouts import Group, find_layout
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

    def _tensors(self, entry: str) -> list[TensorInput]:
        source, ranges = self._entries[entry], self._ranges[entry]
        return [
            TensorInput(f"arg{i}", shape, ranges[i], source.arguments[i] is not None)
            for i, shape in self._inputs(source)
        ]

    def random_inputs(self, entry: str, seed: int | None) -> dict[str, Array]:
        """Random tensors in [-range, range]."""
        generator = np.random.default_rng(seed)
        return {
            tensor.name: generator.uniform(-tensor.range, tensor.range, tensor.shape)
            for tensor in self._tensors(entry)
        }

    def read_inputs(self, entry: str, given: Mapping[str, object], where: str) -> dict[str, Array]:
        """Tensors from nested lists, with the shape of the source program.

        Raises:
            FheliumError: names a missing, unknown or malformed input.
        """
        return read_tensors(self._tensors(entry), given, f"'{where}': ")

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
                vectors = self._pack(source, index, inputs[f"arg{index}"], len(names))
            for name, vector in zip(names, vectors, strict=True):
                found[name] = vector.astype(np.complex128)
        if self._plain[entry]:
            public = self._public(source, inputs)
            for name, number in self._plain[entry]:
                found[name] = public[number - 1]
        return {name: np.tile(vector, self._slots // vector.size) for name, vector in found.items()}

    def _pack(self, entry: Entry, index: int, tensor: Array, count: int) -> list[Array]:
        function = entry.encrypt.get(index)
        if function is None:
            return list(tensor.reshape(-1, self._slots))
        value: Any = tensor.item() if tensor.shape == () else tensor
        scalar = tensor_shape(entry.original[index]) is None
        (result,) = self._machine().call(function, [value if scalar else _frozen(tensor), Key()])
        handles = _flat(result)
        if len(handles) != count or not all(isinstance(handle, Encrypted) for handle in handles):
            raise FheliumError(
                f"@{function} must give {count} ciphertexts for argument {index} of @{entry.name}",
                location_of(self._machine().functions[function].op),
            )
        return [handle.values for handle in handles]

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
            try:
                found.append(np.asarray(value, dtype=np.float64))
            except (TypeError, ValueError) as error:
                op = self._machine().functions[function].op
                message = f"@{function} must give numbers for result {index} of @{entry}"
                raise FheliumError(message, location_of(op)) from error
        return found

    def layout(self, entry: str) -> Layout:
        """What `pack` and `unpack` do as plain data."""
        source, tensors = self._entries[entry], self._tensors(entry)
        groups = [
            Group(
                [tensor for tensor in tensors if tensor.name == f"arg{index}"],
                names,
                True,
                self._ranges[entry][index],
            )
            for index, names in enumerate(self._ciphertexts[entry])
            if names
        ]
        public = [tensor for tensor in tensors if not tensor.encrypted]
        bound = max((tensor.range for tensor in public), default=1.0)
        groups.append(Group(public, [name for name, _ in self._plain[entry]], False, bound))
        return find_layout(
            self._slots,
            groups,
            [prod(parameter.shape or ()) for parameter in source.results],
            lambda tensors: self.pack(entry, tensors),
            lambda vectors: self.unpack(entry, vectors),
        )

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
