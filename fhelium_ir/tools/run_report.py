"""What `fhelium-run` prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.backend.compiling import CompiledProgram
from fhelium_ir.backend.program import entry_function
from fhelium_ir.client.interface import Interface, key_names
from fhelium_ir.frontends.frontend import Tensor
from fhelium_ir.tools.run_program import Outcome

SHOWN = 4
"""Slots of each result that are printed."""


def print_program(program: CompiledProgram) -> None:
    """Prints the name, parameters and target of a program."""
    parameters = program.parameters
    _console().print(
        f"{program.name}: ring degree {parameters.ring_degree}, {len(parameters.q)} + "
        f"{len(parameters.p)} primes, target {program.target}",
        markup=False,
    )


def print_interface(program: CompiledProgram) -> None:
    """Prints what a program takes, what errors to expect, and which keys it needs."""
    console = _console()
    for name, shape, bound, encrypted in _inputs(program.interface):
        kind = "encrypted" if encrypted else "plaintext"
        numbers = f"{'x'.join(map(str, shape))} numbers" if shape else "one number"
        console.print(f"input {name}: {numbers} up to {bound:g}, {kind}", markup=False)
    for line in _expected_errors(program):
        console.print(line, markup=False)
    _print_keys(program)


def _inputs(interface: Interface) -> list[tuple[str, tuple[int, ...], float, bool]]:
    """Name, shape, range and encryption of each input."""
    if interface.layout is not None:
        return [(t.name, t.shape, t.range, t.encrypted) for t in interface.layout.inputs]
    return [(a.name, (a.length,), a.range, a.encrypted) for a in interface.arguments]


def print_results(results: Sequence[Tensor], unit: str) -> None:
    """Prints the first numbers of decrypted results; `unit` is "slot" or "element"."""
    for index, result in enumerate(results):
        _console().print(_table(index, unit, result, None))


def print_report(program: CompiledProgram, outcome: Outcome) -> None:
    """Prints results beside expected values, the largest error, launches, kernels and keys."""
    console = _console()
    print_program(program)
    for index, (result, expected) in enumerate(zip(outcome.results, outcome.expected, strict=True)):
        unit = "slot" if program.source is None else "element"
        console.print(_table(index, unit, result, expected))
    console.print(f"largest error: {outcome.largest_error:.3g}")
    for line in _expected_errors(program):
        console.print(line, markup=False)
    console.print(f"launches: {outcome.launches}, distinct kernels: {program.kernel_count}")
    _print_keys(program)
    times = ", ".join(f"{name} {value:.2f} s" for name, value in outcome.seconds.items())
    console.print(f"time: {times}")
    if outcome.insecure:
        console.print("warning: keys or parameters are insecure, for tests only")


def _console() -> Console:
    return Console(file=sys.stdout, highlight=False, soft_wrap=True)


def _print_keys(program: CompiledProgram) -> None:
    names = key_names(program.parameters, program.required_keys)
    _console().print(f"keys needed: {', '.join(names) or 'none'}")


def _expected_errors(program: CompiledProgram) -> list[str]:
    """For each result the error to be expected, and where it comes from."""
    function = entry_function(program.program_stage, program.name)
    lines: list[str] = []
    for index, output in enumerate(output_precision(function, program.parameters)):
        parts = ", ".join(f"{kind} {error:.2g}" for kind, error in output.parts.items() if error)
        lines.append(
            f"expected error of result {index}: at most {output.error:.3g}, {output.bits:.1f} bits ({parts})"
        )
    return lines


def _table(index: int, unit: str, result: Tensor, expected: Tensor | None) -> Table:
    shape = "x".join(map(str, result.shape)) if unit == "element" else ""
    title = f"result {index}" + (f", {shape}" if shape else "")
    columns = (unit, "decrypted") if expected is None else (unit, "decrypted", "expected")
    table = Table(*columns, title=title, title_justify="left")
    for place in list(np.ndindex(result.shape))[:SHOWN]:
        values = [result] if expected is None else [result, expected]
        numbers = [_number(complex(value.item(place))) for value in values]
        table.add_row(", ".join(map(str, place)), *numbers)
    if result.size > SHOWN:
        table.add_row("...", f"{result.size} {unit}s")
    return table


def _number(value: complex) -> str:
    real, imaginary = value.real, value.imag
    if abs(imaginary) < 1e-4 * max(1.0, abs(real)):
        return f"{real:.8f}"
    return f"{real:.8f} {'+' if imaginary >= 0 else '-'} {abs(imaginary):.8f}i"
