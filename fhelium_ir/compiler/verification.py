"""Verification of a module: the verifiers of all ops and types, and SSA dominance.

xDSL's own `verify` does not check that a value is defined before it is used, and its errors print
the whole module. This one names the op, its source line and a window of the IR.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from xdsl.ir import Attribute, Block, BlockArgument, ErasedSSAValue, Operation, Region, SSAValue
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.printing import ir_window
from fhelium_ir.compiler.walking import all_ops

LOCAL_DIALECTS = frozenset({"arith", "ckks", "math", "ntt", "rns", "zq"})
LOCAL_OPS = frozenset({"host.resource", "host.view", "kernel.load", "kernel.store"})
"""Ops whose verifiers ask about nothing but the op's own types, properties and attributes."""


class Verified:
    """Ops that have verified, by what their verifiers ask about: between passes most of a module stays as it is.

    Ops with regions or successors, terminators, and ops of other dialects are never taken for verified.
    """

    def __init__(self) -> None:
        self._sound: set[tuple[object, ...]] = set()
        # Numbers of attributes: the same for equal ones, found by identity where they have been met.
        self._by_identity: dict[int, int] = {}
        self._by_value: dict[Attribute, int] = {}
        self._kept: list[Attribute] = []

    def verify(self, op: Operation) -> None:
        """Calls the op's verifier, unless an op like it has verified."""
        key = self._key(op)
        if key is not None and key in self._sound:
            return
        op.verify(verify_nested_ops=False)
        if key is not None:
            self._sound.add(key)

    def _key(self, op: Operation) -> tuple[object, ...] | None:
        """All that the op's verifier asks about, None if that is not known."""
        kind = type(op)
        # The last op of a block has to be a terminator.
        if not _is_local(kind) or op.regions or op.next_op is None or op.successors:
            return None
        known, number = self._by_identity.get, self._number
        # What is no number keeps operands, results, properties and attributes apart.
        key: list[object] = [kind]
        for operand in op.operands:
            if type(operand) is ErasedSSAValue:
                return None
            type_ = operand.type
            key.append(known(id(type_)) or number(type_))
        key.append(None)
        for result in op.results:
            type_ = result.type
            key.append(known(id(type_)) or number(type_))
        if op.properties:
            for name, value in op.properties.items():
                key += (name, known(id(value)) or number(value))
        if op.attributes:
            key.append(None)
            for name, value in op.attributes.items():
                key += (name, known(id(value)) or number(value))
        return tuple(key)

    def _number(self, attribute: Attribute) -> int:
        """The number, above 0, of an attribute that has not been met."""
        number = self._by_value.setdefault(attribute, len(self._by_value) + 1)
        self._by_identity[id(attribute)] = number
        # An identity says nothing once its object is gone.
        self._kept.append(attribute)
        return number


@cache
def _is_local(kind: type[Operation]) -> bool:
    if kind.has_trait(IsTerminator) or kind.has_trait(HasParent):
        return False
    return kind.name in LOCAL_OPS or kind.dialect_name() in LOCAL_DIALECTS


def verify_module(
    module: Operation, *, after: str | None = None, verified: Verified | None = None
) -> None:
    """Check every verifier and SSA dominance.

    Args:
        module: the root operation.
        after: the name of the pass that produced this IR, for the message.
        verified: ops that have verified before, which get more.

    Raises:
        FheliumError: at the first violation. After a pass, `note` holds a window of the IR.
    """
    if verified is None:
        verified = Verified()
    for op in all_ops(module, region_first=True):
        try:
            verified.verify(op)
            for region in op.regions:
                _verify_structure(op, region)
        except RecursionError:
            raise
        except Exception as error:
            # A verifier that fails on IR that it did not expect has found invalid IR all the same.
            raise _located(op, _message(error), after) from error
    _verify_dominance(module, after)


