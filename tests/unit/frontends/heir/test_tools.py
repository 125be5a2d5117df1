"""`fhelium-opt -f heir` and `fhelium-run -f heir`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.frontend import ClientSide, make_frontend
from fhelium_ir.tools import fhelium_opt, fhelium_run
from tests.unit.frontends.heir.running import EXAMPLES, stored
from tests.unit.frontends.heir.texts import body, ciphertext

C2 = ciphertext(2)
FILE = str(EXAMPLES / "2026.11.1" / "{}.mlir")


def client(name: str, options: str = "") -> ClientSide:
    found = make_frontend(f"heir{options}").read(stored(name, "2026.11.1"), name).client
    assert found is not None
    return found


def test_opt_prints_a_program_that_compiles_on(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "out.mlir"
    assert fhelium_opt.main(["-f", "heir", FILE.format("distance"), "-o", str(path)]) == 0
    assert fhelium_opt.main([str(path), "-p", "fhelium-default"]) == 0
    assert "host.launch" in capsys.readouterr().out


def test_an_error_shows_the_line_of_the_source(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(body(f'%r = "ckks.bootstrap"(%x) : ({C2}) -> {C2}'), encoding="utf-8")
    assert fhelium_opt.main(["-f", "heir", str(path)]) == 1
    error = capsys.readouterr().err
    assert f"{path}:4:6: error: 'ckks.bootstrap' is not supported" in error
    assert '%r = "ckks.bootstrap"' in error


def test_without_the_frontend_the_text_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert fhelium_opt.main([FILE.format("distance")]) == 1
    assert fhelium_opt.main(["-f", "hair", FILE.format("distance")]) == 1
    assert "unknown frontend 'hair'; did you mean 'heir'?" in capsys.readouterr().err


def test_run_takes_tensors_and_gives_tensors(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    x = [[0.0, 0.25, 0.5, 0.75]] * 4
    path = tmp_path / "inputs.json"
    path.write_text(json.dumps({"arg0": x}), encoding="utf-8")
    command = ["-f", "heir", FILE.format("box_blur"), "--inputs", str(path)]
    assert fhelium_run.main([*command, "--target", "reference", "--ring-degree", "32"]) == 0
    out = capsys.readouterr().out
    assert "result 0, 3x3" in out
    assert "0, 1    │ 0.375" in out
    assert "9 elements" in out


def test_an_encryption_of_zero_is_no_input() -> None:
    side = client("box_blur")
    packed = side.pack("box_blur", {"arg0": np.ones((4, 4))})
    assert not packed["zero1"].any()
    assert packed["arg0"].all()


def test_public_arguments_are_packed_as_the_program_says() -> None:
    side = client("weighing")
    w = np.arange(8.0) / 8
    packed = side.pack("weighing", {"arg0": w, "arg1": w + 1, "arg2": w + 2})
    assert [name for name in packed if name.startswith("plain")]
    assert all(np.array_equal(packed[n].real, w) for n in packed if n.startswith("plain"))
    assert np.array_equal(packed["arg2"].real, w + 2)


def test_random_inputs_are_within_their_ranges() -> None:
    inputs = client("weighing", "{range=1,2,4}").random_inputs("weighing", 3)
    assert [inputs[name].shape for name in ("arg0", "arg1", "arg2")] == [(8,)] * 3
    assert 1 < np.abs(inputs["arg1"]).max() <= 2
    assert 2 < np.abs(inputs["arg2"]).max() <= 4


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"arg0": [[0.0] * 5] * 3}, "input 'arg1' is missing"),
        ({"x": 1}, "unknown input 'x', expected arg0, arg1"),
        ({"arg0": [0.0] * 15, "arg1": 0}, "input 'arg0' must have shape 3x5, found 15"),
        ({"arg0": [[0.0], [1.0, 2.0]]}, "input 'arg0' must be 3x5"),
        ({"arg0": "text"}, "input 'arg0' must be 3x5"),
        ({"arg0": [[2.0] * 5] * 3}, "absolute value 2, the program was read with a range of 1"),
        ({"arg0": [[float("nan")] * 5] * 3}, "holds a number that is not finite"),
    ],
)
def test_inputs_that_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        client("matmul").read_inputs("matmul", given, "in.json")
    assert message in caught.value.message
    assert caught.value.message.startswith("'in.json': ")


def test_a_module_without_helpers_takes_the_vectors() -> None:
    read = make_frontend("heir").read(
        body(f'%r = "ckks.add"(%x, %y) : ({C2}, {C2}) -> {C2}'), "heir.mlir"
    )
    assert read.client is not None
    inputs = {"arg0": np.arange(8.0) / 8, "arg1": np.zeros(8)}
    packed = read.client.pack("f", inputs)
    assert np.array_equal(packed["arg0"].real, inputs["arg0"])
    (result,) = read.client.unpack("f", [np.tile(packed["arg0"], 4)])
    assert np.array_equal(result, [inputs["arg0"]])
