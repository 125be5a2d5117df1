"""The upper word of a 64-bit product, as a function that LLVM meets late.

Vector units multiply 32-bit halves, so the upper word takes four products and a dozen operations.
Spelt out in the loops, they are most of what LLVM's optimiser and vectoriser look at, and LLVM
puts them together to 128-bit products, which do not vectorise. So kernels call `UPPER_WORD`, which
has a version per vector length; the bodies are linked and inlined once the loops are vectors. That
takes the optimiser from 290 to 70 ms for a pass of a transform with base conversion (940 kernel
operations), and the code runs as fast.

This module imports nothing: worker processes load it.
"""

from __future__ import annotations

from collections.abc import Sequence

UPPER_WORD = "fhelium.umulh"
"""i64 x i64 -> i64, unsigned."""

VECTOR_WIDTHS = (8, 4, 2)
"""Lengths of the versions for vectors; 8 words are the widest vectors there are."""

_PURE = "nounwind willreturn nosync nofree speculatable memory(none)"


def declarations(widths: Sequence[int]) -> str:
    """Declares the scalar function and its versions for vectors of the given lengths."""
    names = ",".join(f"_ZGV_LLVM_N{n}vv_{UPPER_WORD}({UPPER_WORD}.{n})" for n in widths)
    versions = f' "vector-function-abi-variant"="{names}"' if widths else ""
    lines = [f"declare i64 @{UPPER_WORD}(i64, i64) {_PURE}{versions}"]
    for n in widths:
        vector = f"<{n} x i64>"
        lines.append(f"declare {vector} @{UPPER_WORD}.{n}({vector}, {vector}) {_PURE}")
    if widths:
        # Nothing calls them yet; LLVM would drop them before it vectorises.
        used = ", ".join(f"ptr @{UPPER_WORD}.{n}" for n in widths)
        lines.append(
            f"@llvm.compiler.used = appending global [{len(widths)} x ptr] [{used}], "
            'section "llvm.metadata"'
        )
    return "\n".join(lines) + "\n"


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