def _message(error: Exception) -> str:
    if isinstance(error, VerifyException) or str(error):
        return str(error)
    return type(error).__name__


def _located(op: Operation, message: str, after: str | None) -> FheliumError:
    prefix = f"after pass '{after}': " if after is not None else ""
    note = ir_window(op) if after is not None else None
    # Most verifiers start their message with the op's name.
    text = message.strip().removeprefix(f"{op.name}: ")
    return FheliumError(f"{prefix}'{op.name}': {text}", location_of(op), note)


def _verify_structure(op: Operation, region: Region) -> None:
    """Parent pointers, and that a lone block of an op that wants a terminator is not empty."""
    for block in region.blocks:
        if block.parent is not region or any([child.parent is not block for child in block.ops]):
            raise VerifyException("parent pointers of a nested region are inconsistent")
        alone = block is region.first_block and block is region.last_block
        if alone and block.first_op is None and not op.has_trait(NoTerminator):
            raise VerifyException("an empty block has no terminator")


def _verify_dominance(root: Operation, after: str | None) -> None:
    _check_region_uses(root, root.regions, set(), after)


def _check_region_uses(
    op: Operation, regions: Iterable[Region], outer: set[SSAValue], after: str | None
) -> None:
    visible = set[SSAValue]() if op.has_trait(IsolatedFromAbove) else outer
    for region in regions:
        first = region.first_block
        if first is None:
            continue
        if first is region.last_block:
            # The usual case, without copies: what the block adds is taken away at its end.
            added = _check_block_uses(first, visible, after)
            visible.difference_update(added)
        else:
            _check_graph_uses(region, visible, after)


def _check_block_uses(block: Block, visible: set[SSAValue], after: str | None) -> list[SSAValue]:
    """Check the uses in one block; returns the values that it added to `visible`."""
    added: list[SSAValue] = list(block.args)
    visible.update(added)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise _located(op, _use_message(op, index, operand), after)
        if op.regions:
            _check_region_uses(op, op.regions, visible, after)
        visible.update(op.results)
        added.extend(op.results)
    return added


def _check_graph_uses(region: Region, visible: set[SSAValue], after: str | None) -> None:
    """Check a region of several blocks: a block sees what its dominators define.

    As in MLIR, blocks that cannot be reached may use anything.
    """
    for block, dominators in _dominators(region).items():
        scope = set(visible)
        for other in dominators - {block}:
            scope.update(other.args)
            for op in other.ops:
                scope.update(op.results)
        _check_block_uses(block, scope, after)


def _dominators(region: Region) -> dict[Block, set[Block]]:
    """For each reachable block, the blocks on every path to it, itself included."""
    entry = region.blocks[0]
    predecessors: dict[Block, list[Block]] = {entry: []}
    pending = [entry]
    while pending:
        block = pending.pop()
        for successor in block.last_op.successors if block.last_op is not None else ():
            if successor not in predecessors:
                predecessors[successor] = []
                pending.append(successor)
            predecessors[successor].append(block)
    everything = set(predecessors)
    dominators = {block: everything for block in predecessors}
    dominators[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for block in predecessors:
            if block is entry:
                continue
            paths = (dominators[p] for p in predecessors[block])
            new = {block} | set[Block].intersection(*paths)
            if new != dominators[block]:
                dominators[block] = new
                changed = True
    return dominators


def _use_message(op: Operation, index: int, operand: SSAValue) -> str:
    value = f"%{operand.name_hint}" if operand.name_hint else f"operand {index}"
    if isinstance(operand, BlockArgument):
        return f"{value} is an argument of a block that does not dominate this use"
    owner = operand.owner
    if not isinstance(owner, Operation):
        return f"{value} is not visible here"
    where = location_of(owner)
    at = f" (at {where})" if where is not None else ""
    if owner.parent is op.parent:
        return f"{value} is used before its definition{at}"
    return f"the definition of {value}{at} does not dominate this use"
