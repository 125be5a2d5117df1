"""The frontend `heir`: from what heir-opt prints to a module of the program stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks
from fhelium_ir.frontends.frontend import Frontend, Imported
from fhelium_ir.frontends.heir import arithmetic, control, tensors
from fhelium_ir.frontends.heir.attributes import scheme_parameters
from fhelium_ir.frontends.heir.client import HeirClient
from fhelium_ir.frontends.heir.handles import Ciphertext
from fhelium_ir.frontends.heir.interface import Entry, Parameter, entries_of
from fhelium_ir.frontends.heir.machine import LIMIT, UNKNOWN, Array, Machine, op_name, python_value
from fhelium_ir.frontends.heir.parameters import parameters_for
from fhelium_ir.frontends.heir.reading import parse_heir
from fhelium_ir.frontends.heir.server import Server
from fhelium_ir.frontends.heir.writer import Writer
from fhelium_ir.parameters import Parameters

LEVELS = ("heir", "managed")
SPECIAL_PRIMES = ("keep", "suit")

PARAMETERS = "ckks.schemeParam"
WHOLE = ("kernel.eval_chebyshev", "kernel.linear_transform", "kernel.apply_linear_transform")

SLOTS = "scheme.requested_slot_count"


@dataclass(frozen=True)
class HeirFrontend(Frontend):
    """CKKS programs of HEIR.

    Options:
        levels: "heir" keeps HEIR's rescales, relinearizations and level reductions; "managed" leaves them out, and
            `ckks-manage` decides. Programs with ops that HEIR leaves whole (`kernel`) are always managed.
        drift-bits: scales of two summands may differ by a relative 2^-N before the program is refused; 0 stands for
            log2 of the default scale less 25, but at least 10.
        special-primes: "keep" takes HEIR's; "suit" replaces them by primes of the size of the chain's, as many as
            the digits need, so that they fit the same arithmetic.
        digits: digits of key switching; 0 takes the fewest that the special primes allow.
        insecure: accepts parameters that miss 128 bits.
        range: bound on the absolute value of the inputs: one number, or one for each argument of the function.
        limit: ops of the HEIR program that may run while it is read.
    """

    name: ClassVar[str] = "heir"

    levels: str = "heir"
    drift_bits: int = 0
    special_primes: str = "keep"
    digits: int = 0
    insecure: bool = False
    range: tuple[int | float, ...] = (1.0,)
    limit: int = LIMIT

    def __post_init__(self) -> None:
        for option, value, known in (
            ("levels", self.levels, LEVELS),
            ("special-primes", self.special_primes, SPECIAL_PRIMES),
        ):
            if value not in known:
                raise FheliumError(f"heir: {option} must be {' or '.join(known)}, found {value}")
        if not 0 <= self.drift_bits < 1000:
            raise FheliumError("heir: drift-bits must be from 0 to 999")
        if not self.range or any(not 0 < bound < float("inf") for bound in self.range):
            raise FheliumError("heir: a range must be positive")

    def read(self, text: str, file: str) -> Imported:
        """The program, unrolled and folded, and the client's side of it."""
        source = parse_heir(text, file)
        entries = entries_of(source)
        parameters = self._parameters(source)
        slots = _slots(source, parameters)
        results = [self._located(source, entry, parameters, slots) for entry in entries]
        module = ModuleOp([result.writer_function for result in results])
        module.attributes[ckks.PARAMS] = ckks.ParamsAttr(parameters)
        module.location = source.location
        names = [entry.name for entry in entries]
        client = HeirClient(
            source,
            dict(zip(names, entries, strict=True)),
            {name: result.plain for name, result in zip(names, results, strict=True)},
            {name: result.names for name, result in zip(names, results, strict=True)},
            slots,
            {name: result.ranges for name, result in zip(names, results, strict=True)},
            results[0].handled,
            self.limit,
        )
        return Imported(module, client)

    def _parameters(self, source: ModuleOp) -> Parameters:
        attribute = source.attributes.get(PARAMETERS)
        if attribute is None:
            raise FheliumError(
                f"the module has no attribute `{PARAMETERS}`: the frontend heir reads the CKKS "
                "dialect, as --mlir-to-ckks leaves it",
                location_of(source),
            )
        try:
            suit = self.special_primes == "suit"
            return parameters_for(scheme_parameters(attribute), self.digits, suit, self.insecure)
        except FheliumError as error:
            raise FheliumError(error.message, error.location or location_of(source)) from error

    def _located(
        self, source: ModuleOp, entry: Entry, parameters: Parameters, slots: int
    ) -> _Written:
        try:
            return self._entry(source, entry, parameters, slots)
        except FheliumError as error:
            error.location = error.location or location_of(entry.op)
            raise

    def _entry(
        self, source: ModuleOp, entry: Entry, parameters: Parameters, slots: int
    ) -> _Written:
        managed = self.levels == "managed"
        whole = None if managed else _whole_op(source)
        if whole is not None:
            managed = True
        tolerance = 2.0 ** -(self.drift_bits or max(10, parameters.scale_bits - 25))
        writer = Writer(parameters, slots, managed, tolerance)
        ranges = _ranges(entry, self.range)
        names: list[list[str]] = []
        arguments = [
            _argument(writer, entry, index, ranges[index], names)
            for index in range(len(entry.arguments))
        ]
        server = Server(writer, _public_range(entry, ranges))
        handlers = server.handlers()
        machine = Machine(
            source,
            {**arithmetic.HANDLERS, **tensors.HANDLERS, **control.HANDLERS, **handlers},
            (*control.TRANSPARENT, *handlers),
            self.limit,
            {**arithmetic.QUICK, **tensors.QUICK},
        )
        outputs = machine.call(entry.name, arguments)
        function = writer.function(entry.name, _results(entry, outputs))
        function.location = entry.op.location
        if whole is not None:
            text = f"levels are managed, because HEIR leaves those of '{op_name(whole)}' open"
            remark("heir", function, "applied", text)
        plain = [(name, encoded.number) for name, encoded in writer.plain_arguments]
        return _Written(function, names, plain, ranges, tuple(handlers))


