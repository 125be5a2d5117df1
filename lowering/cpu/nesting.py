"""What stands in an operation. Most have no regions and are asked very often."""

from __future__ import annotations

from xdsl.ir import Operation

from fhelium_ir.compiler.walking import all_ops


def holds(op: Operation, *kinds: type[Operation]) -> bool:
    """Whether the operation or one in its regions is of exactly one of these classes."""
    if not op.regions:
        return type(op) in kinds
    return any(type(inner) in kinds for inner in all_ops(op))
