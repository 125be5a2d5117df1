"""The command line of `fhelium-run`, in this process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from fhelium_ir.parameters import Parameters
from fhelium_ir.tools import fhelium_run
from tests.lit_files import ROOT
from tests.unit.end_to_end.programs import chain
from tests.unit.end_to_end.stages import module_text

SMALL = chain(60, 2, 2)
CT = "!ckks.ciphertext<level = 1, scale = 2**46>"
PT = "!ckks.plaintext<level = 1, scale = 2**46>"
SUM = f"""\
func.func @sum(%x : {CT}, %y : {CT} {{ckks.slots = 4 : i64, ckks.range = 2.0 : f64}}) -> {CT} {{
  %turned = ckks.rotate %x {{steps = 1}} : {CT}
  %total = ckks.add %turned, %y : {CT}
  return %total : {CT}
}}
"""
TWO = f"""\
func.func @minus(%x : {CT}, %p : {PT}) -> {CT} {{
  %r = ckks.sub_plain %x, %p : {CT}, {PT}
  return %r : {CT}
}}
func.func @swap(%x : {CT}, %y : {CT}) -> ({CT}, {CT}) {{
  return %y, %x : {CT}, {CT}
}}
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Driver:
    """Runs the tool in a folder that holds SUM as `p.mlir`."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def __call__(self, *arguments: str) -> Result:
        code = fhelium_run.main(list(arguments))
        out, err = self.capsys.readouterr()
        return Result(code, out, err)

    def program(self, functions: str, parameters: Parameters = SMALL) -> None:
        (self.folder / "p.mlir").write_text(module_text(parameters, functions))

    def inputs(self, text: str) -> Result:
        """With an inputs file of this text; the target computes nothing in kernels."""
        (self.folder / "in.json").write_text(text)
        return self("p.mlir", "--inputs", "in.json", "--target", "reference")


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Driver:
    monkeypatch.chdir(tmp_path)
    driver = Driver(tmp_path, capsys)
    driver.program(SUM)
    return driver


def one_error(result: Result) -> str:
    """The message of a run that failed with exactly one error, without a traceback."""
    assert result.code == 1
    assert result.err.count("error: ") == 1 and "Traceback" not in result.err
    assert "largest error" not in result.out
    return result.err


def table(out: str) -> list[list[str]]:
    """The rows of a result: slot, decrypted, expected."""
    rows = [line.split("│")[1:4] for line in out.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in row] for row in rows]


def x_and_y(x: Sequence[object] = (0.25,) * 16, y: Sequence[object] = (1, -1, 0.5, 0)) -> str:
    return json.dumps({"x": x, "y": y})


# What a run prints.


def test_result_error_launches_kernels_and_keys(run: Driver) -> None:
    result = run("p.mlir", "--target", "interpret", "--seed", "7")
    assert result.code == 0 and result.err == ""
    lines = result.out.splitlines()
    assert lines[0] == "sum: ring degree 32, 2 + 1 primes, target interpret"
    error = re.search(r"^largest error: (\S+)$", result.out, re.M)
    assert error is not None and 0 < float(error[1]) < 1e-6
    counts = re.search(r"^launches: (\d+), distinct kernels: (\d+)$", result.out, re.M)
    assert counts is not None and 0 < int(counts[2]) <= int(counts[1])
    assert "keys needed: rotation by 1" in lines
    assert "warning: keys or parameters are insecure, for tests only" in lines
    assert len(table(result.out)) == 5


@pytest.mark.parametrize("target", ["cpu", "triton-interpret", "interpret", "reference", "auto"])
def test_targets_print_the_same_result(run: Driver, target: str) -> None:
    values = x_and_y([[0.5, -0.25], 0.125, *[0] * 14])
    (run.folder / "in.json").write_text(values)
    result = run("p.mlir", "--inputs", "in.json", "--target", target, "--seed", "1")
    assert result.code == 0 and result.err == ""
    decrypted = [row[1] for row in table(result.out)[:4]]
    assert [float(number) for number in decrypted] == [1.125, -1.0, 0.5, 0.0]


def test_complex_inputs(run: Driver) -> None:
    result = run.inputs(x_and_y([[0.5, -0.25]] * 16, [[0, 1], [1, 0], 0, [0.5]]))
    assert result.code == 0
    assert [row[2] for row in table(result.out)[:4]] == [
        "0.50000000 + 0.75000000i",
        "1.50000000 - 0.25000000i",
        "0.50000000 - 0.25000000i",
        "1.00000000 - 0.25000000i",
    ]


def test_a_seed_makes_runs_equal(run: Driver) -> None:
    def values(seed: str) -> tuple[list[list[str]], str]:
        out = run("p.mlir", "--target", "reference", "--seed", seed).out
        found = re.search(r"^largest error.*$", out, re.M)
        assert found is not None
        return table(out), found[0]

    assert values("3") == values("3")
    assert values("3") != values("4")


def test_several_functions_need_an_entry(run: Driver) -> None:
    run.program(TWO)
    assert "the module has 2 functions (@minus, @swap)" in one_error(
        run("p.mlir", "--target", "reference")
    )
    assert "unknown function 'mins'; did you mean 'minus'?" in one_error(
        run("p.mlir", "--target", "reference", "--entry", "mins")
    )
    minus = run("p.mlir", "--target", "interpret", "--entry", "minus")
    swap = run("p.mlir", "--target", "interpret", "--entry", "swap")
    assert (minus.code, swap.code) == (0, 0)
    assert "keys needed: none" in minus.out
    assert "result 0" in swap.out and "result 1" in swap.out


def test_the_entry_decides_which_keys_are_needed(run: Driver) -> None:
    run.program(SUM + TWO)
    result = run("p.mlir", "--target", "interpret", "--entry", "swap")
    assert result.code == 0
    assert "keys needed: none" in result.out
    assert "launches: 0" in result.out


def test_another_ring_degree(run: Driver) -> None:
    result = run("p.mlir", "--target", "reference", "--ring-degree", "64")
    assert result.code == 0
    assert result.out.startswith("sum: ring degree 64, 2 + 1 primes")
    assert "32 slots" in result.out


def test_the_example_at_a_small_ring(run: Driver) -> None:
    example = str(ROOT / "examples" / "matvec.mlir")
    (run.folder / "in.json").write_text(json.dumps({"x": [1, 0, 0, 0, 0, 0, 0, 0]}))
    options = ("--ring-degree", "32", "--target", "reference", "--inputs", "in.json")
    result = run(example, *options)
    assert result.code == 0
    # the first column of the matrix
    assert [row[2] for row in table(result.out)[:4]] == [f"{8 * i / 64:.8f}" for i in range(4)]


def test_it_runs_as_a_module_from_standard_input() -> None:
    command = [sys.executable, "-m", "fhelium_ir.tools.fhelium_run", "-", "--target", "reference"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    result = subprocess.run(
        command,
        input=module_text(SMALL, SUM),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert result.returncode == 0 and result.stderr == ""
    assert result.stdout.startswith("sum: ring degree 32")


# Errors in inputs.


@pytest.mark.parametrize(
    "text, message",
    [
        (json.dumps({"x": [0.0] * 16}), "input 'y' is missing"),
        (json.dumps({}), "input 'x' is missing"),
        (json.dumps({"x": [0.0] * 16, "y": [0] * 4, "z": [1]}), "unknown input 'z', expected x, y"),
        (x_and_y(y=[1, 2]), "input 'y' must have 4 numbers, found 2"),
        (x_and_y(x=[0.5] * 17), "input 'x' must have 16 numbers, found 17"),
        (json.dumps({"x": [], "y": [0] * 4}), "input 'x' must have 16 numbers, found 0"),
        (json.dumps({"x": 1, "y": [0] * 4}), "input 'x' must be a list of numbers"),
        (json.dumps({"x": "0.5", "y": [0] * 4}), "input 'x' must be a list of numbers"),
        (x_and_y(y=[float("nan"), 0, 0, 0]), "input 'y' holds nan, which is not finite"),
        (x_and_y(y=[float("inf"), 0, 0, 0]), "input 'y' holds inf, which is not finite"),
        (x_and_y(y=[[0, -float("inf")], 0, 0, 0]), "input 'y' holds [0, -inf], which is not"),
        (x_and_y(y=[10**400, 0, 0, 0]), "input 'y' holds an integer beyond 2^1024"),
        ('{"x": [1e999], "y": [0]}', "input 'x' must have 16 numbers"),
        (x_and_y(y=["1", 0, 0, 0]), "input 'y' holds '1', expected a number or [re, im]"),
        (x_and_y(y=[True, 0, 0, 0]), "input 'y' holds True, expected a number"),
        (x_and_y(y=[None, 0, 0, 0]), "input 'y' holds None, expected a number"),
        (x_and_y(y=[[1, 2, 3], 0, 0, 0]), "input 'y' holds [1, 2, 3], expected a number"),
        (x_and_y(y=[[], 0, 0, 0]), "input 'y' holds [], expected a number"),
        (x_and_y(y=[[[1]], 0, 0, 0]), "input 'y' holds [[1]], expected a number"),
        (x_and_y(y=[3, 0, 0, 0]), "of absolute value 3, the program states a range of 2"),
        (x_and_y(x=[[0.8, 0.8]] * 16), "states a range of 1 (`ckks.range` on the argument)"),
        ("[1, 2]", "must hold an object of named vectors"),
        ("", "is not JSON"),
        ('{"x": [1,', "is not JSON"),
        ("[" * 100000, "is not JSON"),
        ('{"x": [NaN]}', "input 'x' must have 16 numbers, found 1"),
    ],
)
def test_bad_inputs(run: Driver, text: str, message: str) -> None:
    found = one_error(run.inputs(text))
    assert "'in.json'" in found and message in found


def test_inputs_that_are_no_text(run: Driver) -> None:
    (run.folder / "in.json").write_bytes(b'{"x": "\xff"}')
    assert "'in.json' is not JSON" in one_error(run("p.mlir", "--inputs", "in.json"))


def test_two_arguments_of_one_name(run: Driver) -> None:
    named = '{ckks.name = "v"}'
    run.program(
        f"func.func @f(%x : {CT} {named}, %y : {CT} {named}) -> {CT} {{\n"
        f"  %r = ckks.add %x, %y : {CT}\n  return %r : {CT}\n}}\n"
    )
    result = run("p.mlir", "--target", "reference")
    assert result.code == 1
    assert "error: two arguments are called 'v'" in result.err


def test_an_input_named_twice(run: Driver) -> None:
    """Which one is meant is not for the tool to guess."""
    text = '{"y": [0, 0, 0, 0], "x": %s, "y": [1, 1, 1, 1]}' % json.dumps([0.0] * 16)  # noqa: UP031
    assert "input 'y' stands there twice" in one_error(run.inputs(text))


def test_missing_files(run: Driver) -> None:
    assert "cannot read 'none.mlir': No such file" in one_error(run("none.mlir"))
    assert "cannot read 'none.json': No such file" in one_error(
        run("p.mlir", "--inputs", "none.json")
    )
    assert "cannot read '.': Is a directory" in one_error(run("p.mlir", "--inputs", "."))
    assert "cannot read '.': Is a directory" in one_error(run("."))


# Errors in options.


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("--target", "gpu"), "invalid choice: 'gpu'"),
        (("--traget", "cpu"), "unknown option '--traget'; did you mean '--target'?"),
        (("--ring-degree", "100"), "ring degree 100 is not a power of two"),
        (("--ring-degree", "four"), "invalid int value: 'four'"),
        (("--ring-degree", "4"), "ring degree 4 is not a power of two from 8"),
        (("--device", "tpu"), "unknown device 'tpu'"),
        (("--seed", "x"), "argument --seed: invalid"),
        (("--tolerance", "x"), "invalid float value: 'x'"),
        (("--seed",), "expected one argument"),
        (("second.mlir",), "unexpected argument 'second.mlir'"),
        (("--seed", "-1"), "a seed is not negative, found -1"),
    ],
)
def test_bad_options(run: Driver, arguments: tuple[str, ...], message: str) -> None:
    assert message in one_error(run("p.mlir", *arguments))


def test_no_file() -> None:
    assert fhelium_run.main([]) == 1


def test_cuda_without_a_device(run: Driver) -> None:
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    assert "needs a CUDA device" in one_error(run("p.mlir", "--target", "cuda"))


def test_an_error_above_the_tolerance_fails(run: Driver) -> None:
    result = run("p.mlir", "--target", "reference", "--tolerance", "1e-30")
    assert result.code == 1 and result.err.count("error: ") == 1
    assert "above the tolerance" in result.err
    assert "largest error" in result.out


# Errors in programs.


def body(*lines: str) -> str:
    inner = "".join(f"  {line}\n" for line in lines)
    return f"func.func @f(%x : {CT}, %y : {CT}) -> {CT} {{\n{inner}}}\n"


RETURN = f"return %x : {CT}"
LOW = "!ckks.ciphertext<level = 0, scale = 2**46>"
OTHER = "!ckks.ciphertext<level = 1, scale = 2**45>"
TRIPLE = "!ckks.ciphertext<level = 1, scale = 2**92, size = 3>"


@pytest.mark.parametrize(
    "functions, line, message",
    [
        (body(f"%s = ckks.add %x, %none : {CT}", RETURN), 3, "%none is used but never defined"),
        (
            body(f"%s = ckks.add %x, %z : {CT}", f"%z = ckks.negate %x : {CT}", RETURN),
            3,
            "%z is used before",
        ),
        (body(f"%s = ckks.rotat %x {{steps = 1}} : {CT}", RETURN), 3, "unknown operation"),
        (
            body(
                f"%m = ckks.mul %x, %y : {CT}",
                f"%r = ckks.rotate %m {{steps = 1}} : {TRIPLE}",
                RETURN,
            ),
            4,
            "ckks.rotate: the operand must have size 2, found size 3; relinearize it first",
        ),
        (
            body(f"%l = ckks.mod_switch %x : {CT}", f"%r = ckks.rescale %l : {LOW}", RETURN),
            4,
            "a ciphertext at level 0 has no prime to give up",
        ),
        (body("%s = ckks.add %x, %y", RETURN), 4, "Expected ':'"),
        (
            body(f'%s = "test.op"(%x) : ({CT}) -> {CT}', RETURN),
            3,
            "op 'test.op' is not part of the program stage",
        ),
    ],
)
def test_program_errors_name_the_line(run: Driver, functions: str, line: int, message: str) -> None:
    run.program(functions)
    found = one_error(run("p.mlir", "--target", "reference"))
    assert message in found
    assert found.startswith(f"p.mlir:{line}:")


@pytest.mark.parametrize(
    "left, right, rule",
    [
        (CT, LOW, "level"),
        (CT, OTHER, "scale"),
        ("!ckks.ciphertext<level = 1, scale = 2**46, size = 3>", CT, "size"),
    ],
)
def test_sums_of_unequal_operands(run: Driver, left: str, right: str, rule: str) -> None:
    generic = f'%s = "ckks.add"(%x, %y) : ({left}, {right}) -> {left}'
    run.program(
        f"func.func @f(%x : {left}, %y : {right}) -> {left} {{\n  {generic}\n"
        f"  return %s : {left}\n}}\n"
    )
    found = one_error(run("p.mlir", "--target", "reference"))
    assert f"the operands must have equal {rule}s" in found
    assert found.startswith("p.mlir:3:")


def test_no_headroom(run: Driver) -> None:
    wide = CT + " {ckks.range = 65536.0 : f64}"
    run.program(
        f"func.func @f(%x : {wide}) -> {LOW} {{\n  %y = ckks.mod_switch %x : {CT}\n"
        f"  return %y : {LOW}\n}}\n"
    )
    found = one_error(run("p.mlir", "--target", "reference"))
    assert "output 0 (%y) of @f has no headroom" in found and found.startswith("p.mlir:4:")


def test_insecure_parameters_need_a_word(run: Driver) -> None:
    path = run.folder / "p.mlir"
    path.write_text(path.read_text().replace(", insecure", ""))
    found = one_error(run("p.mlir"))
    assert "no 128-bit security limit is known for ring degree 32" in found
    large = chain(60, 2, 2, None, 1024)
    path.write_text(module_text(large, SUM).replace(", insecure", ""))
    found = one_error(run("p.mlir"))
    assert "is above 26, the 128-bit limit of ring degree 1024" in found


@pytest.mark.parametrize(
    "q, p, message",
    [
        ([193 * 257], [SMALL.p[0]], "is not prime"),
        ([SMALL.q[0], SMALL.q[0]], [SMALL.p[0]], "is repeated in q"),
        ([SMALL.q[0], (1 << 61) - 1], [SMALL.p[0]], "is not 1 modulo 64"),
        ([SMALL.q[0], SMALL.q[1]], [SMALL.q[0]], "stands in both q and p"),
    ],
)
def test_bad_moduli(run: Driver, q: list[int], p: list[int], message: str) -> None:
    text = module_text(SMALL, SUM).replace(f"q = {list(SMALL.q)}", f"q = {q}")
    text = text.replace(f"p = {list(SMALL.p)}", f"p = {p}")
    text = text.replace("digits = 2", f"digits = {len(q)}")
    (run.folder / "p.mlir").write_text(text)
    found = one_error(run("p.mlir"))
    assert message in found and found.startswith("p.mlir:1:")


def test_a_size_3_argument_cannot_be_encrypted(run: Driver) -> None:
    triple = "!ckks.ciphertext<level = 1, scale = 2**46, size = 3>"
    run.program(f"func.func @f(%x : {triple}) -> {triple} {{\n  return %x : {triple}\n}}\n")
    assert "'x'" in one_error(run("p.mlir", "--target", "interpret"))
    assert "'x'" in one_error(run("p.mlir", "--target", "reference"))


def test_a_program_without_arguments_is_no_crash(run: Driver) -> None:
    run.program("func.func @f() -> () {\n  return\n}\n")
    result = run("p.mlir", "--target", "interpret")
    assert result.code == 0 or one_error(result)


def test_help_exits_with_0(run: Driver) -> None:
    result = run("--help")
    assert result.code == 0 and "--ring-degree" in result.out
    assert all(name in result.out for name in ("--inputs", "--entry", "--seed", "--target"))
