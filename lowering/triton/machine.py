"""The CUDA card of this machine: rates and limits, measured once and kept in the user's cache.

    python -m fhelium_ir.lowering.triton.machine [--measure]

prints the description, after measuring it again if asked to. Device `cuda` is made from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, cast

import torch

from fhelium_ir.analysis.device import CARD, DEVICES, Device
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.cpu.object_cache import default_cache
from fhelium_ir.lowering.measurements import keep
from fhelium_ir.lowering.triton import binding
from fhelium_ir.lowering.triton.card_kernels import (
    EXCHANGE,
    RATES,
    Probe,
    empty_probe,
    probe_module,
    product_probes,
    rate_probes,
)
from fhelium_ir.lowering.triton.kernels import TritonKernels

RUNS = 12
COPIED = 1 << 30
"""Bytes of a copy out of the L2 cache; less where the card has little memory free."""

LAUNCHES = 100
"""Launches of an empty kernel in one graph."""

WORD = 8
"""Bytes of the word that costs count."""

ROWS_PER_LAUNCH = 128
"""Residue polynomials of a key switch that share a launch: a schedule pays this part of it for each."""

KEPT_OF_L2 = 0.8
"""The part of the L2 cache in which a launch finds what the one before it wrote."""

REFERENCE_SMS = 132
"""Of the card that the fixed description's `busy_lanes` are for."""


@dataclass(frozen=True)
class Card:
    """What identifies a card and its limits.

    Attributes:
        name: as the driver calls it.
        driver: version of the driver.
        capability: compute capability, 90 for 9.0.
        sms: streaming multiprocessors.
        shared_bytes: shared memory that one program may take.
        registers: 32-bit registers of a streaming multiprocessor.
        l2_bytes: L2 cache.
        memory_bytes: device memory.
    """

    name: str
    driver: str
    capability: int
    sms: int
    shared_bytes: int
    registers: int
    l2_bytes: int
    memory_bytes: int


@dataclass(frozen=True)
class CardDescription:
    """What schedules and floors ask about a card.

    Attributes:
        card: name and limits.
        copy_bytes_s: bytes read and written per second by a large copy.
        rates: operations per second of all multiprocessors: `fma` of doubles, `low32` and `wide32` products of 32-bit
            words (low word; both words), `exchange` of 64-bit words between lanes, modular products by a factor with a
            stored quotient by arithmetic (`mont32_shoup`).
        products_s: modular products per second by arithmetic.
        launch_s: seconds between two dependent launches of a graph.
    """

    card: Card
    copy_bytes_s: float
    rates: Mapping[str, float]
    products_s: Mapping[str, float]
    launch_s: float

    def device(self) -> Device:
        """The device for schedules.

        Words of 32 bits come first, in the built-in order: they are half as long, and take most of their bits. Among
        the wider ones the order is that of bits of modulus multiplied per second.
        """
        built_in = DEVICES["gpu"]
        narrow = [name for name in built_in.arithmetics if ARITHMETICS[name].word_bits == 32]
        wide = [name for name, a in ARITHMETICS.items() if a.word_bits == 64]
        order = [*narrow, *self._fastest(wide)]
        words_s = self.copy_bytes_s / WORD
        return replace(
            built_in,
            name=CARD,
            arithmetics=tuple(order),
            exchange_cost=round(words_s / self.rates[EXCHANGE], 3),
            launch_cost=round(self.launch_s * words_s / ROWS_PER_LAUNCH),
            wide_factor=min(
                built_in.wide_factor, self.products_s["fp64"] / self.products_s["mont64"]
            ),
            shared_bytes=self.card.shared_bytes,
            busy_lanes=built_in.busy_lanes * self.card.sms // REFERENCE_SMS,
            shared_cache=int(self.card.l2_bytes * KEPT_OF_L2),
        )

    def _fastest(self, names: Sequence[str]) -> list[str]:
        """The arithmetics by bits of modulus per second, without those behind one that admits all their primes."""
        ordered = sorted(names, key=lambda n: -self.products_s[n] * ARITHMETICS[n].prime_bits)
        kept: list[str] = []
        for name in ordered:
            bits = ARITHMETICS[name].prime_bits
            if all(bits > ARITHMETICS[before].prime_bits for before in kept):
                kept.append(name)
        return kept


def describe(again: bool = False) -> CardDescription:
    """The description of the CUDA card in use: read, or measured and kept where there is none yet.

    Args:
        again: measure in any case.

    Raises:
        FheliumError: there is no CUDA device, or it cannot be measured.
    """
    card = current_card()
    path = description_path(card)
    found = None if again or path is None else _read(path, card)
    if found is None:
        found = measure(card)
        if path is not None:
            keep(path, asdict(found))
    return found


