"""The GPU benchmark without a GPU: its rows, its floors, what it counts, and what it stores of others."""

from __future__ import annotations

import argparse
import importlib
import json
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.universe import make_context
from tests.lit_files import ROOT

LOOP = """
resource.declare @rows_0 "rows" {{values = dense<[[7, 1], [9, 3]]> : tensor<2x2xi32>}} : memref<2x2xi32>
kernel.func @k(%rows : !kernel.buffer<i32>, %x : !kernel.buffer<i64>, %trips : i64) lanes [8] grid 2 {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %mod = zq.modulus %one, %one : i64 -> !zq.modulus<mont64>
  %row = kernel.program_id 1
  %start = arith.muli %row, %two : i64
  %place = arith.addi %start, %one : i64
  %number = kernel.load %{buffer}[%place] : !kernel.buffer<{word}> -> {word}
  {extend}
  %r = scf.for %i = %zero to %count step %one iter_args(%v = %two) -> (i64) : i64 {{
    %a = zq.mul %v, %v mod %mod : i64, !zq.modulus<mont64>
    %b = scf.for %j = %zero to %trips step %two iter_args(%w = %a) -> (i64) : i64 {{
      %c = zq.mul %w, %v mod %mod : i64, !zq.modulus<mont64>
      scf.yield %c : i64
    }}
    scf.yield %b : i64
  }}
  %lane = kernel.lane_id 0
  kernel.store %r, %x[%lane] : i64, !kernel.buffer<i64>
  kernel.return
}}
func.func @f(%x : memref<8xi64>) -> memref<8xi64> {{
  %rows = host.resource @rows_0 : memref<2x2xi32>
  %trips = arith.constant 5 : i64
  host.launch @k grid [4, 2](%rows, %x, %trips) : memref<2x2xi32>, memref<8xi64>, i64
  return %x : memref<8xi64>
}}
"""


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # pyright: ignore[reportUnknownMemberType]
    return importlib.import_module("bench_gpu")


def test_rows_are_the_stored_files(bench: ModuleType) -> None:
    rows = importlib.import_module("gpu_rows")
    for row in bench.all_rows():
        assert (rows.FOLDER / f"{row.name}.mlir").read_text() == row.text
    assert len(list(rows.FOLDER.glob("*.mlir"))) == len(bench.all_rows())


def test_products_of_loops(bench: ModuleType) -> None:
    """One and three turns of a product and three more, in four programs of eight lanes each."""
    text = LOOP.format(
        buffer="rows", word="i32", extend="%count = arith.extsi %number : i32 to i64"
    )
    module = parse_module(make_context(), text, "loop")
    assert bench.count_products(module) == {"mont64": (1 + 3) * (1 + 3) * 4 * 8}
    text = LOOP.format(buffer="x", word="i64", extend="%count = arith.addi %number, %zero : i64")
    module = parse_module(make_context(), text, "loop")
    with pytest.raises(FheliumError, match="from a buffer that is no table"):
        bench.count_products(module)


def test_products_of_a_transform(bench: ModuleType) -> None:
    """N/2 log2 N for each of 32 limbs of 8 polynomials."""
    (row,) = (row for row in bench.all_rows() if row.name == "transform-8x32-28")
    lowered = bench.kernel_stage(bench.polynomial_stage(row.text), "mont32", {})
    counted = bench.count_products(lowered)
    assert sum(counted.values()) == 8 * 32 * (1 << 15) * 16
    assert set(counted) <= {"mont32", "mont32_shoup"}


def test_the_floor_is_the_larger_time(bench: ModuleType) -> None:
    """4 MB at 4 TB/s are 1 us; 3e6 products at 1e12 per second are 3 us."""
    floor = bench.floor(6.0, 4_000_000, {"fp64": 3_000_000}, 4e12, {"fp64": 1e12})
    assert (floor["bytes_us"], floor["products_us"], floor["floor_us"]) == (1.0, 3.0, 3.0)
    assert floor["floor_by"] == "products" and floor["ratio_to_floor"] == 2.0
    floor = bench.floor(6.0, 4_000_000, {"fp64": 3_000_000}, 4e12, {"fp64": 1e13})
    assert floor["floor_by"] == "bytes" and floor["floor_us"] == 1.0
    assert bench.floor(6.0, 4_000_000, {"fp64": 3_000_000}, 4e12, {})["floor_by"] == "bytes"


def test_times_on_another_bandwidth_are_scaled(bench: ModuleType) -> None:
    assert bench.against_goal(50.0, 100.0, 4.1e12) == {"goal_us": 100.0, "ratio_to_goal": 0.5}
    scaled = bench.against_goal(50.0, 100.0, 2 * 4.07e12)
    assert scaled["scaled_us"] == 100.0 and scaled["ratio_to_goal"] == 1.0
    assert scaled["scaled_by"] == "2.000: a copy at 8.14 TB/s instead of 4.07"


def test_peers_are_printed_as_stored(bench: ModuleType) -> None:
    peers = bench.stored_peers()
    text = "\n".join(peers.describe())
    assert "Cheddar on NVIDIA H200: commit 8df8b26" in text and "log PQ 1771" in text
    assert set(peers.rows) <= {row.name for row in bench.all_rows()}
    assert all(set(row) <= set(peers.libraries) for row in peers.rows.values())
    assert peers.ratios("rescale-1390", 46.5) == {"FHElium 0.30": 3.42, "Cheddar": 2.0}
    assert peers.ratios("transform-1x32-49", 20.0) == {}


