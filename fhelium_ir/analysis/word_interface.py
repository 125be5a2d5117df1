"""The interface of a program of words with a sign, if only in some rows: canonical integers outside, others inside."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.analysis.representatives import (
    INTERFACE_BELOW,
    Words,
    is_interface,
    name_of,
    poly,
    with_below,
)
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import rns
from fhelium_ir.dialects.rns import PolyFacts, PolyType


def convert_interfaces(module: ModuleOp, words: Words) -> None:
    """Stores what crosses the interface of a function as the canonical integers of the module's arithmetic, `int64` or
    `int32`, and converts it inside.

    Each argument and each result of a call is converted once, behind its definition; each operand
    of a return or a call in front of it. Values that are such integers already are left alone.

    Raises:
        FheliumError: an argument, or the result of a call, is stored for another arithmetic.
    """
    types: dict[SSAValue, Attribute] = {}
    for op in list(module.walk()):
        if isinstance(op, func.FuncOp) and not op.is_declaration:
            for argument in op.args:
                _convert_in(argument, op.body.block.first_op, words, types)
        elif isinstance(op, func.CallOp):
            _convert_out(op, words, types)
            for result in op.results:
                _convert_in(result, op.next_op, words, types)
        elif isinstance(op, func.ReturnOp):
            _convert_out(op, words, types)
    commit_types(module, types)


def _stored(facts: PolyFacts, words: Words) -> PolyFacts:
    stored = replace(facts.unbounded(), arithmetic=words.interface, exponent=0)
    return replace(stored, below=INTERFACE_BELOW)


def _convert_in(
    value: SSAValue, before: Operation | None, words: Words, types: dict[SSAValue, Attribute]
) -> None:
    facts = poly(value)
    if facts is None or is_interface(value):
        return
    name = words.arithmetic.name
    if facts.arithmetic not in (None, name):
        owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        raise FheliumError(
            f"{name_of(value)} is stored for {facts.arithmetic}, the module's arithmetic is {name}",
            location_of(owner) if owner is not None else None,
        )
    assert before is not None and before.parent is not None
    # A canonical integer is a reduced word, or where words have a sign one below 2.
    below = [2 if group.arithmetic.signed else 1 for group in words.groups]
    inside = with_below(replace(facts, arithmetic=name, exponent=0), below)
    conversion = rns.SetRepresentativeOp(value, None, PolyType(inside))
    conversion.location = before.location
    conversion.result.name_hint = value.name_hint
    before.parent.insert_op_before(conversion, before)
    value.replace_uses_with_if(conversion.result, lambda use: use.operation is not conversion)
    types[value] = PolyType(_stored(facts, words))


def _convert_out(op: Operation, words: Words, types: dict[SSAValue, Attribute]) -> None:
    for index, operand in enumerate(op.operands):
        facts = poly(operand)
        if facts is None or is_interface(operand):
            continue
        owner = operand.owner
        if isinstance(owner, rns.SetRepresentativeOp) and (
            is_interface(owner.operand) or owner.operand in types
        ):
            op.operands[index] = owner.operand
            if operand.first_use is None:
                owner.detach()
                owner.erase()
            continue
        conversion = rns.SetRepresentativeOp(operand, None, PolyType(_stored(facts, words)))
        conversion.location = op.location
        conversion.result.name_hint = operand.name_hint
        assert op.parent is not None
        op.parent.insert_op_before(conversion, op)
        op.operands[index] = conversion.result
