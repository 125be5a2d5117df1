"""track-montgomery on random programs: the conversions are the fewest, and words stay in their types.

Three descriptions of one program are compared: the text that the pass reads; an enumeration of all
exponents, which shares no code with the cut; a machine that computes one coefficient in words.
"""

from __future__ import annotations

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass, field
from math import prod

import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis.representatives import check_representatives
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ntt, resource, rns
from fhelium_ir.dialects.assembly import integer_property
from fhelium_ir.passes.track_montgomery import TrackMontgomery
from fhelium_ir.universe import make_context

Q = (1152921504606683137, 1152921504606748673)
P = (1152921504606830593,)
PARAMS = (
    f"ckks.params = #ckks.params<ring_degree = 8192, q = {list(Q)}, p = {list(P)}, digits = 2, "
    "scale = 2**40, secret = ternary, insecure>, rns.arithmetic = #rns.arithmetic<mont64>"
)
EVALUATION = "!rns.poly<8192, q 0:{}, evaluation(bit_reversed)>"
COEFFICIENT = "!rns.poly<8192, q 0:{}, coefficient>"
CONTRACT = "{{contract = #ntt.contract<bit_reversed, input = {0}, output = {0}, exponent = 0>}}"


@dataclass
class Program:
    """A program on values of one or two limbs: text, and what each op demands of exponents.

    `pinned` maps a value to its exponent, `uses` lists (operand, value or exponent demanded): an
    operand is consumed at the exponent of that value, or at that exponent.
    """

    lines: list[str] = field(default_factory=list[str])
    limbs: list[int] = field(default_factory=list[int])
    pinned: dict[int, int] = field(default_factory=dict[int, int])
    uses: list[tuple[int, int | str]] = field(default_factory=list[tuple[int, int | str]])

    def value(self, limbs: int) -> int:
        self.limbs.append(limbs)
        return len(self.limbs) - 1

    def type(self, value: int) -> str:
        return EVALUATION.format(self.limbs[value])


def random_program(rng: random.Random, ops: int, transforms: bool = True) -> tuple[Program, str]:
    """A program and its module text."""
    p = Program()
    for _ in range(2):
        p.pinned[p.value(2)] = 0
    kinds = ["add", "sub", "negate", "mul", "mul", "constant", "plain", "add_plain", "restrict"]
    for _ in range(ops):
        add_op(p, rng, rng.choice([*kinds, "through"] if transforms else kinds))
    results = rng.sample(range(len(p.limbs)), 2)
    p.uses += [(value, "0") for value in results]
    names = ", ".join(f"%v{value}" for value in results)
    types = ", ".join(p.type(value) for value in results)
    body = "\n".join(p.lines)
    text = f"""module attributes {{{PARAMS}}} {{
resource.declare @c "plaintext" {{values = dense<[1.0]> : tensor<1xf64>, level = 1 : i64,
  scale = "1099511627776/1"}}
func.func @f(%v0 : {p.type(0)}, %v1 : {p.type(0)}) -> ({types}) {{
{body}
  return {names} : {types}
}}
}}
"""
    return p, text


def add_op(p: Program, rng: random.Random, kind: str) -> None:
    a = rng.randrange(len(p.limbs))
    b = rng.choice([v for v in range(len(p.limbs)) if p.limbs[v] == p.limbs[a]])
    type_ = p.type(a)
    r = p.value(1 if kind == "restrict" else p.limbs[a])
    if kind in ("add", "sub"):
        p.uses += [(a, r), (b, r)]
        p.lines.append(f"  %v{r} = rns.{kind} %v{a}, %v{b} : {type_}")
    elif kind == "negate":
        p.uses.append((a, r))
        p.lines.append(f"  %v{r} = rns.negate %v{a} : {type_}")
    elif kind == "mul":
        p.uses += [(a, "1"), (b, "1")]
        p.pinned[r] = 1
        p.lines.append(f"  %v{r} = rns.mul %v{a}, %v{b} : {type_}")
    elif kind == "constant":
        constant = "{constant = #rns.constant<inverse p 0:1>}"
        p.lines.append(f"  %v{r} = rns.mul_constant %v{a} {constant} : {type_}")
    elif kind == "plain":
        p.lines.append(f"  %c{r} = resource.ref @c : {type_}")
        p.lines.append(f"  %v{r} = rns.mul %v{a}, %c{r} : {type_}")
    elif kind == "add_plain":
        p.uses.append((a, r))
        p.lines.append(f"  %c{r} = resource.ref @c : {type_}")
        p.lines.append(f"  %v{r} = rns.add %c{r}, %v{a} : {type_}")
    elif kind == "restrict":
        p.uses.append((a, r))
        p.lines.append(f"  %v{r} = rns.restrict %v{a} : {type_} -> {p.type(r)}")
    else:
        coefficients = COEFFICIENT.format(p.limbs[a])
        p.lines.append(f"  %i{r} = ntt.inverse %v{a} {CONTRACT.format(2)} : {type_}")
        p.lines.append(f"  %v{r} = ntt.forward %i{r} {CONTRACT.format(4)} : {coefficients}")


