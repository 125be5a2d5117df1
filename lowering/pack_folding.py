"""Components that are packed and taken out again: the component itself, so that nobody has to store the others."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from fhelium_ir.compiler.locations import inherit
from fhelium_ir.dialects import rns


def fold_extracted_packs(module: ModuleOp) -> None:
    """Replaces every `rns.extract` of an `rns.pack` by the parts that it takes, and erases packs
    without users.
    """
    packs: list[rns.PackOp] = []
    for op in list(module.walk()):
        if isinstance(op, rns.PackOp):
            packs.append(op)
        elif isinstance(op, rns.ExtractOp) and isinstance(op.operand.owner, rns.PackOp):
            _fold(op, op.operand.owner, packs)
    for pack in reversed(packs):
        if not pack.result.uses:
            pack.detach()
            pack.erase()


def _fold(op: rns.ExtractOp, pack: rns.PackOp, packs: list[rns.PackOp]) -> None:
    first, count = op.first.value.data, op.count.value.data
    parts = list(pack.parts)[first : first + count]
    result: SSAValue
    if count == 1:
        (result,) = parts
    else:
        smaller = rns.PackOp(parts)
        inherit(smaller, op)
        smaller.result.name_hint = op.result.name_hint
        assert op.parent is not None
        op.parent.insert_op_before(smaller, op)
        packs.append(smaller)
        result = smaller.result
    op.result.replace_all_uses_with(result)
    op.detach()
    op.erase()
