"""Target `svg`: the data flow of a module as a drawing, laid out here without Graphviz.

A layered layout (Sugiyama, Tagawa and Toda, 1981) of boxes: each region is one box with its ops
below each other, any other op a box of its own. The layer of a box is the length of the longest path
to it; inside a layer, boxes stand in the order of the mean place of their neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TextIO
from xml.sax.saxutils import escape

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.tools.ir_graph import Edge, Graph, module_graph

CHARACTER, LINE, PADDING, GAP_X, GAP_Y = 6.6, 16.0, 8.0, 28.0, 56.0
"""Width of a character and height of a line at the font's size, and distances, in pixels."""

SWEEPS = 4

COLOURS: Mapping[str, str] = {
    "argument": "#dbeafe",
    "func": "#dbeafe",
    "resource": "#fef3c7",
    "ntt": "#dcfce7",
    "rns": "#f3f4f6",
    "ckks": "#ede9fe",
    "host": "#ffe4e6",
}


@dataclass
class Box:
    """A region or a lone op: its nodes from top to bottom, and where it stands."""

    number: int
    label: str
    nodes: list[int] = field(default_factory=list[int])
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0

    @property
    def height(self) -> float:
        """Height in pixels: a title, if any, and a line for each node."""
        return LINE * (len(self.nodes) + bool(self.label)) + 2 * PADDING

    def node_y(self, index: int) -> float:
        """The middle of a node's line."""
        return self.y + PADDING + LINE * (index + bool(self.label) + 0.5)


def print_svg(module: ModuleOp, stream: TextIO) -> None:
    """Writes a drawing of the module's data flow."""
    stream.write(svg_text(module_graph(module)) + "\n")


def svg_text(graph: Graph) -> str:
    """The `svg` element: boxes for regions and ops, curves for values, labels on the curves."""
    boxes, box_of = _boxes(graph)
    between = list(_between(graph, box_of))
    _place(boxes, between)
    width = max((box.x + box.width for box in boxes), default=0.0) + GAP_X
    height = max((box.y + box.height for box in boxes), default=0.0) + GAP_Y
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">'
    ]
    parts += [_curve(boxes[a], boxes[b], edge, graph) for a, b, edge in between]
    for box in boxes:
        parts += _drawn(box, graph)
    parts += [_label(boxes[a], boxes[b], edge) for a, b, edge in between if edge.label]
    return "\n".join([*parts, "</svg>"])


def _boxes(graph: Graph) -> tuple[list[Box], list[int]]:
    """The boxes, and the number of each node's box. An op in nested clusters is in the outermost."""
    boxes: list[Box] = []
    of_cluster: dict[int, int] = {}
    box_of: list[int] = []
    for number, node in enumerate(graph.nodes):
        cluster = _region(graph, node.cluster)
        if cluster is None:
            box_of.append(len(boxes))
            boxes.append(Box(len(boxes), "", [number]))
            continue
        if cluster not in of_cluster:
            of_cluster[cluster] = len(boxes)
            boxes.append(Box(len(boxes), graph.clusters[cluster].label))
        box_of.append(of_cluster[cluster])
        boxes[of_cluster[cluster]].nodes.append(number)
    for box in boxes:
        longest = max(len(graph.nodes[n].label) for n in box.nodes)
        box.width = CHARACTER * max(longest, len(box.label)) + 2 * PADDING
    return boxes, box_of


def _region(graph: Graph, cluster: int | None) -> int | None:
    """The outermost cluster around a node that is not a whole function."""
    found = None
    while cluster is not None:
        if not graph.clusters[cluster].label.startswith("@"):
            found = cluster
        cluster = graph.clusters[cluster].parent
    return found


def _between(graph: Graph, box_of: Sequence[int]) -> Iterable[tuple[int, int, Edge]]:
    """The edges that lead from one box to another, once for each pair of boxes and value."""
    seen: set[tuple[int, int, int]] = set()
    for edge in graph.edges:
        a, b = box_of[edge.source], box_of[edge.target]
        if a != b and (edge.source, a, b) not in seen:
            seen.add((edge.source, a, b))
            yield a, b, edge