def cheapest(p: Program) -> int:
    """Least cost over all exponents of all values: one conversion per value and other exponent."""
    free = [value for value in range(len(p.limbs)) if value not in p.pinned]
    best: int | None = None
    for choice in itertools.product((0, 1), repeat=len(free)):
        exponents = {**p.pinned, **dict(zip(free, choice, strict=True))}
        needed: dict[int, set[int]] = defaultdict(set)
        for operand, demand in p.uses:
            exponent = int(demand) if isinstance(demand, str) else exponents[demand]
            if exponent != exponents[operand]:
                needed[operand].add(exponent)
        cost = sum(len(others) * p.limbs[v] * 8192 for v, others in needed.items())
        best = cost if best is None else min(best, cost)
    assert best is not None
    return best


def track(text: str) -> ModuleOp:
    context = make_context()
    module = parse_module(context, text)
    verify_module(module)
    TrackMontgomery().apply(context, module)
    verify_module(module)
    check_representatives(module)
    return module


def facts(value: SSAValue) -> rns.PolyFacts:
    assert isinstance(value.type, rns.PolyType)
    return value.type.data


def converted_words(module: ModuleOp) -> int:
    return sum(
        prod(facts(op.result).shape())
        for op in module.walk()
        if isinstance(op, rns.SetRepresentativeOp)
        and facts(op.operand).exponent != facts(op.result).exponent
    )


@pytest.mark.parametrize("seed", range(120))
def test_no_exponents_need_fewer_conversions(seed: int) -> None:
    program, text = random_program(random.Random(seed), ops=9)
    assert converted_words(track(text)) == cheapest(program)


@pytest.mark.parametrize("seed", range(20))
def test_tracking_twice_changes_nothing(seed: int) -> None:
    _, text = random_program(random.Random(seed), ops=20)
    once = str(track(text))
    assert str(track(once)) == once


