"""fhelium-ir: a compiler for CKKS homomorphic-encryption programs.

A program enters as MLIR text, is lowered step by step through the dialects in
`fhelium_ir.dialects`, and leaves as Triton kernels and a host executable. This module imports
nothing at first, so that the tools start quickly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence

    from fhelium_ir.backend.execution import ProgramExecutable
    from fhelium_ir.client.client import Client as Client

__version__ = "0.1.0"


def compile(
    source: str | os.PathLike[str],
    *,
    target: str = "auto",
    entry: str | None = None,
    ring_degree: int | None = None,
    rotation_keys: Sequence[int] | None = None,
) -> ProgramExecutable:
    """Compiles a CKKS program through the default pipeline and links it for a target.

    Args:
        source: the path of a file, or MLIR text: a `str` with more than one line is text.
        target: `cuda`, `cpu`, `triton-interpret`, `interpret`, or `auto` for cuda where there is a device, else cpu.
        entry: the function to compile, where there are several.
        ring_degree: rescale the parameters to this ring degree, for tests.
        rotation_keys: steps for which there may be rotation keys; other rotations are composed of these.

    Returns:
        The program without keys; `with_keys` gives it those of a client, see docs/python-api.md.

    Raises:
        FheliumError: anything wrong with the source, the options or the program, with its place in the text.
    """
    from fhelium_ir.backend.compiling import compile_source

    return compile_source(source, target, entry, ring_degree, rotation_keys)


def __getattr__(name: str) -> object:
    # `fhelium_ir.Client` is imported when it is asked for: it brings torch with it.
    if name == "Client":
        from fhelium_ir.client.client import Client

        return Client
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
