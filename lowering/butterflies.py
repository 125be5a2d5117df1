"""Butterflies of a transform on the words of an arithmetic, with the bounds that they keep.

A bound is in units of q: of an unsigned word w < bound * q, of a word of `fp64` |w| <= bound * q, of one of `smont32`
-bound * q <= w < bound * q.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from math import ceil

from xdsl.ir import SSAValue

from fhelium_ir.analysis import float_bounds, signed_bounds
from fhelium_ir.dialects import zq
from fhelium_ir.lowering.region_kernels import NodeEmitter

Values = list[SSAValue]
Bounds = list[Fraction]


class Butterflies(ABC):
    """Operations on two of the values in place, with their bounds."""

    def __init__(self, emitter: NodeEmitter):
        self.emitter = emitter

    @abstractmethod
    def operand_bound(self, below: int) -> Fraction:
        """The bound of words that a type says are `below`."""

    @abstractmethod
    def stored_bound(self, stages: int) -> Fraction:
        """The bound of words between two kernels of a transform, `stages` of whose stages are done."""

    @abstractmethod
    def twiddle(self, x: SSAValue, y: SSAValue) -> SSAValue:
        """The product of two twiddle factors, as a factor of the other methods."""

    @abstractmethod
    def forward(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        """Cooley-Tukey: (u, v) -> (u + w v, u - w v)."""

    @abstractmethod
    def inverse(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        """Gentleman-Sande: (u, v) -> (u + v, w (u - v))."""

    @abstractmethod
    def last_inverse(
        self, values: Values, bounds: Bounds, i: int, j: int, scale: SSAValue, twiddle: SSAValue
    ) -> None:
        """(u, v) -> (s (u + v), t (u - v)), with the factor N^-1 in s and t."""

    @abstractmethod
    def before_exchange(self, values: Values, bounds: Bounds, forward: bool) -> None:
        """Makes all bounds equal: after an exchange a register may hold any of the values."""

    @abstractmethod
    def before_store(self, values: Values, bounds: Bounds) -> None:
        """Brings the values to the bound of words between two kernels."""

    @abstractmethod
    def finish(self, values: Values, bounds: Bounds, below: int) -> None:
        """Brings the values to what the contract says of the result."""

    @abstractmethod
    def products_fit(self, terms: int, below: int, bound: Fraction) -> bool:
        """Whether so many products with reduced words add up in a word without reductions on the way.

        Args:
            below: the bound, in its type, of one of the words that are multiplied.
            bound: that of the others.
        """


class LazyButterflies(Butterflies):
    """On unsigned words: sums are reduced only where they could leave the word (after Harvey, 2014).

    A product with a reduced twiddle is below 2q for any word, so that only sums grow. One conditional subtraction
    halves a bound.
    """

    def __init__(self, emitter: NodeEmitter):
        super().__init__(emitter)
        self.capacity = emitter.graph.capacity
        transform = emitter.graph.transform
        self.is_forward = transform is None or transform.direction == "forward"

    def operand_bound(self, below: int) -> Fraction:
        return Fraction(below)

    def stored_bound(self, stages: int) -> Fraction:
        # Sums of the inverse double, so they start small; those of the forward transform may fill the word.
        del stages
        return Fraction(self.capacity if self.is_forward else 2)

    def twiddle(self, x: SSAValue, y: SSAValue) -> SSAValue:
        return self.emitter.reduce(self.emitter.product(x, y), 2, 1)

    def _reduce(self, values: Values, bounds: Bounds, i: int, to: int) -> None:
        values[i] = self.emitter.reduce(values[i], int(bounds[i]), to)
        bounds[i] = min(bounds[i], Fraction(to))

    def _halve(self, values: Values, bounds: Bounds, i: int) -> None:
        self._reduce(values, bounds, i, (int(bounds[i]) + 1) // 2)

    def forward(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        emitter = self.emitter
        product = emitter.product(values[j], twiddle)
        if bounds[i] + 2 > self.capacity:
            self._halve(values, bounds, i)
        u = values[i]
        values[i] = emitter.build.emit(zq.AddOp(u, product, emitter.modulus))
        values[j] = emitter.build.emit(zq.SubOp(u, product, emitter.modulus, 2))
        bounds[i] = bounds[j] = bounds[i] + 2

    def _sum_and_difference(
        self, values: Values, bounds: Bounds, i: int, j: int
    ) -> tuple[SSAValue, SSAValue]:
        emitter = self.emitter
        while bounds[i] + bounds[j] > self.capacity:
            self._halve(values, bounds, i if bounds[i] >= bounds[j] else j)
        u, v = values[i], values[j]
        total = emitter.build.emit(zq.AddOp(u, v, emitter.modulus))
        difference = emitter.build.emit(zq.SubOp(u, v, emitter.modulus, int(bounds[j])))
        bounds[i] += bounds[j]
        return total, difference

    def inverse(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        values[i], difference = self._sum_and_difference(values, bounds, i, j)
        values[j], bounds[j] = self.emitter.product(difference, twiddle), Fraction(2)

    def last_inverse(
        self, values: Values, bounds: Bounds, i: int, j: int, scale: SSAValue, twiddle: SSAValue
    ) -> None:
        total, difference = self._sum_and_difference(values, bounds, i, j)
        values[i] = self.emitter.product(total, scale)
        values[j] = self.emitter.product(difference, twiddle)
        bounds[i] = bounds[j] = Fraction(2)

    def before_exchange(self, values: Values, bounds: Bounds, forward: bool) -> None:
        if not forward:
            self.before_store(values, bounds)
        bounds[:] = [max(bounds)] * len(bounds)

    def before_store(self, values: Values, bounds: Bounds) -> None:
        for index in range(len(bounds)):
            self._reduce(values, bounds, index, int(self.stored_bound(0)))

    def finish(self, values: Values, bounds: Bounds, below: int) -> None:
        for index in range(len(bounds)):
            self._reduce(values, bounds, index, below)

    def products_fit(self, terms: int, below: int, bound: Fraction) -> bool:
        del terms, below, bound
        return False


class CentredButterflies(Butterflies):
    """On words with a sign, whose intervals have 0 in their middle."""

    @abstractmethod
    def _product(self, x: SSAValue, bound: Fraction, y: SSAValue) -> tuple[SSAValue, Fraction]:
        """The product of a word with this bound and a factor, and its bound."""

    def operand_bound(self, below: int) -> Fraction:
        return Fraction(below, 2)

    def last_inverse(
        self, values: Values, bounds: Bounds, i: int, j: int, scale: SSAValue, twiddle: SSAValue
    ) -> None:
        self.inverse(values, bounds, i, j, twiddle)
        values[i], bounds[i] = self._product(values[i], bounds[i], scale)

    def before_exchange(self, values: Values, bounds: Bounds, forward: bool) -> None:
        if not forward:
            self.before_store(values, bounds)
        bounds[:] = [max(bounds)] * len(bounds)


class FloatButterflies(CentredButterflies):
    """On words of `fp64`: sums are reduced only where the next product or sum could leave 2^52.

    A reduction makes a word centred, with bound 1/2, in three instructions.
    """

    SPREAD = float_bounds.PRODUCT
    """Sums beyond what products can be are reduced between kernels: the first ones wait for memory, where the last ones
    compute. In the inverse also in front of an exchange: one of them would make all bounds double in every stage."""

    def __init__(self, emitter: NodeEmitter):
        super().__init__(emitter)
        self.largest = emitter.graph.largest_prime
        self.limit = float_bounds.limit(self.largest)
        # Bounds of factors that are products themselves; all others are centred.
        self._factors: dict[SSAValue, Fraction] = {}

    def twiddle(self, x: SSAValue, y: SSAValue) -> SSAValue:
        found, bound = self._product(x, self._factor(x), y)
        self._factors[found] = bound
        return found

    def _factor(self, y: SSAValue) -> Fraction:
        return self._factors.get(y, float_bounds.CENTRED)

    def _limit_for(self, y: SSAValue) -> Fraction:
        """The largest bound of what is multiplied by y: their quotient stays where a centred factor's does."""
        return self.limit * float_bounds.CENTRED / self._factor(y)

    def stored_bound(self, stages: int) -> Fraction:
        del stages
        return self.SPREAD

    def _reduce(self, values: Values, bounds: Bounds, i: int) -> None:
        values[i] = self.emitter.reduce(values[i], ceil(2 * bounds[i]), 1)
        bounds[i] = float_bounds.CENTRED

    def _fit_sum(self, values: Values, bounds: Bounds, i: int, j: int, limit: Fraction) -> None:
        """Reduces the wider of two values, then the other one, while their sum leaves the limit."""
        while bounds[i] + bounds[j] > limit:
            self._reduce(values, bounds, i if bounds[i] >= bounds[j] else j)

    def _product(self, x: SSAValue, bound: Fraction, y: SSAValue) -> tuple[SSAValue, Fraction]:
        return self.emitter.product(x, y), float_bounds.product(
            bound, self.largest, self._factor(y)
        )

    def forward(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        emitter = self.emitter
        if bounds[j] > self._limit_for(twiddle):
            self._reduce(values, bounds, j)
        product, bound = self._product(values[j], bounds[j], twiddle)
        if bounds[i] + bound > self.limit:
            self._reduce(values, bounds, i)
        u = values[i]
        values[i] = emitter.build.emit(zq.AddOp(u, product, emitter.modulus))
        values[j] = emitter.build.emit(zq.SubOp(u, product, emitter.modulus, 0))
        bounds[i] = bounds[j] = bounds[i] + bound

    def inverse(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        build = self.emitter.build
        self._fit_sum(values, bounds, i, j, self._limit_for(twiddle))
        u, v, bound = values[i], values[j], bounds[i] + bounds[j]
        values[i] = build.emit(zq.AddOp(u, v, self.emitter.modulus))
        difference = build.emit(zq.SubOp(u, v, self.emitter.modulus, 0))
        values[j], bounds[j] = self._product(difference, bound, twiddle)
        bounds[i] = bound

    def before_store(self, values: Values, bounds: Bounds) -> None:
        for index, bound in enumerate(bounds):
            if bound > self.SPREAD:
                self._reduce(values, bounds, index)

    def finish(self, values: Values, bounds: Bounds, below: int) -> None:
        for index, bound in enumerate(bounds):
            if 2 * bound > below:
                self._reduce(values, bounds, index)

    def products_fit(self, terms: int, below: int, bound: Fraction) -> bool:
        widest = max(bound, self.operand_bound(below))
        return float_bounds.terms_fit(terms, widest, self.largest)


class SignedButterflies(CentredButterflies):
    """On words of `smont32`: words are moved towards 0 only where the next sum could leave the word.

    A product with a centred twiddle is below q for any word, and closer to q/2 the narrower that is.
    """

    SPREAD = Fraction(3, 2)
    """Inverse: the bound of words in front of an exchange, and between kernels; a sum of two products is within it."""

    def __init__(self, emitter: NodeEmitter):
        super().__init__(emitter)
        self.largest = emitter.graph.largest_prime
        self.limit = signed_bounds.limit(self.largest)
        self.transform = emitter.graph.anchored

    def stored_bound(self, stages: int) -> Fraction:
        transform = self.transform
        if transform is None or transform.direction == "inverse":
            return self.SPREAD
        start = self.operand_bound(transform.contract.input_below)
        return signed_bounds.after_stages(start, stages, self.largest)

    def twiddle(self, x: SSAValue, y: SSAValue) -> SSAValue:
        return self.emitter.reduce(self.emitter.product(x, y), 2, 1)

    def _halve(self, values: Values, bounds: Bounds, i: int) -> None:
        below = ceil(2 * bounds[i])
        if below > 2:
            values[i] = self.emitter.reduce(values[i], below, zq.towards_zero(below)[1])
            bounds[i] = signed_bounds.halved(bounds[i])

    def _product(self, x: SSAValue, bound: Fraction, y: SSAValue) -> tuple[SSAValue, Fraction]:
        return self.emitter.product(x, y), signed_bounds.product(bound, self.largest)

    def forward(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        build, modulus = self.emitter.build, self.emitter.modulus
        product, bound = self._product(values[j], bounds[j], twiddle)
        moved, total = signed_bounds.forward_sum(bounds[i], bound, self.limit)
        if moved:
            self._halve(values, bounds, i)
        u = values[i]
        values[i] = build.emit(zq.AddOp(u, product, modulus))
        values[j] = build.emit(zq.SubOp(u, product, modulus, 0))
        bounds[i] = bounds[j] = total

    def inverse(self, values: Values, bounds: Bounds, i: int, j: int, twiddle: SSAValue) -> None:
        build, modulus = self.emitter.build, self.emitter.modulus
        while bounds[i] + bounds[j] > self.limit:
            self._halve(values, bounds, i if bounds[i] >= bounds[j] else j)
        u, v, bound = values[i], values[j], bounds[i] + bounds[j]
        values[i] = build.emit(zq.AddOp(u, v, modulus))
        difference = build.emit(zq.SubOp(u, v, modulus, 0))
        values[j], bounds[j] = self._product(difference, bound, twiddle)
        bounds[i] = bound

    def before_store(self, values: Values, bounds: Bounds) -> None:
        if self.transform is not None and self.transform.direction == "forward":
            # What the next kernel expects is what these stages leave.
            return
        for index in range(len(bounds)):
            while bounds[index] > self.SPREAD:
                self._halve(values, bounds, index)

    def finish(self, values: Values, bounds: Bounds, below: int) -> None:
        for index in range(len(bounds)):
            if 2 * bounds[index] > below:
                from_ = ceil(2 * bounds[index])
                values[index] = self.emitter.reduce(values[index], from_, below)
                bounds[index] = self.operand_bound(below)

    def products_fit(self, terms: int, below: int, bound: Fraction) -> bool:
        widest = max(bound, self.operand_bound(below))
        return signed_bounds.terms_fit(terms, widest, self.largest)


def butterflies_for(emitter: NodeEmitter) -> Butterflies:
    """The butterflies of a region's arithmetic."""
    if emitter.floating:
        return FloatButterflies(emitter)
    return SignedButterflies(emitter) if emitter.signed else LazyButterflies(emitter)
