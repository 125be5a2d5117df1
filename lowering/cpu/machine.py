"""The processor of this machine: cores, vectors, caches and rates, measured once and kept in the user's cache.

    python -m fhelium_ir.lowering.cpu.machine [--measure]

prints the description, after measuring it again if asked to. Device `host` is made from it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from threading import Lock
from typing import cast

import torch
from xdsl.context import Context

from fhelium_ir.analysis.device import DEVICES, Device
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects.zq import ARITHMETICS, Arithmetic
from fhelium_ir.lowering.convert_zq_to_arith import ConvertZqToArith
from fhelium_ir.lowering.cpu.binding import host_description, vector_bits
from fhelium_ir.lowering.cpu.kernels import CpuKernels
from fhelium_ir.lowering.cpu.object_cache import default_cache
from fhelium_ir.lowering.cpu.parallel_compile import available_cores
from fhelium_ir.lowering.measurements import keep
from fhelium_ir.universe import make_context

LANES, CHAIN, PROGRAMS = 256, 64, 256
RUNS, SECONDS = 3, 0.01
"""A measurement runs so often at least, and for so long."""

CLEARLY = 1.1
"""How many times as fast something must be to go in front of what is usually faster: times vary by less."""

COPIED = 1 << 26
"""Bytes of a copy out of the caches."""

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class CpuDescription:
    """What schedules and floors ask about a processor.

    Attributes:
        cores: that this process may use.
        vector_bits: length of a vector.
        caches: bytes by level, of data or of both; 0 where the system does not say.
        copy_bytes_s: bytes read and written per second by a copy, one thread.
        products_s: modular products per second by arithmetic, one thread.
        shoup_products_s: the same by Shoup's products with known factors, for arithmetics on unsigned words.
    """

    cores: int
    vector_bits: int
    caches: tuple[int, int, int]
    copy_bytes_s: float
    products_s: Mapping[str, float]
    shoup_products_s: Mapping[str, float]

    def device(self) -> Device:
        """The device for schedules: the fastest arithmetic of each width of words and the fastest products of its
        transforms, a vector of columns, and the cache of a core."""
        cpu = DEVICES["cpu"]
        shoup = tuple(
            name
            for name, rate in self.shoup_products_s.items()
            if rate >= CLEARLY * self.products_s[name]
        )
        # What admits fewer primes is no use in front of what is faster and admits all of them.
        integers = max(self.products_s["mont64"], self.shoup_products_s["mont64"])
        doubles = CLEARLY * self.products_s["fp64"] >= integers
        words = max(2, self.vector_bits // 64)
        return replace(
            cpu,
            name="host",
            arithmetics=("mont32", "fp64", "mont64") if doubles else ("mont32", "mont64"),
            lanes=16 * words,
            narrow_lanes=32 * words,
            contiguous_lanes=2 * words,
            shoup=shoup,
            shoup_last=bool(shoup),
            wide_factor=min(cpu.wide_factor, self.products_s["fp64"] / self.products_s["mont64"]),
            cache=self.caches[1] or cpu.cache,
        )


def describe(again: bool = False) -> CpuDescription:
    """The description of this machine's processor: read, or measured and kept where there is none yet.

    Args:
        again: measure in any case.
    """
    path = description_path()
    found = None if again or path is None else _read(path)
    if found is None:
        found = measure()
        if path is not None:
            keep(path, asdict(found))
    return found


def host_device() -> Device:
    """What device `host` stands for: the same throughout a process, be it kept or not."""
    path = description_path()
    with _lock:
        if path not in _devices:
            _devices[path] = describe().device()
        return _devices[path]


_lock = Lock()
_devices: dict[Path | None, Device] = {}


def description_path() -> Path | None:
    """Where the description of this processor lies, as LLVM names it; None if nothing is kept."""
    directory = default_cache().directory
    if directory is None:
        return None
    # Another processor, LLVM or number of cores is another description.
    text = f"{host_description()}\ncores {available_cores()}"
    return directory.parent / f"cpu-{hashlib.sha256(text.encode()).hexdigest()[:16]}.json"


def measure() -> CpuDescription:
    """Measures this processor: a copy, and chains of products; takes about half a second."""
    source = torch.ones(COPIED // 8, dtype=torch.int64)
    target = torch.zeros_like(source)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        copied = 2 * COPIED / _least(lambda: target.copy_(source), time.thread_time)
    finally:
        torch.set_num_threads(threads)
    rates = {name: product_rate(arithmetic) for name, arithmetic in ARITHMETICS.items()}
    shoup = {
        name: product_rate(arithmetic, shoup=True)
        for name, arithmetic in ARITHMETICS.items()
        if not arithmetic.signed
    }
    return CpuDescription(available_cores(), vector_bits(), cache_sizes(), copied, rates, shoup)


def product_rate(arithmetic: Arithmetic, threads: int = 1, *, shoup: bool = False) -> float:
    """Modular products per second of words in registers, of the arithmetic or by Shoup."""
    module = parse_module(make_context(), products_text(arithmetic, shoup), "products")
    ConvertZqToArith().apply(Context(), module)
    kernels = CpuKernels(module, threads)
    dtype = {"i32": torch.int32, "i64": torch.int64, "f64": torch.float64}[str(arithmetic.word)]
    q = (1 << min(arithmetic.prime_bits, 49)) - 27
    inverse = 1.0 / q if arithmetic.floating else pow(q, -1, arithmetic.radix)
    if not arithmetic.floating and inverse >= arithmetic.radix // 2:
        inverse -= arithmetic.radix
    modulus = torch.tensor([q, inverse], dtype=dtype)
    words = torch.arange(LANES).to(dtype) * 12345
    out = torch.zeros(LANES, dtype=dtype)
    grid = (PROGRAMS * threads,)
    # Other threads, and processes in the way, do not count where there is one.
    clock = time.thread_time if threads == 1 else time.perf_counter
    seconds = _least(lambda: kernels.launch("products", grid, (modulus, words, out)), clock)
    return 4 * LANES * CHAIN * PROGRAMS * threads / seconds


def products_text(arithmetic: Arithmetic, shoup: bool = False) -> str:
    """A kernel of chains of products in registers, four to a lane; by Shoup with what is no quotient of the factor,
    which takes the same time."""
    product, factors = ("zq.mul_shoup", "%v, %v") if shoup else ("zq.mul", "%v")
    word = str(arithmetic.word)
    buffer = f"!kernel.buffer<{word}>"
    join = "arith.addf" if arithmetic.floating else "arith.addi"
    lines = [
        "%zero = arith.constant 0 : i64",
        "%one = arith.constant 1 : i64",
        f"%chain = arith.constant {CHAIN} : i64",
        f"%q = kernel.load %m[%zero] : {buffer} -> {word}",
        f"%inverse = kernel.load %m[%one] : {buffer} -> {word}",
        f"%mod = zq.modulus %q, %inverse : {word} -> !zq.modulus<{arithmetic.name}>",
        "%l = kernel.lane_id 0",
        f"%v = kernel.load %x[%l] : {buffer} -> {word}",
        "%a, %b, %c, %d = scf.for %i = %zero to %chain step %one "
        f"iter_args(%s = %v, %t = %v, %u = %v, %w = %v) -> ({', '.join([word] * 4)}) : i64 {{",
    ]
    for number, name in enumerate("stuw"):
        lines.append(
            f"%y{number} = {product} %{name}, {factors} mod %mod : "
            f"{word}, !zq.modulus<{arithmetic.name}>"
        )
    lines += [
        f"scf.yield %y0, %y1, %y2, %y3 : {', '.join([word] * 4)}",
        "}",
        f"%ab = {join} %a, %b : {word}",
        f"%cd = {join} %c, %d : {word}",
        f"%r = {join} %ab, %cd : {word}",
        f"kernel.store %r, %o[%l] : {word}, {buffer}",
        "kernel.return",
    ]
    body = "\n".join(lines)
    arguments = ", ".join(f"%{name} : {buffer}" for name in "mxo")
    return f"kernel.func @products({arguments}) lanes [{LANES}] grid 1 {{\n{body}\n}}"


def cache_sizes() -> tuple[int, int, int]:
    """Bytes of the first core's caches of levels 1 to 3, as Linux tells them; else 0."""
    sizes = [0, 0, 0]
    for index in range(8):
        folder = _CACHES / f"index{index}"
        try:
            kind = (folder / "type").read_text().strip()
            level = int((folder / "level").read_text())
            size = (folder / "size").read_text().strip()
        except (OSError, ValueError):
            continue
        if kind != "Instruction" and 1 <= level <= 3 and size.endswith("K"):
            sizes[level - 1] = int(size[:-1]) << 10
    return sizes[0], sizes[1], sizes[2]


