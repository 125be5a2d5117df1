"""Frontends by name."""

from __future__ import annotations

import pytest

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.frontend import MlirFrontend, make_frontend

TEXT = (
    "func.func @f(%x : !ckks.ciphertext) -> !ckks.ciphertext {\n  return %x : !ckks.ciphertext\n}\n"
)


def test_the_dialects_of_this_project_are_a_frontend() -> None:
    frontend = make_frontend("mlir")
    assert isinstance(frontend, MlirFrontend)
    read = frontend.read(TEXT, "f.mlir")
    assert read.client is None
    assert [op.name for op in read.module.ops] == ["func.func"]


def test_what_is_no_frontend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(universe.FRONTENDS, "wrong", "fhelium_ir.frontends.frontend:make_frontend")
    with pytest.raises(FheliumError, match=r"frontend 'wrong' of .* is no Frontend"):
        make_frontend("wrong")


def test_an_option_of_a_frontend_without_options() -> None:
    with pytest.raises(FheliumError, match="frontend 'mlir': unknown option 'x'; there are none"):
        make_frontend("mlir{x=1}")
