"""What a client and a server must agree on about one program: parameters, inputs, results, keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, cast

from fhelium_ir.client.keys import KeyKind
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

T = TypeVar("T")

KeyName = tuple[KeyKind, int | None]
"""An evaluation key: its kind, and the Galois element of a Galois key."""

CONTENT = "program interface"


@dataclass(frozen=True)
class Argument:
    """An input of a program.

    Attributes:
        name: by which it is given.
        encrypted: a ciphertext; otherwise a plaintext, which the server encodes.
        level: of the ciphertext or plaintext.
        scale: exact.
        length: of the logical vector, which is repeated to fill the slots.
        range: largest absolute value.
        size: components; a client encrypts 2.
    """

    name: str
    encrypted: bool
    level: int
    scale: Fraction
    length: int
    range: float
    size: int = 2


@dataclass(frozen=True)
class Result:
    """A result: name, level, exact scale and number of components."""

    name: str
    level: int
    scale: Fraction
    size: int = 2


@dataclass(frozen=True)
class Interface:
    """The interface of one program.

    Attributes:
        name: of the function.
        parameters: ring, moduli and gadget.
        arguments: in the function's order.
        results: in the function's order.
        required_keys: evaluation keys that the server needs, each once.
        source: SHA-256 of the program-stage text; empty where that is not known.
    """

    name: str
    parameters: Parameters
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    required_keys: tuple[KeyName, ...]
    source: str = ""

    @property
    def encrypted(self) -> tuple[Argument, ...]:
        """The inputs that the client encrypts."""
        return tuple(argument for argument in self.arguments if argument.encrypted)

    @property
    def plaintexts(self) -> tuple[Argument, ...]:
        """The inputs that the server gives in plain."""
        return tuple(argument for argument in self.arguments if not argument.encrypted)

    def hash(self) -> str:
        """SHA-256 of all facts, in hex: the identity of the program for files."""
        return hashlib.sha256(json.dumps(self.facts(), sort_keys=True).encode()).hexdigest()

    def facts(self) -> dict[str, object]:
        """The interface as plain data for JSON; `of_facts` is its inverse."""
        parameters = self.parameters
        return {
            "name": self.name,
            "parameters": {
                "ring_degree": parameters.ring_degree,
                "q": list(parameters.q),
                "p": list(parameters.p),
                "digits": parameters.digits,
                "scale_bits": parameters.scale_bits,
                "secret": parameters.secret,
                "insecure": parameters.insecure,
            },
            "arguments": [_argument_facts(argument) for argument in self.arguments],
            "results": [
                {"name": r.name, "level": r.level, "scale": str(r.scale), "size": r.size}
                for r in self.results
            ],
            "required_keys": [
                {"kind": kind, "galois": galois, "name": name}
                for (kind, galois), name in zip(
                    self.required_keys, key_names(parameters, self.required_keys), strict=True
                )
            ],
            "source": self.source,
        }

    @staticmethod
    def of_facts(facts: Mapping[str, object]) -> Interface:
        """The interface that was written as plain data; parameters are validated.

        Raises:
            FheliumError: names the entry that is missing or malformed.
        """
        return Interface(
            _entry(facts, "name", str),
            _parameters(cast("dict[str, object]", _entry(facts, "parameters", dict))),
            tuple(_argument(row) for row in _rows(facts, "arguments")),
            tuple(
                Result(
                    _entry(row, "name", str),
                    _entry(row, "level", int),
                    _scale(row),
                    _entry(row, "size", int),
                )
                for row in _rows(facts, "results")
            ),
            tuple(_key(row) for row in _rows(facts, "required_keys")),
            _entry(facts, "source", str),
        )


def key_names(parameters: Parameters, keys: Iterable[KeyName]) -> list[str]:
    """The keys in words: `relinearization`, `conjugation`, `rotation by 3`."""
    wanted = list(keys)
    steps: dict[int, int] = {}
    if any(kind == "galois" for kind, _ in wanted):
        steps = {parameters.galois(step): step for step in range(parameters.slots)}
    names: list[str] = []
    for kind, galois in wanted:
        if kind == "relinearize" or galois is None:
            names.append("relinearization")
        elif galois == parameters.conjugation:
            names.append("conjugation")
        elif galois in steps:
            names.append(f"rotation by {steps[galois]}")
        else:
            names.append(f"Galois element {galois}")
    return names


def _argument_facts(argument: Argument) -> dict[str, object]:
    return {
        "name": argument.name,
        "encrypted": argument.encrypted,
        "level": argument.level,
        "scale": str(argument.scale),
        "length": argument.length,
        "range": argument.range,
        "size": argument.size,
    }


def _argument(row: Mapping[str, object]) -> Argument:
    return Argument(
        _entry(row, "name", str),
        _entry(row, "encrypted", bool),
        _entry(row, "level", int),
        _scale(row),
        _entry(row, "length", int),
        _entry(row, "range", float),
        _entry(row, "size", int),
    )


def _parameters(facts: Mapping[str, object]) -> Parameters:
    parameters = Parameters(
        _entry(facts, "ring_degree", int),
        _integers(facts, "q"),
        _integers(facts, "p"),
        _entry(facts, "digits", int),
        _entry(facts, "scale_bits", int),
        _entry(facts, "secret", str),
        _entry(facts, "insecure", bool),
    )
    parameters.validate()
    return parameters


def _key(row: Mapping[str, object]) -> KeyName:
    kind, galois = _entry(row, "kind", str), row.get("galois")
    if kind == "relinearize" and galois is None:
        return "relinearize", None
    if kind == "galois" and isinstance(galois, int):
        return "galois", galois
    raise FheliumError(f"there is no key of kind '{kind}' for element {galois}")


def _entry(facts: Mapping[str, object], name: str, type_: type[T]) -> T:
    value = facts.get(name)
    # bool is a subclass of int.
    if not isinstance(value, type_) or (isinstance(value, bool) and type_ is not bool):
        raise FheliumError(f"its entry '{name}' is missing or not of type {type_.__name__}")
    return value


def _rows(facts: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    rows = cast("list[object]", _entry(facts, name, list))
    if not all(isinstance(row, dict) for row in rows):
        raise FheliumError(f"its entry '{name}' must be a list of objects")
    return cast("list[Mapping[str, object]]", rows)


def _integers(facts: Mapping[str, object], name: str) -> tuple[int, ...]:
    values = cast("list[object]", _entry(facts, name, list))
    if not all(isinstance(value, int) for value in values):
        raise FheliumError(f"its entry '{name}' must be a list of integers")
    return tuple(cast("list[int]", values))


def _scale(row: Mapping[str, object]) -> Fraction:
    try:
        return Fraction(_entry(row, "scale", str))
    except (ValueError, ZeroDivisionError) as error:
        raise FheliumError("its entry 'scale' must be a fraction") from error
