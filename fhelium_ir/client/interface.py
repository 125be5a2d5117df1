"""What a client and a server must agree on about one program: parameters, inputs, results, keys."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import cast

from fhelium_ir.client.facts import entry, integers, rows
from fhelium_ir.client.keys import KeyKind
from fhelium_ir.client.layout import Layout
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters

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
        layout: how the tensors of the source program are packed, where it is a program on tensors.
    """

    name: str
    parameters: Parameters
    arguments: tuple[Argument, ...]
    results: tuple[Result, ...]
    required_keys: tuple[KeyName, ...]
    source: str = ""
    layout: Layout | None = None

    @property
    def encrypted(self) -> tuple[Argument, ...]:
        """The inputs that the client encrypts."""
        return tuple(argument for argument in self.arguments if argument.encrypted)

    @property
    def plaintexts(self) -> tuple[Argument, ...]:
        """The inputs that the server gives in plain."""
        return tuple(argument for argument in self.arguments if not argument.encrypted)

    def input_names(self, encrypted: bool) -> list[str]:
        """What a file of inputs holds: those that the client encrypts, or those that the server gives in plain."""
        if self.layout is not None:
            return [tensor.name for tensor in self.layout.given(encrypted)]
        return [a.name for a in (self.encrypted if encrypted else self.plaintexts)]

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
            "layout": None if self.layout is None else self.layout.facts(),
        }

    @staticmethod
    def of_facts(facts: Mapping[str, object]) -> Interface:
        """The interface that was written as plain data; parameters are validated.

        Raises:
            FheliumError: names the entry that is missing or malformed.
        """
        interface = Interface(
            entry(facts, "name", str),
            _parameters(cast("dict[str, object]", entry(facts, "parameters", dict))),
            tuple(_argument(row) for row in rows(facts, "arguments")),
            tuple(
                Result(
                    entry(row, "name", str),
                    entry(row, "level", int),
                    _scale(row),
                    entry(row, "size", int),
                )
                for row in rows(facts, "results")
            ),
            tuple(_key(row) for row in rows(facts, "required_keys")),
            entry(facts, "source", str),
        )
        if facts.get("layout") is None:
            return interface
        layout = Layout.of_facts(cast("dict[str, object]", entry(facts, "layout", dict)))
        layout.check(
            {a.name: (a.length, a.encrypted) for a in interface.arguments}, len(interface.results)
        )
        return replace(interface, layout=layout)


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
        entry(row, "name", str),
        entry(row, "encrypted", bool),
        entry(row, "level", int),
        _scale(row),
        entry(row, "length", int),
        entry(row, "range", float),
        entry(row, "size", int),
    )


def _parameters(facts: Mapping[str, object]) -> Parameters:
    parameters = Parameters(
        entry(facts, "ring_degree", int),
        integers(facts, "q"),
        integers(facts, "p"),
        entry(facts, "digits", int),
        entry(facts, "scale_bits", int),
        entry(facts, "secret", str),
        entry(facts, "insecure", bool),
    )
    parameters.validate()
    return parameters


def _key(row: Mapping[str, object]) -> KeyName:
    kind, galois = entry(row, "kind", str), row.get("galois")
    if kind == "relinearize" and galois is None:
        return "relinearize", None
    if kind == "galois" and isinstance(galois, int):
        return "galois", galois
    raise FheliumError(f"there is no key of kind '{kind}' for element {galois}")


def _scale(row: Mapping[str, object]) -> Fraction:
    try:
        return Fraction(entry(row, "scale", str))
    except (ValueError, ZeroDivisionError) as error:
        raise FheliumError("its entry 'scale' must be a fraction") from error
