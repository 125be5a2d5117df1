"""A reader for types and attributes of HEIR's dialects, which arrive as text.

The text in angle brackets is a list of entries, separated by commas; an entry is `key = value` or a value, and a value
is a run of words and groups: `<ring = <coefficientType = f64, ...>, encoding = #lwe.x<scaling_factor = 45>>`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from xdsl.dialects.builtin import UnregisteredAttr
from xdsl.ir import Attribute

from fhelium_ir.compiler.errors import FheliumError

ENCODING = "#lwe.inverse_canonical_encoding"

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|\*\*|[\w.$#!@%+\-^]+|[^\s])')
_OPENING = {"<": ">", "(": ")", "[": "]", "{": "}"}


@dataclass
class Value:
    """The words of a value that stand outside of its groups, and what the groups hold."""

    words: str = ""
    fields: dict[str, Value] = field(default_factory=dict[str, "Value"])
    items: list[Value] = field(default_factory=list["Value"])

    def at(self, *path: str) -> Value | None:
        """The value under keys, one inside of the other; None if one is missing."""
        value: Value | None = self
        for key in path:
            value = value.fields.get(key) if value is not None else None
        return value

    def integer(self) -> int:
        """The number that the words begin with, as in `45 : i64`."""
        match = re.match(r"-?\d+", self.words)
        if match is None:
            raise FheliumError(f"expected an integer, found '{self.words}'")
        return int(match.group())

    def integers(self) -> tuple[int, ...]:
        """All entries as integers."""
        return tuple(item.integer() for item in self.items)


def read(text: str) -> Value:
    """The entries of the text between the angle brackets of a type or attribute.

    Raises:
        FheliumError: the brackets do not match.
    """
    tokens = _TOKEN.findall(text)
    value = Value()
    end = _entries(tokens, 0, "", value)
    if end != len(tokens):
        raise FheliumError(f"cannot read the attribute '{_short(text)}'")
    return value


def _entries(tokens: list[str], place: int, closing: str, into: Value) -> int:
    """Reads entries up to the closing bracket, and returns the place behind it."""
    while place < len(tokens):
        if tokens[place] == closing:
            return place + 1
        if tokens[place] == ",":
            place += 1
            continue
        key = None
        if place + 1 < len(tokens) and tokens[place + 1] == "=":
            key, place = tokens[place], place + 2
        value = Value()
        place = _value(tokens, place, closing, value)
        if key is None:
            into.items.append(value)
        else:
            into.fields[key] = value
    if closing:
        raise FheliumError(f"an attribute lacks its closing '{closing}'")
    return place


def _value(tokens: list[str], place: int, closing: str, into: Value) -> int:
    words: list[str] = []
    while place < len(tokens) and tokens[place] not in (",", closing):
        token = tokens[place]
        if token in _OPENING:
            place = _entries(tokens, place + 1, _OPENING[token], into)
        else:
            words.append(token)
            place += 1
    into.words = " ".join(words)
    return place


@dataclass(frozen=True)
class CiphertextType:
    """What HEIR says of a ciphertext: its level, log2 of the scale (an integer), and number of polynomials."""

    level: int
    scale_bits: int
    size: int


@dataclass(frozen=True)
class SchemeParameters:
    """`#ckks.scheme_param`: logN, the primes and log2 of the default scale."""

    ring_degree: int
    q: tuple[int, ...]
    p: tuple[int, ...]
    scale_bits: int


def ciphertext_type(attribute: Attribute) -> CiphertextType | None:
    """The facts of an `!lwe.lwe_ciphertext`, None for any other type.

    Raises:
        FheliumError: a ciphertext of another scheme, or one that lacks a fact.
    """
    if not isinstance(attribute, UnregisteredAttr):
        return None
    if attribute.attr_name.data != "lwe.lwe_ciphertext":
        return None
    return _ciphertext(attribute.value.data)


@lru_cache(maxsize=1024)
def _ciphertext(text: str) -> CiphertextType:
    value = read(text)
    level = value.at("modulus_chain", "current")
    if level is None:
        raise FheliumError(f"a ciphertext type states no level: '{_short(text)}'")
    size = value.at("ciphertext_space", "size")
    scale = _scale(value.at("plaintext_space"), text)
    return CiphertextType(level.integer(), scale, 2 if size is None else size.integer())


def _scale(space: Value | None, text: str) -> int:
    encoding = None if space is None else space.at("encoding")
    scale = None if encoding is None else encoding.at("scaling_factor")
    if encoding is None or encoding.words != ENCODING or scale is None:
        raise FheliumError(f"expected a CKKS encoding ({ENCODING}), found '{_short(text)}'")
    return scale.integer()


def scheme_parameters(attribute: Attribute) -> SchemeParameters:
    """The parameters that the module states.

    Raises:
        FheliumError: the attribute is not `#ckks.scheme_param`, or lacks a part.
    """
    if not (
        isinstance(attribute, UnregisteredAttr) and attribute.attr_name.data == "ckks.scheme_param"
    ):
        raise FheliumError(f"expected #ckks.scheme_param, found {attribute}")
    value = read(attribute.value.data)
    found: dict[str, Value] = {}
    for key in ("logN", "Q", "P", "logDefaultScale"):
        if key not in value.fields:
            raise FheliumError(f"#ckks.scheme_param states no {key}")
        found[key] = value.fields[key]
    log_degree = found["logN"].integer()
    if not 3 <= log_degree <= 17:
        raise FheliumError(f"#ckks.scheme_param states logN = {log_degree}, not 3 to 17")
    return SchemeParameters(
        1 << log_degree,
        found["Q"].integers(),
        found["P"].integers(),
        found["logDefaultScale"].integer(),
    )


def _short(text: str) -> str:
    return text if len(text) < 100 else f"{text[:97]}..."
