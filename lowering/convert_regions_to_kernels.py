"""convert-regions-to-kernels: regions become kernels, shared by shape, and functions host programs of launches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FunctionType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnknownLoc,
    i8,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from fhelium_ir.analysis.digit_rows import Scratch
from fhelium_ir.analysis.region_graph import Unfusable
from fhelium_ir.analysis.region_graphs import RegionGraphs, region_scratch
from fhelium_ir.analysis.region_interface import is_kept
from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.analysis.requirements import resource_position
from fhelium_ir.compiler.analyses import get_analysis
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import inherit, location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import fusion, host, kernel, resource, rns
from fhelium_ir.dialects.zq import INTERFACE_WORD, WordType
from fhelium_ir.lowering.kernel_builder import Argument
from fhelium_ir.lowering.kernel_steps import kernel_steps
from fhelium_ir.lowering.launch_order import order_launches
from fhelium_ir.lowering.region_kernels import KernelCode, Tile

DEFAULT_TILE = Tile(1, 512, 4)


@dataclass(frozen=True)
class ConvertRegionsToKernels(ModulePass):
    """Lowers fusion regions to kernel functions and their function to a host program.

    Regions of equal shape (ops, access patterns, arithmetic, contract, schedule) share kernels; what differs is in
    their tables. What an implementation executes as a whole becomes a `host.operation` and a `host.call`. Launches of
    regions on different streams wait for each other where they touch the same bytes. Needs infer-resources and
    plan-memory first.
    """

    name = "convert-regions-to-kernels"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        library = _Library(op)
        for function in list(op.ops):
            if isinstance(function, func.FuncOp) and _holds_bundles(function):
                _HostLowering(library, function).run()
        op.attributes.pop(kernel.TILE, None)


def _holds_bundles(function: func.FuncOp) -> bool:
    return any(isinstance(op, fusion.FusedOp) for op in function.body.ops) or any(
        isinstance(type_, rns.PolyType)
        for type_ in (*function.function_type.inputs, *function.function_type.outputs)
    )


class _Library:
    """The kernels of a module, placed before the first function: one for each shape, but for shapes that differ in
    nothing that a kernel's text says."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.graphs = get_analysis(RegionGraphs, module)
        attribute = module.attributes.get(rns.ARITHMETIC)
        if not isinstance(attribute, rns.ArithmeticAttr):
            raise FheliumError(
                "convert-regions-to-kernels: the module has no arithmetic; "
                "run select-arithmetic first"
            )
        self.word: WordType = attribute.arithmetic.word
        self.tile = tile_of(module)
        self.codes: dict[tuple[object, ...], KernelCode] = {}
        self.declared = {
            op.sym_name.data: op for op in module.ops if isinstance(op, resource.DeclareOp)
        }
        self.alike: dict[tuple[object, ...], list[kernel.FuncOp]] = {}
        self.symbols = {name for op in module.ops for name in _symbol_of(op)}
        self.place: Operation | None = next(
            (op for op in module.ops if isinstance(op, func.FuncOp)), None
        )

    def kernels(self, graph: RegionGraph, region: Operation) -> list[KernelCode]:
        """The kernels of a region in launch order; new ones get its location."""
        codes: list[KernelCode] = []
        for step in kernel_steps(graph, self.tile):
            if step.shape not in self.codes:
                self.codes[step.shape] = self._shared(step.build(self.free_name(step.prefix)))
            code = self.codes[step.shape]
            codes.append(code)
            if isinstance(code.function.location, UnknownLoc):
                inherit(code.function, region)
        return codes

    def _shared(self, code: KernelCode) -> KernelCode:
        """The code with the function of an equal kernel, if there is one; else its function gets a place."""
        function = code.function
        rest = {name: value for name, value in function.properties.items() if name != "sym_name"}
        key = (sum(1 for _ in function.walk()), tuple(rest.items()), *function.attributes.items())
        alike = self.alike.setdefault(key, [])
        for known in alike:
            if known.body.is_structurally_equivalent(function.body):
                return replace(code, function=known)
        alike.append(function)
        self.insert(function)
        return code

    @property
    def functions(self) -> dict[str, kernel.FuncOp]:
        """The kernels by symbol."""
        codes = self.codes.values()
        return {code.function.sym_name.data: code.function for code in codes}

    def insert(self, op: Operation) -> None:
        """Puts a symbol before the first function."""
        assert self.place is not None
        self.module.body.block.insert_op_before(op, self.place)
        self.symbols.update(_symbol_of(op))

    def free_name(self, prefix: str) -> str:
        """A symbol that starts with `prefix` and is not taken."""
        count = 0
        while f"{prefix}_{count}" in self.symbols:
            count += 1
        return f"{prefix}_{count}"


