"""place-domains on random programs: values stay, and no program gets more transforms.

A transform is an isomorphism of rings, so a polynomial can stand for both of its forms: here by its
value at one point, an integer, for which a transform is the identity.
"""

from __future__ import annotations

import random

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.passes.place_domains import PlaceDomains
from fhelium_ir.universe import make_context

TYPES = {
    "e": "!rns.poly<16, q 0:2, evaluation(bit_reversed)>",
    "c": "!rns.poly<16, q 0:2, coefficient>",
}
FORWARD = "{contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>}"
PRIME = 2**61 - 1
INVERSE_OF_P = 1234567


def random_program(rng: random.Random, ops: int) -> str:
    domains = ["e", "c"]
    lines: list[str] = []
    for number in range(2, ops + 2):
        a = rng.randrange(number)
        same = [v for v in range(number) if domains[v] == domains[a]]
        b = rng.choice(same)
        domain, type_ = domains[a], TYPES[domains[a]]
        kind = rng.choice(["transform", "transform", "add", "sub", "negate", "constant", "mul"])
        if kind == "transform":
            op = f"ntt.inverse %v{a}" if domain == "e" else f"ntt.forward %v{a} {FORWARD}"
            domain = "c" if domain == "e" else "e"
        elif kind == "constant":
            op = f"rns.mul_constant %v{a} {{constant = #rns.constant<inverse p 0:1>}}"
        elif kind == "negate":
            op = f"rns.negate %v{a}"
        elif kind == "mul" and domain == "e":
            op = f"rns.mul %v{a}, %v{b}"
        else:
            op = f"rns.{'sub' if kind == 'sub' else 'add'} %v{a}, %v{b}"
        domains.append(domain)
        lines.append(f"  %v{number} = {op} : {type_}")
    results = rng.sample(range(len(domains)), 2)
    names = ", ".join(f"%v{v}" for v in results)
    types = ", ".join(TYPES[domains[v]] for v in results)
    body = "\n".join(lines)
    return f"""func.func @f(%v0 : {TYPES["e"]}, %v1 : {TYPES["c"]}) -> ({types}) {{
{body}
  return {names} : {types}
}}
"""


def evaluate(module: ModuleOp) -> list[int]:
    function = next(op for op in module.ops if isinstance(op, func.FuncOp))
    values: dict[SSAValue, int] = dict(zip(function.args, (3, 5), strict=True))
    for op in function.body.block.ops:
        operands = [values[operand] for operand in op.operands]
        match op:
            case ntt.TransformOp():
                result = operands[0]
            case rns.AddOp():
                result = operands[0] + operands[1]
            case rns.SubOp():
                result = operands[0] - operands[1]
            case rns.NegateOp():
                result = -operands[0]
            case rns.MulConstantOp():
                result = operands[0] * INVERSE_OF_P
            case rns.MulOp():
                result = operands[0] * operands[1]
            case func.ReturnOp():
                return operands
            case _:
                raise AssertionError(op.name)
        values[op.results[0]] = result % PRIME
    raise AssertionError("no return")


def transforms(module: ModuleOp) -> int:
    return sum(isinstance(op, ntt.TransformOp) for op in module.walk())


@pytest.mark.parametrize("seed", range(200))
def test_values_stay_and_transforms_do_not_multiply(seed: int) -> None:
    context = make_context()
    module = parse_module(context, random_program(random.Random(seed), ops=14))
    verify_module(module)
    before, count = evaluate(module), transforms(module)
    PlaceDomains().apply(context, module)
    verify_module(module)
    assert evaluate(module) == before
    assert transforms(module) <= count


def test_random_programs_have_something_to_remove() -> None:
    removed = 0
    for seed in range(50):
        context = make_context()
        module = parse_module(context, random_program(random.Random(seed), ops=14))
        count = transforms(module)
        PlaceDomains().apply(context, module)
        removed += count > transforms(module)
    assert removed > 25
