"""Splits of transforms: all candidates can be built, and the cheapest are the intended ones."""

from __future__ import annotations

import pytest

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.analysis.transform_schedules import candidates, check_fits, column_limit, cost
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
    best = candidates(8192, DEVICES["gpu"])[0].schedule
    assert best == Schedule(((4, 3), (3, 3)), rows=1, columns=8, warps=4)


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
