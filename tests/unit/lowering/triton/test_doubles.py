"""Doubles through Triton's compiler: as many instructions as the text has operations, and none contracted."""

from __future__ import annotations

import re

import pytest

from fhelium_ir.lowering.triton.compile import compile_source
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.lowering.triton.printer import kernel_source
from tests.unit.kernel_texts import converted, only_kernel, parse

F, M = "!kernel.buffer<f64>", "!zq.modulus<fp64>"


def kernel(body: str) -> str:
    """A kernel that loads %a, %b and %c and stores %r."""
    return f"""kernel.func @k(%qs : {F}, %x : {F}, %y : {F}) lanes [128] grid 1 {{
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %l = kernel.lane_id 0
      %q = kernel.load %qs[%c0] : {F} -> f64
      %qi = kernel.load %qs[%c1] : {F} -> f64
      %a = kernel.load %x[%l] : {F} -> f64
      %b = kernel.load %y[%l] : {F} -> f64
      {body}
      kernel.store %r, %y[%l] : f64, {F}
      kernel.return
    }}"""


def instructions(text: str, architecture: int = 90) -> list[str]:
    """The arithmetic on doubles in the PTX, in order; the sign of an operand is part of its instruction."""
    kernels = TritonKernels(converted(parse(text)), interpret=False)
    ptx = kernels.compile_for(("cuda", architecture, 32))["k"].asm["ptx"]
    assert isinstance(ptx, str) and f".target sm_{architecture}" in ptx
    return re.findall(r"\b(fma|add|sub|mul|div)\.rn\.f64\b", ptx)


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_a_product_takes_six_instructions(architecture: int) -> None:
    text = kernel(f"%m = zq.modulus %q, %qi : f64 -> {M}\n%r = zq.mul %a, %b mod %m : f64, {M}")
    found = instructions(text, architecture)
    assert sorted(found) == ["add", "add", "fma", "fma", "fma", "mul"]


def test_a_residue_takes_three_instructions() -> None:
    text = kernel(
        f"%m = zq.modulus %q, %qi : f64 -> {M}\n%r = zq.reduce %a mod %m from 4 to 1 : f64, {M}"
    )
    assert sorted(instructions(text)) == ["add", "fma", "fma"]


def test_sums_of_products_are_not_contracted() -> None:
    text = kernel("%p = arith.mulf %a, %b : f64\n%r = arith.addf %p, %q : f64")
    assert instructions(text) == ["mul", "add"]


def test_the_text_chooses_its_multiply_add(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of this project the environment decides; here, who runs the kernel."""
    source = kernel_source(only_kernel(parse(kernel("%r = math.fma %a, %b, %q : f64"))))
    for interpreted in ("0", "1"):
        monkeypatch.setenv("TRITON_INTERPRET", interpreted)
        # Another text each time: functions are kept by their text.
        text = f"{source}# {interpreted}\n"
        for interpret in (False, True):
            names = compile_source(text, interpret=interpret).fn.__globals__
            assert names["fma"] is names["exact_fma"] or not interpret
            assert type(names["fma"]).__name__ == ("function" if interpret else "JITFunction")
