"""Functions without levels and scales: all ops but those of management, loops, branches and calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fhelium_ir.testing.random_programs.builder import CIPHERTEXT, PLAINTEXT, Builder, pick_outputs
from fhelium_ir.testing.random_programs.facts import Facts, Managed
from fhelium_ir.testing.random_programs.statements import Call, Function, Op, Statement

WEIGHTS: Mapping[str, int] = {
    "add": 6, "sub": 18, "mul": 28, "negate": 8, "rotate": 10, "conjugate": 11,
    "mul_plain": 9, "add_plain": 6, "sub_plain": 12, "argument": 8,
    "linear_transform": 24, "polynomial": 60, "sum_slots": 20, "rotate_dynamic": 5,
    "nested": 11, "call": 4,
}  # fmt: skip

NESTED: Mapping[str, int] = {
    "rotate_dynamic": 8, "add": 6, "sub": 4, "mul": 4, "rotate": 3, "conjugate": 2, "negate": 2,
    "mul_plain": 3, "add_plain": 2, "linear_transform": 1, "polynomial": 1, "sum_slots": 2,
}  # fmt: skip


def managed_function(
    builder: Builder, rules: Managed, length: int
) -> tuple[Function, dict[str, Function]]:
    """The function to compile and those that it calls; about `length` statements."""
    arguments = _arguments(builder, rules)
    if builder.choices.chance(35):
        helper = _helper(builder)
        builder.functions[helper.name] = helper
    attempts = 0
    made = 0
    while made < length and attempts < 6 * length + 20:
        attempts += 1
        made += builder.append(*_statement(builder, arguments))
    names = pick_outputs(builder, {})
    results = tuple((name, CIPHERTEXT) for name in names)
    function = Function("f", tuple(arguments.values()), tuple(builder.statements), results)
    return function, builder.functions


def _arguments(builder: Builder, rules: Managed) -> dict[str, tuple[str, str, str]]:
    """One to three ciphertexts and perhaps plaintexts, which each have one use."""
    choices, found = builder.choices, dict[str, tuple[str, str, str]]()
    kinds = ["x", "y", "z"][: choices.weighted({2: 4, 1: 3, 3: 2})]
    kinds += ["p", "r"][: choices.weighted({0: 4, 1: 4, 2: 2})]
    for name in kinds:
        plain = name in "pr"
        given, bound = list[str](), 1.0
        if rules.room < 2.5 or choices.chance(25):
            limit = min(1.0, rules.room / 2) if rules.room < 8 else 2.0
            bound = round(limit * choices.of((0.5, 1.0, 0.125)), 6)
            given.append(f"ckks.range = {bound!r} : f64")
        if choices.chance(25):
            given.append(f"ckks.slots = {_divisor(builder)} : i64")
        if choices.chance(5):
            given.append(f'ckks.name = "the {name}"')
        attributes = f"{{{', '.join(given)}}}" if given else ""
        found[name] = (name, PLAINTEXT if plain else CIPHERTEXT, attributes)
        builder.values[name] = Facts(bound, size=1 if plain else 2)
    return found


def _divisor(builder: Builder) -> int:
    lengths = [1 << k for k in range(builder.slots.bit_length()) if 1 << k <= builder.slots]
    return builder.choices.of(lengths)


def _statement(
    builder: Builder, arguments: Mapping[str, tuple[str, str, str]]
) -> Sequence[Statement]:
    """Statements that compute one more value, perhaps not allowed ones."""
    choices = builder.choices
    kind = choices.weighted(WEIGHTS)
    match kind:
        case "argument":
            unused = [
                n for n, (_, t, _) in arguments.items() if t == PLAINTEXT and n not in builder.used
            ]
            if not unused:
                return _simple(builder, "add_plain", builder.ciphertexts(), ())[0]
            use = choices.of(("mul_plain", "add_plain", "sub_plain"))
            operands = (builder.recent(), choices.of(unused))
            return [Op(use, builder.names.fresh(), operands, (CIPHERTEXT, PLAINTEXT))]
        case "nested":
            names = [builder.recent() for _ in range(2)]

            def simple(
                visible: Sequence[str], indices: Sequence[str]
            ) -> tuple[list[Statement], str]:
                return _simple(builder, choices.weighted(NESTED), visible, indices)

            return builder.nested(names, list(builder.integers), 2, simple, CIPHERTEXT)[0]
        case "call" if builder.functions:
            first, index = builder.index(list(builder.integers))
            callee = next(iter(builder.functions))
            operands = (builder.recent(), index)
            types = (CIPHERTEXT, "index")
            return [*first, Call(builder.names.fresh(), callee, operands, types, CIPHERTEXT)]
        case "call":
            kind = "rotate_dynamic"
        case _:
            pass
    others = [builder.recent(), builder.recent()]
    if kind in ("mul", "mul_plain", "polynomial", "linear_transform") and choices.chance(40):
        # programs that need all levels are rare otherwise
        others[0] = max(builder.ciphertexts(), key=lambda name: builder.values[name].depth)
    elif kind == "polynomial" and choices.chance(60):
        # high degrees need the levels and small values
        others[0] = min(builder.ciphertexts(), key=lambda name: builder.values[name].bound)
    if kind in ("polynomial", "linear_transform", "mul_plain"):
        del others[1]
    return _simple(builder, kind, others, list(builder.integers))[0]


def _helper(builder: Builder) -> Function:
    """A private function of a ciphertext and an index."""
    x, index = builder.names.fresh("a"), builder.names.fresh("k")

    def simple(visible: Sequence[str], indices: Sequence[str]) -> tuple[list[Statement], str]:
        return _simple(builder, builder.choices.weighted(NESTED), visible, indices)

    body, value = builder.body([x], [index], 1, simple, CIPHERTEXT)
    arguments = ((x, CIPHERTEXT, ""), (index, "index", ""))
    return Function("helper", arguments, body, ((value, CIPHERTEXT),), private=True)


def _simple(
    builder: Builder, kind: str, visible: Sequence[str], indices: Sequence[str]
) -> tuple[list[Statement], str]:
    """One op on ciphertexts that are in sight, with the constant or index that it needs."""
    choices, name = builder.choices, builder.names.fresh()
    one, other = choices.of(visible), choices.of(visible)
    unary = (one,), (CIPHERTEXT,)
    match kind:
        case "add" | "sub" | "mul":
            if kind == "sub" and one == other and not choices.chance(5):
                kind = "add"
            made: list[Statement] = [Op(kind, name, (one, other), (CIPHERTEXT, CIPHERTEXT))]
        case "mul_plain" | "add_plain" | "sub_plain":
            made = _with_constant(builder, kind, name, one)
        case "rotate":
            made = [Op(kind, name, *unary, count=builder.steps())]
        case "rotate_dynamic":
            first, index = builder.index(indices)
            made = [*first, Op(kind, name, (one, index), (CIPHERTEXT, "index"))]
        case "sum_slots":
            count = choices.of((2, 3, 4, builder.slots, 1, 5, 7))
            made = [Op(kind, name, *unary, count=min(count, builder.slots))]
        case "linear_transform":
            made = [matrix(builder, name, one, CIPHERTEXT)]
        case "polynomial":
            made = [_polynomial(builder, name, one)]
        case _:
            made = [Op(kind, name, *unary)]
    return made, name


def _with_constant(builder: Builder, kind: str, name: str, one: str) -> list[Statement]:
    """With a new constant, or with one that other ops use already."""
    types = (CIPHERTEXT, PLAINTEXT)
    known = [s.result for s in builder.statements if isinstance(s, Op) and s.kind == "encode"]
    if known and builder.choices.chance(25):
        return [Op(kind, name, (one, builder.choices.of(known)), types)]
    constant = builder.names.fresh("c")
    encode = Op("encode", constant, (), (), PLAINTEXT, values=builder.constant())
    return [encode, Op(kind, name, (one, constant), types)]


def matrix(builder: Builder, name: str, operand: str, type_: str) -> Op:
    """A product with a matrix of at most eight columns, in whole or by its diagonals."""
    choices = builder.choices
    size = choices.of([n for n in (2, 4, 1, 8) if builder.slots % n == 0])
    diagonals: tuple[int, ...] | None = None
    rows = size
    if choices.chance(40):
        rows = choices.integer(1, size)
        start = choices.integer(0, size - 1)
        diagonals = tuple((start + r) % size for r in range(rows))
    values = [choices.number(0.5) for _ in range(rows * size)]
    if not any(values):
        values[0] = 0.5
    return Op(
        "linear_transform", name, (operand,), (type_,),
        values=tuple(values), rows=rows, diagonals=diagonals,
    )  # fmt: skip


def _polynomial(builder: Builder, name: str, operand: str) -> Op:
    choices = builder.choices
    degree = choices.weighted({2: 4, 3: 8, 1: 3, 4: 2, 5: 2, 6: 2, 7: 2, 11: 1, 15: 1})
    values = [0.0 if choices.chance(20) else choices.number(0.25) for _ in range(degree)]
    values.append(choices.of((0.25, -0.5, 0.125)))
    basis, domain = choices.of(("", "monomial", "chebyshev", "chebyshev", "chebyshev")), None
    if basis == "chebyshev" and choices.chance(30):
        domain = choices.of(((-1.0, 1.0), (-2.0, 2.0), (-1.0, 3.0), (-4.0, 4.0)))
    return Op(
        "polynomial", name, (operand,), (CIPHERTEXT,),
        values=tuple(values), basis=basis, domain=domain,
    )  # fmt: skip
