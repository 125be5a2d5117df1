"""Slightly broken programs: a valid one with a single mistake, for tests of error messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from fhelium_ir.testing.random_programs.choices import Choices
from fhelium_ir.testing.random_programs.program import RandomProgram
from fhelium_ir.testing.random_programs.statements import Function, Raw
from fhelium_ir.testing.random_programs.text import module_text

OPEN = "!ckks.ciphertext"


@dataclass(frozen=True)
class BrokenProgram:
    """A program that must be refused.

    Attributes:
        mistake: what is wrong with it.
    """

    mistake: str
    text: str


@dataclass(frozen=True)
class _Mistake:
    """Lines at the end of the function; `%bad` becomes the only result.

    Attributes:
        lines: with {x} for a ciphertext argument, {t} for its type, {level}, {scale} and {slots}.
        type: the result's type.
        styles: styles of programs that the mistake is possible in.
    """

    lines: tuple[str, ...]
    type: str = "{t}"
    styles: tuple[str, ...] = ("managed", "stated", "open")


_STATED = ("stated",)
_MANAGED = ("managed",)
_OPEN = ("open",)

LINES: Mapping[str, _Mistake] = {
    "undefined value": _Mistake(("%bad = ckks.negate %nowhere : {t}",)),
    "unknown op": _Mistake(("%bad = ckks.frobnicate {x} : {t}",)),
    "unknown dialect": _Mistake(("%bad = tfhe.negate {x} : {t}",)),
    "missing property": _Mistake(("%bad = ckks.rotate {x} : {t}",)),
    "misspelt property": _Mistake(("%bad = ckks.rotate {x} {{step = 1}} : {t}",)),
    "steps of the wrong kind": _Mistake(('%bad = ckks.rotate {x} {{steps = "one"}} : {t}',)),
    "too few operands": _Mistake(("%bad = ckks.add {x} : {t}",)),
    "too many operands": _Mistake(("%bad = ckks.negate {x}, {x} : {t}",)),
    "wrong operand type": _Mistake(("%bad = ckks.negate {x} : i64",)),
    "a plaintext for a ciphertext": _Mistake(("%bad = ckks.add_plain {x}, {x} : {t}",)),
    "relinearize of two components": _Mistake(
        ("%one = ckks.mul {x}, {x} : {t}", "%two = ckks.relinearize %one : {product}",
         "%bad = ckks.relinearize %two : {flat}"),
        "{flat}", ("stated", "open"),
    ),
    "missing relinearize before a rotation": _Mistake(
        ("%one = ckks.mul {x}, {x} : {t}", "%bad = ckks.rotate %one {{steps = 1}} : {product}"),
        "{product}", ("stated", "open"),
    ),
    "missing relinearize before a product": _Mistake(
        ("%one = ckks.mul {x}, {x} : {t}", "%bad = ckks.mul %one, {x} : {product}, {t}"),
        "{product}", ("stated", "open"),
    ),
    "too many rescales": _Mistake(
        (*(f"%r{i + 1} = ckks.rescale {'{x}' if i == 0 else f'%r{i}'} : {{t}}" for i in range(8)),
         "%bad = ckks.negate %r8 : {t}"),
        "{t}", _OPEN,
    ),
    "too many levels dropped": _Mistake(
        ("%bad = ckks.mod_switch {x} {{levels = 9}} : {t}",), "{t}", ("stated", "open")
    ),
    "no levels dropped": _Mistake(
        ("%bad = ckks.mod_switch {x} {{levels = 0}} : {t}",), "{t}", ("stated", "open")
    ),
    "level off by one": _Mistake(("%bad = ckks.negate {x} : {off_level}",), "{off_level}", _STATED),
    "scale off by two": _Mistake(("%bad = ckks.negate {x} : {off_scale}",), "{off_scale}", _STATED),
    "plaintext at another level": _Mistake(
        ("%v = arith.constant dense<0.5> : tensor<1xf64>",
         "%p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<level = {above}, scale = {scale}>",
         "%bad = ckks.add_plain {x}, %p : {t}, !ckks.plaintext<level = {above}, scale = {scale}>"),
        "{t}", _STATED,
    ),
    "plaintext at another scale": _Mistake(
        ("%v = arith.constant dense<0.5> : tensor<1xf64>",
         "%p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext<level = {level}, scale = {scale} * 2>",
         "%bad = ckks.add_plain {x}, %p : {t}, !ckks.plaintext<level = {level}, scale = {scale} * 2>"),
        "{t}", _STATED,
    ),
    "sum of unequal scales": _Mistake(
        ("%one = ckks.mul {x}, {x} : {t}", "%two = ckks.relinearize %one : {product}",
         "%bad = ckks.add %two, {x} : {flat}, {t}"),
        "{flat}", ("stated", "open"),
    ),
    "an adopted scale that is far off": _Mistake(
        ("%bad = ckks.adopt_scale {x} {{tolerance = 0.01 : f64}} : {t} -> {off_scale}",),
        "{off_scale}", _STATED,
    ),
    "a tolerance of one": _Mistake(
        ("%bad = ckks.adopt_scale {x} {{tolerance = 1.0 : f64}} : {t} -> {t}",), "{t}", _STATED
    ),
    "too deep": _Mistake(
        (*(f"%s{i + 1} = ckks.mul {'{x}' if i == 0 else f'%s{i}'}, {{x}} : {{t}}" for i in range(90)),
         "%bad = ckks.negate %s90 : {t}"),
        "{t}", _MANAGED,
    ),
    "no headroom": _Mistake(
        (*(f"%s{i + 1} = ckks.add {'{x}, {x}' if i == 0 else f'%s{i}, %s{i}'} : {{t}}" for i in range(700)),
         "%bad = ckks.negate %s700 : {t}"),
        "{t}",
    ),
    "a constant that does not fill the slots": _Mistake(
        ("%v = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>",
         "%p = ckks.encode %v : tensor<3xf64> -> !ckks.plaintext",
         "%bad = ckks.add_plain {x}, %p : {t}, !ckks.plaintext"),
        "{t}", ("managed", "open"),
    ),
    "a constant that is no number": _Mistake(
        ('%v = arith.constant dense<"0x000000000000F87F"> : tensor<1xf64>',
         "%p = ckks.encode %v : tensor<1xf64> -> !ckks.plaintext",
         "%bad = ckks.add_plain {x}, %p : {t}, !ckks.plaintext"),
        "{t}", ("managed", "open"),
    ),
    "a constant of another type": _Mistake(
        ("%v = arith.constant dense<1.0> : tensor<1xf32>",
         "%p = ckks.encode %v : tensor<1xf32> -> !ckks.plaintext",
         "%bad = ckks.add_plain {x}, %p : {t}, !ckks.plaintext"),
        "{t}", ("managed", "open"),
    ),
    "a matrix that is not square": _Mistake(
        ("%m = arith.constant dense<0.5> : tensor<2x4xf64>",
         "%bad = ckks.linear_transform {x}, %m : {t}, tensor<2x4xf64>"),
        OPEN, ("managed", "open"),
    ),
    "a matrix larger than the slots": _Mistake(
        ("%m = arith.constant dense<0.5> : tensor<1x8192xf64>",
         "%bad = ckks.linear_transform {x}, %m {{diagonals = array<i64: 0>}} : {t}, tensor<1x8192xf64>"),
        OPEN, ("managed", "open"),
    ),
    "a diagonal out of range": _Mistake(
        ("%m = arith.constant dense<0.5> : tensor<1x4xf64>",
         "%bad = ckks.linear_transform {x}, %m {{diagonals = array<i64: 4>}} : {t}, tensor<1x4xf64>"),
        OPEN, ("managed", "open"),
    ),
    "a polynomial that is constant": _Mistake(
        ("%bad = ckks.polynomial {x} {{coefficients = dense<[1.0, 0.0]> : tensor<2xf64>}} : {t}",),
        OPEN, _MANAGED,
    ),
    "a polynomial among management ops": _Mistake(
        ("%one = ckks.polynomial {x} {{coefficients = dense<[1.0, 0.5]> : tensor<2xf64>}} : {t}",
         "%bad = ckks.rescale %one : {t}"),
        "{t}", _MANAGED,
    ),
    "a domain without a basis": _Mistake(
        ("%bad = ckks.polynomial {x} {{coefficients = dense<[1.0, 0.5]> : tensor<2xf64>, "
         "domain = array<f64: -1.0, 1.0>}} : {t}",),
        OPEN, _MANAGED,
    ),
    "a sum of more than all slots": _Mistake(("%bad = ckks.sum_slots {x} {{count = 4097}} : {t}",)),
    "a sum of no slots": _Mistake(("%bad = ckks.sum_slots {x} {{count = 0}} : {t}",)),
    "an unknown callee": _Mistake(("%bad = func.call @nobody({x}) : ({t}) -> {t}",)),
    "a recursion": _Mistake(("%bad = func.call @f({x}) : ({t}) -> {t}",)),
    "a loop without a step": _Mistake(
        ("%zero = arith.constant 0 : index",
         "%bad = scf.for %i = %zero to %zero step %zero iter_args(%s = {x}) -> ({t}) {{",
         "  scf.yield %s : {t}", "}}"),
    ),
    "a float for an index": _Mistake(
        ("%k = arith.constant 1.0 : f64", "%bad = ckks.rotate_dynamic {x}, %k : {t}, f64")
    ),
    "a value from inside a loop": _Mistake(
        ("%zero = arith.constant 0 : index", "%one = arith.constant 1 : index",
         "%sum = scf.for %i = %zero to %one step %one iter_args(%s = {x}) -> ({t}) {{",
         "  %in = ckks.negate %s : {t}", "  scf.yield %in : {t}", "}}",
         "%bad = ckks.negate %in : {t}"),
    ),
    "a yield of the wrong type": _Mistake(
        ("%zero = arith.constant 0 : index",
         "%bad = scf.for %i = %zero to %zero step %zero iter_args(%s = {x}) -> ({t}) {{",
         "  scf.yield %i : index", "}}"),
    ),
    "a value that is defined twice": _Mistake(
        ("%bad = ckks.negate {x} : {t}", "%bad = ckks.negate {x} : {t}")
    ),
    "a use before the definition": _Mistake(
        ("%bad = ckks.negate %late : {t}", "%late = ckks.negate {x} : {t}")
    ),
    "a promise that is no number": _Mistake(
        ("%bad = ckks.negate {x} {{ckks.range = -1.0 : f64}} : {t}",)
    ),
    "no result type": _Mistake(("%bad = ckks.negate {x}",)),
    "a property twice": _Mistake(("%bad = ckks.rotate {x} {{steps = 1, steps = 2}} : {t}",)),
    "steps beyond 64 bits": _Mistake(
        ("%bad = ckks.rotate {x} {{steps = 99999999999999999999999}} : {t}",)
    ),
}  # fmt: skip


def _replaced(pattern: str, replacement: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, replacement, text, count=1)


TEXTS: Mapping[str, Callable[[str], str]] = {
    "unsafe parameters": _replaced(r", insecure", ""),
    "a ring degree that is no power of two": _replaced(r"ring_degree = \d+", "ring_degree = 12"),
    "no digits": _replaced(r"digits = \d+", "digits = 0"),
    "more digits than primes": _replaced(r"digits = \d+", "digits = 99"),
    "a prime that is none": _replaced(r"q = \[(\d*)\d", r"q = [\g<1>0"),
    "a prime twice": _replaced(r"q = \[(\d+)", r"q = [\1, \1"),
    "no special prime": _replaced(r" p = \[.*\]", " p = []"),
    "a special prime in the chain": _replaced(r"q = \[(\d+)(.*) p = \[", r"q = [\1\2 p = [\1, "),
    "an unknown secret": _replaced(r"secret = \w+", "secret = uniform"),
    "a scale that is no power of two": _replaced(
        r"scale = 2\*\*(\d+), secret", r"scale = 3**\1, secret"
    ),
    "a range of zero": _replaced(
        r"\(%x : ([^,{)]*(?:<[^>]*>)?)[^,)]*", r"(%x : \1 {ckks.range = 0.0 : f64}"
    ),
    "a range that is an integer": _replaced(
        r"\(%x : ([^,{)]*(?:<[^>]*>)?)[^,)]*", r"(%x : \1 {ckks.range = 1 : i64}"
    ),
    "three slots": _replaced(
        r"\(%x : ([^,{)]*(?:<[^>]*>)?)[^,)]*", r"(%x : \1 {ckks.slots = 3 : i64}"
    ),
    "the end is missing": lambda text: text[: text.rindex("return")],
    "a brace too many": lambda text: text + "}\n",
    "an unknown type": _replaced(r"\(%x : !ckks\.ciphertext", "(%x : !ckks.cyphertext"),
    "a result that is not there": _replaced(r"return %", "return %no"),
    "an unknown module attribute": _replaced(r"#ckks\.params", "#ckks.parameters"),
}
"""Changes of the text; one that changes nothing does not apply."""

FITTED = ("a matrix larger than the slots", "a sum of more than all slots")
"""No mistakes where the parameters are chosen for the program."""

MISTAKES = (*LINES, *TEXTS)


def break_program(
    choices: Choices, program: RandomProgram, mistakes: Sequence[str] = MISTAKES
) -> BrokenProgram | None:
    """A program with one of some mistakes, None if none of them is possible in it."""
    possible = [mistake for mistake in mistakes if _broken(program, mistake) is not None]
    return _broken(program, choices.of(possible)) if possible else None


def _broken(program: RandomProgram, mistake: str) -> BrokenProgram | None:
    """A program with a mistake, None if it is not possible in it."""
    if mistake in TEXTS:
        text = TEXTS[mistake](program.text)
        return None if text == program.text else BrokenProgram(mistake, text)
    entry, selected = LINES[mistake], program.style == "selected"
    if selected and mistake in FITTED:
        return None
    if ("managed" if selected else program.style) not in entry.styles:
        return None
    functions = [*program.functions.values(), _with_lines(program, entry)]
    return BrokenProgram(mistake, module_text(None if selected else program.parameters, functions))


def _with_lines(program: RandomProgram, mistake: _Mistake) -> Function:
    name, type_, _ = program.function.arguments[0]
    words = _words(type_, program, name)
    lines = tuple(line.format(**words) for line in mistake.lines)
    result = ("bad", mistake.type.format(**words))
    body = (*program.function.body, Raw("bad", lines))
    return replace(program.function, body=body, results=(result,))


def _words(type_: str, program: RandomProgram, name: str) -> dict[str, str]:
    """What the lines of a mistake may speak of."""
    words = {"x": f"%{name}", "t": type_, "product": type_, "flat": type_}
    found = re.search(r"level = (\d+), scale = ([^>]*)>", type_)
    if found is None:
        return words
    level, scale = int(found[1]), found[2]
    square = square_of(scale)
    words |= {
        "level": str(level), "scale": scale, "above": str(level + 1),
        "flat": f"!ckks.ciphertext<level = {level}, scale = {square}>",
        "product": f"!ckks.ciphertext<level = {level}, scale = {square}, size = 3>",
        "off_level": f"!ckks.ciphertext<level = {level + 1}, scale = {scale}>",
        "off_scale": f"!ckks.ciphertext<level = {level}, scale = 2 * {scale}>",
    }  # fmt: skip
    return words


def square_of(scale: str) -> str:
    """The text of the square of a scale."""

    def squared(match: re.Match[str]) -> str:
        return f"{match[1]}**{2 * int(match[3] or 1)}"

    return re.sub(r"(q\d+|\d+)(\*\*(\d+))?", squared, scale)