def _least(action: Callable[[], object], clock: Callable[[], float]) -> float:
    """The least seconds of some runs."""
    least, spent, runs = float("inf"), 0.0, 0
    while runs < RUNS or spent < SECONDS:
        start = clock()
        action()
        seconds = clock() - start
        least, spent, runs = min(least, seconds), spent + seconds, runs + 1
    return least


def _read(path: Path) -> CpuDescription | None:
    """A description as `describe` keeps it; None if the file is missing or says something else."""
    try:
        data = cast("dict[str, object]", json.loads(path.read_text(encoding="utf-8")))
        caches = cast("list[int]", data["caches"])
        rates = cast("dict[str, float]", data["products_s"])
        shoup = cast("dict[str, float]", data["shoup_products_s"])
        found = CpuDescription(
            int(cast(int, data["cores"])),
            int(cast(int, data["vector_bits"])),
            (int(caches[0]), int(caches[1]), int(caches[2])),
            float(cast(float, data["copy_bytes_s"])),
            {name: float(rates[name]) for name in ARITHMETICS},
            {name: float(shoup[name]) for name, a in ARITHMETICS.items() if not a.signed},
        )
    except (OSError, ValueError, KeyError, TypeError, IndexError, AttributeError):
        return None
    sound = found.vector_bits in (128, 256, 512) and found.copy_bytes_s > 0
    least = min((*found.products_s.values(), *found.shoup_products_s.values()))
    return found if sound and least > 0 else None


def main() -> int:
    """Prints the description as JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m fhelium_ir.lowering.cpu.machine", description="Describe this processor."
    )
    parser.add_argument("--measure", action="store_true", help="measure again")
    try:
        print(json.dumps(asdict(describe(parser.parse_args().measure)), indent=2))
    except FheliumError as error:
        print(f"error: {error.message}")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
