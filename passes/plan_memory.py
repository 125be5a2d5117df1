"""plan-memory: places the intermediate results of a function in one arena by liveness."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.digit_rows import Scratch
from fhelium_ir.analysis.region_graph import Unfusable
from fhelium_ir.analysis.region_graphs import RegionGraphs
from fhelium_ir.analysis.region_interface import is_kept
from fhelium_ir.backend.registry import active_registry
from fhelium_ir.compiler.analyses import ALL_ANALYSES, get_analysis
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import fusion, host, ntt, rns
from fhelium_ir.dialects.zq import Arithmetic


@dataclass(frozen=True)
class PlanMemory(ModulePass):
    """Gives each region's results an offset in bytes, or -1 for results that leave the function.

    Buffers whose lifetimes do not meet share memory; a region's results never share with its operands, because a kernel
    may write an element before another program has read it. What the kernels of a region hand on to each other
    (`scratch`) lives while they run; the region's first result may lie in it where the region's graph says so. First
    fit over the free gaps, in program order. What an implementation executes as a whole allocates its own results, or
    works in place (`fusion.in_place`) where it can and its first operand is not read again.

    Options:
        alignment: offsets are multiples of this many bytes.
        reuse: `false` gives every buffer memory of its own, for comparison.
    """

    name = "plan-memory"
    preserved_analyses = ALL_ANALYSES

    alignment: int = 256
    reuse: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.alignment < 8 or self.alignment & (self.alignment - 1):
            raise FheliumError(
                f"plan-memory: alignment = {self.alignment} is not a power of two from 8"
            )
        attribute = op.attributes.get(rns.ARITHMETIC)
        graphs = get_analysis(RegionGraphs, op)
        for function in op.ops:
            if isinstance(function, func.FuncOp) and any(
                isinstance(inner, fusion.FusedOp) or is_kept(inner) for inner in function.body.ops
            ):
                if not isinstance(attribute, rns.ArithmeticAttr):
                    raise FheliumError(
                        "plan-memory: the module has no arithmetic; run select-arithmetic first",
                        location=location_of(function),
                    )
                self._plan(function, attribute.arithmetic, graphs)

    def _plan(self, function: func.FuncOp, arithmetic: Arithmetic, graphs: RegionGraphs) -> None:
        ops = list(function.body.block.ops)
        last_use = {value: index for index, op in enumerate(ops) for value in op.operands}
        returned = set(ops[-1].operands)
        for index, op in reversed(list(enumerate(ops))):
            if is_kept(op) and _can_be_in_place(op, last_use, returned, index):
                op.attributes[fusion.IN_PLACE] = UnitAttr()
                operand, result = op.operands[0], op.results[0]
                last_use[operand] = last_use.get(result, index)
                if result in returned:
                    returned.add(operand)
        arena = _Arena(self.alignment)
        total = 0
        for index, op in enumerate(ops):
            if not isinstance(op, fusion.FusedOp) or is_kept(op):
                continue
            offsets: list[int] = []
            scratch = _scratch(op, graphs)
            held = [
                arena.place(_scratch_bytes(op, rows, arithmetic), index, index) for rows in scratch
            ]
            for number, result in enumerate(op.outputs):
                size = _bytes(result, arithmetic)
                total += size
                end = last_use.get(result, index) if self.reuse else len(ops)
                if result in returned:
                    offsets.append(-1)
                elif number == 0 and self.reuse and scratch and _shares(result, scratch[0]):
                    arena.keep(held[0], size, end)
                    offsets.append(held[0])
                else:
                    offsets.append(arena.place(size, index, end))
            if held:
                op.scratch = ArrayAttr([IntegerAttr(offset, i64) for offset in held])
            op.offsets = ArrayAttr([IntegerAttr(offset, i64) for offset in offsets])
        function.attributes[host.ARENA] = IntegerAttr(arena.size, i64)
        remark(
            "plan-memory",
            function,
            "applied",
            f"an arena of {arena.size} bytes for {total} bytes of results",
        )


def _can_be_in_place(
    op: Operation, last_use: Mapping[SSAValue, int], returned: set[SSAValue], index: int
) -> bool:
    """Whether an op's first result may take the memory of its first operand: the implementation can, the operand
    belongs to the function, and nothing reads it later."""
    if not op.operands or not op.results:
        return False
    operand, result = op.operands[0], op.results[0]
    return (
        operand.type == result.type
        and last_use[operand] == index
        and operand not in returned
        and list(op.operands).count(operand) == 1
        and isinstance(operand.owner, Operation)
        and (isinstance(operand.owner, fusion.FusedOp) or is_kept(operand.owner))
        and active_registry().select(op).supports_in_place
    )


class _Arena:
    """First-fit placement of buffers that live from one op to another, both included."""

    def __init__(self, alignment: int):
        self.alignment = alignment
        self.size = 0
        self._live: list[tuple[int, int, int]] = []  # (offset, end of buffer, last op)

    def place(self, size: int, first: int, last: int) -> int:
        """Offset of a buffer of `size` bytes that is written by op `first` and last read by op `last`."""
        self._live = sorted(buffer for buffer in self._live if buffer[2] >= first)
        offset = 0
        for start, end, _ in sorted(self._live):
            if start - offset >= size:
                break
            offset = max(offset, end)
        self.keep(offset, size, last)
        return offset

    def keep(self, offset: int, size: int, last: int) -> None:
        """Holds memory until op `last`."""
        end = offset + -(-size // self.alignment) * self.alignment
        self._live.append((offset, end, last))
        self.size = max(self.size, end)


def _scratch(op: fusion.FusedOp, graphs: RegionGraphs) -> tuple[Scratch, ...]:
    """The scratch memory of a region; only regions with a transform have any."""
    if not any(isinstance(inner, ntt.TransformOp) for inner in op.body.block.ops):
        return ()
    try:
        return graphs.graph(op).scratch
    except Unfusable as error:
        raise FheliumError(f"plan-memory: {error}", location=location_of(op)) from error


def _scratch_bytes(op: fusion.FusedOp, scratch: Scratch, arithmetic: Arithmetic) -> int:
    type_ = op.outputs[0].type
    assert isinstance(type_, rns.PolyType)
    return scratch.rows * type_.data.degree * arithmetic.word_bits // 8


def _shares(result: SSAValue, scratch: Scratch) -> bool:
    """Whether a region's first result fits into the rows of its scratch memory that it may take."""
    assert isinstance(result.type, rns.PolyType)
    components, rows, _ = result.type.data.shape()
    return components * rows <= scratch.shared


def _bytes(value: SSAValue, arithmetic: Arithmetic) -> int:
    type_ = value.type
    assert isinstance(type_, rns.PolyType)
    count = arithmetic.word_bits // 8
    for extent in type_.data.shape():
        count *= extent
    return count
