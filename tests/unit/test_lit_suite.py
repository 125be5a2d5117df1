"""Runs each lit test as one test of its own: lit itself executes the RUN lines, in this process."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import lit.discovery
import lit.LitConfig
import lit.Test
import pytest

from tests.lit_files import ROOT, lit_files, lit_name

TIMEOUT_S = 300


@cache
def lit_config() -> lit.LitConfig.LitConfig:
    """A lit run with default options."""
    return lit.LitConfig.LitConfig(
        progname="lit",
        path=[],
        diagnostic_level="warning",
        useValgrind=False,
        valgrindLeakCheck=False,
        valgrindArgs=[],
        noExecute=False,
        debug=False,
        isWindows=False,
        order="smart",
        params={},
        maxIndividualTestTime=TIMEOUT_S,
    )


def run_lit_test(path: Path) -> lit.Test.Result:
    """Run one lit test file."""
    tests = lit.discovery.find_tests_for_inputs(lit_config(), [str(path)])
    assert len(tests) == 1, f"lit finds {len(tests)} tests in {path}"
    test = tests[0]
    test.setResult(test.config.test_format.execute(test, lit_config()))
    return test.result


@pytest.mark.parametrize("path", [pytest.param(path, id=lit_name(path)) for path in lit_files()])
def test_lit(path: Path) -> None:
    result = run_lit_test(path)
    if result.code in (lit.Test.UNSUPPORTED, lit.Test.SKIPPED):
        pytest.skip(result.output or "unsupported here")
    if result.code.isFailure:
        pytest.fail(f"lit: {result.code.name}\n{result.output}", pytrace=False)


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
    assert run_lit_test(right).code.name == "PASS"
    result = run_lit_test(wrong)
    assert result.code.name == "FAIL"
    assert "wrong.mlir:3" in result.output and "@absent" in result.output
