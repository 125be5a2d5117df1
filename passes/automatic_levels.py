"""Levels, scales, relinearization and alignment for functions that state none: the automatic part of ckks-manage."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import cast

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

from fhelium_ir.analysis.level_scales import level_scale
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.scale import Scale

PASS = "ckks-manage"

MANAGEMENT_OPS = (
    ckks.RelinearizeOp,
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


@dataclass(frozen=True)
class _Managed:
    """A ciphertext under construction.

    `product` tells a value of scale S_level^2, not yet rescaled, from one of scale S_level. Levels below 0 stand for
    primes that the chain does not have: they are counted, then reported.
    """

    value: SSAValue
    level: int
    product: bool
    size: int


@dataclass
class AutomaticLevels:
    """Rewrites one function.

    A product stays unrescaled, and of size 3, until an op needs it otherwise: sums of products are relinearized and
    rescaled once. A product needs reduced operands of one level: the one at the higher level is brought down, to exactly
    the scale of the lower level, by a constant and a rescale. At a sum an operand that was not multiplied is
    multiplied by a constant up to the scale of the other's product. Outputs are relinearized and rescaled.
    """

    function: func.FuncOp
    parameters: Parameters
    block: Block = field(default_factory=Block)
    managed: dict[SSAValue, _Managed] = field(default_factory=dict[SSAValue, _Managed])
    plain: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    known: dict[tuple[object, ...], _Managed] = field(
        default_factory=dict[tuple[object, ...], _Managed]
    )
    source: Operation | None = None

    def run(self) -> None:
        """Replaces the function's body and type.

        Raises:
            FheliumError: the chain is too short (the message names the op where it ends and the levels needed),
                an op has no rule, or a plaintext argument would have to be encoded in several ways.
        """
        needed = self._levels_needed()
        top = self.parameters.top_level
        if needed.count > top:
            raise FheliumError(
                f"{PASS}: the program needs {needed.count} levels, the chain has {top}: "
                f"it ends at {needed.op.name}",
                location_of(needed.op),
            )
        old = self.function.body.block
        arguments = self._argument_types(old)
        self.block = Block(arg_types=arguments)
        for before, after in zip(old.args, self.block.args, strict=True):
            after.name_hint = before.name_hint
            self._enter_argument(before, after)
        for op in old.ops:
            self.source = op
            self._manage(op)
        last = self.block.last_op
        assert isinstance(last, func.ReturnOp)
        self.function.properties["function_type"] = FunctionType.from_lists(
            arguments, [value.type for value in last.operands]
        )
        self.function.detach_region(self.function.body)
        self.function.add_region(Region(self.block))
        remark(PASS, self.function, "applied", f"managed with {needed.count} of {top} levels")

    # Levels first: the same rules on levels alone, to know how many are needed and where.

    def _levels_needed(self) -> _Need:
        return _Counter(self.function, self.parameters.top_level).count()

    def _argument_types(self, old: Block) -> list[Attribute]:
        plaintexts = _plaintext_uses(self.function, self.parameters)
        types: list[Attribute] = []
        for argument in old.args:
            match argument.type:
                case ckks.CiphertextType():
                    facts = argument.type.data
                    level = self.parameters.top_level if facts.level is None else facts.level
                    scale = self._scale(level) if facts.scale is None else facts.scale
                    types.append(ckks.CiphertextType(ckks.CiphertextFacts(level, scale)))
                case ckks.PlaintextType():
                    types.append(plaintexts.get(argument, argument.type))
                case _:
                    types.append(argument.type)
        return types

    def _enter_argument(self, before: SSAValue, after: SSAValue) -> None:
        type_ = after.type
        if isinstance(type_, ckks.PlaintextType):
            self.plain[before] = after
            return
        if not isinstance(type_, ckks.CiphertextType):
            return
        level, scale = type_.data.level, type_.data.scale
        assert level is not None and scale is not None
        if level > self.parameters.top_level:
            raise FheliumError(
                f"{PASS}: an argument has level {level}, the chain ends at "
                f"{self.parameters.top_level}",
                location_of(self.function),
            )
        if scale != self._scale(level):
            raise FheliumError(
                f"{PASS}: an argument at level {level} has scale {scale}; without management ops it must "
                f"have the level's scale {self._scale(level)}",
                location_of(self.function),
            )
        self.managed[before] = _Managed(after, level, False, 2)

    def _scale(self, level: int) -> Scale:
        return level_scale(self.parameters, level)

    def error(self, message: str) -> FheliumError:
        op = self.source if self.source is not None else self.function
        return FheliumError(f"{PASS}: {message}", location_of(op))

    def _emit(self, op: Operation) -> SSAValue:
        if self.source is not None:
            op.location = self.source.location
            if op.results[0].name_hint is None and self.source.results:
                op.results[0].name_hint = self.source.results[0].name_hint
        self.block.add_op(op)
        return op.results[0]

    def _manage(self, op: Operation) -> None:
        match op:
            case func.ReturnOp():
                values = [self._output(operand) for operand in op.operands]
                new = func.ReturnOp(*values)
                new.location = op.location
                self.block.add_op(new)
            case arith.ConstantOp() | ckks.EncodeOp():
                return  # made anew for each use, at the use's level and scale
            case ckks.AddOp() | ckks.SubOp():
                left, right = self.aligned(self.managed[op.lhs], self.managed[op.rhs])
                value = self._emit(type(op)(left.value, right.value))
                self.managed[op.result] = replace(left, value=value)
            case ckks.MulOp():
                left, right = self.factors(self.managed[op.lhs], self.managed[op.rhs])
                value = self._emit(ckks.MulOp(left.value, right.value))
                self.managed[op.result] = _Managed(value, left.level, True, 3)
            case ckks.AddPlainOp() | ckks.SubPlainOp():
                left = self.managed[op.lhs]
                value = self._emit(type(op)(left.value, self.plaintext(op.rhs, left)))
                self.managed[op.result] = replace(left, value=value)
            case ckks.MulPlainOp():
                left = self.rescaled(self.managed[op.lhs])
                value = self._emit(ckks.MulPlainOp(left.value, self.plaintext(op.rhs, left)))
                self.managed[op.result] = replace(left, value=value, product=True)
            case ckks.NegateOp():
                left = self.managed[op.operand]
                self.managed[op.result] = replace(left, value=self._emit(ckks.NegateOp(left.value)))
            case ckks.RotateOp() | ckks.ConjugateOp():
                # Fewer limbs make a key switch cheaper.
                left = self.rescaled(self.relinearized(self.managed[op.operand]))
                new = type(op)(left.value, op.properties)
                self.managed[op.result] = replace(left, value=self._emit(new))
            case _:
                raise self.error(f"{op.name} has no rule for automatic levels")

    def _output(self, operand: SSAValue) -> SSAValue:
        if operand not in self.managed:
            raise self.error("only ciphertexts can be returned")
        out = self.relinearized(self.managed[operand])
        return (self.rescaled(out) if out.level > 0 else out).value

    def relinearized(self, x: _Managed) -> _Managed:
        """x with two components."""
        if x.size == 2:
            return x
        key = ("relinearize", x.value)
        if key not in self.known:
            value = self._emit(ckks.RelinearizeOp(x.value))
            self.known[key] = replace(x, value=value, size=2)
        return self.known[key]

    def rescaled(self, x: _Managed) -> _Managed:
        """x at the scale of its level; a product is relinearized first and loses a level."""
        if not x.product:
            return x
        key = ("rescale", x.value)
        if key not in self.known:
            value = self._emit(ckks.RescaleOp(self.relinearized(x).value))
            self.known[key] = _Managed(value, x.level - 1, False, 2)
        return self.known[key]

    def lowered(self, x: _Managed, level: int) -> _Managed:
        """A value of scale S_m at level m > `level`, at `level` with exactly its scale."""
        if x.level == level:
            return x
        key = ("lower", x.value, level)
        if key not in self.known:
            above = self._switched(x.value, x.level - level - 1)
            factor = (
                self._scale(level) * Scale(0, ((level + 1, 1),)) * self._scale(x.level).inverse()
            )
            scaled = self._emit(ckks.MulPlainOp(above, self.one(factor, level + 1)))
            value = self._emit(ckks.RescaleOp(scaled))
            self.known[key] = replace(x, value=value, level=level)
        return self.known[key]

    def raised(self, x: _Managed, level: int) -> _Managed:
        """A value of scale S_m at level m >= `level`, at `level` with scale S_level^2."""
        key = ("raise", x.value, level)
        if key not in self.known:
            low = self._switched(x.value, x.level - level)
            target = self._scale(level) * self._scale(level)
            factor = target * self._scale(x.level).inverse()
            value = self._emit(ckks.MulPlainOp(low, self.one(factor, level)))
            self.known[key] = replace(x, value=value, level=level, product=True)
        return self.known[key]

    def _switched(self, value: SSAValue, levels: int) -> SSAValue:
        if levels == 0:
            return value
        return self._emit(ckks.ModSwitchOp(value, {"levels": IntegerAttr(levels, i64)}))

    def factors(self, x: _Managed, y: _Managed) -> tuple[_Managed, _Managed]:
        """Both at the scale of one level, with two components."""
        x, y = self.rescaled(self.relinearized(x)), self.rescaled(self.relinearized(y))
        level = min(x.level, y.level)
        return self.lowered(x, level), self.lowered(y, level)

    def aligned(self, x: _Managed, y: _Managed) -> tuple[_Managed, _Managed]:
        """Both with equal level, scale and size."""
        if x.size != y.size:
            x, y = self.relinearized(x), self.relinearized(y)
        if x.product and y.product:
            # The sum stays a product at the lower level.
            if x.level > y.level:
                x = self.rescaled(x)
            elif y.level > x.level:
                y = self.rescaled(y)
            if x.size != y.size:
                x, y = self.relinearized(x), self.relinearized(y)
        if x.product == y.product:
            level = min(x.level, y.level)
            return self.lowered(x, level), self.lowered(y, level)
        base, product = (y, x) if x.product else (x, y)
        if base.level >= product.level:
            base = self.raised(base, product.level)
        else:
            product = self.rescaled(product)
            level = min(base.level, product.level)
            base, product = self.lowered(base, level), self.lowered(product, level)
        return (product, base) if x.product else (base, product)

    def one(self, scale: Scale, level: int) -> SSAValue:
        """The number 1 as a plaintext."""
        dense = DenseIntOrFPElementsAttr.from_list(TensorType(f64, [1]), [1.0])
        return self._encode(dense, scale, level)

    def plaintext(self, value: SSAValue, x: _Managed) -> SSAValue:
        """An encoded constant or a plaintext argument for an op with x."""
        owner = value.owner
        if isinstance(owner, ckks.EncodeOp):
            constant = owner.values.owner
            if not isinstance(constant, arith.ConstantOp) or not isinstance(
                constant.value, DenseIntOrFPElementsAttr
            ):
                raise self.error("ckks.encode needs a constant vector")
            scale = self._scale(x.level)
            adds = isinstance(self.source, ckks.AdditivePlainOp)
            return self._encode(
                constant.value, scale * scale if adds and x.product else scale, x.level
            )
        return self.plain[value]

    def _encode(self, dense: DenseIntOrFPElementsAttr, scale: Scale, level: int) -> SSAValue:
        constant = self._emit(arith.ConstantOp(dense))
        facts = ckks.PlaintextFacts(level, scale)
        return self._emit(ckks.EncodeOp(constant, ckks.PlaintextType(facts)))


@dataclass(frozen=True)
class _Need:
    """How many levels a function needs, and the op that needs the last one."""

    count: int
    op: Operation


class _Counter:
    """The rules of `AutomaticLevels` on levels alone: how deep the function goes below the top."""

    def __init__(self, function: func.FuncOp, top: int):
        self.function = function
        self.top = top
        self.state: dict[SSAValue, tuple[int, bool, int]] = {}
        self.lowest = _Need(0, function)

    def count(self) -> _Need:
        for argument in self.function.body.block.args:
            if isinstance(argument.type, ckks.CiphertextType):
                level = argument.type.data.level
                self.state[argument] = (self.top if level is None else level, False, 2)
        for op in self.function.body.block.ops:
            self._visit(op)
        return self.lowest

    def _base(self, value: SSAValue, op: Operation) -> int:
        """Level of a value once it is rescaled."""
        level, product, _ = self.state[value]
        return self._reach(level - 1, op) if product else level

    def _reach(self, level: int, op: Operation) -> int:
        if self.top - level > self.lowest.count:
            self.lowest = _Need(self.top - level, op)
        return level

    def _visit(self, op: Operation) -> None:
        match op:
            case ckks.MulOp():
                level = min(self._base(op.lhs, op), self._base(op.rhs, op))
                self.state[op.result] = (level, True, 3)
            case ckks.MulPlainOp():
                level = self._base(op.lhs, op)
                self.state[op.result] = (level, True, self.state[op.lhs][2])
            case ckks.AddOp() | ckks.SubOp():
                self.state[op.result] = self._sum(op.lhs, op.rhs, op)
            case ckks.AddPlainOp() | ckks.SubPlainOp():
                self.state[op.result] = self.state[op.lhs]
            case ckks.NegateOp():
                self.state[op.result] = self.state[op.operand]
            case ckks.RotateOp() | ckks.ConjugateOp():
                self.state[op.result] = (self._base(op.operand, op), False, 2)
            case func.ReturnOp():
                for operand in op.operands:
                    if operand in self.state and self.state[operand][0] > 0:
                        self._base(operand, op)
            case _:
                return

    def _sum(self, lhs: SSAValue, rhs: SSAValue, op: Operation) -> tuple[int, bool, int]:
        (a, a_product, _), (b, b_product, _) = self.state[lhs], self.state[rhs]
        if a_product == b_product:
            return (min(a, b), a_product, 3)
        base, product = (b, a) if a_product else (a, b)
        if base >= product:
            return (product, True, 3)
        return (min(base, self._reach(product - 1, op)), False, 3)


def _plaintext_uses(function: func.FuncOp, parameters: Parameters) -> dict[SSAValue, Attribute]:
    """Types of plaintext arguments: each is used by one op, or by ops that agree.

    Raises:
        FheliumError: two uses need different encodings.
    """
    counter = _Counter(function, parameters.top_level)
    counter.count()
    types: dict[SSAValue, Attribute] = {}
    for op in function.body.block.ops:
        if not isinstance(op, ckks.PlainOp) or isinstance(op.rhs.owner, Operation):
            continue
        level, product, _ = counter.state[op.lhs]
        multiplies = isinstance(op, ckks.MulPlainOp)
        if multiplies and product:
            level, product = level - 1, False
        scale = level_scale(parameters, max(level, 0))
        given = cast(ckks.PlaintextType, op.rhs.type).data
        wanted = ckks.PlaintextFacts(
            level if given.level is None else given.level,
            (scale * scale if product else scale) if given.scale is None else given.scale,
        )
        type_ = ckks.PlaintextType(wanted)
        if types.setdefault(op.rhs, type_) != type_:
            raise FheliumError(
                f"{PASS}: a plaintext argument would have to be {type_} here, but {types[op.rhs]} for an "
                "earlier op; pass it once for each",
                location_of(op),
            )
    return types
