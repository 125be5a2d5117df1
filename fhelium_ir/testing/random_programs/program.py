"""Random valid programs: a module, inputs, what they should give, and how to compile it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fhelium_ir.dialects.zq import ARITHMETICS, MIXED, group_of
from fhelium_ir.parameters import Parameters
from fhelium_ir.testing.random_programs.builder import Builder
from fhelium_ir.testing.random_programs.chains import random_chain
from fhelium_ir.testing.random_programs.choices import Choices
from fhelium_ir.testing.random_programs.facts import Facts, Managed, Stated
from fhelium_ir.testing.random_programs.managed import managed_function
from fhelium_ir.testing.random_programs.meaning import results
from fhelium_ir.testing.random_programs.stated import StatedFunction
from fhelium_ir.testing.random_programs.statements import Function, Op, walk
from fhelium_ir.testing.random_programs.text import module_text

Vector = NDArray[np.complex128]


@dataclass(frozen=True)
class Setting:
    """How a program is compiled, besides the default pipeline.

    Attributes:
        device: a built-in description, or the fields of one.
        arithmetic: stated for `select-arithmetic`; empty for the first that fits.
        start: option of `ckks-manage`.
        bsgs: option of `ckks-expand`.
        rotation_keys: for `compose-rotations`; none: the pass does not run.
        selection: options of `select-parameters`, for a module without parameters.
    """

    device: str | Mapping[str, object] = "cpu"
    arithmetic: str = ""
    start: str = "needed"
    bsgs: str = "auto"
    rotation_keys: tuple[int, ...] = ()
    selection: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class RandomProgram:
    """A valid program.

    Attributes:
        style: `managed`, `stated` (all facts are written), `open` (management is written, facts are not), or
            `selected` (managed, and the module has no parameters).
        parameters: those of the module, or those that the generator assumed.
        inputs: by the name of the argument.
        expected: the results on plain vectors.
    """

    style: str
    text: str
    parameters: Parameters
    setting: Setting
    inputs: Mapping[str, Vector]
    expected: tuple[Vector, ...]
    function: Function
    functions: Mapping[str, Function]


def make_program(choices: Choices, longest: int = 14) -> RandomProgram:
    """A valid program.

    Args:
        longest: statements at most, those of loops and helpers not counted.
    """
    style = choices.weighted({"managed": 9, "stated": 7, "open": 5, "selected": 1})
    follow = style in ("managed", "selected") or choices.chance(60)
    parameters = random_chain(choices, follow)
    most = longest if parameters.ring_degree <= 256 else 5
    length = choices.integer(2, most if choices.chance(70) else min(most, 6))
    if style in ("managed", "selected"):
        rules = Managed.on(parameters, parameters.slots - 1 if style == "selected" else 1 << 30)
        builder = Builder(choices, parameters.slots, rules.rule)
        function, functions = managed_function(builder, rules, length)
    else:
        stated = Stated(parameters)
        builder = Builder(choices, parameters.slots, stated.rule)
        function = StatedFunction(builder, stated, style == "open").make(length)
        functions = builder.functions
    setting = _setting(choices, parameters, style)
    inputs = _inputs(choices, function, functions, builder.values, parameters)
    expected = results(function, functions, inputs, parameters.slots)
    names = {_label(argument): inputs[argument[0]] for argument in function.arguments}
    shown = None if style == "selected" else parameters
    text = module_text(shown, [*functions.values(), function])
    return RandomProgram(
        style, text, parameters, setting, names, tuple(expected), function, functions
    )


def _label(argument: tuple[str, str, str]) -> str:
    name, _, attributes = argument
    return f"the {name}" if "ckks.name" in attributes else name


def _setting(choices: Choices, parameters: Parameters, style: str) -> Setting:
    arithmetic = ""
    if choices.chance(40):
        fitting = [n for n, a in ARITHMETICS.items() if all(map(a.admits, parameters.primes))]
        if len({group_of(q).name for q in parameters.primes}) > 1:
            fitting += [MIXED, MIXED]
        arithmetic = choices.of(fitting)
    selection: dict[str, int] = {}
    if style == "selected":
        degree = parameters.ring_degree
        selection = {"precision": choices.integer(5, 20), "security": 0, "ring-degree": degree}
        arithmetic = ""
    slots = parameters.slots
    keys = (
        choices.of(((1,), (1, 4), (1, -1, 4), (1, 2, 4, 8), (-1, 3))) if choices.chance(10) else ()
    )
    return Setting(
        _device(choices),
        arithmetic,
        choices.of(("needed", "needed", "top")),
        choices.of(("auto", "auto", "none", "2")),
        tuple(key for key in keys if abs(key) < slots),
        selection,
    )


def _device(choices: Choices) -> str | Mapping[str, object]:
    """A device that kernels are tuned for: mostly one whose kernels are small."""
    kind = choices.weighted({"custom": 6, "cpu": 2, "gpu": 1, "interpreter": 1})
    if kind != "custom":
        return kind
    stages, exchange = choices.of((1, 2, 2, 3)), choices.chance(50)
    lanes, converted = choices.of(((16, 2), (4, 1), (64, 2), (256, 1)))
    return {
        "name": "custom",
        "arithmetics": list(ARITHMETICS),
        "register_stages": stages,
        "exchange": exchange,
        "lanes": lanes,
        "rows": choices.of((1, 2, 4)),
        "warps": 1,
        "launch_cost": choices.of((64.0, 4096.0)),
        "converted_rows": converted,
    }


def _inputs(
    choices: Choices,
    function: Function,
    functions: Mapping[str, Function],
    facts: Mapping[str, Facts],
    parameters: Parameters,
) -> dict[str, Vector]:
    """Vectors within the stated ranges: real ones where a Chebyshev series asks for them."""
    statements = [s for f in (function, *functions.values()) for s in walk(f.body)]
    real = any(isinstance(s, Op) and s.basis == "chebyshev" for s in statements)
    random = np.random.default_rng(choices.integer(0, 2**32 - 1))
    found: dict[str, Vector] = {}
    for name, _, attributes in function.arguments:
        length = parameters.slots
        if "ckks.slots = " in attributes:
            length = int(attributes.partition("ckks.slots = ")[2].split()[0])
        bound, kind = facts[name].bound, choices.integer(0, 3)
        if kind == 3:
            values = bound * random.choice([-1.0, 1.0, 0.0, 0.5], length)
        elif real or kind == 0:
            values = random.uniform(-bound, bound, length)
        else:
            angle = random.uniform(0, 2 * np.pi, length)
            values = bound * (1 - 1e-12) * random.uniform(0, 1, length) * np.exp(1j * angle)
        found[name] = np.asarray(values, dtype=np.complex128)
    return found
