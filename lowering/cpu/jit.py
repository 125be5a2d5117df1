"""From kernels to machine code in this process, by way of LLVM IR and the object cache.

Texts are made in this process and compiled in others, the first while the last are made. A program that is linked in
the process that compiles it has each kernel begun as soon as it is ready, while passes go on.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fhelium_ir.compiler.collection import no_collection
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.binding import NativeCode, host_description, host_header, vector_bits
from fhelium_ir.lowering.cpu.fingerprint import Fingerprints, compiler_description
from fhelium_ir.lowering.cpu.llvm_text import module_text
from fhelium_ir.lowering.cpu.object_cache import ObjectCache
from fhelium_ir.lowering.cpu.parallel_compile import Compiling, available_cores

PARALLEL_OPERATIONS = 1000
"""Below this many kernel operations, worker processes take longer to start than they save."""

EARLY_OPERATIONS = 600
"""The same for processes that have been started before."""

MOST_PROCESSES = 8
"""Of those: programs seldom have more than two kernels for each."""


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
    with no_collection():
        keys, cached, missing = _look_up(funcs, cache)
        fresh = _finish(missing)
        left = {key: func for key, func in missing.items() if key not in fresh}
        if left:
            compiling = Compiling(_workers(left))
            try:
                for key in _longest_first(left):
                    compiling.add(key, native_text(left[key], _symbol(key)))
            finally:
                compiling.close()
            fresh |= compiling.finish()
        for key, data in fresh.items():
            cache.write(key, data)
        objects = {_symbol(key): data for key, data in (cached | fresh).items()}
        code = NativeCode(objects)
    addresses = tuple(code.addresses[_symbol(key)] for key in keys)
    return CompiledKernels(addresses, len(cached), len(fresh), code)


class EarlyCompilation(contextlib.AbstractContextManager["EarlyCompilation"]):
    """Begins in other processes what `compile_kernels` will want of the same kernels; what it cannot do is left.

    The processes start at once, because that takes longer than it takes to make the first kernels; they end behind the
    last text.
    """

    def __init__(self, cache: ObjectCache):
        self._compiling = Compiling(min(available_cores(), MOST_PROCESSES))
        self._cache = cache
        # Kernels wait until there is enough to do, which a single process would not have done as soon.
        self._waiting: dict[str, kernel.FuncOp] = {}
        self._operations = 0

    @cached_property
    def _fingerprints(self) -> Fingerprints:
        return Fingerprints(environment())

    def add(self, func: kernel.FuncOp) -> None:
        """Begins with one kernel, in which `zq` has been expanded."""
        with no_collection():
            key = self._fingerprints.of(func)
            known = key in self._waiting or key in self._compiling.names
            if known or self._cache.read(key) is not None:
                return
            self._waiting[key] = func
            self._operations += len(all_ops(func))
            if self._operations < EARLY_OPERATIONS:
                return
            for waiting, function in self._waiting.items():
                with contextlib.suppress(FheliumError):
                    self._compiling.add(waiting, native_text(function, _symbol(waiting)))
            self._waiting.clear()

    def __exit__(self, *_: object) -> None:
        self._compiling.close()
        if self._compiling.names:
            _begun.append(self._compiling)
            # Programs that nobody has linked.
            del _begun[:-MOST_BEGUN]


_Funcs = Mapping[str, kernel.FuncOp]
_begun: list[Compiling] = []

MOST_BEGUN = 4
"""Programs whose kernels are compiled or ready before anybody asks for them."""


def _look_up(
    funcs: Sequence[kernel.FuncOp], cache: ObjectCache
) -> tuple[list[str], dict[str, bytes], dict[str, kernel.FuncOp]]:
    """The key of each kernel, and by key the objects that are cached and the kernels that are not."""
    fingerprints = Fingerprints(environment())
    keys = [fingerprints.of(func) for func in funcs]
    different = dict(zip(keys, funcs, strict=True))
    cached = {key: data for key in different if (data := cache.read(key)) is not None}
    return keys, cached, {key: func for key, func in different.items() if key not in cached}


def _finish(missing: _Funcs) -> dict[str, bytes]:
    """The objects of the kernels that have been begun."""
    objects: dict[str, bytes] = {}
    for compiling in [begun for begun in _begun if begun.names & missing.keys()]:
        with contextlib.suppress(ValueError):  # another thread has been quicker
            _begun.remove(compiling)
        objects |= compiling.finish()
    return {key: data for key, data in objects.items() if key in missing}


def environment() -> str:
    """All that decides, beside the kernel itself, what it compiles to."""
    return f"{compiler_description()}\n{host_description()}"


def _workers(missing: _Funcs) -> int:
    """How many processes pay."""
    size = sum(len(all_ops(func)) for func in missing.values())
    return min(available_cores(), len(missing)) if size >= PARALLEL_OPERATIONS else 1


def _longest_first(missing: _Funcs) -> list[str]:
    """So that no worker is left with a long one at the end."""
    return sorted(missing, key=lambda key: -len(all_ops(missing[key])))


def native_text(func: kernel.FuncOp, symbol: str) -> str:
    """A module of LLVM IR for this processor that holds one kernel."""
    return host_header() + module_text({symbol: func}, vector_bits())


def _symbol(key: str) -> str:
    """No name of the input reaches LLVM."""
    return f"kernel_{key}"
