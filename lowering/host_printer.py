"""The host program as Python source: allocate, view, launch, call, loop, return."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TextIO

from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, i1
from xdsl.ir import Block, Operation, SSAValue

from fhelium_ir.backend.memory import is_allocated_first
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import host, resource

# The numbers of a host program are Python integers: they must fit their types, nothing wraps.
_INFIX: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.FloorDivSIOp: "//",
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
}
_CALLS: dict[type[Operation], str] = {arith.MinSIOp: "min", arith.MaxSIOp: "max"}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_TOOLS = ("allocate", "words", "view", "fork")


def host_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The host programs of a module: its functions on memrefs."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]


def print_host(module: ModuleOp, stream: TextIO) -> None:
    """Target `host`: the source of every host program."""
    functions = host_functions(module)
    stream.write(
        "\n\n".join(host_source(function, f"prepare_{i}") for i, function in enumerate(functions))
    )


def host_source(function: func.FuncOp, name: str = "prepare") -> str:
    """Python source of `name(host)`, which returns the function `run(*arguments)`.

    Resources, kernels and operations are asked of `host` once, see `fhelium_ir.backend.host_runtime`. `run` allocates
    the arena and its results first, so that a lack of memory shows before anything runs; all else is allocated where
    it stands. In each block a variable is deleted after its last use. `scf.for` and `scf.if` on integers become Python
    loops and branches. Launches on streams other than the first stand in `with` blocks. Symbols of the program appear
    in string literals only.
    """
    return _HostSource(function).text(name)


class _HostSource:
    def __init__(self, function: func.FuncOp):
        self.function = function
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = {"host", "run", "range", "min", "max", "streams", *_TOOLS}
        self.streams = 1 + max(map(_stream, function.walk()), default=0)
        self.prepared: dict[str, str] = {}
        self.words: dict[tuple[SSAValue, str], str] = {}
        self.tools: set[str] = set()
        self.lines: list[str] = []
        self.indent = 2

    def text(self, name: str) -> str:
        block = self.function.body.block
        arguments = ", ".join(self.name(argument) for argument in block.args)
        if self.streams > 1:
            self.line(f"streams = {self.tool('fork')}({self.streams})")
        self._block(block)
        body, self.lines, self.indent = self.lines, [], 1
        self.line(f"# host program of {self.function.sym_name.data!r}")
        for tool in sorted(self.tools):
            self.line(f"{tool} = host.{tool}")
        for text, variable in self.prepared.items():
            self.line(f"{variable} = {text}")
        self.line("")
        self.line(f"def run({arguments}):")
        head = [f"def {name}(host):", *self.lines]
        return "\n".join([*head, *body, "", "    return run"]) + "\n"

    def line(self, text: str) -> None:
        self.lines.append("    " * self.indent + text if text else "")

    def fresh(self, stem: str) -> str:
        """An unused variable that starts with `stem`."""
        name, count = stem, 0
        while name in self.taken:
            count += 1
            name = f"{stem.rstrip('_')}_{count}"
        self.taken.add(name)
        return name

    def name(self, value: SSAValue) -> str:
        """The variable of a value; it ends in an underscore, which no keyword does."""
        if value not in self.names:
            hint = value.name_hint or "v"
            self.names[value] = self.fresh(
                f"{hint}_" if hint.isidentifier() and hint.isascii() else "v_"
            )
        return self.names[value]

    def prepare(self, text: str, stem: str) -> str:
        """A variable outside of `run` for what `text` gives."""
        if text not in self.prepared:
            self.prepared[text] = self.fresh(stem)
        return self.prepared[text]

    def tool(self, name: str) -> str:
        self.tools.add(name)
        return name

    # Blocks

    def _block(self, block: Block, finish: Callable[[], Sequence[str]] | None = None) -> None:
        """Prints a block; `finish` prints its terminator and says which variables go on being read."""
        dying = _dying_buffers(block)
        first = [op for op in block.ops if is_allocated_first(op)]
        for op in first:
            self._statement(op)
        for op in block.ops:
            kept: Sequence[str] = ()
            if op is block.last_op and finish is not None:
                kept = finish()
            elif isinstance(op, scf.ForOp):
                self._loop(op, dying[op])
            elif op not in first:
                self._statement(op)
            if not isinstance(op, func.ReturnOp):
                self._delete(dying[op], kept)

    def _delete(self, values: Sequence[SSAValue], kept: Sequence[str] = ()) -> None:
        """Deletes the variables of values that nothing reads any more."""
        names: list[str] = []
        for value in values:
            names += [text for (arena, _), text in self.words.items() if arena is value]
            if value in self.names and not isinstance(value.owner, host.ResourceOp):
                names.append(self.names[value])
        names = [name for name in dict.fromkeys(names) if name not in kept]
        if names:
            self.line(f"del {', '.join(names)}")

    # Operations

    def _statement(self, op: Operation) -> None:
        match op:
            case host.AllocOp():
                shape, dtype = _buffer(op.result)
                self._assign(op.result, f"{self.tool('allocate')}({shape!r}, {dtype!r})")
                self._words(op)
            case host.ViewOp():
                self._view(op)
            case host.ResourceOp():
                text = f"host.resource({op.symbol.string_value()!r})"
                hint = op.result.name_hint or "v"
                stem = f"{hint}_" if hint.isidentifier() and hint.isascii() else "v_"
                self.names[op.result] = self.prepare(text, stem)
            case host.LaunchOp():
                text = f"host.kernel({op.callee.string_value()!r}, {op.grid_shape!r})"
                call = f"{self.prepare(text, 'launch')}({self._list(op.arguments)})"
                self._on_stream(op.stream_number, call)
            case host.ChainOp():
                self._chain(op)
            case host.RecordOp():
                self._assign(op.event, f"streams.record({op.stream.value.data})")
            case host.WaitOp():
                self.line(f"streams.wait({op.stream.value.data}, {self.name(op.event)})")
            case host.CallOp():
                self._call(op)
            case scf.IfOp():
                self._branch(op)
            case func.ReturnOp():
                if self.streams > 1:
                    self.line("streams.join()")
                values = "".join(f"{self.name(value)}, " for value in op.operands)
                self.line(f"return ({values.strip()})" if values else "return ()")
            case _:
                self._number(op)

    def _assign(self, value: SSAValue, text: str) -> None:
        self.line(f"{self.name(value)} = {text}")

    def _list(self, values: Sequence[SSAValue]) -> str:
        return ", ".join(self.name(value) for value in values)

    def _words(self, op: host.AllocOp) -> None:
        """The arena as words of each width that a view wants."""
        dtypes = {
            _buffer(use.operation.result)[1]
            for use in op.result.uses
            if isinstance(use.operation, host.ViewOp)
        }
        for dtype in sorted(dtypes):
            variable = self.fresh(f"{self.name(op.result)}{dtype}")
            self.words[op.result, dtype] = variable
            self.line(f"{variable} = {self.tool('words')}({self.name(op.result)}, {dtype!r})")

    def _view(self, op: host.ViewOp) -> None:
        shape, dtype = _buffer(op.result)
        size = resource.word_memref(op.result.type).element_type.bitwidth // 8
        offset = op.offset.value.data
        words = self.words.get((op.source, dtype))
        if words is None or offset % size:
            raise FheliumError(
                "host.view: the source is no buffer of the function, or the offset is not a "
                "multiple of the word",
                location=location_of(op),
            )
        strides = tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))
        text = f"{self.tool('view')}({words}, {shape!r}, {strides!r}, {offset // size})"
        self._assign(op.result, text)

    def _call(self, op: host.CallOp) -> None:
        in_place = op.in_place is not None
        text = f"host.operation({op.callee.string_value()!r}, {in_place})"
        arguments = self._list([*op.inputs, *op.resources])
        call = f"{self.prepare(text, 'call')}({arguments})"
        if op.outputs:
            self.line(f"{''.join(f'{self.name(value)}, ' for value in op.outputs)}= {call}")
        else:
            self.line(call)

    def _on_stream(self, stream: int, call: str) -> None:
        if stream:
            self.line(f"with streams[{stream}]:")
            call = f"    {call}"
        self.line(call)

    def _chain(self, op: host.ChainOp) -> None:
        """A function of one tuple of arguments for each launch."""
        launches = tuple((one.callee.string_value(), one.grid_shape) for one in op.launches)
        variable = self.prepare(f"host.chain({launches!r}, {op.unit_numbers!r})", "chain")
        groups = ", ".join(
            f"({self._list(one.arguments)},)" if one.arguments else "()" for one in op.launches
        )
        self._on_stream(op.launches[0].stream_number, f"{variable}({groups})")

    def _loop(self, op: scf.ForOp, dying: list[SSAValue]) -> None:
        block = op.body.block
        counter, *carried = block.args
        for argument, value, result in zip(carried, op.iter_args, op.results, strict=True):
            self._assign(argument, self.name(value))
            self.names[result] = self.name(argument)
        # The loop holds what it carries; nothing else should hold the values that it began with.
        captured = {operand for inner in op.body.walk() for operand in inner.operands}
        begun = [value for value in dying if value in op.iter_args and value not in captured]
        self._delete(begun)
        dying[:] = [value for value in dying if value not in begun]
        self.line(f"for {self.name(counter)} in range({self._list((op.lb, op.ub, op.step))}):")
        self._indented(block, carried)

    def _branch(self, op: scf.IfOp) -> None:
        for result in op.results:
            self.name(result)
        self.line(f"if {self.name(op.cond)}:")
        self._indented(op.true_region.block, op.results)
        if op.false_region.blocks:
            self.line("else:")
            self._indented(op.false_region.block, op.results)

    def _indented(self, block: Block, targets: Sequence[SSAValue]) -> None:
        """A nested block; what it yields is assigned to the variables of `targets`."""
        mark = len(self.lines)
        self.indent += 1
        self._block(block, lambda: self._assign_together(targets, _yielded(block)))
        if len(self.lines) == mark:
            self.line("pass")
        self.indent -= 1

    def _assign_together(
        self, targets: Sequence[SSAValue], values: Sequence[SSAValue]
    ) -> Sequence[str]:
        names = [self.name(target) for target in targets]
        pairs = [
            (name, self.name(value))
            for name, value in zip(names, values, strict=True)
            if name != self.name(value)
        ]
        if pairs:
            left, right = zip(*pairs, strict=True)
            self.line(f"{', '.join(left)} = {', '.join(right)}")
        return names

    def _number(self, op: Operation) -> None:
        kind = type(op)
        if isinstance(op, arith.ConstantOp) and isinstance(op.value, IntegerAttr):
            number = op.value.value.data
            self._assign(op.result, str(bool(number) if op.value.type == i1 else number))
        elif kind in _INFIX:
            left, right = (self.name(operand) for operand in op.operands)
            self._assign(op.results[0], f"{left} {_INFIX[kind]} {right}")
        elif kind in _CALLS:
            self._assign(op.results[0], f"{_CALLS[kind]}({self._list(op.operands)})")
        elif isinstance(op, arith.CmpiOp) and op.predicate.value.data < len(_COMPARISONS):
            sign = _COMPARISONS[op.predicate.value.data]
            self._assign(op.result, f"{self.name(op.lhs)} {sign} {self.name(op.rhs)}")
        elif isinstance(op, arith.SelectOp):
            condition, left, right = (self.name(operand) for operand in op.operands)
            self._assign(op.result, f"{left} if {condition} else {right}")
        elif isinstance(op, arith.IndexCastOp | arith.ExtSIOp):
            self._assign(op.results[0], self.name(op.operands[0]))
        else:
            raise FheliumError(
                f"{op.name} is not part of a host program; run convert-regions-to-kernels first",
                location=location_of(op),
            )


def _dying_buffers(block: Block) -> dict[Operation, list[SSAValue]]:
    """For each op of a block the buffers of the block that it, or an op inside of it, is the last to read.

    A result that nothing reads dies with its op.
    """
    last: dict[SSAValue, Operation] = {}
    mine: set[SSAValue] = {
        argument for argument in block.args if isinstance(argument.type, MemRefType)
    }
    for op in block.ops:
        for inner in op.walk():
            for operand in inner.operands:
                if operand in mine:
                    last[operand] = op
        for result in op.results:
            if isinstance(result.type, MemRefType):
                mine.add(result)
                last[result] = op
    dying: dict[Operation, list[SSAValue]] = {op: [] for op in block.ops}
    for value, op in last.items():
        dying[op].append(value)
    return dying


def _stream(op: Operation) -> int:
    """The stream that an op names, 0 if it names none."""
    if isinstance(op, host.LaunchOp):
        return op.stream_number
    return op.stream.value.data if isinstance(op, host.RecordOp | host.WaitOp) else 0


def _yielded(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    return tuple(last.operands) if isinstance(last, scf.YieldOp) else ()


def _buffer(value: SSAValue) -> tuple[tuple[int, ...], str]:
    return resource.word_memref(value.type).get_shape(), resource.dtype_name(value.type)
