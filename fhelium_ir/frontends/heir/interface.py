"""Which function of a HEIR module is what: by its attributes, never by its name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.ir import Attribute, Operation

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.frontends.heir.attributes import CiphertextType, ciphertext_type
from fhelium_ir.frontends.heir.machine import (
    element_type,
    function_of,
    functions_of,
    python_value,
    tensor_shape,
)

INTERFACE = "heir.interface"
ZERO_ARGUMENT = "client.enc_zero_arg"

OLD_ROLES = {
    "client.enc_func": "client.encrypt",
    "client.dec_func": "client.decrypt",
    "client.pack_func": "client.pack",
    "client.preprocessed_func": "client.preprocessed",
    "client.enc_zero_func": "client.encrypt_zero",
}
"""Attributes of releases before `heir.interface`, and the roles they stand for."""


@dataclass(frozen=True)
class Parameter:
    """An argument or result that is one ciphertext or a tensor of them.

    Attributes:
        type: of each ciphertext.
        shape: of the tensor, None for a single ciphertext.
    """

    type: CiphertextType
    shape: tuple[int, ...] | None


@dataclass
class Entry:
    """A function that a user calls.

    Attributes:
        arguments: in order; None for a public one.
        original: the types of the arguments before HEIR packed them, where known.
        zeros: the arguments that encrypt zero; the user does not give them.
        encrypt: by argument, the function that packs and encrypts it.
        decrypt: by result, the function that decrypts and unpacks it.
    """

    op: Operation
    name: str
    arguments: list[Parameter | None]
    results: list[Parameter]
    original: dict[int, Attribute]
    zeros: set[int] = field(default_factory=set[int])
    encrypt: dict[int, str] = field(default_factory=dict[int, str])
    decrypt: dict[int, str] = field(default_factory=dict[int, str])


def roles_of(op: Operation) -> list[tuple[str, dict[str, Any]]]:
    """The roles of a function, each with its facts: `func_name` and perhaps `index`."""
    found: list[tuple[str, dict[str, Any]]] = []
    stated = op.attributes.get(INTERFACE)
    if isinstance(stated, DictionaryAttr):
        facts = cast("dict[str, Any]", python_value(stated))
        found += [(str(role), facts) for role in facts.get("roles", [])]
    for key, role in OLD_ROLES.items():
        old = op.attributes.get(key)
        if isinstance(old, DictionaryAttr):
            found.append((role, cast("dict[str, Any]", python_value(old))))
    return found


def parameter_of(type_: Attribute) -> Parameter | None:
    """A ciphertext or a tensor of ciphertexts; None for other types."""
    found = ciphertext_type(element_type(type_) or type_)
    return None if found is None else Parameter(found, tensor_shape(type_))


def entries_of(module: ModuleOp) -> list[Entry]:
    """The functions that a user calls, with their client functions.

    A function with the role "entry"; before that role existed, the one that the client functions name; in a module
    without any role, each function with ciphertexts.

    Raises:
        FheliumError: there is none, or one has a type that is not supported.
    """
    functions = {_name(op): op for op in functions_of(module)}
    roles = [(op, role, facts) for op in functions.values() for role, facts in roles_of(op)]
    named = [_name(op) for op, role, _ in roles if role == "entry"]
    if not named:
        named = list(dict.fromkeys(str(facts.get("func_name")) for _, _, facts in roles))
        for name in named:
            if name not in functions:
                raise FheliumError(
                    f"attributes name an entry function @{name}, there is none", location_of(module)
                )
    if not named:
        named = [name for name, op in functions.items() if _has_ciphertexts(op)]
    if not named:
        raise FheliumError("the module has no function on CKKS ciphertexts", location_of(module))
    entries = [_entry(functions[name], name) for name in named]
    for entry in entries:
        _add_client(entry, roles)
    return entries


def _name(op: Operation) -> str:
    return function_of(op).name


def _has_ciphertexts(op: Operation) -> bool:
    arguments, results = _parameters(op)
    return any((*arguments, *results))


def _parameters(op: Operation) -> tuple[list[Parameter | None], list[Parameter | None]]:
    """What the arguments and the results are."""
    function = function_of(op)
    try:
        inputs = [parameter_of(type_) for type_ in function.inputs]
        return inputs, [parameter_of(type_) for type_ in function.outputs]
    except FheliumError as error:
        raise FheliumError(error.message, location_of(op)) from error


def _entry(op: Operation, name: str) -> Entry:
    function = function_of(op)
    arguments, results = _parameters(op)
    found: list[Parameter] = []
    for index, result in enumerate(results):
        if result is None:
            raise FheliumError(
                f"result {index} of @{name} is no ciphertext: {function.outputs[index]}",
                location_of(op),
            )
        found.append(result)
    original = {
        index: type_ for index, type_ in enumerate(function.inputs) if arguments[index] is None
    }
    return Entry(op, name, arguments, found, original)


def _add_client(entry: Entry, roles: list[tuple[Operation, str, dict[str, Any]]]) -> None:
    zero_functions = 0
    for op, role, facts in roles:
        if facts.get("func_name") != entry.name:
            continue
        index = facts.get("index", 0)
        if role in ("client.encrypt", "client.decrypt"):
            inputs, outputs = function_of(op).inputs, function_of(op).outputs
            if len(inputs) != 2 or len(outputs) != 1:
                raise FheliumError(
                    f"@{_name(op)} is for {role}: it must take a value and a key, and have one result",
                    location_of(op),
                )
            if role == "client.encrypt":
                entry.encrypt[index] = _name(op)
                entry.original[index] = inputs[0]
            else:
                entry.decrypt[index] = _name(op)
        elif role == "client.encrypt_zero":
            zero_functions += 1
    given = entry.op.properties.get("arg_attrs", entry.op.attributes.get("arg_attrs"))
    if isinstance(given, ArrayAttr):
        for index, attributes in enumerate(python_value(cast("Attribute", given))):
            if isinstance(attributes, dict) and ZERO_ARGUMENT in attributes:
                entry.zeros.add(index)
    # The zeros are appended; an entry that only hands its arguments on does not mark them.
    secret = [
        index
        for index, argument in enumerate(entry.arguments)
        if argument is not None and index not in entry.encrypt
    ]
    if entry.encrypt and len(entry.zeros) < zero_functions:
        entry.zeros.update(secret[-zero_functions:])
