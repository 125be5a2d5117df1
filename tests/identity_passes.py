"""Replaces passes of the default pipeline by the identity and shows that lit tests notice.

`python -m tests.identity_passes [PASS ...]` prints, for each pass, the lit test that fails without it;
the exit code is 1 if there is a pass that no test misses. The product knows nothing of this: lit runs
the tests with a tool of this file in the place of `fhelium-opt`.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from unittest.mock import patch

import lit.discovery
import lit.LitConfig
import lit.Test
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from fhelium_ir import universe
from fhelium_ir.tools import fhelium_opt
from tests.lit_files import lit_files, lit_name, run_lines

PASSES = universe.PIPELINES[universe.DEFAULT_PIPELINE]

TOOL = "--tool"
NONE = "none"
"""In the place of a pass: the tool as it is."""

MOST_FILES = 4
"""Tests to try for a pass; the first should notice."""

TIMEOUT_S = 60


def do_nothing(module_pass: ModulePass, ctx: Context, op: ModuleOp) -> None:
    """The identity in the place of `ModulePass.apply`."""


def run_tool(pass_name: str, arguments: list[str]) -> int:
    """`fhelium-opt` with one pass that does nothing."""
    if pass_name == NONE:
        return fhelium_opt.main(arguments)
    with patch.object(universe.load_pass(pass_name), "apply", do_nothing):
        return fhelium_opt.main(arguments)


def tests_of(pass_name: str) -> list[Path]:
    """The lit tests that name a pass: those named after it first, tests of error messages last, short before long."""
    word = re.compile(rf"(?<![\w-]){re.escape(pass_name)}(?![\w-])")
    prefix = pass_name.replace("-", "_")
    found: list[tuple[bool, bool, int, Path]] = []
    for path in lit_files():
        text = path.read_text()
        if any(word.search(command) for command in run_lines(text)):
            stem = path.stem
            found.append((not stem.startswith(prefix), "error" in stem, len(text), path))
    return [path for *_, path in sorted(found)]


def run_without(pass_name: str, path: Path) -> lit.Test.Result:
    """One lit test, with `fhelium-opt` replaced by the tool of this file."""
    config = lit.LitConfig.LitConfig(
        progname="identity_passes",
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
    (test,) = lit.discovery.find_tests_for_inputs(config, [str(path)])
    tool = f"{sys.executable} -m tests.identity_passes {TOOL} {pass_name}"
    # lit applies the substitutions in order: this one leaves nothing for those behind it.
    test.config.substitutions.insert(0, (r"(?<![\w/.-])fhelium-opt(?![\w.-])", tool))
    # The files that the test writes stay apart from those of the test as it is.
    test.suite.exec_root = os.path.join(test.suite.exec_root, f"without-{pass_name}")
    test.setResult(test.config.test_format.execute(test, config))
    return test.result


def missed_by(pass_name: str) -> Path | None:
    """A lit test that fails without the pass, None if there is none."""
    for path in tests_of(pass_name)[:MOST_FILES]:
        if run_without(pass_name, path).code.isFailure:
            return path
    return None


def main(arguments: list[str]) -> int:
    """Runs the check, or the tool that lit calls."""
    if arguments[:1] == [TOOL]:
        return run_tool(arguments[1], arguments[2:])
    failed = False
    for pass_name in arguments or PASSES:
        path = missed_by(pass_name)
        failed |= path is None
        print(f"{pass_name}: {'NOT MISSED' if path is None else lit_name(path)}", flush=True)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