class Machine:
    """One coefficient modulo one prime, in words; checks each word against its type."""

    def __init__(self, prime: int, constant: int) -> None:
        self.prime = prime
        self.constant = constant
        self.words: dict[SSAValue, int] = {}
        self.values: dict[SSAValue, int] = {}

    def run(self, module: ModuleOp, arguments: list[int]) -> None:
        function = next(op for op in module.ops if isinstance(op, func.FuncOp))
        for argument, word in zip(function.args, arguments, strict=True):
            self.define(argument, word, word)
        for op in function.body.block.ops:
            if op.results:
                self.define(op.results[0], *self.execute(op))

    def define(self, value: SSAValue, word: int, true_value: int) -> None:
        f = facts(value)
        assert f.below is not None and f.exponent is not None
        assert 0 <= word < f.below * self.prime, value
        assert word < 1 << 64, value
        assert (word - true_value * pow(2, 64 * f.exponent, self.prime)) % self.prime == 0, value
        self.words[value], self.values[value] = word, true_value

    def product(self, a: int, b: int) -> int:
        radix = 1 << 64
        m = -a * b * pow(self.prime, -1, radix) % radix
        return (a * b + m * self.prime) >> 64

    def stored(self, value: int, exponent: int) -> int:
        return value * pow(2, 64 * exponent, self.prime) % self.prime

    def execute(self, op: Operation) -> tuple[int, int]:
        q = self.prime
        words = [self.words[operand] for operand in op.operands]
        values = [self.values[operand] for operand in op.operands]
        match op:
            case rns.AddOp():
                return words[0] + words[1], values[0] + values[1]
            case rns.SubOp():
                offset = facts(op.rhs).below
                assert offset is not None
                return words[0] - words[1] + offset * q, values[0] - values[1]
            case rns.NegateOp():
                offset = facts(op.operand).below
                assert offset is not None
                return offset * q - words[0], -values[0]
            case rns.MulOp():
                return self.product(words[0], words[1]), values[0] * values[1]
            case rns.MulConstantOp():
                inverse = pow(P[0], -1, q)
                exponent = integer_property(op.properties, "exponent")
                constant = self.stored(inverse, exponent)
                return self.product(words[0], constant), values[0] * inverse
            case resource.RefOp():
                exponent = facts(op.result).exponent
                assert exponent is not None
                return self.stored(self.constant, exponent), self.constant
            case rns.RestrictOp():
                return words[0], values[0]
            case rns.SetRepresentativeOp():
                return self.set_representative(op, words[0]), values[0]
            case _:
                raise AssertionError(op.name)

    def set_representative(self, op: rns.SetRepresentativeOp, word: int) -> int:
        before, after = facts(op.operand), facts(op.result)
        assert before.exponent is not None and after.exponent is not None
        change = after.exponent - before.exponent
        if change:
            word = self.product(word, self.stored(1, change + 1))
        assert after.below is not None
        return word % (after.below * self.prime)


@pytest.mark.parametrize("seed", range(60))
def test_words_stay_in_their_intervals(seed: int) -> None:
    rng = random.Random(seed)
    _, text = random_program(rng, ops=30, transforms=False)
    module = track(text)
    for prime in Q[:1]:
        ends = [0, 1, prime - 1, rng.randrange(prime)]
        for x, y, constant in itertools.product(ends, repeat=3):
            Machine(prime, constant).run(module, [x, y])


def test_a_reduction_that_is_left_out_would_be_noticed() -> None:
    lines = [
        f"  %s{i} = rns.add %s{i - 1}, %s{i - 1} : {EVALUATION.format(2)}" for i in range(1, 7)
    ]
    body = "\n".join(lines).replace("%s0", "%x")
    text = f"""module attributes {{{PARAMS}}} {{
func.func @f(%x : {EVALUATION.format(2)}) -> {EVALUATION.format(2)} {{
{body}
  return %s6 : {EVALUATION.format(2)}
}}
}}
"""
    module = track(text)
    reductions = [op for op in module.walk() if isinstance(op, rns.SetRepresentativeOp)]
    # 2, 4, 8, 16, then one operand of the next sum is reduced: 16 + 1 is still too much, so both.
    assert [facts(op.operand).below for op in reductions] == [16, 4]
    Machine(Q[0], 0).run(module, [Q[0] - 1])
    for op in reductions:
        op.result.replace_all_uses_with(op.operand)
        op.detach()
    with pytest.raises(AssertionError):
        Machine(Q[0], 0).run(module, [Q[0] - 1])


def test_no_transform_is_needed_to_convert() -> None:
    # An inverse transform between an argument and a product takes the conversion with N^-1.
    type_ = EVALUATION.format(2)
    text = f"""module attributes {{{PARAMS}}} {{
func.func @f(%x : {type_}) -> {type_} {{
  %i = ntt.inverse %x {CONTRACT.format(2)} : {type_}
  %f = ntt.forward %i {CONTRACT.format(4)} : {COEFFICIENT.format(2)}
  %m = rns.mul %f, %f : {type_}
  %c = rns.mul_constant %m {{constant = #rns.constant<inverse p 0:1>}} : {type_}
  return %c : {type_}
}}
}}
"""
    module = track(text)
    assert converted_words(module) == 0
    changes = [
        op.contract.data.exponent_change
        for op in module.walk()
        if isinstance(op, ntt.TransformOp) and op.contract is not None
    ]
    assert changes == [1, 0]
