"""Uses and lifetimes of values within one block."""

from __future__ import annotations

from xdsl.ir import Block, Operation, SSAValue


class UseCounts:
    """How often each value that an operation holds is used, nested regions included."""

    def __init__(self, op: Operation) -> None:
        self._counts: dict[SSAValue, int] = {}
        for inner in op.walk():
            for operand in inner.operands:
                self._counts[operand] = self._counts.get(operand, 0) + 1

    def uses(self, value: SSAValue) -> int:
        """The number of operands that are this value."""
        return self._counts.get(value, 0)


class Liveness:
    """Where values are used last, in the blocks of an operation's regions.

    A use inside a nested region counts as a use by the op of the block that holds the region. Only
    uses in the defining block and below it are seen: control flow between blocks is not followed.
    """

    def __init__(self, op: Operation) -> None:
        self._last: dict[SSAValue, Operation] = {}
        self._position: dict[Operation, int] = {}
        for inner in op.walk():
            for region in inner.regions:
                for block in region.blocks:
                    self._visit(block)

    def _visit(self, block: Block) -> None:
        for position, op in enumerate(block.ops):
            self._position[op] = position
            for inner in op.walk():
                for operand in inner.operands:
                    if _block_of(operand) is block:
                        self._last[operand] = op

    def position(self, op: Operation) -> int:
        """The index of an op in its block."""
        return self._position[op]

    def last_use(self, value: SSAValue) -> Operation | None:
        """The last op of the value's own block that uses it, or None if nothing does."""
        return self._last.get(value)

    def is_live_after(self, value: SSAValue, op: Operation) -> bool:
        """Whether a value is used behind an op of its own block."""
        last = self._last.get(value)
        return last is not None and self._position[last] > self._position[op]


def _block_of(value: SSAValue) -> Block | None:
    owner = value.owner
    return owner.parent if isinstance(owner, Operation) else owner
