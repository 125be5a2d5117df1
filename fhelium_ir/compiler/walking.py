"""All operations in an operation, as a list. xDSL's `walk` passes each of them through three generators."""

from __future__ import annotations

from xdsl.ir import Operation


def all_ops(root: Operation, *, region_first: bool = False) -> list[Operation]:
    """The operation and those in its regions, in the order of `Operation.walk`, as they stand now.

    Args:
        region_first: an operation comes behind those in its regions.
    """
    found: list[Operation] = []
    _add(root, found, region_first)
    return found


def _add(root: Operation, found: list[Operation], region_first: bool) -> None:
    if not region_first:
        found.append(root)
    for region in root.regions:
        for block in region.blocks:
            op = block.first_op
            while op is not None:
                if op.regions:
                    _add(op, found, region_first)
                else:
                    found.append(op)
                op = op.next_op
    if region_first:
        found.append(root)
