"""`assign-streams`: which regions may run at the same time."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import STREAMS_LIMIT, Device, is_stream_count, load_device
from fhelium_ir.analysis.region_interface import is_kept
from fhelium_ir.analysis.streams import Job, list_schedule
from fhelium_ir.compiler.analyses import ALL_ANALYSES
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import fusion, ntt, rns

PASS = "assign-streams"


@dataclass(frozen=True)
class AssignStreams(ModulePass):
    """Gives regions that do not depend on each other different streams.

    A list schedule in program order, over the words that each region moves: a region goes to the stream where it can
    start first, and follows the region that it waits for where it can. Stream 0 is not written. What an implementation
    executes as a whole is on stream 0, and nothing runs beside it. A chain stays on one stream.

    Options:
        device: a built-in description (`gpu`, `cpu`, `interpreter`) or a JSON file.
        streams: instead of the device's number; 0 takes that.
    """

    name = PASS
    preserved_analyses = ALL_ANALYSES

    device: str = "gpu"
    streams: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        device = load_device(self.device)
        if self.streams and not is_stream_count(self.streams):
            raise FheliumError(
                f"{PASS}: streams = {self.streams} is not a number from 1 to {STREAMS_LIMIT}"
            )
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not function.is_declaration:
                _assign(function, device, self.streams or device.streams)


def _assign(function: func.FuncOp, device: Device, streams: int) -> None:
    ops = [op for op in function.body.block.ops if isinstance(op, fusion.FusedOp) or is_kept(op)]
    number = {op: index for index, op in enumerate(ops)}
    jobs = [_job(op, number, device) for op in ops]
    schedule = list_schedule(jobs, streams)
    for op, stream in zip(ops, schedule.streams, strict=True):
        if isinstance(op, fusion.FusedOp):
            op.stream = IntegerAttr(stream, i64) if stream else None
    used = max(schedule.streams, default=0) + 1
    if used > 1:
        beside = sum(stream > 0 for stream in schedule.streams)
        share = max(schedule.ends) / sum(job.cost for job in jobs)
        remark(
            PASS,
            function,
            "applied",
            f"{beside} of {len(ops)} regions on {used - 1} more "
            f"{'stream' if used == 2 else 'streams'}; the longest chain moves {share:.0%} of all words",
        )


def _job(op: Operation, number: dict[Operation, int], device: Device) -> Job:
    owners = (operand.owner for operand in op.operands)
    after = {number[owner] for owner in owners if isinstance(owner, Operation) and owner in number}
    words = sum(map(_words, (*op.operands, *op.results)))
    passed = 0
    launches = 1
    if isinstance(op, fusion.FusedOp):
        for inner in op.body.block.ops:
            if isinstance(inner, ntt.TransformOp) and inner.schedule is not None:
                between = len(inner.schedule.data.kernels) - 1
                passed += 2 * between * _words(inner.operand)
                launches += between
    cost = (words + passed) * device.memory_cost + launches * device.launch_cost
    return Job(cost, tuple(sorted(after)), is_kept(op))


def _words(value: SSAValue) -> int:
    type_ = value.type
    return prod(type_.data.shape()) if isinstance(type_, rns.PolyType) else 0
