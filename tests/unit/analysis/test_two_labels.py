"""Two-label problems against the enumeration of all labellings."""

from __future__ import annotations

import itertools
import random

import pytest

from fhelium_ir.analysis.two_labels import TwoLabelProblem, cost_of, solve


def random_problem(rng: random.Random) -> TwoLabelProblem:
    problem = TwoLabelProblem()
    for _ in range(rng.randrange(2, 8)):
        problem.node(rng.choice([None, None, 0, 1]))
    nodes = range(len(problem.pins))
    for _ in range(rng.randrange(1, 14)):
        cost = rng.choice([None, 1, 2, 3, 5, 8])
        problem.edges.append((rng.choice(nodes), rng.choice(nodes), cost))
    return problem


def best_labellings(problem: TwoLabelProblem) -> tuple[int | None, list[list[int]]]:
    best: int | None = None
    found: list[list[int]] = []
    for labels in itertools.product((0, 1), repeat=len(problem.pins)):
        cost = cost_of(problem, list(labels))
        if cost is None or (best is not None and cost > best):
            continue
        if cost != best:
            best, found = cost, []
        found.append(list(labels))
    return best, found


@pytest.mark.parametrize("seed", range(300))
def test_the_cut_is_optimal_and_has_the_fewest_ones(seed: int) -> None:
    problem = random_problem(random.Random(seed))
    best, found = best_labellings(problem)
    if best is None:
        with pytest.raises(ValueError):
            solve(problem)
        return
    labels = solve(problem)
    assert cost_of(problem, labels) == best
    fewest = min(sum(other) for other in found)
    assert [other for other in found if sum(other) == fewest] == [labels]


@pytest.mark.parametrize("seed", range(100))
def test_copies_cost_once_for_each_other_label(seed: int) -> None:
    rng = random.Random(seed)
    problem = TwoLabelProblem()
    values = [problem.node(rng.choice([None, 0, 1])) for _ in range(rng.randrange(2, 6))]
    uses = {v: [rng.choice(values) for _ in range(rng.randrange(4))] for v in values}
    costs = {v: rng.randrange(1, 9) for v in values}
    for value in values:
        problem.copies(value, uses[value], costs[value])

    def direct(labels: tuple[int, ...]) -> int:
        others = {v: {labels[u] for u in uses[v]} - {labels[v]} for v in values}
        return sum(costs[v] * len(others[v]) for v in values)

    pins = problem.pins[: len(values)]
    allowed = [
        labels
        for labels in itertools.product((0, 1), repeat=len(values))
        if all(pin in (None, label) for pin, label in zip(pins, labels, strict=True))
    ]
    solution = tuple(solve(problem)[: len(values)])
    assert solution in allowed
    assert direct(solution) == min(map(direct, allowed))


def test_pinned_parts_do_not_meet() -> None:
    problem = TwoLabelProblem()
    left, zero, right, one = (problem.node(pin) for pin in (None, 0, None, 1))
    problem.edges += [(left, zero, 4), (zero, left, 4), (right, one, 1), (one, right, 1)]
    assert solve(problem) == [0, 0, 1, 1]


def test_exclusive_pins_are_an_error() -> None:
    problem = TwoLabelProblem()
    one, middle, zero = (problem.node(pin) for pin in (1, None, 0))
    problem.edges += [(one, middle, None), (middle, zero, None)]
    with pytest.raises(ValueError):
        solve(problem)
