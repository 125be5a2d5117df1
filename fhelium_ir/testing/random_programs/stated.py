"""Functions with management of their own: levels, scales and sizes as written, in full or only where needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale
from fhelium_ir.testing.random_programs.builder import CIPHERTEXT, PLAINTEXT, Builder, pick_outputs
from fhelium_ir.testing.random_programs.facts import Facts, NotAllowed, Stated, ratio
from fhelium_ir.testing.random_programs.managed import matrix
from fhelium_ir.testing.random_programs.statements import Function, Op, Statement

WEIGHTS: Mapping[str, int] = {
    "add": 10, "sub": 24, "mul": 40, "negate": 8, "rotate": 12, "conjugate": 12,
    "mul_plain": 16, "add_plain": 8, "sub_plain": 14, "argument": 8,
    "relinearize": 18, "rescale": 18, "mod_switch": 44, "adopt_scale": 50,
    "linear_transform": 4, "sum_slots": 12, "rotate_dynamic": 4, "nested": 5,
}  # fmt: skip

THREE = Fraction(3)
ODD = Fraction(1025)

NESTED = ("rotate_dynamic", "add", "sub", "rotate", "negate", "conjugate", "sum_slots")


@dataclass
class StatedFunction:
    """A function that grows; `open` leaves out all facts but those that the compiler cannot fill in."""

    builder: Builder
    rules: Stated
    open: bool

    @property
    def parameters(self) -> Parameters:
        return self.rules.parameters

    def type_of(self, facts: Facts) -> str:
        """A type as it is printed."""
        if self.open:
            return PLAINTEXT if facts.size == 1 else CIPHERTEXT
        body = f"level = {facts.level}, scale = {facts.scale}"
        if facts.size == 1:
            return f"!ckks.plaintext<{body}>"
        return f"!ckks.ciphertext<{body}{', size = 3' if facts.size == 3 else ''}>"

    def types(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(self.type_of(self.builder.values[name]) for name in names)

    def make(self, length: int) -> Function:
        """The function, of about `length` statements."""
        arguments = self._arguments()
        made = attempts = 0
        while made < length and attempts < 6 * length + 20:
            attempts += 1
            made += self._step(arguments)
        if self.open and not any(
            isinstance(s, Op) and s.kind in MANAGING for s in self.builder.statements
        ):
            # without one the function would be managed
            self._append(Op("mod_switch", self._fresh(), *self._unary(next(iter(arguments)))))
        names = pick_outputs(self.builder, {})
        results = tuple(zip(names, self.types(names), strict=True))
        return Function("f", tuple(arguments.values()), tuple(self.builder.statements), results)

    def _fresh(self, prefix: str = "v") -> str:
        return self.builder.names.fresh(prefix)

    def _arguments(self) -> dict[str, tuple[str, str, str]]:
        choices, found = self.builder.choices, dict[str, tuple[str, str, str]]()
        names = ["x", "y", "z"][: choices.weighted({2: 4, 1: 3, 3: 2})]
        for name in [*names, *["p", "r"][: choices.weighted({0: 3, 1: 4, 2: 2})]]:
            facts = self._argument_facts(name in "pr")
            given = [] if facts.bound == 1.0 else [f"ckks.range = {facts.bound!r} : f64"]
            attributes = f"{{{given[0]}}}" if given else ""
            found[name] = (name, self.type_of(facts), attributes)
            self.builder.values[name] = facts
        return found

    def _argument_facts(self, plain: bool) -> Facts:
        choices, top = self.builder.choices, self.parameters.top_level
        while True:
            level, scale = top, Scale(self.parameters.scale_bits)
            if not self.open:
                if choices.chance(30):
                    level = choices.integer(0, top)
                if choices.chance(20):
                    scale = self._odd_scale(level)
            bound = choices.weighted({1.0: 5, 0.5: 2, 0.25: 1, 2.0: 1, 0.015625: 1})
            facts = Facts(bound, 0, level, scale, 1 if plain else 2)
            try:
                self.rules.check(facts)
            except NotAllowed:
                continue
            return facts

    def _odd_scale(self, level: int) -> Scale:
        """A scale that is no power of two, or not the default one."""
        bits = self.parameters.scale_bits
        options = [Scale(bits - 2), Scale(bits - 4) * Scale.of(0, {}, THREE), Scale(bits + 1)]
        if level > 0:
            options.append(Scale(0, ((level, 1),)))
            options.append(Scale(2 * bits).over_prime(level))
        return self.builder.choices.of(options)

    def _step(self, arguments: Mapping[str, object]) -> bool:
        """Tries to append one op."""
        builder, choices = self.builder, self.builder.choices
        kind = choices.weighted(WEIGHTS)
        operand = builder.recent()
        for due in ("relinearize", "rescale"):
            candidate = self._candidate(due)
            if candidate is not None and (kind == due or choices.chance(45)):
                kind, operand = due, candidate
                break
        facts = builder.values[operand]
        match kind:
            case "add" | "sub" | "mul":
                return self._binary(kind, operand, facts)
            case "mul_plain" | "add_plain" | "sub_plain":
                return self._with_constant(kind, operand, facts)
            case "argument":
                return self._with_argument(operand, facts)
            case "rotate":
                op = Op(kind, self._fresh(), *self._unary(operand), count=builder.steps())
                return self._append(op)
            case "mod_switch":
                count = choices.of((1, 0, 2, 3))
                return self._append(Op(kind, self._fresh(), *self._unary(operand), count=count))
            case "adopt_scale":
                return self._adopt(operand, facts)
            case "linear_transform":
                # its result says nothing, so it is for functions whose types say nothing
                return self.open and self._append(
                    matrix(builder, self._fresh(), operand, self.type_of(facts))
                )
            case "sum_slots":
                count = min(choices.of((2, 3, 4, 5)), builder.slots)
                return self._append(Op(kind, self._fresh(), *self._unary(operand), count=count))
            case "rotate_dynamic":
                first, index = builder.index(list(builder.integers))
                types = (self.type_of(facts), "index")
                return self._append(*first, Op(kind, self._fresh(), (operand, index), types))
            case "nested":
                return self._nested(operand, facts)
            case _:
                return self._append(Op(kind, self._fresh(), *self._unary(operand)))

    def _append(self, *statements: Statement) -> bool:
        return self.builder.append(*statements)

    def _unary(self, operand: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        return (operand,), self.types((operand,))

    def _candidate(self, kind: str) -> str | None:
        """A ciphertext that has not been rescaled or relinearized yet, if that makes sense."""
        limit = 1.5 * self.parameters.scale_bits
        values = self.builder.values
        q = self.parameters.q
        names = [
            name
            for name in self.builder.ciphertexts()
            if (
                values[name].size == 3
                if kind == "relinearize"
                else values[name].scale.log2(q) > limit
            )
        ]
        return self.builder.choices.of(names[-3:]) if names else None

    def _partners(self, fits: Callable[[Facts], bool], plain: bool) -> list[str]:
        return [n for n, f in self.builder.values.items() if (f.size == 1) == plain and fits(f)]

    def _binary(self, kind: str, operand: str, facts: Facts) -> bool:
        choices = self.builder.choices
        if kind == "mul":
            partners = self._partners(lambda f: f.size == 2 and f.level == facts.level, False)
        else:
            partners = self._partners(lambda f: replace(f, bound=facts.bound) == facts, False)
        others = [name for name in partners if name != operand]
        other = choices.of(others) if others and choices.chance(85) else operand
        if other == operand and kind == "sub" and not choices.chance(5):
            kind = "add"
        pair = (operand, other)
        return self._append(Op(kind, self._fresh(), pair, self.types(pair)))

    def _with_constant(self, kind: str, operand: str, facts: Facts) -> bool:
        choices = self.builder.choices
        level, scale, stated = facts.level, facts.scale, not self.open
        if kind == "mul_plain":
            scale = Scale(self.parameters.scale_bits)
            if choices.chance(40):
                scale, stated = self._odd_scale(level), True
        known = [
            name
            for name in self._partners(lambda f: (f.level, f.scale) == (level, scale), True)
            if not self.open
        ]
        if known and choices.chance(40):
            pair = (operand, choices.of(known))
            return self._append(Op(kind, self._fresh(), pair, self.types(pair)))
        name = self._fresh("c")
        plain = Facts(1.0, 0, level, scale, 1)
        type_ = PLAINTEXT
        if stated:
            # where other types are open, a level here would be the result's, too
            type_ = f"!ckks.plaintext<{'' if self.open else f'level = {level}, '}scale = {scale}>"
        encode = Op("encode", name, (), (), type_, values=self.builder.constant())
        plain = replace(plain, bound=max(map(abs, encode.values)))
        self.builder.values[name] = plain
        types = (self.type_of(facts), type_)
        if self._append_encoded(encode, Op(kind, self._fresh(), (operand, name), types)):
            return True
        del self.builder.values[name]
        return False

    def _append_encoded(self, encode: Op, op: Op) -> bool:
        if not self.builder.append(op):
            return False
        # the encode stands before its user
        self.builder.statements.insert(len(self.builder.statements) - 1, encode)
        return True

    def _with_argument(self, operand: str, facts: Facts) -> bool:
        """With a plaintext argument that fits."""
        choices = self.builder.choices
        kind = choices.of(("mul_plain", "add_plain", "sub_plain"))
        fits = self._partners(
            lambda f: f.level == facts.level and (kind == "mul_plain" or f.scale == facts.scale),
            True,
        )
        fits = [name for name in fits if name in "pr"]
        if not fits:
            return False
        pair = (operand, choices.of(fits))
        return self._append(Op(kind, self._fresh(), pair, self.types(pair)))

    def _adopt(self, operand: str, facts: Facts) -> bool:
        """The scale of another value nearby, or one that differs a little."""
        choices, q = self.builder.choices, self.parameters.q
        near = [
            f.scale
            for f in self.builder.values.values()
            if f.level == facts.level and f.scale != facts.scale and _near(f.scale, facts.scale, q)
        ]
        scale = facts.scale * Scale.of(-10, {}, ODD)
        if near and choices.chance(80):
            scale = choices.of(near)
        adopted = replace(facts, scale=scale)
        drift = float(ratio(facts.scale, scale, q))
        type_ = f"!ckks.ciphertext<level = {adopted.level}, scale = {scale}>"
        if adopted.size == 3:
            type_ = type_.replace(">", ", size = 3>")
        name = self._fresh()
        op = Op(
            "adopt_scale",
            name,
            *self._unary(operand),
            type_,
            tolerance=round(1.5 * drift + 1e-6, 7),
        )
        adopted = replace(adopted, bound=facts.bound * (1 + drift))
        try:
            self.rules.check(adopted)
        except NotAllowed:
            return False
        if self.open:
            return False
        self.builder.values[name] = adopted
        self.builder.statements.append(op)
        self.builder.used[operand] = self.builder.used.get(operand, 0) + 1
        return True

    def _nested(self, operand: str, facts: Facts) -> bool:
        """Control flow in which every value has the facts of the operand."""
        choices = self.builder.choices
        visible = self._partners(lambda f: replace(f, bound=facts.bound) == facts, False)
        type_ = self.type_of(facts)
        kinds = NESTED if facts.size == 2 else ("add", "sub", "negate")

        def simple(names: Sequence[str], indices: Sequence[str]) -> tuple[list[Statement], str]:
            kind, name, one = choices.of(kinds), self._fresh(), choices.of(names)
            match kind:
                case "add" | "sub":
                    op = Op(kind, name, (one, choices.of(names)), (type_, type_))
                case "rotate":
                    op = Op(kind, name, (one,), (type_,), count=self.builder.steps())
                case "sum_slots":
                    op = Op(kind, name, (one,), (type_,), count=choices.integer(2, 4))
                case "rotate_dynamic":
                    first, index = self.builder.index(indices)
                    return [*first, Op(kind, name, (one, index), (type_, "index"))], name
                case _:
                    op = Op(kind, name, (one,), (type_,))
            return [op], name

        made, _ = self.builder.nested(visible[-3:], list(self.builder.integers), 1, simple, type_)
        return self._append(*made)


MANAGING = ("relinearize", "rescale", "mod_switch", "adopt_scale")


def _near(left: Scale, right: Scale, q: tuple[int, ...]) -> bool:
    return abs((left * right.inverse()).log2(q)) < 0.5
