"""The data flow of a module as a graph: ops are nodes, regions clusters, values edges.

`-t dot`, `-t svg` and the page of `-t html` draw it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import IsTerminator

from fhelium_ir.dialects import ckks, fusion, rns

LONGEST_TYPE = 40


@dataclass(frozen=True)
class Node:
    """One op, or an argument of a function; `cluster` is the number of its cluster, or None."""

    label: str
    cluster: int | None
    kind: str


@dataclass(frozen=True)
class Cluster:
    """A region: its label and the cluster that it stands in, or None."""

    label: str
    parent: int | None


@dataclass(frozen=True)
class Edge:
    """A value from the node that defines it to one that uses it."""

    source: int
    target: int
    label: str


@dataclass
class Graph:
    """Nodes, clusters and edges by number, in program order."""

    nodes: list[Node] = field(default_factory=list[Node])
    clusters: list[Cluster] = field(default_factory=list[Cluster])
    edges: list[Edge] = field(default_factory=list[Edge])


def module_graph(module: ModuleOp) -> Graph:
    """The graph of all functions of a module; kernels and declarations are left out."""
    builder = _Builder(_word_bytes(module))
    functions = [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]
    for function in functions:
        # The cluster of a function only helps where there are several.
        cluster = builder.cluster(f"@{function.sym_name.data}", None) if functions[1:] else None
        builder.function(function, cluster)
    return builder.graph


def _word_bytes(module: ModuleOp) -> int:
    arithmetic = module.attributes.get(rns.ARITHMETIC)
    if isinstance(arithmetic, rns.ArithmeticAttr):
        return arithmetic.arithmetic.word_bits // 8
    parameters = module.attributes.get(ckks.PARAMS)
    if isinstance(parameters, ckks.ParamsAttr):
        primes = (*parameters.data.q, *parameters.data.p)
        return 4 if max(primes) < 1 << 30 else 8
    return 8


class _Builder:
    def __init__(self, word_bytes: int):
        self.word_bytes = word_bytes
        self.graph = Graph()
        self.sources: dict[SSAValue, int] = {}

    def cluster(self, label: str, parent: int | None) -> int:
        self.graph.clusters.append(Cluster(label, parent))
        return len(self.graph.clusters) - 1

    def node(self, label: str, cluster: int | None, kind: str) -> int:
        self.graph.nodes.append(Node(label, cluster, kind))
        return len(self.graph.nodes) - 1

    def function(self, function: func.FuncOp, cluster: int | None) -> None:
        for argument in function.args:
            label = f"%{argument.name_hint or f'arg{argument.index}'}"
            self.sources[argument] = self.node(label, cluster, "argument")
        for block in function.body.blocks:
            for op in block.ops:
                self.op(op, cluster)

    def op(self, op: Operation, cluster: int | None) -> None:
        if isinstance(op, fusion.FusedOp):
            self.region(op, cluster)
            return
        number = self.node(_label(op), cluster, op.name.partition(".")[0])
        for operand in dict.fromkeys(op.operands):
            self.edge(operand, number)
        for result in op.results:
            self.sources[result] = number
        if op.regions:
            self.nested(op, number, cluster)

    def region(self, op: fusion.FusedOp, cluster: int | None) -> None:
        """What goes into a region goes to the ops that read it; what comes out, from its makers."""
        names = ", ".join(f"%{r.name_hint}" for r in op.outputs if r.name_hint)
        inner = self.cluster(f"region {names}".strip(), cluster)
        block = op.body.block
        for argument, value in zip(block.args, op.inputs, strict=True):
            if value in self.sources:
                self.sources[argument] = self.sources[value]
        for child in block.ops:
            if not isinstance(child, fusion.YieldOp):
                self.op(child, inner)
        for result, value in zip(op.outputs, op.yielded.values, strict=True):
            if value in self.sources:
                self.sources[result] = self.sources[value]

    def nested(self, op: Operation, number: int, cluster: int | None) -> None:
        """Regions of other ops, such as loops: their arguments come from the op itself."""
        inner = self.cluster(op.name, cluster)
        for region in op.regions:
            for block in region.blocks:
                for argument in block.args:
                    self.sources[argument] = number
                for child in block.ops:
                    if not child.has_trait(IsTerminator) or child.operands:
                        self.op(child, inner)

    def edge(self, value: SSAValue, target: int) -> None:
        source = self.sources.get(value)
        if source is not None and source != target:
            self.graph.edges.append(Edge(source, target, self.label(value.type)))

    def label(self, type_: Attribute) -> str:
        """Domain, level and bytes of a value, as far as its type states them."""
        match type_:
            case rns.PolyType():
                facts = type_.data
                return ", ".join((facts.domain or "any domain", _level(facts), self.bytes(facts)))
            case ckks.CiphertextType() | ckks.PlaintextType():
                level = "level ?" if type_.data.level is None else f"level {type_.data.level}"
                return ", ".join(part for part in (type_.data.domain, level) if part)
            case MemRefType():
                return f"{'x'.join(str(n) for n in type_.get_shape())} {type_.element_type}"
            case _:
                text = str(type_)
                return text if len(text) <= LONGEST_TYPE else f"{text[: LONGEST_TYPE - 3]}..."

    def bytes(self, facts: rns.PolyFacts) -> str:
        count = self.word_bytes
        for extent in facts.shape():
            count *= extent
        return readable_bytes(count)


def _label(op: Operation) -> str:
    names = ", ".join(f"%{r.name_hint}" for r in op.results if r.name_hint)
    callee = op.properties.get("callee") or op.properties.get("symbol")
    about = f" {callee}" if callee is not None else ""
    return f"{names} = {op.name}{about}" if names else f"{op.name}{about}"


def _level(facts: rns.PolyFacts) -> str:
    first, end = facts.basis.q
    if first == 0 and end > 0:
        special = facts.basis.p[1] - facts.basis.p[0]
        return f"level {end - 1}" + (f" + {special} special" if special else "")
    return str(facts.basis)


def readable_bytes(count: int) -> str:
    """A number of bytes with a binary unit, such as `128 KiB`."""
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.4g} {unit}"
    return f"{count} bytes"
