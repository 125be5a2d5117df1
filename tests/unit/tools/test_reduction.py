"""Reduction of failing inputs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.tools.reduction import error_text, reduce_text, without
from fhelium_ir.universe import make_context

CHAIN = "\n".join(
    [
        "func.func @f(%a: i32) -> i32 {",
        "  %v0 = arith.addi %a, %a : i32",
        *(
            f"  %v{i} = arith.{'muli' if i == 23 else 'addi'} %v{i - 1}, %a : i32"
            for i in range(1, 40)
        ),
        "  return %v39 : i32",
        "}",
        *(f"func.func @g{i}() {{ return }}" for i in range(10)),
    ]
)


def script(tmp_path: Path, condition: str) -> str:
    """A command that fails with an error on texts for which a Python condition holds."""
    path = tmp_path / "check.py"
    path.write_text(
        "import sys\ntext = open(sys.argv[1]).read()\n"
        f"if {condition}:\n    print(f'x:3:4: error: bad %v{{len(text)}}', file=sys.stderr)\n"
        "    sys.exit(1)\n"
    )
    return f"{sys.executable} {path} {{file}}"


def test_a_chain_shrinks_to_the_guilty_op(tmp_path: Path) -> None:
    reduced = reduce_text(CHAIN, "f.mlir", script(tmp_path, "'muli' in text"), 400)
    module = parse_module(make_context(), reduced)
    assert sorted(op.name for op in module.walk()) == [
        "arith.muli",
        "builtin.module",
        "func.func",
        "func.return",
    ]


def test_the_limit_is_kept_and_the_best_so_far_returned(tmp_path: Path) -> None:
    log = tmp_path / "log"
    condition = f"open({str(log)!r}, 'a').write('.') and 'muli' in text"
    reduced = reduce_text(CHAIN, "f.mlir", script(tmp_path, condition), 12)
    assert len(log.read_text()) == 12
    assert "muli" in reduced and len(reduced) < len(CHAIN)


def test_a_text_that_does_not_parse_shrinks_by_lines(tmp_path: Path) -> None:
    text = "".join(f"line {i} $$$\n" for i in range(30))
    reduced = reduce_text(text, "f.mlir", script(tmp_path, "'17' in text and '4 ' in text"), 300)
    lines = reduced.splitlines()
    assert len(lines) == 2 and "line 17 $$$" in lines


def test_an_input_that_does_not_fail_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FheliumError, match=r"does not fail on 'f\.mlir'"):
        reduce_text(CHAIN, "f.mlir", script(tmp_path, "False"), 10)


def test_another_error_is_not_the_same(tmp_path: Path) -> None:
    """Without @g3 the command fails as well, but with another error."""
    path = tmp_path / "two.py"
    path.write_text(
        "import sys\ntext = open(sys.argv[1]).read()\n"
        "sys.exit('error: ' + ('first' if '@g3' in text else 'second'))\n"
    )
    reduced = reduce_text(CHAIN, "f.mlir", f"{sys.executable} {path}", 400)
    assert "@g3" in reduced and "@g4" not in reduced


def test_what_is_left_out_leaves_valid_ir() -> None:
    module = parse_module(make_context(), CHAIN)
    count = sum(1 for _ in module.walk())
    for start in range(1, count, 3):
        smaller = without(module, start, start + 5)
        if smaller is not None:
            verify_module(smaller)
            assert sum(1 for _ in smaller.walk()) < count
    assert sum(1 for _ in module.walk()) == count, "the original stays"


def test_error_texts_compare_without_places_names_and_numbers() -> None:
    one = error_text("note: x\na.mlir:3:4: error: %v12 at b.mlir:1:2 has level 3\nmore")
    assert one == error_text("error: %w at c/d.mlir:77:1 has level 12")
    assert one != error_text("error: %w has scale 2")
    assert error_text("first\nlast 1") == "last N"
