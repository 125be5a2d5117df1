"""Target `llvm`: the LLVM IR that the kernels of a module become on this machine, before LLVM's own passes."""

from __future__ import annotations

from typing import TextIO

from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.binding import host_header, vector_bits
from fhelium_ir.lowering.cpu.llvm_text import module_text
from fhelium_ir.lowering.cpu.wide_products import UPPER_WORD, VECTOR_WIDTHS, definitions

VECTOR_BITS = "kernel.vector_bits"
"""Module attribute: the length of vectors to print code for, instead of this machine's."""


def print_llvm(module: ModuleOp, stream: TextIO) -> None:
    """Prints all kernels as one module of LLVM IR.

    Raises:
        FheliumError: a kernel holds what the CPU target does not support, or the attribute is no power of two from
            64 to 2048.
    """
    bits = vector_bits()
    stated = module.attributes.get(VECTOR_BITS)
    if stated is not None:
        bits = stated.value.data if isinstance(stated, IntegerAttr) else 0
        if not 64 <= bits <= 2048 or bits & (bits - 1):
            raise FheliumError(f"`{VECTOR_BITS}` must be a power of two from 64 to 2048")
    funcs = {op.sym_name.data: op for op in module.ops if isinstance(op, kernel.FuncOp)}
    text = module_text(funcs, bits)
    stream.write(host_header())
    lines = text.splitlines(keepends=True)
    stream.writelines(
        line for line in lines if not line.startswith("declare") or f"@{UPPER_WORD}" not in line
    )
    widths = [width for width in VECTOR_WIDTHS if f"@{UPPER_WORD}.{width}(" in text]
    if f"@{UPPER_WORD}" in text:
        stream.write(definitions(widths))
