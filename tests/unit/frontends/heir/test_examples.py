"""The programs of examples/heir compute what their tensor programs compute."""

from __future__ import annotations

import pytest

from tests.unit.frontends.heir.running import EXAMPLES, SINGLE, check, programs, stored

NAMES = tuple(programs().BUILDERS)
LOOPS, UNROLLED = "2026.11.1", "2026.9.1"

SERIES = 0.02
"""HEIR's polynomial for tanh is that far from tanh."""


def slack(name: str) -> float:
    return SERIES if name == "activation" else SINGLE


def test_there_are_enough_programs() -> None:
    assert len(NAMES) >= 12
    assert programs().RELEASES == (UNROLLED, LOOPS)


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_tensor_programs_are_those_of_the_script(name: str) -> None:
    written = (EXAMPLES / f"{name}.mlir").read_text(encoding="utf-8")
    comment, _, text = written.partition("\n")
    assert text == programs().stored_programs()[name].text
    assert comment.startswith(f"// heir-opt {name}.mlir ")


@pytest.mark.parametrize("name", NAMES)
def test_program_with_loops(name: str) -> None:
    program = programs().stored_programs()[name]
    check(program, stored(name, LOOPS), ("cpu", "reference"), slack=slack(name))


@pytest.mark.parametrize("name", NAMES)
def test_unrolled_program(name: str) -> None:
    program = programs().stored_programs()[name]
    check(program, stored(name, UNROLLED), ("cpu", "reference"), slack=slack(name))


@pytest.mark.cuda
@pytest.mark.parametrize("release", programs().RELEASES)
@pytest.mark.parametrize("name", NAMES)
def test_program_on_the_gpu(name: str, release: str) -> None:
    program = programs().stored_programs()[name]
    check(program, stored(name, release), ("cuda", "reference"), slack=slack(name))


@pytest.mark.parametrize("name", ["polynomial", "weighing", "variance"])
def test_program_with_levels_and_special_primes_of_the_compiler(name: str) -> None:
    program = programs().stored_programs()[name]
    options = " levels=managed special-primes=suit"
    check(program, stored(name, LOOPS), ("cpu", "reference"), options)


def test_program_at_the_ring_degree_of_heir() -> None:
    program = programs().stored_programs()["distance"]
    check(program, stored("distance", LOOPS), ("cpu",), small=False)
