"""Plans the evaluation of a polynomial: depth-optimal Paterson-Stockmeyer, monomial and Chebyshev."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

Coefficients = Mapping[int, float]
"""By degree; zero coefficients are absent."""

PRODUCT_COST = 10
"""A product of ciphertexts, with its share of a relinearization, against one with a constant."""


class Basis(ABC):
    """A basis B_0 = 1, B_1, ... of polynomials whose products are short sums."""

    @abstractmethod
    def divide(self, polynomial: Coefficients, power: int) -> tuple[Coefficients, Coefficients]:
        """Quotient and remainder with polynomial = quotient * B_power + remainder.

        The degree is below 2 * power.
        """

    @abstractmethod
    def needs(self, index: int) -> tuple[int, ...]:
        """The elements, of index at least 1, that B_index is computed from, the two factors first."""


def largest_power(number: int) -> int:
    """The largest power of two that is not above `number`."""
    return 1 << (number.bit_length() - 1)


def element_depth(index: int) -> int:
    """Products in a row that B_index takes: ceil(log2(index))."""
    return (index - 1).bit_length()


def _factors(index: int) -> tuple[int, int]:
    """Two indices whose sum is `index`; of an odd one one is odd and small, of an even one both are even."""
    high = largest_power(index)
    return (index // 2, index // 2) if high == index else (high, index - high)


class Monomials(Basis):
    """B_k = x^k."""

    def divide(self, polynomial: Coefficients, power: int) -> tuple[Coefficients, Coefficients]:
        quotient = {degree - power: c for degree, c in polynomial.items() if degree >= power}
        return quotient, {degree: c for degree, c in polynomial.items() if degree < power}

    def needs(self, index: int) -> tuple[int, ...]:
        return _factors(index)


class Chebyshev(Basis):
    """B_k = T_k, with T_a T_b = (T_{a+b} + T_{a-b}) / 2.

    Quotients and elements grow little, unlike those of monomials (Chen, Chillotti, Song, "Improved bootstrapping for
    approximate homomorphic encryption", 2019).
    """

    def divide(self, polynomial: Coefficients, power: int) -> tuple[Coefficients, Coefficients]:
        quotient: dict[int, float] = {}
        remainder = {degree: c for degree, c in polynomial.items() if degree < power}
        for degree, c in polynomial.items():
            if degree == power:
                quotient[0] = c
            elif degree > power:
                # T_power T_i = (T_{power+i} + T_{power-i}) / 2
                quotient[degree - power] = 2 * c
                mirrored = 2 * power - degree
                remainder[mirrored] = remainder.get(mirrored, 0.0) - c
        return quotient, {degree: c for degree, c in remainder.items() if c}

    def needs(self, index: int) -> tuple[int, ...]:
        high, low = _factors(index)
        return (high, low) if high == low else (high, low, high - low)


@dataclass(frozen=True)
class Part:
    """Sum of terms c * B_i and of products B_i * part.

    Attributes:
        terms: c by index i; index 0 is the constant.
        products: pairs of index and factor.
        weight: sum of the absolute coefficients of the polynomial that this is.
    """

    terms: Coefficients
    products: tuple[tuple[int, Part], ...]
    weight: float

    @property
    def depth(self) -> int:
        """Levels from the argument to the value, once it is rescaled."""
        factors = [1 + max(element_depth(i), part.depth) for i, part in self.products]
        return max([*(_term_depth(i, c) for i, c in self.terms.items()), *factors], default=0)


def _term_depth(index: int, c: float) -> int:
    if index == 0:
        return 0
    return element_depth(index) + (abs(c) != 1)


@dataclass(frozen=True)
class PolynomialPlan:
    """How to evaluate a polynomial.

    Attributes:
        elements: indices of the B_i to compute, from 2 upwards, in order.
        root: the polynomial.
    """

    elements: tuple[int, ...]
    root: Part

    @property
    def depth(self) -> int:
        return self.root.depth

    @property
    def products(self) -> int:
        """Products of two ciphertexts."""
        return len(self.elements) + _count_products(self.root)

    @property
    def constants(self) -> int:
        """Products with a constant."""
        return _count_constants(self.root)


def _count_products(part: Part) -> int:
    return sum(1 + _count_products(factor) for _, factor in part.products)


def _count_constants(part: Part) -> int:
    own = sum(i > 0 and abs(c) != 1 for i, c in part.terms.items())
    return own + sum(_count_constants(factor) for _, factor in part.products)


def plan_polynomial(coefficients: Coefficients, basis: Basis) -> PolynomialPlan:
    """The cheapest plan of depth ceil(log2(degree + 1)), over baby steps that are powers of two.

    Paterson and Stockmeyer, "On the number of nonscalar multiplications necessary to evaluate polynomials" (1973); a
    part that would be too deep is divided further (Bossuat et al., "Efficient bootstrapping for approximate
    homomorphic encryption with non-sparse keys", 2021, section 5).

    Args:
        coefficients: finite, one of a degree of at least 1 is not zero.
    """
    polynomial = {degree: c for degree, c in coefficients.items() if c}
    depth = max(polynomial).bit_length()
    plans: list[PolynomialPlan] = []
    for log_baby in range(1, depth + 1):
        root = _Divider(basis, 1 << log_baby).part(polynomial, depth)
        plans.append(PolynomialPlan(_elements(root, basis), root))
    return min(plans, key=lambda plan: PRODUCT_COST * plan.products + plan.constants)


def _elements(root: Part, basis: Basis) -> tuple[int, ...]:
    """Indices of all elements that a plan reads, and of those that they need."""
    pending, found = [root], set[int]()
    wanted: list[int] = []
    while pending:
        part = pending.pop()
        wanted += part.terms
        for index, factor in part.products:
            wanted.append(index)
            pending.append(factor)
    while wanted:
        index = wanted.pop()
        if index > 1 and index not in found:
            found.add(index)
            wanted += basis.needs(index)
    return tuple(sorted(found))


@dataclass(frozen=True)
class _Divider:
    """Cuts polynomials into parts; what is of a degree below `baby` is a sum of terms if the depth admits it."""

    basis: Basis
    baby: int

    def part(self, polynomial: Coefficients, depth: int) -> Part:
        weight = math.fsum(abs(c) for c in polynomial.values())
        degree = max(polynomial, default=0)
        deepest = max((_term_depth(i, c) for i, c in polynomial.items()), default=0)
        if degree < self.baby and deepest <= depth:
            return Part(polynomial, (), weight)
        power = largest_power(degree)
        quotient, remainder = self.basis.divide(polynomial, power)
        rest = self.part(remainder, depth)
        if max(quotient) == 0:
            return Part({**rest.terms, power: quotient[0]}, rest.products, weight)
        factor = self.part(quotient, depth - 1)
        return Part(rest.terms, ((power, factor), *rest.products), weight)
