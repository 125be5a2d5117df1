"""Rows of the GPU benchmark stage by stage: random keys and inputs, passes, and the exact reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir import universe
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.dialects.rns import PolyType
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.polynomial import run_polynomial
from fhelium_ir.reference.residues import forward

Residues = NDArray[np.int64]

PASSES = universe.PIPELINES[universe.DEFAULT_PIPELINE]
POLYNOMIAL = PASSES.index("select-arithmetic")
LAST = PASSES.index("convert-zq-to-arith")


def key_residues(parameters: Parameters, kind: str, galois: int | None) -> Residues:
    """Random residues in the shape of a key, the same in every process."""
    digits = parameters.digit_count()
    generator = np.random.default_rng((galois or 0) + 1)
    rows = [
        generator.integers(0, q, (digits, 2, parameters.ring_degree), dtype=np.int64)
        for q in parameters.primes
    ]
    return np.stack(rows, axis=2)


def plaintext_residues(
    parameters: Parameters, values: Sequence[complex], level: int, extended: bool
) -> Residues:
    """A random integer polynomial that stands for an encoded vector: the same one modulo each prime."""
    generator = np.random.default_rng(int(1000 * abs(values[0])) + level)
    coefficients = generator.integers(-(1 << 20), 1 << 20, parameters.ring_degree, dtype=np.int64)
    primes = [*parameters.q[: level + 1], *(parameters.p if extended else ())]
    return np.stack([forward(coefficients[np.newaxis] % q, q) for q in primes], axis=1)


@dataclass(frozen=True)
class RandomMaterials:
    """Keys and plaintexts of random residues: neither times nor exactness depend on what they encrypt."""

    parameters: Parameters

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        key = torch.as_tensor(key_residues(self.parameters, kind, galois))
        return key.to(torch.int32) if self.parameters.word_bits == 32 else key

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        return torch.as_tensor(plaintext_residues(self.parameters, values, level, extended))


def polynomial_stage(text: str, without: Sequence[str] = ()) -> ModuleOp:
    """The module in front of the passes that preserve residues bit for bit.

    Args:
        without: passes to leave out.
    """
    module = parse_module(universe.make_context(), text, "row.mlir")
    passes = tuple(name for name in PASSES[:POLYNOMIAL] if name not in without)
    Pipeline("row", passes).run(universe.make_context(), module)
    return module


def kernel_stage(module: ModuleOp, arithmetic: str | None, options: Mapping[str, str]) -> ModuleOp:
    """The row's kernels, modular arithmetic in them, and its host program, for a GPU.

    Args:
        arithmetic: instead of the device's choice.
        options: of passes by name.
    """
    chosen: list[str] = []
    for name in PASSES[POLYNOMIAL:LAST]:
        given = options.get(name, "")
        if name == "select-arithmetic" and arithmetic is not None:
            given += f' arithmetic="{arithmetic}"'
        chosen.append(f"{name}{{{given.strip()}}}" if given.strip() else name)
    lowered = module.clone()
    Pipeline("row", tuple(chosen)).run(universe.make_context(), lowered)
    return lowered


def lower(module: ModuleOp, arithmetic: str | None, options: Mapping[str, str]) -> ModuleOp:
    """The row's kernels and host program, for a GPU."""
    lowered = kernel_stage(module, arithmetic, options)
    Pipeline("row", tuple(PASSES[LAST:])).run(universe.make_context(), lowered)
    return lowered


def pass_options(
    stated: Sequence[str], device: str | None = None, table: str | None = None
) -> dict[str, str]:
    """Options of passes by name.

    Args:
        stated: texts `PASS=OPTIONS`.
        device: description for the passes that ask for one.
        table: of schedules.
    """
    found: dict[str, str] = {}
    for item in stated:
        name, _, given = item.partition("=")
        found[name] = f"{found.get(name, '')} {given}".strip()
    if device is not None:
        for name in _passes_with_device():
            found[name] = f'device="{device}" {found.get(name, "")}'.strip()
    if table is not None:
        name = "tune-ntt-schedules"
        found[name] = f'{found.get(name, "")} table="{table}"'.strip()
    return found


def _passes_with_device() -> list[str]:
    return [
        name
        for name in PASSES[POLYNOMIAL:]
        if any(option.name == "device" for option in fields(universe.load_pass(name)))
    ]


def reference(text: str, inputs: dict[str, Residues]) -> list[Residues]:
    """The exact results of a row's function."""
    module = polynomial_stage(text)
    parameters = ckks.parameters_of(module)
    names = [("relinearize", None), *(("galois", g) for g in _galois_elements(text, parameters))]
    keys = {name: key_residues(parameters, *name) for name in names}

    def encode(
        values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> Residues:
        return plaintext_residues(parameters, values, level, extended)

    return list(run_polynomial(module, "row", inputs, keys, encode))  # type: ignore[arg-type]


def _galois_elements(text: str, parameters: Parameters) -> list[int]:
    modulus = 2 * parameters.ring_degree
    return [pow(5, k, modulus) for k in range(1, 9) if f"steps = {k}}}" in text]


def random_inputs(module: ModuleOp, parameters: Parameters) -> dict[str, Residues]:
    """Fresh random residues for each argument."""
    generator = np.random.default_rng()
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    found: dict[str, Residues] = {}
    for argument in function.args:
        assert isinstance(argument.type, PolyType)
        facts = argument.type.data
        families = {"q": parameters.q, "p": parameters.p}
        moduli = [families[limb.family][limb.index] for _, limb in facts.rows()]
        shape = (facts.components, facts.degree)
        rows = [generator.integers(0, q, shape, dtype=np.int64) for q in moduli]
        found[str(argument.name_hint)] = np.stack(rows, axis=1)
    return found
