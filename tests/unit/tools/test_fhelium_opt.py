"""The driver, run in this process with a few passes of its own."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from fhelium_ir import universe
from fhelium_ir.tools import fhelium_opt

PROGRAM = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  %d = arith.addi %c, %b : i32
  return %d : i32
}
"""

SAMPLES = {
    "add-to-mul": "AddToMul",
    "break-types": "BreakTypes",
    "break-order": "BreakOrder",
    "refuse": "Refuse",
    "crash": "Crash",
}


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Driver:
    """Runs the driver in a folder that holds PROGRAM as `p.mlir`."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.capsys = capsys

    def __call__(self, *arguments: str) -> Result:
        code = fhelium_opt.main(list(arguments))
        out, err = self.capsys.readouterr()
        return Result(code, out, err)


@pytest.fixture
def opt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Driver:
    for name, attribute in SAMPLES.items():
        monkeypatch.setitem(universe.PASSES, name, f"tests.unit.tools.sample_passes:{attribute}")
    monkeypatch.setitem(universe.PIPELINES, "both", ("add-to-mul{limit=1}", "cse"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.mlir").write_text(PROGRAM)
    return Driver(capsys)


def test_passes_run_in_order_with_options(opt: Driver) -> None:
    result = opt("p.mlir", "-p", "add-to-mul{limit=1 keep-names=true}, canonicalize")
    assert result.code == 0 and result.err == ""
    assert "%c = arith.muli %a, %b : i32" in result.out
    assert "%d = arith.addi %c, %b : i32" in result.out


def test_a_named_pipeline_mixes_with_passes(opt: Driver) -> None:
    once = opt("p.mlir", "-p", "both")
    twice = opt("p.mlir", "-p", "both,add-to-mul", "-p", "dce")
    assert (once.out.count("arith.muli"), twice.out.count("arith.muli")) == (1, 2)


def test_stop_after_ends_the_pipeline(opt: Driver) -> None:
    result = opt("p.mlir", "-p", "cse,add-to-mul{limit=1},crash", "--stop-after", "add-to-mul")
    assert result.code == 0
    assert result.out.count("arith.muli") == 1


def test_ir_goes_to_stdout_and_remarks_to_stderr(opt: Driver) -> None:
    result = opt("p.mlir", "-p", "add-to-mul{limit=1}", "--remarks=all")
    assert result.out == opt("p.mlir", "-p", "add-to-mul{limit=1}").out
    assert result.err.splitlines() == [
        "p.mlir:2:8: remark: [add-to-mul] applied: 'arith.muli': made a product",
        "p.mlir:3:8: remark: [add-to-mul] missed: 'arith.addi': the limit of 1 is reached",
        "remark: [add-to-mul] analysis: 1 additions",
    ]


@pytest.mark.parametrize("kind, line", [("applied", 2), ("missed", 3)])
def test_remarks_of_one_kind(opt: Driver, kind: str, line: int) -> None:
    result = opt("p.mlir", "-p", "add-to-mul{limit=1}", f"--remarks={kind}")
    assert result.err.count("\n") == 1
    assert result.err.startswith(f"p.mlir:{line}:8: remark: [add-to-mul] {kind}:")


def test_invalid_ir_after_a_pass_names_pass_op_and_line(opt: Driver) -> None:
    result = opt("p.mlir", "-p", "cse,break-types,cse")
    assert result.code == 1 and result.out == ""
    lines = result.err.splitlines()
    assert lines[0].startswith("p.mlir:2:8: error: after pass 'break-types': 'arith.addi': ")
    assert lines[1:3] == ["  %c = arith.addi %a, %b : i32", "       ^"]
    assert next(line for line in lines if line.startswith(">")).lstrip("> ").startswith("%c = ")
    assert result.err.count("error:") == 1


def test_dominance_is_checked_after_a_pass(opt: Driver) -> None:
    result = opt("p.mlir", "-p", "break-order")
    assert result.code == 1
    assert "after pass 'break-order': 'arith.addi': %c is used before" in result.err


def test_without_verify_each_only_the_end_is_verified(opt: Driver) -> None:
    each = opt("p.mlir", "-p", "break-types,add-to-mul")
    end = opt("p.mlir", "-p", "break-types,add-to-mul", "--no-verify-each")
    assert "after pass 'break-types'" in each.err
    assert end.code == 1 and "after pass 'add-to-mul'" in end.err


def test_a_pass_that_fails(opt: Driver) -> None:
    assert opt("p.mlir", "-p", "refuse").err == (
        "error: pass 'refuse': this program is not for me\n"
    )
    assert opt("p.mlir", "-p", "crash").err == (
        "error: pass 'crash' failed: internal error: KeyError: 'limb'\n"
    )


def test_debug_shows_the_traceback(opt: Driver) -> None:
    result = opt("p.mlir", "-p", "crash", "--debug")
    assert result.code == 1
    assert "Traceback (most recent call last)" in result.err
    assert 'raise KeyError("limb")' in result.err


@pytest.mark.parametrize(
    "spec, message",
    [
        ("add-to-mul{limt=1}", "pass 'add-to-mul': unknown option 'limt'; did you mean 'limit'?"),
        ("add-to-mul{limit=x}", "pass 'add-to-mul': Incompatible types: "),
        ("add-to-mul{limit=1", "cannot read the pass pipeline 'add-to-mul{limit=1': "),
        ("add-to-mul{limit=" + "9" * 5000 + "}", "cannot read the pass pipeline"),
        ("add-to-mull", "unknown pass or pipeline 'add-to-mull'; did you mean 'add-to-mul'?"),
        ("cse;dce", "cannot read the pass pipeline 'cse;dce': "),
        ("plan-memory" * 100, "unknown pass or pipeline"),
    ],
)
def test_a_bad_pipeline_is_one_error(opt: Driver, spec: str, message: str) -> None:
    result = opt("p.mlir", "-p", spec)
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith(f"error: {message}")
    assert result.err.count("\n") == 1


def test_help_pass_prints_options_and_defaults(opt: Driver) -> None:
    out = opt("--help-pass", "add-to-mul").out
    assert out.startswith("add-to-mul\n\n  Turn the first additions into products.\n")
    assert "  limit: int = 1000\n  keep-names: bool = True\n" in out


def test_a_missing_module_breaks_only_its_own_pass(
    opt: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(universe.PASSES, "ghost", "fhelium_ir.passes.ghost:Ghost")
    assert opt("p.mlir", "-p", "cse").code == 0
    assert "ghost" in opt("--list-passes").out
    result = opt("p.mlir", "-p", "ghost")
    assert result.err == (
        "error: pass 'ghost' is not available: no module named 'fhelium_ir.passes.ghost'\n"
    )


def test_split_input_runs_each_part(opt: Driver, tmp_path: Path) -> None:
    (tmp_path / "two.mlir").write_text(f"{PROGRAM}// -----\n{PROGRAM}")
    result = opt("two.mlir", "--split-input-file", "-p", "add-to-mul{limit=1}", "--remarks=missed")
    assert result.code == 0
    first, second = result.out.split("// -----\n")
    assert first == second == opt("p.mlir", "-p", "add-to-mul{limit=1}").out
    assert [line.split(" ")[0] for line in result.err.splitlines()] == [
        "two.mlir:3:8:",
        "two.mlir:9:8:",
    ]


def test_stdin(opt: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    for arguments in (["-"], []):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PROGRAM.encode())))
        assert opt(*arguments).out == opt("p.mlir").out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"wrong")))
    assert opt("-").err.startswith("<stdin>:1:1: error: unknown operation 'wrong'")


def test_output_is_written_whole_or_not_at_all(opt: Driver, tmp_path: Path) -> None:
    out = tmp_path / "out.mlir"
    assert opt("p.mlir", "-o", "out.mlir") == Result(0, "", "")
    assert out.read_text() == opt("p.mlir").out
    out.write_text("old")
    out.chmod(0o640)
    assert opt("p.mlir", "-p", "refuse", "-o", "out.mlir").code == 1
    assert out.read_text() == "old"
    assert opt("p.mlir", "-o", "out.mlir").code == 0
    assert out.stat().st_mode & 0o777 == 0o640
    (tmp_path / "link.mlir").symlink_to("out.mlir")
    assert opt("p.mlir", "-p", "cse", "-o", "link.mlir").code == 0
    assert (tmp_path / "link.mlir").is_symlink()
    assert opt("p.mlir", "-o", os.devnull).code == 0
    assert not Path(os.devnull).is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.mlir", "out.mlir", "p.mlir"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0\1\2\xff\xfe",
        b"\x00" * 100,
        b'"test.op"() ({\n' * 2000,
        b'"test.op"() ({\n' * 2000 + b"}) : () -> ()\n" * 2000,
        b'"test.op"() {a = ' + b"[" * 4000 + b"]" * 4000 + b"} : () -> ()",
        b"%x = arith.constant " + b"9" * 10000 + b" : i32\n",
        b"%x = arith.constant " + b"9" * 4000 + b" : i32\n",
        b"func.func private @a(tensor<" + b"9" * 5000 + b"xi32>)",
        b"func.func private @a(!llvm.array<" + b"9" * 30 + b" x i32>",
        b'"func.func"() : () -> ()',
        b"%0:99999999999999999999 = ",
        b"module {",
        b'"',
        b"#a = #a",
        b'"' + b"a" * 2000,
        b'"test.op"() {a = "' + rb"\n\"\00a" * 500 + b"} : () -> ()",
        b'"builtin.module"() ({}, {}) : () -> ()',
        b"%x = arith.constant 1 : i999999999999",
        b"%x = arith.constant dense<1> : tensor<99999999999xi32>",
    ],
)
def test_garbage_is_one_error(opt: Driver, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "garbage.mlir").write_bytes(data)
    result = opt("garbage.mlir", "-p", "canonicalize,cse")
    assert (result.code, result.out) == (1, "")
    first = result.err.splitlines()[0]
    assert first.startswith("garbage.mlir:") and ": error: " in first
    assert result.err.count("error:") == 1
    assert "Traceback" not in result.err
    assert len(result.err) < 2000


def test_deep_but_reasonable_nesting_is_accepted(opt: Driver, tmp_path: Path) -> None:
    depth = 150
    text = "scf.if %c {\n" * depth + "}\n" * depth
    text = f"func.func @f(%c: i1) {{\n{text}return\n}}\n"
    (tmp_path / "deep.mlir").write_text(text)
    result = opt("deep.mlir")
    assert result.code == 0, result.err
    assert result.out.count("scf.if") == depth


def test_a_long_source_line_is_shortened(opt: Driver, tmp_path: Path) -> None:
    (tmp_path / "long.mlir").write_text("func.func @f() { return " + " " * 500 + "oops }")
    lines = opt("long.mlir").err.splitlines()
    assert lines[0].startswith("long.mlir:1:525: error: unknown operation 'oops'")
    assert len(lines[1]) <= 160
    assert lines[1][lines[2].index("^") :] == "oops }"


def test_several_blocks_are_one_error_with_a_place(opt: Driver, tmp_path: Path) -> None:
    text = "func.func @f() {\n  cf.br ^bb1\n^bb1:\n  return\n}\n"
    (tmp_path / "blocks.mlir").write_text(text)
    result = opt("blocks.mlir", "-p", "infer-resources")
    assert result.code == 1
    assert result.err.startswith(
        "blocks.mlir:1:1: error: pass 'infer-resources' needs regions of one block, 'func.func' has"
    )


def test_no_state_leaks_between_runs(opt: Driver) -> None:
    limit = sys.getrecursionlimit()
    assert opt("p.mlir", "-p", "crash").code == 1
    assert opt("p.mlir").out.count("arith.addi") == 2
    assert sys.getrecursionlimit() == limit


def environment() -> dict[str, str]:
    """The environment of a new process in which this tree can be imported."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}