@dataclass(frozen=True)
class _Written:
    """A function that was written, and what the client must know of it."""

    writer_function: Any
    names: list[list[str]]
    plain: list[tuple[str, int]]
    ranges: list[float]
    handled: tuple[str, ...]


def _slots(source: ModuleOp, parameters: Parameters) -> int:
    """The length of HEIR's vectors, which it repeats to fill the slots."""
    stated = source.attributes.get(SLOTS)
    slots = parameters.slots if stated is None else python_value(stated)
    if not isinstance(slots, int) or slots < 1 or parameters.slots % slots:
        raise FheliumError(
            f"`{SLOTS}` is {slots}, which does not divide the {parameters.slots} slots",
            location_of(source),
        )
    return slots


def _whole_op(source: ModuleOp) -> Operation | None:
    """The first op that HEIR leaves to its backend as a whole, with the levels inside of it."""
    return next((op for op in source.walk() if op_name(op) in WHOLE), None)


def _ranges(entry: Entry, given: Sequence[float]) -> list[float]:
    count = len(entry.arguments)
    if len(given) == 1:
        return [float(given[0])] * count
    inputs = [index for index in range(count) if index not in entry.zeros]
    if len(given) != len(inputs):
        raise FheliumError(
            f"heir: {len(given)} ranges are given, @{entry.name} has {len(inputs)} arguments"
        )
    found = [1.0] * count
    for index, bound in zip(inputs, given, strict=True):
        found[index] = float(bound)
    return found


def _public_range(entry: Entry, ranges: Sequence[float]) -> float:
    public = [ranges[index] for index, given in enumerate(entry.arguments) if given is None]
    return max(public, default=1.0)


def _argument(
    writer: Writer, entry: Entry, index: int, bound: float, names: list[list[str]]
) -> Any:
    """A value for one argument of HEIR's function: a handle, a tensor of handles, or unknown."""
    parameter = entry.arguments[index]
    names.append([])
    if parameter is None:
        return UNKNOWN
    count = prod(parameter.shape or ())
    base = f"zero{index}" if index in entry.zeros else f"arg{index}"
    type_ = writer.ciphertext_type(
        parameter.type.level, parameter.type.scale_bits, parameter.type.size
    )
    handles: list[Ciphertext] = []
    for number in range(count):
        name = base if count == 1 else f"{base}_{number}"
        names[-1].append(name)
        handles.append(Ciphertext(writer.argument(name, type_, bound)))
    return _tensor_of(parameter, handles)


def _tensor_of(parameter: Parameter, handles: Sequence[Ciphertext]) -> Any:
    if parameter.shape is None:
        return handles[0]
    array = np.empty(len(handles), dtype=object)
    for number, handle in enumerate(handles):
        array[number] = handle
    array = array.reshape(parameter.shape)
    array.flags.writeable = False
    return array


def _results(entry: Entry, outputs: Sequence[Any]) -> list[SSAValue]:
    found: list[SSAValue] = []
    for output in outputs:
        array = isinstance(output, np.ndarray)
        handles: list[Any] = list(cast("Array", output).reshape(-1)) if array else [output]
        for handle in handles:
            if not isinstance(handle, Ciphertext):
                raise FheliumError(
                    f"@{entry.name} returns an element that was never written",
                    location_of(entry.op),
                )
            found.append(handle.value)
    return found
