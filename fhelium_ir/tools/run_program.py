"""The steps of `fhelium-run`: compile, read inputs, encrypt and execute."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Protocol, cast

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import FloatAttr, IntegerAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Attribute

from fhelium_ir import universe
from fhelium_ir.backend.executable import Executable
from fhelium_ir.backend.execution import (
    BackendWorkspace,
    Compilation,
    OperationBackend,
    ProgramExecutable,
)
from fhelium_ir.backend.host_runtime import DTYPES
from fhelium_ir.backend.linking import run_with_regions
from fhelium_ir.backend.program import entry_function
from fhelium_ir.backend.workspace import DEVICES, choose_target
from fhelium_ir.client.client import Client
from fhelium_ir.client.encoding import replicate
from fhelium_ir.client.parameters import rescaled
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks, host, kernel, resource
from fhelium_ir.lowering.convert_ckks_to_rns import ARGUMENT_NAME, module_parameters
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.reference.program import run_program
from fhelium_ir.tools.progress import step
from fhelium_ir.tools.run_profile import Launch, bandwidth, profile

Vector = NDArray[np.complex128]

LAST_PROGRAM_PASS = "ckks-check"


class RunOptions(Protocol):
    """The options that matter here, see `fhelium_ir.tools.fhelium_run`."""

    target: str
    ring_degree: int | None
    rotation_keys: str | None
    entry: str | None
    seed: int | None
    device: str | None
    tolerance: float | None
    profile: bool
    export: str | None


@dataclass(frozen=True)
class Argument:
    """An input of the program: name, type, logical length and largest absolute value."""

    name: str
    type: ckks.CiphertextType | ckks.PlaintextType
    length: int
    range: float


@dataclass(frozen=True)
class Program:
    """A program at its program stage and fully lowered, with the facts of its interface."""

    name: str
    parameters: Parameters
    program_stage: ModuleOp
    lowered: ModuleOp
    arguments: tuple[Argument, ...]
    results: tuple[ckks.CiphertextType, ...]
    target: str
    compile_seconds: float
    regions: ModuleOp | None = None

    @property
    def required_keys(self) -> tuple[tuple[str, int | None], ...]:
        """Kind ("relinearize" or "galois") and Galois element of each key that the function reads,
        without repetition."""
        function = entry_function(self.lowered, self.name)
        read = {op.symbol for op in function.body.block.ops if isinstance(op, host.ResourceOp)}
        found: dict[tuple[str, int | None], None] = {}
        for op in self.lowered.ops:
            if not isinstance(op, resource.DeclareOp) or SymbolRefAttr(op.sym_name) not in read:
                continue
            if op.kind.data in resource.PUBLIC_KINDS:
                galois = op.parameters.data.get("galois")
                if galois is None:
                    found["relinearize", None] = None
                else:
                    found["galois", cast("IntegerAttr", galois).value.data] = None
        return tuple(found)

    @property
    def kernel_count(self) -> int:
        return sum(isinstance(op, kernel.FuncOp) for op in self.lowered.ops)


@dataclass(frozen=True)
class Outcome:
    """Decrypted and expected results, the largest error, and what the run took."""

    results: tuple[Vector, ...]
    expected: tuple[Vector, ...]
    largest_error: float
    tolerance: float
    launches: int
    insecure: bool
    seconds: Mapping[str, float]
    launch_times: Sequence[Launch] = ()
    bandwidth: float = 0.0


def compile_program(name: str, text: str, options: RunOptions) -> Program:
    """Parses a program and runs the default pipeline for the wanted target.

    Raises:
        FheliumError: anything wrong with the text, the options or the program.
    """
    start = time.perf_counter()
    target = options.target if options.target == "reference" else choose_target(options.target)
    context = universe.make_context()
    module = parse_module(context, text, name)
    if options.ring_degree is not None:
        # Sums over more slots than the smaller ring has are legal once they are rotations.
        passes = ("unroll-loops", "ckks-expand", "select-parameters")
        Pipeline("parameters", passes).run(context, module)
        _rescale(module, options.ring_degree)
    verify_module(module)
    device = options.device or DEVICES.get(target, "cpu")
    passes = [
        f'{spec}{{device="{device}"}}'
        if spec in ("select-arithmetic", "tune-ntt-schedules")
        else spec
        for spec in universe.PIPELINES[universe.DEFAULT_PIPELINE]
    ]
    if options.rotation_keys is not None:
        place = passes.index("ckks-manage")
        passes.insert(place, f"compose-rotations{{keys={options.rotation_keys}}}")
    split = passes.index(LAST_PROGRAM_PASS) + 1
    Pipeline("program stage", tuple(passes[:split])).run(context, module)
    function = entry_function(module, options.entry)
    program_stage = module.clone()
    pipeline = Pipeline("lowering", tuple(passes[split:]))
    region_stage = run_with_regions(pipeline, context, module)
    parameters = module_parameters(program_stage)
    return Program(
        function.sym_name.data,
        parameters,
        program_stage,
        module,
        _arguments(function_of(program_stage, function.sym_name.data), parameters),
        tuple(
            _result_type(type_, function_of(program_stage, function.sym_name.data))
            for type_ in function_of(
                program_stage, function.sym_name.data
            ).function_type.outputs.data
        ),
        target,
        time.perf_counter() - start,
        region_stage,
    )


def function_of(module: ModuleOp, name: str) -> func.FuncOp:
    """The function of that name."""
    return entry_function(module, name)


def _rescale(module: ModuleOp, ring_degree: int) -> None:
    parameters = rescaled(module_parameters(module), ring_degree)
    module.attributes[ckks.PARAMS] = ckks.ParamsAttr(parameters)


def _arguments(function: func.FuncOp, parameters: Parameters) -> tuple[Argument, ...]:
    found: list[Argument] = []
    given = function.arg_attrs.data if function.arg_attrs is not None else ()
    for index, value in enumerate(function.body.block.args):
        attributes: Mapping[str, Attribute] = given[index].data if given else {}
        name = attributes.get(ARGUMENT_NAME)
        slots, bound = attributes.get("ckks.slots"), attributes.get("ckks.range")
        type_ = value.type
        if not isinstance(type_, ckks.CiphertextType | ckks.PlaintextType):
            raise FheliumError(
                f"argument {index} is no ciphertext or plaintext", location_of(function)
            )
        label = name.data if isinstance(name, StringAttr) else value.name_hint or f"arg{index}"
        if label in (argument.name for argument in found):
            raise FheliumError(f"two arguments are called '{label}'", location_of(function))
        found.append(
            Argument(
                label,
                type_,
                slots.value.data if isinstance(slots, IntegerAttr) else parameters.slots,
                bound.value.data if isinstance(bound, FloatAttr) else 1.0,
            )
        )
    return tuple(found)


def _result_type(type_: object, function: func.FuncOp) -> ckks.CiphertextType:
    if not isinstance(type_, ckks.CiphertextType):
        raise FheliumError("every result must be a ciphertext", location_of(function))
    return type_


def read_inputs(program: Program, path: str | None, seed: int | None) -> dict[str, Vector]:
    """The inputs by name: from a JSON file, or random numbers in [-range, range].

    Raises:
        FheliumError: names a missing, unknown or malformed input.
    """
    if path is None:
        generator = np.random.default_rng(seed)
        return {
            argument.name: generator.uniform(-argument.range, argument.range, argument.length)
            + np.zeros(argument.length, dtype=np.complex128)
            for argument in program.arguments
        }
    try:
        text = Path(path).read_text(encoding="utf-8")
        loaded: object = json.loads(text, object_pairs_hook=_named_once)
    except OSError as error:
        raise FheliumError(f"cannot read '{path}': {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise FheliumError(f"'{path}' is not JSON: {error}") from error
    if not isinstance(loaded, dict):
        raise FheliumError(f"'{path}' must hold an object of named vectors")
    given = cast("dict[str, object]", loaded)
    names = [argument.name for argument in program.arguments]
    for name in given:
        if name not in names:
            raise FheliumError(f"'{path}': unknown input '{name}', expected {', '.join(names)}")
    return {argument.name: _vector(argument, given, path) for argument in program.arguments}


def _named_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object; raises ValueError for a name that stands there twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"input '{twice}' stands there twice")
    return found


def _vector(argument: Argument, given: Mapping[str, object], path: str) -> Vector:
    name = argument.name
    if name not in given:
        raise FheliumError(f"'{path}': input '{name}' is missing")
    values = given[name]
    if not isinstance(values, list):
        raise FheliumError(f"'{path}': input '{name}' must be a list of numbers")
    entries = cast("list[object]", values)
    if len(entries) != argument.length:
        raise FheliumError(
            f"'{path}': input '{name}' must have {argument.length} numbers, found {len(entries)}"
        )
    vector = np.array([_number(entry, name, path) for entry in entries], dtype=np.complex128)
    largest = float(np.abs(vector).max())
    if largest > argument.range * (1 + 1e-12):
        raise FheliumError(
            f"'{path}': input '{name}' holds a number of absolute value {largest:g}, the program "
            f"states a range of {argument.range:g} (`ckks.range` on the argument)"
        )
    return vector


def _number(entry: object, name: str, path: str) -> complex:
    parts = cast("list[object]", entry) if isinstance(entry, list) else [entry]
    if len(parts) not in (1, 2) or not all(
        isinstance(part, int | float) and not isinstance(part, bool) for part in parts
    ):
        raise FheliumError(
            f"'{path}': input '{name}' holds {entry!r}, expected a number or [re, im]"
        )
    try:
        numbers = [float(cast("int | float", part)) for part in parts]
    except OverflowError as error:
        raise FheliumError(f"'{path}': input '{name}' holds an integer beyond 2^1024") from error
    if not all(math.isfinite(number) for number in numbers):
        raise FheliumError(f"'{path}': input '{name}' holds {entry!r}, which is not finite")
    return complex(*numbers)


class ClientKeys:
    """A client as the source of keys and encoded plaintexts."""

    def __init__(self, client: Client):
        self.client = client

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        return self.client.key("relinearize" if galois is None else "galois", galois).data

    def plaintext(self, values: Sequence[complex], scale: Fraction, level: int) -> torch.Tensor:
        return self.client.encode_plaintext(np.array(values), scale, level, "a constant")


def execute(program: Program, inputs: Mapping[str, Vector], options: RunOptions) -> Outcome:
    """Makes keys, encrypts, runs, decrypts and compares."""
    seconds: dict[str, float] = {"compile": program.compile_seconds}
    start = time.perf_counter()
    client = Client(program.parameters, options.seed)
    with step("making keys"):
        for kind, galois in program.required_keys:
            client.key("relinearize" if kind == "relinearize" else "galois", galois)
    seconds["keys"] = time.perf_counter() - start
    start = time.perf_counter()
    encrypted = {
        argument.name: encrypt_input(client, argument, inputs[argument.name], program.parameters)
        for argument in program.arguments
    }
    seconds["encrypt"] = time.perf_counter() - start
    times: list[Launch] = []
    rate = 0.0
    with step("running"):
        if program.target == "reference":
            outputs, launches = run_reference(program, client, encrypted, seconds), 0
        else:
            linked, placed = link_program(program, client, encrypted, seconds)
            executable = linked.executable
            if options.export is not None:
                linked.export(options.export)
            outputs, launches = run_linked(executable, placed, seconds)
            if options.profile:
                times, rate = profile_linked(executable, placed)
    start = time.perf_counter()
    q = program.parameters.q
    results = [
        client.decrypt_vector(output.cpu(), _scale(type_).value(q))
        for output, type_ in zip(outputs, program.results, strict=True)
    ]
    seconds["decrypt"] = time.perf_counter() - start
    expected = run_cleartext(program.program_stage, program.name, inputs)
    error = max(
        (float(np.abs(r - e).max()) for r, e in zip(results, expected, strict=True)), default=0.0
    )
    largest = max((float(np.abs(e).max()) for e in expected), default=0.0)
    relative = options.tolerance
    if relative is None:
        relative = 2.0 ** -(program.parameters.scale_bits - 25)
    return Outcome(
        tuple(results),
        tuple(expected),
        error,
        relative * max(1.0, largest),
        launches,
        client.insecure,
        seconds,
        times,
        rate,
    )


def _scale(type_: ckks.CiphertextType | ckks.PlaintextType) -> ckks.Scale:
    scale = type_.data.scale
    assert scale is not None
    return scale


def encrypt_input(
    client: Client, argument: Argument, values: Vector, parameters: Parameters
) -> torch.Tensor:
    scale, level = _scale(argument.type).value(parameters.q), argument.type.data.level
    assert level is not None
    filled = replicate(values, parameters.slots, f"input '{argument.name}'")
    if isinstance(argument.type, ckks.PlaintextType):
        return client.encode_plaintext(filled, scale, level, f"input '{argument.name}'")
    return client.encrypt_vector(filled, scale, level, f"input '{argument.name}'")


def run_compiled(
    program: Program,
    client: Client,
    encrypted: Mapping[str, torch.Tensor],
    seconds: dict[str, float],
) -> tuple[Sequence[torch.Tensor], int]:
    linked, placed = link_program(program, client, encrypted, seconds)
    return run_linked(linked.executable, placed, seconds)


def link_program(
    program: Program,
    client: Client,
    encrypted: Mapping[str, torch.Tensor],
    seconds: dict[str, float],
) -> tuple[ProgramExecutable, list[torch.Tensor]]:
    """The linked program, and its inputs on its device."""
    start = time.perf_counter()
    executable = link_compiled(program, client)
    seconds["link"] = time.perf_counter() - start
    # The client follows the interface that the executable states, its word included.
    inputs = [
        encrypted[spec.name].to(executable.device, DTYPES[spec.dtype])
        for spec in executable.arguments
    ]
    return executable, inputs


def link_compiled(program: Program, client: Client) -> ProgramExecutable:
    """The program linked with a client's keys for its target, by the implementations that its passes asked."""
    compilation = Compilation(
        program.lowered,
        program.parameters,
        ClientKeys(client),
        Pipeline.named(universe.DEFAULT_PIPELINE),
        program.name,
        program.regions,
    )
    return OperationBackend(workspace=BackendWorkspace(program.target)).link(compilation)


