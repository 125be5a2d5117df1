"""What this processor can do at most: bytes copied and modular products of doubles, on so many threads."""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.cpu import machine


def best(action: Callable[[], object], runs: int, threads: int) -> float:
    """The least seconds of some runs; where other work takes the processors away, those of the processors count."""
    least = float("inf")
    for _ in range(runs):
        start, used = time.perf_counter(), time.process_time()
        action()
        clock, used = time.perf_counter() - start, (time.process_time() - used) / threads
        least = min(least, clock, used if used > 0 else clock)
    return least


def copy_bandwidth(threads: int) -> float:
    """Bytes read and written per second by a copy out of the caches."""
    torch.set_num_threads(threads)
    source = torch.ones(machine.COPIED // 8, dtype=torch.int64)
    target = torch.zeros_like(source)
    return 2 * machine.COPIED / best(lambda: target.copy_(source), 20, threads)


def product_rate(threads: int) -> float:
    """Modular products per second of doubles in registers, on all threads together."""
    return max(machine.product_rate(ARITHMETICS["fp64"], threads) for _ in range(5))
