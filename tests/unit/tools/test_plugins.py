"""Passes, dialects and targets from files and from installed packages."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from fhelium_ir import universe
from fhelium_ir.tools import fhelium_opt

PROGRAM = """\
func.func @f(%a: i32, %b: i32) -> i32 {
  %c = arith.addi %a, %b : i32
  return %c : i32
}
"""

PASS = '''\
from dataclasses import dataclass
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from fhelium_ir.compiler.remarks import remark


@dataclass(frozen=True)
class CountOps(ModulePass):
    """Counts operations."""

    name = "count-ops"
    kind: str = "func.func"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = sum(inner.name == self.kind for inner in op.walk())
        remark(self.name, None, "analysis", f"{found} of {self.kind}")
'''

DIALECT = """\
from xdsl.dialects.arith import Arith
from xdsl.dialects.builtin import i32
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def


@irdl_op_definition
class TwiceOp(IRDLOperation):
    name = "toy.twice"
    value = operand_def(i32)
    result = result_def(i32)
    assembly_format = "$value attr-dict"


Toy = Dialect("toy", [TwiceOp], [])
"""

TOY_PROGRAM = PROGRAM.replace("arith.addi %a, %b : i32", "toy.twice %a")

TARGET = (
    "def print_count(module, stream):\n    stream.write(f'{len(list(module.walk()))} ops\\n')\n"
)

UNIVERSE = """\
from dataclasses import dataclass
from xdsl.universe import Universe
from xdsl.utils.target import Target


def get_pass():
    from plug_pass import CountOps
    return CountOps


def get_dialect():
    from plug_dialect import Toy
    return Toy


def get_target():
    @dataclass(frozen=True)
    class Shout(Target):
        name = "shout"

        def emit(self, ctx, module, output):
            output.write("OPS\\n")

    return Shout


