"""From functions in the `llvm` dialect to machine code in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.backend.llvm.convert import convert_module
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr

from fhelium_ir.lowering.cpu.binding import LoopMarks, NativeModule, host_data_layout, host_triple
from fhelium_ir.lowering.cpu.convert_kernels_to_llvm import LANE_LOOP


@dataclass(frozen=True)
class CompiledFunctions:
    """Machine code; `addresses` are in the order of the functions, valid while this object lives.

    Attributes:
        text: the LLVM IR before optimisation.
        module: owns the code.
    """

    addresses: tuple[int, ...]
    text: str
    module: NativeModule


def compile_functions(functions: Sequence[llvm.FuncOp]) -> CompiledFunctions:
    """Compiles functions for this processor; they are consumed.

    Raises:
        FheliumError: LLVM refuses the code.
    """
    text = native_text(functions)
    module = NativeModule(text)
    names = [_symbol(number) for number in range(len(functions))]
    return CompiledFunctions(tuple(module.addresses(names)), text, module)


def _symbol(number: int) -> str:
    return f"kernel_{number}"


def native_text(functions: Sequence[llvm.FuncOp]) -> str:
    """LLVM IR of functions, which are moved into a module of their own and renamed by number.

    No name of the input reaches LLVM.
    """
    for number, function in enumerate(functions):
        if function.parent is not None:
            function.detach()
        function.properties["sym_name"] = StringAttr(_symbol(number))
    source = ModuleOp(list(functions))
    module = convert_module(
        source, fallback_target_triple=host_triple(), data_layout=host_data_layout()
    )
    marks = LoopMarks(module)
    for number, function in enumerate(functions):
        _mark_lane_loops(function, _symbol(number), marks)
    return marks.text()


def _mark_lane_loops(source: llvm.FuncOp, symbol: str, marks: LoopMarks) -> None:
    """Carries the marks on back edges over: xDSL's conversion drops attributes.

    The conversion keeps the order of blocks, and the blocks of a lane loop stand together.
    """
    blocks = list(source.body.blocks)
    for number, block in enumerate(blocks):
        edge = block.last_op
        if isinstance(edge, llvm.CondBrOp) and LANE_LOOP in edge.attributes:
            marks.mark_loop(symbol, blocks.index(edge.then_block), number)
