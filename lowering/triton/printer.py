"""Prints `kernel.func` as Triton.

Every SSA value is one lane's scalar. Printed, it becomes one scalar per program when it depends on
no lane axis, and otherwise a tile whose rank is the number of lane axes, with extent 1 along the
axes that it does not depend on: Triton's broadcasting does the rest. Integers are printed unsigned
everywhere and cast only around the few signed ops. Operations on doubles are each rounded once, as
long as Triton does not contract them (`enable_fp_fusion=False`, see `binding.compiler_options`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import TextIO

from xdsl.dialects import arith, scf
from xdsl.dialects import math as xdsl_math
from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    f64,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.triton import multiply_add
from fhelium_ir.lowering.triton.axes import UNIFORM, Axes, infer_axes, yielded_values
from fhelium_ir.lowering.triton.coalescing import MARK
from fhelium_ir.lowering.triton.names import Names, symbol_identifier
from fhelium_ir.lowering.triton.three_terms import folded, three_terms

IMPORTS = "import triton\nimport triton.language as tl\n"

_LITERAL_LIMIT = 1 << 31
"""From here on a bare literal would not take the type of the other operand."""

# Op to Python operator, for operands that are unsigned words or bits.
_INFIX: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.DivUIOp: "//",
    arith.RemUIOp: "%",
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
    arith.ShLIOp: "<<",
    arith.ShRUIOp: ">>",
}
_FLOAT_INFIX: dict[type[Operation], str] = {
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
}
# By predicate number of arith.cmpf, those that Python's operators mean for NaN, too.
_FLOAT_COMPARISONS = {1: "==", 2: ">", 3: ">=", 4: "<", 5: "<=", 13: "!="}
_ON_BITS = (arith.AndIOp, arith.OrIOp, arith.XOrIOp)
_CALLS: dict[type[Operation], tuple[str, bool]] = {
    arith.MinUIOp: ("tl.minimum", False),
    arith.MaxUIOp: ("tl.maximum", False),
    arith.MinSIOp: ("tl.minimum", True),
    arith.MaxSIOp: ("tl.maximum", True),
}
# By predicate number: operator, and whether it compares signed words.
_COMPARISONS: tuple[tuple[str, bool], ...] = (
    *(("==", False), ("!=", False)),
    *(("<", True), ("<=", True), (">", True), (">=", True)),
    *(("<", False), ("<=", False), (">", False), (">=", False)),
)


def kernel_source(func: kernel.FuncOp) -> str:
    """One Python module that defines the kernel.

    Args:
        func: a kernel without `zq` ops.

    Raises:
        FheliumError: an op or a type has no form in Triton; a loop bound depends on the lane.
    """
    return header([func]) + definition(func)


def header(kernels: Sequence[kernel.FuncOp]) -> str:
    """What stands in front of the definitions of some kernels in one Python module."""
    fused = any(isinstance(op, xdsl_math.FmaOp) for func in kernels for op in func.walk())
    return IMPORTS + (multiply_add.TEXT if fused else "")


def definition(func: kernel.FuncOp) -> str:
    """The function of a kernel, without the header that it needs; raises as `kernel_source`."""
    return f"\n\n{_Printer(func).definition()}"


def print_triton(module: ModuleOp, stream: TextIO) -> None:
    """Writes all kernels of a module as one Python module."""
    kernels = [func for func in module.walk() if isinstance(func, kernel.FuncOp)]
    stream.write(header(kernels))
    for func in kernels:
        stream.write(definition(func))


def argument_type(type_: Attribute) -> str:
    """Triton's name for the type of a kernel's argument: `*u64`, `*fp64`, `u64`."""
    star = ""
    if isinstance(type_, kernel.BufferType):
        star, type_ = "*", type_.element_type
    return f"{star}fp64" if isinstance(type_, Float64Type) else f"{star}u{_width(type_)}"


def warps_of(func: kernel.FuncOp) -> int:
    """Warps per program: the attribute `num_warps` if there is one, else one per 32 lanes, 1 to 8.

    Raises:
        FheliumError: the attribute is not a power of two from 1 to 32.
    """
    given = func.attributes.get("num_warps")
    if given is None:
        return min(8, max(1, func.lane_count // 32))
    value = given.value.data if isinstance(given, IntegerAttr) else 0
    if value not in (1, 2, 4, 8, 16, 32):
        raise FheliumError(
            "kernel.func: num_warps must be a power of two from 1 to 32", location_of(func)
        )
    return value


class _Printer:
    def __init__(self, func: kernel.FuncOp):
        self.func = func
        self.lanes = func.lane_shape
        self.axes = infer_axes(func)
        self.names = Names()
        self.lines: list[str] = []
        self.indent = 1
        # What is being printed, for errors.
        self.at: Operation = func
        # Words that lanes exchange should stay where they are. Triton loads and stores aligned neighbours as vectors,
        # and moves each of them through shared memory to and from the layout that the exchange wants. A program id
        # that is 0 hides the alignment of the buffers from it.
        exchanges = any(isinstance(op, kernel.ExchangeOp) for op in func.walk())
        self.unaligned = MARK if exchanges and func.grid_rank.value.data < 3 else ""

    def definition(self) -> str:
        """The header comment, the decorator and the function."""
        func = self.func
        name = symbol_identifier(func.sym_name.data)
        parameters = [self._parameter(argument) for argument in func.body.block.args]
        scalars = [
            self.names.of(argument)
            for argument in func.body.block.args
            if not isinstance(argument.type, kernel.BufferType)
        ]
        self._block(func.body.block)
        # json escapes quotes, line breaks and everything that is not ASCII.
        header = [
            f"# kernel.func @{json.dumps(func.sym_name.data)}",
            f"# lanes {list(self.lanes)}, grid of rank {func.grid_rank.value.data}, "
            f"{warps_of(func)} warps",
            f"@triton.jit(do_not_specialize={json.dumps(scalars)})" if scalars else "@triton.jit",
            f"def {name}({', '.join(parameters)}):",
        ]
        return "\n".join((*header, *self.lines)) + "\n"

    def _parameter(self, argument: SSAValue) -> str:
        """One parameter with its Triton type, so that one kernel has one binary.

        The interpreter ignores the type, therefore the body begins by casting.
        """
        name, type_ = self.names.of(argument), argument.type
        star = ""
        if isinstance(type_, kernel.BufferType):
            star, type_ = "*", type_.element_type
        word = self._type(type_)
        if _width(type_) == 1:
            raise self._error("arguments of bits are not supported")
        if type_ == f64 and not star:
            raise self._error("arguments that are doubles are not supported")
        cast = f"tl.pointer_type({word})" if star else word
        self._line(f"{name} = {name}.to({cast}){self.unaligned if star else ''}")
        return f'{name}: "{argument_type(argument.type)}"'

    def _error(self, message: str) -> FheliumError:
        return FheliumError(f"triton: {message}", location_of(self.at))

    # Pieces of text

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text)

    def _assign(self, value: SSAValue, text: str) -> None:
        self._line(f"{self.names.of(value)} = {text}")

    def _type(self, type_: Attribute, signed: bool = False) -> str:
        if isinstance(type_, Float64Type):
            return "tl.float64"
        width = _width(type_)
        if width not in (1, 32, 64):
            raise self._error(f"values of type {type_} are not supported")
        return "tl.int1" if width == 1 else f"tl.{'int' if signed else 'uint'}{width}"

    def _shape(self, axes: Axes) -> str:
        extents = (extent if k in axes else 1 for k, extent in enumerate(self.lanes))
        return f"[{', '.join(map(str, extents))}]"

    def _broadcast(self, value: SSAValue, axes: Axes) -> str:
        """The value as a tile over exactly these axes."""
        name = self.names.of(value)
        if self.axes[value] == axes:
            return name
        return f"tl.broadcast_to({name}, {self._shape(axes)})"

    def _signed(self, value: SSAValue) -> str:
        return f"{self.names.of(value)}.to({self._type(value.type, signed=True)})"

    def _infix(self, lhs: SSAValue, operator: str, rhs: SSAValue) -> str:
        """`lhs operator rhs`, with small constants as literals; one side always has a type."""
        right = _literal(rhs)
        left = None if right is not None else _literal(lhs)
        return (
            f"{self.names.of(lhs) if left is None else left} {operator} "
            f"{self.names.of(rhs) if right is None else right}"
        )

    # Operations

    def _block(self, block: Block) -> None:
        for op in block.ops:
            if not isinstance(op, kernel.ReturnOp | scf.YieldOp):
                self._operation(op)
        if not self.lines:
            self._line("pass")

    def _operation(self, op: Operation) -> None:
        self.at = op
        match op:
            case arith.ConstantOp():
                self._constant(op)
            case kernel.ProgramIdOp():
                self._program_id(op)
            case kernel.LaneIdOp():
                self._lane_id(op)
            case kernel.LoadOp():
                pointer, mask = self._address(op, self.axes[op.result])
                zero = "0.0" if op.result.type == f64 else "0"
                other = f"{mask}, other={zero}" if mask else ""
                policy = ', eviction_policy="evict_first"' if op.evicts_first else ""
                self._assign(op.result, f"tl.load({pointer}{other}{policy})")
            case kernel.StoreOp():
                pointer, mask = self._address(
                    op, UNIFORM.union(*(self.axes[v] for v in op.operands))
                )
                self._line(f"tl.store({pointer}, {self.names.of(op.value)}{mask})")
            case kernel.ExchangeOp():
                self._exchange(op)
            case scf.ForOp():
                self._loop(op)
            case arith.MulUIExtendedOp():
                self._wide_product(op)
            case arith.CmpiOp():
                self._comparison(op)
            case arith.CmpfOp():
                self._float_comparison(op)
            case arith.BitcastOp() if {op.input.type, op.result.type} == {i64, f64}:
                name, type_ = self.names.of(op.input), self._type(op.result.type)
                self._assign(op.result, f"{name}.to({type_}, bitcast=True)")
            case xdsl_math.FmaOp() if op.result.type == f64:
                self._assign(op.result, f"fma({', '.join(map(self.names.of, op.operands))})")
            case arith.SelectOp():
                self._assign(op.result, f"tl.where({', '.join(map(self.names.of, op.operands))})")
            case arith.ExtUIOp():
                self._assign(
                    op.result, f"{self.names.of(op.input)}.to({self._type(op.result.type)})"
                )
            case arith.ExtSIOp():
                self._sign_extension(op)
            case arith.TruncIOp():
                name, type_ = self.names.of(op.input), self._type(op.result.type)
                low = f"({name} & 1)" if type_ == "tl.int1" else name
                self._assign(op.result, f"{low}.to({type_})")
            case _:
                self._binary(op)

    def _constant(self, op: arith.ConstantOp) -> None:
        if isinstance(op.value, FloatAttr) and op.result.type == f64:
            self._assign(op.result, self._double(op.value.value.data))
            return
        if not isinstance(op.value, IntegerAttr):
            raise self._error("only constants that are integers or doubles are supported")
        if _literal(op.result) is None or not all(
            _takes_literal(use.operation, use.index) for use in op.result.uses
        ):
            value = op.value.value.data % (1 << _width(op.result.type))
            self._assign(op.result, f"tl.full((), {value}, {self._type(op.result.type)})")

    def _double(self, value: float) -> str:
        """A constant, exactly; a bare literal would be a number of 32 bits."""
        if not math.isfinite(value):
            raise self._error("constants must be finite")
        if value == 0 and math.copysign(1, value) < 0:
            # tl.full takes a zero for the other one.
            return f"tl.full((), {1 << 63}, tl.uint64).to(tl.float64, bitcast=True)"
        return f"tl.full((), {value!r}, tl.float64)"

    def _program_id(self, op: kernel.ProgramIdOp) -> None:
        """GPUs start programs in ascending order."""
        axis = op.axis.value.data
        text = f"tl.program_id({axis})"
        if axis == 1 and kernel.DESCENDING in self.func.attributes:
            text = f"(tl.num_programs({axis}) - 1 - {text})"
        self._assign(op.result, f"{text}.to(tl.uint64)")

    def _lane_id(self, op: kernel.LaneIdOp) -> None:
        axis, rank = op.axis.value.data, len(self.lanes)
        if self.lanes[axis] == 1:
            self._assign(op.result, "tl.full((), 0, tl.uint64)")
            return
        index = ", ".join(":" if k == axis else "None" for k in range(rank))
        text = f"tl.arange(0, {self.lanes[axis]}).to(tl.uint64)"
        self._assign(op.result, text if rank == 1 else f"{text}[{index}]")

    def _address(self, op: kernel.LoadOp | kernel.StoreOp, axes: Axes) -> tuple[str, str]:
        """The pointers of an access over `axes`, and `, mask=...` or nothing.

        Offsets are 64 bits wide, and adding them to a pointer does not look at their sign.
        """
        mask = "" if op.mask is None else f", mask={self.names.of(op.mask)}"
        return f"{self.names.of(op.buffer)} + {self._broadcast(op.offset, axes)}", mask

    def _wide_product(self, op: arith.MulUIExtendedOp) -> None:
        lhs, rhs = self.names.of(op.lhs), self.names.of(op.rhs)
        low, high = op.low.first_use is not None, op.high.first_use is not None
        if _width(op.lhs.type) == 64:
            if low:
                self._assign(op.low, f"{lhs} * {rhs}")
            if high:
                self._assign(op.high, f"tl.umulhi({lhs}, {rhs})")
            return
        # Both halves from one widening multiplication: ptxas does not merge two.
        wide = self.names.fresh("wide")
        self._type(op.lhs.type)
        self._line(f"{wide} = {lhs}.to(tl.uint64) * {rhs}.to(tl.uint64)")
        if low:
            self._assign(op.low, f"{wide}.to(tl.uint32)")
        if high:
            self._assign(op.high, f"({wide} >> 32).to(tl.uint32)")

    def _comparison(self, op: arith.CmpiOp) -> None:
        operator, signed = _COMPARISONS[op.predicate.value.data]
        if not signed:
            self._assign(op.result, self._infix(op.lhs, operator, op.rhs))
        elif _width(op.lhs.type) == 1:
            raise self._error("signed comparisons of bits")
        else:
            self._assign(op.result, f"{self._signed(op.lhs)} {operator} {self._signed(op.rhs)}")

    def _float_comparison(self, op: arith.CmpfOp) -> None:
        operator = _FLOAT_COMPARISONS.get(op.predicate.value.data)
        if operator is None or op.lhs.type != f64:
            raise self._error(f"this predicate of '{op.name}' has no form in Triton")
        lhs, rhs = self.names.of(op.lhs), self.names.of(op.rhs)
        self._assign(op.result, f"{lhs} {operator} {rhs}")

    def _sign_extension(self, op: arith.ExtSIOp) -> None:
        wide = self._type(op.result.type)
        if _width(op.input.type) == 1:
            self._assign(op.result, f"0 - {self.names.of(op.input)}.to({wide})")
        else:
            self._assign(op.result, f"{self._signed(op.input)}.to({wide})")

    def _binary(self, op: Operation) -> None:
        if folded(op):
            return
        if (terms := three_terms(op)) is not None:
            text = " ".join(t if isinstance(t, str) else self.names.of(t) for t in terms)
            self._assign(op.results[0], text)
            return
        kind = type(op)
        words = bool(op.results) and _width(op.results[0].type) > 1
        if kind in _FLOAT_INFIX and op.results[0].type == f64:
            lhs, rhs = map(self.names.of, op.operands)
            self._assign(op.results[0], f"{lhs} {_FLOAT_INFIX[kind]} {rhs}")
        elif kind in _INFIX and (words or kind in _ON_BITS):
            self._assign(op.results[0], self._infix(op.operands[0], _INFIX[kind], op.operands[1]))
        elif kind in _CALLS and words:
            function, signed = _CALLS[kind]
            name: Callable[[SSAValue], str] = self._signed if signed else self.names.of
            back = f".to({self._type(op.results[0].type)})" if signed else ""
            arguments = ", ".join(map(name, op.operands))
            self._assign(op.results[0], f"{function}({arguments}){back}")
        elif isinstance(op, arith.ShRSIOp) and words:
            shifted = f"({self._signed(op.lhs)} >> {self._signed(op.rhs)})"
            self._assign(op.result, f"{shifted}.to({self._type(op.result.type)})")
        else:
            raise self._error(f"'{op.name}' has no form in Triton")

    def _exchange(self, op: kernel.ExchangeOp) -> None:
        """Joins the registers into a last axis, swaps it with the lane axis and splits it again.

        Each join pairs k with k + half, so the joined axes are the bits of the register number
        from the highest to the lowest, and reshaping makes them one axis.
        """
        axis, count = op.axis.value.data, len(op.inputs)
        if count == 1:
            self._assign(op.outputs[0], self.names.of(op.inputs[0]))
            return
        axes = self.axes[op.outputs[0]]
        parts = [self._broadcast(value, axes) for value in op.inputs]
        tile = self.names.fresh("tile")
        extents = [extent if k in axes else 1 for k, extent in enumerate(self.lanes)]
        swapped = list(range(len(extents) + 1))
        swapped[axis], swapped[-1] = swapped[-1], swapped[axis]
        bits = [2] * (count.bit_length() - 1)
        self._line(f"{tile} = {self._join(parts)}")
        self._line(f"{tile} = tl.reshape({tile}, {[*extents, count]})")
        self._line(f"{tile} = tl.permute({tile}, {swapped})")
        self._line(f"{tile} = tl.reshape({tile}, {[*extents, *bits]})")
        self._split(tile, [self.names.of(value) for value in op.outputs])

    def _join(self, parts: list[str]) -> str:
        while len(parts) > 2:
            half = len(parts) // 2
            joined = [self.names.fresh("pair") for _ in range(half)]
            for k, name in enumerate(joined):
                self._line(f"{name} = tl.join({parts[k]}, {parts[k + half]})")
            parts = joined
        return f"tl.join({parts[0]}, {parts[1]})"

    def _split(self, tile: str, results: list[str]) -> None:
        """Splits the last axis, the lowest bit of the number of the result, first."""
        if len(results) == 1:
            self._line(f"{results[0]} = {tile}")
            return
        if len(results) == 2:
            self._line(f"{results[0]}, {results[1]} = tl.split({tile})")
            return
        even, odd = self.names.fresh("even"), self.names.fresh("odd")
        self._line(f"{even}, {odd} = tl.split({tile})")
        self._split(even, results[0::2])
        self._split(odd, results[1::2])

    def _loop(self, op: scf.ForOp) -> None:
        counter, *carried = op.body.block.args
        for argument, value, result in zip(carried, op.iter_args, op.results, strict=True):
            self._assign(argument, self._broadcast(value, self.axes[argument]))
            self.names.share(result, self.names.of(argument))
        index = self.names.fresh("i")
        bounds = ", ".join(map(self._bound, (op.lb, op.ub, op.step)))
        self._line(f"for {index} in range({bounds}):")
        self.indent += 1
        # Under the interpreter the counter is a Python int, else a scalar: tl.full takes both.
        type_ = self._type(counter.type)
        self._assign(counter, f"tl.full((), {index}, tl.int64).to({type_})")
        self._block(op.body.block)
        targets = [
            (self.names.of(argument), self._broadcast(value, self.axes[argument]))
            for argument, value in zip(carried, yielded_values(op), strict=True)
        ]
        targets = [(name, text) for name, text in targets if name != text]
        if targets:
            names, texts = zip(*targets, strict=True)
            self._line(f"{', '.join(names)} = {', '.join(texts)}")
        self.indent -= 1

    def _bound(self, value: SSAValue) -> str:
        literal = _literal(value)
        return str(literal) if literal is not None else f"{self._signed(value)}.to(tl.int64)"


def _width(type_: Attribute) -> int:
    return type_.bitwidth if isinstance(type_, IntegerType) else 0


def _literal(value: SSAValue) -> int | None:
    """The value of a small constant word, which may be printed as a literal."""
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
        number = op.value.value.data
        if 0 <= number < _LITERAL_LIMIT and _width(value.type) > 1:
            return number
    return None


def _takes_literal(op: Operation, index: int) -> bool:
    """Whether the printed form of a use shows a small constant as a literal."""
    match op:
        case arith.CmpiOp():
            if _COMPARISONS[op.predicate.value.data][1]:
                return False
            return index == 1 or _literal(op.rhs) is None
        case scf.ForOp():
            return index < 3
        case _:
            return type(op) in _INFIX and (index == 1 or _literal(op.operands[1]) is None)
