"""`ckks-check`: the end of the program stage."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf, log2

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from fhelium_ir.analysis.ranges import argument_attribute, constant_values, value_ranges
from fhelium_ir.compiler.analyses import ALL_ANALYSES
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters

SLOTS = "ckks.slots"
"""Function argument attribute: length of the logical vector that fills the slots cyclically."""


@dataclass(frozen=True)
class CkksCheck(ModulePass):
    """Checks that a program is complete and legal; changes nothing.

    The module has parameters within the 128-bit security limit; every op is known; no level, scale
    or size is absent, and each lies within the modulus chain; every encoded constant is a finite
    vector that fills the slots; adopted scales are within their tolerance; every ciphertext that is returned or that
    a returned one depends on has headroom, that is, 2 * scale * max|value| is below the product of its remaining
    primes. Absent facts are filled by ckks-manage.
    """

    name = "ckks-check"
    preserved_analyses = ALL_ANALYSES

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        parameters = ckks.parameters_of(op)
        try:
            parameters.check_security()
        except FheliumError as error:
            raise FheliumError(error.message, location_of(op)) from error
        _remark_digits(op, parameters)
        for inner in op.ops:
            if not isinstance(inner, func.FuncOp):
                if _is_lowered(inner):
                    continue
                raise _unknown(inner)
            if not any(_is_lowered(op) for op in inner.body.walk()):
                _check_function(inner, parameters)


def _is_lowered(op: Operation) -> bool:
    """Whether an op belongs to the polynomial stage, which has passed this check before."""
    return op.dialect_name() in ("rns", "ntt", "resource", "fusion")


def _unknown(op: Operation) -> FheliumError:
    return FheliumError(f"op '{op.name}' is not part of the program stage", location_of(op))


def _remark_digits(module: ModuleOp, parameters: Parameters) -> None:
    used = parameters.digit_count()
    if used != parameters.digits:
        remark(
            "ckks-check",
            module,
            "analysis",
            f"key switching uses {used} digits instead of {parameters.digits}: "
            f"{len(parameters.q)} primes make {used} digits of {parameters.digit_size}",
        )


def _check_function(function: func.FuncOp, parameters: Parameters) -> None:
    name = function.sym_name.data
    if len(function.body.blocks) != 1:
        raise FheliumError(f"function @{name} must have one block", location_of(function))
    block = function.body.blocks[0]
    for index, argument in enumerate(block.args):
        label = f"argument {index} of @{name}"
        if not isinstance(argument.type, ckks.CiphertextType | ckks.PlaintextType):
            raise FheliumError(
                f"{label} must be a ciphertext or a plaintext, found {argument.type}",
                location_of(function),
            )
        _check_facts(label, argument, function, parameters)
        _check_divided(label, argument, function)
        _check_slots(label, function, index, parameters)
    _check_ops(block, parameters)
    _check_outputs(function, block)
    _check_ranges(function, block, parameters)


def check_lengths(function: func.FuncOp, parameters: Parameters) -> None:
    """Raises FheliumError for an argument or an encoded constant whose length does not divide the slot count."""
    for index in range(len(function.args)):
        label = f"argument {index} of @{function.sym_name.data}"
        _check_slots(label, function, index, parameters)
    for op in function.walk():
        if isinstance(op, ckks.EncodeOp):
            _check_encode(op, parameters)


def _check_slots(label: str, function: func.FuncOp, index: int, parameters: Parameters) -> None:
    attribute = argument_attribute(function, index, SLOTS)
    if attribute is None:
        return
    count = attribute.value.data if isa(attribute, IntegerAttr) else 0
    if count < 1 or parameters.slots % count:
        raise FheliumError(
            f"{label}: {SLOTS} must be an integer that divides the slot count "
            f"{parameters.slots}, found {attribute}",
            location_of(function),
        )


def _check_ops(block: Block, parameters: Parameters) -> None:
    for op in block.ops:
        if isinstance(op, arith.ConstantOp | func.ReturnOp):
            continue
        if not op.name.startswith("ckks."):
            raise _unknown(op)
        if isinstance(op, ckks.StructuredOp | ckks.RotateDynamicOp):
            first = "ckks-expand" if isinstance(op, ckks.StructuredOp) else "unroll-loops"
            raise FheliumError(f"{op.name}: run {first} first", location_of(op))
        for result in op.results:
            _check_facts(f"{op.name}: the result", result, op, parameters)
        if isinstance(op, ckks.EncodeOp):
            _check_encode(op, parameters)
        if isinstance(op, ckks.AdoptScaleOp):
            _check_adoption(op, parameters)


def _check_facts(label: str, value: SSAValue, op: Operation, parameters: Parameters) -> None:
    """No fact absent, level and scale within the chain, evaluation domain."""
    type_ = value.type
    assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
    facts = type_.data
    for fact in fields(facts):
        if getattr(facts, fact.name) is None:
            raise FheliumError(
                f"{label} has no {fact.name}: write it, or run ckks-manage first", location_of(op)
            )
    assert facts.level is not None and facts.scale is not None
    top = parameters.top_level
    if facts.level > top:
        raise FheliumError(
            f"{label} has level {facts.level}, but the top level of {len(parameters.q)} primes is "
            f"{top}",
            location_of(op),
        )
    if facts.scale.highest_prime() > top:
        raise FheliumError(
            f"{label} has scale {facts.scale}, but the last prime is q{top}", location_of(op)
        )
    if facts.domain != "evaluation":
        raise FheliumError(
            f"{label} is in the {facts.domain} domain; the program stage computes in the "
            "evaluation domain",
            location_of(op),
        )


def _check_encode(op: ckks.EncodeOp, parameters: Parameters) -> None:
    length = len(constant_values(op))
    if parameters.slots % length:
        raise FheliumError(
            f"ckks.encode: the length {length} does not divide the slot count {parameters.slots}",
            location_of(op),
        )


def _check_adoption(op: ckks.AdoptScaleOp, parameters: Parameters) -> None:
    """The ratio of the scales differs from 1 by at most the stated tolerance, exactly."""
    before, after = op.operand.type, op.result.type
    assert isinstance(before, ckks.CiphertextType) and isinstance(after, ckks.CiphertextType)
    old, new = before.data.scale, after.data.scale
    assert old is not None and new is not None
    tolerance = op.tolerance.value.data
    bits = (old * new.inverse()).log2(parameters.q)
    # The exact ratio is expanded only where it may matter: scales can be astronomically large.
    drift = abs((old * new.inverse()).value(parameters.q) - 1) if abs(bits) < 64 else None
    if drift is None or drift > Fraction(tolerance):
        by = f"{float(drift):.3g}" if drift is not None else f"2^{bits:.0f}"
        raise FheliumError(
            f"ckks.adopt_scale: the scales {old} and {new} differ by a relative {by}, more than the "
            f"tolerance {tolerance:g}",
            location_of(op),
        )


def _check_outputs(function: func.FuncOp, block: Block) -> None:
    last = block.last_op
    assert last is not None
    for index, value in enumerate(last.operands):
        if not isinstance(value.type, ckks.CiphertextType):
            label = f"output {index}{_name(value)} of @{function.sym_name.data}"
            raise FheliumError(
                f"{label} must be a ciphertext, found {value.type}", location_of(last)
            )
        _check_divided(f"output {index}{_name(value)} of @{function.sym_name.data}", value, last)


def _check_divided(label: str, value: SSAValue, op: Operation) -> None:
    """Extended values stay inside of functions."""
    type_ = value.type
    assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
    if type_.data.extended:
        raise FheliumError(
            f"{label} is extended: only a ciphertext divided by P crosses the interface of a function",
            location_of(op),
        )


def _check_ranges(function: func.FuncOp, block: Block, parameters: Parameters) -> None:
    """Headroom of every ciphertext that an output depends on: what wraps on the way is lost as well."""
    last = block.last_op
    assert last is not None
    ranges = value_ranges(function)
    for index, value in enumerate(last.operands):
        label = f"output {index}{_name(value)} of @{function.sym_name.data}"
        _check_headroom(label, value, ranges[value], last, parameters)
    outputs, needed = set(last.operands), set(last.operands)
    wrapping: list[tuple[SSAValue, Operation]] = []
    for op in reversed(list(block.ops)):
        if any(result in needed for result in op.results):
            # What is multiplied by 0 does not matter.
            if any(ranges.get(result) != 0 for result in op.results):
                needed.update(op.operands)
            wrapping += [(result, op) for result in op.results if result not in outputs]
    wrapping += [(value, function) for value in reversed(block.args) if value in needed - outputs]
    for value, op in reversed(wrapping):
        if isinstance(value.type, ckks.CiphertextType):
            label = f"value{_name(value)} of @{function.sym_name.data}"
            if isinstance(op, func.FuncOp):
                label = f"argument{_name(value)} of @{function.sym_name.data}"
            _check_headroom(label, value, ranges[value], op, parameters, remarks=False)


def _name(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""


def _check_headroom(
    label: str,
    value: SSAValue,
    bound: float,
    op: Operation,
    parameters: Parameters,
    remarks: bool = True,
) -> None:
    """2 * scale * bound < product of the remaining primes, exactly."""
    assert isinstance(value.type, ckks.CiphertextType)
    level, scale = value.type.data.level, value.type.data.scale
    assert level is not None and scale is not None
    if bound == 0:
        return
    need = inf if bound == inf else 1 + scale.log2(parameters.q) + log2(bound)
    modulus = parameters.modulus(level)
    have = log2(modulus)
    # The exact product is expanded only where it may matter: scales can be astronomically large.
    fits = need < have - 1 or (
        need < have + 1 and 2 * scale.value(parameters.q) * Fraction(bound) < modulus
    )
    if not fits:
        primes = "the only prime" if level == 0 else f"the product of the {level + 1} primes"
        raise FheliumError(
            f"{label} has no headroom: 2 * scale * max|value| = 2^{need:.2f} (max|value| <= "
            f"{bound:g}) is not below 2^{have:.2f}, {primes} of its level {level}; use a higher "
            "level, a lower scale, or state smaller inputs with ckks.range",
            location_of(op),
        )
    if remarks:
        text = f"{label}: |value| <= {bound:g}, headroom {have - need:.1f} bits"
        remark("ckks-check", op, "analysis", text)
