"""Kernels compile for a GPU that is not there, and their number does not grow with the program."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.fingerprint import Fingerprints
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.parameters import Parameters
from tests.unit.end_to_end.programs import Writer, bounded, chain
from tests.unit.end_to_end.stages import compile_stages, example_text

SM90 = ("cuda", 90, 32)


def kernels_of(text: str, device: str = "gpu") -> list[kernel.FuncOp]:
    lowered = compile_stages(text, device).lowered
    return [op for op in lowered.ops if isinstance(op, kernel.FuncOp)]


def distinct(kernels: Iterable[kernel.FuncOp]) -> dict[str, kernel.FuncOp]:
    """One kernel of each text, with symbols and names of values left out."""
    prints = Fingerprints("")
    return {prints.of(op): op for op in kernels}


def compile_all(kernels: Iterable[kernel.FuncOp]) -> int:
    """Compiles for sm_90 and returns how many kernels there were."""
    copies = [op.clone() for op in kernels]
    for index, op in enumerate(copies):
        op.properties["sym_name"] = StringAttr(f"kernel_{index}")
    compiled = TritonKernels(ModuleOp(list(copies)), interpret=False).compile_for(SM90)
    for name, found in compiled.items():
        ptx, image = found.asm["ptx"], found.asm["cubin"]
        assert isinstance(ptx, str) and isinstance(image, bytes)
        assert ".target sm_90" in ptx and name in ptx
        # the image is an ELF file
        assert image[:4] == b"\x7fELF"
    assert len(compiled) == len(copies)
    return len(compiled)


@pytest.mark.slow
def test_kernels_of_the_dot_product_compile_for_sm90() -> None:
    found = distinct(kernels_of(example_text("dot_product")))
    assert compile_all(found.values()) > 10


@pytest.mark.slow
def test_other_kernels_of_the_examples_compile_for_sm90() -> None:
    """Those that the dot product does not have."""
    known = distinct(kernels_of(example_text("dot_product")))
    kernels = kernels_of(example_text("polynomial")) + kernels_of(example_text("matvec"))
    found = distinct(kernels)
    assert len(found) < len(kernels)
    assert compile_all(op for text, op in found.items() if text not in known) > 0


@pytest.mark.slow
def test_32_bit_kernels_compile_for_sm90() -> None:
    parameters = chain(28, 2, 2, None, 64)
    assert compile_all(distinct(kernels_of(dot_product(parameters, 1))).values()) > 5


def dot_product(parameters: Parameters, rotations: int) -> str:
    writer = Writer(parameters)
    x, y = writer.argument("x", attributes=bounded(2**-10)), writer.argument("y")
    total = writer.product(x, y)
    for index in range(rotations):
        total = writer.add(total, writer.rotate(total, 1 + index))
    return writer.text(total)


def powers(parameters: Parameters, products: int) -> str:
    writer = Writer(parameters)
    x = writer.argument("x", attributes=bounded(0.5))
    for _ in range(products):
        x = writer.product(x, x)
    return writer.text(x)


def test_kernels_do_not_grow_with_rotations() -> None:
    parameters = chain(60, 2, 2)
    few, many = (kernels_of(dot_product(parameters, count)) for count in (5, 12))
    assert len(few) == len(many) and set(distinct(few)) == set(distinct(many))


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_kernels_do_not_grow_with_limbs(digits: int) -> None:
    """Nor with the limbs of a digit, or special primes, from two on: one alone needs no punctured inverse."""
    few, many = (kernels_of(dot_product(chain(60, limbs, digits), 3)) for limbs in (6, 12))
    assert len(few) == len(many) and set(distinct(few)) == set(distinct(many))


def test_kernels_do_not_grow_with_digits(tmp_path: Path) -> None:
    """On a device that a few programs keep busy: else the digits decide where they meet the key."""
    device = tmp_path / "device.json"
    device.write_text(json.dumps({**asdict(DEVICES["gpu"]), "busy_lanes": 0}))
    one, many = (
        kernels_of(dot_product(chain(60, 12, digits), 3), str(device)) for digits in (1, 6)
    )
    assert set(distinct(one)) == set(distinct(many))


def test_kernels_do_not_grow_with_levels() -> None:
    """Two products have an inner one and a last one; more have no other kinds."""
    parameters = chain(28, 6, 3)
    two, four = (kernels_of(powers(parameters, count)) for count in (2, 4))
    assert len(two) == len(four) and set(distinct(two)) == set(distinct(four))
