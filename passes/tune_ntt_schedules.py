"""`tune-ntt-schedules`: how each transform is cut into kernels."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.representatives import poly
from fhelium_ir.analysis.transform_schedules import candidates, check_fits, cost
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark, remarks_wanted
from fhelium_ir.dialects import kernel, ntt
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr

PASS = "tune-ntt-schedules"

ELEMENTS_PER_LANE = 4
LARGEST_TILE = 8192


@dataclass(frozen=True)
class TuneNttSchedules(ModulePass):
    """Gives every transform a schedule: kernels, columns per program and warps.

    A cost model over the device's description chooses among the splits that the lowering can build:
    memory passes and launches, exchanges, twiddle loads, idle lanes. A hand-written schedule is
    kept if it can be built. Contracts and values do not change. All transforms of one ring degree
    get the same schedule, so that they share kernels.

    Regions without a transform share one tile, which the module attribute `kernel.tile` states
    (rows, columns, warps); a stated tile is kept.

    Options: `device`, a built-in description (gpu, cpu, interpreter) or a JSON file.
    """

    name = PASS
    device: str = "gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        device = load_device(self.device)
        if kernel.TILE not in op.attributes:
            op.attributes[kernel.TILE] = DenseArrayBase.from_list(i64, _tile(device))
        tuned: dict[int, int] = {}
        for inner in op.walk():
            if not isinstance(inner, ntt.TransformOp):
                continue
            facts = poly(inner.operand)
            assert facts is not None
            if inner.schedule is not None:
                _keep(inner, inner.schedule.data, facts.degree, device)
                continue
            best = candidates(facts.degree, device)[0].schedule
            inner.properties["schedule"] = ScheduleAttr(best)
            tuned[facts.degree] = tuned.get(facts.degree, 0) + 1
        if remarks_wanted():
            for degree, count in tuned.items():
                _remark_choice(degree, count, device)


def _tile(device: Device) -> list[int]:
    """Rows, columns and warps of an element-wise program: a few elements for each wanted lane."""
    lanes = min(ELEMENTS_PER_LANE * device.lanes, LARGEST_TILE)
    columns = 1 << max(0, (lanes // device.rows).bit_length() - 1)
    return [device.rows, columns, device.warps]


def _keep(op: ntt.TransformOp, schedule: Schedule, degree: int, device: Device) -> None:
    try:
        check_fits(schedule, degree)
    except FheliumError as error:
        raise FheliumError(f"{PASS}: {op.name}: {error.message}", location_of(op)) from error
    if remarks_wanted():
        best = candidates(degree, device)[0]
        text = (
            f"kept the stated schedule {_text(schedule)}, cost "
            f"{cost(schedule, degree, device):.3f}; {_text(best.schedule)} would cost "
            f"{best.cost:.3f}"
        )
        remark(PASS, op, "missed", text)


def _remark_choice(degree: int, count: int, device: Device) -> None:
    best, *others = candidates(degree, device)
    text = (
        f"ring degree {degree} on '{device.name}': {count} transforms as {_text(best.schedule)}, "
        f"cost {best.cost:.3f}"
    )
    if others:
        text += f"; next best {_text(others[0].schedule)}, cost {others[0].cost:.3f}"
    remark(PASS, None, "applied", text)


def _text(schedule: Schedule) -> str:
    return str([list(kernel) for kernel in schedule.kernels])
