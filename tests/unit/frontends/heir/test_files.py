"""`fhelium-run` by files on programs from HEIR: the client has the tensors, and of the program its interface only."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from fhelium_ir.tools import fhelium_run
from tests.unit.frontends.heir.running import EXAMPLES

Run = Callable[..., str]
"""Takes a command and its exit code; gives what it prints, on either stream."""

X = [[0.0, 0.25, 0.5, 0.75]] * 4
OUTSIDE = [[0.0, 0.25, 0.5, 1.75]] * 4


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """The client works in a folder of its own, which has no program but `interface.json`."""
    monkeypatch.chdir(tmp_path)

    def command(text: str, code: int = 0) -> str:
        found = fhelium_run.main(text.split())
        out, err = capsys.readouterr()
        assert found == code, out + err
        return out + err

    return command


def prepare(run: Run, name: str, release: str, ring_degree: int) -> str:
    """Compiles an example, and makes keys; gives what compilation prints."""
    file = EXAMPLES / release / f"{name}.mlir"
    out = run(f"compile -f heir {file} -o d --target interpret --ring-degree {ring_degree}")
    Path("d/interface.json").rename("i.json")
    run("keygen i.json --secret S --public E")
    return out


def serve(run: Run, options: str = "", code: int = 0, target: str = "reference") -> str:
    """The server has the program, the ciphertexts and the public keys."""
    Path("d/interface.json").write_bytes(Path("i.json").read_bytes())
    out = run(f"run d --keys E --inputs ct -o out --target {target} {options}", code)
    Path("d/interface.json").unlink()
    return out


def write(name: str, content: object) -> None:
    Path(name).write_text(json.dumps(content), encoding="utf-8")


def results() -> dict[str, object]:
    return json.loads(Path("r.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("release", ["2026.9.1", "2026.11.1"])
def test_tensors_in_tensors_out(run: Run, release: str) -> None:
    out = prepare(run, "box_blur", release, 32)
    assert "input arg0: 4x4 numbers up to 1, encrypted\n" in out
    assert "zero" not in out
    write("in.json", {"arg0": X})
    assert "encrypted inputs (arg0): ct" in run("encrypt i.json --key E --inputs in.json -o ct")
    serve(run, target="interpret" if release == "2026.9.1" else "cpu")
    out = run("decrypt i.json --secret S --inputs out")
    assert "result 0, 3x3" in out and "0, 1    │ 0.37500" in out and "9 elements" in out
    run("decrypt i.json --secret S --inputs out -o r.json")
    found = np.array(results()["result0"])
    assert found.shape == (3, 3)
    assert np.abs(found - [[0.125, 0.375, 0.625]] * 3).max() < 1e-5


def test_one_number_and_two_matrices(run: Run) -> None:
    generator = np.random.default_rng(2)
    x, y = generator.uniform(-1, 1, (3, 5)), generator.uniform(-1, 1, (5, 2))
    prepare(run, "matmul", "2026.11.1", 64)
    write("in.json", {"arg1": y.tolist(), "arg0": x.tolist()})
    run("encrypt i.json --key E --inputs in.json -o ct")
    serve(run)
    run("decrypt i.json --secret S --inputs out -o r.json")
    assert np.abs(np.array(results()["result0"]) - x @ y).max() < 1e-5


def test_a_result_that_is_one_number(run: Run) -> None:
    prepare(run, "distance", "2026.11.1", 32)
    write("in.json", {"arg0": [0.5] * 16, "arg1": [0.25] * 16})
    run("encrypt i.json --key E --inputs in.json -o ct")
    serve(run)
    run("decrypt i.json --secret S --inputs out -o r.json")
    found = results()["result0"]
    assert isinstance(found, float) and abs(found - 1) < 1e-5


def test_arguments_that_are_not_secret_are_the_servers(run: Run) -> None:
    w, x, y = (np.linspace(-1, 1, 8) * factor for factor in (1.0, 0.5, 0.25))
    out = prepare(run, "weighing", "2026.11.1", 16)
    assert "input arg0: 8 numbers up to 1, plaintext" in out
    write("secret.json", {"arg1": x.tolist(), "arg2": y.tolist()})
    write("public.json", {"arg0": w.tolist()})
    write("all.json", {"arg0": w.tolist(), "arg1": x.tolist(), "arg2": y.tolist()})
    write("short.json", {"arg0": w.tolist()[:7]})
    out = run("encrypt i.json --key E --inputs all.json -o ct", code=1)
    assert "'all.json': input 'arg0' is given to the server, it does not belong here" in out
    run("encrypt i.json --key E --inputs secret.json -o ct")
    assert "the program takes inputs in plain (arg0): give --plaintexts" in serve(run, code=1)
    out = serve(run, "--plaintexts short.json", code=1)
    assert "'short.json': input 'arg0' must have shape 8, found 7" in out
    out = serve(run, "--plaintexts all.json", code=1)
    assert "'all.json': input 'arg1' is encrypted by the client" in out
    serve(run, "--plaintexts public.json")
    run("decrypt i.json --secret S --inputs out -o r.json")
    found = results()
    assert list(found) == ["result0", "result1"]
    assert np.abs(np.array(found["result0"]) - (x * w + y)).max() < 1e-5
    assert np.abs(np.array(found["result1"]) - (y - w)).max() < 1e-5


def test_inputs_and_options_that_do_not_fit(run: Run) -> None:
    prepare(run, "box_blur", "2026.11.1", 32)
    for content, message in (
        ({}, "'bad.json': input 'arg0' is missing"),
        ({"zero1": [0] * 16}, "'bad.json': unknown input 'zero1', expected arg0"),
        ({"arg0": X[:3]}, "'bad.json': input 'arg0' must have shape 4x4, found 3x4"),
        ({"arg0": [0] * 16}, "'bad.json': input 'arg0' must have shape 4x4, found 16"),
        ({"arg0": [*X[:3], [0]]}, "'bad.json': input 'arg0' must be 4x4"),
        ({"arg0": OUTSIDE}, "'bad.json': input 'arg0' holds a number of absolute value 1.75"),
    ):
        write("bad.json", content)
        out = run("encrypt i.json --key E --inputs bad.json -o ct", code=1)
        assert message in out and out.count("\n") == 1
        assert not Path("ct").exists()
    out = run("decrypt i.json --secret S --inputs E --slots 4", code=1)
    assert "error: " in out


def test_slots_of_tensors(run: Run) -> None:
    prepare(run, "box_blur", "2026.11.1", 32)
    write("in.json", {"arg0": X})
    run("encrypt i.json --key E --inputs in.json -o ct")
    serve(run)
    out = run("decrypt i.json --secret S --inputs out --slots 4", code=1)
    assert "--slots: the results are tensors of the source program, not slots" in out


def test_a_changed_layout_is_refused(run: Run) -> None:
    prepare(run, "box_blur", "2026.11.1", 32)
    good = Path("i.json").read_text(encoding="utf-8")
    for old, new, message in (
        ('"0..15"', '"0 2 1 3..15"', "'i.json' is damaged: its hash differs"),
        ('"0..15"', '"1..16"', "'i.json' is damaged: its layout names place 16 of 16"),
        ('"0..15"', '"0..14"', "'i.json' is damaged: its layout does not stand for 16 numbers"),
        ('"layout": {', '"layout": [{', "cannot read 'i.json'"),
        (
            '"layout": {\n    "version": 1',
            '"layout": {\n    "version": 2',
            "'i.json' is damaged: its layout has version 2, this release reads 1",
        ),
    ):
        assert old in good
        Path("i.json").write_text(good.replace(old, new), encoding="utf-8")
        out = run("keygen i.json --secret S2 --public E2", code=1)
        assert message in out and out.count("\n") == 1
