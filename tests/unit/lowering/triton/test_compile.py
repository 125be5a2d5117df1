from __future__ import annotations

import inspect
import os

import pytest
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.triton.compile import compile_source

SOURCE = """import triton
import triton.language as tl


# a comment
@triton.jit(do_not_specialize=["n"])
def add_one(x: "*u64", n: "u64"):
    tl.store(x, n)
"""


def test_both_kinds_leave_the_environment_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert isinstance(compile_source(SOURCE), JITFunction)
    assert isinstance(compile_source(SOURCE, interpret=True), InterpretedFunction)
    assert "TRITON_INTERPRET" not in os.environ


def test_the_environment_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    text = SOURCE.replace("add_one", "add_two")
    function = compile_source(text)
    assert isinstance(function, JITFunction)
    assert [p.name for p in function.params if p.do_not_specialize] == ["n"]
    assert isinstance(compile_source(text, interpret=True), InterpretedFunction)


def test_the_text_decides_the_types_of_arguments() -> None:
    """Not the values: one kernel has one binary (but for buffers that are not aligned)."""
    function = compile_source(SOURCE)
    assert isinstance(function, JITFunction)
    assert [p.annotation_type for p in function.params] == ["*u64", "u64"]


def test_source_stays_inspectable() -> None:
    function = compile_source(SOURCE)
    assert inspect.getsource(function.fn) in SOURCE
    assert "tl.store(x, n)" in inspect.getsource(function.fn)
    assert isinstance(function, JITFunction) and function.src.startswith("def add_one")


def test_equal_text_gives_one_function() -> None:
    assert compile_source(SOURCE) is compile_source(SOURCE)


@pytest.mark.parametrize("text", ["def f(:", "x = 1\n", "def f():\n    pass\n"])
def test_text_that_is_no_kernel(text: str) -> None:
    with pytest.raises(FheliumError):
        compile_source(text)
