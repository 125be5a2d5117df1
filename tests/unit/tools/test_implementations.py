"""The options that choose implementations, and the export, through the command-line tools."""

from __future__ import annotations

from pathlib import Path

import pytest

from fhelium_ir.backend.registry import active_registry
from fhelium_ir.tools import fhelium_run
from fhelium_ir.tools.implementations import implementations
from tests.lit_files import ROOT
from tests.unit.backend.programs import PRODUCT

EXAMPLE = ROOT / "examples" / "implementations" / "exact_rns.py"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "product.mlir"
    path.write_text(PRODUCT)
    return path


def run(capsys: pytest.CaptureFixture[str], source: Path, *options: str) -> tuple[int, str, str]:
    code = fhelium_run.main([str(source), "--target", "interpret", "--seed", "1", *options])
    out, err = capsys.readouterr()
    return code, out, err


def test_an_empty_registry(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, source, "--no-default-implementations")
    assert code == 1
    assert f"{source}:" in err and "error: form-fusion-regions: no implementation executes" in err


def test_implementations_of_a_file_take_part(
    source: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, source, "--load-implementation", str(EXAMPLE))
    assert code == 0, err
    assert "largest error" in out


def test_an_export_is_written(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "exported.py"
    code, _, err = run(capsys, source, "--export", str(path))
    assert code == 0, err
    assert {found.suffix for found in tmp_path.glob("exported.*")} == {
        ".py",
        ".safetensors",
        ".json",
    }
    code, _, err = run(capsys, source, "--export", str(tmp_path / "exported.txt"))
    assert code == 1 and "must be a Python file" in err


def test_the_reference_has_no_export(source: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = fhelium_run.main([str(source), "--target", "reference", "--export", "x.py"])
    assert code == 1
    assert "--export needs a target with kernels" in capsys.readouterr().err


def test_the_choice_ends_with_the_tool() -> None:
    before = active_registry()
    with implementations([str(EXAMPLE)], False):
        assert active_registry() is not before
        assert active_registry().get("exact-multiply")
    assert active_registry() is before
    with implementations([], False):
        assert active_registry() is before
