"""Levels, scales, relinearization and alignment for functions that state none: the automatic part of ckks-manage.

`fhelium_ir.analysis.level_plan` decides; this turns the plan into ops on the module's chain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, log2

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FunctionType,
    IntegerAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.analysis.level_plan import PASS, LevelPlan, Node, plan_levels
from fhelium_ir.analysis.level_scales import level_scale
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale

DRIFT_BITS = 2.0
"""Level scales that are further from the default scale than this are worth a warning."""

MANAGEMENT_OPS = (
    ckks.RelinearizeOp,
    ckks.ExtendOp,
    ckks.ModDownOp,
    ckks.RescaleOp,
    ckks.ModSwitchOp,
    ckks.AdoptScaleOp,
)


def is_unmanaged(function: func.FuncOp) -> bool:
    """Whether a function leaves all management to the compiler: it has no management op, and states no level, scale or
    size anywhere but for its arguments."""
    if any(isinstance(op, MANAGEMENT_OPS) for op in function.body.walk()):
        return False
    values = [result for op in function.body.walk() for result in op.results]
    types = [value.type for value in values] + list(function.function_type.outputs)
    for type_ in types:
        if isinstance(type_, ckks.CiphertextType) and type_.data != ckks.OPEN:
            return False
        if isinstance(type_, ckks.PlaintextType) and type_.data != ckks.PlaintextFacts():
            return False
    return any(isinstance(type_, ckks.CiphertextType) for type_ in types)


def manage_function(function: func.FuncOp, parameters: Parameters, start: str) -> ManagedBody:
    """The managed body of an unmanaged function, which stays as it is.

    Args:
        start: "needed": the function starts at the lowest level at which it has enough levels and every value has
            headroom; "top": at the top level.

    Raises:
        FheliumError: the chain is too short (the message names the op where it ends and the levels needed), an op has
            no rule, or a plaintext argument would have to be encoded in several ways.
    """
    top = parameters.top_level
    stated = _stated_levels(function, parameters)
    plan = plan_levels(function, {value: top - level for value, level in stated.items()})
    if plan.depth > top:
        op = plan.first_below(top)
        raise FheliumError(
            f"{PASS}: the program needs {plan.depth} levels, the chain has {top}: it ends at {op.name}",
            location_of(op),
        )
    # A stated level counts from the top.
    level = top if stated or start == "top" else _lowest_start(plan, parameters)
    text = f"managed with {plan.depth} of {top} levels, from level {level} down"
    remark(PASS, function, "applied", text)
    _warn_of_drift(plan, parameters, level)
    return _Writer(plan, parameters, level).write()


def _warn_of_drift(plan: LevelPlan, parameters: Parameters, start: int) -> None:
    """Level scales far from the default one: the distance doubles from level to level."""
    for level in sorted({start - node.depth for node in plan.nodes}, reverse=True):
        bits = level_scale(parameters, level).log2(parameters.q)
        if abs(bits - parameters.scale_bits) > DRIFT_BITS:
            remark(
                PASS,
                plan.function,
                "warning",
                f"the scale of level {level} is 2^{bits:.1f}, far from the default 2^{parameters.scale_bits}: choose "
                "primes that follow the scale, see select-parameters",
            )
            return


def _stated_levels(function: func.FuncOp, parameters: Parameters) -> dict[SSAValue, int]:
    levels: dict[SSAValue, int] = {}
    for argument in function.args:
        if not isinstance(argument.type, ckks.CiphertextType):
            continue
        facts, top = argument.type.data, parameters.top_level
        if facts.size not in (None, 2):
            raise FheliumError(f"{PASS}: an argument of size {facts.size}", location_of(function))
        if facts.level is None and facts.scale is None:
            continue
        level = top if facts.level is None else facts.level
        if level > top:
            raise FheliumError(
                f"{PASS}: an argument has level {level}, the chain ends at {top}",
                location_of(function),
            )
        scale = level_scale(parameters, level)
        if facts.scale not in (None, scale):
            raise FheliumError(
                f"{PASS}: an argument at level {level} has scale {facts.scale}; without management ops it must "
                f"have the level's scale {scale}",
                location_of(function),
            )
        levels[argument] = level
    return levels


def _lowest_start(plan: LevelPlan, parameters: Parameters) -> int:
    """The lowest level from which every value of the plan has headroom, else the top level."""
    bounds: dict[tuple[int, bool], float] = {}
    for node in plan.nodes:
        form = (node.depth, node.product)
        bounds[form] = max(bounds.get(form, 0.0), node.bound)
    for start in range(plan.depth, parameters.top_level):
        if all(
            _has_room(start - depth, product, bound, parameters)
            for (depth, product), bound in bounds.items()
        ):
            return start
    return parameters.top_level


def _has_room(level: int, product: bool, bound: float, parameters: Parameters) -> bool:
    if bound in (0.0, inf):
        return bound == 0.0
    scale = level_scale(parameters, level).log2(parameters.q)
    need = 1 + (2 if product else 1) * scale + log2(bound)
    return need + 1e-6 < log2(parameters.modulus(level))


@dataclass(frozen=True)
class ManagedBody:
    """A function and what replaces its body and type."""

    function: func.FuncOp
    block: Block

    def commit(self) -> None:
        last = self.block.last_op
        assert isinstance(last, func.ReturnOp)
        self.function.properties["function_type"] = FunctionType.from_lists(
            [argument.type for argument in self.block.args], [value.type for value in last.operands]
        )
        self.function.detach_region(self.function.body)
        self.function.add_region(Region(self.block))


@dataclass
class _Writer:
    """Writes a plan as ops; `level` is the level of depth 0."""

    plan: LevelPlan
    parameters: Parameters
    level: int
    block: Block = field(default_factory=Block)
    values: dict[Node, SSAValue] = field(default_factory=dict[Node, SSAValue])
    plain: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    encoded: dict[tuple[Attribute, ckks.PlaintextFacts], SSAValue] = field(
        default_factory=dict[tuple[Attribute, ckks.PlaintextFacts], SSAValue]
    )

    def write(self) -> ManagedBody:
        function = self.plan.function
        plaintexts = self._plaintext_types()
        for argument in function.args:
            node = self.plan.arguments.get(argument)
            type_ = plaintexts.get(argument, argument.type)
            if node is not None:
                level = self.level - node.depth
                type_ = ckks.CiphertextType(ckks.CiphertextFacts(level, self._scale(level)))
            value = self.block.insert_arg(type_, len(self.block.args))
            value.name_hint = argument.name_hint
            if node is not None:
                self.values[node] = value
            else:
                self.plain[argument] = value
        for node in self.plan.nodes:
            if node.kind != "argument":
                self._write(node)
        last = function.body.block.last_op
        assert last is not None
        new = func.ReturnOp(*(self.values[node] for node in self.plan.outputs))
        new.location = last.location
        self.block.add_op(new)
        return ManagedBody(function, self.block)

    def _write(self, node: Node) -> None:
        try:
            self.values[node] = self._compute(node)
        except VerifyException as error:
            raise FheliumError(f"{PASS}: {error}", location_of(node.source)) from error

    def _compute(self, node: Node) -> SSAValue:
        source, operands = node.source, [self.values[operand] for operand in node.operands]
        match node.kind:
            case "op":
                new = self._copy(node, source, operands)
                new.attributes = dict(source.attributes)
                return self._emit(new, node)
            case "add":
                return self._emit(ckks.AddOp(*operands), node)
            case "sub":
                return self._emit(ckks.SubOp(*operands), node)
            case "negate":
                return self._emit(ckks.NegateOp(operands[0]), node)
            case "add_plain":
                return self._emit(ckks.AddPlainOp(operands[0], self._plaintext(node)), node)
            case "sub_plain":
                return self._emit(ckks.SubPlainOp(operands[0], self._plaintext(node)), node)
            case "relinearize":
                return self._emit(ckks.RelinearizeOp(operands[0]), node)
            case "rescale":
                return self._emit(ckks.RescaleOp(operands[0]), node)
            case "lower":
                return self._lowered(node, operands[0])
            case "raise":
                return self._raised(node, operands[0])
            case "argument":
                raise AssertionError("arguments are not computed")

    def _copy(self, node: Node, source: Operation, operands: list[SSAValue]) -> Operation:
        match source:
            case ckks.MulOp():
                return ckks.MulOp(*operands)
            case ckks.MulPlainOp():
                return ckks.MulPlainOp(operands[0], self._plaintext(node))
            case ckks.NegateOp() | ckks.RotateOp() | ckks.ConjugateOp():
                return type(source)(operands[0], source.properties)
            case _:
                raise AssertionError(source.name)

    def _emit(self, op: Operation, node: Node) -> SSAValue:
        op.location = node.source.location
        result = op.results[0]
        if node.value is not None:
            result.name_hint = node.value.name_hint
            if node.kind != "op":
                op.attributes = dict(_owner(node.value).attributes)
        elif isinstance(op, ckks.RelinearizeOp | ckks.RescaleOp | ckks.ModSwitchOp):
            result.name_hint = op.operands[0].name_hint
        self.block.add_op(op)
        return result

    def _scale(self, level: int) -> Scale:
        return level_scale(self.parameters, level)

    def _lowered(self, node: Node, value: SSAValue) -> SSAValue:
        """From S_m at level m down to level l: times 1 at scale S_l * q_{l+1} / S_m, then a rescale."""
        above, level = self.level - node.operands[0].depth, self.level - node.depth
        target = self._scale(level) * Scale(0, ((level + 1, 1),))
        factor = target * self._scale(above).inverse()
        switched = self._switched(node, value, above - level - 1)
        one = self._encode(node, _one(), ckks.PlaintextFacts(level + 1, factor))
        scaled = self._emit(ckks.MulPlainOp(switched, one), node)
        scaled.name_hint = value.name_hint
        return self._emit(ckks.RescaleOp(scaled), node)

    def _raised(self, node: Node, value: SSAValue) -> SSAValue:
        """From S_m at level m to S_l^2 at level l: times 1 at scale S_l^2 / S_m."""
        above, level = self.level - node.operands[0].depth, self.level - node.depth
        scale = self._scale(level)
        switched = self._switched(node, value, above - level)
        facts = ckks.PlaintextFacts(level, scale * scale * self._scale(above).inverse())
        one = self._encode(node, _one(), facts)
        raised = self._emit(ckks.MulPlainOp(switched, one), node)
        raised.name_hint = value.name_hint
        return raised

    def _switched(self, node: Node, value: SSAValue, levels: int) -> SSAValue:
        if levels == 0:
            return value
        return self._emit(ckks.ModSwitchOp(value, {"levels": IntegerAttr(levels, i64)}), node)

    def _plaintext(self, node: Node) -> SSAValue:
        """The right operand of a plaintext op: an argument, or a constant encoded as the left operand needs it."""
        value = node.plaintext
        assert value is not None
        if value in self.plain:
            return self.plain[value]
        encode = value.owner
        if not isinstance(encode, ckks.EncodeOp):
            raise FheliumError(
                f"{PASS}: a plaintext must be an argument or come from ckks.encode",
                location_of(node.source),
            )
        constant = encode.values.owner
        if not isinstance(constant, arith.ConstantOp) or not isinstance(
            constant.value, DenseIntOrFPElementsAttr
        ):
            raise FheliumError(f"{PASS}: ckks.encode needs a constant vector", location_of(encode))
        made = self._encode(node, constant.value, self._wanted(node))
        if made.name_hint is None:
            made.name_hint = value.name_hint
        return made

    def _wanted(self, node: Node) -> ckks.PlaintextFacts:
        """Level and scale of the right operand of a plaintext op."""
        left = node.operands[0]
        level = self.level - left.depth
        scale = self._scale(level)
        return ckks.PlaintextFacts(level, scale * scale if left.product else scale)

    def _encode(
        self, node: Node, dense: DenseIntOrFPElementsAttr, facts: ckks.PlaintextFacts
    ) -> SSAValue:
        key = (dense, facts)
        if key not in self.encoded:
            constant = self._emit(arith.ConstantOp(dense), node)
            constant.name_hint = None
            encode = self._emit(ckks.EncodeOp(constant, ckks.PlaintextType(facts)), node)
            encode.name_hint = None
            self.encoded[key] = encode
        return self.encoded[key]

    def _plaintext_types(self) -> Mapping[SSAValue, Attribute]:
        """Types of plaintext arguments: their uses must agree, with each other and with what is stated.

        Raises:
            FheliumError: two uses need different encodings, or a stated level or scale is another one.
        """
        types: dict[SSAValue, Attribute] = {}
        for node in self.plan.nodes:
            value = node.plaintext
            if value is None or isinstance(value.owner, Operation):
                continue
            given = value.type
            assert isinstance(given, ckks.PlaintextType)
            wanted = self._wanted(node)
            type_ = ckks.PlaintextType(wanted)
            stated = (given.data.level or wanted.level, given.data.scale or wanted.scale)
            if stated != (wanted.level, wanted.scale):
                raise FheliumError(
                    f"{PASS}: {node.source.name} needs the plaintext argument as {type_}, but it is "
                    f"stated as {given}",
                    location_of(node.source),
                )
            if types.setdefault(value, type_) != type_:
                raise FheliumError(
                    f"{PASS}: a plaintext argument would have to be {type_} here, but {types[value]} for an "
                    "earlier op; pass it once for each",
                    location_of(node.source),
                )
        for argument in self.plan.function.args:
            if isinstance(argument.type, ckks.PlaintextType):
                types.setdefault(argument, self._unused(argument.type))
        return types

    def _unused(self, given: ckks.PlaintextType) -> ckks.PlaintextType:
        """The type of a plaintext argument that no output depends on: what is not stated is as for a ciphertext."""
        level = self.level if given.data.level is None else given.data.level
        scale = self._scale(level) if given.data.scale is None else given.data.scale
        return ckks.PlaintextType(ckks.PlaintextFacts(level, scale))


def _one() -> DenseIntOrFPElementsAttr:
    return DenseIntOrFPElementsAttr.from_list(TensorType(f64, [1]), [1.0])


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, Operation)
    return owner
