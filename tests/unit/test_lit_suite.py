"""Each lit test is a test of its own: lit itself executes the RUN lines, in this process."""

from __future__ import annotations

from pathlib import Path

from fhelium_ir.testing.items import lit_tests, run_lit_file
from tests.lit_files import LIT_ROOT, ROOT

test_lit = lit_tests(LIT_ROOT)


def test_the_wrapper_reports_failures(tmp_path: Path) -> None:
    (tmp_path / "lit.cfg.py").write_text(
        f"path = {str(ROOT / 'lit.cfg.py')!r}\n"
        "exec(open(path).read(), {'config': config, '__file__': path})\n"
        f"config.test_source_root = config.test_exec_root = {str(tmp_path)!r}\n"
    )
    program = "// RUN: fhelium-opt %s | filecheck %s\nfunc.func private @present() -> ()\n"
    right, wrong = tmp_path / "right.mlir", tmp_path / "wrong.mlir"
    right.write_text(f"{program}// CHECK: func.func private @present\n")
    wrong.write_text(f"{program}// CHECK: func.func private @absent\n")
    assert run_lit_file(right).code.name == "PASS"
    result = run_lit_file(wrong)
    assert result.code.name == "FAIL"
    assert "wrong.mlir:3" in result.output and "@absent" in result.output
