"""Splits of a transform into kernels: which ones the lowering can build, and what they cost on a
device.

A kernel performs one group of a stages on the 2^a registers of a lane, or two groups of a and b <=
a stages with an exchange between them: an axis of 2^a lanes is swapped with the registers, and a -
b bits of that axis are bits of the column number. The lanes of a program are rows * columns, times
2^a where there is an exchange.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log2

from fhelium_ir.analysis.device import REGISTER_STAGES_LIMIT, Device
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.ntt import Schedule

Kernel = tuple[int, ...]

SPARE_KERNELS = 1
"""Candidates have at most this many kernels more than the fewest possible."""

LANES_PER_WARP = 32

LONGEST_WORD = 8
"""Bytes."""


@dataclass(frozen=True)
class Candidate:
    """A schedule and its cost per word of a transform, in moved words."""

    schedule: Schedule
    cost: float


def column_limit(stages: int, kernel: Kernel) -> int:
    """The most columns that a program can hold of one kernel of a transform of degree 2^stages.

    0 if the lowering cannot build the kernel for this degree.
    """
    first, second = kernel[0], kernel[1] if len(kernel) == 2 else 0
    if first > REGISTER_STAGES_LIMIT or second > first or first + second > stages:
        return 0
    blocks = 1 << (stages - first - second)
    return blocks >> (first - second) if len(kernel) == 2 else blocks


def check_fits(schedule: Schedule, degree: int) -> None:
    """Checks that the lowering can build a schedule for a ring degree.

    Raises:
        FheliumError: names the kernel or the number that does not fit.
    """
    stages = degree.bit_length() - 1
    if schedule.stages() != stages:
        raise FheliumError(
            f"the schedule has {schedule.stages()} stages, ring degree {degree} needs {stages}"
        )
    for kernel in schedule.kernels:
        if max(kernel) > REGISTER_STAGES_LIMIT:
            raise FheliumError(
                f"kernel {list(kernel)} has a group of more than {REGISTER_STAGES_LIMIT} stages"
            )
        limit = column_limit(stages, kernel)
        if limit == 0:
            raise FheliumError(
                f"kernel {list(kernel)} has no room for its exchange in ring degree {degree}"
            )
        if schedule.columns > limit:
            raise FheliumError(
                f"columns = {schedule.columns} is more than the {limit} columns of kernel "
                f"{list(kernel)} in ring degree {degree}"
            )


def check_exchange(schedule: Schedule, device: Device, word_bytes: int) -> None:
    """Checks that the lanes of a program can exchange their words at once in the memory that they share.

    Raises:
        FheliumError: names the kernel whose words take too many bytes.
    """
    if not device.shared_bytes:
        return
    for kernel in schedule.kernels:
        wanted = exchanged_words(schedule, kernel) * word_bytes
        if wanted > device.shared_bytes:
            lanes = schedule.rows * schedule.columns * _lanes_per_column(kernel)
            raise FheliumError(
                f"kernel {list(kernel)} exchanges {1 << kernel[0]} words of each of {lanes} lanes, "
                f"{wanted} bytes; the lanes of a program of '{device.name}' share "
                f"{device.shared_bytes}"
            )


def exchanged_words(schedule: Schedule, kernel: Kernel) -> int:
    """Words that all lanes of a program exchange at once, 0 without an exchange."""
    lanes = schedule.rows * schedule.columns * _lanes_per_column(kernel)
    return lanes << kernel[0] if len(kernel) == 2 else 0


@lru_cache(maxsize=256)
def candidates(degree: int, device: Device) -> tuple[Candidate, ...]:
    """Schedules for a ring degree, cheapest first; of equally cheap ones the most even first."""
    stages = degree.bit_length() - 1
    largest = device.register_stages * (2 if device.exchange else 1)
    fewest = -(-stages // largest)
    found: list[Candidate] = []
    # The fewest kernels may all be impossible in a small ring, so the limit can move.
    for count in range(fewest, stages + 1):
        if found and count > fewest + SPARE_KERNELS:
            break
        for split in _splits(stages, count, _kernels(device), None):
            for kernels in _arrangements(split, device):
                schedule = _schedule(stages, kernels, device)
                if schedule is not None:
                    found.append(Candidate(schedule, cost(schedule, degree, device)))
    return tuple(sorted(found, key=lambda c: (c.cost, _unevenness(c.schedule), _order(c))))


def _kernels(device: Device) -> list[Kernel]:
    limit = device.register_stages
    single: list[Kernel] = [(a,) for a in range(1, limit + 1)]
    if not device.exchange:
        return single
    return single + [(a, b) for a in range(1, limit + 1) for b in range(1, a + 1)]


def _splits(
    stages: int, count: int, kernels: list[Kernel], before: Kernel | None
) -> Iterator[tuple[Kernel, ...]]:
    """All ways to write `stages` as `count` kernels in descending order; costs ignore the order."""
    if count == 0:
        if stages == 0:
            yield ()
        return
    for kernel in kernels:
        rest = stages - sum(kernel)
        if rest < count - 1 or (before is not None and _key(kernel) > _key(before)):
            continue
        for others in _splits(rest, count - 1, kernels, kernel):
            yield (kernel, *others)


def _arrangements(split: tuple[Kernel, ...], device: Device) -> Iterator[tuple[Kernel, ...]]:
    """The split, and where it matters which kernel has the contiguous elements, each kernel last."""
    yield split
    if device.uneven_cost > 0:
        for place, kernel in enumerate(split[:-1]):
            if kernel not in split[place + 1 :]:
                yield (*split[:place], *split[place + 1 :], kernel)


def _key(kernel: Kernel) -> tuple[int, Kernel]:
    return sum(kernel), kernel


def _schedule(stages: int, kernels: tuple[Kernel, ...], device: Device) -> Schedule | None:
    """The split with the most columns that fit every kernel and the lanes that the device wants."""
    limit = min(column_limit(stages, kernel) for kernel in kernels)
    if limit == 0:
        return None
    widest = max(_lanes_per_column(kernel) for kernel in kernels)
    columns = max(1, min(limit, device.lanes // (widest * device.rows)))
    columns = 1 << (columns.bit_length() - 1)
    while columns > 1 and not _can_exchange(Schedule(kernels, device.rows, columns, 1), device):
        columns //= 2
    lanes = device.rows * columns * widest
    warps = 1
    while warps < device.warps and warps * LANES_PER_WARP < lanes:
        warps *= 2
    schedule = Schedule(kernels, device.rows, columns, warps)
    start, _ = schedule.groups()[-1]
    if 0 < device.table_stages <= start:
        return replace(schedule, table_stages=device.table_stages)
    return schedule


def _can_exchange(schedule: Schedule, device: Device) -> bool:
    words = max(exchanged_words(schedule, kernel) for kernel in schedule.kernels)
    return not device.shared_bytes or words * LONGEST_WORD <= device.shared_bytes


def _lanes_per_column(kernel: Kernel) -> int:
    return 1 << kernel[0] if len(kernel) == 2 else 1


def cost(schedule: Schedule, degree: int, device: Device) -> float:
    """Cost per word of a transform, in moved words.

    Each kernel reads and writes every word and is launched once; an exchange moves every word once
    between lanes; a group of a stages reads 2^a - 1 twiddle factors for 2^a words and holds 2^a
    words per lane; a program with fewer lanes than the device wants leaves it idle. Lanes of the kernel of contiguous
    elements are vectors along the exchange, where the device has vectors.
    """
    total = 0.0
    for kernel in schedule.kernels:
        lanes = schedule.rows * schedule.columns * _lanes_per_column(kernel)
        total += 2 * device.memory_cost + device.launch_cost / degree
        total += device.exchange_cost * (len(kernel) - 1)
        total += device.twiddle_cost * sum(1 - 2.0**-group for group in kernel)
        total += device.register_cost * sum(2.0**group / 16 for group in kernel)
        total += device.idle_cost * max(0.0, log2(device.lanes / lanes))
    if len(set(schedule.kernels[-1])) == 2:
        total += 2 * device.uneven_cost
    if device.contiguous_lanes:
        missing = log2(device.contiguous_lanes / _lanes_per_column(schedule.kernels[-1]))
        total += device.exchange_cost * max(0.0, missing)
    return total


def shoup_stages(schedule: Schedule, device: Device, arithmetic: object) -> int:
    """Of how many stages, the first ones, a device wants the products to be Shoup's."""
    if arithmetic not in device.shoup:
        return 0
    last, _ = schedule.groups()[-1]
    return schedule.stages() if device.shoup_last else last


def _unevenness(schedule: Schedule) -> tuple[int, int]:
    kernels = sum(sum(kernel) ** 2 for kernel in schedule.kernels)
    groups = sum(group**2 for kernel in schedule.kernels for group in kernel)
    return kernels, groups


def _order(candidate: Candidate) -> tuple[Kernel, ...]:
    return candidate.schedule.kernels