def card_device() -> Device:
    """What device `cuda` stands for."""
    return describe().device()


class _Properties(Protocol):
    """What every release of torch tells of a card."""

    name: str
    major: int
    minor: int
    multi_processor_count: int
    total_memory: int


def current_card() -> Card:
    """The card in use.

    Raises:
        FheliumError: there is no CUDA device.
    """
    if not torch.cuda.is_available():
        raise FheliumError(f"device '{CARD}' needs a CUDA device, and none is available")
    properties = cast("Callable[[int], _Properties]", torch.cuda.get_device_properties)  # pyright: ignore[reportUnknownMemberType]
    found = properties(torch.cuda.current_device())
    return Card(
        found.name,
        driver_version(),
        10 * found.major + found.minor,
        found.multi_processor_count,
        # Older releases of torch do not tell what a program may opt in to.
        int(getattr(found, "shared_memory_per_block_optin", 0)) or 48 << 10,
        int(getattr(found, "regs_per_multiprocessor", 65536)),
        int(getattr(found, "L2_cache_size", 0)),
        found.total_memory,
    )


def driver_version(path: Path = Path("/proc/driver/nvidia/version")) -> str:
    """The version of the driver, as Linux tells it; `unknown` elsewhere."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    found = re.search(r"\b\d{3,}\.\d+(\.\d+)*\b", text)
    return found.group() if found else "unknown"


def description_path(card: Card) -> Path | None:
    """Where the description of a card lies; None if nothing is kept."""
    directory = default_cache().directory
    if directory is None:
        return None
    # Kernels of another compiler are other kernels.
    text = json.dumps([card.name, card.driver, card.capability, card.sms, version("triton")])
    return directory.parent / f"cuda-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def measure(card: Card) -> CardDescription:
    """Measures the card in use; takes a few seconds, most of them for compiling the kernels.

    Raises:
        FheliumError: a kernel cannot be compiled or run.
    """
    plain, products, empty = rate_probes(), product_probes(), empty_probe()
    module = probe_module((*plain.values(), *products.values(), empty))
    kernels = TritonKernels(module, interpret=False)
    kernels.compile_ahead(binding.current_gpu())

    def rate(probe: Probe) -> float:
        return probe.operations(card.sms) / _seconds(probe.action(kernels.launch, card.sms, "cuda"))

    try:
        return CardDescription(
            card,
            _copy_rate(),
            {name: rate(probe) for name, probe in plain.items()},
            {name: rate(probe) for name, probe in products.items()},
            _launch_seconds(empty.action(kernels.launch, card.sms, "cuda")),
        )
    except RuntimeError as error:
        reason = " ".join(str(error).split())[:300]
        raise FheliumError(f"cannot measure {card.name}: {reason}") from error
    finally:
        torch.cuda.empty_cache()


def _copy_rate() -> float:
    """Bytes read and written per second by a copy."""
    free, _ = torch.cuda.mem_get_info()
    size = min(COPIED, free // 4)
    source = torch.zeros(size, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(source)
    return 2 * size / _seconds(lambda: target.copy_(source))


def _seconds(action: Callable[[], object]) -> float:
    """The median seconds of device time of some runs."""
    times: list[float] = []
    for _ in range(RUNS):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        action()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop) * 1e-3)
    return statistics.median(times[RUNS // 3 :])


def _launch_seconds(action: Callable[[], object]) -> float:
    """Seconds of one of many launches in a graph."""
    action()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(LAUNCHES):
            action()
    return _seconds(graph.replay) / LAUNCHES


def _read(path: Path, card: Card) -> CardDescription | None:
    """A description as `_write` writes it; None if the file is missing or says something else."""
    try:
        data = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
        rates = cast("dict[str, float]", data["rates"])
        products = cast("dict[str, float]", data["products_s"])
        found = CardDescription(
            Card(**cast("dict[str, object]", data["card"])),  # type: ignore[arg-type]
            float(cast(float, data["copy_bytes_s"])),
            {name: float(rates[name]) for name in RATES},
            {name: float(products[name]) for name in ARITHMETICS},
            float(cast(float, data["launch_s"])),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    numbers = (
        *(found.copy_bytes_s, found.launch_s),
        *found.rates.values(),
        *found.products_s.values(),
    )
    sound = all(math.isfinite(number) and number > 0 for number in numbers)
    return found if sound and found.card == card else None


def main() -> int:
    """Prints the description, and the device that is made from it, as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m fhelium_ir.lowering.triton.machine", description="Describe the CUDA card."
    )
    parser.add_argument("--measure", action="store_true", help="measure again")
    try:
        found = describe(parser.parse_args().measure)
    except FheliumError as error:
        print(f"error: {error.message}")
        return 1
    print(json.dumps({**asdict(found), "device": asdict(found.device())}, indent=2))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
