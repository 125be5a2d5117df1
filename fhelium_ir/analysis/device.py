"""Descriptions of machines: what the selection of arithmetic and transform schedules asks about a
target.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import cast

from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.universe import load_service

REGISTER_STAGES_LIMIT = 4
"""Largest group of stages that the lowering unrolls in registers: radix 16."""

STREAMS_LIMIT = 8
"""Most streams of a program: a run that is captured takes as many from torch's pool."""


@dataclass(frozen=True)
class Device:
    """A machine, as schedules see it.

    Attributes:
        name: what remarks call it.
        arithmetics: arithmetics that it may use, best first.
        register_stages: stages of a transform per group at most; a group of r stages holds 2^r
            words per lane.
        exchange: whether two groups in one kernel with an exchange between them pay.
        lanes: lanes that a program should have.
        rows: residue polynomials that a program holds in its lanes.
        warps: warps of a program at most.
        memory_cost: moving a word between memory and a lane; the unit of all costs.
        exchange_cost: moving a word between two lanes.
        twiddle_cost: reading a twiddle factor.
        register_cost: holding 16 words per lane while a group of stages runs.
        idle_cost: per word and kernel, for each factor of two by which a program's lanes fall short
            of `lanes`.
        launch_cost: a launch, in moved words.
        uneven_cost: moving a word in the kernel of contiguous elements, where its two groups differ: the lanes of a
            vector then want twiddle factors of different tiles.
        wide_factor: how many times as long kernels on 64-bit integers take as kernels on doubles.
        contiguous_lanes: lanes that exchange words in the kernel of contiguous elements, as they should be; 0 for any
            number. Fewer cost `exchange_cost` for each factor of two.
        registers: 32-bit registers that a lane may take; 0 for any number.
        busy_lanes: lanes of all programs together that keep the machine busy; 0 if a few do.
        narrow_lanes: lanes that a program on 32-bit words should have, with as many more warps; 0 for `lanes`.
        wide_stages: stages per group where 64-bit integers are multiplied, by parts; 0 for `register_stages`.
        table_stages: on words of `fp64`, transforms compute the twiddle factors of groups that start at this stage or
            later from a few entries, because reading them all takes longer; 0 if they never do.
        shoup: arithmetics on unsigned words in which transforms multiply by Shoup's products.
        shoup_last: whether in the last group of stages, too, where the quotients double what is read of tables.
        converted_rows: on words of `fp64`, residue polynomials that a program of a base conversion before a forward
            transform computes at once, where there are enough of them to keep the machine busy; 1 or 2.
        shared_bytes: memory that the lanes of a program share, through which they exchange words; 0 for any number.
        streams: queues of launches that may run at the same time.
        cache: bytes of the cache that one core has to itself, where launches may run as chains; 0 if they do not.
        shared_cache: bytes that the cache which all programs share keeps for the next launch. A run that touches more
            says which words it does not read again; 0 if none does.
    """

    name: str
    arithmetics: tuple[str, ...]
    register_stages: int
    exchange: bool
    lanes: int
    rows: int
    warps: int
    memory_cost: float = 1.0
    exchange_cost: float = 0.25
    twiddle_cost: float = 0.125
    register_cost: float = 0.25
    idle_cost: float = 0.05
    launch_cost: float = 4096.0
    uneven_cost: float = 0.0
    wide_factor: float = 1.0
    contiguous_lanes: int = 0
    registers: int = 0
    busy_lanes: int = 0
    narrow_lanes: int = 0
    wide_stages: int = 0
    table_stages: int = 0
    shoup: tuple[str, ...] = ()
    shoup_last: bool = False
    converted_rows: int = 1
    shared_bytes: int = 0
    streams: int = 1
    cache: int = 0
    shared_cache: int = 0

    def for_words(self, arithmetic: str | None) -> Device:
        """The description of the machine for programs on the words of an arithmetic."""
        known = ARITHMETICS.get(arithmetic or "")
        if known is not None and known.floating:
            return self
        words = replace(self, table_stages=0, converted_rows=1)
        if known is None:
            return words
        if known.word_bits == 64:
            return replace(words, register_stages=self.wide_stages or self.register_stages)
        if not self.narrow_lanes:
            return words
        warps = self.warps
        if warps > 1:
            warps = min(16, max(1, warps * self.narrow_lanes // self.lanes))
        return replace(words, lanes=self.narrow_lanes, warps=warps)


DEVICES = {
    device.name: device
    for device in (
        # An H200 or alike: memory passes decide, an exchange through shared memory costs less than
        # a pass.
        Device(
            "gpu",
            # On signed words an H200 transforms 32 limbs of 28 bits in 11.3 microseconds instead of 13.2.
            ("smont32", "fp64", "mont64"),
            4,
            True,
            lanes=128,
            rows=1,
            warps=4,
            # A product takes several times as long, memory the same time.
            wide_factor=2.5,
            registers=255,
            busy_lanes=1 << 15,
            # Sixteen columns: neighbours in memory then fill 64 bytes, as eight words of 64 bits do.
            narrow_lanes=256,
            # The table of a later group is as large as the polynomial, each lane reading its own entries.
            table_stages=8,
            # One high half of a product of 64 bits instead of two. Lanes of the last group read factors of their own,
            # and twice the bytes would cost more than that. On 32 bits an H200 was no faster with Shoup's products.
            shoup=("mont64",),
            # Source words are then loaded once for two sums, in the registers that 16 warps leave to each other.
            converted_rows=2,
            shared_bytes=227 << 10,
            streams=2,
            # Of 50 MiB. A copy between buffers of 33 MB together runs at 5.8 TB/s, of 48 MB at 4.5.
            shared_cache=40 << 20,
        ),
        # Loops over lanes are split at an exchange, which is a pass through a buffer in the nearest
        # cache: cheaper than one through the limb. Eight columns make a vector; launches are calls;
        # there are 32 vectors, so sums over digits do not fit beside a transform.
        Device(
            "cpu",
            ("mont32", "fp64", "mont64"),
            4,
            True,
            lanes=128,
            rows=1,
            warps=1,
            launch_cost=64.0,
            uneven_cost=1.0,
            # Whole programs, with AVX-512.
            wide_factor=2.0,
            # Two vectors of 64-bit words: lanes of that kernel are vectors along the exchange.
            contiguous_lanes=16,
            # Sixteen columns: a vector of 32-bit words.
            narrow_lanes=256,
            registers=64,
            # Products by halves take so much code that larger groups compile slowly and run no faster.
            wide_stages=3,
            # Three fifths of the time of Montgomery's products, whose factors are half as long.
            shoup=("mont32", "mont64"),
            shoup_last=True,
            cache=1 << 20,
        ),
        # A tile op costs the same up to 8192 elements, so programs are as wide as they can be.
        Device(
            "interpreter",
            ("mont32", "mont64"),
            4,
            True,
            lanes=8192,
            rows=4,
            warps=4,
            launch_cost=65536.0,
        ),
    )
}
"""The descriptions that passes know by name."""

HOST = "host"
"""The processor of this machine, as measured on first use."""

CARD = "cuda"
"""The CUDA card in use, as measured on first use."""

MEASURED = {HOST: "host-device", CARD: "card-device"}
"""Services that describe what was measured."""


def load_device(name: str) -> Device:
    """The built-in description of that name, the measured one of this machine's processor if it is
    `host` or of its CUDA card if it is `cuda`, or the one in a JSON file, if the name ends with
    `.json`.

    The file holds one object with the fields of `Device`; costs may be left out.

    Raises:
        FheliumError: names the unknown name, the file that cannot be read, or the field that is
        wrong; there is no CUDA card.
    """
    if name in MEASURED:
        # Measured code is compiled code, which is no business of this module.
        try:
            measured = cast("Callable[[], Device]", load_service(MEASURED[name]))
        except ImportError as error:
            raise FheliumError(f"device '{name}' cannot be measured: {error}") from error
        except FheliumError as error:
            raise FheliumError(f"device '{name}' cannot be measured: {error.message}") from error
        return measured()
    if name in DEVICES:
        return DEVICES[name]
    if not name.endswith(".json"):
        raise unknown_name("device", name, (*DEVICES, *MEASURED))
    try:
        data: object = json.loads(Path(name).read_text(encoding="utf-8"))
    except OSError as error:
        raise FheliumError(f"cannot read device '{name}': {error.strerror or error}") from error
    except ValueError as error:
        raise FheliumError(f"device '{name}' is not JSON: {error}") from error
    if not isinstance(data, dict):
        raise FheliumError(f"device '{name}' is not a JSON object")
    return _from_fields(name, cast("dict[str, object]", data))


def _from_fields(source: str, data: dict[str, object]) -> Device:
    owner = f"device '{source}'"
    for field in data:
        if field not in _RULES:
            raise unknown_name("field", field, _RULES, owner)
    for field in fields(Device):
        if field.name not in data and field.name not in _OPTIONAL:
            raise FheliumError(f"{owner}: the field '{field.name}' is missing")
    for field, value in data.items():
        accepts, wanted = _RULES[field]
        if not accepts(value):
            raise FheliumError(f"{owner}: the field '{field}' must be {wanted}, found {value!r}")
    values = dict(data)
    for names in ("arithmetics", "shoup"):
        values[names] = tuple(cast("list[str]", data.get(names, [])))
    # Every field has been checked above, which the type checker cannot see.
    return cast(Callable[..., Device], Device)(**values)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _is_arithmetics(value: object) -> bool:
    if not isinstance(value, list):
        return False
    names = cast("list[object]", value)
    return bool(names) and all(name in ARITHMETICS for name in names)


def _is_integers(value: object) -> bool:
    names = cast("list[object]", value) if isinstance(value, list) else [None]
    return all(name in _UNSIGNED for name in names)


def _is_stages(value: object) -> bool:
    return _is_integer(value) and 1 <= cast(int, value) <= REGISTER_STAGES_LIMIT


def is_stream_count(value: object) -> bool:
    """Whether a value is a number of streams."""
    return _is_integer(value) and 1 <= cast(int, value) <= STREAMS_LIMIT


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_power(value: object) -> bool:
    number = cast(int, value) if _is_integer(value) else 0
    return 1 <= number <= 1 << 17 and number & (number - 1) == 0


def _is_warps(value: object) -> bool:
    return _is_integer(value) and value in (1, 2, 4, 8, 16)


def _is_cost(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 <= value < float("inf")


def _is_count(value: object) -> bool:
    return _is_integer(value) and cast(int, value) >= 0


_COSTS = (
    "memory_cost",
    "exchange_cost",
    "twiddle_cost",
    "register_cost",
    "idle_cost",
    "launch_cost",
    "uneven_cost",
    "wide_factor",
)

_COUNTS = (
    "contiguous_lanes",
    "registers",
    "busy_lanes",
    "narrow_lanes",
    "wide_stages",
    "table_stages",
    "shared_bytes",
    "streams",
    "cache",
    "shared_cache",
)

_OPTIONAL = (*_COSTS, *_COUNTS, "shoup", "shoup_last", "converted_rows")

_SHORTEST_TABLE = REGISTER_STAGES_LIMIT - 1

_UNSIGNED = tuple(name for name, arithmetic in ARITHMETICS.items() if not arithmetic.signed)

_RULES: dict[str, tuple[Callable[[object], bool], str]] = {
    "name": (_is_name, "a text"),
    "arithmetics": (_is_arithmetics, f"a list of names among {', '.join(ARITHMETICS)}"),
    "register_stages": (_is_stages, f"an integer from 1 to {REGISTER_STAGES_LIMIT}"),
    "exchange": (lambda value: isinstance(value, bool), "true or false"),
    "lanes": (_is_power, "a power of two"),
    "rows": (_is_power, "a power of two"),
    "warps": (_is_warps, "1, 2, 4, 8 or 16"),
    **{cost: (_is_cost, "a number that is not negative") for cost in _COSTS},
    **{count: (_is_count, "an integer that is not negative") for count in _COUNTS},
    "shoup": (_is_integers, f"a list of names among {', '.join(_UNSIGNED)}"),
    "shoup_last": (lambda value: isinstance(value, bool), "true or false"),
    "converted_rows": (lambda value: _is_integer(value) and value in (1, 2), "1 or 2"),
    "wide_stages": (
        lambda value: value == 0 or _is_stages(value),
        f"an integer from 0 to {REGISTER_STAGES_LIMIT}",
    ),
    "table_stages": (
        # The largest group needs the factors of so many stages.
        lambda value: value == 0 or (_is_count(value) and cast(int, value) >= _SHORTEST_TABLE),
        f"0 or an integer from {_SHORTEST_TABLE} on",
    ),
    "streams": (is_stream_count, f"an integer from 1 to {STREAMS_LIMIT}"),
}
