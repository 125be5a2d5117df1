"""`xdsl-opt` knows this project's dialects and passes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from xdsl.universe import XDSL_UNIVERSE

from fhelium_ir import universe
from fhelium_ir.tools.xdsl_universe import FHELIUM_UNIVERSE
from tests.lit_files import ROOT

PROGRAM = """\
func.func @f(%x : !ckks.ciphertext<level = 1>) -> !ckks.ciphertext<level = 1> {
  %r = ckks.negate %x : !ckks.ciphertext<level = 1>
  return %r : !ckks.ciphertext<level = 1>
}
"""


def test_no_name_is_registered_twice() -> None:
    assert not set(FHELIUM_UNIVERSE.all_dialects) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(FHELIUM_UNIVERSE.all_passes) & set(XDSL_UNIVERSE.all_passes)


def test_everything_of_this_project_is_there() -> None:
    default = universe.PIPELINES[universe.DEFAULT_PIPELINE]
    assert set(default) <= set(FHELIUM_UNIVERSE.all_passes)
    assert {"ckks", "rns", "kernel", "host"} <= set(FHELIUM_UNIVERSE.all_dialects)
    for name, load in FHELIUM_UNIVERSE.all_passes.items():
        if universe.is_available(universe.PASSES[name]):
            assert load().name == name
    for name, load_dialect in FHELIUM_UNIVERSE.all_dialects.items():
        assert load_dialect().name == name


def test_xdsl_opt_runs_a_pass(tmp_path: Path) -> None:
    """With an entry point like the one that an installed fhelium-ir has."""
    info = tmp_path / "fhelium_ir-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: fhelium-ir\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[xdsl.universe]\nfhelium-ir = fhelium_ir.tools.xdsl_universe:FHELIUM_UNIVERSE\n"
    )
    file = tmp_path / "p.mlir"
    file.write_text(PROGRAM)
    result = subprocess.run(
        [sys.executable, "-m", "xdsl.tools.xdsl_opt", str(file), "-p", "place-domains"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "%r = ckks.negate %x : !ckks.ciphertext<level = 1, scale = ?>" in result.stdout
