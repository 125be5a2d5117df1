"""Kernels with exchanges compile without Triton's coalescing pass.

The lanes of such a kernel are laid out so that neighbours load and store neighbours, which is how Triton lays out a
tile before that pass. The pass would only look for wider accesses, which the exchange would undo, and its search is
quadratic in the kernel: two minutes for the inner product with a key, where all other passes together take seconds.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

MARK = " + tl.program_id(2)"
"""What the printer adds to the buffers of a kernel with exchanges, see `fhelium_ir.lowering.triton.printer`."""


@contextmanager
def as_printed(source: str) -> Generator[None]:
    """Leaves the pass out for a kernel with exchanges; without effect on a Triton that has it elsewhere."""
    # Targets that do without Triton import this module for the mark.
    from triton._C.libtriton import passes

    original = getattr(passes.ttgpuir, "add_coalesce", None)
    if MARK not in source or original is None:
        yield
        return
    passes.ttgpuir.add_coalesce = lambda manager: None
    try:
        yield
    finally:
        passes.ttgpuir.add_coalesce = original
