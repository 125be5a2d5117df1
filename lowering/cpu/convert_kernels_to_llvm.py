"""`convert-kernels-to-llvm`: kernels become loops over programs and lanes in the `llvm` dialect.

`kernel.func @f(buffers and scalars)` becomes

    void f(i64 begin, i64 end, i64 grid0, i64 grid1, i64 grid2, buffers as pointers and scalars)

which runs the programs `begin <= p < end` of the grid, numbered with axis 0 fastest. Missing grid
axes have extent 1.

Inside a program, what does not depend on lanes is computed once; each segment (see `schedule`) is
one nest of loops over the lane axes that it depends on, and every operation stands in the
outermost loop that knows its operands. Two lanes never touch the same word inside a segment unless
both read it, because lanes meet in exchanges only. The innermost loop says so by an attribute on
its back edge, `fhelium.lane_loop`, from which `jit` makes LLVM's loop metadata (an integer states
how many lanes run at once); pointers themselves carry no aliasing promise, so kernels may work in
place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import llvm
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.convert_ops import (
    Scope,
    convert_loop,
    convert_op,
    declare_upper_word,
)
from fhelium_ir.lowering.cpu.llvm_builder import POINTER, Code, Constants
from fhelium_ir.lowering.cpu.schedule import (
    VECTOR_LANES,
    Export,
    Item,
    LaneArray,
    ProgramLoop,
    Schedule,
    Segment,
    Source,
    Uniform,
    outside_values,
    schedule_kernel,
)
from fhelium_ir.lowering.cpu.wide_products import UPPER_WORD, VECTOR_WIDTHS

LANE_LOOP = "fhelium.lane_loop"
"""Marks the back edge of an innermost lane loop, whose iterations are independent."""

STACK_LIMIT = 1 << 21
"""Bytes of stack that one kernel may take; threads usually have 8 MiB."""

_WORDS = (IntegerType(8), IntegerType(16), i32, i64)

GRID_RANK = 3
HEADER_ARGUMENTS = 2 + GRID_RANK


@dataclass(frozen=True)
class ConvertKernelsToLlvm(ModulePass):
    """Replaces every `kernel.func` by an `llvm.func`; `zq` must have been expanded before.

    Attributes:
        vector_products: take the upper word of a 64-bit product from a function with versions for
            vectors (see `wide_products`) where the innermost loop is long enough. It pays where the
            processor multiplies vectors of 64-bit words; elsewhere scalar 128-bit products are
            faster.
    """

    name = "convert-kernels-to-llvm"

    vector_products: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in list(op.ops):
            if isinstance(func, kernel.FuncOp):
                block = func.parent_block()
                assert block is not None
                block.insert_op_before(convert_kernel(func, self.vector_products), func)
                func.detach()
                func.erase()
        if any(calls_upper_word(func) for func in op.ops if isinstance(func, llvm.FuncOp)):
            first = op.body.block.first_op
            assert first is not None
            op.body.block.insert_op_before(declare_upper_word(), first)


def calls_upper_word(func: llvm.FuncOp) -> bool:
    """Whether a function needs `declare_upper_word`."""
    return any(
        isinstance(op, llvm.CallOp)
        and op.callee is not None
        and op.callee.string_value() == UPPER_WORD
        for block in func.body.blocks
        for op in block.ops
    )


def convert_kernel(func: kernel.FuncOp, vector_products: bool = True) -> llvm.FuncOp:
    """The `llvm.func` of a kernel, under the same name; see `ConvertKernelsToLlvm`.

    Raises:
        FheliumError: the kernel holds an operation that the CPU target does not know, or an
            exchange in a loop whose bounds depend on the lane.
    """
    _check_types(func)
    return _FunctionEmitter(func, schedule_kernel(func), vector_products).emit()


def _check_types(func: kernel.FuncOp) -> None:
    for type_ in func.function_type.inputs.data:
        word = type_.element_type if isinstance(type_, kernel.BufferType) else type_
        if word not in _WORDS:
            raise FheliumError(
                f"kernel argument of type {type_} is not supported on the cpu target",
                location_of(func),
            )


def argument_types(func: kernel.FuncOp) -> list[Attribute]:
    """The types of the native function's arguments."""
    own = [
        POINTER if isinstance(type_, kernel.BufferType) else type_
        for type_ in func.function_type.inputs.data
    ]
    return [i64] * HEADER_ARGUMENTS + own


