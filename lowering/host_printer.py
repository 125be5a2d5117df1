"""The host program as Python source: allocate, view, launch, return."""

from __future__ import annotations

from typing import TextIO, cast

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.ir import Operation, SSAValue

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import host, resource


def host_functions(module: ModuleOp) -> list[func.FuncOp]:
    """The host programs of a module: its functions on memrefs."""
    return [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]


def print_host(module: ModuleOp, stream: TextIO) -> None:
    """Target `host`: the source of every host program."""
    functions = host_functions(module)
    stream.write(
        "\n\n".join(host_source(function, f"run_{i}") for i, function in enumerate(functions))
    )


def host_source(function: func.FuncOp, name: str = "run") -> str:
    """Python source of `name(runtime, resources, *arguments)`.

    `runtime.allocate(shape, dtype)` gives a tensor, `runtime.view(arena, offset, shape, dtype)` a typed part of one,
    and `runtime.launch(kernel, grid, arguments)` runs a kernel; `resources` maps symbols to tensors. Symbols of the
    program appear in string literals only.
    """
    return _HostSource(function).text(name)


class _HostSource:
    def __init__(self, function: func.FuncOp):
        self.function = function
        self.names: dict[SSAValue, str] = {}
        self.taken: set[str] = {"runtime", "resources"}
        self.lines: list[str] = []

    def text(self, name: str) -> str:
        block = self.function.body.block
        arguments = [self.name(argument) for argument in block.args]
        last_use = {value: op for op in block.ops for value in op.operands}
        for op in block.ops:
            self.lines.append(self._statement(op))
            dead = [v for v in dict.fromkeys(op.operands) if last_use[v] is op and v in self.names]
            if dead and not isinstance(op, func.ReturnOp):
                # Buffers go back to the allocator as soon as nothing reads them.
                self.lines.append(f"del {', '.join(self.names[value] for value in dead)}")
        head = f"def {name}({', '.join(['runtime', 'resources', *arguments])}):"
        comment = f"    # host program of {self.function.sym_name.data!r}"
        return "\n".join([head, comment, *(f"    {line}" for line in self.lines)]) + "\n"

    def name(self, value: SSAValue) -> str:
        if value not in self.names:
            hint = value.name_hint or "v"
            base = hint if hint.isidentifier() and hint.isascii() else "v"
            name, count = f"{base}_", 0
            while name in self.taken:
                count += 1
                name = f"{base}_{count}"
            self.taken.add(name)
            self.names[value] = name
        return self.names[value]

    def _statement(self, op: Operation) -> str:
        match op:
            case host.AllocOp():
                return f"{self.name(op.result)} = runtime.allocate({_buffer(op.result)})"
            case host.ViewOp():
                source, offset = self.name(op.source), op.offset.value.data
                return (
                    f"{self.name(op.result)} = runtime.view({source}, {offset}, "
                    f"{_buffer(op.result)})"
                )
            case host.ResourceOp():
                return f"{self.name(op.result)} = resources[{op.symbol.string_value()!r}]"
            case arith.ConstantOp():
                assert isinstance(op.value, IntegerAttr)
                value = cast("IntegerAttr[IntegerType]", op.value).value.data
                return f"{self.name(op.result)} = {value}"
            case host.LaunchOp():
                arguments = ", ".join(self.name(argument) for argument in op.arguments)
                return (
                    f"runtime.launch({op.callee.string_value()!r}, {op.grid_shape!r}, "
                    f"({arguments},))"
                )
            case func.ReturnOp():
                values = "".join(f"{self.name(value)}, " for value in op.operands)
                return f"return ({values.strip()})" if values else "return ()"
            case _:
                raise FheliumError(
                    f"{op.name} is not part of a host program; run convert-regions-to-kernels first",
                    location=location_of(op),
                )


def _buffer(value: SSAValue) -> str:
    type_ = resource.integer_memref(value.type)
    return f"{type_.get_shape()!r}, 'int{type_.element_type.width.data}'"
