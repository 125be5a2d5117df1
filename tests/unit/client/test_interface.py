"""Interfaces as plain data."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from fhelium_ir.client.interface import Argument, Interface, KeyName, Result, key_names
from fhelium_ir.client.layout import Layout, Moves, TensorInput, TensorResult
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.errors import FheliumError

TINY = generate(32, [40, 30], [41], 2, 30, insecure=True)
INTERFACE = Interface(
    "f",
    TINY,
    (
        Argument("x", True, 1, Fraction(1 << 60, TINY.q[1]), 4, 2.5),
        Argument("w", False, 0, Fraction(1 << 30), 16, 1.0, 1),
    ),
    (Result("result0", 0, Fraction(1 << 90, 7 * TINY.q[1]), 3),),
    (("relinearize", None), ("galois", 5), ("galois", 63)),
    "abc",
)
LAYOUT = Layout(
    16,
    (TensorInput("x", (2, 2), 2.5, True), TensorInput("v", (), 1.0, False)),
    (("x", Moves("0 2 1 3", 4)), ("w", Moves("0 =0*15", 16))),
    (TensorResult((3,), Moves("5..7", 3)),),
)
PACKED = replace(INTERFACE, layout=LAYOUT)


@pytest.mark.parametrize("interface", [INTERFACE, PACKED])
def test_facts_go_through_json_and_back(interface: Interface) -> None:
    again = Interface.of_facts(json.loads(json.dumps(interface.facts())))
    assert again == interface
    assert again.hash() == interface.hash()


def test_inputs_by_who_gives_them() -> None:
    assert [argument.name for argument in INTERFACE.encrypted] == ["x"]
    assert [argument.name for argument in INTERFACE.plaintexts] == ["w"]
    assert [INTERFACE.input_names(encrypted) for encrypted in (True, False)] == [["x"], ["w"]]
    assert [PACKED.input_names(encrypted) for encrypted in (True, False)] == [["x"], ["v"]]


@pytest.mark.parametrize(
    "other",
    [
        replace(INTERFACE, name="g"),
        replace(INTERFACE, source="abd"),
        replace(INTERFACE, parameters=replace(TINY, digits=1)),
        replace(INTERFACE, parameters=replace(TINY, insecure=False)),
        replace(INTERFACE, arguments=INTERFACE.arguments[:1]),
        replace(INTERFACE, arguments=(replace(INTERFACE.arguments[0], level=0),)),
        replace(INTERFACE, results=(replace(INTERFACE.results[0], scale=Fraction(1)),)),
        replace(INTERFACE, required_keys=()),
        PACKED,
    ],
)
def test_every_fact_counts_in_the_hash(other: Interface) -> None:
    assert other.hash() != INTERFACE.hash()


@pytest.mark.parametrize(
    "entry, value, message",
    [
        ("name", None, "its entry 'name' is missing or not of type str"),
        ("name", 3, "its entry 'name' is missing or not of type str"),
        ("parameters", [], "its entry 'parameters' is missing or not of type dict"),
        ("parameters", {}, "its entry 'ring_degree' is missing or not of type int"),
        ("arguments", {}, "its entry 'arguments' is missing or not of type list"),
        ("arguments", [1], "its entry 'arguments' must be a list of objects"),
        ("results", [{"name": "r", "level": True}], "its entry 'level' is missing or not"),
        ("results", [{"name": "r", "level": 1, "scale": "1/0"}], "'scale' must be a fraction"),
        ("results", [{"name": "r", "level": 1, "scale": "x"}], "'scale' must be a fraction"),
        ("required_keys", [{"kind": "secret"}], "no key of kind 'secret' for element None"),
        ("required_keys", [{"kind": "galois"}], "no key of kind 'galois' for element None"),
        ("layout", [], "its entry 'layout' is missing or not of type dict"),
        ("layout", {}, "its layout has version None, this release reads 1"),
        (
            "layout",
            replace(LAYOUT, vectors=LAYOUT.vectors[:1]).facts(),
            "its layout is for other arguments",
        ),
        ("layout", replace(LAYOUT, slots=4).facts(), "its layout names place 7 of 4"),
    ],
)
def test_malformed_facts(entry: str, value: object, message: str) -> None:
    with pytest.raises(FheliumError) as caught:
        Interface.of_facts({**INTERFACE.facts(), entry: value})
    assert message in caught.value.message


def test_primes_are_validated() -> None:
    facts = json.loads(json.dumps(INTERFACE.facts()))
    facts["parameters"]["q"][0] += 2
    with pytest.raises(FheliumError, match="modulus"):
        Interface.of_facts(facts)
    facts["parameters"]["q"][0] = "5"
    with pytest.raises(FheliumError, match="'q' must be a list of integers"):
        Interface.of_facts(facts)


def test_names_of_keys() -> None:
    keys: tuple[KeyName, ...] = (
        *INTERFACE.required_keys,
        ("galois", TINY.galois(-1)),
        ("galois", 3),
    )
    assert key_names(TINY, keys) == [
        "relinearization",
        "rotation by 1",
        "conjugation",
        "rotation by 15",
        "Galois element 3",
    ]
