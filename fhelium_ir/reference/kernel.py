"""Exact interpreter of the kernel stage, before or after `convert-zq-to-arith`.

A value is a numpy array over (programs, *lanes) in which an axis that it does not depend on has
extent 1. Integer words are unsigned and wrap; doubles are finite. `zq` ops are computed from their
definition and refuse operands outside of the intervals that they state. Many programs run at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from xdsl.dialects import arith, scf
from xdsl.dialects import math as xdsl_math
from xdsl.dialects.builtin import Float64Type, FloatAttr, IntegerAttr, IntegerType, ModuleOp, f64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fhelium_ir.dialects import kernel, zq
from fhelium_ir.reference import kernel_floats, kernel_signed
from fhelium_ir.reference.kernel_memory import (
    Array,
    Bools,
    Buffer,
    Ints,
    KernelFault,
    map_buffers,
)

__all__ = ["InterpretedKernels", "KernelFault", "run_kernel"]

_WORDS_AT_ONCE = 1 << 15
"""Lanes that run together: small enough for the cache, large enough to hide numpy's overhead."""

_DTYPES: dict[int, np.dtype[np.generic]] = {
    1: np.dtype(np.bool_),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}


def run_kernel(
    func: kernel.FuncOp, grid: tuple[int, ...], arguments: Sequence[Array | int]
) -> None:
    """Runs one launch and leaves its stores in the buffers.

    Args:
        func: the kernel, with or without `zq` ops.
        grid: number of programs along each axis of the grid.
        arguments: for a buffer a flat contiguous numpy array of int32 or int64 (signed or
            unsigned) or float64, for a scalar an int; buffers may share memory.

    Raises:
        KernelFault: the arguments do not fit; an address out of range; two stores to one address;
            a load of what another lane stored, or a store to what another program loads; a `zq`
            op outside of its interval; loop bounds that differ between lanes; an unknown op.
    """
    _Plan.of(func).run(grid, arguments)


class InterpretedKernels:
    """The kernels of a module as functions on torch tensors."""

    def __init__(self, module: ModuleOp):
        self._plans = {
            op.sym_name.data: _Plan.of(op) for op in module.walk() if isinstance(op, kernel.FuncOp)
        }

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        """Runs one kernel; tensors are contiguous, on the CPU, and are changed in place.

        Raises:
            KernelFault: there is no such kernel, or as `run_kernel`.
        """
        plan = self._plans.get(name)
        if plan is None:
            raise KernelFault(f"there is no kernel '{name}'")
        plan.run(grid, [a if isinstance(a, int) else _flat(a) for a in arguments])


def _flat(tensor: torch.Tensor) -> Array:
    if tensor.device.type != "cpu" or not tensor.is_contiguous():
        raise KernelFault("a buffer must be a contiguous tensor on the CPU")
    return tensor.detach().view(-1).numpy()


