"""Shoup's products through Triton's compiler: one high half of a product, and two low ones."""

from __future__ import annotations

import re

import pytest

from fhelium_ir.lowering.triton.kernels import TritonKernels
from tests.unit.kernel_texts import converted, parse

L = "!kernel.buffer<i64>"

PACKED = f"""%e = kernel.load %t[%l] : {L} -> i64
      %c32 = arith.constant 32 : i64
      %w = arith.trunci %e : i64 to i32
      %h = arith.shrui %e, %c32 : i64
      %u = arith.trunci %h : i64 to i32"""
"""A factor of 32 bits and its quotient."""

APART = f"""%w = kernel.load %t[%l] : {L} -> i64
      %behind = arith.constant 4096 : i64
      %o = arith.addi %l, %behind : i64
      %u = kernel.load %t[%o] : {L} -> i64"""
"""Those of 64 bits."""


def products(bits: int, architecture: int) -> list[str]:
    """The multiplications in the PTX of one product."""
    word, buffer = f"i{bits}", f"!kernel.buffer<i{bits}>"
    modulus = f"!zq.modulus<mont{bits}>"
    text = f"""kernel.func @k(%qs : {buffer}, %t : {L}, %x : {buffer}) lanes [128] grid 1 {{
      %c0 = arith.constant 0 : i64
      %l = kernel.lane_id 0
      %q = kernel.load %qs[%c0] : {buffer} -> {word}
      %m = zq.modulus %q, %q : {word} -> {modulus}
      {PACKED if bits == 32 else APART}
      %v = kernel.load %x[%l] : {buffer} -> {word}
      %r = zq.mul_shoup %v, %w, %u mod %m : {word}, {modulus}
      kernel.store %r, %x[%l] : {word}, {buffer}
      kernel.return
    }}"""
    kernels = TritonKernels(converted(parse(text)), interpret=False)
    ptx = kernels.compile_for(("cuda", architecture, 32))["k"].asm["ptx"]
    assert isinstance(ptx, str) and f".target sm_{architecture}" in ptx
    # Products by numbers are addresses.
    found = re.findall(r"\b(?:mul|mad)\.(lo|hi|wide)\.[su](\d+)\s+%\w+, %\w+, %\w+", ptx)
    return sorted(half + width for half, width in found)


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_products_of_32_bit_words(architecture: int) -> None:
    """The high half is that of a product of 64-bit words of which the assembler knows that they have 32 bits each."""
    assert products(32, architecture) == ["lo32", "lo32", "lo64"]


@pytest.mark.parametrize("architecture", [80, 90, 100])
def test_products_of_64_bit_words(architecture: int) -> None:
    assert products(64, architecture) == ["hi64", "lo64", "lo64"]
