"""The commands of `fhelium-run`, by files: what they write, and one error for every file that does not fit."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load, save

from fhelium_ir.client.files import read_tensors
from fhelium_ir.client.parameters import generate
from fhelium_ir.client.storage import load_interface, load_keys, load_secret
from fhelium_ir.tools import fhelium_run
from tests.lit_files import ROOT
from tests.unit.end_to_end.stages import module_text

SMALL = generate(32, [60, 46, 46], [60], 3, 46, insecure=True)
LARGER = generate(64, [60, 46, 46], [60], 3, 46, insecure=True)
OPEN = "!ckks.ciphertext"
X: list[Number] = [0.5, -0.25, 1.0, 0.125]
Y: list[Number] = [[0.0, 1.0], 0.5, [-0.5, 0.25], 1]
P: list[Number] = [1, 0.5, -1, 0]

NEIGHBOURS = f"""\
func.func @neighbours(%x : {OPEN} {{ckks.slots = 4 : i64}}, %y : {OPEN} {{ckks.slots = 4 : i64}}) -> {OPEN} {{
  %turned = ckks.rotate %x {{steps = 1 : i64}} : {OPEN}
  %product = ckks.mul %turned, %y : {OPEN}
  return %product : {OPEN}
}}
"""
WEIGHTED = f"""\
func.func @weighted(%x : {OPEN} {{ckks.slots = 4 : i64}}, %p : !ckks.plaintext {{ckks.slots = 4 : i64}}) -> {OPEN} {{
  %product = ckks.mul_plain %x, %p : {OPEN}, !ckks.plaintext
  return %product : {OPEN}
}}
"""
DIFFERENCE = NEIGHBOURS.replace("ckks.mul", "ckks.sub")
"""Another program with the same inputs."""


Number = float | list[float]
Vector = NDArray[np.complex128]


def complex_vector(values: Sequence[Number]) -> Vector:
    """Numbers of JSON as complex ones."""
    pairs = [value if isinstance(value, list) else [value, 0.0] for value in values]
    return np.array([complex(*pair) for pair in pairs])


def load_file(path: Path) -> dict[str, torch.Tensor]:
    return load(path.read_bytes())


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Driver:
    """Runs commands in a folder, where `p.mlir` is a program and `d`, `S`, `E`, `in.json`, `ct`, `out` come of it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def __call__(self, command: str) -> Result:
        code = fhelium_run.main(command.split())
        out, err = self.capsys.readouterr()
        return Result(code, out, err)

    def good(self, command: str) -> Result:
        result = self(command)
        assert result.code == 0, result.err
        return result

    def write(self, name: str, content: object) -> None:
        (self.folder / name).write_text(
            content if isinstance(content, str) else json.dumps(content)
        )

    def program(self, functions: str, name: str = "p.mlir") -> None:
        self.write(name, module_text(SMALL, functions))

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir()}

    def fails(self, command: str, *messages: str) -> None:
        """A command ends with exactly one error and leaves no file behind."""
        before = self.names()
        result = self(command)
        assert result.code == 1
        assert result.err.count("error: ") == 1 and "Traceback" not in result.err, result.err
        for message in messages:
            assert message in result.err
        assert self.names() == before


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Driver:
    monkeypatch.chdir(tmp_path)
    driver = Driver(tmp_path, capsys)
    driver.program(NEIGHBOURS)
    return driver


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which all commands have run."""
    folder = tmp_path_factory.mktemp("prepared")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "p.mlir").write_text(module_text(SMALL, NEIGHBOURS))
        (folder / "in.json").write_text(json.dumps({"x": X, "y": Y}))
        for command in (
            "compile p.mlir -o d --target interpret",
            "keygen d --secret S --public E --seed 1",
            "encrypt d --key E --inputs in.json -o ct --seed 1",
            "run d --keys E --inputs ct -o out --target reference",
        ):
            assert fhelium_run.main([*command.split()]) == 0
    return folder


@pytest.fixture
def done(run: Driver, prepared: Path) -> Driver:
    shutil.copytree(prepared, run.folder, dirs_exist_ok=True)
    return run


def expected() -> Vector:
    return np.roll(complex_vector(X), -1) * complex_vector(Y)


def decrypted(run: Driver, options: str = "") -> Vector:
    run.good(f"decrypt d --secret S --inputs out --slots 4 -o result.json {options}")
    values = json.loads((run.folder / "result.json").read_text())
    assert list(values) == ["result0"]
    return complex_vector(values["result0"])


# What works.


@pytest.mark.parametrize("target", ["reference", "interpret", "cpu", ""])
def test_all_targets_give_the_right_results(done: Driver, target: str) -> None:
    reference = load_file(done.folder / "out")
    option = f"--target {target}" if target else ""
    done.good(f"run d --keys E --inputs ct -o out {option}")
    same = load_file(done.folder / "out")
    assert torch.equal(same["result0"], reference["result0"])
    assert np.abs(decrypted(done) - expected()).max() < 1e-6


def test_a_run_needs_no_secret_key(done: Driver) -> None:
    (done.folder / "S").rename(done.folder / "hidden")
    (done.folder / "in.json").unlink()
    (done.folder / "out").unlink()
    (done.folder / "p.mlir").unlink()
    done.good("run d --keys E --inputs ct -o out")
    (done.folder / "hidden").rename(done.folder / "S")
    assert np.abs(decrypted(done) - expected()).max() < 1e-6


def test_the_client_needs_the_interface_only(done: Driver) -> None:
    (done.folder / "d" / "interface.json").rename(done.folder / "i.json")
    done.good("keygen i.json --secret S2 --public E2 --seed 1")
    done.good("encrypt i.json --key E2 --inputs in.json -o ct2 --seed 1")
    done.good("decrypt i.json --secret S2 --inputs out")
    assert torch.equal(load_file(done.folder / "ct2")["x"], load_file(done.folder / "ct")["x"])


def test_the_steps_compute_what_one_process_does(done: Driver) -> None:
    """With one seed all numbers are the same, so that the same slots are printed."""
    apart = done.good("decrypt d --secret S --inputs out").out
    one = done.good("p.mlir --inputs in.json --target reference --seed 1").out
    shown = [line.split("│")[2] for line in apart.splitlines() if line.startswith("│")]
    wanted = [line.split("│")[2] for line in one.splitlines() if line.startswith("│")]
    assert len(shown) == 5 and shown == wanted


def test_keys_are_exactly_those_that_the_program_needs(done: Driver) -> None:
    interface = load_interface(done.folder / "d")
    assert set(interface.required_keys) == {("relinearize", None), ("galois", 5)}
    keys = load_keys(done.folder / "E", interface.parameters)
    assert keys.public is not None and keys.relinearization is not None
    assert list(keys.galois) == [5]
    out = done.good("keygen d --secret S2 --public E2").out
    assert "rotation by 1" in out and "relinearization" in out


def test_no_file_but_the_secret_holds_the_secret(done: Driver) -> None:
    interface = load_interface(done.folder / "d")
    secret = load_secret(done.folder / "S", interface.parameters).coefficients
    for path in [done.folder / name for name in ("E", "ct", "out")]:
        assert b"secret" not in path.read_bytes().replace(b"a secret key", b"")
        assert secret.astype(np.int8).tobytes() not in path.read_bytes()
        for tensor in load_file(path).values():
            rows = tensor.reshape(-1, tensor.shape[-1]).numpy()
            assert not any(
                np.array_equal(row, secret % prime) for row in rows for prime in SMALL.primes
            )


def test_modes(done: Driver) -> None:
    decrypted(done)
    modes = {name: stat.S_IMODE((done.folder / name).stat().st_mode) for name in done.names()}
    assert modes["S"] == modes["result.json"] == 0o600
    assert modes["E"] & 0o077 == 0o666 & 0o077 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_fresh_keys_and_encryptions_differ_and_are_told_apart(done: Driver) -> None:
    done.good("keygen d --secret S2 --public E2")
    done.good("encrypt d --key E2 --inputs in.json -o ct2")
    done.good("encrypt d --key E2 --inputs in.json -o ct3")
    assert not torch.equal(load_file(done.folder / "ct2")["x"], load_file(done.folder / "ct3")["x"])
    done.fails("run d --keys E --inputs ct2 -o o", "'ct2' and 'E' belong to different secret keys")
    done.fails("decrypt d --secret S2 --inputs out", "'out' is not encrypted under 'S2'")


def test_insecure_keys_are_announced(run: Driver) -> None:
    """The parameters are insecure, so everything is; a secure program is quiet."""
    run.good("compile p.mlir -o d --target interpret")
    warning = "warning: keys or parameters are insecure"
    assert warning in run.good("keygen d --secret S --public E").err
    run.good(f"compile {ROOT}/docs/examples/weigh.mlir -o w --target interpret")
    assert run.good("keygen w --secret WS --public WE").err == ""
    assert warning in run.good("keygen w --secret WS2 --public WE2 --seed 1").err
    run.write("w.json", {"x": [1, 0, 0, 0]})
    assert run.good("encrypt w --key WE --inputs w.json -o wct").err == ""
    assert warning in run.good("encrypt w --key WE --inputs w.json -o wct --seed 1").err
    assert warning in run.good("encrypt w --key WE2 --inputs w.json -o wct").err


def test_plaintext_inputs_are_the_servers(run: Driver) -> None:
    run.program(WEIGHTED)
    run.good("compile p.mlir -o d --target interpret")
    run.good("keygen d --secret S --public E")
    run.write("x.json", {"x": X})
    run.write("p.json", {"p": P})
    run.write("both.json", {"x": X, "p": P})
    run.fails("encrypt d --key E --inputs both.json -o ct", "input 'p' is given to the server")
    run.good("encrypt d --key E --inputs x.json -o ct")
    run.fails("run d --keys E --inputs ct -o out", "takes inputs in plain (p): give --plaintexts")
    command = "run d --keys E --inputs ct -o out --plaintexts"
    run.fails(f"{command} both.json", "input 'x' is encrypted by the client")
    run.write("short.json", {"p": P[:3]})
    run.fails(f"{command} short.json", "input 'p' must have 4 numbers, found 3")
    run.write("none.json", {})
    run.fails(f"{command} none.json", "input 'p' is missing")
    run.good(f"{command} p.json")
    assert np.abs(decrypted(run) - complex_vector(X) * complex_vector(P)).max() < 1e-6


def test_flooding_changes_results_by_as_much_as_it_says(done: Driver) -> None:
    exact = decrypted(done)
    scale = float(load_interface(done.folder / "d").results[0].scale)
    bits = 36
    noisy = [decrypted(done, f"--flood {bits}") for _ in range(2)]
    assert not np.array_equal(noisy[0], noisy[1])
    # A coefficient has the standard deviation 2^bits / sqrt(12), a slot sqrt(32) times that.
    sigma = 2.0**bits / 12**0.5 * 32**0.5 / scale
    for values in noisy:
        error = np.abs(values - exact)
        assert 0.01 * sigma < error.max() < 6 * sigma


# Compilation.


def test_a_folder_is_replaced_file_by_file(done: Driver) -> None:
    (done.folder / "d" / "notes.txt").write_text("mine")
    before = (done.folder / "d" / "interface.json").read_text()
    done.good("compile p.mlir -o d --target cpu")
    assert (done.folder / "d" / "notes.txt").read_text() == "mine"
    assert (done.folder / "d" / "interface.json").read_text() != before
    # The program is the same: what was encrypted for it still fits.
    done.good("run d --keys E --inputs ct -o out")


def test_a_program_for_cuda_is_compiled_without_a_device(run: Driver) -> None:
    result = run.good("compile p.mlir -o d --target cuda")
    assert "target cuda" in result.out and "keys needed: " in result.out
    if not torch.cuda.is_available():
        run.good("keygen d --secret S --public E")
        run.write("in.json", {"x": X, "y": Y})
        run.good("encrypt d --key E --inputs in.json -o ct")
        run.fails("run d --keys E --inputs ct -o out", "target 'cuda' needs a CUDA device")
        run.good("run d --keys E --inputs ct -o out --target reference")


def test_an_error_in_the_program_names_its_line(run: Driver) -> None:
    run.program(NEIGHBOURS.replace("ckks.mul", "ckks.mull"))
    result = run("compile p.mlir -o d")
    assert result.code == 1 and "p.mlir:4:" in result.err and "unknown operation" in result.err
    assert run.names() == {"p.mlir"}


def test_insecure_parameters_are_refused(run: Driver) -> None:
    run.write("p.mlir", module_text(SMALL, NEIGHBOURS).replace(", insecure", ""))
    run.fails("compile p.mlir -o d", "no 128-bit security limit is known for ring degree 32")


def test_where_a_program_cannot_go(run: Driver) -> None:
    run.write("file", "")
    run.fails("compile p.mlir -o file", "cannot write 'file': it is a file")
    run.fails("compile p.mlir -o a/b", "cannot make folder 'a/b': No such file")
    run.fails("compile none.mlir -o d", "cannot read 'none.mlir': No such file")


# Files that do not fit.

COMMANDS = {
    "keygen": "keygen {d} --secret S9 --public E9",
    "encrypt": "encrypt {d} --key {E} --inputs {in} -o new",
    "run": "run {d} --keys {E} --inputs {ct} -o new",
    "decrypt": "decrypt {d} --secret {S} --inputs {out} -o new",
}
GOOD = {"d": "d", "S": "S", "E": "E", "ct": "ct", "out": "out", "in": "in.json"}
CONTENTS = {
    "S": "a secret key",
    "E": "public and evaluation keys",
    "ct": "encrypted inputs",
    "out": "encrypted results",
}
USES = [
    ("encrypt", "E"),
    ("run", "E"),
    ("run", "ct"),
    ("decrypt", "S"),
    ("decrypt", "out"),
]
"""Command and the tensor file that it reads."""


def with_file(command: str, place: str, file: str) -> str:
    return COMMANDS[command].format_map({**GOOD, place: file})


@pytest.mark.parametrize("command, place", USES)
def test_wrong_truncated_and_foreign_tensor_files(done: Driver, command: str, place: str) -> None:
    content = CONTENTS[place]
    for other in CONTENTS:
        if other != place:
            message = f"'{other}' does not hold {content}, it holds {CONTENTS[other]}"
            done.fails(with_file(command, place, other), message)
    done.fails(with_file(command, place, "gone"), f"cannot read 'gone' as {content}: No such file")
    done.fails(with_file(command, place, "d"), f"cannot read 'd' as {content}: it is a folder")
    for name in ("p.mlir", "in.json"):
        done.fails(with_file(command, place, name), f"cannot read '{name}' as {content}")
    good = (done.folder / GOOD[place]).read_bytes()
    for size in (0, 4, 100, len(good) // 2, len(good) - 1):
        (done.folder / "cut").write_bytes(good[:size])
        done.fails(with_file(command, place, "cut"), f"cannot read 'cut' as {content}")
    tensors = load_file(done.folder / GOOD[place])
    (done.folder / "plain").write_bytes(save(tensors))
    done.fails(with_file(command, place, "plain"), "it was not written by fhelium-ir")
    (done.folder / "old").write_bytes(good.replace(b'"version":"1"', b'"version":"9"'))
    done.fails(with_file(command, place, "old"), "'old' has format version 9, this release reads 1")
    # Encryption reads nothing but the public key.
    name = "public" if command == "encrypt" else next(n for n in tensors if n != "public")
    start = good.index(tensors[name].numpy().tobytes())
    (done.folder / "flip").write_bytes(good[:start] + bytes([good[start] ^ 1]) + good[start + 1 :])
    message = f"'flip' is damaged: the checksum of '{name}' differs"
    done.fails(with_file(command, place, "flip"), message)


@pytest.mark.parametrize("command, place", USES)
def test_files_of_other_parameters(done: Driver, command: str, place: str) -> None:
    done.write("q.mlir", module_text(LARGER, NEIGHBOURS))
    done.good("compile q.mlir -o q --target interpret")
    other = with_file(command, place, GOOD[place]).replace(f"{command} d ", f"{command} q ")
    done.fails(other, "was made for other parameters (its parameter hash differs)")


def test_files_of_another_program(done: Driver) -> None:
    """It has the same parameters, names and shapes."""
    done.program(DIFFERENCE.replace("@neighbours", "@difference"), "other.mlir")
    done.good("compile other.mlir -o o --target interpret")
    done.good("keygen o --secret S2 --public E2 --seed 1")
    done.fails("run o --keys E --inputs ct -o new", "'ct' belongs to another program than 'differ")
    done.fails("decrypt o --secret S --inputs out", "'out' belongs to another program")


def test_a_missing_galois_key_is_named(done: Driver) -> None:
    done.program(NEIGHBOURS.replace("steps = 1", "steps = 3"), "other.mlir")
    done.good("compile other.mlir -o o --target interpret")
    done.good("encrypt o --key E --inputs in.json -o ct2")
    message = "the keys lack the key for rotation by 3 (Galois element 61)"
    done.fails("run o --keys E --inputs ct2 -o new", message)
    done.fails("run o --keys E --inputs ct2 -o new --target reference", message)


def test_a_missing_relinearization_key_is_named(done: Driver) -> None:
    done.program(DIFFERENCE, "other.mlir")
    done.good("compile other.mlir -o o --target interpret")
    done.good("keygen o --secret S2 --public E2")
    done.good("encrypt d --key E2 --inputs in.json -o ct2")
    done.fails("run d --keys E2 --inputs ct2 -o new", "the keys lack the key for relinearization")


@pytest.mark.parametrize("command", COMMANDS)
def test_folders_that_do_not_fit(done: Driver, command: str) -> None:
    (done.folder / "empty").mkdir()
    done.fails(with_file(command, "d", "none"), "none")
    done.fails(with_file(command, "d", "empty"), "cannot read 'empty/interface.json'")
    path = done.folder / "d" / "interface.json"
    good = path.read_text()
    for bad, message in [
        ("", "cannot read 'd/interface.json' as a program interface"),
        (good[: len(good) // 2], "cannot read 'd/interface.json' as a program interface"),
        ("{}", "does not hold a program interface"),
        ("[1]", "does not hold a program interface"),
        (good.replace('"version": "1"', '"version": "2"'), "has format version 2"),
        (good.replace('"level": 0', '"level": 1'), "is damaged: its hash differs"),
        (good.replace('"length": 4', '"length": "4"'), "its entry 'length' is missing or not"),
        (good.replace('"q"', '"r"'), "its entry 'q' is missing or not"),
        (good.replace(str(SMALL.q[0]), "12345"), "is damaged: modulus 12345 in q is not"),
    ]:
        assert bad != good
        path.write_text(bad)
        done.fails(with_file(command, "d", "d"), message)


def test_a_changed_program_is_not_run(done: Driver) -> None:
    path = done.folder / "d" / "host.mlir"
    good = path.read_text()
    path.write_text(good.replace("arith.addi", "arith.subi"))
    done.fails(with_file("run", "d", "d"), "'d/host.mlir' is not what was compiled")
    path.unlink()
    done.fails(with_file("run", "d", "d"), "cannot read 'd/host.mlir': No such file")
    (done.folder / "d" / "program.mlir").write_text("")
    done.fails(with_file("run", "d", "d") + " --target reference", "'d/program.mlir' is not what")


def test_inputs_that_do_not_fit(done: Driver) -> None:
    for content, message in [
        ({"x": X}, "'bad.json': input 'y' is missing"),
        ({"x": X, "y": Y, "z": X}, "'bad.json': unknown input 'z', expected x, y"),
        ({"x": X[:3], "y": Y}, "'bad.json': input 'x' must have 4 numbers, found 3"),
        ({"x": [2, 0, 0, 0], "y": Y}, "absolute value 2, the program states a range of 1"),
        ("{", "'bad.json' is not JSON"),
    ]:
        done.write("bad.json", content)
        done.fails(with_file("encrypt", "in", "bad.json"), message)
    done.fails(with_file("encrypt", "in", "gone.json"), "cannot read 'gone.json': No such file")


def test_a_file_without_an_input(done: Driver) -> None:
    """Such a file is not written by the tools."""
    _, label = read_tensors(done.folder / "ct", "encrypted inputs", SMALL.hash())
    from fhelium_ir.client.files import tensor_file

    tensors = load_file(done.folder / "ct")
    (done.folder / "part").write_bytes(tensor_file({"x": tensors["x"]}, label))
    done.fails(with_file("run", "ct", "part"), "'part': input 'y' is missing")
    (done.folder / "more").write_bytes(tensor_file({**tensors, "z": tensors["x"].clone()}, label))
    done.fails(with_file("run", "ct", "more"), "'more' holds an unknown input 'z'")
    short = {**tensors, "y": tensors["y"][:, :1].contiguous()}
    (done.folder / "short").write_bytes(tensor_file(short, label))
    done.fails(with_file("run", "ct", "short"), "input 'y' in 'short' is not torch.int64 of shape")
    (done.folder / "large").write_bytes(
        tensor_file({**tensors, "y": tensors["y"] | (1 << 61)}, label)
    )
    done.fails(with_file("run", "ct", "large"), "input 'y' in 'large' holds a word outside [0, q)")


def test_keygen_keeps_old_keys(done: Driver) -> None:
    before = (done.folder / "S").read_bytes(), (done.folder / "E").read_bytes()
    done.fails("keygen d --secret S --public E", "'S' exists: a secret key does not replace a file")
    done.fails("keygen d --secret K --public K", "cannot both go to 'K'")
    done.fails("keygen d --secret no/S --public E9", "cannot write 'no/S': No such file")
    done.fails("keygen d --secret S9 --public no/E", "cannot write 'no/E': No such file")
    assert before == ((done.folder / "S").read_bytes(), (done.folder / "E").read_bytes())


@pytest.mark.parametrize(
    "command",
    [
        "compile p.mlir -o new --target interpret",
        "compile p.mlir -o d --target cpu",
        *(text.format_map(GOOD) for text in COMMANDS.values()),
    ],
)
def test_a_full_disk_leaves_nothing(
    done: Driver, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [path for path in done.folder.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    calls: list[int] = []

    def full(descriptor: int) -> None:
        # Where several files are written, the second one fails.
        calls.append(descriptor)
        if len(calls) > 1 or command.split()[0] in ("encrypt", "run", "decrypt"):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    done.fails(command, "No space left on device")
    monkeypatch.undo()
    after = {path: path.read_bytes() for path in done.folder.rglob("*") if path.is_file()}
    assert after == before


# Options.


def test_decryption_options(done: Driver) -> None:
    for bits, message in [(0, "noise of 0 bits"), (-3, "noise of -3 bits"), (61, "takes 1 to 59")]:
        done.fails(f"decrypt d --secret S --inputs out --flood {bits}", message)
    for count in (0, 17):
        done.fails(f"decrypt d --secret S --inputs out --slots {count}", f"{count} were asked for")
    assert "16 slots" in done.good("decrypt d --secret S --inputs out").out


@pytest.mark.parametrize("command", [*COMMANDS, "compile"])
def test_usage_errors(run: Driver, command: str) -> None:
    run.fails(command, "the following arguments are required", f"see fhelium-run {command} --help")
    run.fails(f"{command} --nonsense", "error: ")
    result = run(f"{command} --help")
    assert result.code == 0
    assert result.out.startswith(f"usage: fhelium-run {command}")


def test_more_usage_errors(done: Driver) -> None:
    done.fails(COMMANDS["run"].format_map(GOOD) + " --target gpu", "invalid choice: 'gpu'")
    done.fails(COMMANDS["run"].format_map(GOOD) + " --secret S", "unknown option '--secret'")
    done.fails(COMMANDS["run"].format_map(GOOD) + " more", "unexpected argument 'more'")
    done.fails(COMMANDS["keygen"].format_map(GOOD) + " --seed -1", "a seed is not negative")
    done.fails(COMMANDS["decrypt"].format_map(GOOD) + " --flood x", "invalid int value: 'x'")
    done.fails("decript d", "unknown command 'decript'; did you mean 'decrypt'?")


def test_help_lists_the_commands(run: Driver) -> None:
    out = run.good("--help").out
    for command in [*COMMANDS, "compile"]:
        assert f"\n  {command} " in out
