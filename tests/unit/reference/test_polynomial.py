"""The polynomial stage: ops against their definitions, key switches against the program stage."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from numpy.typing import NDArray

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.polynomial import run_polynomial
from fhelium_ir.reference.program import run_program
from tests.unit.reference import textbook
from tests.unit.reference.textbook import RELINEARIZE, KeyName, Scheme, parameters

Tensor = NDArray[np.int64]

NO_KEYS: Mapping[KeyName, Tensor] = {}
FACTS = parameters(8, 5, 3, 20)
"""Five primes of q in digits of two, two and one; two special primes."""
N = FACTS.ring_degree


def no_encoding(values: object, scale: object, level: object) -> Tensor:
    raise AssertionError("nothing to encode")


def poly(text: str, domain: str = "evaluation(bit_reversed)") -> str:
    return f"!rns.poly<{N}, {text}, {domain}>"


def run(
    arguments: Mapping[str, str],
    body: str,
    result: str,
    inputs: Mapping[str, Tensor],
    facts: Parameters = FACTS,
    keys: Mapping[KeyName, Tensor] = NO_KEYS,
    declarations: str = "",
) -> Tensor:
    """Runs a body that computes %r of type `result`."""
    listed = ", ".join(f"%{name} : {type_}" for name, type_ in arguments.items())
    text = (
        f"module attributes {{{textbook.attribute(facts)}}} {{ {declarations}\n"
        f"func.func @f({listed}) -> {result} {{\n{body}\nreturn %r : {result} }} }}"
    )
    (out,) = run_polynomial(textbook.parsed(text), "f", inputs, keys, no_encoding)
    assert out.dtype == np.int64
    return out


def residues(primes: Sequence[int], components: int = 1, seed: int = 1) -> Tensor:
    rng = random.Random(seed)
    return np.array(
        [[[rng.randrange(q) for _ in range(N)] for q in primes] for _ in range(components)]
    )


def expected(primes: Sequence[int], function: str, *operands: Tensor) -> Tensor:
    """An expression in a, b and q for every element, on Python integers."""
    code, names = compile(function, "<expected>", "eval"), "ab"[: len(operands)]
    out = np.empty_like(operands[0])
    for index in np.ndindex(out.shape):
        values = {name: int(t[index]) for name, t in zip(names, operands, strict=True)}
        out[index] = eval(code, {**values, "q": primes[index[-2]]})
    return out


@pytest.mark.parametrize(
    "op, function",
    [("add", "(a + b) % q"), ("sub", "(a - b) % q"), ("mul", "a * b % q"), ("negate", "-a % q")],
)
def test_element_wise_ops(op: str, function: str) -> None:
    primes = FACTS.q[1:4] + FACTS.p[1:]
    type_ = poly("q 1:4 p 1:2, components = 2")
    inputs = {"x": residues(primes, 2), "y": residues(primes, 2, seed=2)}
    inputs["x"][0, 1, 2] = 0
    if op == "negate":
        inputs.pop("y")
    operands = ", ".join(f"%{name}" for name in inputs)
    result = run(dict.fromkeys(inputs, type_), f"%r = rns.{op} {operands} : {type_}", type_, inputs)
    assert (result == expected(primes, function, *inputs.values())).all()


def test_transforms() -> None:
    evaluation, coefficient = poly("q 0:2 p 0:1"), poly("q 0:2 p 0:1", "coefficient")
    primes = FACTS.q[:2] + FACTS.p[:1]
    x = residues(primes)
    (rows,) = x.tolist()
    undecided = evaluation.replace("bit_reversed", "?")
    forward = run({"x": coefficient}, f"%r = ntt.forward %x : {coefficient}", undecided, {"x": x})
    assert forward.tolist() == [list(map(textbook.evaluated, rows, primes))]
    inverse = run({"x": evaluation}, f"%r = ntt.inverse %x : {evaluation}", coefficient, {"x": x})
    assert inverse.tolist() == [list(map(textbook.interpolated, rows, primes))]


def test_views_select_rows() -> None:
    whole, x = "q 0:3 p 0:2, components = 3", residues(FACTS.q[:3] + FACTS.p, 3)
    part = "q 1:3 p 1:2, components = 3"
    types = {"x": poly(whole)}
    body = f"%r = rns.restrict %x : {poly(whole)} -> {poly(part)}"
    assert (run(types, body, poly(part), {"x": x}) == x[:, [1, 2, 4]]).all()
    body = f"%r = rns.extract %x {{first = 1 : i64, count = 2 : i64}} : {poly(whole)}"
    result = poly("q 0:3 p 0:2, components = 2")
    assert (run(types, body, result, {"x": x}) == x[1:]).all()


def test_components_are_padded_and_packed() -> None:
    one, three = poly("q 0:2"), poly("q 0:2, components = 3")
    x, y = residues(FACTS.q[:2]), residues(FACTS.q[:2], seed=2)
    padded = run({"x": one}, f"%r = rns.pad %x {{components = 3 : i64}} : {one}", three, {"x": x})
    assert (padded == np.concatenate([x, 0 * x, 0 * x])).all()
    packed = run({"x": one, "y": one}, f"%r = rns.pack %y, %x, %y : {one}", three, {"x": x, "y": y})
    assert (packed == np.concatenate([y, x, y])).all()


@pytest.mark.parametrize("element", [5, 13, 15])
def test_automorphisms(element: int) -> None:
    primes = FACTS.q[:2]
    coefficient = poly("q 0:2, components = 2", "coefficient")
    evaluation = poly("q 0:2, components = 2")
    x = residues(primes, 2)
    x[0, 1, 3] = 0
    body = f"%r = rns.automorphism %x {{galois = {element} : i64}} : "
    image = run({"x": coefficient}, body + coefficient, coefficient, {"x": x})
    for part, rows in zip(image.tolist(), x.tolist(), strict=True):
        for a, b, q in zip(part, rows, primes, strict=True):
            assert a == [c % q for c in textbook.substituted(b, element)]
    evaluate = np.array([list(map(textbook.evaluated, part, primes)) for part in x.tolist()])
    moved = run({"x": evaluation}, body + evaluation, evaluation, {"x": evaluate})
    for part, rows in zip(moved.tolist(), image.tolist(), strict=True):
        assert part == list(map(textbook.evaluated, rows, primes))


def test_constants_per_row() -> None:
    primes = FACTS.q[:5]
    type_ = poly("q 0:5", "coefficient")
    x = residues(primes)

    def times(factors: Sequence[int]) -> Tensor:
        rows = zip(x[0].tolist(), factors, primes, strict=True)
        return np.array([[[v * factor % q for v in row] for row, factor, q in rows]])

    whole = [pow(prod(primes) // q, -1, q) for q in primes]
    body = f"%r = rns.mul_constant %x {{constant = #rns.constant<punctured_inverse>}} : {type_}"
    assert (run({"x": type_}, body, type_, {"x": x}) == times(whole)).all()

    digits = poly("q 0:5, digits = own(2)", "coefficient")
    partners = (primes[1], primes[0], primes[3], primes[2], 1)
    own = [pow(partner, -1, q) for partner, q in zip(partners, primes, strict=True)]
    body = (
        f"%d = rns.digits %x {{size = 2 : i64}} : {type_}\n"
        f"%r = rns.mul_constant %d {{constant = #rns.constant<punctured_inverse>}} : {digits}"
    )
    assert (run({"x": type_}, body, digits, {"x": x}) == times(own)).all()

    inverse = [pow(FACTS.p[0] * FACTS.p[1], -1, q) for q in primes]
    body = f"%r = rns.mul_constant %x {{constant = #rns.constant<inverse p 0:2>}} : {type_}"
    assert (run({"x": type_}, body, type_, {"x": x}) == times(inverse)).all()


@pytest.mark.parametrize("bits", [20, 32, 33, 50, 61])
@pytest.mark.parametrize("lift", ["centred", "canonical"])
@pytest.mark.parametrize("limbs", [1, 2, 3])
def test_base_conversion_of_edges(bits: int, lift: str, limbs: int) -> None:
    facts = parameters(8, 3, 3, bits)
    source = facts.q[:limbs]
    product = prod(source)
    edges = [0, 1, (product - 1) // 2, (product + 1) // 2, product - 1, product // 3]
    values = [*edges, 12345 % product, 7**60 % product]
    punctured = [[x * pow(product // q, -1, q) % q for x in values] for q in source]
    correction = {"centred": "none", "canonical": "nearest"}[lift]
    from_, to = poly(f"q 0:{limbs}", "coefficient"), poly("p 0:1", "coefficient")
    body = (
        f'%r = rns.base_convert %x {{lift = "{lift}", correction = "{correction}"}} : '
        f"{from_} -> {to}"
    )
    result = run({"x": from_}, body, to, {"x": np.array([punctured])}, facts)
    exact = (
        textbook.digit(values, source)
        if lift == "centred"
        else [textbook.nearest_multiple(x, source) for x in values]
    )
    assert result.tolist() == [[[y % facts.p[0] for y in exact]]]
    assert all((y - x) % product == 0 for x, y in zip(values, exact, strict=True))
    if lift == "canonical" and limbs > 1:
        # far from a tie the nearest conversion is the centred residue
        assert exact[4:6] == [-1, textbook.centre(values[5], product)]


def test_base_conversion_to_the_complement_of_each_digit() -> None:
    digits = poly("q 0:5, digits = own(2)", "coefficient")
    complement = poly("q 0:5 p 0:2, digits = complement(2)", "coefficient")
    v = residues(FACTS.q)
    body = (
        '%r = rns.base_convert %x {lift = "centred", correction = "none"} : '
        f"{digits} -> {complement}"
    )
    result = run({"x": digits}, body, complement, {"x": v})
    rows: list[list[int]] = []
    for start in (0, 2, 4):
        own = FACTS.q[start : start + 2]
        lifted = [
            sum(
                textbook.centre(int(v[0, start + k, i]), q) * (prod(own) // q)
                for k, q in enumerate(own)
            )
            for i in range(N)
        ]
        others = [q for q in FACTS.primes if q not in own]
        rows += [[w % t for w in lifted] for t in others]
    assert len(rows) == 5 + 5 + 6
    assert result.tolist() == [rows]


def test_accumulation_over_ragged_digits() -> None:
    own, converted = poly("q 0:3"), poly("q 0:3 p 0:2, digits = complement(2)")
    key = poly("q 0:5 p 0:2, components = 2, digits = key(2)")
    result = poly("q 0:3 p 0:2, components = 2")
    q, p = FACTS.q, FACTS.p
    x = {
        "c": residues(q[:3]),
        "f": residues([q[2], *p, q[0], q[1], *p], seed=2),
        "k": np.array([residues(FACTS.primes, 2, seed) for seed in (3, 4, 5)]),
    }
    body = f"%r = rns.accumulate %c, %f, %k : {own}, {converted}, {key}"
    out = run({"c": own, "f": converted, "k": key}, body, result, x)
    # factors of key digit 0 and 1 by limb; key digit 2 belongs to primes that are gone
    first = [x["c"][0, 0], x["c"][0, 1], *x["f"][0, 0:3]]
    second = [x["f"][0, 3], x["f"][0, 4], x["c"][0, 2], *x["f"][0, 5:7]]
    for row, (limb, prime) in enumerate([(0, q[0]), (1, q[1]), (2, q[2]), (5, p[0]), (6, p[1])]):
        for component in range(2):
            for i in range(N):
                total = sum(
                    int(factors[row][i]) * int(x["k"][digit, component, limb, i])
                    for digit, factors in enumerate((first, second))
                )
                assert out[component, row, i] == total % prime


def test_regions_run_their_body_and_representatives_are_views() -> None:
    type_ = poly("q 0:2")
    lazy = f"!rns.poly<{N}, q 0:2, evaluation(bit_reversed), mont64(e = 1, below = 2)>"
    body = f"""
      %a, %r = fusion.region(%A = %x : {type_}, %B = %y : {type_}) -> ({type_}, {type_}) {{
        %s = rns.sub %A, %B : {type_}
        %c = rns.set_representative %s : {type_} -> {lazy}
        %d = rns.set_representative %c : {lazy} -> {type_}
        fusion.yield %A, %d : {type_}, {type_}
      }}"""
    x = {"x": residues(FACTS.q[:2]), "y": residues(FACTS.q[:2], seed=2)}
    out = run({"x": type_, "y": type_}, body, type_, x)
    assert (out == expected(FACTS.q, "(a - b) % q", x["x"], x["y"])).all()


def key_switch(facts: Parameters, level: int) -> tuple[str, str]:
    """Declaration and body of `%r = switch(%c)`, as convert-ckks-to-rns must emit it."""
    degree, limbs, special = facts.ring_degree, level + 1, len(facts.p)
    size, top = facts.digit_size, len(facts.q)

    def of(basis: str, domain: str = "evaluation(?)", **axes: object) -> str:
        middle = "".join(f"{axis} = {value}, " for axis, value in axes.items())
        return f"!rns.poly<{degree}, {basis}, {middle}{domain}>"

    def convert(lift: str, correction: str) -> str:
        return f'{{lift = "{lift}", correction = "{correction}"}}'

    q, both, ordered = f"q 0:{limbs}", f"q 0:{limbs} p 0:{special}", "evaluation(bit_reversed)"
    own, other = f"own({size})", f"complement({size})"
    key = of(f"q 0:{top} p 0:{special}", ordered, components=2, digits=f"key({size})")
    pair, p_pair = of(both, ordered, components=2), of(f"p 0:{special}", ordered, components=2)
    p_flat, q_flat = (of(b, "coefficient", components=2) for b in (f"p 0:{special}", q))
    punctured = "{constant = #rns.constant<punctured_inverse>}"
    return (
        'resource.declare @key "relinearization_key"',
        f"""
        %k = resource.ref @key : {key}
        %i = ntt.inverse %c : {of(q, ordered)}
        %d = rns.digits %i {{size = {size}}} : {of(q, "coefficient")}
        %v = rns.mul_constant %d {punctured} : {of(q, "coefficient", digits=own)}
        %w = rns.base_convert %v {convert("centred", "none")} :
          {of(q, "coefficient", digits=own)} -> {of(both, "coefficient", digits=other)}
        %f = ntt.forward %w : {of(both, "coefficient", digits=other)}
        %a = rns.accumulate %c, %f, %k : {of(q, ordered)}, {of(both, digits=other)}, {key}
        %ap = rns.restrict %a : {pair} -> {p_pair}
        %ip = ntt.inverse %ap : {p_pair}
        %vp = rns.mul_constant %ip {punctured} : {p_flat}
        %m = rns.base_convert %vp {convert("canonical", "nearest")} : {p_flat} -> {q_flat}
        %mf = ntt.forward %m : {q_flat}
        %aq = rns.restrict %a : {pair} -> {of(q, ordered, components=2)}
        %s = rns.sub %aq, %mf :
          {of(q, ordered, components=2)}, {of(q, components=2)}
        %r = rns.mul_constant %s {{constant = #rns.constant<inverse p 0:{special}>}} :
          {of(q, ordered, components=2)}""",
    )


def switch_cases() -> list[tuple[int, int, int]]:
    digits = {limbs: sorted({1, min(2, limbs), limbs}) for limbs in range(1, 6)}
    return [(n, d, level) for n in digits for d in digits[n] for level in range(n)]


@pytest.mark.parametrize("limbs, digits, level", switch_cases())
def test_key_switch_agrees_with_the_program_stage(limbs: int, digits: int, level: int) -> None:
    facts = parameters(8, limbs, digits, 20)
    check_switch(facts, level)


@pytest.mark.parametrize("bits", [32, 33, 50, 61])
def test_key_switch_agrees_for_large_primes(bits: int) -> None:
    check_switch(parameters(16, 5, 2, bits), 3)


def check_switch(facts: Parameters, level: int) -> None:
    """Relinearization of (0, 0, c) in the program stage is the key switch of c, bit for bit."""
    keys = {RELINEARIZE: Scheme(facts, noise=2).key(RELINEARIZE)}
    primes = facts.q[: level + 1]
    rng = random.Random(level)
    c = np.array([[[rng.randrange(q) for _ in range(facts.ring_degree)] for q in primes]])
    big = f"!ckks.ciphertext<level = {level}, scale = 2**9, size = 3>"
    small = f"!ckks.ciphertext<level = {level}, scale = 2**9>"
    program = (
        f"module attributes {{{textbook.attribute(facts)}}} {{ func.func @f(%x : {big}) -> {small} "
        f"{{ %r = ckks.relinearize %x : {big}\n return %r : {small} }} }}"
    )
    x = np.concatenate([0 * c, 0 * c, c])
    (wanted,) = run_program(textbook.parsed(program), "f", {"x": x}, keys, no_encoding)
    declaration, body = key_switch(facts, level)
    basis = f"q 0:{level + 1}"
    argument = f"!rns.poly<{facts.ring_degree}, {basis}, evaluation(bit_reversed)>"
    result = f"!rns.poly<{facts.ring_degree}, {basis}, components = 2, evaluation(bit_reversed)>"
    out = run({"c": argument}, body, result, {"c": c}, facts, keys, declaration)
    assert (out == wanted).all()


def test_rescale_agrees_with_the_program_stage() -> None:
    level = 2
    primes = FACTS.q[: level + 1]
    x = residues(primes, 2)
    x[1] = np.array([[q - 1] + [0] * (N - 1) for q in primes])
    from_, to = (
        "!ckks.ciphertext<level = 2, scale = 2**9>",
        "!ckks.ciphertext<level = 1, scale = 2**9 / q2>",
    )
    program = (
        f"module attributes {{{textbook.attribute(FACTS)}}} {{ func.func @f(%x : {from_}) -> {to} "
        f"{{ %r = ckks.rescale %x : {from_}\n return %r : {to} }} }}"
    )
    (wanted,) = run_program(textbook.parsed(program), "f", {"x": x}, NO_KEYS, no_encoding)
    whole, last, rest = (poly(f"q {b}, components = 2") for b in ("0:3", "2:3", "0:2"))
    last_flat, rest_flat = (poly(f"q {b}, components = 2", "coefficient") for b in ("2:3", "0:2"))
    body = f"""
      %l = rns.restrict %x : {whole} -> {last}
      %i = ntt.inverse %l : {last}
      %m = rns.base_convert %i {{lift = "canonical", correction = "nearest"}} :
        {last_flat} -> {rest_flat}
      %f = ntt.forward %m : {rest_flat}
      %k = rns.restrict %x : {whole} -> {rest}
      %s = rns.sub %k, %f : {rest}, {rest.replace("bit_reversed", "?")}
      %r = rns.mul_constant %s {{constant = #rns.constant<inverse q 2:3>}} : {rest}"""
    assert (run({"x": whole}, body, rest, {"x": x}) == wanted).all()


def test_declared_plaintexts_are_encoded_by_the_callable() -> None:
    calls: list[tuple[list[float], Fraction, int]] = []

    def encode(values: NDArray[np.float64], scale: Fraction, level: int) -> Tensor:
        calls.append((values.tolist(), scale, level))
        return residues(FACTS.q[: level + 1])

    type_ = poly("q 0:2")
    text = f"""module attributes {{{textbook.attribute(FACTS)}}} {{
      resource.declare @"p 0" "plaintext" {{values = dense<[1.5, -2.0]> : tensor<2xf64>,
        level = 1 : i64, scale = "1536/7"}}
      resource.declare @odd "plaintext" {{values = dense<1.0> : tensor<1xf64>, level = 1 : i64,
        scale = "2**40"}}
      func.func @f() -> {type_} {{ %r = resource.ref @"p 0" : {type_}
        return %r : {type_} }}
      func.func @g() -> {type_} {{ %r = resource.ref @odd : {type_}
        return %r : {type_} }} }}"""
    module = textbook.parsed(text)
    (result,) = run_polynomial(module, "f", {}, NO_KEYS, encode)
    assert calls == [([1.5, -2.0], Fraction(1536, 7), 1)]
    assert (result == residues(FACTS.q[:2])).all()
    with pytest.raises(FheliumError, match=r"expected a scale .* found 2\*\*40"):
        run_polynomial(module, "g", {}, NO_KEYS, encode)


def test_keys_are_found_and_cut_to_the_type() -> None:
    key = Scheme(FACTS).key(("galois", 13))
    keys: dict[KeyName, Tensor] = {("galois", 13): key}
    declaration = 'resource.declare @key "galois_key" {galois = 13 : i64}'

    def cut(basis: str, size: int = 2) -> Tensor:
        type_ = poly(f"{basis}, components = 2, digits = key({size})")
        body = f"%r = resource.ref @key : {type_}"
        return run({}, body, type_, {}, FACTS, keys, declaration)

    assert (cut("q 0:5 p 0:2") == key).all()
    assert (cut("q 0:3 p 0:2") == key[:2, :, [0, 1, 2, 5, 6]]).all()
    with pytest.raises(FheliumError, match=r"a bundle of two components with digits = key\(2\)"):
        cut("q 0:5 p 0:2", size=1)
    keys.clear()
    with pytest.raises(FheliumError, match="key 'galois 13' is missing") as caught:
        cut("q 0:5 p 0:2")
    assert caught.value.location == "test.mlir:3:6"


@pytest.mark.parametrize(
    "body, message",
    [
        ("%r = resource.ref @absent : {t}", "resource @absent is not declared"),
        ("%r = resource.ref @table : {t}", "resource @table of kind 'moduli' is no bundle"),
        ('%r = "test.op"() : () -> {t}', r"the reference cannot run 'test\.op' here"),
    ],
)
def test_errors_name_what_is_wrong_and_where(body: str, message: str) -> None:
    type_ = poly("q 0:2")
    declaration = 'resource.declare @table "moduli"'
    with pytest.raises(FheliumError, match=message) as caught:
        run({}, body.format(t=type_), type_, {}, declarations=declaration)
    assert caught.value.location == "test.mlir:3:6"


def test_inputs_have_the_shape_and_range_of_their_type() -> None:
    type_ = poly("q 0:5 p 0:2, digits = complement(2)")
    primes = [q for start in (0, 2, 4) for q in FACTS.primes if q not in FACTS.q[start : start + 2]]
    x = residues(primes)

    def same(tensor: Tensor) -> Tensor:
        body = f"%r = rns.set_representative %x : {type_} -> {type_}"
        return run({"x": type_}, body, type_, {"x": tensor})

    assert (same(x) == x).all()
    with pytest.raises(FheliumError, match=r"has shape \[1, 15, 8\], expected \[1, 16, 8\]"):
        same(x[:, :15])
    x[0, 9, 7] = primes[9]
    with pytest.raises(FheliumError, match=f"input 'x' is not reduced modulo {primes[9]}"):
        same(x)


def test_an_argument_goes_by_its_declared_name() -> None:
    type_ = poly("q 0:1")
    text = f"""module attributes {{{textbook.attribute(FACTS)}}} {{
      func.func @f(%0 : {type_} {{ckks.name = "the input"}}, %1 : {type_}) -> ({type_}, {type_}) {{
        return %1, %0 : {type_}, {type_} }} }}"""
    x, y = residues(FACTS.q[:1]), residues(FACTS.q[:1], seed=2)
    inputs = {"the input": x, "arg1": y}
    out = run_polynomial(textbook.parsed(text), "f", inputs, NO_KEYS, no_encoding)
    assert (out[0] == y).all() and (out[1] == x).all()
