"""Metadata that LLVM's dialect in xDSL does not carry, put on functions of llvmlite.ir."""

from __future__ import annotations

import re

from llvmlite import ir

_METADATA_NODE = re.compile(r"^(!\d+ = )!\{", re.MULTILINE)


class LoopMarks:
    """Tells LLVM that the iterations of loops are independent.

    Args:
        module: takes the metadata.
    """

    def __init__(self, module: ir.Module):
        self._module = module
        self._loops = 0
        true = ir.Constant(ir.IntType(1), 1)
        self._group = module.add_metadata([])
        self._facts = (
            module.add_metadata(["llvm.loop.parallel_accesses", self._group]),
            module.add_metadata(["llvm.loop.vectorize.enable", true]),
            # Else short loops are unrolled before the vectoriser sees them.
            module.add_metadata(["llvm.loop.unroll.disable"]),
        )

    def mark_loop(self, function: str, first: int, last: int, width: int) -> None:
        """Marks the loop that consists of the blocks `first` to `last` and closes at the last.

        Args:
            width: iterations to run at once; 0 leaves the choice to LLVM.
        """
        blocks = self._module.get_global(function).blocks[first : last + 1]
        self._loops += 1
        # A loop id is a node that starts with itself.
        loop = self._module.add_metadata([ir.Constant(ir.IntType(32), self._loops)])
        loop.operands = (loop, *self._facts, *self._width(width))
        blocks[-1].terminator.set_metadata("llvm.loop", loop)
        for block in blocks:
            for instruction in block.instructions:
                if instruction.opname in ("load", "store"):
                    instruction.set_metadata("llvm.access.group", self._group)

    def _width(self, width: int) -> tuple[ir.MDValue, ...]:
        if width == 0:
            return ()
        words = {"llvm.loop.vectorize.width": width, "llvm.loop.interleave.count": 1}
        return tuple(
            self._module.add_metadata([name, ir.Constant(ir.IntType(32), word)])
            for name, word in words.items()
        )

    def text(self) -> str:
        """The module's LLVM IR.

        LLVM wants loop ids and access groups to be distinct nodes, which llvmlite cannot print.
        """
        return _METADATA_NODE.sub(r"\1distinct !{", str(self._module))
