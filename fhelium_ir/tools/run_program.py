"""The steps of `fhelium-run`: compile, make keys, encrypt, evaluate, decrypt; and all of them in one process."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
import torch

from fhelium_ir import universe
from fhelium_ir.backend.compiling import (
    CompiledProgram,
    CompileOptions,
    StoredProgram,
    compile_text,
)
from fhelium_ir.backend.execution import ProgramExecutable
from fhelium_ir.backend.workspace import TARGETS, choose_target
from fhelium_ir.client.client import Client
from fhelium_ir.client.encoding import ComplexArray
from fhelium_ir.client.inputs import (
    encode_plaintexts,
    random_inputs,
    read_object,
    read_vectors,
)
from fhelium_ir.client.interface import Interface, key_names
from fhelium_ir.client.keys import KeySet
from fhelium_ir.client.materials import KeySetMaterials
from fhelium_ir.frontends.frontend import Tensor
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.reference.program import run_program
from fhelium_ir.tools.progress import PassProgress, bar, step
from fhelium_ir.tools.run_profile import Launch, bandwidth, profile

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from fhelium_ir.backend.materializer import KeySource

REFERENCE = "reference"
"""The target without compiler: the program stage on integer polynomials."""


class CompilationOptions(Protocol):
    """The options that compilation takes, see `fhelium_ir.tools.fhelium_run`."""

    target: str
    ring_degree: int | None
    rotation_keys: str | None
    entry: str | None
    device: str | None
    frontend: str


class RunOptions(CompilationOptions, Protocol):
    """The options of all steps in one process."""

    seed: int | None
    tolerance: float | None
    profile: bool
    export: str | None


@dataclass(frozen=True)
class Evaluation:
    """Encrypted results and the number of launches.

    The reference has no linked program, and no inputs for it.
    """

    outputs: Sequence[torch.Tensor]
    launches: int
    linked: ProgramExecutable | None
    inputs: Sequence[torch.Tensor]


@dataclass(frozen=True)
class Outcome:
    """Decrypted and expected results, the largest error, and what the run took."""

    results: tuple[Tensor, ...]
    expected: tuple[Tensor, ...]
    largest_error: float
    tolerance: float
    launches: int
    insecure: bool
    seconds: Mapping[str, float]
    launch_times: Sequence[Launch] = ()
    bandwidth: float = 0.0


def compile_program(
    name: str, text: str, options: CompilationOptions, *, elsewhere: bool = False
) -> CompiledProgram:
    """Parses a program and runs the default pipeline for the wanted target.

    Args:
        name: of the text, for errors.
        text: what the frontend reads.
        options: target, function, ring degree, rotation keys, device, frontend.
        elsewhere: it will run on another machine, which has the device that the target needs.

    Raises:
        FheliumError: anything wrong with the text, the options or the program.
    """
    target = options.target
    if target != REFERENCE and not (elsewhere and target in TARGETS):
        target = choose_target(target)
    chosen = CompileOptions(
        target,
        options.entry,
        options.ring_degree,
        options.rotation_keys,
        options.device,
        options.frontend,
        linked=not elsewhere,
    )
    passes = len(universe.PIPELINES[universe.DEFAULT_PIPELINE])
    with bar("compiling", passes + (options.rotation_keys is not None)) as advance:
        return compile_text(name, text, chosen, (PassProgress(advance),))


def make_keys(client: Client, interface: Interface) -> KeySet:
    """The public key and the evaluation keys that a program needs."""
    names = key_names(interface.parameters, interface.required_keys)
    with bar("making keys", len(names) + 1) as advance:
        advance("public key")
        _ = client.public
        for (kind, galois), name in zip(interface.required_keys, names, strict=True):
            advance(name)
            client.key(kind, galois)
    return client.keygen(interface)


def read_inputs(
    program: CompiledProgram, path: str | None, seed: int | None
) -> dict[str, ComplexArray]:
    """The vectors of all inputs by name: from a JSON file, or random numbers in [-range, range].

    Where a frontend states how tensors become vectors, the file holds tensors.

    Raises:
        FheliumError: names a missing, unknown or malformed input.
    """
    source = program.source
    if source is not None and path is None:
        return source.pack(program.name, source.random_inputs(program.name, seed))
    if source is not None and path is not None:
        tensors = source.read_inputs(program.name, read_object(path), path)
        return source.pack(program.name, tensors)
    arguments = program.interface.arguments
    return random_inputs(arguments, seed) if path is None else read_vectors(path, arguments)


def encrypt_and_encode(
    client: Client, interface: Interface, values: Mapping[str, ComplexArray]
) -> dict[str, torch.Tensor]:
    """All inputs in the program's order: encrypted by the client, or encoded where the program takes a plaintext."""
    encrypted = {argument.name: values[argument.name] for argument in interface.encrypted}
    plaintexts = {argument.name: values[argument.name] for argument in interface.plaintexts}
    tensors = {
        **client.encrypt(interface, encrypted),
        **encode_plaintexts(interface, plaintexts),
    }
    return {argument.name: tensors[argument.name] for argument in interface.arguments}


