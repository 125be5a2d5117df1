"""This project's dialects and passes for `xdsl-opt`, which finds them through an entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Dialect
from xdsl.passes import ModulePass
from xdsl.universe import XDSL_UNIVERSE, Universe

from fhelium_ir import universe


def _new(table: dict[str, universe.Entry], known: Iterable[str]) -> list[str]:
    """The names of this project that xDSL does not have: two of one name break `xdsl-opt`."""
    own = [name for name, path in table.items() if str(path).startswith("fhelium_ir.")]
    return [name for name in own if name not in set(known)]


def _dialect(name: str) -> Callable[[], Dialect]:
    return lambda: universe.load_dialect(name)


def _pass(name: str) -> Callable[[], type[ModulePass]]:
    return lambda: universe.load_pass(name)


FHELIUM_UNIVERSE = Universe(
    all_dialects={
        name: _dialect(name) for name in _new(universe.DIALECTS, XDSL_UNIVERSE.all_dialects)
    },
    all_passes={name: _pass(name) for name in _new(universe.PASSES, XDSL_UNIVERSE.all_passes)},
)
