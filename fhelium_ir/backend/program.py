"""The linked function's view of a program: its operations, its host program, its kernels and its interface."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerType, ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolTable

from fhelium_ir.analysis.region_interface import is_kept
from fhelium_ir.backend.executable import BufferSpec, IntegerSpec, KernelLibrary
from fhelium_ir.backend.memory import HostMemory, host_memory
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import fusion, host, kernel, resource

if TYPE_CHECKING:
    from fhelium_ir.backend.workspace import BackendWorkspace
    from fhelium_ir.compiler.compilation import Compilation

ARGUMENT_NAME = "ckks.name"
"""Argument attribute that keeps the name of a program's input."""


@dataclass(frozen=True, eq=False)
class Program:
    """One function of a module, ready to be linked or linked.

    Attributes:
        name: of the function.
        compilation: what was linked.
        regions: the module at the region stage, whose operations the dispatch table maps; None where the compilation
            was lowered further already, and the host program's launches and calls are mapped instead.
        module: kernels, declared resources and host programs.
        workspace: where it runs.
        kernels: its kernels, compiled for the workspace's target.
    """

    name: str
    compilation: Compilation
    regions: ModuleOp | None
    module: ModuleOp
    workspace: BackendWorkspace
    kernels: KernelLibrary = field(repr=False)

    @cached_property
    def function(self) -> func.FuncOp:
        """The host program."""
        return entry_function(self.module, self.name)

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that implementations execute, in program order."""
        if self.regions is not None:
            block = entry_function(self.regions, self.name).body.block
            return tuple(op for op in block.ops if isinstance(op, fusion.FusedOp) or is_kept(op))
        return tuple(self._walk(host.LaunchOp, host.CallOp))

    @cached_property
    def calls(self) -> tuple[host.CallOp, ...]:
        """The calls of the host program, in order."""
        return tuple(op for op in self._walk(host.CallOp) if isinstance(op, host.CallOp))

    @cached_property
    def declared(self) -> Mapping[str, resource.DeclareOp]:
        """The declarations of the resources that the host program reads, by symbol.

        Raises:
            FheliumError: one is not declared, or has another type.
        """
        found: dict[str, resource.DeclareOp] = {}
        for op in self._walk(host.ResourceOp):
            assert isinstance(op, host.ResourceOp)
            name = op.symbol.string_value()
            declared = SymbolTable.lookup_symbol(self.module, op.symbol)
            if not isinstance(declared, resource.DeclareOp):
                raise FheliumError(
                    f"the program reads resource @{name}, which is not declared", location_of(op)
                )
            if declared.buffer != op.result.type:
                raise FheliumError(
                    f"the program reads resource @{name} as {op.result.type}, "
                    f"it is declared as {declared.buffer}",
                    location_of(op),
                )
            found[name] = declared
        return found

    def callee(self, call: host.CallOp) -> host.OperationOp:
        """What a call executes.

        Raises:
            FheliumError: there is no such operation.
        """
        found = SymbolTable.lookup_symbol(self.module, call.callee)
        if not isinstance(found, host.OperationOp):
            raise FheliumError(
                f"the program calls operation @{call.callee.string_value()}, which does not exist",
                location_of(call),
            )
        return found

    @cached_property
    def arguments(self) -> tuple[BufferSpec, ...]:
        """The interface of the arguments; integers have an `IntegerSpec`."""
        types = self.function.function_type.inputs
        return tuple(
            argument_spec(type_, argument_name(self.function, index))
            for index, type_ in enumerate(types)
        )

    @cached_property
    def results(self) -> tuple[BufferSpec, ...]:
        """The interface of the results."""
        types = self.function.function_type.outputs
        return tuple(argument_spec(type_, f"result{index}") for index, type_ in enumerate(types))

    @cached_property
    def memory(self) -> HostMemory:
        """Bytes of one run, without resources."""
        return host_memory(self.function)

    @property
    def kernel_functions(self) -> tuple[kernel.FuncOp, ...]:
        """The kernels that the host program launches, each once."""
        launched = {
            op.callee.string_value()
            for op in self._walk(host.LaunchOp)
            if isinstance(op, host.LaunchOp)
        }
        return tuple(
            op
            for op in self.module.ops
            if isinstance(op, kernel.FuncOp) and op.sym_name.data in launched
        )

    def _walk(self, *kinds: type[Operation]) -> Iterator[Operation]:
        for op in self.function.walk():
            if isinstance(op, kinds):
                yield op


def entry_function(module: ModuleOp, entry: str | None) -> func.FuncOp:
    """The function named `entry`, or the only one.

    Raises:
        FheliumError: there is none, or there are several and none is named.
    """
    functions = {
        op.sym_name.data: op
        for op in module.ops
        if isinstance(op, func.FuncOp) and not op.is_declaration
    }
    if entry is not None:
        if entry not in functions:
            raise unknown_name("function", entry, functions)
        return functions[entry]
    if len(functions) != 1:
        names = ", ".join(f"@{name}" for name in functions) or "none"
        raise FheliumError(f"the module has {len(functions)} functions ({names}); name one")
    return next(iter(functions.values()))


def argument_name(function: func.FuncOp, index: int) -> str:
    """The name of an argument: the one that the program gave it, else one by number."""
    attributes = function.arg_attrs
    if isinstance(attributes, ArrayAttr) and index < len(attributes.data):
        name = attributes.data[index].data.get(ARGUMENT_NAME)
        if isinstance(name, StringAttr):
            return name.data
    return f"arg{index}"


def argument_spec(type_: Attribute, name: str) -> BufferSpec:
    """The interface of a value of a host program.

    Raises:
        FheliumError: the type is neither a memref of words nor an integer.
    """
    if isinstance(type_, IndexType):
        return IntegerSpec(name, (), "int64")
    if isinstance(type_, IntegerType):
        return IntegerSpec(name, (), f"int{type_.bitwidth}")
    if type_.name != "memref":
        raise FheliumError(f"'{name}' of type {type_} is no part of a host program's interface")
    shape = resource.word_memref(type_).get_shape()
    return BufferSpec(name, shape, resource.dtype_name(type_))
