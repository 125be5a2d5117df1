"""Three lines of lit.cfg.py are a lit set-up, and one line runs its files under pytest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fhelium_ir.testing import has_cuda
from fhelium_ir.testing.items import lit_files, run_lit_file
from tests.lit_files import ROOT

CONFIG = "from fhelium_ir.testing import configure\n\nconfigure(config, __file__)\n"
PROGRAM = "func.func private @present() -> ()\n"

TESTS = {
    "pass.mlir": "// RUN: fhelium-opt %s | filecheck %s\n// CHECK: @present\n",
    "fail.mlir": "// RUN: fhelium-opt %s | filecheck %s\n// CHECK: @absent\n",
    "python.mlir": (
        "// RUN: %python -c 'import fhelium_ir, sys; print(sys.executable)' > %t\n"
        f"// RUN: grep -qx {sys.executable} %t\n// RUN: test -f %root/lit.cfg.py\n"
    ),
    "nested/tool.mlir": "// RUN: fhelium-opt %s --list-targets | grep -qx mlir\n",
    "cuda.mlir": "// REQUIRES: cuda\n// RUN: true\n",
    "needs.mlir": "// REQUIRES: no-such-feature\n// RUN: false\n",
    "nested/Inputs/data.mlir": "// RUN: false\n",
}


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "lit.cfg.py").write_text(CONFIG)
    for name, text in TESTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text + PROGRAM)
    return tmp_path


@pytest.mark.parametrize(
    "name, code",
    [
        ("pass.mlir", "PASS"),
        ("fail.mlir", "FAIL"),
        ("python.mlir", "PASS"),
        ("nested/tool.mlir", "PASS"),
        ("cuda.mlir", "PASS" if has_cuda() else "UNSUPPORTED"),
        ("needs.mlir", "UNSUPPORTED"),
    ],
)
def test_a_suite_of_three_lines(suite: Path, name: str, code: str) -> None:
    result = run_lit_file(suite / name)
    assert result.code.name == code, result.output


def test_inputs_are_no_tests(suite: Path) -> None:
    names = [path.relative_to(suite).as_posix() for path in lit_files(suite)]
    assert names == sorted(name for name in TESTS if "Inputs" not in name)


def test_the_feature_depends_on_the_visible_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert not has_cuda()


def test_one_item_per_file(suite: Path) -> None:
    (suite / "test_suite.py").write_text(
        "from pathlib import Path\nfrom fhelium_ir.testing.items import lit_tests\n"
        "test_lit = lit_tests(Path(__file__).parent)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_suite.py"],
        cwd=suite,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 1
    for line in ("test_lit[pass.mlir] PASSED", "test_lit[nested/tool.mlir] PASSED"):
        assert line in result.stdout
    assert "test_lit[fail.mlir] FAILED" in result.stdout
    assert "test_lit[needs.mlir] SKIPPED" in result.stdout
    assert "1 failed, 3 passed, 2 skipped" in result.stdout
    assert "@absent" in result.stdout
