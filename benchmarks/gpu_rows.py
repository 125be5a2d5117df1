"""The rows of the GPU benchmark as MLIR texts: `python benchmarks/gpu_rows.py` writes them to benchmarks/gpu."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fhelium_ir.parameters import Parameters
from fhelium_ir.primes import is_prime

FOLDER = Path(__file__).parent / "gpu"
DEGREE = 1 << 16
SCALE_BITS = 48
DIGITS, SPECIAL, CHAIN = 4, 7, 28


@dataclass(frozen=True)
class Row:
    """A program, and the time that is wanted of it.

    Attributes:
        name: of the file.
        text: a module of the program or polynomial stage with one function.
        goal: microseconds to reach.
        cold: whether the goal is for a cold cache.
    """

    name: str
    text: str
    goal: float
    cold: bool = False


def primes_below(limit: int, degree: int, count: int) -> list[int]:
    """The largest primes below `limit` that are 1 modulo 2N, in descending order."""
    step = 2 * degree
    candidate, found = (limit - 2) // step * step + 1, list[int]()
    while len(found) < count:
        if is_prime(candidate):
            found.append(candidate)
        candidate -= step
    return found


def key_switching_parameters() -> Parameters:
    """28 primes of q and 7 of p just below 2^49.68, 4 digits: log PQ 1739, inside the 128-bit limit."""
    primes = primes_below(int(2**49.68), DEGREE, CHAIN + SPECIAL)
    chosen = Parameters(
        DEGREE,
        tuple(primes[SPECIAL:]),
        tuple(primes[:SPECIAL]),
        DIGITS,
        SCALE_BITS,
        "ternary",
        False,
    )
    chosen.validate()
    chosen.check_security()
    return chosen


def module(parameters: Parameters, functions: str) -> str:
    """A module with these parameters."""
    secure = ", insecure" if parameters.insecure else ""
    attribute = (
        f"#ckks.params<ring_degree = {parameters.ring_degree}, q = {list(parameters.q)}, "
        f"p = {list(parameters.p)}, digits = {parameters.digits}, "
        f"scale = 2**{parameters.scale_bits}, secret = {parameters.secret}{secure}>"
    )
    return f"module attributes {{ckks.params = {attribute}}} {{\n{functions}}}\n"


def transform(name: str, bits: float, polynomials: int, goal: float, cold: bool) -> Row:
    """Forward transforms of polynomials of 32 limbs."""
    primes = primes_below(int(2**bits), DEGREE, 33)
    chosen = Parameters(DEGREE, tuple(primes[1:]), (primes[0],), 32, 20, "ternary", True)
    type_ = f"!rns.poly<{DEGREE}, q 0:32, components = {polynomials}, "
    before, after = f"{type_}coefficient>", f"{type_}evaluation(?)>"
    if polynomials == 1:
        before, after = (t.replace(", components = 1", "") for t in (before, after))
    body = (
        f"func.func @row(%x : {before}) -> {after} {{\n"
        f"  %r = ntt.forward %x : {before}\n  return %r : {after}\n}}\n"
    )
    return Row(name, module(chosen, body), goal, cold)


def ciphertext(level: int, scale: str = "2**24", size: int = 2) -> str:
    shape = "" if size == 2 else f", size = {size}"
    return f"!ckks.ciphertext<level = {level}, scale = {scale}{shape}>"


def program(name: str, chosen: Parameters, arguments: Sequence[str], body: str, result: str) -> str:
    bound = " {ckks.range = 0.0078125 : f64}"
    given = ", ".join(f"%{n} : {t}{bound}" for n, t in zip("xyzw", arguments, strict=False))
    return module(
        chosen, f"func.func @row({given}) -> {result} {{\n{body}  return %r : {result}\n}}\n"
    )


def multiply(chosen: Parameters, name: str, level: int, goal: float) -> Row:
    """Multiply, relinearize, rescale."""
    ct = ciphertext(level)
    body = (
        f"  %0 = ckks.mul %x, %y : {ct}\n"
        f"  %1 = ckks.relinearize %0 : {ciphertext(level, '2**48', 3)}\n"
        f"  %r = ckks.rescale %1 : {ciphertext(level, '2**48')}\n"
    )
    result = ciphertext(level - 1, f"2**48 / q{level}")
    return Row(name, program(name, chosen, [ct, ct], body, result), goal)


def rotate(chosen: Parameters, name: str, level: int, goal: float) -> Row:
    ct = ciphertext(level)
    body = f"  %r = ckks.rotate %x {{steps = 1}} : {ct}\n"
    return Row(name, program(name, chosen, [ct], body, ct), goal)


def rescale(chosen: Parameters, name: str, level: int, goal: float) -> Row:
    ct = ciphertext(level)
    body = f"  %r = ckks.rescale %x : {ct}\n"
    result = ciphertext(level - 1, f"2**24 / q{level}")
    return Row(name, program(name, chosen, [ct], body, result), goal)


def times_plaintext(chosen: Parameters, name: str, level: int, goal: float) -> Row:
    ct, pt = ciphertext(level), f"!ckks.plaintext<level = {level}, scale = 2**24>"
    body = f"  %r = ckks.mul_plain %x, %y : {ct}, {pt}\n"
    result = ciphertext(level, "2**48")
    text = program(name, chosen, [ct, pt], body, result)
    return Row(name, text, goal, True)


def rotations(chosen: Parameters, name: str, level: int, goal: float) -> Row:
    """Eight rotations of one ciphertext, eight results."""
    ct = ciphertext(level)
    body = "".join(f"  %r{k} = ckks.rotate %x {{steps = {k + 1}}} : {ct}\n" for k in range(8))
    results, types = ", ".join(f"%r{k}" for k in range(8)), ", ".join([ct] * 8)
    bound = " {ckks.range = 0.0078125 : f64}"
    text = f"func.func @row(%x : {ct}{bound}) -> ({types}) {{\n{body}  return {results} : {types}\n}}\n"
    return Row(name, module(chosen, text), goal)


def rotated_products(chosen: Parameters, name: str, level: int, goal: float) -> Row:
    """The sum of eight rotations times plaintexts."""
    ct, pt = ciphertext(level), f"!ckks.plaintext<level = {level}, scale = 2**24>"
    product = ciphertext(level, "2**48")
    lines: list[str] = []
    for k in range(8):
        lines.append(
            f"  %c{k} = arith.constant dense<{[(k + j) % 7 / 8 for j in range(8)]}> : tensor<8xf64>\n"
            f"  %e{k} = ckks.encode %c{k} : tensor<8xf64> -> {pt}\n"
            f"  %t{k} = ckks.rotate %x {{steps = {k + 1}}} : {ct}\n"
            f"  %m{k} = ckks.mul_plain %t{k}, %e{k} : {ct}, {pt}\n"
        )
        if k:
            total, before = "%r" if k == 7 else f"%s{k}", "%m0" if k == 1 else f"%s{k - 1}"
            lines.append(f"  {total} = ckks.add {before}, %m{k} : {product}\n")
    return Row(name, program(name, chosen, [ct], "".join(lines), product), goal)


def all_rows() -> list[Row]:
    chosen = key_switching_parameters()
    top = chosen.top_level
    return [
        transform("transform-8x32-28", 28.41, 8, 100, True),
        transform("transform-8x32-49", 49.68, 8, 165, True),
        transform("transform-1x32-28", 28.41, 1, 15, False),
        transform("transform-1x32-49", 49.68, 1, 19, False),
        multiply(chosen, "multiply-1390", top, 350),
        rotate(chosen, "rotate-1390", top, 330),
        multiply(chosen, "multiply-700", 13, 190),
        rotate(chosen, "rotate-700", 13, 180),
        multiply(chosen, "multiply-100", 1, 75),
        rescale(chosen, "rescale-1390", top, 60),
        times_plaintext(chosen, "times-plaintext-1390", top, 24),
        rotations(chosen, "rotations-1390", top, 1300),
        rotated_products(chosen, "rotated-products-1390", top, 900),
    ]


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for row in all_rows():
        (FOLDER / f"{row.name}.mlir").write_text(row.text)


if __name__ == "__main__":
    main()
