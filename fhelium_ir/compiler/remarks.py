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

RemarkKind: TypeAlias = Literal["applied", "missed", "analysis"]
"""`applied`: the pass changed the IR. `missed`: it could not, and says why. `analysis`: a fact."""


@dataclass(frozen=True)
class Remark:
    """One remark of a pass about one operation."""

    kind: RemarkKind
    pass_name: str
    text: str
    op_name: str | None = None
    location: str | None = None

    def __str__(self) -> str:
        place = f"{self.location}: " if self.location is not None else ""
        about = f"'{self.op_name}': " if self.op_name is not None else ""
        return f"{place}remark: [{self.pass_name}] {self.kind}: {about}{self.text}"


_listener: ContextVar[list[Remark] | None] = ContextVar("fhelium_remarks", default=None)


def remarks_wanted() -> bool:
    """Whether anybody listens: ask before computing an expensive remark."""
    return _listener.get() is not None


def remark(pass_name: str, op: Operation | None, kind: RemarkKind, text: str) -> None:
    """Emit a remark about `op`, or about the whole module where `op` is None."""
    if (listener := _listener.get()) is None:
        return
    if op is None:
        listener.append(Remark(kind, pass_name, text))
    else:
        listener.append(Remark(kind, pass_name, text, op.name, location_of(op)))


@contextmanager
def collect_remarks() -> Generator[list[Remark]]:
    """Collect in a list the remarks that are emitted while the `with` block runs."""
    collected: list[Remark] = []
    token = _listener.set(collected)
    try:
        yield collected
    finally:
        _listener.reset(token)
