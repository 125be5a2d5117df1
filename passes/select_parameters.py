"""`select-parameters`: ring degree, primes and digits for a program that states none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, floor

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from fhelium_ir import universe
from fhelium_ir.analysis.level_plan import LevelPlan, plan_levels
from fhelium_ir.analysis.parameter_search import build, chain_bits, shapes
from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.analysis.ranges import argument_attribute
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import collect_remarks, remark
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import SECURITY_LIMITS, Parameters, log2_text
from fhelium_ir.passes.automatic_levels import is_unmanaged
from fhelium_ir.passes.ckks_check import check_lengths
from fhelium_ir.passes.ckks_manage import CkksManage

PASS = "select-parameters"

ATTEMPTS = 16
"""Scales tried at one ring degree; each step corrects the last one's precision, so few are needed."""


@dataclass(frozen=True)
class SelectParameters(ModulePass):
    """Chooses the parameters of a module that has none; a module with `ckks.params` stays as it is.

    For each ring degree, from the smallest: the lowest scale for which the estimated error of every output is below
    2^-precision (`fhelium_ir.analysis.precision`), primes that follow it, as many as the program needs levels, q_0 with
    room for the largest value, and the digits with the cheapest key switches that stay within the security limit. The
    first ring degree that has such a set wins. All functions must leave their levels and scales to the compiler.

    Options:
        precision: bits after the binary point that every output shall have, in absolute terms.
        security: 128, or 0 for an insecure set at a given ring degree, for tests.
        ring_degree: the only ring degree to try; 0 tries all.
        max_bits: largest size of a prime.
    """

    name = PASS
    precision: int = 20
    security: int = 128
    ring_degree: int = 0
    max_bits: int = 60

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if ckks.PARAMS in op.attributes:
            return
        self._check_options()
        degrees = [self.ring_degree] if self.ring_degree else sorted(SECURITY_LIMITS)
        needed = 2 * _vector_length(op)
        refused: list[str] = []
        for degree in degrees:
            if degree < needed:
                refused.append(
                    f"ring degree {degree} has {degree // 2} slots, the program needs {needed // 2}"
                )
                continue
            try:
                found = _Search(ctx, op, self, degree).run()
            except FheliumError as error:
                place = error.location or location_of(op)
                raise FheliumError(error.message, place) from error
            if isinstance(found, Parameters):
                op.attributes[ckks.PARAMS] = ckks.ParamsAttr(found)
                remark(PASS, op, "applied", _describe(found))
                for reason in refused:
                    remark(PASS, op, "analysis", reason)
                return
            refused.append(found)
        raise FheliumError(f"{PASS}: {refused[-1]}", location_of(op))

    def _check_options(self) -> None:
        degree = self.ring_degree
        if self.security not in (0, 128):
            raise FheliumError(f"{PASS}: security must be 128 or 0, found {self.security}")
        if self.security == 0 and not degree:
            raise FheliumError(f"{PASS}: security=0 needs a ring-degree")
        if degree and (degree < 8 or degree > 1 << 17 or degree & (degree - 1)):
            raise FheliumError(
                f"{PASS}: ring-degree must be a power of two from 8 to 131072, found {degree}"
            )
        if self.security and degree and degree not in SECURITY_LIMITS:
            raise FheliumError(f"{PASS}: no security limit is known for ring degree {degree}")
        if not 1 <= self.precision < 1024:
            raise FheliumError(f"{PASS}: precision must be positive, found {self.precision}")
        if not 20 <= self.max_bits <= 61:
            raise FheliumError(f"{PASS}: max-bits must be from 20 to 61, found {self.max_bits}")


