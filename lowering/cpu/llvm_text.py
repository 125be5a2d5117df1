"""Kernels as LLVM IR: loops over programs, and in them loops over vectors of lanes.

`kernel.func @f(buffers and scalars)` becomes

    void f(i64 begin, i64 end, ptr words)

which runs the programs `begin <= p < end` of the grid, numbered with axis 0 fastest. `words` holds
three extents of the grid (missing axes have extent 1), then the addresses of buffers and the
scalars, 64 bits each.

Inside a program, what does not depend on lanes is computed once; each segment (see `schedule`) is
one nest of loops over the lane axes that it depends on. Lanes meet in exchanges only, so the lanes
of a segment may run at once, in vectors as long as the processor's. Pointers carry no promise:
kernels may work in place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.addresses import Offsets
from fhelium_ir.lowering.cpu.code import Code, Names, Value, element_type, integer, size_of
from fhelium_ir.lowering.cpu.nesting import holds
from fhelium_ir.lowering.cpu.operations import constant_of
from fhelium_ir.lowering.cpu.schedule import (
    Item,
    LaneArray,
    ProgramLoop,
    Segment,
    Uniform,
    outside_values,
    schedule_kernel,
)
from fhelium_ir.lowering.cpu.segments import SegmentEmitter

STACK_LIMIT = 1 << 21
"""Bytes of stack that one kernel may take; threads usually have 8 MiB."""

GRID_RANK = 3

_WORDS = ("i8", "i16", "i32", "i64", "double", "float")


def module_text(funcs: Mapping[str, kernel.FuncOp], vector_bits: int) -> str:
    """LLVM IR of kernels under new names, without the lines that name a machine.

    What it calls beside LLVM's own functions is declared; `wide_products` defines it.

    Args:
        funcs: kernels by their names there, whatever these are.
        vector_bits: the length of the processor's vectors.

    Raises:
        FheliumError: a kernel holds what the CPU target does not support.
    """
    declarations: dict[str, str] = {}
    texts: list[str] = []
    for name, func in funcs.items():
        emitter = _FunctionEmitter(func, vector_bits)
        texts.append(emitter.emit(_symbol(name)))
        declarations |= emitter.names.declarations
    return "".join(f"{line}\n" for line in declarations.values()) + "\n".join(texts)


def _symbol(name: str) -> str:
    """A name in quotes, with everything unusual escaped."""
    letters = (
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"_.$-" else f"\\{byte:02X}"
        for byte in name.encode()
    )
    return f'"{"".join(letters)}"'


def lanes_at_once(func: kernel.FuncOp, vector_bits: int) -> int:
    """How many of the narrowest words that a kernel loads from long buffers make a vector.

    Tables of indices are 32 bits wide in every kernel, so the widest buffer decides.
    """
    stored = {element_type(op.value.type) for op in all_ops(func) if type(op) is kernel.StoreOp}
    widths = [
        size_of(element)
        for type_ in func.function_type.inputs.data
        if isinstance(type_, kernel.BufferType)
        and (element := element_type(type_.element_type)) is not None
        and element in stored
    ]
    return max(1, vector_bits // 8 // max(widths, default=8))


class _FunctionEmitter:
    """Builds the function around one schedule."""

    def __init__(self, func: kernel.FuncOp, vector_bits: int):
        self.func = func
        self.schedule = schedule_kernel(func)
        self.names = Names()
        self.entry: list[str] = []
        self.main = Code(self.names, "programs")
        self.uniform: dict[SSAValue, Value] = {}
        self.offsets = Offsets(self.schedule.facts, self.schedule.aliases)
        self.lanes = lanes_at_once(func, vector_bits)
        # A vector of lanes holds 32-bit words, so that 64-bit words take two.
        self.narrow = self.lanes * 64 > vector_bits
        self.outer: dict[int, Value] = {}
        self.steps = self._outer_loops()
        self.arrays: dict[LaneArray, Value] = {}
        self.stack_bytes = 0
        self.once = SegmentEmitter(self, Segment(), 1)

    def _outer_loops(self) -> dict[int, int]:
        """Axes whose loops stand around all segments, and how many lanes of them a segment runs for.

        Where lanes never meet along an axis, what they hand on from segment to segment then stays
        in the nearest cache.
        """
        order, facts = self.schedule.order, self.schedule.facts
        meeting = {
            op.axis.value.data
            for op in all_ops(self.func)
            if type(op) is kernel.ExchangeOp and len(op.inputs) > 1
        }
        steps = {axis: 1 for axis in order[:-1] if axis not in meeting}
        for axis in order[-1:]:
            if axis not in meeting and not facts.inline and self.lanes < facts.extents[axis]:
                steps[axis] = self.lanes
        return steps

    def emit(self, symbol: str) -> str:
        grid = self._take_arguments()
        main = self.main
        program, after = Value("%program", "i64"), "done"
        main.line("%program = phi i64 [ %begin, %entry ], [ %program.next, %next ]")
        main.branch_if(main.compare("slt", program, Value("%end", "i64")), "body", after)
        main.start("body")
        self._set_program_ids(program, grid)
        self._emit_around(self._emit_uniform(self.schedule.items), list(self.steps))
        main.branch("next")
        main.start("next")
        main.line("%program.next = add i64 %program, 1")
        main.branch(main.first)
        main.start(after)
        main.line("ret void")
        lines = [
            f"define void @{symbol}(i64 %begin, i64 %end, ptr %words) {{",
            "entry:",
            *self.entry,
            f"  br label %{main.first}",
            f"{main.first}:",
            *main.lines,
            "}",
            "",
        ]
        return "\n".join(lines)

    def _take_arguments(self) -> list[Value]:
        """Loads the words of the call; returns the grid."""
        entry = Code(self.names, "entry")
        base = Value("%words", "ptr")
        grid = [entry.load(entry.pointer(base, "i64", integer(k)), "i64") for k in range(GRID_RANK)]
        for k, argument in enumerate(self.func.body.block.args):
            element = element_type(argument.type)
            word = element
            if isinstance(argument.type, kernel.BufferType):
                word = element_type(argument.type.element_type)
            if element is None or word not in _WORDS:
                raise FheliumError(
                    f"kernel argument of type {argument.type} is not supported on the cpu target",
                    location_of(self.func),
                )
            pointer = entry.pointer(base, "i64", integer(GRID_RANK + k))
            # Words of this machine, so that the first bytes of 64 bits are the narrower word.
            self.uniform[argument] = entry.emit(f"load {element}, {pointer.typed}", element)
        self.entry += entry.lines
        return grid

    def _set_program_ids(self, program: Value, grid: Sequence[Value]) -> None:
        """Takes the ids that the kernel asks for out of the program's number."""
        ids = [op for op in all_ops(self.func) if type(op) is kernel.ProgramIdOp]
        last = max((op.axis.value.data for op in ids), default=-1)
        rest = program
        for axis in range(last + 1):
            index = rest
            if axis < GRID_RANK - 1:
                index = self.main.binary("urem", rest, grid[axis])
                rest = self.main.binary("udiv", rest, grid[axis])
            for op in ids:
                if op.axis.value.data == axis:
                    self.uniform[op.result] = index

    def _emit_uniform(self, items: list[Item]) -> list[Item]:
        """What can be computed once for all lanes is, in front of the loops; returns the rest."""
        rest: list[Item] = []
        stores = False
        for item in items:
            if isinstance(item, Uniform):
                op = item.op
                if type(op) is arith.ConstantOp:
                    self.uniform[op.result] = constant_of(op)
                    continue
                if self._is_ready(op, stores):
                    self._emit_once(op)
                    continue
            rest.append(item)
            if isinstance(item, ProgramLoop):
                stores = stores or holds(item.op, kernel.StoreOp)
            elif isinstance(item, Segment):
                stores = stores or any(holds(op, kernel.StoreOp) for op in item.ops)
        return rest

    def _emit_once(self, op: Operation) -> None:
        """Emits an operation that runs once for all lanes."""
        if op.regions:
            SegmentEmitter(self, Segment([op]), 1).emit()
        else:
            self.once.emit_next(op)

    def _is_ready(self, op: Operation, stores: bool) -> bool:
        """Whether an operation may be moved to the front, over stores if there are some in front of it."""
        if stores and holds(op, kernel.LoadOp):
            return False
        return all(value in self.uniform for value in outside_values(op))

    def _emit_around(self, items: list[Item], axes: list[int]) -> None:
        """The segments of a program, inside the loops over the outer axes."""
        if not axes:
            self.emit_items(items)
            return
        axis = axes[0]

        def body(index: Value, _: list[Value]) -> list[Value]:
            self.outer[axis] = index
            self._emit_around(items, axes[1:])
            return []

        extent = integer(self.schedule.facts.extents[axis])
        self.main.loop(integer(0), extent, integer(self.steps[axis]), [], body)

    def emit_items(self, items: list[Item]) -> None:
        """What runs for the lanes of one round of the loops around; uniform operations first."""
        items = self._emit_uniform(items)
        segments = [item for item in items if isinstance(item, Segment)]
        later = [op for segment in segments[1:] for op in segment.ops]
        loads = [op for op in later if isinstance(op, kernel.LoadOp)]
        if loads:
            SegmentEmitter(self, Segment([*loads]), self.lanes).prefetch()
        for item in items:
            match item:
                case Uniform():
                    self._emit_once(item.op)
                case ProgramLoop():
                    self._emit_program_loop(item)
                case Segment():
                    SegmentEmitter(self, item, self.lanes).emit()

    def _emit_program_loop(self, loop: ProgramLoop) -> None:
        """The loop itself carries what is the same for all lanes; arrays carry the rest."""
        op, masks = loop.op, self.schedule.facts.masks
        block = op.body.block
        carried = [k for k, arg in enumerate(block.args[1:]) if masks[arg] == 0]
        last = block.last_op
        assert isinstance(last, scf.YieldOp)
        yields = last.operands

        def body(index: Value, values: list[Value]) -> list[Value]:
            self.uniform[block.args[0]] = index
            for k, value in zip(carried, values, strict=True):
                self.uniform[block.args[1 + k]] = value
            self.emit_items(loop.body)
            return [self._scalar(yields[k]) for k in carried]

        bounds = [self._scalar(value) for value in (op.lb, op.ub, op.step)]
        initial = [self._scalar(op.iter_args[k]) for k in carried]
        results = self.main.loop(bounds[0], bounds[1], bounds[2], initial, body)
        for k, result in zip(carried, results, strict=True):
            self.uniform[op.results[k]] = result

    def _scalar(self, value: SSAValue) -> Value:
        return self.once.scalar(value)

    def array(self, array: LaneArray) -> Value:
        """The address of a stack array."""
        if array not in self.arrays:
            count = array.slots * self.lanes_of(array.mask)
            self.stack_bytes += count * size_of(array.element)
            if self.stack_bytes > STACK_LIMIT:
                raise FheliumError(
                    f"kernel '{self.func.sym_name.data}' has too many lanes for the cpu target: "
                    f"what they exchange and keep takes more than {STACK_LIMIT} bytes of stack",
                    location_of(self.func),
                )
            name = self.names.fresh("%array")
            self.entry.append(f"  {name} = alloca {array.element}, i64 {count}, align 64")
            self.arrays[array] = Value(name, "ptr")
        return self.arrays[array]

    def extent(self, axis: int) -> int:
        """How many lanes of an axis a segment runs for."""
        return self.steps.get(axis, self.schedule.facts.extents[axis])

    def lanes_of(self, mask: int) -> int:
        """How many of the lanes that a segment runs for differ along the axes of a mask."""
        count = 1
        for axis in range(len(self.schedule.facts.extents)):
            count *= self.extent(axis) if mask >> axis & 1 else 1
        return count
