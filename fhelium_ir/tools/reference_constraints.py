"""What xDSL's definitions say, in words: constraints of operands, results and properties, traits."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    ArrayOfConstraint,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    FunctionType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import (
    AnyAttr,
    AnyOf,
    AttrConstraint,
    BaseAttr,
    EqAttrConstraint,
    MessageConstraint,
    ParamAttrConstraint,
    RangeConstraint,
    RangeLengthConstraint,
    RangeOf,
    VarConstraint,
)
from xdsl.traits import HasParent, OpTrait

_PLAIN_NAMES: dict[type[Attribute], str] = {
    IntegerType: "an integer type",
    DenseArrayBase: "an array of integers",
    DictionaryAttr: "a dictionary",
    FloatAttr: "a float attribute",
    FunctionType: "a function type",
    MemRefType: "a memref",
    StringAttr: "a string",
    SymbolRefAttr: "a symbol reference",
    TensorType: "a tensor",
    UnitAttr: "a unit attribute",
}


def constraint_text(constraint: AttrConstraint) -> str:
    """A constraint in Markdown; anything unusual appears as xDSL writes it."""
    match constraint:
        case AnyAttr():
            return "anything"
        case BaseAttr():
            return _base_text(constraint.attr)
        case EqAttrConstraint():
            return f"`{constraint.attr}`"
        case VarConstraint():
            return f"{constraint_text(constraint.constraint)}, the same for all `{constraint.name}`"
        case AnyOf():
            return " or ".join(constraint_text(one) for one in constraint.attr_constrs)
        case MessageConstraint():
            return constraint_text(constraint.constr)
        case ParamAttrConstraint():
            return _parametrized_text(constraint)
        case SymbolNameConstraint():
            return "a symbol name"
        case ArrayOfConstraint():
            return f"an array; each element: {range_text(constraint.elem_range_constraint)}"
        case _:
            return f"`{constraint}`"


def range_text(constraint: RangeConstraint) -> str:
    """The constraint on each element of a range."""
    match constraint:
        case RangeLengthConstraint():
            return range_text(constraint.constraint)
        case RangeOf():
            return constraint_text(constraint.constr)
        case _:
            return f"`{constraint}`"


def _base_text(attribute: type[Attribute]) -> str:
    if attribute in _PLAIN_NAMES:
        return _PLAIN_NAMES[attribute]
    sigil = "!" if issubclass(attribute, TypeAttribute) else "#"
    return f"`{sigil}{attribute.name}`"


def _parametrized_text(constraint: ParamAttrConstraint[ParametrizedAttribute]) -> str:
    base: type[Attribute] = constraint.base_attr
    if base is IntegerAttr:
        return f"{constraint_text(constraint.param_constrs[1])} attribute"
    if base is DenseArrayBase:
        return f"an array of {constraint_text(constraint.param_constrs[0])}"
    return _base_text(base)


def trait_text(trait: OpTrait) -> str:
    """A trait in Markdown."""
    if isinstance(trait, HasParent):
        parents = sorted(f"`{op_type.name}`" for op_type in trait.op_types)
        return f"`HasParent` ({', '.join(parents)})"
    return f"`{type(trait).__name__}`"
