"""Target `dot`: the data flow of a module in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.tools.ir_graph import Graph, module_graph

SHAPES: Mapping[str, str] = {"argument": "ellipse", "func": "ellipse", "resource": "note"}


def print_dot(module: ModuleOp, stream: TextIO) -> None:
    """Writes a digraph: regions are clusters, edges say domain, level and bytes."""
    graph = module_graph(module)
    lines = ["digraph module {", "  node [shape=box, fontname=monospace, fontsize=10];"]
    lines.append("  edge [fontname=monospace, fontsize=8];")
    members: dict[int | None, list[int]] = {}
    for number, node in enumerate(graph.nodes):
        members.setdefault(node.cluster, []).append(number)
    children: dict[int | None, list[int]] = {}
    for number, cluster in enumerate(graph.clusters):
        children.setdefault(cluster.parent, []).append(number)
    lines += _contents(graph, None, members, children, "  ")
    for edge in graph.edges:
        lines.append(f"  n{edge.source} -> n{edge.target} [label={quoted(edge.label)}];")
    stream.write("\n".join([*lines, "}"]) + "\n")


def _contents(
    graph: Graph,
    cluster: int | None,
    members: Mapping[int | None, Sequence[int]],
    children: Mapping[int | None, Sequence[int]],
    indent: str,
) -> list[str]:
    lines: list[str] = []
    for number in members.get(cluster, ()):
        node = graph.nodes[number]
        shape = f", shape={SHAPES[node.kind]}" if node.kind in SHAPES else ""
        lines.append(f"{indent}n{number} [label={quoted(node.label)}{shape}];")
    for inner in children.get(cluster, ()):
        lines.append(f"{indent}subgraph cluster_{inner} {{")
        lines.append(f"{indent}  label={quoted(graph.clusters[inner].label)};")
        lines += _contents(graph, inner, members, children, indent + "  ")
        lines.append(f"{indent}}}")
    return lines


def quoted(text: str) -> str:
    """A string in double quotes, as Graphviz reads it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'