def _symbol_of(op: Operation) -> tuple[str, ...]:
    """An op's symbol, if it has one."""
    name = op.get_attr_or_prop("sym_name")
    return (name.data,) if isinstance(name, StringAttr) else ()


def _listed(op: Operation) -> Sequence[SymbolRefAttr] | None:
    """The resources of an op with an implementation of its own, None if they are not inferred."""
    attribute = op.attributes.get(fusion.RESOURCES)
    return tuple(attribute) if isa(attribute, ArrayAttr[SymbolRefAttr]) else None


def tile_of(module: ModuleOp) -> Tile:
    """The tile of regions without transform that a module states, or the default one."""
    attribute = module.attributes.get(kernel.TILE)
    if not isinstance(attribute, DenseArrayBase):
        return DEFAULT_TILE
    rows, columns, warps = (int(value) for value in attribute.get_values())
    return Tile(rows, columns, warps)


@dataclass
class _HostLowering:
    library: _Library
    function: func.FuncOp
    block: Block = field(default_factory=Block)
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    resources: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    arena: SSAValue | None = None
    source: Operation | None = None

    def run(self) -> None:
        """Replaces the function's body and type."""
        function = self.function
        old = function.body.block
        self.block = Block(arg_types=[self._memref(argument) for argument in old.args])
        for before, after in zip(old.args, self.block.args, strict=True):
            after.name_hint = before.name_hint
            self.values[before] = after
        size = function.attributes.get(host.ARENA)
        if isinstance(size, IntegerAttr) and size.value.data > 0:
            self.source = function
            type_ = MemRefType(i8, [size.value.data])
            self.arena = self.emit(host.AllocOp(type_), "arena")
        for op in old.ops:
            self.source = op
            self.lower(op)
        outputs = [value.type for value in cast(Operation, self.block.last_op).operands]
        function.properties["function_type"] = FunctionType.from_lists(
            [argument.type for argument in self.block.args], outputs
        )
        function.attributes.pop(host.ARENA, None)
        function.detach_region(function.body)
        function.add_region(Region(self.block))
        order_launches(function, self.library.functions, self.library_name)

    def error(self, message: str) -> FheliumError:
        op = self.source if self.source is not None else self.function
        return FheliumError(f"convert-regions-to-kernels: {message}", location=location_of(op))

    def emit(self, op: Operation, hint: str | None = None) -> SSAValue:
        if self.source is not None:
            op.location = self.source.location
        self.block.add_op(op)
        op.results[0].name_hint = hint
        return op.results[0]

    def lower(self, op: Operation) -> None:
        """Appends what the host does for one op."""
        match op:
            case func.ReturnOp():
                new = func.ReturnOp(*(self.values[value] for value in op.operands))
                new.location = op.location
                self.block.add_op(new)
            case resource.RefOp():
                self.values[op.result] = self.resource(op.symbol)
            case _ if is_kept(op):
                self.lower_call(op)
            case fusion.FusedOp():
                self.lower_region(op)
            case _:
                raise self.error(f"{op.name} is not inside a region; run form-fusion-regions first")

    def resource(self, symbol: SymbolRefAttr) -> SSAValue:
        """The buffer of a declared resource, named once."""
        name = symbol.string_value()
        if name not in self.resources:
            declared = self.library.declared.get(name)
            if declared is None:
                raise self.error(f"resource @{name} is not declared")
            if declared.buffer is None:
                raise self.error(f"resource @{name} has no shape; run infer-resources first")
            self.resources[name] = self.emit(host.ResourceOp(name, declared.buffer), name)
        return self.resources[name]

    def _memref(self, value: SSAValue) -> MemRefType[Attribute]:
        type_: Attribute = value.type
        if not isinstance(type_, rns.PolyType):
            raise self.error(f"a value of type {type_} has no buffer")
        stored = i64 if type_.data.arithmetic == INTERFACE_WORD else self.library.word
        return MemRefType(stored, list(type_.data.shape()))

    def lower_region(self, op: fusion.FusedOp) -> None:
        """Allocates a region's results and launches its kernels."""
        try:
            graphs = self.library.graphs.graphs(op)
        except Unfusable as error:
            raise self.error(str(error)) from error
        if op.resources is None:
            raise self.error("a region names no resources; run infer-resources first")
        if any(g.anchored is not None and g.anchored.schedule is None for g in graphs):
            raise self.error("a transform has no schedule; run tune-ntt-schedules first")
        expected = [resource_position(graph, "table", len(graph.tables)) for graph in graphs]
        if len(op.resources) != sum(expected):
            raise self.error(
                f"the region reads {sum(expected)} resources, it names {len(op.resources)}; "
                "run infer-resources again"
            )
        tables = [self.resource(symbol) for symbol in op.resources]
        outputs = [self._output(op, index) for index in range(len(op.outputs))]
        memory = region_scratch(graphs)
        scratch = [self._scratch(op, index, rows) for index, rows in enumerate(memory)]
        inputs = [self.values[value] for value in op.inputs]
        for graph, count in zip(graphs, expected, strict=True):
            self._launch_kernels(op, graph, tables[:count], (inputs, outputs, scratch))
            tables = tables[count:]
        for result, output in zip(op.outputs, outputs, strict=True):
            self.values[result] = output

    def _launch_kernels(
        self,
        op: fusion.FusedOp,
        graph: RegionGraph,
        tables: Sequence[SSAValue],
        buffers: tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]],
    ) -> None:
        """Launches the kernels of a graph."""
        codes = self.library.kernels(graph, op)
        names = [code.function.sym_name.data for code in codes]
        remark(self.library_name, op, "applied", f"lowered to {', '.join(names)}")
        for code in codes:
            arguments = [
                self._number(code.number(argument, graph), argument.kind)
                if argument.kind in ("bound", "count", "component_rows")
                else self._argument(argument, graph, tables, buffers)
                for argument in code.arguments
            ]
            grid = list(code.grid(graph))
            name = code.function.sym_name.data
            launch = host.LaunchOp(name, grid, arguments, op.stream_number)
            launch.location = op.location
            host.check_launch(launch, code.function)
            self.block.add_op(launch)

    library_name = ConvertRegionsToKernels.name

    def lower_call(self, op: Operation) -> None:
        """Moves an op that an implementation executes into a `host.operation`, and calls that."""
        implementation = op.attributes[fusion.IMPLEMENTATION]
        if not isinstance(implementation, StringAttr):
            raise self.error(f"`{fusion.IMPLEMENTATION}` must be a string")
        listed = op.resources if isinstance(op, fusion.FusedOp) else _listed(op)
        if listed is None:
            raise self.error(f"{op.name} names no resources; run infer-resources first")
        tables = [self.resource(symbol) for symbol in listed]
        name = self.library.free_name("operation")
        callee = host.OperationOp.around(name, implementation.data, op)
        for key in (fusion.IMPLEMENTATION, fusion.RESOURCES, fusion.IN_PLACE):
            callee.operation.attributes.pop(key, None)
        for key in ("resources", "offsets", "stream"):
            callee.operation.properties.pop(key, None)
        self.library.insert(callee)
        call = host.CallOp(
            name,
            [self.values[value] for value in op.operands],
            tables,
            [self._memref(result) for result in op.results],
            fusion.IN_PLACE in op.attributes,
        )
        call.location = op.location
        self.block.add_op(call)
        remark(self.library_name, op, "applied", f"left to '{implementation.data}'")
        for result, output in zip(op.results, call.outputs, strict=True):
            output.name_hint = result.name_hint
            self.values[result] = output

    def _output(self, op: fusion.FusedOp, index: int) -> SSAValue:
        result = op.outputs[index]
        offset = op.offsets.data[index].value.data if op.offsets is not None else -1
        return self._place(self._memref(result), offset, result.name_hint)

    def _scratch(self, op: fusion.FusedOp, index: int, scratch: Scratch) -> SSAValue:
        """Memory that only this region uses, unless plan-memory says where."""
        offset = op.scratch.data[index].value.data if op.scratch is not None else -1
        result = op.outputs[0].type
        assert isinstance(result, rns.PolyType)
        type_ = MemRefType(self.library.word, [scratch.rows, result.data.degree])
        return self._place(type_, offset, "scratch")

    def _place(self, type_: MemRefType[Attribute], offset: int, hint: str | None) -> SSAValue:
        if offset < 0:
            return self.emit(host.AllocOp(type_), hint)
        if self.arena is None:
            raise self.error(f"the region lies in an arena, but the function has no `{host.ARENA}`")
        return self.emit(host.ViewOp(self.arena, offset, type_), hint)

    def _argument(
        self,
        argument: Argument,
        graph: RegionGraph,
        tables: Sequence[SSAValue],
        buffers: tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]],
    ) -> SSAValue:
        inputs, outputs, scratch = buffers
        match argument.kind:
            case "input":
                return inputs[argument.index]
            case "output":
                return outputs[argument.index]
            case "scratch":
                return scratch[argument.index]
            case kind:
                digits = argument.digits
                return tables[resource_position(graph, kind, argument.index, digits=digits)]

    def _number(self, value: int, hint: str) -> SSAValue:
        return self.emit(arith.ConstantOp(IntegerAttr(value, i64)), hint)
