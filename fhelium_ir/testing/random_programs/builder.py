"""What makes of choices the statements of one function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fhelium_ir.testing.random_programs.choices import Choices
from fhelium_ir.testing.random_programs.facts import Facts, NotAllowed
from fhelium_ir.testing.random_programs.statements import (
    ARITHMETIC,
    PREDICATES,
    Branch,
    Call,
    Function,
    Loop,
    Number,
    Op,
    Statement,
    run,
)

CIPHERTEXT = "!ckks.ciphertext"
PLAINTEXT = "!ckks.plaintext"

STEPS = (1, -1, 2, 3, 5, -2)


@dataclass
class Names:
    """Fresh names of SSA values."""

    used: int = 0

    def fresh(self, prefix: str = "v") -> str:
        self.used += 1
        return f"{prefix}{self.used}"


@dataclass
class Builder:
    """A function that grows statement by statement; each is tried on the facts first.

    Attributes:
        values, integers: facts of the values of the function's own block, and its indices.
        functions: private functions that can be called.
    """

    choices: Choices
    slots: int
    rule: Callable[..., Facts]
    names: Names = field(default_factory=Names)
    values: dict[str, Facts] = field(default_factory=dict[str, Facts])
    integers: dict[str, int] = field(default_factory=dict[str, int])
    statements: list[Statement] = field(default_factory=list[Statement])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    used: dict[str, int] = field(default_factory=dict[str, int])

    def append(self, *statements: Statement) -> bool:
        """Appends statements if they are allowed."""
        values, integers = dict(self.values), dict(self.integers)
        try:
            run(statements, values, integers, self.rule, self.functions)
        except NotAllowed:
            return False
        own = [s.result for s in statements]
        self.values.update({name: values[name] for name in own if name in values})
        self.integers.update({name: integers[name] for name in own if name in integers})
        self.statements += statements
        for name in operands_of(statements):
            self.used[name] = self.used.get(name, 0) + 1
        return True

    def ciphertexts(self) -> list[str]:
        return [name for name, facts in self.values.items() if facts.size > 1]

    def recent(self) -> str:
        """A ciphertext, a late one rather than an early one."""
        names = self.ciphertexts()
        return self.choices.of(names[-3:] if self.choices.chance(75) else names)

    def unused(self) -> list[str]:
        """Ciphertexts computed here that nothing reads."""
        computed = {name for statement in self.statements for name in (statement.result,)}
        return [name for name in self.ciphertexts() if name in computed and not self.used.get(name)]

    def constant(self, limit: float = 1.0) -> tuple[float, ...]:
        """The numbers of a constant vector."""
        lengths = [n for n in (1, 2, 4, 8, self.slots) if self.slots % n == 0 and n <= 64]
        values = tuple(self.choices.number(limit) for _ in range(self.choices.of(lengths)))
        return values if any(values) or self.choices.chance(10) else (0.5,)

    def steps(self) -> int:
        """Steps of a rotation: small ones mostly, of any sign, now and then a multiple of the slot count."""
        kind = self.choices.integer(0, 9)
        if kind < 7:
            return self.choices.of(STEPS)
        if kind == 7:
            return self.choices.integer(-2 * self.slots, 2 * self.slots)
        return self.choices.of((0, self.slots, self.slots // 2, -self.slots, 1 - self.slots))

    # Numbers: indices that unroll-loops computes.

    def number(self, value: int) -> Number:
        return Number("constant", self.names.fresh("k"), (), value)

    def index(self, indices: Sequence[str]) -> tuple[list[Statement], str]:
        """Statements that compute an index, and its name."""
        if indices and self.choices.chance(50):
            return [], self.choices.of(indices)
        constant = self.number(self.steps())
        if not indices:
            return [constant], constant.result
        kind = self.choices.of(tuple(ARITHMETIC))
        result = Number(kind, self.names.fresh("k"), (self.choices.of(indices), constant.result))
        return [constant, result], result.result

    # Control flow: bodies are written without facts and tried as a whole.

    def body(
        self,
        visible: Sequence[str],
        indices: Sequence[str],
        depth: int,
        simple: Callable[[Sequence[str], Sequence[str]], tuple[list[Statement], str]],
        type_: str,
    ) -> tuple[tuple[Statement, ...], str]:
        """Statements of a nested block and the ciphertext that it yields.

        Args:
            visible: ciphertexts of one type that it may use.
            simple: one op, from ciphertexts and indices; returns its statements and result.
        """
        statements, names = list[Statement](), list(visible)
        for _ in range(self.choices.integer(1, 3)):
            if depth > 0 and self.choices.chance(25):
                made, name = self.nested(names, indices, depth - 1, simple, type_)
            else:
                made, name = simple(names[-3:], indices)
            statements += made
            names.append(name)
        return tuple(statements), names[-1]

    def nested(
        self,
        visible: Sequence[str],
        indices: Sequence[str],
        depth: int,
        simple: Callable[[Sequence[str], Sequence[str]], tuple[list[Statement], str]],
        type_: str,
    ) -> tuple[list[Statement], str]:
        """A loop, a branch or a selection, with its indices; returns statements and result."""
        kind = self.choices.weighted({"loop": 5, "branch": 3, "select": 2})
        if kind == "loop":
            return self._loop(visible, indices, depth, simple, type_)
        first, left = self.index(indices)
        second, right = self.index(indices)
        predicate = self.choices.of(tuple(PREDICATES))
        result = self.names.fresh()
        if kind == "select":
            one, other = self.choices.of(visible), self.choices.of(visible)
            pair = ((), one), ((), other)
            branch = Branch(result, predicate, (left, right), *pair, type_, True)
        else:
            then = self.body(visible, indices, depth, simple, type_)
            otherwise = self.body(visible, indices, depth, simple, type_)
            branch = Branch(result, predicate, (left, right), then, otherwise, type_)
        return [*first, *second, branch], result

    def _loop(
        self,
        visible: Sequence[str],
        indices: Sequence[str],
        depth: int,
        simple: Callable[[Sequence[str], Sequence[str]], tuple[list[Statement], str]],
        type_: str,
    ) -> tuple[list[Statement], str]:
        low, step = self.choices.integer(-1, 2), self.choices.integer(1, 2)
        trips = self.choices.of((2, 1, 3, 4, 0))
        bounds = [self.number(n) for n in (low, low + trips * step - (step - 1), step)]
        induction, carried = self.names.fresh("i"), self.names.fresh("s")
        inner = [*visible, carried, carried]
        body, value = self.body(inner, [*indices, induction], depth, simple, type_)
        start = self.choices.of(visible)
        first, second, third = (number.result for number in bounds)
        result = self.names.fresh()
        loop = Loop(result, (first, second, third), induction, carried, start, body, value, type_)
        return [*bounds, loop], result


def operands_of(statements: Sequence[Statement]) -> list[str]:
    """Names that statements and their bodies read."""
    found: list[str] = []
    for statement in statements:
        match statement:
            case Op() | Call() | Number():
                found += statement.operands
            case Loop():
                found += [statement.start, statement.value, *operands_of(statement.body)]
            case Branch():
                for body, value in (statement.then, statement.otherwise):
                    found += [value, *operands_of(body)]
            case _:
                pass
    return found


def pick_outputs(builder: Builder, arguments: Mapping[str, object]) -> list[str]:
    """Up to three ciphertexts to return: those that nothing reads first."""
    names = builder.unused()[-3:]
    if not names or builder.choices.chance(5):
        names.append(builder.ciphertexts()[-1])
    if builder.choices.chance(3):
        names.append(names[0])
    return names