def processor_seconds(command: list[str]) -> tuple[float, str]:
    """Processor time and output of a new process; other processes of the machine do not count."""
    before = os.times()
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system, done.stdout


def test_start_up_is_quick_and_imports_little() -> None:
    code = (
        "import sys; from fhelium_ir.tools.fhelium_opt import main; main(['--help']); "
        "print([m for m in ('torch', 'triton', 'xdsl', 'networkx', 'numpy') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code]
    times: list[float] = []
    for _ in range(3):
        seconds, out = processor_seconds(command)
        times.append(seconds)
        assert out.rstrip().endswith("[]")
    assert min(times) < 0.3


def test_one_op_takes_less_than_half_a_second(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    command = [sys.executable, "-m", "fhelium_ir.tools.fhelium_opt", str(tmp_path / "p.mlir")]
    times = [processor_seconds(command)[0] for _ in range(3)]
    assert min(times) < 0.5


def test_one_op_does_not_import_torch(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(PROGRAM)
    code = (
        "import sys; from fhelium_ir.tools.fhelium_opt import main; main([sys.argv[1]]); "
        "print([m for m in ('torch', 'triton', 'networkx', 'numpy') if m in sys.modules])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "p.mlir")]
    result = subprocess.run(command, capture_output=True, text=True, env=environment(), check=True)
    assert result.stdout.rstrip().endswith("[]")


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "p.mlir").write_text(
        "".join(f"func.func private @f{i}() -> ()\n" for i in range(5000))
    )
    command = f"{sys.executable} -m fhelium_ir.tools.fhelium_opt {tmp_path}/p.mlir | head -1"
    result = subprocess.run(
        command, shell=True, capture_output=True, text=True, env=environment(), check=False
    )
    assert result.stdout == "builtin.module {\n"
    assert result.stderr == ""
