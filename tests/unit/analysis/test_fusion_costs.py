"""The inner product with a key inside a transform: what is weighed, from counts by hand."""

from __future__ import annotations

from dataclasses import replace

from fhelium_ir.analysis.device import DEVICES
from fhelium_ir.analysis.fusion_costs import ProductCosts, product_costs
from fhelium_ir.analysis.region_nodes import Node, RegionGraph
from fhelium_ir.dialects.rns import Limb

DEVICE = replace(
    DEVICES["gpu"], memory_cost=1.0, launch_cost=100.0, registers=255, busy_lanes=1 << 15
)


def graph(degree: int, limbs: int, digit_rows: int, arithmetic: str = "mont64") -> RegionGraph:
    """A region of an inner product of two components, with no more than costs look at."""
    products = tuple(Node("key_product", (0,), (0, 0, 0, 0, 1, 4, k)) for k in range(2))
    rows = tuple(Limb("q", index) for index in range(limbs))
    result = RegionGraph(degree, arithmetic, rows, products, (), None, (), ())
    digits = replace(result, limbs=(Limb("q", 0),) * digit_rows, nodes=())
    return replace(result, digits=digits)


def test_a_large_product_saves_the_digits() -> None:
    # 35 limbs of 2^16 / 16 lanes: more than enough to keep the device busy.
    costs = product_costs(graph(1 << 16, 35, 112), DEVICE)
    assert costs is not None
    assert costs == ProductCosts(2 * 112 * 65536 + 100, 0.0, 3 * 16 * 2 + 64)
    assert costs.reason(DEVICE) == ""


def test_digits_one_after_the_other_leave_a_small_grid_idle() -> None:
    # 6 * 2^12 / 16 = 1536 lanes; three digits and a third for each limb, one after the other.
    costs = product_costs(graph(1 << 12, 6, 20), DEVICE)
    assert costs is not None
    passed = 2 * 20 * 4096
    assert abs(costs.lost - (20 / 6 - 1) * passed) < 1
    assert costs.reason(DEVICE) == f"it saves {passed + 100} moved words and costs {costs.lost:.0f}"
    patient = product_costs(graph(1 << 12, 6, 20), replace(DEVICE, busy_lanes=0))
    assert patient is not None and patient.lost == 0 and patient.reason(DEVICE) == ""


def test_sums_that_do_not_fit_a_lane() -> None:
    few = replace(DEVICE, registers=128)
    wide, narrow = (
        product_costs(graph(1 << 16, 35, 112, name), few) for name in ("mont64", "mont32")
    )
    assert wide is not None and "take 160 registers, a lane of 'gpu' has 128" in wide.reason(few)
    assert narrow is not None and narrow.registers == 112 and narrow.reason(few) == ""


def test_no_product_no_costs() -> None:
    assert product_costs(replace(graph(64, 2, 2), digits=None), DEVICE) is None