@dataclass(frozen=True)
class _Plan:
    """A kernel together with the values that die after each op."""

    func: kernel.FuncOp
    dead_after: Mapping[Operation, tuple[SSAValue, ...]]

    @staticmethod
    def of(func: kernel.FuncOp) -> _Plan:
        dead: dict[Operation, tuple[SSAValue, ...]] = {}
        _collect_last_uses(func.body.block, dead)
        return _Plan(func, dead)

    def run(self, grid: tuple[int, ...], arguments: Sequence[Array | int]) -> None:
        name = self.func.sym_name.data
        try:
            self._run(grid, arguments)
        except KernelFault as fault:
            raise KernelFault(f"kernel '{name}': {fault}") from None

    def _run(self, grid: tuple[int, ...], arguments: Sequence[Array | int]) -> None:
        if len(grid) != self.func.grid_rank.value.data or any(extent < 1 for extent in grid):
            raise KernelFault(f"grid {grid} does not fit")
        bound = _bind_arguments(self.func, arguments)
        programs = math.prod(grid)
        step = max(1, _WORDS_AT_ONCE // self.func.lane_count)
        for first in range(0, programs, step):
            chunk = np.arange(first, min(first + step, programs), dtype=np.int64)
            _Run(self, grid, chunk, dict(bound)).run_block(self.func.body.block)


def _collect_last_uses(block: Block, dead: dict[Operation, tuple[SSAValue, ...]]) -> None:
    used_later: set[SSAValue] = set()
    for op in reversed(list(block.ops)):
        used = {
            operand
            for nested in op.walk()
            for operand in nested.operands
            if _defining_block(operand) is block
        }
        last = (used | {result for result in op.results if result.first_use is None}) - used_later
        dead[op] = tuple(last)
        used_later |= used
        for region in op.regions:
            for inner in region.blocks:
                _collect_last_uses(inner, dead)


def _defining_block(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


@dataclass(frozen=True)
class _ModulusWords:
    q: Array
    q_inverse: Array


_Value: TypeAlias = Array | Buffer | _ModulusWords


def _bind_arguments(
    func: kernel.FuncOp, arguments: Sequence[Array | int]
) -> dict[SSAValue, _Value]:
    parameters = func.body.block.args
    if len(parameters) != len(arguments):
        raise KernelFault(f"takes {len(parameters)} arguments, found {len(arguments)}")
    shape = (1,) * (1 + len(func.lane_shape))
    bound: dict[SSAValue, _Value] = {}
    arrays: list[tuple[SSAValue, Array]] = []
    for index, (parameter, argument) in enumerate(zip(parameters, arguments, strict=True)):
        if isinstance(parameter.type, kernel.BufferType):
            want = _dtype(parameter.type.element_type)
            kinds = "f" if want.kind == "f" else "iu"
            if (
                isinstance(argument, int)
                or argument.dtype.kind not in kinds
                or argument.dtype.itemsize != want.itemsize
                or argument.ndim != 1
                or not argument.flags.c_contiguous
            ):
                raise KernelFault(f"argument {index} must be a flat array for {parameter.type}")
            arrays.append((parameter, argument))
        else:
            width = _width(parameter.type)
            if not isinstance(argument, int) or not -(1 << width - 1) <= argument < 1 << width:
                raise KernelFault(f"argument {index} must be an {parameter.type}")
            bound[parameter] = _constant(argument, parameter.type, shape)
    buffers = map_buffers([array for _, array in arrays])
    for (parameter, _), buffer in zip(arrays, buffers, strict=True):
        bound[parameter] = buffer
    return bound


def _width(type_: Attribute) -> int:
    width = type_.bitwidth if isinstance(type_, IntegerType) else 0
    if width not in _DTYPES:
        raise KernelFault(f"values of type {type_} are not known")
    return width


def _dtype(type_: Attribute) -> np.dtype[np.generic]:
    return np.dtype(np.float64) if isinstance(type_, Float64Type) else _DTYPES[_width(type_)]


def _constant(value: int, type_: Attribute, shape: tuple[int, ...]) -> Array:
    return np.full(shape, value % (1 << _width(type_)), _dtype(type_))


def _signed(words: Array) -> Array:
    return words.view(np.dtype(f"i{words.itemsize}"))


def _unsigned(words: Array) -> Array:
    return words.view(np.dtype(f"u{words.itemsize}"))


def _wide_product(a: Array, b: Array) -> tuple[Array, Array]:
    """Low and high word of the product of two words, the high one from exact 32-bit halves."""
    if a.itemsize == 4:
        product = a.astype(np.uint64) * b.astype(np.uint64)
        return product.astype(np.uint32), (product >> np.uint64(32)).astype(np.uint32)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    a0, a1, b0, b1 = a & low, a >> half, b & low, b >> half
    cross, other = a0 * b1, a1 * b0
    middle = (a0 * b0 >> half) + (cross & low) + (other & low)
    return a * b, a1 * b1 + (cross >> half) + (other >> half) + (middle >> half)


_WORD_OPS: dict[type[Operation], Callable[[Array, Array], Array]] = {
    arith.AddiOp: lambda a, b: a + b,
    arith.SubiOp: lambda a, b: a - b,
    arith.MuliOp: lambda a, b: a * b,
    arith.MinUIOp: np.minimum,
    arith.MaxUIOp: np.maximum,
    arith.MinSIOp: lambda a, b: _unsigned(np.minimum(_signed(a), _signed(b))),
    arith.MaxSIOp: lambda a, b: _unsigned(np.maximum(_signed(a), _signed(b))),
}
_BIT_OPS: dict[type[Operation], Callable[[Array, Array], Array]] = {
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
}
_SHIFTS: dict[type[Operation], Callable[[Array, Array], Array]] = {
    arith.ShLIOp: lambda a, b: a << b,
    arith.ShRUIOp: lambda a, b: a >> b,
    arith.ShRSIOp: lambda a, b: _unsigned(_signed(a) >> _signed(b)),
}
_DIVISIONS: dict[type[Operation], Callable[[Array, Array], Array]] = {
    arith.DivUIOp: lambda a, b: a // b,
    arith.RemUIOp: lambda a, b: a % b,
}
_PREDICATES: tuple[Callable[[Array, Array], Bools], ...] = (
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: _signed(a) < _signed(b),
    lambda a, b: _signed(a) <= _signed(b),
    lambda a, b: _signed(a) > _signed(b),
    lambda a, b: _signed(a) >= _signed(b),
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
)


class _Run:
    """Some programs of a launch, in lockstep; `active` is where loops still run (None: all)."""

    def __init__(
        self,
        plan: _Plan,
        grid: tuple[int, ...],
        programs: Ints,
        values: dict[SSAValue, _Value],
    ):
        self.plan = plan
        self.values = values
        self.active: Bools | None = None
        lanes = plan.func.lane_shape
        rank = len(lanes)
        self.shape = (len(programs), *lanes)
        self.unit = (1,) * (1 + rank)
        self.programs = programs.reshape(-1, *(1,) * rank)
        self.coordinates = [
            axis.reshape(self.programs.shape).astype(np.uint64)
            for axis in np.unravel_index(programs, grid)
        ]
        lane_numbers = np.arange(plan.func.lane_count, dtype=np.int64).reshape(1, *lanes)
        self.lanes = self.programs * plan.func.lane_count + lane_numbers

    def run_block(self, block: Block) -> list[Array]:
        """Runs a block and returns the operands of its terminator."""
        for op in block.ops:
            if isinstance(op, kernel.ReturnOp | scf.YieldOp):
                return [self.word(operand) for operand in op.operands]
            self.run_op(op)
            for value in self.plan.dead_after[op]:
                self.values.pop(value, None)
        raise KernelFault("a block does not end with a terminator")

    def word(self, value: SSAValue) -> Array:
        found = self.values[value]
        assert isinstance(found, np.ndarray)
        return found

    def buffer(self, value: SSAValue) -> Buffer:
        found = self.values[value]
        assert isinstance(found, Buffer)
        return found

    def modulus(self, value: SSAValue) -> _ModulusWords:
        found = self.values[value]
        assert isinstance(found, _ModulusWords)
        return found

    def refuse(self, wrong: Bools, message: str) -> None:
        """Faults where `wrong` holds in a lane whose loops still run."""
        if self.active is not None:
            wrong = wrong & self.active
        if wrong.any():
            place = np.argwhere(np.broadcast_to(wrong, self.shape))[0]
            program = tuple(int(axis[place[0]].item()) for axis in self.coordinates)
            lane = tuple(int(k) for k in place[1:])
            raise KernelFault(f"{message} (program {program}, lane {lane})")

    def run_op(self, op: Operation) -> None:
        match op:
            case kernel.LoadOp():
                self.values[op.result] = self.load(op)
            case kernel.StoreOp():
                self.store(op)
            case kernel.ExchangeOp():
                self.exchange(op)
            case kernel.ProgramIdOp():
                self.values[op.result] = self.coordinates[op.axis.value.data]
            case kernel.LaneIdOp():
                axis = op.axis.value.data
                extent = self.plan.func.lane_shape[axis]
                shape = [extent if k == axis + 1 else 1 for k in range(len(self.unit))]
                self.values[op.result] = np.arange(extent, dtype=np.uint64).reshape(shape)
            case scf.ForOp():
                self.loop(op)
            case zq.ModulusOp():
                self.values[op.result] = self.words_of_modulus(op)
            case zq.BinaryZqOp() | zq.ReduceOp() if op.results[0].type == f64:
                self.values[op.results[0]] = self.floating_zq(op, op.modulus)
            case zq.ToFloatOp() | zq.ToIntegerOp():
                self.values[op.result] = self.floating_zq(op, op.modulus)
            case zq.BinaryZqOp() | zq.ReduceOp() | zq.CanonicalOp() if kernel_signed.computes(op):
                words = self.modulus(op.modulus)
                operands = [self.word(operand) for operand in op.operands[:-1]]
                checked = kernel_signed.evaluate(op, operands, words.q, words.q_inverse)
                self.values[op.results[0]] = self.value_of(checked, words.q != 0)
            case zq.BinaryZqOp() | zq.MulShoupOp() | zq.ReduceOp():
                self.values[op.results[0]] = self.zq(op)
            case arith.MulUIExtendedOp():
                low, high = _wide_product(self.word(op.lhs), self.word(op.rhs))
                self.values[op.low], self.values[op.high] = low, high
            case _:
                self.values[op.results[0]] = self.arith(op)

    def arith(self, op: Operation) -> Array:
        type_ = op.results[0].type if op.results else None
        match op:
            case arith.CmpfOp():
                lhs, rhs = self.word(op.lhs), self.word(op.rhs)
                self.refuse(np.isnan(lhs) | np.isnan(rhs), f"{op.name} of no number")
                return kernel_floats.FLOAT_PREDICATES[op.predicate.value.data](lhs, rhs)
            case arith.BitcastOp() if type_ == f64 or op.input.type == f64:
                return self.word(op.input).view(_dtype(op.result.type))
            case arith.ConstantOp() if isinstance(op.value, IntegerAttr):
                return _constant(op.value.value.data, op.result.type, self.unit)
            case arith.CmpiOp():
                compare = _PREDICATES[op.predicate.value.data]
                lhs, rhs = self.word(op.lhs), self.word(op.rhs)
                if lhs.dtype == np.bool_:
                    lhs, rhs = lhs.astype(np.uint8), rhs.astype(np.uint8)
                    # In one bit, the signed value of 1 is -1.
                    if 2 <= op.predicate.value.data <= 5:
                        lhs, rhs = rhs, lhs
                return compare(lhs, rhs)
            case arith.SelectOp():
                return np.where(self.word(op.cond), self.word(op.lhs), self.word(op.rhs))
            case arith.ExtUIOp():
                return self.word(op.input).astype(_dtype(op.result.type))
            case arith.ExtSIOp():
                word = self.word(op.input)
                wide = np.dtype(f"i{_width(op.result.type) // 8}")
                if word.dtype == np.bool_:
                    return _unsigned(-word.astype(wide))
                return _unsigned(_signed(word).astype(wide))
            case arith.TruncIOp():
                word = self.word(op.input)
                if _width(op.result.type) == 1:
                    return (word & word.dtype.type(1)).astype(np.bool_)
                return word.astype(_dtype(op.result.type))
            case _:
                pass
        if type_ == f64:
            result = self.float_arith(op)
            self.refuse(~np.isfinite(result), f"{op.name} is not finite")
            return result
        kind = type(op)
        if kind in _BIT_OPS:
            return _BIT_OPS[kind](self.word(op.operands[0]), self.word(op.operands[1]))
        if type_ is not None and _width(type_) > 1:
            if kind in _WORD_OPS:
                return _WORD_OPS[kind](self.word(op.operands[0]), self.word(op.operands[1]))
            if kind in _SHIFTS:
                word, amount = self.word(op.operands[0]), self.word(op.operands[1])
                too_far = amount >= _width(type_)
                self.refuse(too_far, f"{op.name} by the width of the word or more")
                return _SHIFTS[kind](word, np.where(too_far, 0, amount).astype(amount.dtype))
            if kind in _DIVISIONS:
                word, divisor = self.word(op.operands[0]), self.word(op.operands[1])
                self.refuse(divisor == 0, f"{op.name} by zero")
                return _DIVISIONS[kind](word, np.maximum(divisor, divisor.dtype.type(1)))
        raise KernelFault(f"the interpreter does not know '{op.name}' with type {type_}")

    def float_arith(self, op: Operation) -> Array:
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, FloatAttr):
            return np.full(self.unit, op.value.value.data, np.float64)
        words = [self.word(operand) for operand in op.operands]
        with np.errstate(all="ignore"):
            if isinstance(op, xdsl_math.FmaOp):
                return kernel_floats.fused_multiply_add(words[0], words[1], words[2])
            if type(op) in kernel_floats.FLOAT_OPS:
                return kernel_floats.FLOAT_OPS[type(op)](words[0], words[1])
        raise KernelFault(f"the interpreter does not know '{op.name}' with type f64")

    def words_of_modulus(self, op: zq.ModulusOp) -> _ModulusWords:
        words = _ModulusWords(self.word(op.q), self.word(op.q_inverse))
        if op.q.type == f64:
            self.value_of(kernel_floats.check_modulus(words.q, words.q_inverse))
        return words

    def floating_zq(self, op: Operation, modulus: SSAValue) -> Array:
        """The ops on words of `fp64`."""
        words = self.modulus(modulus)
        first = self.word(op.operands[0])
        match op:
            case zq.AddOp():
                checked = kernel_floats.add(first, self.word(op.rhs), op.name)
            case zq.SubOp():
                checked = kernel_floats.add(first, -self.word(op.rhs), op.name)
            case zq.MulOp():
                checked = kernel_floats.multiply(first, self.word(op.rhs), words.q, words.q_inverse)
            case zq.ReduceOp():
                checked = kernel_floats.reduce(first, words.q, op.from_.value.data)
            case zq.ToFloatOp():
                checked = kernel_floats.to_float(first, words.q)
            case _:
                checked = kernel_floats.to_integer(first, words.q)
        # Lanes of a masked load may have no modulus; then they have no residues to check either.
        return self.value_of(checked, words.q != 0)

    def value_of(self, checked: kernel_floats.Checked, present: Bools | None = None) -> Array:
        for wrong, message in checked.faults:
            self.refuse(wrong if present is None else wrong & present, message)
        return checked.value

    def zq(self, op: zq.BinaryZqOp | zq.MulShoupOp | zq.ReduceOp) -> Array:
        modulus = self.modulus(op.modulus)
        q = modulus.q
        # Lanes of a masked load may have no modulus; then they have no residues to check either.
        present = q != 0
        match op:
            case zq.AddOp():
                lhs = self.word(op.lhs)
                total = lhs + self.word(op.rhs)
                self.refuse((total < lhs) & present, "zq.add leaves the word")
                return total
            case zq.SubOp():
                lhs, rhs = self.word(op.lhs), self.word(op.rhs)
                offset = op.offset.value.data
                wraps = q > np.iinfo(q.dtype).max // offset
                self.refuse(wraps, "zq.sub: offset*q leaves the word")
                multiple = q * q.dtype.type(offset)
                self.refuse((rhs >= multiple) & present, "zq.sub: rhs is not below offset*q")
                total = lhs + (multiple - rhs)
                self.refuse((total < lhs) & present, "zq.sub leaves the word")
                return total
            case zq.ReduceOp():
                value = self.word(op.value)
                divisor = np.maximum(q, q.dtype.type(1))
                above = (value // divisor >= op.from_.value.data) & present
                self.refuse(above, "zq.reduce: the value is not below from*q")
                for step in op.steps():
                    less = value - q * q.dtype.type(step)
                    value = np.where(value // divisor >= step, less, value)
                return value
            case zq.MulOp():
                return self.montgomery(self.word(op.lhs), self.word(op.rhs), modulus)
            case zq.MulShoupOp():
                return self.shoup(op, q, present)
            case _:
                raise KernelFault(f"the interpreter does not know '{op.name}'")

    def montgomery(self, lhs: Array, rhs: Array, modulus: _ModulusWords) -> Array:
        """`(lhs*rhs - m*q)/R + q` with `m = lhs*rhs*q^-1 mod R`: the one word of the residue class
        `lhs*rhs/R mod q` that Montgomery's product is defined to give."""
        q = modulus.q
        low, high = _wide_product(lhs, rhs)
        low_again, subtrahend = _wide_product(low * modulus.q_inverse, q)
        self.refuse(low != low_again, "zq.mul: q_inverse is not the inverse of q")
        below = high < subtrahend
        total = np.where(below, q - (subtrahend - high), q + (high - subtrahend))
        self.refuse(~below & (total < q), "zq.mul leaves the word")
        return total

    def shoup(self, op: zq.MulShoupOp, q: Array, present: Bools) -> Array:
        """The one word of [0, 2q) that is `value*factor - c*q` for `c = floor(value*quotient/R)`."""
        value, factor, quotient = map(self.word, (op.value, op.factor, op.quotient))
        self.refuse((factor >= q) & present, "zq.mul_shoup: the factor is not below q")
        # factor*R - quotient*q, by words, has to lie in [0, q).
        low, high = _wide_product(quotient, q)
        rest = np.zeros_like(low) - low
        exact = (factor - (low > 0) == high) & (rest < q)
        self.refuse(~exact & present, "zq.mul_shoup: the quotient is not that of the factor")
        low, high = _wide_product(value, factor)
        count = _wide_product(value, quotient)[1]
        multiple_low, multiple_high = _wide_product(count, q)
        result = low - multiple_low
        outside = high - multiple_high != (low < multiple_low)
        self.refuse(outside & present, "zq.mul_shoup leaves the word")
        return result

    def mask(self, operand: SSAValue | None) -> Bools:
        own = np.ones(self.unit, np.bool_) if operand is None else self.word(operand)
        return own if self.active is None else own & self.active

    def load(self, op: kernel.LoadOp) -> Array:
        buffer, mask = self.buffer(op.buffer), self.mask(op.mask)
        offsets, mask = np.broadcast_arrays(_signed(self.word(op.offset)), mask)
        self.refuse(buffer.check_range(offsets, mask), "kernel.load out of range")
        if op.kept_blocks > 1 and not buffer.keeps_blocks(op.kept_blocks):
            raise KernelFault(f"kernel.load: the buffer does not keep blocks of {op.kept_blocks}")
        if not mask.any():
            return np.zeros(offsets.shape, buffer.words.dtype)
        self.record(op, buffer, offsets, mask)
        safe = np.where(mask, offsets, offsets[mask][0])
        return np.where(mask, buffer.words[safe], buffer.words.dtype.type(0))

    def record(self, op: Operation, buffer: Buffer, offsets: Ints, mask: Bools) -> None:
        # The lanes of an axis that the address does not depend on load the same word. Who they
        # are matters only if somebody stored it: then all are told apart.
        shape = self.shape
        if not isinstance(op, kernel.StoreOp) and not buffer.any_stored():
            shape = (self.shape[0], *offsets.shape[1:])
        lanes = self.lanes[(slice(None), *(slice(0, extent) for extent in shape[1:]))]
        mask = np.broadcast_to(mask, shape)
        where = np.broadcast_to(offsets, shape)[mask]
        programs = np.broadcast_to(self.programs, shape)[mask]
        try:
            if isinstance(op, kernel.StoreOp):
                buffer.record_stores(where, programs, lanes[mask])
            else:
                buffer.record_loads(where, programs, lanes[mask])
        except KernelFault as fault:
            raise KernelFault(f"{op.name} {fault}") from None

    def store(self, op: kernel.StoreOp) -> None:
        buffer = self.buffer(op.buffer)
        offsets = np.broadcast_to(_signed(self.word(op.offset)), self.shape)
        mask = np.broadcast_to(self.mask(op.mask), self.shape)
        self.refuse(buffer.check_range(offsets, mask), "kernel.store out of range")
        self.record(op, buffer, offsets, mask)
        buffer.words[offsets[mask]] = np.broadcast_to(self.word(op.value), self.shape)[mask]

    def exchange(self, op: kernel.ExchangeOp) -> None:
        axis = op.axis.value.data + 1
        inputs = [self.word(value) for value in op.inputs]
        shape = list(np.broadcast_shapes(*(value.shape for value in inputs)))
        shape[axis] = self.shape[axis]
        tile = np.stack([np.broadcast_to(value, shape) for value in inputs], axis=-1)
        for index, result in enumerate(op.outputs):
            # Lane a of result j is register a of lane j.
            self.values[result] = np.swapaxes(tile, axis, -1)[..., index]

    def loop(self, op: scf.ForOp) -> None:
        lower, upper, step = (_signed(self.word(v)) for v in (op.lb, op.ub, op.step))
        for bound in (lower, upper, step):
            differs = bound != bound[(slice(None), *[slice(0, 1)] * (bound.ndim - 1))]
            self.refuse(differs, "scf.for: the bounds differ between lanes")
        self.refuse(step <= 0, "scf.for: the step is not positive")
        block, outer = op.body.block, self.active
        carried = [self.word(value) for value in op.iter_args]
        counter = lower
        while True:
            running = counter < upper
            if outer is not None:
                running = running & outer
            if not running.any():
                break
            self.active = None if running.all() else running
            self.values[block.args[0]] = _unsigned(counter)
            self.values.update(zip(block.args[1:], carried, strict=True))
            following = self.run_block(block)
            if self.active is not None:
                following = [
                    np.where(running, new, old) for new, old in zip(following, carried, strict=True)
                ]
            carried = following
            counter = counter + step
        self.active = outer
        self.values.update(zip(op.results, carried, strict=True))