def run_linked(
    executable: Executable, inputs: Sequence[torch.Tensor], seconds: dict[str, float]
) -> tuple[Sequence[torch.Tensor], int]:
    """The results of one run and the number of its launches."""
    start = time.perf_counter()
    outputs, runtime = executable.run_counted(*inputs)
    if executable.device.type == "cuda":
        torch.cuda.synchronize()
    seconds["run"] = time.perf_counter() - start
    return outputs, runtime.launches


def profile_linked(
    executable: Executable, inputs: Sequence[torch.Tensor]
) -> tuple[list[Launch], float]:
    """Each launch of a program that has run before, with its time, and the device's bandwidth."""
    launches = profile(
        lambda kernels: replace(executable, kernels=kernels).run(*inputs),
        executable.kernels,
        executable.device,
    )
    return launches, bandwidth(executable.device)


def run_reference(
    program: Program,
    client: Client,
    encrypted: Mapping[str, torch.Tensor],
    seconds: dict[str, float],
) -> Sequence[torch.Tensor]:
    start = time.perf_counter()
    keys = ClientKeys(client)
    outputs = run_program(
        program.program_stage,
        program.name,
        {name: tensor.numpy() for name, tensor in encrypted.items()},
        {
            ("relinearize" if kind == "relinearize" else "galois", galois): keys.evaluation_key(
                kind, galois
            )
            .numpy()
            .astype(np.int64)
            for kind, galois in program.required_keys
        },
        lambda values, scale, level: (
            keys.plaintext(list(values), scale, level).numpy().astype(np.int64)
        ),
    )
    seconds["run"] = time.perf_counter() - start
    return [torch.as_tensor(output) for output in outputs]
