"""The native code that threads share launches with, on processors that this machine is not."""

import pytest

from fhelium_ir.lowering.cpu.binding import Machine, assembly
from fhelium_ir.lowering.cpu.crew import crew_text


@pytest.mark.parametrize(
    ("triple", "wanted"),
    [
        ("x86_64-unknown-linux-gnu", ["lock\t\tcmpxchgq", "pause", "sched_yield"]),
        ("x86_64-pc-windows-msvc", ["lock\t\tcmpxchgq", "pause"]),
        ("aarch64-unknown-linux-gnu", ["ldaxr", "stlxr", "yield", "sched_yield", "dmb"]),
        ("arm64-apple-macosx", ["ldaxr", "stlxr", "yield", "sched_yield", "dmb"]),
        ("riscv64-unknown-linux-gnu", ["fence"]),
    ],
)
def test_waits_as_the_processor_and_the_system_want_it(triple: str, wanted: list[str]) -> None:
    machine = Machine(triple)
    text = assembly(machine.header() + crew_text(triple), machine)
    for part in wanted:
        assert part in text
    assert ("sched_yield" in text) == ("windows" not in triple)
