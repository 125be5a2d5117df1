"""Montgomery exponents of the polynomial stage: which values are stored as x and which as x * R, at
least cost.

Every bundle has exponent 0 or 1, every operand is consumed at exponent 0 or 1, and a value whose
exponent is not the one that a use needs is converted, once for each other exponent however many
uses need it, at the cost of its words. Products with constants that are stored once (keys,
plaintexts, one number per limb), the coefficients of base conversions and the factor N^-1 of the
inverse transform change the exponent for nothing. Products of two other bundles have operands and
result at 1. What remains is a two-label problem.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.analysis.prime_groups import rows_in_group
from fhelium_ir.analysis.representatives import contract_of, is_interface, known_op, name_of, poly
from fhelium_ir.analysis.two_labels import TwoLabelProblem, solve
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ntt, resource, rns
from fhelium_ir.dialects.assembly import integer_property
from fhelium_ir.dialects.ckks_params import parameters_of
from fhelium_ir.dialects.zq import MIXED, MIXED_GROUPS
from fhelium_ir.parameters import Parameters

PASS = "track-montgomery"


@dataclass(frozen=True)
class Exponents:
    """A solution: the exponent of every bundle that is no constant, the exponent at which each
    operand is consumed, and why the exponent of a value or of a use is fixed where it is.

    Constants, the results of `resource.ref`, are consumed at exponents 0 to 2.
    """

    stored: dict[SSAValue, int]
    consumed: dict[tuple[Operation, int], int]
    stored_why: dict[SSAValue, str]
    consumed_why: dict[tuple[Operation, int], str]


def is_constant(value: SSAValue) -> bool:
    """Whether a value is a declared resource, which can be stored at any exponent."""
    return isinstance(value.owner, resource.RefOp)


def solve_exponents(module: ModuleOp) -> Exponents:
    """Exponents of least conversion cost; among those the ones with the fewest values at exponent
    1.

    Raises:
        FheliumError: an op that is not of the polynomial stage, or exponents stated in the IR that
        exclude each other.
    """
    constraints = build_constraints(module)
    if not constraints.has_radix:
        return constraints.without_radix()
    try:
        labels = solve(constraints.problem)
    except ValueError as error:
        raise FheliumError(
            f"{PASS}: the stated exponents exclude each other: {error}", location_of(module)
        ) from error
    return constraints.read(labels)


def conversion_words(value: SSAValue, mixed: Parameters | None) -> int:
    """Words of a bundle that a change of its exponent multiplies: components * rows * N; in a mixed
    module, whose parameters are given then, without the rows of `fp64`.
    """
    facts = poly(value)
    assert facts is not None
    if mixed is None:
        return prod(facts.shape())
    return facts.components * rows_in_group(facts, mixed, MIXED_GROUPS[0].name) * facts.degree


def build_constraints(module: ModuleOp) -> Constraints:
    """The two-label problem of a module, not solved."""
    arithmetic = module.attributes.get(rns.ARITHMETIC)
    without = isinstance(arithmetic, rns.ArithmeticAttr) and arithmetic.arithmetic.radix_bits == 0
    mixed = isinstance(arithmetic, rns.ArithmeticAttr) and arithmetic.data == MIXED
    constraints = Constraints(has_radix=not without, mixed=parameters_of(module) if mixed else None)
    for op in module.walk():
        constraints.visit(op)
    constraints.add_costs()
    return constraints


@dataclass
class Constraints:
    """The two-label problem of a module, and what its nodes mean.

    `nodes` holds the node of each value that is no constant. `demands` holds for each operand the
    node whose label is the exponent at which it is consumed; an operand without one is consumed as
    it is. `products` lists the constant
    factors: op, index of the constant, index of the other factor (None: exponent 1). Without a
    radix all exponents are the same, and nothing is pinned. `mixed` are the parameters of a mixed
    module, where only some rows have a radix.
    """

    problem: TwoLabelProblem = field(default_factory=TwoLabelProblem)
    nodes: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    demands: dict[tuple[Operation, int], int] = field(
        default_factory=dict[tuple[Operation, int], int]
    )
    products: list[tuple[Operation, int, int | None]] = field(
        default_factory=list[tuple[Operation, int, int | None]]
    )
    why: dict[int, str] = field(default_factory=dict[int, str])
    has_radix: bool = True
    mixed: Parameters | None = None

    def visit(self, op: Operation) -> None:
        """Adds the values that an op defines and the constraints that it makes."""
        if isinstance(op, func.FuncOp):
            self._visit_function(op)
            return
        bundles = [value for value in (*op.operands, *op.results) if poly(value) is not None]
        if not bundles or isinstance(op, resource.RefOp):
            return
        if not known_op(op):
            raise self._error(op, f"there is no rule for {op.name} on !rns.poly")
        for result in op.results:
            self._define(result, op)
        self._constrain(op)

    def _visit_function(self, function: func.FuncOp) -> None:
        if function.is_declaration:
            return
        if len(function.body.blocks) > 1:
            raise self._error(function, "a function on bundles has one block")
        for argument in function.args:
            if poly(argument) is not None:
                self._define(argument, function)
                self._pin(self.nodes[argument], 0, function, "it is an argument of the function")

    def _define(self, value: SSAValue, op: Operation) -> None:
        facts = poly(value)
        if facts is None:
            return
        node = self.nodes[value] = self.problem.node()
        if facts.exponent is not None:
            if facts.exponent not in (0, 1):
                raise self._error(
                    op,
                    f"{name_of(value)} has exponent {facts.exponent}; bundles are stored at 0 or 1",
                )
            self._pin(node, facts.exponent, op, "its type says so")

    def _pin(self, node: int, label: int, op: Operation, why: str) -> None:
        if not self.has_radix:
            return
        known = self.problem.pins[node]
        if known is not None and known != label:
            raise self._error(
                op,
                f"the result of {op.name} must have exponent {label}, because {why}, but also "
                f"{known}, because {self.why[node]}",
            )
        if known is None:
            self.problem.pins[node] = label
            self.why[node] = why

    def _need(self, op: Operation, index: int, label: int, why: str) -> None:
        node = self.problem.node(label)
        self.why[node] = why
        self.demands[op, index] = node

    def _constrain(self, op: Operation) -> None:
        match op:
            case func.ReturnOp() | func.CallOp():
                for index, operand in enumerate(op.operands):
                    if poly(operand) is not None:
                        self._need(op, index, 0, "it crosses the interface of a function")
                for result in op.results:
                    if result in self.nodes:
                        self._pin(self.nodes[result], 0, op, "it is the result of a call")
            case rns.MulOp():
                self._product(op)
            case rns.AccumulateOp():
                self._accumulate(op)
            case rns.MulConstantOp():
                change = None
                if op.exponent is not None:
                    change = integer_property(op.properties, "exponent") - 1
                self._shift(op, op.result, change, "its constant's exponent is stated")
            case ntt.InverseOp():
                # 0 is what select-ntt-schedules writes; N^-1 absorbs any other change as well.
                change = contract_of(op, PASS).exponent_change or None
                self._shift(op, op.result, change, "its contract states the change of exponent")
            case ntt.ForwardOp():
                if contract_of(op, PASS).exponent_change:
                    raise self._error(op, "a forward transform cannot change the exponent")
                self._tie(op, op.result)
            case rns.SetRepresentativeOp() if is_interface(op.result):
                self._need(op, 0, 0, "it crosses the interface of a function")
            case rns.SetRepresentativeOp() if is_interface(op.operand):
                self._tie(op, op.result)
            case rns.SetRepresentativeOp():
                self._shift(op, op.result, None, "")
            case rns.BaseConvertOp():
                self._need(op, 0, 0, "a base conversion compares and adds plain residues")
                # The coefficients D/d_i and -D bring the result to any exponent.
            case _:
                self._tie(op, op.results[0])

    def _tie(self, op: Operation, result: SSAValue) -> None:
        """All operands are consumed at the exponent of the result."""
        for index in range(len(op.operands)):
            self.demands[op, index] = self.nodes[result]

    def _shift(self, op: Operation, result: SSAValue, change: int | None, why: str) -> None:
        """The result's exponent is the operand's plus `change`, or does not depend on it."""
        if change is None:
            if is_constant(op.operands[0]):
                self.demands[op, 0] = self.problem.node()
        elif change == 0:
            self._tie(op, result)
        elif change in (1, -1):
            self._need(op, 0, 0 if change == 1 else 1, why)
            self._pin(self.nodes[result], 1 if change == 1 else 0, op, why)
        else:
            raise self._error(op, f"exponents are 0 and 1, a change by {change} is not possible")

    def _product(self, op: rns.MulOp) -> None:
        left, right = is_constant(op.lhs), is_constant(op.rhs)
        if left and right:
            self._need(op, 0, 1, "")
            self.products.append((op, 1, None))
        elif left or right:
            self.products.append((op, 0 if left else 1, 1 if left else 0))
        else:
            why = "both factors of a product are stored times R"
            self._need(op, 0, 1, why)
            self._need(op, 1, 1, why)
            self._pin(self.nodes[op.result], 1, op, "it is a product of two bundles")

    def _accumulate(self, op: rns.AccumulateOp) -> None:
        if is_constant(op.key):
            node = self.problem.node()
            self.demands[op, 0] = self.demands[op, 1] = node
            self.products.append((op, 2, 0))
            return
        for index in range(3):
            self._need(op, index, 1, "both factors of a product are stored times R")
        self._pin(self.nodes[op.result], 1, op, "it is a product of two bundles")

    def add_costs(self) -> None:
        """Adds the conversions that each value may need."""
        uses: dict[SSAValue, list[int]] = defaultdict(list)
        for (op, index), node in self.demands.items():
            if not is_constant(op.operands[index]):
                uses[op.operands[index]].append(node)
        for value, nodes in uses.items():
            if value not in self.nodes:
                raise self._error(value.owner, f"{name_of(value)} is no value of a function")
            # What costs nothing would be converted at random.
            cost = max(1, conversion_words(value, self.mixed))
            self.problem.copies(self.nodes[value], nodes, cost)

    def without_radix(self) -> Exponents:
        """The solution for R = 1, where all words are those of exponent 0."""
        consumed = dict.fromkeys(self.demands, 0)
        consumed.update({(op, constant): 0 for op, constant, _ in self.products})
        return Exponents(dict.fromkeys(self.nodes, 0), consumed, {}, {})

    def read(self, labels: Sequence[int]) -> Exponents:
        """The exponents that a labelling stands for."""
        stored = {value: labels[node] for value, node in self.nodes.items()}
        consumed = {use: labels[node] for use, node in self.demands.items()}
        consumed_why = {
            use: self.why[node] for use, node in self.demands.items() if node in self.why
        }
        stored_why = {
            value: self.why[node] for value, node in self.nodes.items() if node in self.why
        }
        for op, constant, other in self.products:
            factor = 1
            if other is not None:
                use = (op, other)
                factor = consumed[use] if use in consumed else stored[op.operands[other]]
            consumed[op, constant] = stored[op.results[0]] - factor + 1
        return Exponents(stored, consumed, stored_why, consumed_why)

    @staticmethod
    def _error(op: object, message: str) -> FheliumError:
        location = location_of(op) if isinstance(op, Operation) else None
        return FheliumError(f"{PASS}: {message}", location)