@dataclass
class _Search:
    """The search at one ring degree."""

    ctx: Context
    module: ModuleOp
    options: SelectParameters
    degree: int

    def run(self) -> Parameters | str:
        """A secure set of enough precision, or why there is none."""
        plans = self._plans()
        # Below this there are too few primes that are 1 modulo 2N.
        lowest = self.degree.bit_length() + 4
        scale_bits = max(lowest, self.options.precision + 4)
        best: Parameters | None = None
        reason = ""
        tried: set[int] = set()
        for _ in range(ATTEMPTS):
            if scale_bits in tried:
                break
            tried.add(scale_bits)
            if scale_bits > self.options.max_bits:
                reason = reason or (
                    f"ring degree {self.degree} needs a scale above 2**{self.options.max_bits}, the size of the "
                    f"largest primes, for {self.options.precision} bits of precision"
                )
                break
            try:
                parameters = self._smallest(plans, scale_bits)
            except FheliumError as error:
                if "enough primes" not in error.message:
                    raise
                scale_bits += 1  # there are few primes of this size: try larger ones
                continue
            if isinstance(parameters, str):
                return reason if best is not None else parameters
            bits = self._precision(parameters)
            if bits >= self.options.precision:
                best = parameters
                scale_bits = max(lowest, scale_bits - floor(bits - self.options.precision))
            else:
                scale_bits += ceil(self.options.precision - bits)
        if best is not None:
            return best
        return reason or f"ring degree {self.degree}: no scale was found"

    def _plans(self) -> list[LevelPlan]:
        # What runs before the management may ask for parameters; any that are long enough will do.
        with collect_remarks():
            trial = self._prepared(build(shapes([], (40,), 60, self.degree)[0], self.degree, 30))
        plans: list[LevelPlan] = []
        for function in _functions(trial):
            if not is_unmanaged(function):
                ckks.parameters_of(self.module)
            for index, argument in enumerate(function.args):
                facts = argument.type
                if not isinstance(facts, ckks.CiphertextType | ckks.PlaintextType):
                    raise FheliumError(
                        f"{PASS}: argument {index} of @{function.sym_name.data} must be a ciphertext or a "
                        f"plaintext, found {facts}",
                        location_of(function),
                    )
                if isinstance(facts, ckks.CiphertextType) and facts.data != ckks.OPEN:
                    raise FheliumError(
                        f"{PASS}: an argument states a level or a scale, but there are no parameters",
                        location_of(function),
                    )
            check_lengths(function, ckks.parameters_of(trial))
            plans.append(plan_levels(function))
        if not plans:
            ckks.parameters_of(self.module)
        return plans

    def _prepared(self, parameters: Parameters) -> ModuleOp:
        """A copy of the module under these parameters, as it comes to ckks-manage."""
        copy = self.module.clone()
        copy.attributes[ckks.PARAMS] = ckks.ParamsAttr(parameters)
        for name in universe.PIPELINES[universe.DEFAULT_PIPELINE]:
            if name == CkksManage.name:
                break
            if name != PASS:
                universe.load_pass(name)().apply(self.ctx, copy)
        return copy

    def _smallest(self, plans: list[LevelPlan], scale_bits: int) -> Parameters | str:
        """The cheapest secure set at one scale, or why there is none."""
        limit = SECURITY_LIMITS.get(self.degree, 0)
        choices = shapes(
            plans,
            chain_bits(plans, scale_bits, self.options.max_bits),
            self.options.max_bits,
            self.degree,
        )
        if not self.options.security:
            return build(choices[0], self.degree, scale_bits)
        depth = max(plan.depth for plan in plans)
        for shape in choices:
            if shape.total_bits > limit + 1:
                continue
            parameters = replace(build(shape, self.degree, scale_bits), insecure=False)
            try:
                parameters.check_security()
            except FheliumError:
                continue
            return parameters
        least = min(shape.total_bits for shape in choices)
        return (
            f"ring degree {self.degree} is too small: {depth} levels at scale 2**{scale_bits} need "
            f"log2(P*Q) = {least} bits, above {limit}, its 128-bit limit"
        )

    def _precision(self, parameters: Parameters) -> float:
        """Bits of the least precise output."""
        with collect_remarks():  # those of the trial are of no interest
            copy = self._prepared(parameters)
            CkksManage().apply(self.ctx, copy)
        outputs = [
            output.bits
            for function in _functions(copy)
            for output in output_precision(function, parameters)
        ]
        return min(outputs, default=float(self.options.precision))


def _functions(module: ModuleOp) -> list[func.FuncOp]:
    return [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]


def _vector_length(module: ModuleOp) -> int:
    """The longest vector that the program speaks of: inputs, constants, matrices, rotations, sums; a power of two."""
    longest = 1
    for op in module.walk():
        match op:
            case func.FuncOp() if not op.is_declaration:
                for index in range(len(op.args)):
                    count = argument_attribute(op, index, "ckks.slots")
                    if isinstance(count, IntegerAttr):
                        longest = max(longest, count.value.data)
            case ckks.RotateOp():
                longest = max(longest, abs(op.step) + 1)
            case ckks.SumSlotsOp():
                longest = max(longest, op.number)
            case ckks.EncodeOp() | ckks.LinearTransformOp():
                for operand in op.operands:
                    if isa(operand.type, TensorType[Attribute]):
                        longest = max(longest, operand.type.get_shape()[-1])
            case _:
                pass
    return 1 << (longest - 1).bit_length()


def _describe(parameters: Parameters) -> str:
    modulus = parameters.modulus(parameters.top_level)
    for prime in parameters.p:
        modulus *= prime
    return (
        f"ring degree {parameters.ring_degree}, {len(parameters.q)} + {len(parameters.p)} primes, "
        f"log2(P*Q) = {log2_text(modulus, 1)}, scale 2**{parameters.scale_bits}, "
        f"{parameters.digit_count()} digits"
    )
