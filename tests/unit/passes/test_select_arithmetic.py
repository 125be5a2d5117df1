"""When two arithmetics in one module are expected to pay."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import pytest
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.analysis.device import DEVICES, Device
from fhelium_ir.dialects.rns import ARITHMETIC, ArithmeticAttr
from fhelium_ir.parameters import Parameters
from fhelium_ir.passes import select_arithmetic
from fhelium_ir.passes.select_arithmetic import SelectArithmetic, mix_costs
from fhelium_ir.universe import make_context
from tests.unit.reference.textbook import attribute, parsed, primes_below

CPU, GPU = DEVICES["cpu"], DEVICES["gpu"]


def chain(degree: int, wide: int, narrow: int) -> Parameters:
    primes = tuple(islice(primes_below(1 << 60, degree), wide))
    small = tuple(islice(primes_below(1 << 45, degree), narrow))
    return Parameters(degree, (primes[-1], *small), primes[:-1], 1 + narrow, 45, insecure=True)


def test_costs_of_a_machine_that_is_always_busy() -> None:
    """Two passes over two polynomials a limb, twice as long on integers, and one launch more."""
    degree = 1 << 13
    mix = mix_costs(chain(degree, 2, 3), CPU)
    word = 2 * 2 * degree
    assert (mix.wide, mix.narrow) == (2, 3)
    assert mix.alone == word * 2.0 * 5 + 64 and mix.mixed == word * (2.0 * 2 + 3) + 2 * 64
    assert mix.pays


@pytest.mark.parametrize(
    ("device", "degree", "wide", "narrow", "pays"),
    [
        (CPU, 1 << 13, 2, 1, False),
        (CPU, 1 << 13, 2, 2, True),
        (CPU, 1 << 13, 8, 3, False),
        (CPU, 1 << 4, 2, 2, False),  # launches
        # A card is busy with four limbs of two polynomials at 2^16.
        (GPU, 1 << 16, 2, 3, False),
        (GPU, 1 << 16, 2, 10, True),
        (GPU, 1 << 13, 2, 10, False),
        (replace(CPU, wide_factor=1.0), 1 << 13, 2, 10, False),
    ],
)
def test_when_a_mix_pays(device: Device, degree: int, wide: int, narrow: int, pays: bool) -> None:
    assert mix_costs(chain(degree, wide, narrow), device).pays == pays


@pytest.mark.parametrize(
    ("arithmetics", "chosen"),
    [
        (("mont32", "fp64", "mont64"), "mixed64"),
        (("mont32", "mont64"), "mont64"),  # no doubles
        (("mont64", "fp64"), "mont64"),  # slow doubles
    ],
)
def test_a_device_has_to_prefer_doubles(
    arithmetics: tuple[str, ...], chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    device = replace(CPU, arithmetics=arithmetics)
    monkeypatch.setattr(select_arithmetic, "load_device", lambda name: device)  # type: ignore[arg-type]
    module: ModuleOp = parsed(f"module attributes {{{attribute(chain(1 << 13, 2, 6))}}} {{}}")
    SelectArithmetic(device="cpu").apply(make_context(), module)
    assert module.attributes[ARITHMETIC] == ArithmeticAttr(chosen)
