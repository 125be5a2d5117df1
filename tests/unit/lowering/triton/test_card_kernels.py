"""The kernels that measure a card: what they compute, and that they compile for cards that are not there."""

import re

import pytest
import torch

from fhelium_ir.lowering.triton.card_kernels import (
    CHAINS,
    LANES,
    REGISTERS,
    UNROLLED,
    Probe,
    empty_probe,
    probe_module,
    product_probes,
    rate_probes,
)
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.reference.kernel import InterpretedKernels

LOOPS = 2


def all_probes() -> list[Probe]:
    return [*rate_probes(LOOPS).values(), *product_probes(LOOPS).values(), empty_probe()]


def test_triton_computes_what_the_exact_interpreter_does() -> None:
    probes = all_probes()
    module = probe_module(probes)
    printed, exact = TritonKernels(module, interpret=True), InterpretedKernels(module)
    for probe in probes:
        mine, wanted = probe.arguments("cpu"), probe.arguments("cpu")
        printed.launch(probe.name, (1,), mine)
        exact.launch(probe.name, (1,), wanted)
        assert torch.equal(mine[-1], wanted[-1]), probe.name
        assert mine[-1].count_nonzero() > LANES // 2, "results tell lanes apart"


def test_a_chain_is_as_long_as_it_says() -> None:
    """x -> x v + v from four sums of v, modulo 2^32."""
    probe = rate_probes(LOOPS)["low32"]
    _, words, out = probe.arguments("cpu")
    InterpretedKernels(probe_module([probe])).launch(
        probe.name, (1,), (torch.ones(2, dtype=torch.int32), words, out)
    )
    for lane in (0, 7, LANES - 1):
        v = 12345 * (lane + 1)
        total = 0
        for chain in range(CHAINS):
            x = (chain + 2) * v
            for _ in range(LOOPS * UNROLLED):
                x = x * v + v
            total += x
        assert int(out[lane]) % (1 << 32) == total % (1 << 32)
    assert probe.lane_operations == LOOPS * UNROLLED * CHAINS


def test_operations_of_a_launch() -> None:
    probe = rate_probes(LOOPS)["exchange"]
    assert probe.operations(3) == REGISTERS * LANES * probe.programs_per_sm * 3
    grids: list[tuple[int, ...]] = []
    probe.action(lambda name, grid, arguments: grids.append(grid), 3, "cpu")()
    assert grids == [(3 * probe.programs_per_sm,)]


@pytest.mark.parametrize("arch", [80, 90, 100])
def test_chains_stay_in_the_code(arch: int) -> None:
    """As many instructions per turn of the loop as the rates count: the compiler neither drops nor merges them."""
    probes = [*rate_probes().values(), *product_probes().values(), empty_probe()]
    compiled = TritonKernels(probe_module(probes), interpret=False).compile_for(("cuda", arch, 32))
    counts = {
        "fma": r"fma\.rn\.f64",
        "low32": r"mad\.lo\.s32",
        "wide32": r"mul\.(lo\.s64|wide\.u32)",
        "products_fp64": r"mul\.(rn\.)?f64",
    }
    for name, pattern in counts.items():
        text = compiled[name].asm["ptx"]
        assert isinstance(text, str)
        found = len(re.findall(pattern, text))
        assert UNROLLED * CHAINS <= found <= UNROLLED * CHAINS + 4, name
    exchange = compiled["exchange"].asm["ptx"]
    assert isinstance(exchange, str)
    stored = re.findall(r"st\.shared(?:\.v(\d))?\.b64", exchange)
    assert sum(int(count or 1) for count in stored) == REGISTERS, "a thread moves its words once"
    assert set(compiled) == {probe.name for probe in probes}
