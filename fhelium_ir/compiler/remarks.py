"""Remarks: what a pass did, what it refused and why, with the source line.

A pass calls `remark`; whoever runs the pipeline decides whether to listen, with `collect_remarks`.
Without a listener a remark costs one look-up.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, TypeAlias

from xdsl.ir import Operation

from fhelium_ir.compiler.locations import location_of

RemarkKind: TypeAlias = Literal["applied", "missed", "analysis", "warning"]
"""`applied`: the pass changed the IR. `missed`: it could not, and says why. `analysis`: a fact.
`warning`: the user should look at it; tools print warnings unasked."""


@dataclass(frozen=True)
class Remark:
    """One remark of a pass about one operation."""

    kind: RemarkKind
    pass_name: str
    text: str
    op_name: str | None = None
    location: str | None = None

    @property
    def message(self) -> str:
        """The remark without its place."""
        kind = "" if self.kind == "warning" else f"{self.kind}: "
        about = f"'{self.op_name}': " if self.op_name is not None else ""
        return f"[{self.pass_name}] {kind}{about}{self.text}"

    @property
    def severity(self) -> str:
        """`warning` or `remark`."""
        return "warning" if self.kind == "warning" else "remark"

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location is not None else ""
        return f"{place}{self.severity}: {self.message}"


@dataclass
class _Listener:
    collected: list[Remark]
    warnings_only: bool


_listener: ContextVar[_Listener | None] = ContextVar("fhelium_remarks", default=None)


def remarks_wanted() -> bool:
    """Whether anybody listens to more than warnings: ask before computing an expensive remark."""
    listener = _listener.get()
    return listener is not None and not listener.warnings_only


def remark(pass_name: str, op: Operation | None, kind: RemarkKind, text: str) -> None:
    """Emit a remark about `op`, or about the whole module where `op` is None."""
    listener = _listener.get()
    if listener is None or (listener.warnings_only and kind != "warning"):
        return
    if op is None:
        listener.collected.append(Remark(kind, pass_name, text))
    else:
        listener.collected.append(Remark(kind, pass_name, text, op.name, location_of(op)))


@contextmanager
def collect_remarks(*, warnings_only: bool = False) -> Generator[list[Remark]]:
    """Collect in a list the remarks that are emitted while the `with` block runs."""
    collected: list[Remark] = []
    token = _listener.set(_Listener(collected, warnings_only))
    try:
        yield collected
    finally:
        _listener.reset(token)
