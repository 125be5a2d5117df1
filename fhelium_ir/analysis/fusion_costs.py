"""What the inner product with a key costs inside the transform of its digits, against a kernel of its own.

Apart, the last kernel of the transform writes every transformed digit and another kernel reads it again. Together, one
program takes a row of the result through all its digits: words stay in registers, and there are fewer programs.
"""

from __future__ import annotations

from dataclasses import dataclass

from fhelium_ir.analysis.device import Device
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.dialects.zq import ARITHMETICS

OTHER_REGISTERS = 64
"""Addresses, twiddle factors, the modulus and what a product takes, in 32-bit registers."""


@dataclass(frozen=True)
class ProductCosts:
    """In moved words, as the costs of a device.

    Attributes:
        saved: digits that are not written and read, and a launch.
        lost: for each factor by which the lanes of all programs fall short of what keeps the device busy (at most the
            digits of a limb, as digits follow each other), the words that the kernel reads and writes.
        registers: 32-bit registers of a lane: the sums of all components and a digit.
    """

    saved: float
    lost: float
    registers: int

    def reason(self, device: Device) -> str:
        """Why the two stay apart, empty if they are better together."""
        if device.registers and self.registers > device.registers:
            return (
                f"the sums and a digit take {self.registers} registers, a lane of "
                f"'{device.name}' has {device.registers}"
            )
        if self.lost >= self.saved:
            return f"it {self.text()}"
        return ""

    def text(self) -> str:
        return f"saves {self.saved:.0f} moved words and costs {self.lost:.0f}"


def product_costs(graph: RegionGraph, device: Device) -> ProductCosts | None:
    """The costs of a region's inner product; None if the region has none inside of its transform."""
    digits = graph.digits
    if digits is None:
        return None
    held = 1 << device.register_stages
    components = {node.data[-1] for node in graph.nodes if node.kind == "key_product"}
    width = ARITHMETICS[graph.arithmetic].word_bits // 32
    registers = (len(components) + 1) * held * width + OTHER_REGISTERS
    passed = 2 * len(digits.limbs) * graph.degree * device.memory_cost
    lanes = len(graph.limbs) * graph.degree // held
    stretch = max(1.0, min(len(digits.limbs) / len(graph.limbs), device.busy_lanes / lanes))
    return ProductCosts(passed + device.launch_cost, (stretch - 1) * passed, registers)
