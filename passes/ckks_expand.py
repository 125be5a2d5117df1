"""`ckks-expand`: structured ops become sums, products and rotations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from fhelium_ir.analysis.ranges import RANGE, value_ranges
from fhelium_ir.analysis.structured import matrix_diagonals
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import ckks
from fhelium_ir.passes.automatic_levels import MANAGEMENT_OPS
from fhelium_ir.passes.diagonal_plan import cheapest_plan, plan_with
from fhelium_ir.passes.polynomial_plan import (
    Basis,
    Chebyshev,
    Monomials,
    Part,
    PolynomialPlan,
    plan_polynomial,
)

PASS = "ckks-expand"

OPEN = ckks.CiphertextType(ckks.OPEN)


@dataclass(frozen=True)
class CkksExpand(ModulePass):
    """Expands linear_transform, polynomial and sum_slots; levels and scales are left open.

    - `ckks.linear_transform`: a sum of diagonals times rotated operands, zero diagonals left out, with baby steps and
      giant steps: one level.
    - `ckks.polynomial`: Paterson-Stockmeyer in ceil(log2(degree + 1)) levels, in the basis of the coefficients; a
      domain other than [-1, 1] takes one level more.
    - `ckks.sum_slots`: rotations by 1, 2, 4, ... and additions; no level.

    Options:
        bsgs: the baby step of linear transforms: `auto` takes the cheapest, `none` rotates the operand only, a number
            is the baby step.
    """

    name = PASS
    bsgs: Literal["auto", "none"] | int = "auto"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if isinstance(self.bsgs, int) and self.bsgs < 1:
            raise FheliumError(f"{PASS}: bsgs must be auto, none or a number of at least 1")
        attribute = op.attributes.get(ckks.PARAMS)
        # Parameters may be chosen later: then the sizes are checked when constants are encoded.
        slots = attribute.data.slots if isinstance(attribute, ckks.ParamsAttr) else None
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not function.is_declaration:
                found = [inner for inner in function.walk() if isinstance(inner, ckks.StructuredOp)]
                if found:
                    _check_management(function)
                    _warn_of_domains(function)
                    expansion = _Expansion(self.bsgs, slots)
                    for inner in found:
                        expansion.expand(inner)
        # An expansion may be a value of another type: signatures follow.
        commit_types(op, {})


def _check_management(function: func.FuncOp) -> None:
    """A polynomial has products of products, whose levels only the compiler can manage.

    Raises:
        FheliumError: a function with a polynomial has management ops.
    """
    managing = next((op for op in function.walk() if isinstance(op, MANAGEMENT_OPS)), None)
    for op in function.walk():
        if managing is not None and isinstance(op, ckks.PolynomialOp):
            raise FheliumError(
                f"{op.name}: levels and scales of this function must be left to the compiler, but "
                f"@{function.sym_name.data} has a {managing.name}",
                location_of(op),
            )


def _warn_of_domains(function: func.FuncOp) -> None:
    """A warning for each operand that may leave the domain of its polynomial."""
    polynomials = [op for op in function.walk() if isinstance(op, ckks.PolynomialOp)]
    if not any(op.basis_name == "chebyshev" for op in polynomials):
        return
    ranges = value_ranges(function)
    for op in polynomials:
        bound = ranges.get(op.operand, 0.0)
        low, high = op.interval
        if op.basis_name == "chebyshev" and bound > min(-low, high):
            text = (
                f"the operand may reach {bound:g} or {-bound:g}, its domain is [{low:g}, {high:g}]"
            )
            remark(PASS, op, "warning", text)


@dataclass
class _Expansion:
    """Expands the ops of one function; rotations of one value by equal steps are shared."""

    bsgs: Literal["auto", "none"] | int
    slots: int | None
    rotated: dict[tuple[SSAValue, int, object], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int, object], SSAValue]
    )

    def expand(self, op: ckks.StructuredOp) -> None:
        writer = _Writer(op, self)
        match op:
            case ckks.LinearTransformOp():
                value = self._linear_transform(op, writer)
            case ckks.PolynomialOp():
                value = _polynomial(op, writer)
            case ckks.SumSlotsOp():
                value = self._sum_slots(op, writer)
            case _:
                raise FheliumError(f"{PASS}: no rule for '{op.name}'", location_of(op))
        writer.finish(value)

    def _linear_transform(self, op: ckks.LinearTransformOp, writer: _Writer) -> SSAValue:
        size, diagonals = op.size, matrix_diagonals(op)
        if self.slots is not None and self.slots % size:
            raise FheliumError(
                f"{op.name}: {size} columns do not divide the {self.slots} slots", location_of(op)
            )
        if not diagonals:
            return writer.times(op.operand, (0.0,))
        match self.bsgs:
            case "auto":
                plan = cheapest_plan(size, diagonals)
            case "none":
                plan = plan_with(size, diagonals)
            case int():
                plan = plan_with(self.bsgs, diagonals)
        text = (
            f"{len(diagonals)} of {size} diagonals with baby step {plan.step}: "
            f"{len(plan.babies)} rotations of the operand, {len(plan.giants)} of sums"
        )
        remark(PASS, op, "applied", text)
        total: SSAValue | None = None
        for giant in (0, *plan.giants):
            inner: SSAValue | None = None
            for d, diagonal in diagonals.items():
                if d - d % plan.step == giant:
                    # Rotated back, because the sum is rotated as a whole.
                    turned = tuple(diagonal[(j - giant) % size] for j in range(size))
                    baby = writer.rotate(op.operand, d - giant)
                    inner = writer.plus(inner, writer.times(baby, turned))
            if inner is not None:
                total = writer.plus(total, writer.rotate(inner, giant))
        assert total is not None
        return total

    def _sum_slots(self, op: ckks.SumSlotsOp, writer: _Writer) -> SSAValue:
        """From S_m, the sum of m slots: S_2m = S_m + rotate(S_m, m), S_(m+1) = S_m + rotate(x, m)."""
        if self.slots is not None and op.number > self.slots:
            raise FheliumError(
                f"{op.name}: count {op.number} is more than the {self.slots} slots", location_of(op)
            )
        value, summed = op.operand, 1
        for bit in bin(op.number)[3:]:
            value = writer.plus(value, writer.rotate(value, summed))
            summed *= 2
            if bit == "1":
                value = writer.plus(value, writer.rotate(op.operand, summed))
                summed += 1
        return value


def _polynomial(op: ckks.PolynomialOp, writer: _Writer) -> SSAValue:
    basis = Chebyshev() if op.basis_name == "chebyshev" else Monomials()
    plan = plan_polynomial(dict(enumerate(op.values)), basis)
    argument, extra = op.operand, 0
    low, high = op.interval
    if isinstance(basis, Chebyshev) and (low, high) != (-1.0, 1.0):
        # t = (2 x - low - high) / (high - low)
        argument = writer.times(argument, (2 / (high - low),))
        if low + high:
            argument = writer.plus_constant(argument, -(low + high) / (high - low))
        writer.bound(argument, 1.0)
        extra = 1
    text = (
        f"degree {max(i for i, c in enumerate(op.values) if c)} in {plan.depth + extra} levels: {plan.products} "
        f"products, {plan.constants + extra} products with constants"
    )
    remark(PASS, op, "applied", text)
    return _Evaluation(plan, basis, writer, argument).value()


@dataclass
class _Evaluation:
    """Writes a polynomial plan."""

    plan: PolynomialPlan
    basis: Basis
    writer: _Writer
    argument: SSAValue
    elements: dict[int, SSAValue] = field(default_factory=dict[int, SSAValue])

    def value(self) -> SSAValue:
        self.elements[1] = self.argument
        for index in self.plan.elements:
            self.elements[index] = self._element(index)
        return self._part(self.plan.root)

    def _element(self, index: int) -> SSAValue:
        writer = self.writer
        high, low, *_ = self.basis.needs(index)
        product = writer.multiply(self.elements[high], self.elements[low])
        if isinstance(self.basis, Chebyshev):
            # T_{a+b} = 2 T_a T_b - T_{a-b}
            double = writer.plus(product, product)
            if high == low:
                product = writer.plus_constant(double, -1.0)
            else:
                product = writer.minus(double, self.elements[high - low])
            writer.bound(product, 1.0)
        return product

    def _part(self, part: Part) -> SSAValue:
        writer = self.writer
        total: SSAValue | None = None
        for index, factor in part.products:
            product = writer.multiply(self.elements[index], self._part(factor))
            total = writer.plus(total, product)
        for index, c in sorted(part.terms.items(), reverse=True):
            if index == 0:
                continue
            element = self.elements[index]
            if c == -1:
                total = writer.minus(total, element)
                continue
            total = writer.plus(total, writer.times(element, (c,)))
        assert total is not None
        if part.terms.get(0):
            total = writer.plus_constant(total, part.terms[0])
        if isinstance(self.basis, Chebyshev):
            writer.bound(total, part.weight)
        return total


@dataclass
class _Writer:
    """Puts ops in the place of a structured op."""

    source: ckks.StructuredOp
    expansion: _Expansion
    written: list[Operation] = field(default_factory=list[Operation])

    def finish(self, value: SSAValue) -> None:
        """Replaces the op's result by a value."""
        result = self.source.results[0]
        if value.owner in self.written:
            value.name_hint = result.name_hint
            if result.type != value.type:
                value = Rewriter.replace_value_with_new_type(value, result.type)
                self.expansion.rotated.clear()  # its keys and values may hold the old one
        result.replace_all_uses_with(value)
        self.source.detach()
        self.source.erase()

    def bound(self, value: SSAValue, bound: float) -> None:
        """Promises a bound on |slot|, up to the rounding of a few sums."""
        if value.owner in self.written:
            assert isinstance(value.owner, Operation)
            value.owner.attributes[RANGE] = FloatAttr(bound * (1 + 2**-20), f64)

    def _emit(self, op: Operation) -> SSAValue:
        op.location = self.source.location
        assert self.source.parent is not None
        self.source.parent.insert_op_before(op, self.source)
        self.written.append(op)
        return op.results[0]

    def plus(self, left: SSAValue | None, right: SSAValue) -> SSAValue:
        if left is None:
            return right
        return self._emit(ckks.AddOp.create(operands=[left, right], result_types=[OPEN]))

    def minus(self, left: SSAValue | None, right: SSAValue) -> SSAValue:
        if left is None:
            return self._emit(ckks.NegateOp.create(operands=[right], result_types=[OPEN]))
        return self._emit(ckks.SubOp.create(operands=[left, right], result_types=[OPEN]))

    def multiply(self, left: SSAValue, right: SSAValue) -> SSAValue:
        return self._emit(ckks.MulOp.create(operands=[left, right], result_types=[OPEN]))

    def _plaintext(self, values: Sequence[float]) -> SSAValue:
        if len(set(values)) == 1:
            values = values[:1]
        type_ = TensorType(f64, [len(values)])
        dense = DenseIntOrFPElementsAttr.from_list(type_, list(values))
        constant = self._emit(arith.ConstantOp(dense))
        return self._emit(ckks.EncodeOp(constant, ckks.PlaintextType(ckks.PlaintextFacts())))

    def times(self, value: SSAValue, values: Sequence[float]) -> SSAValue:
        """A product with a constant vector; there is none with ones."""
        if set(values) == {1.0}:
            return value
        operands = [value, self._plaintext(values)]
        return self._emit(ckks.MulPlainOp.create(operands=operands, result_types=[OPEN]))

    def plus_constant(self, value: SSAValue, constant: float) -> SSAValue:
        operands = [value, self._plaintext((constant,))]
        return self._emit(ckks.AddPlainOp.create(operands=operands, result_types=[OPEN]))

    def rotate(self, value: SSAValue, steps: int) -> SSAValue:
        """A rotation, the same one for equal steps of one value."""
        if steps == 0:
            return value
        key = (value, steps, self.source.parent)
        known = self.expansion.rotated
        if key not in known:
            properties: dict[str, Attribute] = {"steps": IntegerAttr(steps, i64)}
            known[key] = self._emit(
                ckks.RotateOp.create(operands=[value], result_types=[OPEN], properties=properties)
            )
        return known[key]
