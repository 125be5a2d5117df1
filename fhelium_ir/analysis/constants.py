"""Declared constants at the exponents that their uses need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from xdsl.dialects.builtin import (
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolOpInterface

from fhelium_ir.analysis.representatives import Words, poly, with_below
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects.assembly import integer_property
from fhelium_ir.dialects.resource import DeclareOp, RefOp
from fhelium_ir.dialects.rns import PolyType

PASS = "track-montgomery"

UNUSED_EXPONENT = 1
"""Exponent of a reference that nothing uses."""


def place_constants(
    module: ModuleOp, consumed: Mapping[tuple[Operation, int], int], words: Words
) -> dict[SSAValue, Attribute]:
    """Gives every `resource.ref` the exponent of its uses, and each declared constant its
    `exponent`.

    A reference with uses at several exponents, and a declaration with such references, is cloned
    for each further exponent; the clone of a declaration `@name` is `@name_e2`. A declaration keeps
    the exponent that it states if some use needs that one, else it takes that of its first use.

    Args:
        consumed: the exponent of every use of a reference.

    Returns:
        The new types of the references; the caller commits them.

    Raises:
        FheliumError: a reference names no declared key or plaintext.
    """
    declared: dict[str, DeclareOp] = {}
    references: list[RefOp] = []
    for op in module.walk():
        if isinstance(op, DeclareOp):
            declared[op.sym_name.data] = op
        elif isinstance(op, RefOp):
            references.append(op)
    placed: list[tuple[RefOp, int]] = []
    position = {op: index for index, op in enumerate(module.walk())}
    for reference in references:
        placed += _split(reference, consumed, position)
    symbols: dict[str, list[tuple[RefOp, int]]] = {}
    for reference, exponent in placed:
        symbols.setdefault(reference.symbol.string_value(), []).append((reference, exponent))
    taken = _symbols(module)
    for symbol, uses in symbols.items():
        if symbol not in declared:
            raise FheliumError(
                f"{PASS}: @{symbol} is not declared in the module", location_of(uses[0][0])
            )
        _declare(declared[symbol], uses, taken)
    types: dict[SSAValue, Attribute] = {}
    for reference, exponent in placed:
        facts = poly(reference.result)
        assert facts is not None
        stored = replace(facts, arithmetic=words.arithmetic.name, exponent=exponent)
        types[reference.result] = PolyType(with_below(stored, [1] * len(words.groups)))
    return types


def _split(
    reference: RefOp,
    consumed: Mapping[tuple[Operation, int], int],
    position: Mapping[Operation, int],
) -> list[tuple[RefOp, int]]:
    """One reference for each exponent at which the given one is used, itself first."""
    uses = sorted(reference.result.uses, key=lambda use: (position[use.operation], use.index))
    exponents = dict.fromkeys(consumed[use.operation, use.index] for use in uses)
    placed: list[tuple[RefOp, int]] = []
    for exponent in exponents or (UNUSED_EXPONENT,):
        if not placed:
            placed.append((reference, exponent))
            continue
        clone = reference.clone()
        clone.result.name_hint = reference.result.name_hint
        assert reference.parent is not None
        reference.parent.insert_op_after(clone, placed[-1][0])
        for use in uses:
            if consumed[use.operation, use.index] == exponent:
                use.operation.operands[use.index] = clone.result
        placed.append((clone, exponent))
    return placed


def _declare(declaration: DeclareOp, uses: list[tuple[RefOp, int]], taken: set[str]) -> None:
    """Sets the exponent of a declaration and clones it for further exponents of its references."""
    exponents = list(dict.fromkeys(exponent for _, exponent in uses))
    if "exponent" in declaration.parameters.data:
        stated = integer_property(declaration.parameters.data, "exponent")
        exponents.sort(key=lambda exponent: exponent != stated)
    name = declaration.sym_name.data
    declaration.properties["parameters"] = _with_exponent(declaration, exponents[0])
    last = declaration
    for exponent in exponents[1:]:
        clone = declaration.clone()
        symbol = _fresh(f"{name}_e{exponent}", taken)
        clone.properties["sym_name"] = StringAttr(symbol)
        clone.properties["parameters"] = _with_exponent(declaration, exponent)
        assert last.parent is not None
        last.parent.insert_op_after(clone, last)
        last = clone
        for reference, needed in uses:
            if needed == exponent:
                reference.properties["symbol"] = SymbolRefAttr(symbol)
        text = f"declared @{symbol}, which is @{name} at exponent {exponent}"
        remark(PASS, declaration, "applied", text)


def _with_exponent(declaration: DeclareOp, exponent: int) -> DictionaryAttr:
    data = {**declaration.parameters.data, "exponent": IntegerAttr(exponent, i64)}
    return DictionaryAttr(data)


def _symbols(module: ModuleOp) -> set[str]:
    """All symbols of the module."""
    names: set[str] = set()
    for op in module.walk():
        trait = op.get_trait(SymbolOpInterface)
        symbol = trait.get_sym_attr_name(op) if trait is not None else None
        if symbol is not None:
            names.add(symbol.data)
    return names


def _fresh(name: str, taken: set[str]) -> str:
    """The name, made unique by a number; taken from now on."""
    fresh, count = name, 0
    while fresh in taken:
        count += 1
        fresh = f"{name}_{count}"
    taken.add(fresh)
    return fresh
