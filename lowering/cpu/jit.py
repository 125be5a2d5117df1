"""From kernels to machine code in this process, by way of the `llvm` dialect and the object cache.

What a module costs (`examples/matvec.mlir`, 25 kernels, 9500 operations, processor time on Zen 4):
first, 1.1 s of conversion, 0.8 s of printing LLVM IR, 3.0 s of LLVM's optimiser and 1.4 s of its
code generator, about 0.8 s of it in walks of the garbage collector over the whole program. Without those
and with products as functions (see `wide_products`) it is 0.7 s for conversion and printing here,
while worker processes spend 2.1 s in LLVM, and 0.06 s where every kernel is cached.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.backend.llvm.convert import convert_module
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu import wide_products
from fhelium_ir.lowering.cpu.binding import (
    NativeCode,
    host_data_layout,
    host_description,
    host_triple,
    multiplies_vectors,
)
from fhelium_ir.lowering.cpu.convert_kernels_to_llvm import LANE_LOOP, convert_kernel
from fhelium_ir.lowering.cpu.convert_ops import declare_upper_word
from fhelium_ir.lowering.cpu.fingerprint import Fingerprints, compiler_description
from fhelium_ir.lowering.cpu.llvm_builder import integer_type
from fhelium_ir.lowering.cpu.loop_marks import LoopMarks
from fhelium_ir.lowering.cpu.object_cache import ObjectCache
from fhelium_ir.lowering.cpu.parallel_compile import available_cores, compile_texts

PARALLEL_OPERATIONS = 1000
"""Below this many kernel operations, worker processes take longer to start than they save."""


@dataclass(frozen=True)
class CompiledKernels:
    """Machine code, valid while this object lives.

    Attributes:
        addresses: in the order of the kernels, functions of `begin`, `end` and a pointer to the
            other arguments of `convert_kernels_to_llvm`, each in 64 bits.
        hits: how many different kernels came out of the cache.
        misses: how many were compiled.
        code: owns the code.
    """

    addresses: tuple[int, ...]
    hits: int
    misses: int
    code: NativeCode


def compile_kernels(funcs: Sequence[kernel.FuncOp], cache: ObjectCache) -> CompiledKernels:
    """Machine code for this processor; the kernels stay as they are, equal ones share code.

    Raises:
        FheliumError: a kernel holds what the CPU target does not support.
    """
    with _no_collection():
        fingerprints = Fingerprints(environment())
        keys = [fingerprints.of(func) for func in funcs]
        different = dict(zip(keys, funcs, strict=True))
        cached = {key: data for key in different if (data := cache.read(key)) is not None}
        fresh = _compile({key: func for key, func in different.items() if key not in cached})
        for key, data in fresh.items():
            cache.write(key, data)
        objects = {entry_name(_symbol(key)): data for key, data in (cached | fresh).items()}
        code = NativeCode(objects)
    addresses = tuple(code.addresses[entry_name(_symbol(key))] for key in keys)
    return CompiledKernels(addresses, len(cached), len(fresh), code)


def environment() -> str:
    """All that decides, beside the kernel itself, what it compiles to."""
    return f"{compiler_description()}\n{host_description()}"


def _compile(missing: Mapping[str, kernel.FuncOp]) -> dict[str, bytes]:
    sizes = {key: sum(1 for _ in func.walk()) for key, func in missing.items()}
    workers = min(available_cores(), len(missing))
    if sum(sizes.values()) < PARALLEL_OPERATIONS:
        workers = 1
    vector = multiplies_vectors()
    # Long ones first, so that no worker is left with one at the end.
    order = sorted(missing, key=lambda key: -sizes[key])
    texts = (
        (key, native_text(convert_kernel(missing[key], vector), _symbol(key))) for key in order
    )
    return compile_texts(texts, workers)


def _symbol(key: str) -> str:
    """No name of the input reaches LLVM."""
    return f"kernel_{key}"


@contextmanager
def _no_collection() -> Generator[None]:
    """The collector would walk the whole program again and again, a third of a second each time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def native_text(function: llvm.FuncOp, symbol: str) -> str:
    """LLVM IR of a function, which is moved into a module of its own and renamed."""
    if function.parent is not None:
        function.detach()
    function.properties["sym_name"] = StringAttr(symbol)
    module = convert_module(
        ModuleOp([declare_upper_word(), function]),
        fallback_target_triple=host_triple(),
        data_layout=host_data_layout(),
    )
    marks = LoopMarks(module)
    widths = _mark_lane_loops(function, symbol, marks)
    return _declare_products(marks.text(), widths) + _entry_text(function, symbol)


def entry_name(symbol: str) -> str:
    """The name of the function that `CompiledKernels.addresses` are of."""
    return f"{symbol}.entry"


def _entry_text(function: llvm.FuncOp, symbol: str) -> str:
    """A function of `begin`, `end` and a pointer to the other arguments, each in 64 bits.

    ctypes converts arguments one by one, 0.1 us each; this way there are three.
    """
    lines: list[str] = []
    arguments = ["i64 %begin", "i64 %end"]
    for number, type_ in enumerate(function.function_type.inputs.data[2:]):
        pointer = isinstance(type_, llvm.LLVMPointerType)
        word = "ptr" if pointer else f"i{integer_type(type_).width.data}"
        lines.append(f"  %p{number} = getelementptr i64, ptr %words, i64 {number}")
        # Words of this machine, so that the first bytes of 64 bits are the narrower word.
        lines.append(f"  %w{number} = load {word}, ptr %p{number}")
        arguments.append(f"{word} %w{number}")
    head = f"define void @{entry_name(symbol)}(i64 %begin, i64 %end, ptr %words) {{"
    call = f"  call void @{symbol}({', '.join(arguments)})"
    return "\n".join((head, *lines, call, "  ret void", "}", ""))


def _mark_lane_loops(source: llvm.FuncOp, symbol: str, marks: LoopMarks) -> list[int]:
    """Carries the marks on back edges over: xDSL's conversion drops attributes.

    The conversion keeps the order of blocks, and the blocks of a lane loop stand together.

    Returns:
        The vector lengths that loops state, longest first.
    """
    blocks = list(source.body.blocks)
    widths: set[int] = set()
    for number, block in enumerate(blocks):
        edge = block.last_op
        if isinstance(edge, llvm.CondBrOp) and LANE_LOOP in edge.attributes:
            mark = edge.attributes[LANE_LOOP]
            width = mark.value.data if isinstance(mark, IntegerAttr) else 0
            widths.add(width)
            marks.mark_loop(symbol, blocks.index(edge.then_block), number, width)
    return sorted(widths - {0}, reverse=True)


_DECLARATION = re.compile(rf'^declare .*"{re.escape(wide_products.UPPER_WORD)}".*$', re.MULTILINE)


def _declare_products(text: str, widths: Sequence[int]) -> str:
    """llvmlite cannot print the attributes that the declaration needs."""
    declarations = wide_products.declarations(widths) if widths else ""
    return _DECLARATION.sub(lambda _: declarations, text, count=1)