def _place(boxes: Sequence[Box], between: Sequence[tuple[int, int, Edge]]) -> None:
    layers = _layers(boxes, between)
    above: dict[int, list[int]] = {box.number: [] for box in boxes}
    below: dict[int, list[int]] = {box.number: [] for box in boxes}
    for a, b, _ in between:
        above[b].append(a)
        below[a].append(b)
    rank = {number: float(i) for layer in layers for i, number in enumerate(layer)}
    for sweep in range(SWEEPS):
        neighbours = above if sweep % 2 == 0 else below
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            layer.sort(key=lambda number: (_mean(rank, neighbours[number], number), number))
            rank.update((number, float(i)) for i, number in enumerate(layer))
    y = GAP_Y / 2
    widths = [sum(boxes[n].width + GAP_X for n in layer) for layer in layers]
    for layer, width in zip(layers, widths, strict=True):
        x = GAP_X + (max(widths) - width) / 2
        for number in layer:
            boxes[number].x, boxes[number].y = x, y
            x += boxes[number].width + GAP_X
        y += max(boxes[number].height for number in layer) + GAP_Y


def _layers(boxes: Sequence[Box], between: Sequence[tuple[int, int, Edge]]) -> list[list[int]]:
    """Longest paths from above; what has no operands stands right above its first user.

    Values are defined before they are used, so the numbers of the boxes are a topological order.
    """
    users: dict[int, list[int]] = {box.number: [] for box in boxes}
    for a, b, _ in between:
        users[a].append(b)
    layer_of = dict.fromkeys(users, 0)
    for number, following in users.items():
        for user in following:
            layer_of[user] = max(layer_of[user], layer_of[number] + 1)
    for number, following in users.items():
        if following and layer_of[number] == 0:
            layer_of[number] = min(layer_of[user] for user in following) - 1
    layers: dict[int, list[int]] = {}
    for number, layer in layer_of.items():
        layers.setdefault(layer, []).append(number)
    return [layers[layer] for layer in sorted(layers)]


def _mean(rank: Mapping[int, float], neighbours: Sequence[int], own: int) -> float:
    if not neighbours:
        return rank[own]
    return sum(rank[n] for n in neighbours) / len(neighbours)


def _drawn(box: Box, graph: Graph) -> list[str]:
    parts = ["<g>"]
    kind = graph.nodes[box.nodes[0]].kind
    fill = "#ffffff" if box.label else COLOURS.get(kind, "#ffffff")
    parts.append(
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="5" fill="{fill}" stroke="#6b7280"/>'
    )
    if box.label:
        y = box.node_y(-1) + 4
        parts.append(
            f'<text x="{box.x + PADDING:.1f}" y="{y:.1f}" font-weight="bold">'
            f"{escape(box.label)}</text>"
        )
    for index, number in enumerate(box.nodes):
        node = graph.nodes[number]
        y = box.node_y(index)
        if box.label:
            parts.append(
                f'<rect x="{box.x + 3:.1f}" y="{y - LINE / 2:.1f}" width="{box.width - 6:.1f}" '
                f'height="{LINE:.1f}" fill="{COLOURS.get(node.kind, "#ffffff")}"/>'
            )
        parts.append(f'<text x="{box.x + PADDING:.1f}" y="{y + 4:.1f}">{escape(node.label)}</text>')
    return [*parts, "</g>"]


def _curve(source: Box, target: Box, edge: Edge, graph: Graph) -> str:
    x1, y1 = source.x + source.width / 2, source.y + source.height
    x2, y2 = target.x + target.width / 2, target.y
    bend = max(GAP_Y / 2, (y2 - y1) / 2)
    title = f"{graph.nodes[edge.source].label} to {graph.nodes[edge.target].label}: {edge.label}"
    return (
        f'<path d="M{x1:.1f},{y1:.1f} C{x1:.1f},{y1 + bend:.1f} {x2:.1f},{y2 - bend:.1f} '
        f'{x2:.1f},{y2:.1f}" fill="none" stroke="#9ca3af"><title>{escape(title)}</title></path>'
    )


def _label(source: Box, target: Box, edge: Edge) -> str:
    """The edge's text, near its target, where edges of one value have parted."""
    x1, y1 = source.x + source.width / 2, source.y + source.height
    x2, y2 = target.x + target.width / 2, target.y
    x, y = x2 + (x1 - x2) * 0.12, y2 - min(14.0, (y2 - y1) * 0.3)
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="9" fill="#374151" text-anchor="middle">'
        f"{escape(edge.label)}</text>"
    )
