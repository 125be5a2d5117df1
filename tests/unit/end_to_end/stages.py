"""Compiles programs stage by stage and runs each stage, for the end-to-end tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from fhelium_ir import universe
from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.client.parameters import rescaled
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks, resource
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.blocks import KeyName
from fhelium_ir.reference.polynomial import run_polynomial
from fhelium_ir.reference.program import run_program
from tests.lit_files import ROOT

Residues = NDArray[np.int64]
Vector = NDArray[np.complex128]

PASSES = universe.PIPELINES[universe.DEFAULT_PIPELINE]
PROGRAM_PASSES = PASSES[: PASSES.index("convert-ckks-to-rns")]
POLYNOMIAL_PASSES = PASSES[len(PROGRAM_PASSES) : PASSES.index("convert-regions-to-kernels")]
"""Passes that leave a module that `run_polynomial` can run."""
KERNEL_PASSES = PASSES[len(PROGRAM_PASSES) + len(POLYNOMIAL_PASSES) :]


@dataclass(frozen=True)
class Stages:
    """A program at the end of the program stage, and after each later pass."""

    program: ModuleOp
    polynomial: Mapping[str, ModuleOp]
    kernels: Mapping[str, ModuleOp]

    @property
    def parameters(self) -> Parameters:
        return ckks.parameters_of(self.program)

    @property
    def lowered(self) -> ModuleOp:
        return self.kernels[KERNEL_PASSES[-1]]

    @property
    def function(self) -> func.FuncOp:
        """The only function, at the program stage."""
        (function,) = (op for op in self.program.ops if isinstance(op, func.FuncOp))
        return function

    @property
    def name(self) -> str:
        return self.function.sym_name.data

    def key_names(self) -> list[KeyName]:
        """Kind and Galois element of every key that the lowered program declares."""
        found: list[KeyName] = []
        for op in self.lowered.ops:
            if isinstance(op, resource.DeclareOp) and op.kind.data in resource.PUBLIC_KINDS:
                galois = op.parameters.data.get("galois")
                if galois is None:
                    found.append(("relinearize", None))
                else:
                    found.append(("galois", cast("IntegerAttr", galois).value.data))
        return list(dict.fromkeys(found))


def module_text(parameters: Parameters, functions: str) -> str:
    """A module with these parameters."""
    body = (
        f"ring_degree = {parameters.ring_degree}, q = {list(parameters.q)}, "
        f"p = {list(parameters.p)}, digits = {parameters.digits}, "
        f"scale = 2**{parameters.scale_bits}, secret = {parameters.secret}"
    )
    insecure = ", insecure" if parameters.insecure else ""
    return f"module attributes {{ckks.params = #ckks.params<{body}{insecure}>}} {{\n{functions}}}\n"


def example_text(name: str) -> str:
    """The text of an example program."""
    return (ROOT / "examples" / f"{name}.mlir").read_text()


def compile_stages(text: str, device: str = "cpu", ring_degree: int | None = None) -> Stages:
    """Runs the default pipeline and keeps the module after every pass."""
    context = universe.make_context()
    module = parse_module(context, text, "program.mlir")
    if ring_degree is not None:
        smaller = rescaled(ckks.parameters_of(module), ring_degree)
        module.attributes[ckks.PARAMS] = ckks.ParamsAttr(smaller)
    verify_module(module)
    kept: dict[str, ModuleOp] = {}

    def keep(module_pass: object, after: ModuleOp) -> None:
        kept[cast("str", getattr(module_pass, "name"))] = after.clone()  # noqa: B009

    takes_device = ("select-arithmetic", "form-fusion-regions", "tune-ntt-schedules")
    passes = tuple(
        f'{name}{{device="{device}"}}' if name in takes_device else name for name in PASSES
    )
    Pipeline("stages", passes).run(context, module, verify_each=False, after_pass=keep)
    return Stages(
        kept[PROGRAM_PASSES[-1]],
        {name: kept[name] for name in POLYNOMIAL_PASSES},
        {name: kept[name] for name in KERNEL_PASSES},
    )


@dataclass(frozen=True)
class Runner:
    """Runs the stages of one program under one client's keys.

    Attributes:
        change: what to do to a key before it is used.
    """

    stages: Stages
    client: Client
    change: Callable[[KeyName, torch.Tensor], torch.Tensor] | None = None

    @staticmethod
    def of(stages: Stages, seed: int = 1) -> Runner:
        return Runner(stages, Client(stages.parameters, seed))

    def changing(self, change: Callable[[KeyName, torch.Tensor], torch.Tensor]) -> Runner:
        return replace(self, change=change)

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        data = ClientKeys(self.client).evaluation_key(kind, galois)
        return data if self.change is None else self.change((kind, galois), data.clone())

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        return ClientKeys(self.client).plaintext(values, scale, level, extended)

    def encoded(self, values: NDArray[np.float64], scale: Fraction, level: int) -> Residues:
        return self.plaintext(list(values), scale, level).numpy().astype(np.int64)

    def key_residues(self) -> dict[KeyName, Residues]:
        return {
            name: self.evaluation_key(*name).numpy().astype(np.int64)
            for name in self.stages.key_names()
        }

    def program(self, inputs: Mapping[str, Residues]) -> list[Residues]:
        """The exact result, from the program stage."""
        stages = self.stages
        keys = self.key_residues()
        return run_program(stages.program, stages.name, inputs, keys, self.encoded)

    def polynomial(self, after: str, inputs: Mapping[str, Residues]) -> list[Residues]:
        """The result of the polynomial stage after one of its passes."""
        stages = self.stages
        keys = self.key_residues()
        return run_polynomial(stages.polynomial[after], stages.name, inputs, keys, self.encoded)

    def executable(
        self, target: str, inputs: Mapping[str, Residues], after: str = KERNEL_PASSES[-1]
    ) -> list[Residues]:
        """The result of the linked program on a target."""
        program = link(self.stages.kernels[after], self, target)
        tensors = [
            torch.as_tensor(inputs[spec.name])
            .to(torch.int32 if spec.dtype == "int32" else torch.int64)
            .to(program.device)
            for spec in program.arguments
        ]
        return [output.cpu().numpy().astype(np.int64) for output in program.run(*tensors)]

    def vectors(self, seed: int = 0) -> dict[str, Vector]:
        """A complex vector per argument, with absolute values of at most 1."""
        generator = np.random.default_rng(seed)
        slots = self.stages.parameters.slots
        found: dict[str, Vector] = {}
        for argument in self.stages.function.body.block.args:
            radius = generator.uniform(0, 1, slots)
            angle = generator.uniform(0, 2 * np.pi, slots)
            found[str(argument.name_hint)] = (radius * np.exp(1j * angle)).astype(np.complex128)
        return found

    def encrypted(self, vectors: Mapping[str, Vector]) -> dict[str, Residues]:
        """The arguments as residues: ciphertexts encrypted, plaintexts encoded."""
        found: dict[str, Residues] = {}
        for argument in self.stages.function.body.block.args:
            name, type_ = str(argument.name_hint), argument.type
            assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
            scale, level = scale_of(type_, self.stages.parameters), type_.data.level
            assert level is not None
            make = (
                self.client.encrypt_vector
                if isinstance(type_, ckks.CiphertextType)
                else self.client.encode_plaintext
            )
            found[name] = make(vectors[name], scale, level).numpy().astype(np.int64)
        return found

    def residues(self, kind: str, seed: int = 0) -> dict[str, Residues]:
        """Arguments that are no encryptions: `random` residues, or all `largest` (q - 1)."""
        generator = np.random.default_rng(seed)
        parameters = self.stages.parameters
        found: dict[str, Residues] = {}
        for argument in self.stages.function.body.block.args:
            type_ = argument.type
            assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
            size = type_.data.size if isinstance(type_, ckks.CiphertextType) else 1
            level = type_.data.level
            assert size is not None and level is not None
            shape = (size, parameters.ring_degree)
            rows = [
                np.full(shape, q - 1) if kind == "largest" else generator.integers(0, q, shape)
                for q in parameters.q[: level + 1]
            ]
            found[str(argument.name_hint)] = np.stack(rows, axis=1).astype(np.int64)
        return found

    def decrypted(self, outputs: Sequence[Residues]) -> list[Vector]:
        """The results as vectors, with the scales of the program stage."""
        types = self.stages.function.function_type.outputs.data
        found: list[Vector] = []
        for output, type_ in zip(outputs, types, strict=True):
            assert isinstance(type_, ckks.CiphertextType)
            scale = scale_of(type_, self.stages.parameters)
            found.append(self.client.decrypt_vector(torch.as_tensor(output), scale))
        return found


def scale_of(type_: ckks.CiphertextType | ckks.PlaintextType, parameters: Parameters) -> Fraction:
    """The exact scale that a type states."""
    assert type_.data.scale is not None
    return type_.data.scale.value(parameters.q)
