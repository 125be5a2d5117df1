"""What `fhelium-run` prints."""

from __future__ import annotations

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.backend.program import entry_function
from fhelium_ir.tools.run_program import Outcome, Program, Vector

SHOWN = 4
"""Slots of each result that are printed."""


def print_report(program: Program, outcome: Outcome) -> None:
    """Prints results beside expected values, the largest error, launches, kernels and keys."""
    console = Console(file=sys.stdout, highlight=False, soft_wrap=True)
    parameters = program.parameters
    console.print(
        f"{program.name}: ring degree {parameters.ring_degree}, {len(parameters.q)} + "
        f"{len(parameters.p)} primes, target {program.target}",
        markup=False,
    )
    for index, (result, expected) in enumerate(zip(outcome.results, outcome.expected, strict=True)):
        console.print(_table(index, result, expected))
    console.print(f"largest error: {outcome.largest_error:.3g}")
    for line in _expected_errors(program):
        console.print(line, markup=False)
    console.print(f"launches: {outcome.launches}, distinct kernels: {program.kernel_count}")
    console.print(f"keys needed: {', '.join(_key_names(program)) or 'none'}")
    times = ", ".join(f"{name} {value:.2f} s" for name, value in outcome.seconds.items())
    console.print(f"time: {times}")
    if outcome.insecure:
        console.print("warning: keys or parameters are insecure, for tests only")


def _expected_errors(program: Program) -> list[str]:
    """For each result the error to be expected, and where it comes from."""
    function = entry_function(program.program_stage, program.name)
    lines: list[str] = []
    for index, output in enumerate(output_precision(function, program.parameters)):
        parts = ", ".join(f"{kind} {error:.2g}" for kind, error in output.parts.items() if error)
        lines.append(
            f"expected error of result {index}: at most {output.error:.3g}, {output.bits:.1f} bits ({parts})"
        )
    return lines


def _table(index: int, result: Vector, expected: Vector) -> Table:
    table = Table("slot", "decrypted", "expected", title=f"result {index}", title_justify="left")
    for slot in range(min(SHOWN, len(result))):
        table.add_row(str(slot), _number(result[slot]), _number(expected[slot]))
    if len(result) > SHOWN:
        table.add_row("...", f"{len(result)} slots", "")
    return table


def _number(value: np.complex128) -> str:
    real, imaginary = float(value.real), float(value.imag)
    if abs(imaginary) < 1e-4 * max(1.0, abs(real)):
        return f"{real:.8f}"
    return f"{real:.8f} {'+' if imaginary >= 0 else '-'} {abs(imaginary):.8f}i"


def _key_names(program: Program) -> list[str]:
    degree = program.parameters.ring_degree
    steps = {program.parameters.galois(step): step for step in range(program.parameters.slots)}
    names: list[str] = []
    for kind, galois in program.required_keys:
        if galois is None:
            names.append("relinearization" if kind == "relinearize" else kind)
        elif galois == 2 * degree - 1:
            names.append("conjugation")
        else:
            names.append(f"rotation by {steps.get(galois, galois)}")
    return names
