"""A missing compiler of one target: one clear message, and the other targets work."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

RUN = """
import sys
sys.modules[{package!r}] = None
from fhelium_ir.tools.{tool} import main
sys.exit(main({words!r}))
"""


def run_without(package: str, tool: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a process in which a package cannot be imported."""
    code = RUN.format(package=package, tool=tool, words=list(words))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=120
    )


def run_example(package: str, target: str) -> subprocess.CompletedProcess[str]:
    words = ("docs/examples/neighbours.mlir", "--target", target, "--seed", "1")
    return run_without(package, "fhelium_run", *words)


def test_cpu_without_triton() -> None:
    found = run_example("triton", "cpu")
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    ("package", "target"), [("llvmlite", "cpu"), ("triton", "triton-interpret")]
)
def test_one_message(package: str, target: str) -> None:
    found = run_example(package, target)
    assert found.returncode == 1
    (line,) = [line for line in found.stderr.splitlines() if line.startswith("error:")]
    assert line.startswith(f"error: target '{target}' needs the package '{package}'")
    assert "Traceback" not in found.stderr


def test_compiling_for_a_processor_elsewhere(tmp_path: Path) -> None:
    """Nothing is compiled to machine code, and nothing can be measured."""
    words = (
        "compile",
        "docs/examples/neighbours.mlir",
        "-o",
        str(tmp_path / "p"),
        "--target",
        "cpu",
    )
    found = run_without("llvmlite", "fhelium_run", *words)
    assert found.returncode == 0, found.stderr
    assert json.loads((tmp_path / "p" / "interface.json").read_text())["server"]["device"] == "cpu"


def test_printing_without_llvmlite() -> None:
    found = run_without("llvmlite", "fhelium_opt", "docs/examples/neighbours.mlir", "-t", "llvm")
    assert found.returncode == 1
    assert "error: target 'llvm' is not available: no module named 'llvmlite'" in found.stderr
