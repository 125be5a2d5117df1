"""infer-resources: declares every table, constant, key and plaintext of a program once, with shape and bytes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass

from fhelium_ir.analysis.region_graph import Unfusable
from fhelium_ir.analysis.region_graphs import RegionGraphs
from fhelium_ir.analysis.region_interface import is_kept
from fhelium_ir.analysis.requirements import ResourceRequirement, region_requirements
from fhelium_ir.backend.registry import OperationInvocation, active_registry
from fhelium_ir.compiler.analyses import get_analysis
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import ckks, fusion, resource, rns
from fhelium_ir.parameters import Parameters


@dataclass(frozen=True)
class InferResources(ModulePass):
    """Declares what the kernels of each region will read, and gives declared keys and plaintexts their buffers.

    An implementation that executes an op as a whole says what it needs. Equal requirements of different regions share a
    declaration. Each region lists its resources by symbol, in the order
    in which its lowering takes them.
    """

    name = "infer-resources"
    preserved_analyses = (RegionGraphs,)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        regions = [
            region
            for function in op.ops
            if isinstance(function, func.FuncOp)
            for region in function.body.ops
            if isinstance(region, fusion.FusedOp) or is_kept(region)
        ]
        self._shape_references(op)
        if not regions:
            return
        parameters = _parameters(op)
        table = _Declarations(op)
        graphs = get_analysis(RegionGraphs, op)
        for region in regions:
            listed = ArrayAttr(
                [
                    SymbolRefAttr(table.declare(requirement, region))
                    for requirement in self._requirements(region, graphs, parameters)
                ]
            )
            if isinstance(region, fusion.FusedOp):
                region.resources = listed
            else:
                region.attributes[fusion.RESOURCES] = listed

    def _requirements(
        self, region: Operation, graphs: RegionGraphs, parameters: Parameters
    ) -> tuple[ResourceRequirement, ...]:
        if is_kept(region) or not isinstance(region, fusion.FusedOp):
            chosen = active_registry().select(region)
            return chosen.resource_requirements(OperationInvocation(region, parameters))
        try:
            graph = graphs.graph(region)
        except Unfusable as error:
            raise FheliumError(f"infer-resources: {error}", location=location_of(region)) from error
        return region_requirements(graph, parameters)

    def _shape_references(self, module: ModuleOp) -> None:
        """Keys and plaintexts: shape and word follow from the bundle that the program reads."""
        arithmetic = module.attributes.get(rns.ARITHMETIC)
        symbols = {op.sym_name.data: op for op in module.ops if isinstance(op, resource.DeclareOp)}
        for op in module.walk():
            if not isinstance(op, resource.RefOp):
                continue
            name = op.symbol.string_value()
            declared = symbols.get(name)
            if declared is None:
                raise FheliumError(
                    f"infer-resources: resource @{name} is not declared", location=location_of(op)
                )
            if not isinstance(arithmetic, rns.ArithmeticAttr):
                raise FheliumError(
                    "infer-resources: the module has no arithmetic; run select-arithmetic first",
                    location=location_of(op),
                )
            assert isinstance(op.result.type, rns.PolyType)
            shape = op.result.type.data.shape()
            declared.buffer = MemRefType(arithmetic.arithmetic.word, list(shape))


class _Declarations:
    """The declared resources of a module, by kind and parameters."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.names: dict[tuple[str, DictionaryAttr], str] = {}
        self.twins: dict[tuple[str, DictionaryAttr], resource.DeclareOp] = {}
        self.counts: dict[str, int] = {}
        self.last: Operation | None = None
        symbols = (op.get_attr_or_prop("sym_name") for op in module.ops)
        self.symbols = {symbol.data for symbol in symbols if isinstance(symbol, StringAttr)}
        for op in module.ops:
            if isinstance(op, resource.DeclareOp):
                self.names[op.kind.data, op.parameters] = op.sym_name.data
                self.last = op

    def declare(self, requirement: ResourceRequirement, region: Operation) -> str:
        """The symbol of a requirement, declared on first use after the other declarations."""
        parameters = DictionaryAttr(dict(requirement.parameters))
        key = (requirement.kind, parameters)
        if key in self.names:
            return self.names[key]
        name = self._free_name(requirement.kind)
        buffer = resource.memref(requirement.shape, requirement.bits, requirement.floating)
        op = resource.DeclareOp(name, requirement.kind, parameters.data, buffer)
        op.location = region.location
        block = self.module.body.block
        if self.last is not None:
            block.insert_op_after(op, self.last)
        else:
            first = block.first_op
            assert first is not None
            block.insert_op_before(op, first)
        self.last = op
        self.names[key] = name
        remark("infer-resources", op, "applied", f"@{name} needs {requirement.bytes()} bytes")
        self._remark_twin(op, name)
        return name

    def _remark_twin(self, op: resource.DeclareOp, name: str) -> None:
        """Says which earlier table holds the same residues at another Montgomery exponent."""
        exponent = op.parameters.data.get("exponent")
        if exponent is None:
            return
        rest = {key: value for key, value in op.parameters.data.items() if key != "exponent"}
        twin = self.twins.setdefault((op.kind.data, DictionaryAttr(rest)), op)
        if twin is not op:
            text = (
                f"@{name} cannot be shared with @{twin.sym_name.data}: its exponent is "
                f"{_number(exponent)}, the other's {_number(twin.parameters.data['exponent'])}"
            )
            remark("infer-resources", op, "missed", text)

    def _free_name(self, kind: str) -> str:
        while True:
            number = self.counts.get(kind, 0)
            self.counts[kind] = number + 1
            name = f"{kind}_{number}"
            if name not in self.symbols:
                return name


def _number(exponent: Attribute) -> int:
    assert isinstance(exponent, IntegerAttr)
    return exponent.value.data


def _parameters(module: ModuleOp) -> Parameters:
    attribute = module.attributes.get(ckks.PARAMS)
    if not isinstance(attribute, ckks.ParamsAttr):
        raise FheliumError(f"infer-resources: the module has no `{ckks.PARAMS}` attribute")
    return attribute.data
