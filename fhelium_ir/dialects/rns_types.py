"""Types and attributes of `rns`: bases, bundles of residue polynomials with their facts, constants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects.assembly import FactType, optional, shown
from fhelium_ir.dialects.zq import (
    ARITHMETICS,
    FLOATING,
    FLOATING_WORDS,
    INTERFACE_WORD,
    INTERFACE_WORDS,
    MIXED,
    MIXED_GROUPS,
    MODULE_ARITHMETICS,
    Arithmetic,
)

ARITHMETIC = "rns.arithmetic"
"""Name of the module attribute that holds the chosen arithmetic."""

ORDERS = ("bit_reversed",)
DIGIT_KINDS = ("own", "complement", "key")


@dataclass(frozen=True)
class Limb:
    """One prime: index `index` of the chain q or of the special primes p."""

    family: str
    index: int


@lru_cache(1024)
def _limbs(q: tuple[int, int], p: tuple[int, int]) -> tuple[Limb, ...]:
    # A program has few bases, and asks thousands of times for the limbs of one.
    return (*(Limb("q", i) for i in range(*q)), *(Limb("p", i) for i in range(*p)))


@dataclass(frozen=True)
class Basis:
    """The primes q_{q[0]}..q_{q[1]-1} and p_{p[0]}..p_{p[1]-1}, in this order."""

    q: tuple[int, int] = (0, 0)
    p: tuple[int, int] = (0, 0)

    def limbs(self) -> tuple[Limb, ...]:
        return _limbs(self.q, self.p)

    def __len__(self) -> int:
        return self.q[1] - self.q[0] + self.p[1] - self.p[0]

    def contains(self, other: Basis) -> bool:
        return set(other.limbs()) <= set(self.limbs())

    def __str__(self) -> str:
        parts = [
            f"{name} {lo}:{hi}" for name, (lo, hi) in (("q", self.q), ("p", self.p)) if hi > lo
        ]
        return " ".join(parts)


@dataclass(frozen=True)
class Digits:
    """The digit axis: digits of `size` limbs of q.

    `own`: digit j holds its own limbs (a view of the plain layout). `complement`: digit j holds every limb of the basis
    but its own. `key`: every digit holds every limb; the layout is [digit, component, limb].
    """

    kind: str
    size: int

    def __str__(self) -> str:
        return f"{self.kind}({self.size})"


def _digit_count(basis: Basis, digits: Digits) -> int:
    return -(-(basis.q[1] - basis.q[0]) // digits.size)


@lru_cache(1024)
def _rows(basis: Basis, digits: Digits | None) -> tuple[tuple[int, Limb], ...]:
    """See `PolyFacts.rows`."""
    limbs = basis.limbs()
    if digits is None or digits.kind == "key":
        return tuple((0, limb) for limb in limbs)
    size, start = digits.size, basis.q[0]
    digit_of = {limb: (limb.index - start) // size if limb.family == "q" else -1 for limb in limbs}
    if digits.kind == "own":
        return tuple((digit_of[limb], limb) for limb in limbs)
    return tuple(
        (digit, limb)
        for digit in range(_digit_count(basis, digits))
        for limb in limbs
        if digit_of[limb] != digit
    )


@dataclass(frozen=True)
class PolyFacts:
    """Facts of a bundle: shape, domain and order of evaluation, and the representative.

    The stored word is x * R^exponent mod q and lies in [0, below * q), R being the arithmetic's Montgomery radix. A
    word of `fp64` is at most below * q/2 in magnitude, one of `smont32` in [-below * q/2, below * q/2): below 1 is the
    centred residue. `int64` and `int32` are the words at the interfaces of such programs, canonical integers. In a
    mixed module `exponent` and `below` are those of the rows of `mont64`, `float_below` that of the rows of `fp64`.
    """

    degree: int
    basis: Basis
    components: int = 1
    digits: Digits | None = None
    domain: str = "evaluation"
    order: str | None = None
    arithmetic: str | None = None
    exponent: int | None = None
    below: int | None = None
    float_below: int | None = None

    def of_group(self, group: str | None) -> PolyFacts:
        """The facts as the kernels of one group of a mixed module see them; None leaves them as they are."""
        if group is None or self.arithmetic not in (MIXED, INTERFACE_WORD):
            return self
        if group != FLOATING:
            return replace(self, arithmetic=group, float_below=None)
        if self.arithmetic == INTERFACE_WORD:
            return self
        return replace(self, arithmetic=group, exponent=0, below=self.float_below, float_below=None)

    def unbounded(self) -> PolyFacts:
        """The same facts with all intervals absent."""
        return replace(self, below=None, float_below=None)

    def rows(self) -> tuple[tuple[int, Limb], ...]:
        """(digit, limb) of every row of one component, in memory order; the digit is 0 where there is no digit axis.

        Key bundles order their rows [digit, component, limb] and list the limbs of one digit and component.
        """
        return _rows(self.basis, self.digits)

    def digit_count(self) -> int:
        """Length of the digit axis, 1 where there is none."""
        return 1 if self.digits is None else _digit_count(self.basis, self.digits)

    def shape(self) -> tuple[int, ...]:
        """Shape in memory: [components, rows, N], or [digits, components, limbs, N] for a key."""
        rows = len(self.rows())
        if self.digits is not None and self.digits.kind == "key":
            return (self.digit_count(), self.components, rows, self.degree)
        return (self.components, rows, self.degree)

    def unrepresented(self) -> PolyFacts:
        """The same facts with the representative absent."""
        return replace(self, arithmetic=None, exponent=None, below=None, float_below=None)


def sum_below(left: int | None, right: int | None) -> int | None:
    """The interval of a sum; None if that of an addend is open."""
    return None if left is None or right is None else left + right


def widest(bounds: Sequence[int | None]) -> int | None:
    """The widest of some intervals; None if one of them is open."""
    known = [bound for bound in bounds if bound is not None]
    return max(known) if len(known) == len(bounds) else None


@irdl_attr_definition
class PolyType(FactType[PolyFacts]):
    """A bundle of residue polynomials.

    `!rns.poly<8192, q 0:2 p 0:1, components = 2, digits = own(1), evaluation(bit_reversed), mont64(e = 0, below = 1)>`

    One component, no digit axis and an undecided representative are left out. In a mixed module there is one for each
    group of primes: `mont64(e = 1, below = 2) fp64(e = 0, below = 8)`.
    """

    name = "rns.poly"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> PolyFacts:
        with parser.in_angle_brackets():
            start = parser.pos
            degree = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(",")
            facts = PolyFacts(degree, parse_basis(parser))
            parser.parse_punctuation(",")
            if parser.parse_optional_keyword("components") is not None:
                parser.parse_punctuation("=")
                facts = replace(facts, components=parser.parse_integer(allow_boolean=False))
                parser.parse_punctuation(",")
            if parser.parse_optional_keyword("digits") is not None:
                parser.parse_punctuation("=")
                kind = parser.parse_keyword_in(DIGIT_KINDS)
                with parser.in_parens():
                    size = parser.parse_integer(allow_boolean=False)
                facts = replace(facts, digits=Digits(kind, size))
                parser.parse_punctuation(",")
            facts = replace(facts, domain=parser.parse_keyword_in(("evaluation", "coefficient")))
            if facts.domain == "evaluation":
                with parser.in_parens():
                    order = optional(parser, lambda: parser.parse_keyword_in(ORDERS))
                facts = replace(facts, order=order)
            if parser.parse_optional_punctuation(",") is not None:
                facts = _parse_representative(parser, facts)
            try:
                _check_facts(facts)
            except VerifyException as error:
                parser.raise_error(str(error), start, parser.pos)
        return facts

    def print_parameter(self, printer: Printer) -> None:
        data = self.data
        parts = [str(data.degree), str(data.basis)]
        if data.components != 1:
            parts.append(f"components = {data.components}")
        if data.digits is not None:
            parts.append(f"digits = {data.digits}")
        domain = data.domain
        parts.append(f"{domain}({shown(data.order)})" if domain == "evaluation" else domain)
        if data.arithmetic is not None:
            groups = [group.name for group in MIXED_GROUPS] if data.arithmetic == MIXED else [None]
            parts.append(" ".join(_representative(data.of_group(group)) for group in groups))
        printer.print_string(f"<{', '.join(parts)}>")

    def verify(self) -> None:
        _check_facts(self.data)


def poly_facts(op: str, type_: Attribute) -> PolyFacts:
    """Facts of an operand type.

    Raises:
        VerifyException: the type is no `!rns.poly`.
    """
    if not isinstance(type_, PolyType):
        raise VerifyException(f"{op}: the operand must be a !rns.poly, found {type_}")
    return type_.data


def word_facts(op: str, type_: Attribute) -> PolyFacts:
    """Facts of an operand that is computed with.

    Raises:
        VerifyException: the type is no `!rns.poly`, or stored as the canonical integers of an interface.
    """
    facts = poly_facts(op, type_)
    if facts.arithmetic in INTERFACE_WORDS:
        raise VerifyException(
            f"{op}: words of {facts.arithmetic} are only converted, by rns.set_representative"
        )
    return facts


def parse_basis(parser: AttrParser) -> Basis:
    """Parses `q 0:2 p 0:1`; either part may be missing, not both."""
    ranges = {"q": (0, 0), "p": (0, 0)}
    found = False
    for family in ("q", "p"):
        if parser.parse_optional_keyword(family) is not None:
            low = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_punctuation(":")
            high = parser.parse_integer(allow_boolean=False, allow_negative=False)
            if not low < high < 4096:
                parser.raise_error("a range of primes is not empty")
            ranges[family], found = (low, high), True
    if not found:
        parser.raise_error("expected a basis such as `q 0:2 p 0:1`")
    return Basis(ranges["q"], ranges["p"])


def _representative(facts: PolyFacts) -> str:
    return f"{facts.arithmetic}(e = {shown(facts.exponent)}, below = {shown(facts.below)})"


def _parse_representative(parser: AttrParser, facts: PolyFacts) -> PolyFacts:
    arithmetic = parser.parse_keyword_in((*ARITHMETICS, *INTERFACE_WORDS))
    exponent, below = _parse_interval(parser)
    if arithmetic == MIXED_GROUPS[0].name and parser.parse_optional_keyword(FLOATING) is not None:
        position = parser.pos
        other, float_below = _parse_interval(parser)
        if other not in (None, 0):
            parser.raise_error(f"words of {FLOATING} have exponent 0", position, parser.pos)
        facts = replace(facts, float_below=float_below)
        arithmetic = MIXED
    return replace(facts, arithmetic=arithmetic, exponent=exponent, below=below)


def _parse_interval(parser: AttrParser) -> tuple[int | None, int | None]:
    with parser.in_parens():
        parser.parse_keyword("e")
        parser.parse_punctuation("=")
        exponent = optional(parser, lambda: parser.parse_integer(allow_boolean=False))
        parser.parse_punctuation(",")
        parser.parse_keyword("below")
        parser.parse_punctuation("=")
        below = optional(parser, lambda: parser.parse_integer(allow_boolean=False))
    return exponent, below


MAX_COMPONENTS = 64
"""Ciphertexts have at most three; a bundle may hold polynomials of several."""


_WITHOUT_EXPONENT = (*FLOATING_WORDS, *INTERFACE_WORDS)


def _check_facts(facts: PolyFacts) -> None:
    degree = facts.degree
    if degree < 8 or degree > 1 << 17 or degree & (degree - 1):
        raise VerifyException(f"rns.poly: ring degree {degree} is not a power of two from 8")
    if not 1 <= facts.components <= MAX_COMPONENTS:
        raise VerifyException(f"rns.poly: a bundle has 1 to {MAX_COMPONENTS} components")
    if facts.digits is not None and facts.digits.size < 1:
        raise VerifyException("rns.poly: a digit has at least one limb")
    if facts.digits is not None and facts.digits.kind != "key" and facts.components != 1:
        raise VerifyException("rns.poly: only keys have digits and several components")
    if facts.digits is not None and facts.digits.kind == "own" and facts.basis.p[1]:
        raise VerifyException("rns.poly: digits are made of limbs of q")
    if any(bound is not None and bound < 1 for bound in (facts.below, facts.float_below)):
        raise VerifyException("rns.poly: `below` is at least 1")
    if facts.arithmetic in _WITHOUT_EXPONENT and facts.exponent not in (None, 0):
        raise VerifyException(f"rns.poly: words of {facts.arithmetic} have exponent 0")
    if facts.arithmetic in INTERFACE_WORDS and facts.below not in (None, 1):
        raise VerifyException(f"rns.poly: words of {facts.arithmetic} are canonical, below 1")


@irdl_attr_definition
class ArithmeticAttr(Data[str]):
    """The arithmetic of a module's kernels: `#rns.arithmetic<mont64>`, or `mixed64` for two groups of primes."""

    name = "rns.arithmetic"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        with parser.in_angle_brackets():
            return parser.parse_keyword_in(tuple(MODULE_ARITHMETICS))

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")

    @property
    def arithmetic(self) -> Arithmetic:
        return MODULE_ARITHMETICS[self.data]

    @property
    def groups(self) -> tuple[str | None, ...]:
        """The names of the groups of primes of a mixed module, else a single None."""
        return tuple(group.name for group in MIXED_GROUPS) if self.data == MIXED else (None,)


@dataclass(frozen=True)
class Constant:
    """One number per limb.

    `punctured_inverse`: (D / q_i)^-1 mod q_i, D the product of the row's digit, or of the whole basis without digits.
    `inverse`: the inverse of the product of `basis` modulo the row's prime; `product`: that product itself.
    """

    kind: str
    basis: Basis | None = None


@irdl_attr_definition
class ConstantAttr(Data[Constant]):
    """`#rns.constant<punctured_inverse>`, `#rns.constant<inverse p 0:1>` or `#rns.constant<product p 0:1>`."""

    name = "rns.constant"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Constant:
        with parser.in_angle_brackets():
            kind = parser.parse_keyword_in(("punctured_inverse", "inverse", "product"))
            return Constant(kind, None if kind == "punctured_inverse" else parse_basis(parser))

    def print_parameter(self, printer: Printer) -> None:
        basis = f" {self.data.basis}" if self.data.basis is not None else ""
        printer.print_string(f"<{self.data.kind}{basis}>")
