"""lit files as pytest items: one command runs and counts all tests.

from fhelium_ir.testing.items import lit_tests

test_lit = lit_tests(Path(__file__).parent / "lit")
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import lit.discovery
import lit.LitConfig
import lit.Test
import pytest

TIMEOUT_S = 300


@cache
def _lit_config() -> lit.LitConfig.LitConfig:
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


def lit_files(folder: Path) -> list[Path]:
    """The `.mlir` files below a folder, sorted; those in folders named Inputs are data."""
    files = folder.rglob("*.mlir")
    return sorted(file for file in files if "Inputs" not in file.relative_to(folder).parts)


def run_lit_file(path: Path) -> lit.Test.Result:
    """Run one lit test file, in this process, with the nearest `lit.cfg.py` above it."""
    tests = lit.discovery.find_tests_for_inputs(_lit_config(), [str(path)])
    if len(tests) != 1:
        raise ValueError(f"lit finds {len(tests)} tests in {path}")
    test = tests[0]
    test.setResult(test.config.test_format.execute(test, _lit_config()))
    return test.result


def lit_tests(folder: Path) -> Callable[[Path], None]:
    """A parametrized pytest function with one item for each lit file below a folder.

    Assign it to a name that begins with `test`. A test that lit calls unsupported is skipped.
    """
    parameters = [
        pytest.param(path, id=path.relative_to(folder).as_posix()) for path in lit_files(folder)
    ]

    @pytest.mark.parametrize("lit_file", parameters)
    def run(lit_file: Path) -> None:
        result = run_lit_file(lit_file)
        if result.code in (lit.Test.UNSUPPORTED, lit.Test.SKIPPED):
            pytest.skip(result.output or "unsupported here")
        if result.code.isFailure:
            pytest.fail(f"lit: {result.code.name}\n{result.output}", pytrace=False)

    return run
