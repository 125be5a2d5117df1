"""Exported programs: files that run without this library and give the same bits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save

from fhelium_ir.backend.execution import BackendWorkspace, OperationBackend, ProgramExecutable
from fhelium_ir.compiler.errors import FheliumError
from tests.lit_files import ROOT
from tests.unit.backend.programs import Case, case

BLOCKED = "fhelium_ir xdsl safetensors llvmlite gmpy2 cryptography rich"
"""Packages that the file must not need; torch itself needs networkx."""

RUNNER = f"""
import runpy, sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {BLOCKED.split()!r}:
            raise ImportError(f"{{name}} is blocked")
sys.meta_path.insert(0, Block())
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def link(one: Case) -> ProgramExecutable:
    backend = OperationBackend(workspace=BackendWorkspace(one.program.target))
    return backend.link(one.compilation())


def run_alone(
    path: Path, *arguments: object, triton: str = "1"
) -> subprocess.CompletedProcess[str]:
    """Runs a file in a Python that ignores the environment and cannot import this library."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(path.parent), "TRITON_INTERPRET": triton}
    return subprocess.run(
        [sys.executable, "-I", "-c", RUNNER, str(path), *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        cwd=path.parent,
        check=False,
    )


@pytest.mark.parametrize("name", ["dot_product", "polynomial", "matvec"])
def test_an_exported_example_gives_the_same_bits(name: str, tmp_path: Path) -> None:
    text = (ROOT / "examples" / f"{name}.mlir").read_text()
    one = case("triton-interpret", text, 16)
    program = link(one)
    written = program.export(tmp_path / f"{name}.py")
    assert sorted(path.suffix for path in written) == [".json", ".py", ".safetensors"]
    manifest = json.loads((tmp_path / f"{name}.json").read_text())
    assert manifest == json.loads(json.dumps(dict(program.manifest)))
    named = {spec.name: x for spec, x in zip(program.arguments, one.inputs, strict=True)}
    (tmp_path / "inputs.safetensors").write_bytes(save(named))
    result = run_alone(tmp_path / f"{name}.py", "inputs.safetensors", "outputs.safetensors")
    assert result.returncode == 0, result.stderr
    found = load((tmp_path / "outputs.safetensors").read_bytes())
    want = program.executable.run(*one.inputs)
    assert len(found) == len(want)
    for index, tensor in enumerate(want):
        assert torch.equal(found[f"result{index}"], tensor)


def test_errors_of_an_exported_file(tmp_path: Path) -> None:
    link(case("triton-interpret")).export(tmp_path / "p.py")
    assert run_alone(tmp_path / "p.py").returncode == 1
    (tmp_path / "in.safetensors").write_bytes(save({"x": case().inputs[0]}))
    result = run_alone(tmp_path / "p.py", "in.safetensors", "out.safetensors")
    assert result.returncode == 1
    assert result.stderr == "error: inputs are missing: y\n"
    (tmp_path / "in.safetensors").write_bytes(
        save({"x": case().inputs[0], "y": case().inputs[1].to(torch.int32)})
    )
    result = run_alone(tmp_path / "p.py", "in.safetensors", "out.safetensors")
    assert "input 'y' must be int64 of shape (2, 2, 16) on cpu" in result.stderr


def test_kernels_can_be_compiled_for_a_gpu_that_is_not_there(tmp_path: Path) -> None:
    program = link(case("triton-interpret"))
    written = program.export(tmp_path / "p.py", gpus=[("cuda", 90, 32)])
    assert written[-1] == tmp_path / "p.triton"
    binaries = list((tmp_path / "p.triton").rglob("*.cubin"))
    assert len(binaries) == len(program.program.kernel_functions)
    with pytest.raises(FheliumError, match=r"triton cannot compile .* for \('absent', 1, 32\)"):
        program.export(tmp_path / "p.py", gpus=[("absent", 1, 32)])


def test_bad_paths(tmp_path: Path) -> None:
    program = link(case("triton-interpret"))
    with pytest.raises(FheliumError, match="must be a Python file, found"):
        program.export(tmp_path / "p.txt")
    with pytest.raises(FheliumError, match=r"cannot write .*: No such file or directory"):
        program.export(tmp_path / "absent" / "p.py")
