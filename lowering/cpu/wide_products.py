"""The upper word of a 64-bit product, as a function that LLVM meets late.

Vector units multiply 32-bit halves, so the upper word takes four products and a dozen operations. Spelt out in the
kernels, they are most of what LLVM's optimiser looks at, and it puts them together to 128-bit products, which no vector
unit has. So kernels call `UPPER_WORD` or its version for so many lanes, and the bodies are linked and inlined after the
optimiser.

This module imports nothing: worker processes load it.
"""

from __future__ import annotations

from collections.abc import Sequence

UPPER_WORD = "fhelium.umulh"
"""i64 x i64 -> i64, unsigned."""

VECTOR_WIDTHS = (16, 8, 4, 2)
"""Lengths of the versions for vectors; kernels of 32-bit words take twice as many as a vector has 64-bit words."""


def definitions(widths: Sequence[int]) -> str:
    """The bodies, to be inlined: 128-bit for single words, by halves for vectors."""
    return _SCALAR + "".join(_vector_definition(n) for n in widths)


_SCALAR = f"""
define linkonce_odr hidden i64 @{UPPER_WORD}(i64 %a, i64 %b) alwaysinline {{
  %wide.a = zext i64 %a to i128
  %wide.b = zext i64 %b to i128
  %product = mul i128 %wide.a, %wide.b
  %upper = lshr i128 %product, 64
  %result = trunc i128 %upper to i64
  ret i64 %result
}}
"""


def _vector_definition(width: int) -> str:
    vector = f"<{width} x i64>"
    low, half = "splat (i64 4294967295)", "splat (i64 32)"
    return f"""
define linkonce_odr hidden {vector} @{UPPER_WORD}.{width}({vector} %a, {vector} %b) alwaysinline {{
  %a0 = and {vector} %a, {low}
  %b0 = and {vector} %b, {low}
  %a1 = lshr {vector} %a, {half}
  %b1 = lshr {vector} %b, {half}
  %p00 = mul {vector} %a0, %b0
  %carry = lshr {vector} %p00, {half}
  %p10 = mul {vector} %a1, %b0
  %middle = add {vector} %p10, %carry
  %middle0 = and {vector} %middle, {low}
  %p01 = mul {vector} %a0, %b1
  %other = add {vector} %p01, %middle0
  %p11 = mul {vector} %a1, %b1
  %middle1 = lshr {vector} %middle, {half}
  %sum = add {vector} %p11, %middle1
  %other1 = lshr {vector} %other, {half}
  %result = add {vector} %sum, %other1
  ret {vector} %result
}}
"""
