"""`merge-divisions`: divisions by P where they are fewest, and together with a rescale."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.two_labels import TwoLabelProblem, solve
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters

PASS = "merge-divisions"

TRANSFORM = 16
"""Cost of the transform of one limb; reading and writing a limb costs 1."""

SUMS = (
    ckks.AddOp,
    ckks.SubOp,
    ckks.NegateOp,
    ckks.AddPlainOp,
    ckks.SubPlainOp,
    ckks.MulPlainOp,
    ckks.ModSwitchOp,
)
"""Ops that an extended ciphertext goes through."""


@dataclass(frozen=True)
class MergeDivisions(ModulePass):
    """Divides sums of key-switched values by P once, and by P * q_l at once where a rescale follows.

    A key switch ends with a division by P. Sums, products with encoded constants and modulus switches work as well on P
    times their operands, modulo Q_l * P (Bossuat, Mouchet, Troncoso-Pastoriza, Hubaux, "Efficient bootstrapping for
    approximate homomorphic encryption with non-sparse keys", 2021). Which values are extended in this way, where they
    are divided and what is extended for a sum is a two-label problem; a minimum cut gives the fewest transforms. A
    rescale of an extended ciphertext divides by P * q_l (as in Cheddar: Kim, Choi, Ahn, 2024).

    This changes values, by roundings that are left out, so it belongs to the program stage: its result is what later
    passes keep bit for bit. A module without parameters or a function with absent levels is left as it is.

    Options:
        enable: `false` leaves every division where it is.
        sums: `false` divides every key-switched value that is not rescaled at once.
    """

    name = PASS
    enable: bool = True
    sums: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        attribute = op.attributes.get(ckks.PARAMS)
        if not self.enable or not isinstance(attribute, ckks.ParamsAttr):
            return
        types: dict[SSAValue, Attribute] = {}
        for function in op.ops:
            if isinstance(function, func.FuncOp) and not function.is_declaration:
                for block in function.body.blocks:
                    merging = _Merging(block, attribute.data, self.sums)
                    if merging.applies():
                        merging.solve()
                        types.update(merging.rewrite())
        commit_types(op, types)


@dataclass
class _Merging:
    """One block. Nodes of the problem have label 1 for what is extended; `nodes` holds those of values and rescales."""

    block: Block
    parameters: Parameters
    sums: bool
    problem: TwoLabelProblem = field(default_factory=TwoLabelProblem)
    nodes: dict[Operation, int] = field(default_factory=dict[Operation, int])
    labels: list[int] = field(default_factory=list[int])

    def applies(self) -> bool:
        """Whether there is a key switch to take a division from, all levels are known and nothing is extended yet."""
        values = [*self.block.args, *(result for op in self.block.ops for result in op.results)]
        types = [value.type for value in values if isinstance(value.type, ckks.CiphertextType)]
        return any(self._is_key_switch(op) for op in self.block.ops) and all(
            type_.data.level is not None and type_.data.size is not None and not type_.data.extended
            for type_ in types
        )

    def _is_key_switch(self, op: Operation) -> bool:
        if isinstance(op, ckks.RotateOp):
            return op.step % self.parameters.slots != 0
        return isinstance(op, ckks.KeySwitchOp)

    def solve(self) -> None:
        """Finds the labels of least cost."""
        zero = self.problem.node(0)
        special = len(self.parameters.p)
        for op in self.block.ops:
            if self._is_key_switch(op):
                self.nodes[op] = self.problem.node(1)
            elif isinstance(op, ckks.RescaleOp):
                # Both components have K limbs more to transform back.
                node = self.nodes[op] = self.problem.node()
                self.problem.edges.append((node, zero, 2 * special * TRANSFORM))
            elif isinstance(op, SUMS) and self._can_extend(op):
                node = self.nodes[op] = self.problem.node()
                words = 5 if isinstance(op, ckks.MulPlainOp) else 4
                self.problem.edges.append((node, zero, words * special))
        for value in [
            *self.block.args,
            *(result for op in self.block.ops for result in op.results),
        ]:
            if isinstance(value.type, ckks.CiphertextType) and value.type.data.size == 2:
                self._uses(value, zero)
        self.labels = solve(self.problem)

    def _can_extend(self, op: Operation) -> bool:
        """Whether a sum may work on extended operands: of size 2, and its factor a constant that can be encoded so."""
        if not self.sums or _facts(op.results[0]).size != 2:
            return False
        return not isinstance(op, ckks.MulPlainOp) or isinstance(op.rhs.owner, ckks.EncodeOp)

    def _uses(self, value: SSAValue, zero: int) -> None:
        """A value that some use wants in the other form is converted once."""
        own = self._node(value, zero)
        uses = {self._use(use.operation, zero) for use in value.uses} - {own}
        if not uses:
            return
        limbs = (_facts(value).level or 0) + 1
        divide = 2 * (limbs + len(self.parameters.p)) * TRANSFORM
        problem = self.problem
        divided = extended = next(iter(uses))
        if len(uses) > 1:
            divided, extended = problem.node(), problem.node()
            for node in sorted(uses):
                problem.edges += [(divided, node, None), (node, extended, None)]
        problem.edges += [(own, divided, divide), (extended, own, 2 * limbs)]

    def _node(self, value: SSAValue, zero: int) -> int:
        """The node of a value: a rescale's result is divided, whatever it divides by."""
        owner = value.owner
        if not isinstance(owner, Operation) or isinstance(owner, ckks.RescaleOp):
            return zero
        return self.nodes.get(owner, zero)

    def _use(self, op: Operation, zero: int) -> int:
        """The node whose label is the form in which an op wants its operand: a key switch wants it divided."""
        return zero if self._is_key_switch(op) else self.nodes.get(op, zero)

    def rewrite(self) -> dict[SSAValue, Attribute]:
        """Marks key switches, adds divisions and extensions, and gives the types of values that become extended."""
        forms: dict[tuple[SSAValue, bool], SSAValue] = {}
        types: dict[SSAValue, Attribute] = {}
        for op in list(self.block.ops):
            if op not in self.nodes:
                wanted = False
            elif self._is_key_switch(op):
                wanted = False
                if any(self._extends(use.operation) for use in op.results[0].uses):
                    op.properties["extended"] = UnitAttr()
                    types[op.results[0]] = _extended(op.results[0])
            else:
                wanted = self._extends(op)
                if wanted and not isinstance(op, ckks.RescaleOp):
                    types[op.results[0]] = _extended(op.results[0])
            for index, operand in enumerate(op.operands):
                if isinstance(operand.type, ckks.CiphertextType):
                    key = (operand, wanted)
                    if key not in forms:
                        forms[key] = self._in_form(operand, operand in types, wanted, op)
                    op.operands[index] = forms[key]
                elif wanted and isinstance(op, ckks.MulPlainOp):
                    op.operands[index] = self._encoded(operand, forms)
            if wanted and isinstance(op, ckks.RescaleOp):
                level = (_facts(op.result).level or 0) + 1
                remark(PASS, op, "applied", f"divides by P * q{level} at once")
        for plaintext, _ in forms:
            encode = plaintext.owner
            if isinstance(encode, ckks.EncodeOp) and encode.result.first_use is None:
                encode.detach()
                encode.erase()
        return types

    def _extends(self, op: Operation) -> bool:
        """Whether an op that is no key switch works on extended operands."""
        return op in self.nodes and not self._is_key_switch(op) and self.labels[self.nodes[op]] == 1

    def _in_form(self, value: SSAValue, extended: bool, wanted: bool, user: Operation) -> SSAValue:
        """The value in the form that a user wants, converted in front of it."""
        if extended == wanted:
            return value
        kind = ckks.ExtendOp if wanted else ckks.ModDownOp
        type_ = ckks.CiphertextType(replace(_facts(value), extended=wanted))
        new = kind.create(operands=[value], result_types=[type_])
        owner = value.owner
        new.location = owner.location if isinstance(owner, Operation) else user.location
        new.results[0].name_hint = value.name_hint
        self.block.insert_op_before(new, user)
        if not wanted and isinstance(owner, SUMS):
            remark(PASS, owner, "applied", "divided by P after the sum")
        return new.results[0]

    def _encoded(
        self, plaintext: SSAValue, forms: dict[tuple[SSAValue, bool], SSAValue]
    ) -> SSAValue:
        """The plaintext of an encode, with residues modulo the special primes."""
        if (plaintext, True) not in forms:
            encode = plaintext.owner
            assert isinstance(encode, ckks.EncodeOp)
            type_ = ckks.PlaintextType(replace(encode.result.type.data, extended=True))
            new = ckks.EncodeOp(encode.values, type_)
            new.location = encode.location
            new.result.name_hint = plaintext.name_hint
            self.block.insert_op_after(new, encode)
            forms[plaintext, True] = new.result
        return forms[plaintext, True]


def _extended(value: SSAValue) -> Attribute:
    return ckks.CiphertextType(replace(_facts(value), extended=True))


def _facts(value: SSAValue) -> ckks.CiphertextFacts:
    assert isinstance(value.type, ckks.CiphertextType)
    return value.type.data
