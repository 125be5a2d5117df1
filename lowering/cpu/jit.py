"""From kernels to machine code in this process, by way of LLVM IR and the object cache.

What a module costs, in processor time on Zen 4: a multiplication with key switching and rescale on doubles (8 kernels,
8600 operations) 0.4 s of text, 0.4 s of LLVM's optimiser and 0.3 s of its code generator. Products by halves (64-bit
Montgomery) take the code generator five times as long. The garbage collector would add half again.
"""

from __future__ import annotations

import gc
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.binding import NativeCode, host_description, host_header, vector_bits
from fhelium_ir.lowering.cpu.fingerprint import Fingerprints, compiler_description
from fhelium_ir.lowering.cpu.llvm_text import module_text
from fhelium_ir.lowering.cpu.object_cache import ObjectCache
from fhelium_ir.lowering.cpu.parallel_compile import available_cores, compile_texts

PARALLEL_OPERATIONS = 1000
"""Below this many kernel operations, worker processes take longer to start than they save."""


@dataclass(frozen=True)
class CompiledKernels:
    """Machine code, valid while this object lives.

    Attributes:
        addresses: in the order of the kernels, functions as `llvm_text` describes them.
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
        objects = {_symbol(key): data for key, data in (cached | fresh).items()}
        code = NativeCode(objects)
    addresses = tuple(code.addresses[_symbol(key)] for key in keys)
    return CompiledKernels(addresses, len(cached), len(fresh), code)


def environment() -> str:
    """All that decides, beside the kernel itself, what it compiles to."""
    return f"{compiler_description()}\n{host_description()}"


def _compile(missing: Mapping[str, kernel.FuncOp]) -> dict[str, bytes]:
    sizes = {key: sum(1 for _ in func.walk()) for key, func in missing.items()}
    workers = min(available_cores(), len(missing))
    if sum(sizes.values()) < PARALLEL_OPERATIONS:
        workers = 1
    # Long ones first, so that no worker is left with one at the end.
    order = sorted(missing, key=lambda key: -sizes[key])
    texts = ((key, native_text(missing[key], _symbol(key))) for key in order)
    return compile_texts(texts, workers)


def native_text(func: kernel.FuncOp, symbol: str) -> str:
    """A module of LLVM IR for this processor that holds one kernel."""
    return host_header() + module_text({symbol: func}, vector_bits())


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
