"""Signed words through Triton's compiler: three multiplications a product, and butterflies without multiples of q."""

from __future__ import annotations

import re

import pytest

from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.lowering.triton.three_terms import folded, three_terms
from tests.unit.kernel_texts import converted, only_kernel, parse

B, M = "!kernel.buffer<i32>", "!zq.modulus<smont32>"

BUTTERFLY = (
    f"%p = zq.mul %b, %w mod %m : i32, {M}\n%r = zq.add %a, %p mod %m : i32, {M}\n"
    f"%s = zq.sub %a, %p mod %m offset 0 : i32, {M}"
)


def kernel(body: str) -> str:
    """A kernel that loads %a, %b and %w and stores %r and %s."""
    return f"""kernel.func @k(%qs : {B}, %x : {B}, %y : {B}, %z : {B}) lanes [128] grid 1 {{
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %l = kernel.lane_id 0
      %q = kernel.load %qs[%c0] : {B} -> i32
      %qi = kernel.load %qs[%c1] : {B} -> i32
      %m = zq.modulus %q, %qi : i32 -> {M}
      %a = kernel.load %x[%l] : {B} -> i32
      %b = kernel.load %y[%l] : {B} -> i32
      %w = kernel.load %z[%l] : {B} -> i32
      {body}
      kernel.store %r, %x[%l] : i32, {B}
      kernel.store %s, %y[%l] : i32, {B}
      kernel.return
    }}"""


def instructions(text: str, architecture: int) -> list[str]:
    """Multiplications, additions and choices on words in the PTX, without those of 64 bits that make addresses."""
    kernels = TritonKernels(converted(parse(text)), interpret=False)
    ptx = kernels.compile_for(("cuda", architecture, 32))["k"].asm["ptx"]
    assert isinstance(ptx, str) and f".target sm_{architecture}" in ptx
    found = re.findall(r"\b(mul\.(?:wide|hi|lo)\.s32|(?:add|sub)\.s32|selp\.b32|min\.u32)\b", ptx)
    # One for each pointer.
    return [name for name in found if name != "mul.wide.s32"] + ["mul.wide.s32"] * (
        found.count("mul.wide.s32") > 0
    )


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_a_butterfly(architecture: int) -> None:
    """Two pairs of additions, each of which is one instruction of three terms."""
    found = instructions(kernel(BUTTERFLY), architecture)
    assert found.count("mul.hi.s32") == 1 and found.count("mul.lo.s32") == 1
    assert "mul.wide.s32" in found
    assert sum(name in ("add.s32", "sub.s32") for name in found) == 4
    assert "selp.b32" not in found and "min.u32" not in found


def test_a_step_and_canonical_words() -> None:
    body = f"%r = zq.reduce %a mod %m from 16 to 8 : i32, {M}\n%s = zq.canonical %b mod %m from 8 : {M}"
    found = instructions(kernel(body), 90)
    assert found.count("selp.b32") == 1
    assert found.count("min.u32") == 3


def test_what_is_taken_apart() -> None:
    """A difference of high words that only sums and differences read, and nothing else."""
    ops = list(only_kernel(converted(parse(kernel(BUTTERFLY)))).body.block.ops)
    (difference,) = (op for op in ops if folded(op))
    users = [op for op in ops if three_terms(op) is not None]
    assert {use.operation for use in difference.results[0].uses} == set(users)
    signs = [terms[1::2] for op in users if (terms := three_terms(op)) is not None]
    assert signs == [("+", "-"), ("-", "+")]
    other = BUTTERFLY.replace("zq.add %a, %p", "zq.add %p, %a")
    kept = list(only_kernel(converted(parse(kernel(other)))).body.block.ops)
    assert not any(folded(op) or three_terms(op) is not None for op in kept)
