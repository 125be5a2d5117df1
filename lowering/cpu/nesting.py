"""What stands in an operation. Most have no regions and are asked very often."""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.ir import Operation


def all_ops(op: Operation) -> Iterable[Operation]:
    """The operation and all in its regions."""
    return op.walk() if op.regions else (op,)


def holds(op: Operation, *kinds: type[Operation]) -> bool:
    """Whether the operation or one in its regions is of exactly one of these classes."""
    return any(type(inner) in kinds for inner in all_ops(op))
