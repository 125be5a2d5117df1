"""A short run of the fuzzer of programs; `make fuzz` runs many more. The planted faults that it has to find, too."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import ckks
from fhelium_ir.testing.random_programs import Choices, Setting, make_program
from fhelium_ir.universe import make_context
from tests.fuzz_programs import checks
from tests.fuzz_programs.checks import CheckFailed, Effort, check_text
from tests.fuzz_programs.fuzz import Failure, fuzz, reduced, reproducer
from tests.lit_files import ROOT
from tests.planted_faults.__main__ import known_programs
from tests.planted_faults.faults import FAULTS
from tests.planted_faults.planting import edited, planted

SECONDS = 20.0


def test_random_programs_pass_every_check() -> None:
    report = fuzz("test", lambda number, seconds: seconds > SECONDS)
    assert [f"{f.name}: {f.message}" for f in report.failures] == []
    assert report.coverage.programs >= 3 and report.coverage.broken.total() >= 2


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_faults_can_be_planted_and_are_gone_afterwards(fault: object) -> None:
    assert fault in FAULTS
    chosen = FAULTS[FAULTS.index(fault)]  # type: ignore[arg-type]
    assert edited(chosen)
    with planted(chosen):
        pass


def test_a_planted_fault_changes_what_runs() -> None:
    fault = next(f for f in FAULTS if f.name == "a size that is not printed")
    type_ = ckks.CiphertextType(ckks.CiphertextFacts(1, None, 3))
    before = str(type_)
    with planted(fault):
        assert "size" not in str(type_)
    assert str(type_) == before and "size = 3" in before


def test_planted_faults_are_found() -> None:
    assert len(FAULTS) >= 20 and set(known_programs()) >= {fault.name for fault in FAULTS}
    done = subprocess.run(
        [sys.executable, "-m", "tests.planted_faults", "--known", "--jobs", "2", "--limit", "60"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_failure_is_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    def decrypt(self: object, runner: object) -> None:
        raise CheckFailed("decryption", "a fault of the test")

    monkeypatch.setattr(checks._Check, "_check_decryption", decrypt)  # type: ignore[attr-defined]
    program = make_program(Choices.seeded("shrink/1"))
    effort = Effort(targets=())
    with pytest.raises(CheckFailed):
        check_text(program.text, program.setting, effort)
    failure = Failure("shrink/1", "decryption", "m", program.text, program.setting, effort)
    small = reduced(failure)
    parse_module(make_context(), small.text, "small.mlir")
    assert small.text.count("ckks.") < program.text.count("ckks.")
    assert "// check: decryption" in reproducer(small)


def test_a_wrong_result_is_noticed() -> None:
    program = make_program(Choices.seeded("wrong/1"))
    wrong = [vector + 0.25 for vector in program.expected]
    with pytest.raises(CheckFailed, match="cleartext after"):
        check_text(program.text, program.setting, Effort(targets=()), program.inputs, wrong)


def test_a_setting_becomes_options(tmp_path: object) -> None:
    from pathlib import Path

    setting = Setting({"name": "d"}, "mont64", "top", "2", (1, -4))
    passes = checks.pipeline_of(setting, Path(str(tmp_path)))
    assert "compose-rotations{keys=1,-4}" in passes and 'ckks-manage{start="top"}' in passes
    assert passes.index("compose-rotations{keys=1,-4}") + 1 == passes.index(
        'ckks-manage{start="top"}'
    )
    assert any(spec.startswith("select-arithmetic{device=") and "mont64" in spec for spec in passes)
