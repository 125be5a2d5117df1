"""`fhelium-run --profile`: the time of each kernel and region beside the time that memory needs."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import cast

import torch
from rich.console import Console
from rich.table import Table
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.backend.executable import KernelLibrary
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import host

RUNS, ENOUGH_S = 5, 2.0
"""Profiled runs at most, and the seconds after which no further one starts."""

COPIED = {"cuda": 1 << 28, "cpu": 1 << 26}
"""Bytes of the buffer whose copy measures the bandwidth."""

WIDTH = 140
"""Columns of the tables where the output is no terminal."""

SHOWN = 20
"""Regions in the table: those that take longest."""


@dataclass(frozen=True)
class Launch:
    """One launch: its kernel, bytes of the buffers it is given, and seconds."""

    kernel: str
    bytes: int
    seconds: float


@dataclass
class ProfilingKernels:
    """A kernel library that times each launch, and marks it as an NVTX range on CUDA."""

    kernels: KernelLibrary
    spacer: torch.Tensor | None = None
    """A large buffer on the CUDA device, None elsewhere. A copy of it in front of each launch gives the host time to
    enqueue the launch, so that its own time does not count, and empties the cache."""
    names: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    _read: list[Callable[[], float]] = field(default_factory=list[Callable[[], float]])

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        """Runs a kernel; the time is that on the device, from events of its stream."""
        self.names.append((name, traffic(arguments)))
        if self.spacer is not None:
            start = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            half = self.spacer.numel() // 2
            self.spacer[:half].copy_(self.spacer[half:])
            with _nvtx_range(name):
                start.record()
                self.kernels.launch(name, grid, arguments)
                end.record()
            self._read.append(lambda: start.elapsed_time(end) / 1e3)
            return
        begin = time.perf_counter()
        self.kernels.launch(name, grid, arguments)
        seconds = time.perf_counter() - begin
        self._read.append(lambda: seconds)

    def launches(self) -> list[Launch]:
        """What was launched, in order."""
        if self.spacer is not None:
            torch.cuda.synchronize()
        return [
            Launch(name, count, read())
            for (name, count), read in zip(self.names, self._read, strict=True)
        ]


def _nvtx_range(name: str) -> AbstractContextManager[None]:
    """A range that profilers such as Nsight Systems show; torch states no types here."""
    make = cast(
        "Callable[[str], AbstractContextManager[None]]",
        torch.cuda.nvtx.range,  # pyright: ignore[reportUnknownMemberType]
    )
    return make(name)


def traffic(arguments: Sequence[torch.Tensor | int]) -> int:
    """Bytes of the distinct buffers among a launch's arguments.

    A kernel reads or writes each at least in part; what it reads only in part, such as a key at a
    lower level, counts whole.
    """
    buffers = {
        (argument.data_ptr(), argument.numel() * argument.element_size())
        for argument in arguments
        if isinstance(argument, torch.Tensor)
    }
    return sum(size for _, size in buffers)


def profile(
    run: Callable[[KernelLibrary], object], kernels: KernelLibrary, device: torch.device
) -> list[Launch]:
    """Runs a program a few times and gives each launch its median time.

    Args:
        run: runs the program once with the given kernels; it has run before.
    """
    cuda = device.type == "cuda"
    spacer = torch.zeros(COPIED["cuda"], dtype=torch.uint8, device=device) if cuda else None
    runs: list[list[Launch]] = []
    start = time.perf_counter()
    while len(runs) < RUNS and (not runs or time.perf_counter() - start < ENOUGH_S):
        profiling = ProfilingKernels(kernels, spacer)
        run(profiling)
        runs.append(profiling.launches())
    return [
        Launch(same[0].kernel, same[0].bytes, statistics.median(one.seconds for one in same))
        for same in zip(*runs, strict=True)
    ]


def bandwidth(device: torch.device) -> float:
    """Bytes per second of a copy on the device, read and written bytes together: the best of five."""
    source = torch.zeros(COPIED[device.type], dtype=torch.uint8, device=device)
    target = torch.empty_like(source)
    best = float("inf")
    for _ in range(6):
        begin = time.perf_counter()
        target.copy_(source)
        if device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.perf_counter() - begin)
    return 2 * source.numel() / best


@dataclass
class Entry:
    """A row of the tables: launches, bytes and seconds of one kernel or region."""

    name: str
    kernels: list[str] = field(default_factory=list[str])
    bytes: int = 0
    seconds: float = 0.0

    def add(self, launch: Launch) -> None:
        """Counts one launch."""
        self.kernels.append(launch.kernel)
        self.bytes += launch.bytes
        self.seconds += launch.seconds


def by_kernel(launches: Sequence[Launch]) -> list[Entry]:
    """One entry for each kernel, the one that takes longest first."""
    entries: dict[str, Entry] = {}
    for launch in launches:
        entries.setdefault(launch.kernel, Entry(launch.kernel)).add(launch)
    return sorted(entries.values(), key=lambda entry: -entry.seconds)


def by_region(launches: Sequence[Launch], module: ModuleOp, function: str) -> list[Entry]:
    """One entry for each region, in program order: the launches that one region was lowered to.

    Empty if the launches are not those of the module's host program, as in a run that replays.
    """
    ops = [
        op
        for f in module.ops
        if isinstance(f, func.FuncOp) and f.sym_name.data == function
        for op in f.walk()
        if isinstance(op, host.LaunchOp)
    ]
    if [op.callee.string_value() for op in ops] != [launch.kernel for launch in launches]:
        return []
    entries: list[Entry] = []
    before: tuple[object, ...] | None = None
    for op, launch in zip(ops, launches, strict=True):
        # The kernels of one region are given the same tables.
        region = (op.location, op.arguments[0])
        name = launch.kernel.rpartition("_")[0]
        if region != before or launch.kernel in entries[-1].kernels:
            place = (location_of(op) or "unknown").rpartition("/")[2]
            entries.append(Entry(f"{place} ({name})"))
        entries[-1].add(launch)
        before = region
    return entries


def print_profile(
    launches: Sequence[Launch], module: ModuleOp, function: str, bytes_per_second: float
) -> None:
    """Prints a table of kernels and one of the slowest regions."""
    console = Console(file=sys.stdout, highlight=False)
    if not console.is_terminal:
        # A file has no width: rows stay whole.
        console.width = WIDTH
    console.print(
        f"profile: {len(launches)} launches, bandwidth {bytes_per_second / 1e9:.1f} GB/s "
        "(measured by a copy); floor: bytes / bandwidth; bytes: each buffer that a launch is "
        "given, once",
        markup=False,
        soft_wrap=True,
    )
    kernels = by_kernel(launches)
    console.print(_table("kernel", kernels, sum(e.seconds for e in kernels), bytes_per_second))
    regions = by_region(launches, module, function)
    slowest = sorted(regions, key=lambda entry: -entry.seconds)[:SHOWN]
    if slowest:
        console.print(_table("region", slowest, sum(e.seconds for e in regions), bytes_per_second))
    if len(regions) > SHOWN:
        console.print(f"the slowest {SHOWN} of {len(regions)} regions")


def _table(title: str, entries: Sequence[Entry], total: float, bytes_per_second: float) -> Table:
    table = Table()
    table.add_column(title, no_wrap=True)
    for name in ("launches", "time", "share", "bytes", "floor", "ratio"):
        table.add_column(name, justify="right")
    for entry in entries:
        floor = entry.bytes / bytes_per_second
        table.add_row(
            entry.name,
            str(len(entry.kernels)),
            _time(entry.seconds),
            f"{100 * entry.seconds / max(total, 1e-12):.1f} %",
            f"{entry.bytes:,}",
            _time(floor),
            f"{entry.seconds / max(floor, 1e-12):.2f}",
        )
    return table


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"
