"""What the tests of the CPU target share."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.universe import make_context


def parse_module(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def compile_text(text: str) -> CpuKernels:
    return CpuKernels(parse_module(text))


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    """Parses and verifies a module."""
    return parse_module


@pytest.fixture
def compiled() -> Callable[[str], CpuKernels]:
    """Compiles a text."""
    return compile_text
