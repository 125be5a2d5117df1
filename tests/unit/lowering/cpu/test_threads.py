"""Launches on several threads give what one thread gives."""

import ctypes
import os
import threading
from collections.abc import Callable

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu import kernels as kernels_module
from fhelium_ir.lowering.cpu import threads
from fhelium_ir.lowering.cpu.kernels import CpuKernels

Parse = Callable[[str], ModuleOp]

BUFFER = "!kernel.buffer<i64>"
SQUARES = f"""
kernel.func @f(%x : {BUFFER}, %n : i64) lanes [64] grid 2 {{
  %p = kernel.program_id 0
  %q = kernel.program_id 1
  %l = kernel.lane_id 0
  %c64 = arith.constant 64 : i64
  %c5 = arith.constant 5 : i64
  %a = arith.muli %q, %c5 : i64
  %b = arith.addi %a, %p : i64
  %c = arith.muli %b, %c64 : i64
  %i = arith.addi %c, %l : i64
  %v = kernel.load %x[%i] : {BUFFER} -> i64
  %low, %high = arith.mului_extended %v, %v : i64
  %w = arith.addi %low, %high : i64
  %s = arith.addi %w, %n : i64
  kernel.store %s, %x[%i] : i64, {BUFFER}
  kernel.return
}}"""


ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_char_p)


def native(function: threads.Call) -> threads.Call:
    """A native function that calls one of Python; what it raises is lost."""
    return ENTRY(function)


def ints(values: torch.Tensor) -> list[int]:
    return [int(value) for value in values]


def expected(start: list[int], steps: list[int]) -> list[int]:
    values = start
    for n in steps:
        values = [(v * v + (v * v >> 64) + n) % 2**64 for v in values]
    return [v - (v >> 63 << 64) for v in values]


