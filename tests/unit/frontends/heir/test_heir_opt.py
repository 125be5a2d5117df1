"""With HEIR installed: its output is what is stored, and programs of random shapes and constants work too.

The environment variable HEIR_OPT names the executable; without it `heir-opt` is looked for on PATH.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fhelium_ir.frontends.frontend import make_frontend
from tests.unit.frontends.heir.running import EXAMPLES, SINGLE, check, programs, stored

HEIR_OPT = os.environ.get("HEIR_OPT") or shutil.which("heir-opt")

pytestmark = pytest.mark.skipif(HEIR_OPT is None, reason="there is no heir-opt")

NAMES = tuple(programs().BUILDERS)
RANDOM = 20


def heir_opt() -> str:
    assert HEIR_OPT is not None
    return HEIR_OPT


def unroll_option(wanted: bool) -> bool | None:
    """The value of `unroll` for a release: the older one unrolls unless told not to, the newer one the other way."""
    help_text = subprocess.run([heir_opt(), "--help"], capture_output=True, text=True).stdout
    keeps_loops = "unroll-fhe-kernel-loops" in help_text
    return wanted if wanted == keeps_loops else None


def program_stage(text: str) -> str:
    """What the frontend makes of a text: HEIR's own output differs from run to run, in names and order."""
    return str(make_frontend("heir").read(text, "text").module)


@pytest.mark.parametrize("name", NAMES)
def test_the_stored_output_is_that_of_heir(name: str) -> None:
    program = programs().stored_programs()[name]
    text = programs().compile_program(program, heir_opt(), str(EXAMPLES / f"{name}.mlir"))
    known = [program_stage(stored(name, release)) for release in programs().RELEASES]
    assert program_stage(text) in known


def random_program(number: int) -> Any:
    """A program of random kind, shape and constants. Half of the kinds have loops."""
    rng = np.random.default_rng(1000 + number)
    make = programs()

    def size(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    kinds: list[Callable[[], Any]] = [
        lambda: make.dot_product(rng, 2 ** size(2, 6)),
        lambda: make.matvec(rng, size(3, 12), size(3, 12), "openfhe"),
        lambda: make.matmul(rng, *((3, 5, 2), (3, 4, 5), (2, 3, 5), (5, 3, 4))[size(0, 3)]),
        lambda: make.convolution(rng, 2 ** size(2, 3), size(2, 3)),
        lambda: make.box_blur(rng, 2 ** size(2, 3), size(2, 3)),
        lambda: make.distance(rng, 2 ** size(2, 5)),
        lambda: make.polynomial(rng, 2 ** size(2, 5)),
        lambda: make.perceptron(rng, size(3, 9), size(3, 9), size(2, 5)),
        lambda: make.weighing(rng, 2 ** size(2, 5)),
        lambda: make.logistic_regression(rng, 2 ** size(2, 5)),
    ]
    return kinds[number % len(kinds)]()


@pytest.mark.parametrize("unroll", [False, True], ids=["loops", "unrolled"])
@pytest.mark.parametrize("number", range(RANDOM))
def test_random_program(number: int, unroll: bool, tmp_path: Path) -> None:
    program = random_program(number)
    source = tmp_path / "program.mlir"
    source.write_text(program.text, encoding="utf-8")
    text = programs().compile_program(
        program, heir_opt(), str(source), unroll=unroll_option(unroll)
    )
    check(program, text, ("cpu", "reference"), slack=SINGLE)


@pytest.mark.parametrize("name", NAMES)
def test_program_of_the_examples_with_and_without_its_loops(name: str) -> None:
    program = programs().stored_programs()[name]
    source = str(EXAMPLES / f"{name}.mlir")
    for unroll in (False, True):
        option = unroll_option(unroll)
        text = programs().compile_program(program, heir_opt(), source, unroll=option)
        check(program, text, ("cpu",), slack=0.02 if name == "activation" else SINGLE)
