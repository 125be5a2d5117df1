"""The code of one segment: loops over lanes, the innermost of which runs vectors of lanes.

`lane_values` says what these hold, `memory` how they read and write.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.compiler.walking import all_ops
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.code import NATURAL, SPLIT, Code, Value, element_type, integer
from fhelium_ir.lowering.cpu.lane_analysis import is_zero
from fhelium_ir.lowering.cpu.lane_values import Function, Known
from fhelium_ir.lowering.cpu.memory import Memory
from fhelium_ir.lowering.cpu.nesting import holds
from fhelium_ir.lowering.cpu.operations import convert, linear, unsupported
from fhelium_ir.lowering.cpu.schedule import Segment, outside_values

CARRIED_VECTORS = 8
"""A loop that carries more vectors of lanes is cut into loops of independent sums."""


_ELSEWHERE: frozenset[type[Operation]] = frozenset((kernel.LaneIdOp, scf.YieldOp, arith.ConstantOp))
"""What is written where it is used."""


class SegmentEmitter(Memory):
    """Emits one segment, or an operation that runs once per program: a segment without lanes.

    Args:
        lanes: the most lanes that run at once.
    """

    def __init__(self, parent: Function, segment: Segment, lanes: int):
        super().__init__(parent, segment, lanes)
        self.data = self._data()

    def _data(self) -> set[SSAValue]:
        """Values that are wanted for themselves; the others are parts of offsets only."""
        data: set[SSAValue] = {export.value for export in self.segment.exports}
        if not self.segment_mask:
            # Computed once, for whoever needs it.
            data.update(result for op in self.segment.ops for result in op.results)
        for op in reversed([inner for outer in self.segment.ops for inner in all_ops(outer)]):
            if type(op) is kernel.LoadOp:
                data.update(() if op.mask is None else (op.mask,))
            elif type(op) is kernel.StoreOp:
                data.update((op.value,) if op.mask is None else (op.value, op.mask))
            elif not linear(op) or not data.isdisjoint(op.results):
                data.update(op.operands)
        return data

    def emit(self) -> None:
        for op in self.segment.ops:
            self._emit(op)
        # All values are read before any array is overwritten.
        for export in self.segment.exports:
            self.get(export.value)
        for export in self.segment.exports:
            self._emit_export(export)
        self._close(0)

    def emit_next(self, op: Operation) -> None:
        """Emits one more operation without regions that runs once per program, as a segment of its own would."""
        self._begin_again()
        self.data.update(op.results)
        self._emit(op)

    def scalar(self, value: SSAValue) -> Value:
        """A value that is the same for all lanes, where the code around the segments stands now."""
        self._begin_again()
        return self.get(value)

    def _begin_again(self) -> None:
        self.known = Known(self.parent.uniform)
        self.indices = dict(self.parent.outer)

    def prefetch(self) -> None:
        """Asks for what the loads of the segment will read from long buffers, instead of reading it.

        The rest of the program then computes while keys come from memory. Addresses that nothing reads do no harm.
        """
        for op in self.segment.ops:
            assert isinstance(op, kernel.LoadOp)
            offset, mask = self.parent.offsets.of(op.offset), self.facts.op_mask(op)
            if self._lanes_of(mask) == 1 or self._stride(offset) != 1:
                continue
            roots = [root for root, _ in offset.terms if not isinstance(root, int)]
            element = element_type(op.result.type)
            if element is None or any(root not in self.parent.uniform for root in roots):
                continue
            pointer = self._pointer(self.get(op.buffer), element, offset, mask)
            numbers = [integer(number, "i32") for number in (0, 3, 1)]
            self._level(mask).call_void("llvm.prefetch.p0", [pointer, *numbers])
        self._close(0)

    def _emit(self, op: Operation) -> None:
        """An operation in the order of the text."""
        if type(op) in _ELSEWHERE or (linear(op) and op.results[0] not in self.data):
            return
        if op.results and all(result in self.known.values for result in op.results):
            return
        self._convert(op)

    def _convert(self, op: Operation) -> None:
        # `isinstance` takes long for classes of xDSL, and there are thousands of operations.
        if type(op) is kernel.LoadOp:
            self._load(op)
        elif type(op) is kernel.StoreOp:
            self._store(op)
        elif type(op) is scf.ForOp:
            self._loop(op)
        elif type(op) is kernel.ProgramIdOp:
            pass
        elif is_zero(op, self.facts):
            self.known.values[op.results[0]] = integer(0)
        else:
            self._compute(op)

    def _compute(self, op: Operation) -> None:
        results = op.results
        if op.regions or op.successors or any(element_type(r.type) is None for r in results):
            raise unsupported(op)
        mask = self.facts.op_mask(op)
        lanes = self._lanes_of(mask)
        uniform = type(op) is arith.SelectOp and self._lanes_of(self.facts.masks[op.cond]) == 1
        operands = [
            self.get(value) if uniform and k == 0 else self.vector(value, lanes)
            for k, value in enumerate(op.operands)
        ]
        self.known.values.update(
            zip(results, convert(op, operands, self._level(mask)), strict=True)
        )

    # Loops

    def _loop(self, op: scf.ForOp) -> None:
        """A loop inside the loops over lanes; independent sums get loops of their own."""
        code = self._level(self.facts.op_mask(op))
        outer = self.loop_code
        for value in outside_values(op):
            # In front of the loop, so that it does not compute it again and again.
            if value in self.data:
                self.get(value)
        bounds = [self.get(value) for value in (op.lb, op.ub, op.step)]
        masks = self.facts.masks
        for wanted in self._parts(op):
            arguments = [op.body.block.args[1 + k] for k in wanted]
            lanes = [self._lanes_of(masks[argument]) for argument in arguments]
            initial = [
                self._carried(op.iter_args[k], count)
                for k, count in zip(wanted, lanes, strict=True)
            ]
            results = code.loop(
                bounds[0],
                bounds[1],
                bounds[2],
                initial,
                lambda index, values, w=wanted, a=arguments, c=lanes: self._body(
                    op, code, index, values, w, a, c
                ),
            )
            self.loop_code = outer
            for k, result in zip(wanted, results, strict=True):
                self.known.values[op.results[k]] = result

    def _body(
        self,
        op: scf.ForOp,
        code: Code,
        index: Value,
        values: Sequence[Value],
        wanted: Sequence[int],
        arguments: Sequence[SSAValue],
        lanes: Sequence[int],
    ) -> list[Value]:
        block = op.body.block
        saved, self.known = self.known, self.known.copy()
        outer, self.loop_code = self.loop_code, code
        self.known.values[block.args[0]] = index
        self.known.values.update(zip(arguments, values, strict=True))
        last = block.last_op
        assert last is not None
        yields = [last.operands[k] for k in wanted]
        needed = None if len(wanted) == len(op.iter_args) else _slice(block, yields)
        for nested in block.ops:
            if needed is None or nested in needed:
                self._emit(nested)
        results = [self._carried(value, count) for value, count in zip(yields, lanes, strict=True)]
        self.known, self.loop_code = saved, outer
        return results

    def _carried(self, value: SSAValue, lanes: int) -> Value:
        """A value that a loop carries: always in the order that its type has."""
        found = self.vector(value, lanes)
        halved = found.element == "i64" and self.parent.narrow and found.lanes >= 4
        order = SPLIT if halved else NATURAL
        code = self._level(self.facts.masks[self.schedule.resolve(value)])
        return code.ordered(found, order)._replace(order=order if lanes > 1 else found.order)

    def _parts(self, op: scf.ForOp) -> list[list[int]]:
        """The carried values in groups that do not need each other."""
        count = len(op.iter_args)
        everything = list(range(count))
        block = op.body.block
        last = block.last_op
        assert last is not None
        stores = holds(op, kernel.StoreOp)
        if stores or self.lanes == 1 or count <= CARRIED_VECTORS or op in self.facts.inline:
            return [everything]
        groups = [{k} for k in everything]
        for k in everything:
            needed = _slice(block, [last.operands[k]])
            reached = {k} | {
                argument.index - 1
                for argument in block.args[1:]
                if argument is last.operands[k]
                or any(argument in outside_values(nested) for nested in needed)
            }
            joined = set[int]().union(*(group for group in groups if group & reached), reached)
            groups = [group for group in groups if not group & joined] + [joined]
        groups.sort(key=min)
        parts: list[list[int]] = []
        for group in groups:
            if parts and len(parts[-1]) + len(group) <= CARRIED_VECTORS:
                parts[-1] += sorted(group)
            else:
                parts.append(sorted(group))
        return parts


def _slice(block: Block, values: Sequence[SSAValue]) -> set[Operation]:
    """The operations of a block that some values need, in one round of its loop."""
    needed: set[Operation] = set()
    pending = [value.owner for value in values]
    while pending:
        op = pending.pop()
        if isinstance(op, Operation) and op.parent is block and op not in needed:
            needed.add(op)
            pending.extend(value.owner for value in outside_values(op))
    return needed
