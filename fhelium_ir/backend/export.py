"""Writing a linked program as files that run without this library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from safetensors.torch import save
from xdsl.dialects import func

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import kernel

if TYPE_CHECKING:
    from fhelium_ir.backend.execution import ProgramExecutable

Source = Callable[[Sequence[kernel.FuncOp], Sequence[func.FuncOp]], str]


def export_program(
    executable: ProgramExecutable, path: Path, gpus: Sequence[tuple[str, int, int]]
) -> list[Path]:
    """See `ProgramExecutable.export`."""
    if path.suffix != ".py":
        raise FheliumError(f"the exported file must be a Python file, found '{path}'")
    program = executable.program
    source = cast(Source, universe.load_service("standalone-source"))
    text = source(program.kernel_functions, [program.function])
    constants, manifest = path.with_suffix(".safetensors"), path.with_suffix(".json")
    tensors = {name: tensor.cpu() for name, tensor in executable.executable.resources.items()}
    try:
        path.write_text(text, encoding="utf-8")
        constants.write_bytes(save(tensors))
        manifest.write_text(
            json.dumps(dict(executable.manifest), indent=2) + "\n", encoding="utf-8"
        )
    except OSError as error:
        raise FheliumError(f"cannot write '{path}': {error.strerror or error}") from error
    written = [path, constants, manifest]
    for gpu in gpus:
        written.append(compile_kernels(path, gpu))
    return written


def compile_kernels(path: Path, gpu: tuple[str, int, int]) -> Path:
    """Compiles the kernels of an exported file for a GPU, into a folder beside it that the file looks into.

    Args:
        gpu: backend, architecture and warp size, such as ("cuda", 90, 32). It need not be present.

    Raises:
        FheliumError: Triton refuses.
    """
    folder = path.with_suffix(".triton")
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(folder), "TRITON_INTERPRET": "0"}
    command = [sys.executable, str(path), "--compile", *map(str, gpu)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        last = (result.stderr.strip() or "no message").splitlines()[-1]
        raise FheliumError(f"triton cannot compile '{path}' for {gpu}: {last}")
    return folder