PLUG = Universe(
    all_passes={"count-ops": get_pass},
    all_dialects={"toy": get_dialect},
    all_targets={"shout": get_target},
)
"""


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str


class Driver:
    """Runs the driver in a folder with two programs."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self.capsys = capsys

    def __call__(self, *arguments: str) -> Result:
        code = fhelium_opt.main(list(arguments))
        out, err = self.capsys.readouterr()
        return Result(code, out, err)

    def write(self, name: str, text: str) -> str:
        """Write a file and return its name."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return name

    def install(self, package: str, groups: dict[str, str], modules: dict[str, str]) -> None:
        """Put a package on the path: entry points by group, text by module."""
        site = "site"
        lines = [f"[{group}]\n{points}\n" for group, points in groups.items()]
        info = f"{site}/{package}-1.0.dist-info"
        self.write(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        self.write(f"{info}/entry_points.txt", "\n".join(lines))
        for module, text in modules.items():
            self.write(f"{site}/{module}.py", text)


@pytest.fixture
def opt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Driver:
    driver = Driver(tmp_path, capsys)
    (tmp_path / "site").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.startswith("plug_")]:
        monkeypatch.delitem(sys.modules, name)
    driver.write("p.mlir", PROGRAM)
    driver.write("toy.mlir", TOY_PROGRAM)
    return driver


def test_a_pass_from_a_file_stands_anywhere(opt: Driver) -> None:
    file = opt.write("mine.py", PASS)
    result = opt("p.mlir", "--load-pass", file, "-p", "cse,count-ops,canonicalize", "--remarks=all")
    assert (result.code, result.err) == (0, "remark: [count-ops] analysis: 1 of func.func\n")
    result = opt(
        "p.mlir", "--load-pass", file, "-p", 'count-ops{kind="arith.addi"}', "--remarks=all"
    )
    assert result.err == "remark: [count-ops] analysis: 1 of arith.addi\n"
    assert opt("--load-pass", file, "--help-pass", "count-ops").out.startswith(
        "count-ops\n\n  Counts operations.\n"
    )
    assert opt("--load-pass", file, "--list-passes").out.splitlines()[-1] == "count-ops"


def test_nothing_stays_loaded_after_a_run(opt: Driver) -> None:
    file = opt.write("mine.py", PASS)
    before = list(sys.path)
    assert opt("p.mlir", "--load-pass", file, "-p", "count-ops").code == 0
    assert opt("p.mlir", "-p", "count-ops").err.startswith("error: unknown pass or pipeline")
    assert sys.path == before and "mine" not in sys.modules
    opt.write("mine.py", PASS.replace("count-ops", "count-again"))
    assert opt("p.mlir", "--load-pass", file, "-p", "count-again").code == 0


def test_a_dialect_from_a_file(opt: Driver) -> None:
    file = opt.write("toy_dialect.py", DIALECT)
    assert opt("toy.mlir").err.startswith("toy.mlir:2:8: error: unknown operation 'toy.twice'")
    result = opt("toy.mlir", "--load-dialect", file, "-p", "cse")
    assert (result.code, result.err) == (0, "")
    assert "%c = toy.twice %a" in result.out
    assert "toy\n" in opt("--load-dialect", file, "--list-dialects").out


def test_a_pass_file_may_import_its_dialect_file(opt: Driver) -> None:
    opt.write("toy_dialect.py", DIALECT)
    text = (
        PASS.replace("inner.name == self.kind", "isinstance(inner, TwiceOp)")
        + "\n\nfrom toy_dialect import TwiceOp\n"
    )
    opt.write("mine.py", text)
    for order in (
        ("--load-dialect", "toy_dialect.py", "--load-pass", "mine.py"),
        ("--load-pass", "mine.py", "--load-dialect", "toy_dialect.py"),
    ):
        result = opt("toy.mlir", *order, "-p", "count-ops", "--remarks=all")
        assert result.err == "remark: [count-ops] analysis: 1 of func.func\n"


def test_files_of_a_package_have_their_full_names(opt: Driver) -> None:
    opt.write("plug_package/__init__.py", "")
    opt.write("plug_package/dialect.py", DIALECT)
    text = PASS.replace("inner.name == self.kind", "isinstance(inner, TwiceOp)")
    opt.write("plug_package/passes.py", f"from .dialect import TwiceOp\n{text}")
    result = opt(
        *("toy.mlir", "--load-dialect", "plug_package/dialect.py"),
        *("--load-pass", "plug_package/passes.py", "-p", "count-ops", "--remarks=all"),
    )
    assert result.err == "remark: [count-ops] analysis: 1 of func.func\n"


def test_a_file_may_hold_both(opt: Driver) -> None:
    file = opt.write("both.py", f"{PASS}\n\n{DIALECT}")
    result = opt("toy.mlir", "--load-dialect", file, "--load-pass", file, "-p", "count-ops,dce")
    assert (result.code, result.err) == (0, "")


def test_a_file_does_not_hide_a_module(opt: Driver) -> None:
    file = opt.write("json.py", PASS)
    assert opt("p.mlir", "--load-pass", file, "-p", "count-ops").code == 0
    import json

    assert json.loads("1") == 1


BROKEN = {
    "syntax": ("def f(:\n", "'bad.py' is broken: SyntaxError: "),
    "import": ("import missing_thing\n", "'bad.py' is broken: ModuleNotFoundError: No module"),
    "exit": ("import sys\nsys.exit(3)\n", "'bad.py' is broken: SystemExit: 3"),
    "empty": ("x = 1\n", "'bad.py' defines no pass"),
    "imported": (
        "from xdsl.transforms.canonicalize import CanonicalizePass\n",
        "'bad.py' defines no pass",
    ),
    "nameless": (PASS.replace('    name = "count-ops"\n', ""), "pass CountOps has no name"),
    "bytes": ("x = '\0'\n", "'bad.py' is broken: "),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_one_error_that_names_it(opt: Driver, kind: str) -> None:
    text, message = BROKEN[kind]
    result = opt("p.mlir", "--load-pass", opt.write("bad.py", text))
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: plugin file 'bad.py'") and message in result.err
    assert result.err.count("\n") == 1


def test_a_file_that_is_missing_or_no_python(opt: Driver) -> None:
    opt.write("pass.txt", PASS)
    for option in ("--load-pass", "--load-dialect"):
        error = opt("p.mlir", option, "none.py").err
        assert error == "error: plugin file 'none.py': there is no such file\n"
        error = opt("p.mlir", option, "pass.txt").err
        assert error == "error: plugin file 'pass.txt': the name of a Python file ends in .py\n"
    opt.write("nothing.py", "from xdsl.dialects.arith import Arith\n")
    assert opt("p.mlir", "--load-dialect", "nothing.py").err == (
        "error: plugin file 'nothing.py' defines no dialect (no Dialect object)\n"
    )


def test_a_name_registered_twice_is_an_error_that_names_both(opt: Driver) -> None:
    one, two = opt.write("one.py", PASS), opt.write("two.py", PASS)
    result = opt("p.mlir", "--load-pass", one, "--load-pass", two)
    assert result.err == (
        "error: pass 'count-ops' is registered twice: by 'one.py' (CountOps) "
        "and by 'two.py' (CountOps)\n"
    )
    opt.write("cse.py", PASS.replace('"count-ops"', '"cse"'))
    result = opt("p.mlir", "--load-pass", "cse.py")
    assert "pass 'cse' is registered twice: by " in result.err
    assert universe.origin(universe.PASSES["cse"]) in result.err and "'cse.py'" in result.err
    opt.write("default.py", PASS.replace('"count-ops"', '"fhelium-default"'))
    assert "by the pipeline 'fhelium-default'" in opt("p.mlir", "--load-pass", "default.py").err
    opt.write("arith.py", DIALECT.replace('"toy"', '"arith"'))
    assert "dialect 'arith' is registered twice" in opt("--load-dialect", "arith.py").err


def test_entry_points_of_this_project(opt: Driver) -> None:
    opt.install(
        "plug",
        {
            "fhelium_ir.passes": "count-ops = plug_pass:CountOps",
            "fhelium_ir.dialects": "toy = plug_dialect:Toy",
            "fhelium_ir.targets": "count = plug_target:print_count",
        },
        {"plug_pass": PASS, "plug_dialect": DIALECT, "plug_target": TARGET},
    )
    check_plug(opt, "count", "4 ops\n")


def test_entry_points_of_xdsl(opt: Driver) -> None:
    opt.install(
        "plug",
        {"xdsl.universe": "plug = plug_universe:PLUG"},
        {"plug_pass": PASS, "plug_dialect": DIALECT, "plug_universe": UNIVERSE},
    )
    check_plug(opt, "shout", "OPS\n")


def check_plug(opt: Driver, target: str, printed: str) -> None:
    """Pass, dialect and target of an installed package work and are listed."""
    assert opt("p.mlir", "-p", "cse").code == 0
    assert not any(name.startswith("plug_") for name in sys.modules), "imported without need"
    result = opt("p.mlir", "-p", "cse,count-ops", "--remarks=all")
    assert (result.code, result.err) == (0, "remark: [count-ops] analysis: 1 of func.func\n")
    assert opt("toy.mlir").out.count("toy.twice") == 1
    assert opt("p.mlir", "-t", target).out == printed
    assert "count-ops\n" in opt("--list-passes").out
    assert "toy\n" in opt("--list-dialects").out
    assert f"{target}\n" in opt("--list-targets").out
    assert "Counts operations." in opt("--help-pass", "count-ops").out


@pytest.mark.parametrize(
    "group, points, modules, message",
    [
        (
            "fhelium_ir.passes",
            "count-ops = plug_pass:CountOps",
            {"plug_pass": "1 / 0"},
            "pass 'count-ops' of package 'plug' (entry point 'count-ops' of fhelium_ir.passes: "
            "plug_pass:CountOps) is broken: ZeroDivisionError: division by zero",
        ),
        (
            "fhelium_ir.passes",
            "count-ops = plug_gone:CountOps",
            {},
            "is broken: ModuleNotFoundError: No module named 'plug_gone'",
        ),
        (
            "fhelium_ir.passes",
            "count-ops = plug_pass:Other",
            {"plug_pass": PASS},
            "is broken: AttributeError: ",
        ),
        (
            "fhelium_ir.passes",
            "count-ops = plug_pass:remark",
            {"plug_pass": PASS},
            "is no ModulePass class",
        ),
        (
            "fhelium_ir.passes",
            "count-ops = plug_pass:CountOps",
            {"plug_pass": PASS.replace('"count-ops"', '"other"')},
            "pass 'count-ops' calls itself 'other'",
        ),
        (
            "xdsl.universe",
            "plug = plug_universe:PLUG",
            {"plug_universe": "import missing_thing"},
            "package 'plug' (entry point 'plug' of xdsl.universe: plug_universe:PLUG) is broken: "
            "ModuleNotFoundError: No module named 'missing_thing'",
        ),
        (
            "xdsl.universe",
            "plug = plug_universe:PLUG",
            {"plug_universe": "PLUG = 3"},
            "is broken: it is no xdsl.universe.Universe",
        ),
    ],
)
def test_a_broken_package_disturbs_only_who_uses_it(
    opt: Driver, group: str, points: str, modules: dict[str, str], message: str
) -> None:
    opt.install("plug", {group: points}, modules)
    assert opt("p.mlir", "-p", "cse,dce").code == 0
    result = opt("p.mlir", "-p", "count-ops")
    assert (result.code, result.out) == (1, "")
    assert result.err.startswith("error: ") and message in result.err
    assert result.err.count("\n") == 1


def test_two_packages_with_one_name(opt: Driver) -> None:
    for package in ("plug", "plug2"):
        module = f"{package}_pass".replace("plug2", "plug_2")
        points = {"fhelium_ir.passes": f"count-ops = {module}:CountOps"}
        opt.install(package, points, {module: PASS})
    result = opt("p.mlir", "-p", "count-ops")
    assert result.code == 1
    assert "pass 'count-ops' is registered twice: by package 'plug" in result.err
    assert "package 'plug' " in result.err and "package 'plug2' " in result.err


def test_a_file_and_a_package_with_one_name(opt: Driver) -> None:
    opt.install(
        "plug", {"fhelium_ir.passes": "count-ops = plug_pass:CountOps"}, {"plug_pass": PASS}
    )
    file = opt.write("mine.py", PASS)
    # The file is known at once; the package is not asked.
    assert opt("p.mlir", "--load-pass", file, "-p", "count-ops").code == 0
    assert "registered twice" in opt("--load-pass", file, "--list-passes").err


def test_a_dialect_with_another_name_is_one_error(opt: Driver) -> None:
    opt.install(
        "plug", {"fhelium_ir.dialects": "toi = plug_dialect:Toy"}, {"plug_dialect": DIALECT}
    )
    opt.write("toi.mlir", TOY_PROGRAM.replace("toy", "toi"))
    result = opt("toi.mlir")
    assert result.code == 1 and result.err.count("error:") == 1
    assert "dialect 'toi' calls itself 'toy'" in result.err
