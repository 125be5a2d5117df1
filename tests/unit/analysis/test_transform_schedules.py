"""Splits of transforms: all candidates can be built, and the cheapest are the intended ones."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.analysis.transform_schedules import (
    candidates,
    check_exchange,
    check_fits,
    column_limit,
    cost,
    shoup_stages,
)
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.ntt import Schedule, check_schedule

DEGREES = [1 << stages for stages in range(3, 18)]


@pytest.mark.parametrize("device", sorted(DEVICES))
@pytest.mark.parametrize("degree", DEGREES)
def test_candidates_obey_the_rules_of_the_lowering(device: str, degree: int) -> None:
    found = candidates(degree, DEVICES[device])
    assert found
    assert [c.cost for c in found] == sorted(c.cost for c in found)
    for candidate in found:
        schedule = candidate.schedule
        check_schedule(schedule)
        assert schedule.stages() == degree.bit_length() - 1
        for kernel in schedule.kernels:
            first, second = kernel[0], kernel[1] if len(kernel) == 2 else 0
            assert second <= first <= 4
            rest = degree >> (first + second)
            if second:
                assert schedule.columns << (first - second) <= rest
            else:
                assert schedule.columns <= rest


@pytest.mark.parametrize(("stages", "kernels"), [(6, 1), (8, 1), (9, 2), (16, 2), (17, 3)])
def test_a_gpu_takes_the_fewest_kernels(stages: int, kernels: int) -> None:
    best = candidates(1 << stages, DEVICES["gpu"])[0].schedule
    assert len(best.kernels) == kernels


def test_a_gpu_balances_thirteen_stages() -> None:
    best = candidates(8192, DEVICES["gpu"].for_words("mont64"))[0].schedule
    assert best == Schedule(((4, 3), (3, 3)), rows=1, columns=8, warps=4)


def test_late_groups_compute_twiddle_factors_of_doubles() -> None:
    for degree, computed in ((256, []), (8192, [10]), (1 << 16, [8, 12])):
        best = candidates(degree, DEVICES["gpu"].for_words("fp64"))[0].schedule
        assert [start for start, _ in best.groups() if best.computes(start)] == computed
        for words in ("mont32", "mont64", None):
            schedule = candidates(degree, DEVICES["gpu"].for_words(words))[0].schedule
            assert schedule.table_stages == 0


def test_tables_of_groups_that_compute_their_factors() -> None:
    """Groups from stages 0, 3, 5 and 7: entries of stages 0 to 4, then one for each of 32 and of 128 blocks."""
    schedule = Schedule(((3, 2), (2, 2)), 1, 1, 1, table_stages=5)
    assert [schedule.computes(start) for start in (0, 3, 5, 7)] == [False, False, True, True]
    assert [schedule.twiddle_place(start) for start in (5, 7)] == [32, 64]
    assert schedule.twiddle_entries() == 32 + 32 + 128
    # Block 6 of stage 4 is number 0 of the two blocks of block 3 in front of the group.
    assert schedule.twiddle_entry(16 + 6) == 16 + 3 and schedule.twiddle_entry(16 + 7) == 16 + 8 + 3
    assert replace(schedule, table_stages=0).twiddle_entries() == 512
    assert replace(schedule, table_stages=6).twiddle_entries() == 128 + 128


@pytest.mark.parametrize("degree", DEGREES)
def test_a_cpu_has_even_groups_where_elements_are_contiguous(degree: int) -> None:
    """A vector of lanes then wants twiddle factors of one tile; and at most eight stages make a kernel."""
    best = candidates(degree, DEVICES["cpu"])[0].schedule
    assert len(set(best.kernels[-1])) == 1
    assert len(best.kernels) <= -(-(degree.bit_length() - 1) // 8) + 1
    if degree >= 1 << 12:
        assert best.columns >= 8


def test_a_cpu_puts_the_even_kernel_last() -> None:
    best = candidates(1 << 15, DEVICES["cpu"])[0].schedule
    assert best.kernels == ((4, 3), (4, 4))


def test_the_cost_of_a_known_schedule() -> None:
    # Two kernels read and write: 4; launches: 2 * 4096/8192; exchanges: 2/4; twiddles: (15/16 +
    # 3 * 7/8) / 8; registers: (16 + 3 * 8) / 16 / 4; the second kernel has 64 of 128 lanes: 1/20.
    schedule = Schedule(((4, 3), (3, 3)), rows=1, columns=8, warps=4)
    expected = 4 + 1 + 0.5 + (15 / 16 + 21 / 8) / 8 + 40 / 64 + 0.05
    assert cost(schedule, 8192, DEVICES["gpu"]) == pytest.approx(expected)


def test_limits_of_columns() -> None:
    assert column_limit(13, (4, 3)) == 32  # 2^13 / 2^7 / 2
    assert column_limit(13, (4,)) == 512
    assert column_limit(8, (4, 4)) == 1
    assert column_limit(7, (4, 3)) == 0
    assert column_limit(3, (4,)) == 0
    assert column_limit(13, (5, 4)) == 0


def test_hand_written_schedules_are_checked() -> None:
    check_fits(Schedule(((4, 3), (3, 3)), 1, 32, 4), 8192)
    with pytest.raises(FheliumError, match="columns = 64 is more than the 32 columns"):
        check_fits(Schedule(((4, 3), (3, 3)), 1, 64, 4), 8192)
    with pytest.raises(FheliumError, match="has 13 stages, ring degree 4096 needs 12"):
        check_fits(Schedule(((4, 3), (3, 3)), 1, 8, 4), 4096)


@pytest.mark.parametrize("arithmetic", ["mont32", "mont64"])
def test_where_devices_want_shoups_products(arithmetic: str) -> None:
    schedule = Schedule(((4, 3), (4, 2)), 1, 8, 4)
    # On 32-bit words a GPU multiplies as fast without.
    assert shoup_stages(schedule, DEVICES["gpu"], arithmetic) == (
        11 if arithmetic == "mont64" else 0
    )
    assert shoup_stages(schedule, DEVICES["cpu"], arithmetic) == 13
    assert shoup_stages(schedule, DEVICES["interpreter"], arithmetic) == 0
    for device in DEVICES.values():
        assert shoup_stages(schedule, device, "fp64") == shoup_stages(schedule, device, None) == 0


def test_an_exchange_takes_place_in_shared_memory() -> None:
    """16 words of 8 bytes of each lane: 1024 lanes have 128 KiB, 2048 have 256 KiB."""
    gpu = DEVICES["gpu"]
    check_exchange(Schedule(((4, 4), (4, 4)), 1, 64, 8), gpu, 8)
    check_exchange(Schedule(((4, 4), (4, 4)), 1, 128, 8), gpu, 4)
    check_exchange(Schedule(((4,), (4,), (4,), (4,)), 1, 4096, 8), gpu, 8)
    with pytest.raises(FheliumError, match=r"16 words of each of 2048 lanes, 262144 bytes; the"):
        check_exchange(Schedule(((4, 4), (4, 4)), 1, 128, 8), gpu, 8)
    check_exchange(Schedule(((4, 4), (4, 4)), 1, 128, 8), DEVICES["interpreter"], 8)


def test_schedules_keep_to_shared_memory() -> None:
    wide = replace(DEVICES["gpu"], lanes=8192, shared_bytes=64 << 10)
    for stages in range(12, 18):
        for candidate in candidates(1 << stages, wide):
            check_exchange(candidate.schedule, wide, 8)


def test_lanes_along_the_exchange_fill_vectors_in_the_kernel_of_contiguous_elements() -> None:
    """With 16 wanted, 8 cost one exchange of every word more, which other groups of stages avoid."""
    cpu = DEVICES["cpu"]
    anyhow = replace(cpu, contiguous_lanes=0)
    short, full = Schedule(((4, 3), (3, 3)), 1, 8, 1), Schedule(((3, 2), (4, 4)), 1, 8, 1)
    assert cost(short, 8192, cpu) == cost(short, 8192, anyhow) + cpu.exchange_cost
    assert cost(full, 8192, cpu) == cost(full, 8192, anyhow)
    assert candidates(8192, anyhow)[0].schedule == short
    assert candidates(8192, cpu)[0].schedule == full


def test_columns_of_narrow_words_fill_a_vector() -> None:
    cpu = DEVICES["cpu"]
    for degree in (1 << 13, 1 << 14, 1 << 15):
        narrow = candidates(degree, cpu.for_words("mont32"))[0].schedule
        wide = candidates(degree, cpu.for_words("fp64"))[0].schedule
        assert narrow == replace(wide, columns=2 * wide.columns)
        assert narrow.warps == 1
