"""`ckks-manage`: decides the levels and scales that the program leaves open."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark, remarks_wanted
from fhelium_ir.compiler.retype import commit_types
from fhelium_ir.dialects import ckks
from fhelium_ir.dialects.assembly import FactOp, shown
from fhelium_ir.parameters import Parameters
from fhelium_ir.passes.automatic_levels import is_unmanaged, manage_function
from fhelium_ir.scale import Scale

STARTS = ("needed", "top")


@dataclass(frozen=True)
class CkksManage(ModulePass):
    """Decides levels and scales.

    A function that states no level, scale or size and has no rescale, relinearize, mod_switch or adopt_scale gets them
    all, see docs/management.md; this changes values. In any other function the management is the writer's, and the pass
    fills in the facts that are not written:

    An argument without a level gets the top level, one without a scale the default scale; results
    follow from the operands. An encoded constant takes what is absent from the ops that use it: in
    a sum the ciphertext's level and scale, in a product the ciphertext's level and the default
    scale. What is written stays. Function signatures follow. An illegal combination is an error
    at the op's source line, and no op is added or removed.

    Options:
        start: where functions of the first kind start: "needed" is the lowest level with enough levels below it and
            headroom for every value, which is cheapest; "top" is the top level, which leaves the results the levels
            that are not needed.
    """

    name = "ckks-manage"
    start: str = "needed"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.start not in STARTS:
            raise FheliumError(
                f"ckks-manage: start must be {' or '.join(STARTS)}, found {self.start}"
            )
        parameters = ckks.parameters_of(op)
        functions = [
            inner
            for inner in op.walk()
            if isinstance(inner, func.FuncOp) and not inner.is_declaration
        ]
        unmanaged = [
            inner for inner in functions if len(inner.body.blocks) == 1 and is_unmanaged(inner)
        ]
        bodies = [manage_function(inner, parameters, self.start) for inner in unmanaged]
        inference = _Inference(parameters)
        for inner in functions:
            if inner not in unmanaged:
                inference.infer_function(inner)
        for body in bodies:
            body.commit()
        changed = {v: t for v, t in inference.types.items() if t != v.type}
        if remarks_wanted():
            _emit_remarks(changed)
        commit_types(op, changed)


@dataclass
class _Inference:
    """Types decided so far, by value; `users` holds for an encode the op that decided it."""

    parameters: Parameters
    types: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    users: dict[SSAValue, Operation] = field(default_factory=dict[SSAValue, Operation])

    def type_of(self, value: SSAValue) -> Attribute:
        return self.types.get(value, value.type)

    def infer_function(self, function: func.FuncOp) -> None:
        for argument in function.args:
            self.types[argument] = self._with_defaults(argument.type)
        for op in function.body.walk():
            if isinstance(op, ckks.EncodeOp) or not isinstance(op, FactOp):
                continue
            if op.name.startswith("ckks."):
                try:
                    self._infer_op(op)
                except VerifyException as error:
                    raise FheliumError(str(error), location_of(op)) from error
                except FheliumError as error:
                    raise FheliumError(error.message, error.location or location_of(op)) from error
        for op in function.body.walk():
            if isinstance(op, ckks.EncodeOp) and op.result not in self.types:
                self.types[op.result] = self._with_defaults(op.result.type)

    def _with_defaults(self, type_: Attribute) -> Attribute:
        level, scale = self.parameters.top_level, Scale(self.parameters.scale_bits)
        match type_:
            case ckks.CiphertextType():
                return _fill_ciphertext(type_, ckks.CiphertextFacts(level, scale, 2, "evaluation"))
            case ckks.PlaintextType():
                return _fill_plaintext(type_, ckks.PlaintextFacts(level, scale, "evaluation"))
            case _:
                return type_

    def _infer_op(self, op: FactOp) -> None:
        if isinstance(op, ckks.PlainOp) and isinstance(op.rhs.owner, ckks.EncodeOp):
            self._fill_encode(op, op.rhs)
        operands = [self.type_of(operand) for operand in op.operands]
        for result, want in zip(op.results, type(op).infer(operands, op.properties), strict=True):
            op.check_result(result.type, want)
            if isinstance(want, ckks.CiphertextType) and isinstance(
                result.type, ckks.CiphertextType
            ):
                self.types[result] = _fill_ciphertext(result.type, want.data)

    def _fill_encode(self, op: ckks.PlainOp, plaintext: SSAValue) -> None:
        """Gives an encoded constant what it lacks for `op`, or compares with an earlier user."""
        ciphertext, written = self.type_of(op.lhs), plaintext.type
        assert isinstance(ciphertext, ckks.CiphertextType)
        assert isinstance(written, ckks.PlaintextType)
        multiplies = isinstance(op, ckks.MulPlainOp)
        scale = Scale(self.parameters.scale_bits) if multiplies else ciphertext.data.scale
        facts = ciphertext.data
        extended = multiplies and facts.extended
        wanted = ckks.PlaintextFacts(facts.level, scale, facts.domain, extended)
        filled = _fill_plaintext(written, wanted)
        earlier = self.types.setdefault(plaintext, filled)
        user = self.users.setdefault(plaintext, op)
        if filled != earlier:
            raise VerifyException(_disagreement(op, user, filled, earlier))


def _fill_ciphertext(
    written: ckks.CiphertextType, facts: ckks.CiphertextFacts
) -> ckks.CiphertextType:
    """The written facts, and `facts` where they are absent."""
    data = written.data
    return ckks.CiphertextType(
        ckks.CiphertextFacts(
            data.level if data.level is not None else facts.level,
            data.scale if data.scale is not None else facts.scale,
            data.size if data.size is not None else facts.size,
            data.domain if data.domain is not None else facts.domain,
            data.extended or facts.extended,
        )
    )


def _fill_plaintext(written: ckks.PlaintextType, facts: ckks.PlaintextFacts) -> ckks.PlaintextType:
    """The written facts, and `facts` where they are absent."""
    data = written.data
    return ckks.PlaintextType(
        ckks.PlaintextFacts(
            data.level if data.level is not None else facts.level,
            data.scale if data.scale is not None else facts.scale,
            data.domain if data.domain is not None else facts.domain,
            data.extended or facts.extended,
        )
    )


def _disagreement(op: Operation, user: Operation, here: Attribute, earlier: Attribute) -> str:
    where = location_of(user)
    other = f"{user.name} at {where}" if where is not None else user.name
    return (
        f"{op.name}: the encoded constant must be {here} here, but {earlier} for {other}; "
        "encode it once for each"
    )


def _emit_remarks(changed: dict[SSAValue, Attribute]) -> None:
    for value, type_ in changed.items():
        owner = value.owner
        if isinstance(owner, Operation) and not isinstance(owner, ckks.EncodeOp):
            continue
        about = owner if isinstance(owner, Operation) else owner.parent_op()
        name = f"%{value.name_hint}" if value.name_hint else "a value"
        if isinstance(type_, ckks.CiphertextType | ckks.PlaintextType):
            facts = f"level {shown(type_.data.level)} and scale {shown(type_.data.scale)}"
            remark("ckks-manage", about, "applied", f"{name} gets {facts}")
