"""The drawing of a stored run."""

from __future__ import annotations

import importlib
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType

import pytest

from tests.lit_files import ROOT

STORED = ROOT / "benchmarks" / "results" / "bench_gpu_h200.json"
RUN = {
    "device": "a <card>",
    "commit": "0123456789abcdef",
    "bandwidth_tb_s": 2.0,
    "products_s": {"fp64": 1e12, "mont32": 4e12},
    "rows": [
        {
            "row": "slow",
            "warm_us": 10.0,
            "cold_us": 20.0,
            "moved_mb": 10.0,
            "products": {"fp64": 10**6},
        },
        {
            "row": "cold",
            "warm_us": 10.0,
            "cold_us": 20.0,
            "timed": "cold",
            "moved_mb": 1.0,
            "products": {"fp64": 10**6, "mont32": 10**5},
        },
        {"row": "failed", "error": "it"},
    ],
}


@pytest.fixture
def roofline(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))  # pyright: ignore[reportUnknownMemberType]
    return importlib.import_module("roofline")


def no_count(row: str) -> dict[str, int]:
    raise AssertionError(f"{row} is stored with its products")


def ten_million(row: str) -> dict[str, int]:
    return {"fp64": 10**7}


def test_points(roofline: ModuleType) -> None:
    slow, cold = roofline.points(RUN, no_count)
    assert (slow.row, slow.intensity, slow.rate) == ("slow", 0.1, pytest.approx(1e11))
    assert (cold.row, cold.intensity, cold.rate) == ("cold", 1.1, pytest.approx(5.5e10))
    assert slow.arithmetic == cold.arithmetic == "fp64"
    limits = roofline.roofs(RUN, [slow, cold])
    assert limits.bandwidth == 2e12 and limits.rates == {"fp64": 1e12}


def test_the_axes_are_logarithmic(roofline: ModuleType) -> None:
    axes = roofline.Axes((0.1, 10.0), (1e10, 1e12))
    left, bottom = axes.at(0.1, 1e10)
    right, top = axes.at(10.0, 1e12)
    assert axes.at(1.0, 1e11) == (
        pytest.approx((left + right) / 2),
        pytest.approx((top + bottom) / 2),
    )
    assert left < right and top < bottom


def test_the_drawing_has_all_points_and_roofs(roofline: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    out = tmp_path / "run.svg"
    assert roofline.main([str(tmp_path / "run.json"), "--out", str(out)]) == 0
    root = ElementTree.fromstring(out.read_text())
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    circles = [e for e in root if e.tag.endswith("circle")]
    assert len(circles) == 2
    for circle in circles:
        assert 0 < float(circle.attrib["cx"]) < width and 0 < float(circle.attrib["cy"]) < height
    texts = [e.text for e in root if e.tag.endswith("text")]
    assert "a <card>, commit 012345678" in texts
    assert "copy 2.00 TB/s" in texts and "fp64 1.00e12/s" in texts
    # The slope ends where the roof begins: at half a product per byte.
    thick = [e.attrib for e in root if e.attrib.get("stroke-width") == "2"]
    slope, roof = thick
    assert (slope["x2"], slope["y2"]) == (roof["x1"], roof["y1"])


def test_the_stored_run_is_drawn(roofline: ModuleType) -> None:
    data = roofline.read_results(STORED)
    found = roofline.points(data, ten_million)
    assert len(found) == len(data["rows"])
    text = roofline.svg_text("title", found, roofline.roofs(data, found))
    assert text.count("<circle") == len(found)


def test_products_are_counted_where_they_are_not_stored(roofline: ModuleType) -> None:
    """Half of 16 stages of 65536 words in 32 limbs; a few more where factors are computed."""
    (count,) = roofline.count_in_kernels("transform-1x32-49").values()
    assert 32 * 8 * 65536 <= count < 32 * 12 * 65536


def test_what_is_no_run(
    roofline: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "x.json"
    for text, message in (
        ("{", "is not JSON"),
        ("[]", "is no stored run"),
        ('{"rows": []}', "is no stored run"),
        (json.dumps({**RUN, "rows": []}), "no row of the run has products and a time"),
    ):
        path.write_text(text)
        assert roofline.main([str(path)]) == 1
        assert message in capsys.readouterr().err
    assert roofline.main([str(tmp_path / "none.json")]) == 1
    assert "cannot read" in capsys.readouterr().err