def test_options_reach_the_passes_that_have_them(bench: ModuleType) -> None:
    stages = importlib.import_module("gpu.stages")
    found = stages.pass_options(["form-fusion-regions=window=9"], "cuda", "t.json")
    assert found["select-arithmetic"] == 'device="cuda"'
    assert found["form-fusion-regions"] == 'device="cuda" window=9'
    assert found["tune-ntt-schedules"] == 'device="cuda" table="t.json"'
    assert set(found) <= set(bench.PASSES) and "track-montgomery" not in found
    assert stages.pass_options([]) == {}


def test_a_row_is_timed_with_and_without_fusion(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a device that computes nothing: a time for each launch, and results that are all zero."""
    launched: list[int] = []

    def measure(lowered: object, parameters: object, inputs: object) -> object:
        count = sum(op.name == "host.launch" for op in lowered.walk())  # type: ignore[attr-defined]
        launched.append(count)
        executable = argparse.Namespace(resources={"relinearization_key": torch.zeros(1000)})
        outputs = (torch.zeros(500, dtype=torch.int64),)
        times = bench.Times(10.0 * count, 10.5 * count, 11.0 * count)
        return bench.Measured(executable, (), outputs, None, times, count, 1, 2, 0.1)

    monkeypatch.setattr(bench, "measure", measure)
    (row,) = (row for row in bench.all_rows() if row.name == "multiply-100")
    options = argparse.Namespace(passes=[], arithmetic=None)
    kinds = ("fusion", "key_product", "merge")
    timed = bench.run_row(row, 4e12, options, None, {"fp64": 1e12}, kinds)
    result = timed.result
    assert timed.compare() is None and capsys.readouterr().out.startswith('{"row": "multiply-100"')
    base, fusion, key_product, merge = launched
    assert base < key_product < fusion and base < merge
    assert set(result["unfused"]) == set(kinds)
    assert result["unfused"]["fusion"]["us"] == 10.0 * fusion
    assert result["unfused"]["fusion"]["different"] == 0
    assert "different" not in result["unfused"]["merge"]
    assert result["warm_us"] == 10.0 * base and result["timed"] == "warm"
    assert result["replay_us"] == 10.5 * base and result["cold_us"] == 11.0 * base
    assert result["moved_mb"] == round((4000 + 4000) / 1e6, 1)
    assert not bench.different(result)
    assert bench.different({**result, "unfused": {"fusion": {"different": 3}}})
    head, rule, line = bench.table_lines([result, {"row": "failed", "error": "it"}])
    assert head.count("|") == rule.count("|") == line.count("|")
    assert line.startswith(f"| multiply-100 | {10.0 * base} | {11.0 * base} | ")
    assert f"| {10.0 * fusion} | {10.0 * merge} | Cheddar " in line


def test_rows_are_profiled_after_the_last_one_is_timed(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A profiler slows what comes after it down."""
    done: list[str] = []

    class Machine:
        current_card = staticmethod(lambda: None)

        @staticmethod
        def measure(card: None) -> argparse.Namespace:
            shown = argparse.Namespace(name="card", driver="1")
            rates: dict[str, float] = {}
            return argparse.Namespace(
                rates=rates, products_s=rates, copy_bytes_s=4e12, card=shown, launch_s=1e-6
            )

    monkeypatch.setattr(bench, "machine", Machine)
    expected: Future[list[np.ndarray]] = Future()
    expected.set_result([np.array([1, 2, 3])])

    def run_row(row: object, *rest: object) -> object:
        done.append("timed")
        measured = argparse.Namespace(graph=len(done))
        shown = ("warm_us", "cold_us", "floor_us", "floor_by", "launches", "row")
        result: dict[str, object] = {**dict.fromkeys(shown, 1), "ratio_to_peers": {}}
        return bench.Timed(result, expected, [np.array([1, 5, 3])], measured)

    def kernel_times(graph: int) -> dict[str, float]:
        done.append(f"profiled {graph}")
        return {"forward_0": 1.0}

    monkeypatch.setattr(bench, "run_row", run_row)
    monkeypatch.setattr(bench, "kernel_times", kernel_times)
    names = ["transform-1x32-28", "transform-1x32-49"]
    out = tmp_path / "out.json"
    monkeypatch.setattr(
        "sys.argv", ["bench_gpu.py", "--kernels", "--out", str(out), "--rows", *names]
    )
    assert bench.main() == 1, "one residue differs"
    assert done == ["timed", "timed", "profiled 1", "profiled 2"]
    rows = json.loads(out.read_text())["rows"]
    assert [(row["different"], row["kernels_us"]) for row in rows] == [(1, {"forward_0": 1.0})] * 2


def test_fusion_that_does_not_act_is_not_listed(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    (row,) = (row for row in bench.all_rows() if row.name == "times-plaintext-1390")
    lowered = bench.lower(bench.polynomial_stage(row.text), None, {})
    options = argparse.Namespace(passes=[], arithmetic=None)
    monkeypatch.setattr(bench, "measure", None)
    for kind in bench.KINDS:
        assert bench.run_unfused(kind, row, row.text, lowered, {}, None, options) is None
