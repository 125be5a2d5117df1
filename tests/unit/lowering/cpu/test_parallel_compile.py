"""Worker processes give what this process gives, and their failures are made good."""

import sys
from io import BytesIO
from pathlib import Path

import pytest

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu import parallel_compile
from fhelium_ir.lowering.cpu.binding import NativeCode, object_code
from fhelium_ir.lowering.cpu.compile_worker import read_message, write_message
from fhelium_ir.lowering.cpu.parallel_compile import compile_texts


def text(number: int) -> str:
    return f"define i64 @f{number}(i64 %x) {{\n  %y = mul i64 %x, {number}\n  ret i64 %y\n}}\n"


TEXTS = [(f"f{number}", text(number)) for number in range(3, 12)]


def refuse(_: str) -> bytes:
    raise AssertionError("this process must not compile")


def test_processes_give_the_same_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {name: object_code(ir) for name, ir in TEXTS}
    assert compile_texts(iter(TEXTS), 1) == expected
    monkeypatch.setattr(parallel_compile, "object_code", refuse)
    found = compile_texts(iter(TEXTS), 2)
    assert found == expected
    assert len(set(NativeCode(found).addresses.values())) == len(TEXTS)


@pytest.mark.parametrize("executable", [None, "", "/nonexistent/python", "false", "cat", "flood"])
def test_failing_workers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, executable: str | None
) -> None:
    if executable == "flood":  # answers half a message, then ends
        script = tmp_path / "flood"
        script.write_text("#!/bin/sh\nprintf '\\377\\1\\0\\0\\0\\0\\0\\0abc'\n")
        script.chmod(0o755)
        executable = str(script)
    elif executable in ("false", "cat"):
        executable = f"/bin/{executable}"
    monkeypatch.setattr(sys, "executable", executable)
    assert compile_texts(TEXTS[:3], 2) == {name: object_code(ir) for name, ir in TEXTS[:3]}


def test_text_that_llvm_refuses() -> None:
    for workers in (1, 2):
        with pytest.raises(FheliumError, match="LLVM refuses"):
            compile_texts([*TEXTS, ("bad", "define nonsense")], workers)


def test_error_while_texts_are_made() -> None:
    def broken():
        yield TEXTS[0]
        raise FheliumError("no text")

    with pytest.raises(FheliumError, match="no text"):
        compile_texts(broken(), 2)


def test_messages() -> None:
    stream = BytesIO()
    write_message(stream, b"")
    write_message(stream, b"abc")
    whole = stream.getvalue()
    stream.seek(0)
    assert [read_message(stream) for _ in range(3)] == [b"", b"abc", None]
    assert read_message(BytesIO(whole[8:-1])) is None
