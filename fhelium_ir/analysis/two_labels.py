"""Two-label problems: give each node 0 or 1 at least cost, exactly, by minimum cut.

Greig, Porteous and Seheult, "Exact maximum a posteriori estimation for binary images" (1989).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import networkx as nx

ZERO, ONE = -1, -2
"""The two terminals in a cut graph: all nodes pinned to 0, and all nodes pinned to 1."""


@dataclass
class TwoLabelProblem:
    """Nodes numbered from 0, some with a pinned label, and costs of pairs that disagree.

    An edge (u, v, cost) costs `cost` if u has label 1 and v has label 0; None forbids that.
    """

    pins: list[int | None] = field(default_factory=list[int | None])
    edges: list[tuple[int, int, int | None]] = field(
        default_factory=list[tuple[int, int, int | None]]
    )

    def node(self, pin: int | None = None) -> int:
        """A new node."""
        self.pins.append(pin)
        return len(self.pins) - 1

    def copies(self, source: int, uses: list[int], cost: int) -> None:
        """A value with label `source` is used at the labels `uses`: a copy at the other label costs
        `cost`, once.

        One auxiliary node stands for "some use has label 1", one for "no use has label 0".
        """
        distinct = [node for node in dict.fromkeys(uses) if node != source]
        if len(distinct) == 1:
            self.edges += [(distinct[0], source, cost), (source, distinct[0], cost)]
        if len(distinct) < 2:
            return
        pins = [self.pins[node] for node in distinct]
        some = self.node(1 if 1 in pins else None)
        all_ = self.node(0 if 0 in pins else None)
        for node in distinct:
            self.edges += [(node, some, None), (all_, node, None)]
        self.edges += [(some, source, cost), (source, all_, cost)]


def cost_of(problem: TwoLabelProblem, labels: list[int]) -> int | None:
    """Cost of a labelling; None if it breaks a pin or takes a forbidden pair."""
    total = 0
    for pin, label in zip(problem.pins, labels, strict=True):
        if pin is not None and pin != label:
            return None
    for u, v, cost in problem.edges:
        if labels[u] == 1 and labels[v] == 0:
            if cost is None:
                return None
            total += cost
    return total


def solve(problem: TwoLabelProblem) -> list[int]:
    """A labelling of least cost; among those the one with the fewest labels 1, which is unique.

    Pinned nodes decide nothing, so each connected component of the others is solved by itself.

    Raises:
        ValueError: the pins and the forbidden pairs exclude each other.
    """
    labels = [pin if pin is not None else 0 for pin in problem.pins]
    for edges in _components(problem):
        for node in _one_side(edges):
            labels[node] = 1
    return labels


_Edge = tuple[int, int, int | None]


def _components(problem: TwoLabelProblem) -> list[list[_Edge]]:
    """The edges that can cost something, nodes replaced by terminals where pinned, by component of
    free nodes.
    """
    parents = list(range(len(problem.pins)))

    def find(node: int) -> int:
        while parents[node] != node:
            parents[node] = parents[parents[node]]
            node = parents[node]
        return node

    kept: list[tuple[int, _Edge]] = []
    for u, v, cost in problem.edges:
        left, right = problem.pins[u], problem.pins[v]
        if left == 0 or right == 1 or cost == 0:
            continue
        if left == 1 and right == 0:
            if cost is None:
                raise ValueError("a forbidden pair of labels is pinned")
            continue
        if left is None and right is None:
            parents[find(u)] = find(v)
        edge = (u if left is None else ONE, v if right is None else ZERO, cost)
        kept.append((u if left is None else v, edge))
    groups: dict[int, list[_Edge]] = defaultdict(list)
    for node, edge in kept:
        groups[find(node)].append(edge)
    return list(groups.values())


def _one_side(edges: list[_Edge]) -> set[int]:
    """Nodes with label 1: the smallest sink side of a minimum cut, the sink being label 1."""
    heads = {u for u, _, _ in edges}
    tails = {v for _, v, _ in edges}
    if ONE not in heads:
        return set()
    if ZERO not in tails:
        return _forced(edges)
    capacities: dict[tuple[int, int], int | None] = {}
    for u, v, cost in edges:
        known = capacities.get((v, u), 0)
        capacities[v, u] = None if known is None or cost is None else known + cost
    graph: nx.DiGraph[int] = nx.DiGraph()
    for (tail, head), capacity in capacities.items():
        if capacity is None:
            graph.add_edge(tail, head)
        else:
            graph.add_edge(tail, head, capacity=capacity)
    try:
        _, (_, ones) = nx.minimum_cut(graph, ZERO, ONE)
    except nx.NetworkXUnbounded as error:
        raise ValueError("forbidden pairs of labels connect the pins") from error
    return ones - {ONE}


def _forced(edges: list[_Edge]) -> set[int]:
    """Without a node pinned to 0 everything costs nothing if what is tied to a 1 is 1."""
    after: dict[int, list[int]] = defaultdict(list)
    for u, v, _ in edges:
        after[u].append(v)
    seen, pending = {ONE}, [ONE]
    while pending:
        for node in after[pending.pop()]:
            if node not in seen:
                seen.add(node)
                pending.append(node)
    return seen - {ONE}
