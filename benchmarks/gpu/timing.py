"""Times on a CUDA device: medians of events around replays of a captured graph."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, cast

import torch

WARM_RUNS = 20
"""Runs in the graph of warm times: the start of a graph takes longer than that of a kernel inside."""

FLUSHED = 1 << 28
"""Bytes that are written in front of a cold replay: more than the L2 cache holds."""


@dataclass(frozen=True)
class Times:
    """Microseconds of a run: one of many in a graph; of a graph with one run, replayed back to back; of that graph with
    the L2 cache flushed before."""

    warm: float
    replay: float
    cold: float

    def best(self, cold: bool) -> float:
        """The time that a goal is for."""
        return self.cold if cold else self.warm


def timed(action: Callable[[], object]) -> float:
    """Microseconds of device time."""
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    action()
    stop.record()
    torch.cuda.synchronize()
    return start.elapsed_time(stop) * 1e3


def copy_bandwidth() -> float:
    """Bytes read and written per second by a copy of 1 GiB."""
    source = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    times = [timed(lambda: target.copy_(source)) for _ in range(20)]
    return 2 * source.numel() / (statistics.median(times[5:]) * 1e-6)


def captured(action: Callable[[], object]) -> tuple[torch.cuda.CUDAGraph, object]:
    """A graph of what an action launches, and the action's result; the action has run before."""
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = action()
    graph.replay()
    return graph, result


def warm_time(action: Callable[[], object], runs: int = 25) -> float:
    """Microseconds of one of `WARM_RUNS` runs in a graph; memory of results is used again."""

    def several() -> None:
        for _ in range(WARM_RUNS):
            action()

    graph, _ = captured(several)
    return statistics.median([timed(graph.replay) / WARM_RUNS for _ in range(runs)][runs // 5 :])


def replay_time(graph: torch.cuda.CUDAGraph, runs: int = 25) -> float:
    """Microseconds of a replay of a graph among others."""

    def replays() -> None:
        for _ in range(WARM_RUNS):
            graph.replay()

    return statistics.median([timed(replays) / WARM_RUNS for _ in range(runs)][runs // 5 :])


def cold_time(graph: torch.cuda.CUDAGraph, runs: int = 25) -> float:
    """Microseconds of a replay that finds nothing in the L2 cache."""
    flush = torch.empty(FLUSHED, dtype=torch.uint8, device="cuda")
    cold: list[float] = []
    for _ in range(runs):
        flush.zero_()
        cold.append(timed(graph.replay))
    return statistics.median(cold)


def times(action: Callable[[], object], graph: torch.cuda.CUDAGraph) -> Times:
    """All times of an action and of the graph that holds it once."""
    return Times(warm_time(action), replay_time(graph), cold_time(graph))


class _Event(Protocol):
    """What is read of the profiler's events."""

    name: str
    device_time: float


def kernel_times(graph: torch.cuda.CUDAGraph, replays: int = 20) -> dict[str, float]:
    """Microseconds of each kernel in one replay, in order of the first launch."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(replays):
            graph.replay()
        torch.cuda.synchronize()
    spent: dict[str, float] = {}
    for event in cast("list[_Event]", found.events() or []):
        if event.device_time:
            spent[event.name] = spent.get(event.name, 0.0) + event.device_time / replays
    return {name: round(time, 1) for name, time in spent.items()}
