"""The interface of a lowered program, from the attributes that the lowering left on its function."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from fhelium_ir.backend.program import argument_name
from fhelium_ir.client.interface import Argument, Interface, KeyName, Result
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.dialects import ckks, host, resource

SOURCE = "ckks.source"
"""Module attribute with the SHA-256 of the program-stage text that a module was lowered from."""

_TYPE, _SLOTS, _RANGE = "ckks.type", "ckks.slots", "ckks.range"


def source_hash(program_stage: ModuleOp) -> str:
    """SHA-256 of a program-stage module's text, in hex."""
    return hashlib.sha256(mlir_text(program_stage).encode()).hexdigest()


def interface_of(module: ModuleOp, function: func.FuncOp) -> Interface:
    """The interface of a function that has been lowered from the program stage.

    Raises:
        FheliumError: two arguments have one name, or the module does not say what an argument or result is.
    """
    parameters = ckks.parameters_of(module)
    arguments: list[Argument] = []
    for index in range(len(function.function_type.inputs)):
        name = argument_name(function, index)
        if name in (argument.name for argument in arguments):
            raise FheliumError(f"two arguments are called '{name}'", location_of(function))
        given = _attributes(function.arg_attrs, index)
        type_ = given.get(_TYPE)
        if not isinstance(type_, ckks.CiphertextType | ckks.PlaintextType):
            raise FheliumError(
                f"argument '{name}' of @{function.sym_name.data} has no `{_TYPE}`: it does not say "
                "what a client encrypts",
                location_of(function),
            )
        slots, bound = given.get(_SLOTS), given.get(_RANGE)
        encrypted = isinstance(type_, ckks.CiphertextType)
        arguments.append(
            Argument(
                name,
                encrypted,
                _level(type_),
                _scale(type_).value(parameters.q),
                slots.value.data if isinstance(slots, IntegerAttr) else parameters.slots,
                bound.value.data if isinstance(bound, FloatAttr) else 1.0,
                (type_.data.size or 2) if isinstance(type_, ckks.CiphertextType) else 1,
            )
        )
    results: list[Result] = []
    for index in range(len(function.function_type.outputs)):
        type_ = _attributes(function.res_attrs, index).get(_TYPE)
        if not isinstance(type_, ckks.CiphertextType):
            raise FheliumError("every result must be a ciphertext", location_of(function))
        scale = _scale(type_).value(parameters.q)
        results.append(Result(f"result{index}", _level(type_), scale, type_.data.size or 2))
    source = module.attributes.get(SOURCE)
    return Interface(
        function.sym_name.data,
        parameters,
        tuple(arguments),
        tuple(results),
        required_keys(module, function),
        source.data if isinstance(source, StringAttr) else "",
    )


def required_keys(module: ModuleOp, function: func.FuncOp) -> tuple[KeyName, ...]:
    """The evaluation keys that a host program reads, each once, in the order of their declarations."""
    read = {op.symbol for op in function.body.block.ops if isinstance(op, host.ResourceOp)}
    found: dict[KeyName, None] = {}
    for op in module.ops:
        if not isinstance(op, resource.DeclareOp) or SymbolRefAttr(op.sym_name) not in read:
            continue
        if op.kind.data in resource.PUBLIC_KINDS:
            galois = op.parameters.data.get("galois")
            if galois is None:
                found["relinearize", None] = None
            else:
                found["galois", cast("IntegerAttr", galois).value.data] = None
    return tuple(found)


def _attributes(attributes: Attribute | None, index: int) -> Mapping[str, Attribute]:
    if isa(attributes, ArrayAttr[DictionaryAttr]) and index < len(attributes.data):
        return attributes.data[index].data
    return {}


def _scale(type_: ckks.CiphertextType | ckks.PlaintextType) -> ckks.Scale:
    scale = type_.data.scale
    assert scale is not None
    return scale


def _level(type_: ckks.CiphertextType | ckks.PlaintextType) -> int:
    level = type_.data.level
    assert level is not None
    return level
