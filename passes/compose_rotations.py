"""`compose-rotations`: rotations by the steps that there are keys for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, UnitAttr, i64
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import inherit, location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks

PASS = "compose-rotations"


@dataclass(frozen=True)
class ComposeRotations(ModulePass):
    """Writes every rotation as rotations by allowed steps, with the fewest key switches.

    Rotations by a multiple of the slot count are removed, and rotations of a rotation that nothing else uses are
    merged with it where that saves key switches. Rotations of one value share the steps that they have in common.

    Options:
        keys: the allowed steps, of any sign, such as `keys=1,2,4`; none: any step is allowed.
    """

    name = PASS
    keys: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        slots = ckks.parameters_of(op).slots
        for key in self.keys:
            if key % slots == 0:
                raise FheliumError(f"{PASS}: a rotation by {key} of {slots} slots needs no key")
        paths = Paths(slots, self.keys)
        functions = [f for f in op.ops if isinstance(f, func.FuncOp) and not f.is_declaration]
        rotations = [r for f in functions for r in f.walk() if isinstance(r, ckks.RotateOp)]
        for rotation in rotations:
            _check(rotation, paths)
        for function in functions:
            for block in function.body.blocks:
                _merge(block, paths)
                _compose(block, paths)


@dataclass
class Paths:
    """Shortest ways from 0 to each number of steps, modulo the slot count, by allowed steps."""

    slots: int
    keys: tuple[int, ...]
    previous: dict[int, int] = field(default_factory=dict[int, int])
    """By number of steps, the key that is added last; found breadth first, keys in their order."""
    lengths: dict[int, int] = field(default_factory=dict[int, int])

    def __post_init__(self) -> None:
        self.lengths[0] = 0
        layer = [0]
        while layer and self.keys:
            following: list[int] = []
            for steps in layer:
                for key in self.keys:
                    reached = (steps + key) % self.slots
                    if reached not in self.lengths:
                        self.lengths[reached] = self.lengths[steps] + 1
                        self.previous[reached] = key
                        following.append(reached)
            layer = following

    def length(self, steps: int) -> int | None:
        """Key switches that a rotation takes, None if it cannot be composed."""
        if not self.keys:
            return int(steps % self.slots != 0)
        return self.lengths.get(steps % self.slots)

    def way(self, steps: int) -> tuple[int, ...]:
        """The keys from 0 to `steps`, in order."""
        left = steps % self.slots
        if not self.keys:
            return (steps,) if left else ()
        keys: list[int] = []
        while left:
            keys.append(self.previous[left])
            left = (left - keys[-1]) % self.slots
        return tuple(reversed(keys))


def _check(rotation: ckks.RotateOp, paths: Paths) -> None:
    if paths.length(rotation.step) is None:
        allowed = ", ".join(map(str, paths.keys))
        raise FheliumError(
            f"{PASS}: a rotation by {rotation.step} of {paths.slots} slots cannot be composed of "
            f"rotations by {allowed}",
            location_of(rotation),
        )


def _cost(steps: Sequence[int], paths: Paths) -> int:
    return sum(paths.length(step) or 0 for step in steps)


def _merge(block: Block, paths: Paths) -> None:
    """Makes rotations of a rotation's result rotations of its operand, where that saves key switches."""
    for inner in list(block.ops):
        if not isinstance(inner, ckks.RotateOp):
            continue
        users = [use.operation for use in inner.result.uses]
        outers = [op for op in users if isinstance(op, ckks.RotateOp)]
        if not outers or len(outers) < len(users):
            continue
        apart = [inner.step, *(outer.step for outer in outers)]
        merged = [inner.step + outer.step for outer in outers]
        # Where one can be composed, the sum of both can.
        if _cost(merged, paths) >= _cost(apart, paths):
            continue
        for outer, steps in zip(outers, merged, strict=True):
            outer.operands[0] = inner.operand
            outer.properties["steps"] = IntegerAttr(steps, i64)
            remark(PASS, outer, "applied", f"merged with a rotation by {inner.step}")
        inner.detach()
        inner.erase()


def _compose(block: Block, paths: Paths) -> None:
    turned: dict[tuple[SSAValue, int, bool], SSAValue] = {}
    for op in list(block.ops):
        if not isinstance(op, ckks.RotateOp):
            continue
        way = paths.way(op.step)
        extended = op.extended is not None
        here = (op.operand, op.step % paths.slots, extended)
        if way == (op.step,) and here not in turned:
            turned[here] = op.result
            continue
        value, sofar = op.operand, 0
        if extended and not way:
            new = ckks.ExtendOp(op.operand)
            inherit(new, op)
            block.insert_op_before(new, op)
            value = new.result
        for number, key in enumerate(way, 1):
            sofar = (sofar + key) % paths.slots
            # Only the last of several rotations may leave its division by P to others.
            last = extended and number == len(way)
            known = turned.get((op.operand, sofar, last))
            if known is None:
                properties: dict[str, Attribute] = {"steps": IntegerAttr(key, i64)}
                if last:
                    properties["extended"] = UnitAttr()
                type_ = op.result.type if last or not extended else op.operand.type
                new = ckks.RotateOp.create(
                    operands=[value], result_types=[type_], properties=properties
                )
                new.attributes = dict(op.attributes)
                inherit(new, op)
                block.insert_op_before(new, op)
                known = turned[op.operand, sofar, last] = new.result
            value = known
        if value is not op.operand and value.name_hint is None:
            value.name_hint = op.result.name_hint
        text = " + ".join(map(str, way)) if way else "nothing to do"
        remark(PASS, op, "applied", f"a rotation by {op.step} of {paths.slots} slots: {text}")
        op.result.replace_all_uses_with(value)
        op.detach()
        op.erase()
