"""A few hundred mutated texts; `make fuzz-text` runs many more."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from fhelium_ir.tools import fhelium_opt
from tests import fuzz_text

COUNT = 500


def test_mutated_texts_end_with_exit_code_0_or_1() -> None:
    report = fuzz_text.fuzz(COUNT, seed=7)
    assert [wrong for wrong, _, _ in report.failures] == []
    assert sum(report.codes.values()) == COUNT
    assert report.codes[1] > COUNT // 4 and report.codes[0] > COUNT // 20


def test_the_same_seed_gives_the_same_inputs() -> None:
    texts = fuzz_text.corpus()
    one, two = random.Random(3), random.Random(3)
    for _ in range(20):
        assert fuzz_text.make_input(texts, one) == fuzz_text.make_input(texts, two)


@pytest.mark.parametrize("kind", ["raises", "hangs", "code", "silent"])
def test_a_tool_that_misbehaves_is_found(
    kind: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def main(argv: list[str]) -> int:
        if kind == "raises":
            raise KeyError("limb")
        while kind == "hangs":
            pass
        return 2 if kind == "code" else 1

    monkeypatch.setattr(fhelium_opt, "main", main)
    monkeypatch.setattr(fuzz_text, "LIMIT_S", 0.2)
    assert fuzz_text.problem(tmp_path / "x.mlir", [], fuzz_text.Report()) is not None
