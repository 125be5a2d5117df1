"""`tune-ntt-schedules`: how each transform is cut into kernels."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import Device, load_device
from fhelium_ir.analysis.representatives import poly
from fhelium_ir.analysis.schedule_table import ScheduleTable, load_table
from fhelium_ir.analysis.transform_schedules import candidates, check_exchange, check_fits, cost
from fhelium_ir.backend.registry import active_registry, requested_name
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark, remarks_wanted
from fhelium_ir.dialects import fusion, kernel, ntt, rns
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.dialects.rns import PolyFacts
from fhelium_ir.dialects.zq import ARITHMETICS, FLOATING, MIXED, MIXED_GROUPS

PASS = "tune-ntt-schedules"

SCHEDULES = {FLOATING: "float_schedule"}
"""Properties that hold the schedules of groups of primes in a mixed module; all others are `schedule`."""

BUSY = 1
"""So many times the lanes that keep a device busy are left when programs convert several rows."""

ELEMENTS_PER_LANE = 4
LARGEST_TILE = 8192


@dataclass(frozen=True)
class TuneNttSchedules(ModulePass):
    """Gives every transform a schedule: kernels, columns per program and warps.

    The implementations in the registry offer schedules (`select_ntt_schedule`). The compiler's own
    takes the best of the splits that the lowering can build, by a cost model over the device's
    description: memory passes and launches, exchanges, twiddle loads, idle lanes. A hand-written schedule is
    kept if it can be built. Contracts and values do not change. All transforms of one ring degree
    get the same schedule, so that they share kernels; in a mixed module one for each group of primes. Where a base
    conversion feeds a forward transform of many residue polynomials, its programs compute two of them if the device
    wants that (`converted_rows`).

    A table of timed schedules (`benchmarks/tune_transforms.py` writes one) goes before the offers, for the ring degrees
    and arithmetics that it has; of several entries, that for the nearest number of residue polynomials.

    Regions without a transform share one tile, which the module attribute `kernel.tile` states
    (rows, columns, warps); a stated tile is kept.

    Options:
        device: a built-in description (`gpu`, `cpu`, `interpreter`), a measured one (`host`, `cuda`) or a JSON file.
        table: a JSON file of timed schedules.
    """

    name = PASS
    device: str = "gpu"
    table: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        device = load_device(self.device)
        table = load_table(self.table, device) if self.table else None
        if kernel.TILE not in op.attributes:
            op.attributes[kernel.TILE] = DenseArrayBase.from_list(i64, _tile(device))
        tuned: Counter[tuple[int, Schedule, str | None]] = Counter()
        offers: dict[tuple[object, ...], Schedule | None] = {}
        for inner in op.walk():
            if not isinstance(inner, ntt.TransformOp):
                continue
            whole = poly(inner.operand)
            assert whole is not None
            mixed = whole.arithmetic == MIXED
            for group in (part.name if mixed else None for part in MIXED_GROUPS[: 1 + mixed]):
                facts = whole.of_group(group)
                stated = inner.schedule_of(group)
                if stated is not None:
                    _keep(inner, stated, facts, device.for_words(facts.arithmetic))
                    continue
                schedule = _timed(inner, facts, table)
                if schedule is None:
                    schedule = _offer(inner, facts, device, offers)
                    if schedule is not None and _alone(inner):
                        schedule = _less_computed(schedule)
                if schedule is not None and not mixed and _requested(inner) is None:
                    schedule = _paired(inner, schedule, facts, device)
                if schedule is not None:
                    inner.properties[SCHEDULES.get(group or "", "schedule")] = ScheduleAttr(
                        schedule
                    )
                    tuned[facts.degree, schedule, facts.arithmetic] += 1
        if remarks_wanted():
            for (degree, schedule, arithmetic), count in tuned.items():
                _remark_choice(degree, schedule, count, device.for_words(arithmetic))


def _timed(op: ntt.TransformOp, facts: PolyFacts, table: ScheduleTable | None) -> Schedule | None:
    """What the table says of a transform, unless another implementation is asked for it."""
    if table is None or _requested(op) is not None:
        return None
    return table.find(facts.degree, facts.arithmetic, len(facts.rows()) * facts.components)


def _alone(op: ntt.TransformOp) -> bool:
    """Whether a region is about nothing but this transform and the form of its words."""
    parent = op.parent_op()
    return isinstance(parent, fusion.FusedOp) and all(
        isinstance(other, rns.SetRepresentativeOp | fusion.YieldOp) or other is op
        for other in parent.body.block.ops
    )


def _less_computed(schedule: Schedule) -> Schedule:
    """Twiddle factors are computed in the last group only, where there are most of them: without other work in its
    kernels, registers are left for reading those of the groups before it."""
    start, _ = schedule.groups()[-1]
    return replace(schedule, table_stages=start) if schedule.computes(start) else schedule


def _paired(op: ntt.TransformOp, schedule: Schedule, facts: PolyFacts, device: Device) -> Schedule:
    """Lets programs of a base conversion have as many rows as the device wants, if enough programs are left."""
    wanted = device.for_words(facts.arithmetic).converted_rows
    if wanted == 1 or schedule.rows > 1 or not _converts(op):
        return schedule
    rows = len(facts.rows()) * facts.components
    lanes = rows * (facts.degree >> schedule.kernels[0][0])
    if lanes < wanted * BUSY * device.busy_lanes:
        return schedule
    return replace(schedule, converted_rows=wanted)


def _converts(op: ntt.TransformOp) -> bool:
    """Whether one base conversion feeds a forward transform in its region, and needs no correction or one that a kernel
    of its own computes."""
    if not isinstance(op, ntt.ForwardOp) or not isinstance(op.parent_op(), fusion.FusedOp):
        return False
    found: set[rns.BaseConvertOp] = set()
    pending: list[SSAValue] = [op.operand]
    while pending:
        value = pending.pop()
        owner = value.owner
        if isinstance(owner, rns.BaseConvertOp):
            found.add(owner)
        elif isinstance(owner, Operation):
            pending.extend(owner.operands)
    if len(found) != 1:
        return False
    (convert,) = found
    source = poly(convert.operand)
    assert source is not None
    return convert.correction.data == "none" or (
        convert.result is op.operand and len(source.rows()) > 1
    )


def _requested(op: ntt.TransformOp) -> str | None:
    parent = op.parent_op()
    return requested_name(op) or (requested_name(parent) if parent is not None else None)


def _offer(
    op: ntt.TransformOp,
    facts: PolyFacts,
    device: Device,
    known: dict[tuple[object, ...], Schedule | None],
) -> Schedule | None:
    """What the implementations offer; None where one that brings its own code wants no schedule.

    Raises:
        FheliumError: nobody offers a schedule, or one that the lowering cannot build.
    """
    direction = "forward" if isinstance(op, ntt.ForwardOp) else "inverse"
    name = _requested(op)
    key = (name, facts.degree, direction, facts.arithmetic)
    if key not in known:
        try:
            known[key] = active_registry().select_ntt_schedule(
                name,
                degree=facts.degree,
                direction=direction,
                device=device.for_words(facts.arithmetic),
                arithmetic=facts.arithmetic,
            )
        except FheliumError as error:
            raise FheliumError(f"{PASS}: {op.name}: {error.message}", location_of(op)) from error
    offered = known[key]
    if name is None and offered is None:
        names = ", ".join(entry.name for entry in active_registry().implementations) or "none"
        raise FheliumError(
            f"{PASS}: no implementation offers a schedule for {op.name}; registered: {names}",
            location_of(op),
        )
    if name is None and offered is not None:
        _check(op, offered, facts, device)
    return offered


def _tile(device: Device) -> list[int]:
    """Rows, columns and warps of an element-wise program: a few elements for each wanted lane."""
    lanes = min(ELEMENTS_PER_LANE * device.lanes, LARGEST_TILE)
    columns = 1 << max(0, (lanes // device.rows).bit_length() - 1)
    return [device.rows, columns, device.warps]


def _check(op: ntt.TransformOp, schedule: Schedule, facts: PolyFacts, device: Device) -> None:
    arithmetic = ARITHMETICS.get(facts.arithmetic or "mont64")
    try:
        check_fits(schedule, facts.degree)
        if arithmetic is not None:
            check_exchange(schedule, device, arithmetic.word_bits // 8)
    except FheliumError as error:
        raise FheliumError(f"{PASS}: {op.name}: {error.message}", location_of(op)) from error


def _keep(op: ntt.TransformOp, schedule: Schedule, facts: PolyFacts, device: Device) -> None:
    _check(op, schedule, facts, device)
    degree = facts.degree
    if remarks_wanted():
        best = candidates(degree, device)[0]
        text = (
            f"kept the stated schedule {_text(schedule)}, cost "
            f"{cost(schedule, degree, device):.3f}; {_text(best.schedule)} would cost "
            f"{best.cost:.3f}"
        )
        remark(PASS, op, "missed", text)


def _remark_choice(degree: int, chosen: Schedule, count: int, device: Device) -> None:
    options = f", Shoup's products in {chosen.shoup} stages" if chosen.shoup else ""
    if chosen.converted_rows > 1:
        options += f", {chosen.converted_rows} rows of a base conversion at once"
    text = (
        f"ring degree {degree} on '{device.name}': {count} transforms as {_text(chosen)}{options}, "
        f"cost {cost(chosen, degree, device):.3f}"
    )
    plain = replace(chosen, shoup=0, converted_rows=1)
    others = [e for e in candidates(degree, device) if e.schedule != plain]
    if others:
        text += f"; next best {_text(others[0].schedule)}, cost {others[0].cost:.3f}"
    remark(PASS, None, "applied", text)


def _text(schedule: Schedule) -> str:
    return str([list(kernel) for kernel in schedule.kernels])
