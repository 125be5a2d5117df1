"""The reader of types and attributes."""

from __future__ import annotations

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute
from xdsl.parser import Parser

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.frontends.heir.attributes import (
    CiphertextType,
    SchemeParameters,
    ciphertext_type,
    read,
    scheme_parameters,
)
from tests.unit.frontends.heir.texts import ciphertext, plaintext


def attribute(text: str) -> Attribute:
    return Parser(Context(allow_unregistered=True), text).parse_attribute()


def test_entries_are_fields_and_items() -> None:
    value = read('a = <b = 3 : i64, c = !x.y<z>>, "text, with <", [1, 2], key = <>')
    assert value.at("a", "b") is not None
    b = value.at("a", "b")
    assert b is not None and b.integer() == 3
    c = value.at("a", "c")
    assert c is not None and c.words == "!x.y" and c.items[0].words == "z"
    assert [item.words for item in value.items] == ['"text, with <"', ""]
    assert value.items[1].integers() == (1, 2)
    assert value.at("a", "missing", "more") is None


@pytest.mark.parametrize("text", ["a = <b", "[1, 2", "a = (1>"])
def test_brackets_that_do_not_match(text: str) -> None:
    with pytest.raises(FheliumError, match="lacks its closing"):
        read(text)


def test_a_word_is_no_integer() -> None:
    with pytest.raises(FheliumError, match="expected an integer, found 'x'"):
        read("x").items[0].integer()


def test_ciphertexts() -> None:
    assert ciphertext_type(attribute(ciphertext(1, 80, 3))) == CiphertextType(1, 80, 3)
    assert ciphertext_type(attribute(ciphertext(2))) == CiphertextType(2, 40, 2)
    assert ciphertext_type(attribute(plaintext())) is None
    assert ciphertext_type(i64) is None


def test_a_ciphertext_without_a_level() -> None:
    text = ciphertext(0).replace("current = 0", "currant = 0")
    with pytest.raises(FheliumError, match="a ciphertext type states no level"):
        ciphertext_type(attribute(text))


def test_parameters() -> None:
    text = "#ckks.scheme_param<logN = 13, Q = [97, 193], P = [257], logDefaultScale = 6>"
    assert scheme_parameters(attribute(text)) == SchemeParameters(8192, (97, 193), (257,), 6)
    with pytest.raises(FheliumError, match="expected #ckks"):
        scheme_parameters(i64)