@pytest.mark.parametrize("count", [1, 2, 3, 16])
def test_same_results_on_any_number_of_threads(
    parse: Parse, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    monkeypatch.setattr(kernels_module, "THREAD_SECONDS", 1e-12)
    kernels = CpuKernels(parse(SQUARES), threads=count)
    size = 5 * 7 * 64
    start = [(k * 0x9E3779B97F4A7C15 + 12345) % 2**64 for k in range(size)]
    x = torch.tensor([v - (v >> 63 << 64) for v in start])
    steps = list(range(40))
    for n in steps:
        kernels.launch("f", (5, 7), [x, n])
    assert ints(x) == expected(start, steps)


def test_short_launches_stay_in_one_thread(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("split")

    monkeypatch.setattr(kernels_module, "run_split", refuse)
    kernels = CpuKernels(parse(SQUARES), threads=4)
    x = torch.zeros(5 * 64, dtype=torch.int64)
    monkeypatch.setattr(kernels_module, "THREAD_SECONDS", 1e6)
    for _ in range(3):
        kernels.launch("f", (5, 1), [x, 1])
    monkeypatch.setattr(kernels_module, "THREAD_SECONDS", 1e-12)
    kernels.launch("f", (1, 1), [x, 1])
    kernels.launch("f", (0, 1), [x, 1])
    with pytest.raises(AssertionError, match="split"):
        kernels.launch("f", (5, 1), [x, 1])


@pytest.mark.parametrize(("programs", "parts"), [(1, 1), (7, 2), (7, 7), (100, 3), (12345, 2)])
def test_parts_make_up_all_programs(programs: int, parts: int) -> None:
    seen: list[tuple[int, int, bytes]] = []
    names: set[str] = set()

    def call(begin: int, end: int, word: bytes) -> None:
        seen.append((begin, end, word))
        names.add(threading.current_thread().name)

    threads.run_split(native(call), programs, parts, b"9")
    assert sorted(k for begin, end, _ in seen for k in range(begin, end)) == list(range(programs))
    assert len(seen) == min(programs, threads.CHUNKS * parts)
    assert {word for *_, word in seen} == {b"9"}
    assert threading.current_thread().name in names


def test_later_chunks_are_smaller() -> None:
    sizes: dict[int, int] = {}
    threads.run_split(
        native(lambda begin, end, _: sizes.update({begin: end - begin})), 6400, 2, b""
    )
    # The part that is left after k of 8 chunks is (1 - k/8)^2.
    assert [sizes[begin] for begin in sorted(sizes)] == [100 * (15 - 2 * k) for k in range(8)]


def test_a_thread_that_is_held_up_gets_less_to_do() -> None:
    """The first chunk of this thread lasts until all others are done."""
    others = threading.Event()
    begun: list[int] = []
    waited: list[bool] = []

    def call(begin: int, _end: int, _: bytes) -> None:
        begun.append(begin)
        if len(begun) == 2 * threads.CHUNKS:
            others.set()
        if begin == 0:
            waited.append(others.wait(10))

    threads.run_split(native(call), 100, 2, b"")
    assert len(begun) == 2 * threads.CHUNKS
    assert waited == [True]


def test_an_interrupt_comes_out_when_no_part_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    ended: list[int] = []

    def call(begin: int, _end: int, _: bytes) -> None:
        begun.append(begin)
        threading.Event().wait(0.02)
        ended.append(begin)

    def interrupted(*_: object) -> float:
        threading.Event().wait(0.03)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(threads, "_timed", interrupted)
        with pytest.raises(KeyboardInterrupt):
            threads.run_split(native(call), 12, 3, b"")
    assert sorted(ended) == sorted(begun)
    begun.clear()
    ended.clear()
    threads.run_split(native(call), 12, 3, b"")
    assert sorted(ended) == sorted(begun)
    assert len(ended) == 12


def test_nobody_waits_for_a_thread_without_work() -> None:
    """All other threads are busy elsewhere; this one does everything and goes on."""
    release, busy = threading.Event(), threading.Event()
    held: list[bool] = []

    def block(begin: int, _end: int, _: bytes) -> None:
        if threading.current_thread().name == "fhelium-kernels":
            busy.set()
            held.append(release.wait(10))
        elif begin == 0:
            held.append(busy.wait(10))

    holder = threading.Thread(target=threads.run_split, args=(native(block), 8, 2, b""))
    try:
        holder.start()
        assert busy.wait(10)
        seen: list[int] = []
        call = native(lambda begin, end, _: seen.extend(range(begin, end)))
        threads.run_split(call, 8, 2, b"")
        assert seen == list(range(8))
    finally:
        release.set()
        holder.join()
    assert all(held)


def test_threads_that_watch_are_used_again() -> None:
    """One job after the other, far more than threads go to sleep in between."""
    total = [0]
    lock = threading.Lock()

    def call(begin: int, end: int, _: bytes) -> None:
        with lock:
            total[0] += sum(range(begin, end))

    entry = native(call)
    for _ in range(500):
        threads.run_split(entry, 40, 3, b"")
    assert total[0] == 500 * sum(range(40))


def test_launches_from_several_threads(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels_module, "THREAD_SECONDS", 1e-12)
    kernels = CpuKernels(parse(SQUARES), threads=3)
    xs = [torch.full((5 * 64,), k) for k in range(4)]

    def work(x: torch.Tensor) -> None:
        for n in range(50):
            kernels.launch("f", (5, 1), [x, n])

    callers = [threading.Thread(target=work, args=(x,)) for x in xs]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    for k, x in enumerate(xs):
        assert ints(x) == expected([k], list(range(50))) * 320


@native
def nothing(*_: object) -> None:
    pass


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_child_starts_its_own_threads() -> None:
    threads.run_split(nothing, 4, 4, b"")
    child = os.fork()
    if child == 0:  # pragma: no cover
        threads.run_split(nothing, 4, 4, b"")
        os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


def test_number_of_threads(parse: Parse, monkeypatch: pytest.MonkeyPatch) -> None:
    module = parse("builtin.module {}")
    monkeypatch.delenv("FHELIUM_THREADS", raising=False)
    assert CpuKernels(module).threads == torch.get_num_threads()
    monkeypatch.setenv("FHELIUM_THREADS", "3")
    assert CpuKernels(module).threads == 3
    assert CpuKernels(module, threads=5).threads == 5
    for wrong in ("0", "-1", "two", "²", "1.5"):
        monkeypatch.setenv("FHELIUM_THREADS", wrong)
        with pytest.raises(FheliumError, match="FHELIUM_THREADS"):
            CpuKernels(module)
    with pytest.raises(FheliumError, match="positive"):
        CpuKernels(module, threads=0)
