"""Programs as the generator knows them: their text, and what they mean, without any part of the compiler.

A program is a list of statements. `run` walks over it with one rule for each kind of op: on vectors it is an oracle, on
facts it tells whether the program stays within its bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Op:
    """One op of the `ckks` dialect; `encode` is the constant and its encoding.

    Attributes:
        kind: its name without the dialect.
        types: types of the operands as they are printed.
        result_type: printed by encode and adopt_scale only.
        count: steps, slots or levels.
        values: numbers of a constant, a polynomial or a matrix row by row.
        rows: rows of a matrix, or its diagonals.
        basis, domain: of a polynomial.
    """

    kind: str
    result: str
    operands: tuple[str, ...]
    types: tuple[str, ...]
    result_type: str = ""
    count: int = 0
    values: tuple[float, ...] = ()
    rows: int = 0
    diagonals: tuple[int, ...] | None = None
    basis: str = ""
    domain: tuple[float, float] | None = None
    tolerance: float = 0.0


@dataclass(frozen=True)
class Number:
    """An index: a constant, or an `arith` op of two others."""

    kind: str
    result: str
    operands: tuple[str, ...] = ()
    value: int = 0


@dataclass(frozen=True)
class Loop:
    """`scf.for` with one carried ciphertext; bounds and step are indices."""

    result: str
    bounds: tuple[str, str, str]
    induction: str
    carried: str
    start: str
    body: tuple[Statement, ...]
    value: str
    type: str


@dataclass(frozen=True)
class Branch:
    """`scf.if` on a comparison of two indices, or `arith.select` if it has no bodies."""

    result: str
    predicate: str
    operands: tuple[str, str]
    then: tuple[tuple[Statement, ...], str]
    otherwise: tuple[tuple[Statement, ...], str]
    type: str
    select: bool = False


@dataclass(frozen=True)
class Call:
    """A call of a function of the module, with its types."""

    result: str
    callee: str
    operands: tuple[str, ...]
    types: tuple[str, ...]
    result_type: str


@dataclass(frozen=True)
class Raw:
    """Lines of text without a meaning, for programs that are broken on purpose."""

    result: str
    lines: tuple[str, ...]


Statement: TypeAlias = "Op | Number | Loop | Branch | Call | Raw"

Rule: TypeAlias = "Callable[..., T]"


@dataclass(frozen=True)
class Function:
    """A private function that is called, or the one that is compiled.

    Attributes:
        arguments: names with types and attributes as they are printed.
    """

    name: str
    arguments: tuple[tuple[str, str, str], ...]
    body: tuple[Statement, ...]
    results: tuple[tuple[str, str], ...]
    private: bool = False


PREDICATES: Mapping[str, Callable[[int, int], bool]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "slt": lambda a, b: a < b,
    "sge": lambda a, b: a >= b,
}

ARITHMETIC: Mapping[str, Callable[[int, int], int]] = {
    "addi": lambda a, b: a + b,
    "subi": lambda a, b: a - b,
    "muli": lambda a, b: a * b,
    "maxsi": max,
    "minsi": min,
}


def run(
    statements: Sequence[Statement],
    values: dict[str, T],
    integers: dict[str, int],
    rule: Callable[..., T],
    functions: Mapping[str, Function],
) -> None:
    """Adds to `values` and `integers` what the statements compute.

    Args:
        rule: of an op, its operands' values and, as `count`, its steps.
    """
    for statement in statements:
        match statement:
            case Op():
                operands = [values[name] for name in statement.operands if name in values]
                steps = [integers[name] for name in statement.operands if name in integers]
                count = steps[0] if steps else statement.count
                values[statement.result] = rule(statement, *operands, count=count)
            case Number():
                integers[statement.result] = _number(statement, integers)
            case Loop():
                low, high, step = (integers[name] for name in statement.bounds)
                carried = values[statement.start]
                for index in range(low, high, step):
                    integers[statement.induction] = index
                    values[statement.carried] = carried
                    run(statement.body, values, integers, rule, functions)
                    carried = values[statement.value]
                values[statement.result] = carried
            case Branch():
                left, right = (integers[name] for name in statement.operands)
                taken = PREDICATES[statement.predicate](left, right)
                body, value = statement.then if taken else statement.otherwise
                run(body, values, integers, rule, functions)
                values[statement.result] = values[value]
            case Call():
                _call(statement, values, integers, rule, functions)
            case Raw():
                raise ValueError("a line of text cannot be run")


def _number(statement: Number, integers: Mapping[str, int]) -> int:
    if statement.kind == "constant":
        return statement.value
    left, right = (integers[name] for name in statement.operands)
    return ARITHMETIC[statement.kind](left, right)


def _call(
    statement: Call,
    values: dict[str, T],
    integers: Mapping[str, int],
    rule: Callable[..., T],
    functions: Mapping[str, Function],
) -> None:
    function = functions[statement.callee]
    inner: dict[str, T] = {}
    inner_integers: dict[str, int] = {}
    for (name, _, _), operand in zip(function.arguments, statement.operands, strict=True):
        if operand in integers:
            inner_integers[name] = integers[operand]
        else:
            inner[name] = values[operand]
    run(function.body, inner, inner_integers, rule, functions)
    values[statement.result] = inner[function.results[0][0]]


def walk(statements: Sequence[Statement]) -> list[Statement]:
    """All statements, those of bodies too."""
    found: list[Statement] = []
    for statement in statements:
        found.append(statement)
        match statement:
            case Loop():
                found += walk(statement.body)
            case Branch():
                found += walk(statement.then[0]) + walk(statement.otherwise[0])
            case _:
                pass
    return found