def evaluate(
    program: CompiledProgram | StoredProgram,
    target: str,
    materials: KeySource,
    inputs: Mapping[str, torch.Tensor],
    seconds: dict[str, float],
) -> Evaluation:
    """Links a program with keys, and runs it on encrypted inputs.

    Args:
        inputs: tensors of all arguments by name.
        seconds: takes the times of `link` and `run`.

    Raises:
        FheliumError: a key or an input is missing or does not fit, or the target is not available.
    """
    if target == REFERENCE:
        start = time.perf_counter()
        outputs = run_reference(program.program_stage, program.interface, materials, inputs)
        seconds["run"] = time.perf_counter() - start
        return Evaluation(outputs, 0, None, ())
    start = time.perf_counter()
    with step("compiling kernels"):
        linked = program.link(materials, target)
    seconds["link"] = time.perf_counter() - start
    placed = linked.arrange(inputs)
    with step("running"):
        start = time.perf_counter()
        outputs, runtime = linked.run_counted(*placed)
        if linked.device.type == "cuda":
            torch.cuda.synchronize()
        seconds["run"] = time.perf_counter() - start
    return Evaluation(outputs, runtime.launches, linked, placed)


def run_reference(
    program_stage: ModuleOp,
    interface: Interface,
    materials: KeySource,
    inputs: Mapping[str, torch.Tensor],
) -> list[torch.Tensor]:
    """The results of the exact interpreter of the program stage."""
    outputs = run_program(
        program_stage,
        interface.name,
        {name: tensor.numpy() for name, tensor in inputs.items()},
        {
            (kind, galois): materials.evaluation_key(kind, galois).numpy().astype(np.int64)
            for kind, galois in interface.required_keys
        },
        lambda values, scale, level: (
            materials.plaintext(list(values), scale, level).numpy().astype(np.int64)
        ),
    )
    dtype = torch.int32 if interface.parameters.word_bits == 32 else torch.int64
    return [torch.as_tensor(output).to(dtype) for output in outputs]


def execute(
    program: CompiledProgram, inputs: Mapping[str, ComplexArray], options: RunOptions
) -> Outcome:
    """Makes keys, encrypts, runs, decrypts and compares with the program on plain numbers."""
    interface = program.interface
    seconds: dict[str, float] = {"compile": program.compile_seconds}
    start = time.perf_counter()
    client = Client(program.parameters, options.seed)
    keys = make_keys(client, interface)
    seconds["keys"] = time.perf_counter() - start
    start = time.perf_counter()
    encrypted = encrypt_and_encode(client, interface, inputs)
    seconds["encrypt"] = time.perf_counter() - start
    evaluation = evaluate(program, program.target, KeySetMaterials(keys), encrypted, seconds)
    times: list[Launch] = []
    rate = 0.0
    if evaluation.linked is not None and options.export is not None:
        evaluation.linked.export(options.export)
    if evaluation.linked is not None and options.profile:
        times, rate = profile_linked(evaluation.linked, evaluation.inputs)
    start = time.perf_counter()
    results: list[Tensor] = list(client.decrypt(interface, evaluation.outputs))
    seconds["decrypt"] = time.perf_counter() - start
    expected: Sequence[Tensor] = run_cleartext(program.program_stage, program.name, inputs)
    if program.source is not None:
        results = program.source.unpack(program.name, results)
        expected = program.source.unpack(program.name, expected)
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
        evaluation.launches,
        client.insecure,
        seconds,
        times,
        rate,
    )


def profile_linked(
    program: ProgramExecutable, inputs: Sequence[torch.Tensor]
) -> tuple[list[Launch], float]:
    """Each launch of a program that has run before, with its time, and the device's bandwidth."""
    executable = program.executable
    launches = profile(
        lambda kernels: replace(executable, kernels=kernels).run(*inputs),
        executable.kernels,
        executable.device,
    )
    return launches, bandwidth(executable.device)
