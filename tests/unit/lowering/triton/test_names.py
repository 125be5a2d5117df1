from __future__ import annotations

import keyword

from hypothesis import given, settings
from hypothesis import strategies as st

from fhelium_ir.lowering.triton.names import Names, symbol_identifier

ALPHABET = "_x5fa1.\n\"'é "


@settings(max_examples=300)
@given(st.lists(st.text(ALPHABET, max_size=6), unique=True, max_size=40))
def test_symbols_become_distinct_identifiers(symbols: list[str]) -> None:
    names = [symbol_identifier(symbol) for symbol in symbols]
    assert len(set(names)) == len(symbols)
    for name in names:
        assert name.isascii() and name.isidentifier() and not keyword.iskeyword(name)


def test_known_symbols() -> None:
    assert symbol_identifier("ntt_pass_1") == "ntt_pass_1"
    hostile = symbol_identifier("a'); import os #")
    assert hostile == "a_x27__x29__x3b__x20_import_x20_os_x20__x23_"
    assert symbol_identifier("a_x27_") == "a_x5f_x27_"
    assert symbol_identifier("for") == "_x66_or"
    assert symbol_identifier("tl") == "_x74_l"
    assert symbol_identifier("1") == "_x31_"
    assert symbol_identifier("") == "_x_"
    assert symbol_identifier("__builtins__") == "_x5f__builtins__"


def test_long_symbols_are_cut_and_stay_distinct() -> None:
    one, other = symbol_identifier("a" * 5000 + "b"), symbol_identifier("a" * 5000 + "c")
    assert one != other and max(len(one), len(other)) < 150


def test_fresh_names() -> None:
    names = Names()
    assert [names.fresh("x"), names.fresh("x"), names.fresh("x_1"), names.fresh("x")] == [
        "x",
        "x_1",
        "x_1_1",
        "x_2",
    ]
    assert names.fresh("in") == "in_1"
    assert names.fresh("__debug__") == "v__debug__"
    assert names.fresh("3") == "v3"
