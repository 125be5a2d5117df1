"""The compile-time benchmark: its program is legal, its numbers mean what they say."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    path = ROOT / "benchmarks" / "bench_compile.py"
    spec = importlib.util.spec_from_file_location("bench_compile", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("ops", [100, 1000])
def test_a_program_has_the_number_of_ops_it_says(bench: ModuleType, ops: int) -> None:
    module = parse_module(make_context(), bench.program(ops))
    found = sum(op.name.startswith("ckks.") for op in module.walk())
    assert abs(found - ops) <= 9


def test_the_exponent_is_the_slope(bench: ModuleType) -> None:
    assert bench.exponent({n: 3e-6 * n**2 for n in (100, 1000, 10000)}) == pytest.approx(2)
    assert bench.exponent({n: 5e-4 * n for n in (10, 100)}) == pytest.approx(1)


def test_what_grows_too_fast_is_reported(
    bench: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    last = f"verify after {bench.LAST_PROGRAM_PASS}"
    results = {n: {"parse": n * 1e-3, "slow": n**2 * 1e-6, last: n * 1e-3} for n in (100, 1000)}
    wrong = bench.report(results)
    assert wrong[0] == "slow grows with exponent 2.00"
    out = capsys.readouterr().out
    assert "program stage (parse, verify, passes to ckks-check): 3.00 s" in out


def test_the_program_stage_is_measured(bench: ModuleType) -> None:
    seconds, facts = bench.measure(60, everything=False)
    assert facts == {}
    assert seconds["parse"] > 0 and f"verify after {bench.LAST_PROGRAM_PASS}" in seconds
    assert bench.program_stage_seconds(seconds) < bench.PROGRAM_STAGE_S
