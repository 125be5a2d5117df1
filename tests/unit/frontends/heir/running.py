"""Runs what heir-opt printed, and compares with the tensor program that it was made from."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.backend.program import entry_function
from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import KeySetMaterials
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.tools.run_program import (
    compile_program,
    encrypt_and_encode,
    evaluate,
    make_keys,
)
from tests.lit_files import ROOT

EXAMPLES = ROOT / "examples" / "heir"
SINGLE = 2.0**-22
"""HEIR computes constants in 32-bit floats."""

Array = NDArray[np.float64]


@cache
def programs() -> ModuleType:
    """`examples/heir/programs.py`."""
    spec = importlib.util.spec_from_file_location("heir_programs", EXAMPLES / "programs.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["heir_programs"] = module
    spec.loader.exec_module(module)
    return module


@dataclass
class RunOptions:
    """What `compile_program` wants to know."""

    target: str
    ring_degree: int | None
    frontend: str
    rotation_keys: str | None = None
    entry: str | None = None
    device: str | None = None


def check(
    program: Any,
    text: str,
    targets: tuple[str, ...],
    options: str = "",
    *,
    slack: float = SINGLE,
    small: bool = True,
) -> None:
    """Compiles once, runs on each target under the same keys, and compares: with the tensor program, within the
    precision report's bound and within 2^-(scale bits - 25); and the targets with each other, bit for bit.

    Args:
        program: a `TensorProgram`.
        text: what heir-opt printed for it.
        targets: to run on; the program is compiled for the first.
        options: further ones of the frontend, such as " levels=managed".
        slack: how far the text may be from the tensor program, relatively to its largest result above 1.
        small: the smallest ring that has the slots, instead of HEIR's.
    """
    generator = np.random.default_rng(len(text))
    shapes: tuple[tuple[int, ...], ...] = program.inputs
    inputs = {
        f"arg{index}": generator.uniform(-program.bound, program.bound, shape)
        for index, shape in enumerate(shapes)
    }
    compiled = compile_program(
        program.name,
        text,
        RunOptions(
            targets[0],
            max(16, 2 * program.slots) if small else None,
            f"heir{{range={program.bound}{options}}}",
        ),
    )
    assert compiled.source is not None
    vectors = compiled.source.pack(compiled.name, inputs)
    client = Client(compiled.parameters, seed=1)
    materials = KeySetMaterials(make_keys(client, compiled.interface))
    encrypted = encrypt_and_encode(client, compiled.interface, vectors)
    outputs = [evaluate(compiled, t, materials, encrypted, {}).outputs for t in targets]
    for other in outputs[1:]:
        for left, right in zip(outputs[0], other, strict=True):
            assert np.array_equal(left.cpu().numpy(), right.cpu().numpy())
    slots = client.decrypt(compiled.interface, outputs[0])
    results = compiled.source.unpack(compiled.name, slots)
    clear = compiled.source.unpack(
        compiled.name, list(run_cleartext(compiled.program_stage, compiled.name, vectors))
    )
    function = entry_function(compiled.program_stage, compiled.name)
    expected = [o.error for o in output_precision(function, compiled.parameters)]
    several = len(results) > 1
    computed: Any = program.compute(*inputs.values())
    wanted: list[Any] = list(computed) if several else [computed]
    for result, cleartext, value, bound in zip(results, clear, wanted, expected, strict=True):
        want: Array = np.asarray(value)
        largest = max(1.0, float(np.abs(want).max()))
        assert result.shape == want.shape
        assert float(np.abs(result - cleartext).max()) <= bound
        assert float(np.abs(result - want).max()) <= bound + slack * largest
        if slack == SINGLE:
            limit = 2.0 ** -(compiled.parameters.scale_bits - 25)
            assert float(np.abs(result - want).max()) <= limit * largest


def stored(name: str, release: str) -> str:
    """What heir-opt of a release printed for an example."""
    return Path(EXAMPLES / release / f"{name}.mlir").read_text(encoding="utf-8")
