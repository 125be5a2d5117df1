"""hoist-rotations: rotations of one value share decomposition, base conversion and transforms."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ntt, rns

PASS = "hoist-rotations"


@dataclass(frozen=True)
class HoistRotations(ModulePass):
    """Moves the automorphism of a key switch behind the digits of its operand.

    A rotation decomposes X -> X^g applied to c1. Where several rotations (or a conjugation) read one c1, its digits are
    computed once, in the evaluation domain over all primes, and each rotation re-indexes them in its inner product
    (Halevi and Shoup, "Faster homomorphic linear transformations in HElib", 2018). Residues do not change: the
    centred lift of a digit commutes with the sign changes of an automorphism, and everything else is linear.
    """

    name = PASS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not function.is_declaration:
                for block in function.body.blocks:
                    _hoist(block)


@dataclass(frozen=True)
class _Rotation:
    """A key switch of an automorphism's result: the ops from the automorphism to the inner product."""

    automorphism: rns.AutomorphismOp
    inverse: ntt.InverseOp
    digits: rns.DigitsOp
    punctured: rns.MulConstantOp
    converted: rns.BaseConvertOp
    forward: ntt.ForwardOp
    accumulate: rns.AccumulateOp

    @property
    def chain(self) -> tuple[Operation, ...]:
        """The ops that rotations can share, in order."""
        return (self.inverse, self.digits, self.punctured, self.converted, self.forward)


def _hoist(block: Block) -> None:
    groups: dict[Hashable, list[_Rotation]] = {}
    for op in block.ops:
        if isinstance(op, rns.AutomorphismOp):
            rotation = _match(op)
            if rotation is not None:
                groups.setdefault(_key(rotation), []).append(rotation)
    for group in groups.values():
        if len(group) > 1:
            _share(group)


def _key(rotation: _Rotation) -> Hashable:
    """Equal for rotations of one value: extracts of one component count as one value."""
    operand = rotation.automorphism.operand
    source: Hashable = operand
    if isinstance(operand.owner, rns.ExtractOp):
        extract = operand.owner
        source = (extract.operand, extract.first.value.data, extract.count.value.data)
    return (source, rotation.digits.size.value.data, rotation.converted.result.type)


def _only_user(value: SSAValue, kind: type[Operation]) -> Operation | None:
    user = value.get_user_of_unique_use()
    return user if isinstance(user, kind) else None


def _match(op: rns.AutomorphismOp) -> _Rotation | None:
    """The key switch that reads an automorphism, if nothing else does."""
    users = [use.operation for use in op.result.uses]
    inverse = next((user for user in users if isinstance(user, ntt.InverseOp)), None)
    accumulate = next((user for user in users if isinstance(user, rns.AccumulateOp)), None)
    if len(users) != 2 or inverse is None or accumulate is None or accumulate.own is not op.result:
        return None
    digits = _only_user(inverse.result, rns.DigitsOp)
    punctured = digits and _only_user(digits.results[0], rns.MulConstantOp)
    converted = punctured and _only_user(punctured.results[0], rns.BaseConvertOp)
    forward = converted and _only_user(converted.results[0], ntt.ForwardOp)
    if (
        not isinstance(digits, rns.DigitsOp)
        or not isinstance(punctured, rns.MulConstantOp)
        or not isinstance(converted, rns.BaseConvertOp)
        or not isinstance(forward, ntt.ForwardOp)
        or converted.lift.data != "centred"
        or accumulate.converted is not forward.result
        or not forward.result.has_one_use()
    ):
        return None
    return _Rotation(op, inverse, digits, punctured, converted, forward, accumulate)


def _share(group: list[_Rotation]) -> None:
    """Computes the digits of the group's value once, before the first rotation."""
    first = group[0]
    source = first.automorphism.operand
    block = first.automorphism.parent
    assert block is not None
    value = source
    for op in first.chain:
        copy = op.clone({op.operands[0]: value})
        copy.location = op.location
        block.insert_op_before(copy, first.automorphism)
        value = copy.results[0]
    for rotation in group:
        turned = rns.AutomorphismOp.by(value, rotation.automorphism.element)
        turned.location = rotation.automorphism.location
        block.insert_op_before(turned, rotation.accumulate)
        rotation.accumulate.operands[1] = turned.result
        for op in reversed(rotation.chain):
            op.detach()
            op.erase()
    remark(PASS, first.accumulate, "applied", f"{len(group)} rotations share one decomposition")
