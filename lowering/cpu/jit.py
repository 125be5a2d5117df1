"""From functions in the `llvm` dialect to machine code in this process."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from llvmlite import ir
from xdsl.backend.llvm.convert import convert_module
from xdsl.dialects import llvm
from xdsl.dialects.builtin import ModuleOp, StringAttr

from fhelium_ir.lowering.cpu.binding import NativeModule, host_data_layout, host_triple
from fhelium_ir.lowering.cpu.convert_kernels_to_llvm import LANE_LOOP

_METADATA_NODE = re.compile(r"^(!\d+ = )!\{", re.MULTILINE)


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
    marks = _LoopMarks(module)
    for number, function in enumerate(functions):
        native = module.get_global(_symbol(number))
        native.attributes.add("nounwind")
        _mark_lane_loops(function, native, marks)
    # LLVM wants loop ids and access groups to be distinct nodes, which llvmlite cannot print.
    return _METADATA_NODE.sub(r"\1distinct !{", str(module))


class _LoopMarks:
    """Metadata nodes that tell LLVM that the iterations of a loop are independent."""

    def __init__(self, module: ir.Module):
        self._module = module
        self._loops = 0
        true = ir.Constant(ir.IntType(1), 1)
        self.group = module.add_metadata([])
        self._facts = (
            module.add_metadata(["llvm.loop.parallel_accesses", self.group]),
            module.add_metadata(["llvm.loop.vectorize.enable", true]),
            # Else short loops are unrolled before the vectoriser sees them.
            module.add_metadata(["llvm.loop.unroll.disable"]),
        )

    def new_loop(self) -> ir.MDValue:
        """A loop id: a node that starts with itself."""
        self._loops += 1
        node = self._module.add_metadata([ir.Constant(ir.IntType(32), self._loops)])
        node.operands = (node, *self._facts)
        return node


def _mark_lane_loops(source: llvm.FuncOp, native: ir.Function, marks: _LoopMarks) -> None:
    """Carries the marks on back edges over: xDSL's conversion drops attributes.

    The conversion keeps the order of blocks, and the blocks of a lane loop stand together.
    """
    blocks = list(source.body.blocks)
    for number, block in enumerate(blocks):
        edge = block.last_op
        if not isinstance(edge, llvm.CondBrOp) or LANE_LOOP not in edge.attributes:
            continue
        first = blocks.index(edge.then_block)
        native.blocks[number].terminator.set_metadata("llvm.loop", marks.new_loop())
        for native_block in native.blocks[first : number + 1]:
            for instruction in native_block.instructions:
                if instruction.opname in ("load", "store"):
                    instruction.set_metadata("llvm.access.group", marks.group)
