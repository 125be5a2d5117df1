"""Bytes that a host program allocates: its arena, its results, and the most that is alive at once."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.dialects import host


@dataclass(frozen=True)
class HostMemory:
    """Bytes of one run.

    Attributes:
        arguments: buffers that the caller passes.
        arena: buffers of bytes that views are taken of.
        results: buffers that the program allocates and returns.
        peak: most bytes that the program's own buffers take at once: arena, results, results of calls.
    """

    arguments: int
    arena: int
    results: int
    peak: int


def host_memory(function: func.FuncOp) -> HostMemory:
    """The bytes of a host program; buffers are freed after their last use, as its source does it."""
    block = function.body.block
    returned = set(block.last_op.operands) if block.last_op is not None else set[SSAValue]()
    arena = results = 0
    for op in function.walk():
        if isinstance(op, host.AllocOp):
            if any(isinstance(use.operation, host.ViewOp) for use in op.result.uses):
                arena += host.bytes_of(op.result.type)
            elif op.result in returned:
                results += host.bytes_of(op.result.type)
    arguments = sum(
        host.bytes_of(type_)
        for type_ in function.function_type.inputs
        if type_.name == MemRefType.name
    )
    return HostMemory(arguments, arena, results, _peak(block))


def is_allocated_first(op: Operation) -> bool:
    """Whether a run allocates a buffer before anything else, so that a lack of memory shows before the first launch:
    the function's results and its arena."""
    function = op.parent_op()
    if not isinstance(op, host.AllocOp) or not isinstance(function, func.FuncOp):
        return False
    returned = any(isinstance(use.operation, func.ReturnOp) for use in op.result.uses)
    return returned or any(isinstance(use.operation, host.ViewOp) for use in op.result.uses)


def _peak(block: Block) -> int:
    """The most bytes that the ops of a block hold at once."""
    last: dict[SSAValue, Operation] = {}
    owned: dict[SSAValue, int] = {}
    # A view keeps its arena alive.
    root: dict[SSAValue, SSAValue] = {}
    for op in block.ops:
        for inner in op.walk():
            for operand in inner.operands:
                value = root.get(operand, operand)
                if value in owned:
                    last[value] = op
        if isinstance(op, host.ViewOp):
            root[op.result] = root.get(op.source, op.source)
        else:
            for result, size in _allocated(op):
                owned[result], last[result] = size, op
    first = sum(size for op in block.ops if is_allocated_first(op) for _, size in _allocated(op))
    live = peak = first
    for op in block.ops:
        if not is_allocated_first(op):
            live += sum(size for _, size in _allocated(op))
        peak = max(peak, live + _inside(op))
        live -= sum(size for value, size in owned.items() if last[value] is op)
    return peak


def _allocated(op: Operation) -> list[tuple[SSAValue, int]]:
    if isinstance(op, host.AllocOp):
        return [(op.result, host.bytes_of(op.result.type))]
    if isinstance(op, host.CallOp):
        new = op.outputs[1:] if op.in_place is not None else op.outputs
        return [(value, host.bytes_of(value.type)) for value in new]
    return []


def _inside(op: Operation) -> int:
    """What the blocks of a loop or branch add. A loop may hold one round's values and the next one's."""
    if isinstance(op, scf.ForOp | scf.IfOp):
        return max((_peak(block) for region in op.regions for block in region.blocks), default=0)
    return 0
