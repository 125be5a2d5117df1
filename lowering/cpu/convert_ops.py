"""Single operations of a kernel, each converted at the end of the code it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.llvm_builder import I128, Code, integer_type
from fhelium_ir.lowering.cpu.wide_products import UPPER_WORD

_BINARY: dict[type[Operation], type[Operation]] = {
    arith.AddiOp: llvm.AddOp,
    arith.SubiOp: llvm.SubOp,
    arith.MuliOp: llvm.MulOp,
    arith.AndIOp: llvm.AndOp,
    arith.OrIOp: llvm.OrOp,
    arith.XOrIOp: llvm.XOrOp,
    arith.ShLIOp: llvm.ShlOp,
    arith.ShRUIOp: llvm.LShrOp,
    arith.ShRSIOp: llvm.AShrOp,
}

_CHOICES: dict[type[Operation], str] = {
    arith.MinUIOp: "ult",
    arith.MaxUIOp: "ugt",
    arith.MinSIOp: "slt",
    arith.MaxSIOp: "sgt",
}

_CASTS: dict[type[Operation], type[Operation]] = {
    arith.ExtUIOp: llvm.ZExtOp,
    arith.ExtSIOp: llvm.SExtOp,
    arith.TruncIOp: llvm.TruncOp,
}

_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


class Scope:
    """What the values of the kernel have become.

    Args:
        aliases: values that are other names of values.
    """

    def __init__(self, aliases: Mapping[SSAValue, SSAValue]):
        self.aliases = aliases
        self.values: dict[SSAValue, SSAValue] = {}

    def resolve(self, value: SSAValue) -> SSAValue:
        """The value that `value` is another name of."""
        while value in self.aliases:
            value = self.aliases[value]
        return value

    def get(self, value: SSAValue) -> SSAValue:
        """The converted value."""
        return self.values[self.resolve(value)]


def convert_op(op: Operation, code: Code, scope: Scope) -> None:
    """Converts one operation and enters its results into the scope.

    Raises:
        FheliumError: the operation has no place in a kernel for the CPU.
    """
    match op:
        case arith.ConstantOp():
            if not isinstance(op.value, IntegerAttr) or not isinstance(op.result.type, IntegerType):
                raise _unsupported(op)
            scope.values[op.result] = code.constant(op.value.value.data, integer_type(op.result))
        case arith.MulUIExtendedOp():
            _convert_wide_product(op, code, scope)
        case arith.CmpiOp():
            predicate = _PREDICATES[op.predicate.value.data]
            result = code.compare(predicate, scope.get(op.lhs), scope.get(op.rhs))
            scope.values[op.result] = result
        case arith.SelectOp():
            condition = scope.get(op.cond)
            result = code.select(condition, scope.get(op.lhs), scope.get(op.rhs))
            scope.values[op.result] = result
        case kernel.LoadOp():
            _convert_load(op, code, scope)
        case kernel.StoreOp():
            _convert_store(op, code, scope)
        case scf.ForOp():
            _convert_inline_loop(op, code, scope)
        case kernel.ProgramIdOp() | kernel.LaneIdOp() | scf.YieldOp():
            pass
        case _:
            _convert_simple(op, code, scope)


def _convert_simple(op: Operation, code: Code, scope: Scope) -> None:
    kind = type(op)
    if not all(isinstance(result.type, IntegerType) for result in op.results):
        raise _unsupported(op)
    if (binary := _BINARY.get(kind)) is not None:
        result = code.binary(binary, scope.get(op.operands[0]), scope.get(op.operands[1]))
    elif (predicate := _CHOICES.get(kind)) is not None:
        lhs, rhs = scope.get(op.operands[0]), scope.get(op.operands[1])
        result = code.select(code.compare(predicate, lhs, rhs), lhs, rhs)
    elif (cast := _CASTS.get(kind)) is not None:
        result = code.cast(cast, scope.get(op.operands[0]), op.results[0].type)
    else:
        raise _unsupported(op)
    scope.values[op.results[0]] = result


def _unsupported(op: Operation) -> FheliumError:
    hint = "; run convert-zq-to-arith first" if op.name.startswith("zq.") else ""
    return FheliumError(f"{op.name} is not supported on the cpu target{hint}", location_of(op))


def _convert_wide_product(op: arith.MulUIExtendedOp, code: Code, scope: Scope) -> None:
    lhs, rhs = scope.get(op.lhs), scope.get(op.rhs)
    if not isinstance(op.lhs.type, IntegerType):
        raise _unsupported(op)
    type_ = integer_type(op.lhs)
    if op.low.uses:
        scope.values[op.low] = code.mul(lhs, rhs)
    if not op.high.uses:
        return
    if code.vector and type_ == i64:
        scope.values[op.high] = _upper_word_in_vectors(lhs, rhs, code)
        return
    if type_.width.data > 64:
        raise _unsupported(op)
    wide = I128 if type_.width.data > 32 else i64
    product = code.mul(code.cast(llvm.ZExtOp, lhs, wide), code.cast(llvm.ZExtOp, rhs, wide))
    high = code.shift_right(product, type_.width.data)
    scope.values[op.high] = code.cast(llvm.TruncOp, high, type_)


def _upper_word_in_vectors(lhs: SSAValue, rhs: SSAValue, code: Code) -> SSAValue:
    """The upper 64 bits of a product by a function that LLVM can vectorise, see `wide_products`."""
    code.has_vector_products = True
    return code.append(
        llvm.CallOp.create(
            operands=(lhs, rhs), result_types=(i64,), properties=_upper_word_properties()
        )
    )


@cache
def _upper_word_properties() -> dict[str, Attribute]:
    arguments = Block(arg_types=[i64, i64]).args
    return llvm.CallOp(UPPER_WORD, *arguments, return_type=i64).properties


def declare_upper_word() -> llvm.FuncOp:
    """The declaration that calls of `UPPER_WORD` need."""
    type_ = llvm.LLVMFunctionType([i64, i64], i64)
    return llvm.FuncOp(UPPER_WORD, type_, linkage=llvm.LinkageAttr("external"))


def _convert_load(op: kernel.LoadOp, code: Code, scope: Scope) -> None:
    type_ = integer_type(op.result)
    buffer, offset = scope.get(op.buffer), scope.get(op.offset)
    if op.mask is None:
        scope.values[op.result] = code.load(code.element(buffer, offset, type_), type_)
        return
    zero = code.constant(0, type_)
    access, after = Block(), Block(arg_types=[type_])
    code.branch_if(scope.get(op.mask), access, [], after, [zero])
    code.blocks.append(access)
    code.branch(after, [code.load(code.element(buffer, offset, type_), type_)])
    code.blocks.append(after)
    scope.values[op.result] = after.args[0]


def _convert_store(op: kernel.StoreOp, code: Code, scope: Scope) -> None:
    value, buffer, offset = (scope.get(v) for v in (op.value, op.buffer, op.offset))
    access, after = Block(), Block()
    if op.mask is not None:
        code.branch_if(scope.get(op.mask), access, [], after, [])
        code.blocks.append(access)
    code.store(value, code.element(buffer, offset, op.value.type))
    if op.mask is not None:
        code.branch(after)
        code.blocks.append(after)


def _convert_inline_loop(op: scf.ForOp, code: Code, scope: Scope) -> None:
    vector, code.vector = code.vector, False

    def convert_body() -> None:
        for nested in op.body.block.ops:
            convert_op(nested, code, scope)

    convert_loop(op, code, scope, range(len(op.iter_args)), convert_body)
    code.vector = vector


def convert_loop(
    op: scf.ForOp, code: Code, scope: Scope, carried: Sequence[int], body: Callable[[], None]
) -> None:
    """An `scf.for` as blocks; its bounds compare as signed words.

    Args:
        carried: which of the loop's carried values become block arguments.
        body: converts the operations of the body, except its end.
    """
    index, *arguments = op.body.block.args
    yielded = op.body.block.last_op
    assert isinstance(yielded, scf.YieldOp)
    initial = [scope.get(op.lb), *(scope.get(op.iter_args[k]) for k in carried)]
    end, step = scope.get(op.ub), scope.get(op.step)
    header = Block(arg_types=[value.type for value in initial])
    inside, after = Block(), Block()
    code.branch(header, initial)
    code.blocks.append(header)
    code.branch_if(code.compare("slt", header.args[0], end), inside, [], after, [])
    code.blocks.append(inside)
    scope.values[index] = header.args[0]
    for k, argument in zip(carried, header.args[1:], strict=True):
        scope.values[arguments[k]] = argument
    body()
    following = [scope.get(yielded.operands[k]) for k in carried]
    code.branch(header, [code.add(header.args[0], step), *following])
    code.blocks.append(after)
    for k, argument in zip(carried, header.args[1:], strict=True):
        scope.values[op.results[k]] = argument
