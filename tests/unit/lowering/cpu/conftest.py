"""What the tests of the CPU target share."""

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from fhelium_ir.lowering.cpu.convert_kernels_to_llvm import ConvertKernelsToLlvm
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.universe import make_context


def parse_module(text: str) -> ModuleOp:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    return module


def compile_text(text: str) -> CpuKernels:
    module = parse_module(text)
    clone = module.clone()
    ConvertKernelsToLlvm().apply(make_context(), clone)
    clone.verify()
    assert str(parse_module(str(clone))) == str(clone)
    return CpuKernels(module)


@pytest.fixture
def parse() -> Callable[[str], ModuleOp]:
    """Parses and verifies a module."""
    return parse_module


@pytest.fixture
def compiled() -> Callable[[str], CpuKernels]:
    """Compiles a text; the pass must give valid IR that survives printing and parsing."""
    return compile_text
