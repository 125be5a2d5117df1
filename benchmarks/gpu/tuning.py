"""Schedules worth timing, and programs that are nothing but one transform with a stated schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gpu_rows import module, primes_below
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.analysis.device import Device
from fhelium_ir.analysis.transform_schedules import (
    LANES_PER_WARP,
    candidates,
    check_exchange,
    check_fits,
    shoup_stages,
)
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.dialects.ntt import Schedule, ScheduleAttr
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.kernel_libraries import load_kernels
from fhelium_ir.lowering.triton import compile_ahead
from fhelium_ir.parameters import Parameters
from gpu.stages import lower, polynomial_stage

LIMBS = 32
LANES = (64, 128, 256, 512)
LANES_A_WORD = (1, 2)
"""Lanes of a program for each thread."""

SPLITS = 4
"""Splits into kernels that are tried, the cheapest by the model first."""


def schedules(degree: int, arithmetic: str, device: Device) -> list[Schedule]:
    """Schedules to time, the model's choice first, then by split, and near the model's number of lanes first."""
    words = device.for_words(arithmetic)
    found: list[Schedule] = []
    near = sorted(LANES, key=lambda lanes: max(lanes, words.lanes) / min(lanes, words.lanes))
    for candidate in candidates(degree, words)[:SPLITS]:
        stages = shoup_stages(candidate.schedule, words, arithmetic)
        chosen = replace(candidate.schedule, shoup=stages)
        for schedule in (chosen, *_variants(chosen, near, arithmetic)):
            if schedule not in found and _fits(schedule, degree, arithmetic, device):
                found.append(schedule)
    return found


def _variants(schedule: Schedule, lanes: Sequence[int], arithmetic: str) -> Iterator[Schedule]:
    widest = max(1 << kernel[0] if len(kernel) == 2 else 1 for kernel in schedule.kernels)
    for same in _factors(schedule, arithmetic):
        for wanted in lanes:
            columns = max(1, wanted // (widest * schedule.rows))
            for share in LANES_A_WORD:
                warps = min(16, max(1, wanted // (LANES_PER_WARP * share)))
                yield replace(same, columns=columns, warps=warps)


def _factors(schedule: Schedule, arithmetic: str) -> Iterator[Schedule]:
    """Ways to come by twiddle factors and to multiply by them: as the schedule does, and others.

    On doubles, reading all factors; on unsigned words, Shoup's products nowhere, in front of the last group, or
    everywhere.
    """
    yield schedule
    if ARITHMETICS[arithmetic].floating:
        yield replace(schedule, table_stages=0)
        return
    if ARITHMETICS[arithmetic].signed:
        return
    for stages in (0, schedule.groups()[-1][0], schedule.stages()):
        yield replace(schedule, shoup=stages)


def _fits(schedule: Schedule, degree: int, arithmetic: str, device: Device) -> bool:
    try:
        check_fits(schedule, degree)
        check_exchange(schedule, device, ARITHMETICS[arithmetic].word_bits // 8)
    except FheliumError:
        return False
    return True


def transform_text(
    degree: int, arithmetic: str, rows: int, schedule: Schedule | None
) -> tuple[Parameters, str]:
    """A forward transform of `rows` residue polynomials, modulo up to 32 primes of the arithmetic."""
    limbs = min(LIMBS, rows)
    bits = ARITHMETICS[arithmetic].prime_bits
    primes = primes_below(1 << bits, degree, limbs + 1)
    chosen = Parameters(degree, tuple(primes[1:]), (primes[0],), limbs, 20, "ternary", True)
    components = f"components = {rows // limbs}, " if rows > limbs else ""
    basis = f"!rns.poly<{degree}, q 0:{limbs}, {components}"
    before, after = f"{basis}coefficient>", f"{basis}evaluation(?)>"
    stated = f" {{schedule = {ScheduleAttr(schedule)}}}" if schedule is not None else ""
    body = (
        f"func.func @row(%x : {before}) -> {after} {{\n"
        f"  %r = ntt.forward %x{stated} : {before}\n  return %r : {after}\n}}\n"
    )
    return chosen, module(chosen, body)


def lowered_transform(
    degree: int, arithmetic: str, rows: int, schedule: Schedule | None
) -> ModuleOp:
    """Its kernels and host program."""
    _, text = transform_text(degree, arithmetic, rows, schedule)
    return lower(polynomial_stage(text), arithmetic, {})


def compile_transform(
    degree: int, arithmetic: str, rows: Sequence[int], schedule: Schedule
) -> list[str]:
    """Fills Triton's disk cache with the kernels of a transform, which are the same for any number of rows.

    Returns:
        The lowered modules as text, one for each number of rows: for another process to link.
    """
    # This process is one of many: it needs none of its own.
    compile_ahead.MIN_JOBS = 1 << 10
    modules = [lowered_transform(degree, arithmetic, count, schedule) for count in rows]
    load_kernels(modules[0], "cuda")
    return [mlir_text(lowered) for lowered in modules]
