"""plan-memory: places the intermediate results of a function in one arena by liveness."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.arena import Arena, Use
from fhelium_ir.analysis.digit_rows import Scratch
from fhelium_ir.analysis.region_graph import Unfusable
from fhelium_ir.analysis.region_graphs import RegionGraphs, region_scratch
from fhelium_ir.analysis.region_interface import is_kept
from fhelium_ir.analysis.streams import Moment, StreamOrder
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
    fit over the free gaps, in program order. On several streams a buffer is free for a region when everything that uses
    it has ended before that region begins; where each stream has its own working set already, regions wait for memory.
    What an implementation executes as a whole allocates its own results, or works in place (`fusion.in_place`) where it
    can and its first operand is not read again.

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
        merged: dict[SSAValue, SSAValue] = {}
        for index, op in reversed(list(enumerate(ops))):
            if is_kept(op) and _can_be_in_place(op, last_use, returned, index):
                op.attributes[fusion.IN_PLACE] = UnitAttr()
                operand, result = op.operands[0], op.results[0]
                last_use[operand] = last_use.get(result, index)
                merged[operand] = result
                if result in returned:
                    returned.add(operand)
        jobs = _jobs(ops, returned, merged, arithmetic, graphs)
        plan = self._place(jobs, [0] * len(jobs), None)
        streams = [job.stream for job in jobs]
        if any(streams):
            # Each stream may have a working set of its own.
            plan = self._place(jobs, streams, len(set(streams)) * plan.size)
        for job, scratch, offsets in zip(jobs, plan.scratch, plan.offsets, strict=True):
            if isinstance(job.op, fusion.FusedOp) and not is_kept(job.op):
                if scratch:
                    job.op.scratch = ArrayAttr([IntegerAttr(offset, i64) for offset in scratch])
                job.op.offsets = ArrayAttr([IntegerAttr(offset, i64) for offset in offsets])
        total = sum(output.size for job in jobs for output in job.outputs)
        function.attributes[host.ARENA] = IntegerAttr(plan.size, i64)
        remark(
            "plan-memory",
            function,
            "applied",
            f"an arena of {plan.size} bytes for {total} bytes of results",
        )

    def _place(self, jobs: Sequence[_Job], streams: Sequence[int], limit: int | None) -> _Plan:
        """Places what each job writes; first fit, in program order."""
        totals = [0] * (max(streams, default=0) + 1)
        numbers: list[int] = []
        for stream in streams:
            totals[stream] += 1
            numbers.append(totals[stream])
        order = StreamOrder(len(totals))
        arena = Arena(self.alignment, order, limit)
        plan = _Plan()
        moments: list[Moment] = []
        alone: list[Moment] = []

        def use(users: Sequence[int]) -> Use:
            if not self.reuse:
                return Use(tuple(total + 1 for total in totals), len(jobs))
            ends = [0] * len(totals)
            for user in users:
                ends[streams[user]] = max(ends[streams[user]], numbers[user])
            return Use(tuple(ends), max(users))

        for index, job in enumerate(jobs):
            before = order.tails() if is_kept(job.op) else alone
            moment = order.next(streams[index])
            arena.begin(moment.after([*before, *(moments[number] for number in job.after)]))
            held = [arena.place(size, use([index])) for size in job.scratch]
            offsets: list[int] = []
            for output in job.outputs:
                if output.returned:
                    offsets.append(-1)
                elif output.in_scratch and self.reuse:
                    arena.keep(held[0], output.size, use(output.users))
                    offsets.append(held[0])
                else:
                    offsets.append(arena.place(output.size, use(output.users)))
            plan.scratch.append(held)
            plan.offsets.append(offsets)
            moments.append(arena.moment)
            alone = [arena.moment] if is_kept(job.op) else alone
            arena.end(totals)
        plan.size = arena.size
        return plan


@dataclass(frozen=True)
class _Output:
    """A result of a region: its bytes, the jobs that write or read it, and where it may lie."""

    size: int
    users: tuple[int, ...]
    returned: bool
    in_scratch: bool


@dataclass(frozen=True)
class _Job:
    """A region, or what an implementation executes as a whole, which allocates its results."""

    op: Operation
    stream: int
    after: tuple[int, ...]
    scratch: tuple[int, ...] = ()
    outputs: tuple[_Output, ...] = ()


@dataclass
class _Plan:
    """Offsets of each job's scratch memory and results, and the arena's size."""

    scratch: list[list[int]] = field(default_factory=list[list[int]])
    offsets: list[list[int]] = field(default_factory=list[list[int]])
    size: int = 0


def _jobs(
    ops: Sequence[Operation],
    returned: set[SSAValue],
    merged: Mapping[SSAValue, SSAValue],
    arithmetic: Arithmetic,
    graphs: RegionGraphs,
) -> list[_Job]:
    """The jobs of a function; a value that is `merged` with another one shares its memory."""
    number = {
        op: index
        for index, op in enumerate(
            op for op in ops if isinstance(op, fusion.FusedOp) or is_kept(op)
        )
    }
    readers: dict[SSAValue, list[int]] = {}
    for op, index in number.items():
        for operand in dict.fromkeys(op.operands):
            readers.setdefault(operand, []).append(index)
    for operand, result in merged.items():
        # From the last to the first, so that what a result shares its memory with is there.
        readers[operand] = [*readers[operand], *readers.get(result, ())]
    jobs: list[_Job] = []
    for op, index in number.items():
        owners = dict.fromkeys(operand.owner for operand in op.operands)
        after = tuple(number[o] for o in owners if isinstance(o, Operation) and o in number)
        if not isinstance(op, fusion.FusedOp) or is_kept(op):
            jobs.append(_Job(op, 0, after))
            continue
        scratch = _scratch(op, graphs)
        outputs = tuple(
            _Output(
                _bytes(result, arithmetic),
                (index, *readers.get(result, ())),
                result in returned,
                place == 0 and bool(scratch) and _shares(result, scratch[0]),
            )
            for place, result in enumerate(op.outputs)
        )
        sizes = tuple(_scratch_bytes(op, rows, arithmetic) for rows in scratch)
        jobs.append(_Job(op, op.stream_number, after, sizes, outputs))
    return jobs


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


def _scratch(op: fusion.FusedOp, graphs: RegionGraphs) -> tuple[Scratch, ...]:
    """The scratch memory of a region; only regions with a transform have any."""
    if not any(isinstance(inner, ntt.TransformOp) for inner in op.body.block.ops):
        return ()
    try:
        return region_scratch(graphs.graphs(op))
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