class _FunctionEmitter:
    """Builds the function around one schedule."""

    def __init__(self, func: kernel.FuncOp, schedule: Schedule, vector_products: bool):
        self.func = func
        self.vector_products = vector_products
        self.schedule = schedule
        entry = Block(arg_types=argument_types(func))
        self.constants = Constants(entry)
        self.main = Code(self.constants)
        self.uniform = Scope(schedule.aliases)
        self.uniform.values.update(
            zip(func.body.block.args, entry.args[HEADER_ARGUMENTS:], strict=True)
        )
        for op in func.walk():
            if isinstance(op, kernel.LaneIdOp) and schedule.facts.masks[op.result] == 0:
                self.uniform.values[op.result] = self.constants.get(0, i64)
        self.entry = entry
        self.arrays: dict[LaneArray, SSAValue] = {}
        self.stack_bytes = 0

    def emit(self) -> llvm.FuncOp:
        begin, end, *grid = self.entry.args[:HEADER_ARGUMENTS]
        main = self.main
        first = main.block
        header = main.start_block([i64])
        body, leave = Block(), Block()
        program = header.args[0]
        main.branch_if(main.compare("slt", program, end), body, [], leave, [])
        main.blocks.append(body)
        self._set_program_ids(program, grid)
        self.emit_items(self.schedule.items)
        main.branch(header, [main.add(program, main.constant(1))])
        main.blocks.append(leave)
        leave.add_op(llvm.ReturnOp())
        # The entry block fills with constants and arrays while the rest is built.
        self.entry.add_op(llvm.BrOp(first))
        first.add_op(llvm.BrOp(header, begin))
        types = [argument.type for argument in self.entry.args]
        return llvm.FuncOp(
            self.func.sym_name,
            llvm.LLVMFunctionType(types, llvm.LLVMVoidType()),
            linkage=llvm.LinkageAttr("external"),
            body=Region([self.entry, *main.blocks]),
        )

    def _set_program_ids(self, program: SSAValue, grid: Sequence[SSAValue]) -> None:
        """Takes the ids that the kernel asks for out of the program's number."""
        ids = [op for op in self.func.walk() if isinstance(op, kernel.ProgramIdOp)]
        last = max((op.axis.value.data for op in ids), default=-1)
        rest = program
        for axis in range(last + 1):
            if axis == GRID_RANK - 1:
                index = rest
            else:
                index = self.main.binary(llvm.URemOp, rest, grid[axis])
                rest = self.main.binary(llvm.UDivOp, rest, grid[axis])
            for op in ids:
                if op.axis.value.data == axis:
                    self.uniform.values[op.result] = index

    def emit_items(self, items: list[Item]) -> None:
        for item in items:
            match item:
                case Uniform():
                    convert_op(item.op, self.main, self.uniform)
                case ProgramLoop():
                    self._emit_program_loop(item)
                case Segment():
                    _SegmentEmitter(self, item).emit()

    def _emit_program_loop(self, loop: ProgramLoop) -> None:
        """The loop itself carries what is the same for all lanes; arrays carry the rest."""
        masks = self.schedule.facts.masks
        carried = [k for k, arg in enumerate(loop.op.body.block.args[1:]) if masks[arg] == 0]
        convert_loop(loop.op, self.main, self.uniform, carried, lambda: self.emit_items(loop.body))

    def array(self, array: LaneArray) -> SSAValue:
        """The address of a stack array."""
        if array not in self.arrays:
            count = array.slots * self.lanes_of(array.mask)
            self.stack_bytes += count * array.element.width.data // 8
            if self.stack_bytes > STACK_LIMIT:
                raise FheliumError(
                    f"kernel '{self.func.sym_name.data}' has too many lanes for the cpu target: "
                    f"what they exchange and keep takes more than {STACK_LIMIT} bytes of stack",
                    location_of(self.func),
                )
            self.arrays[array] = self.constants.stack_array(count, array.element)
        return self.arrays[array]

    def lanes_of(self, mask: int) -> int:
        """How many lanes differ along the axes of a mask."""
        count = 1
        for axis, extent in enumerate(self.schedule.facts.extents):
            count *= extent if mask >> axis & 1 else 1
        return count


class _SegmentEmitter(Scope):
    """One nest of loops over lanes: `levels[d]` is the code inside `d` loops."""

    def __init__(self, parent: _FunctionEmitter, segment: Segment):
        super().__init__(parent.schedule.aliases)
        self.parent = parent
        self.schedule = parent.schedule
        self.facts = parent.schedule.facts
        self.segment = segment
        mask = 0
        for op in segment.ops:
            mask |= self.facts.op_mask(op)
        for export in segment.exports:
            mask |= export.array.mask
        self.axes = [axis for axis in self.schedule.order if mask >> axis & 1]
        self.levels = [parent.main]
        for _ in self.axes:
            self.levels.append(Code(parent.constants, Block(arg_types=[i64])))
        self.indices = [code.block.args[0] for code in self.levels[1:]]
        inner = self.facts.extents[self.axes[-1]] if self.axes else 1
        self.levels[-1].vector = parent.vector_products and inner >= VECTOR_LANES
        self.offsets: dict[tuple[int, ...], SSAValue] = {}

    def emit(self) -> None:
        for op in self.segment.ops:
            self._emit_op(op)
        # All values are read before any array is overwritten.
        exports = [(export, self.get(export.value)) for export in self.segment.exports]
        for export, value in exports:
            self._emit_export(export, value)
        self._close()

    def _emit_op(self, op: Operation) -> None:
        for value in outside_values(op):
            self.get(value)
        inner = any(isinstance(nested, kernel.StoreOp) for nested in op.walk())
        code = self.levels[-1] if inner else self._level(self.facts.op_mask(op))
        convert_op(op, code, self)

    def _level(self, mask: int) -> Code:
        depth = 0
        for position, axis in enumerate(self.axes):
            if mask >> axis & 1:
                depth = position + 1
        return self.levels[depth]

    def get(self, value: SSAValue) -> SSAValue:
        """The value in this lane: computed here, hoisted, read from an array or recomputed."""
        value = self.resolve(value)
        known = self.values.get(value)
        if known is not None:
            return known
        op = value.owner
        if self.facts.masks[value] == 0:
            return self.parent.uniform.get(value)
        if isinstance(op, kernel.LaneIdOp):
            known = self.indices[self.axes.index(op.axis.value.data)]
        elif value in self.schedule.sources:
            known = self._read(value, self.schedule.sources[value])
        else:
            assert isinstance(op, Operation)
            self._emit_op(op)
            return self.values[value]
        self.values[value] = known
        return known

    def _read(self, value: SSAValue, source: Source) -> SSAValue:
        array = source.array
        code = self._level(array.mask)
        strides = self._strides(array.mask)
        row, length = source.slot, self.parent.lanes_of(array.mask)
        if source.exchange_axis is not None:
            # The lane's own position names the register, the result's number names the lane.
            length, strides[source.exchange_axis] = strides[source.exchange_axis], length
        index = self._index(tuple(strides), code)
        pointer = code.element_of_row(self.parent.array(array), row, length, index, array.element)
        word = code.load(pointer, array.element)
        return word if value.type == array.element else code.cast(llvm.TruncOp, word, value.type)

    def _emit_export(self, export: Export, value: SSAValue) -> None:
        array = export.array
        code = self._level(array.mask)
        if value.type != array.element:
            value = code.cast(llvm.ZExtOp, value, array.element)
        index = self._index(tuple(self._strides(array.mask)), code)
        length = self.parent.lanes_of(array.mask)
        base = self.parent.array(array)
        pointer = code.element_of_row(base, export.slot, length, index, array.element)
        code.store(value, pointer)

    def _strides(self, mask: int) -> list[int]:
        """Distances in an array: the innermost loop axis is contiguous."""
        strides = [0] * len(self.facts.extents)
        stride = 1
        for axis in reversed(self.schedule.order):
            if mask >> axis & 1:
                strides[axis] = stride
                stride *= self.facts.extents[axis]
        return strides

    def _index(self, strides: tuple[int, ...], code: Code) -> SSAValue:
        """The sum of lane position times stride; `code` is inside all loops that it needs."""
        if strides not in self.offsets:
            index = code.constant(0)
            for axis, position in zip(self.axes, self.indices, strict=True):
                if strides[axis]:
                    index = code.add(index, code.mul(position, code.constant(strides[axis])))
            self.offsets[strides] = index
        return self.offsets[strides]

    def _close(self) -> None:
        """Ends the loops and strings all blocks together in one order."""
        main = self.levels[0]
        zero, one = main.constant(0), main.constant(1)
        for outer, inner in zip(self.levels, self.levels[1:], strict=False):
            outer.branch(inner.blocks[0], [zero])
        ends = list[Block]()
        innermost = True
        for axis, code, index in reversed(
            list(zip(self.axes, self.levels[1:], self.indices, strict=True))
        ):
            tail = Code(self.parent.constants, ends[-1] if ends else code.block)
            following = tail.add(index, one)
            more = tail.compare("ne", following, tail.constant(self.facts.extents[axis]))
            after = Block()
            mark = {LANE_LOOP: self._loop_mark(axis, code)} if innermost else None
            tail.branch_if(more, code.blocks[0], [following], after, [], mark)
            ends.append(after)
            innermost = False
        for code in self.levels[1:]:
            main.blocks.extend(code.blocks)
        main.blocks.extend(ends)

    def _loop_mark(self, axis: int, code: Code) -> Attribute:
        """The vector length where the choice is no longer LLVM's, which then tries one only."""
        if not code.has_vector_products:
            return UnitAttr()
        extent = self.facts.extents[axis]
        return IntegerAttr(next(width for width in VECTOR_WIDTHS if width <= extent), i32)
