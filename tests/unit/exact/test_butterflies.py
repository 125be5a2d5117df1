"""Single stages, every leg driven to its end, and faults planted into them.

A kernel of one stage is launched alone, on words and constants that are chosen for it: u at the ends of its
interval, and a product at either end of what Montgomery's algorithm can give. Whole transforms cannot be
driven like that, because their constants are fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from xdsl.dialects import builtin
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation

from fhelium_ir.analysis.region_graph import build_graph
from fhelium_ir.analysis.requirements import row_table
from fhelium_ir.backend.executable import KernelLibrary
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import fusion, ntt, zq
from fhelium_ir.lowering.kernel_builder import Argument
from fhelium_ir.lowering.link import load_kernels
from fhelium_ir.lowering.region_kernels import KernelCode
from fhelium_ir.lowering.transform_kernels import transform_kernel
from fhelium_ir.universe import make_context
from tests.unit.exact.machine import (
    BEYOND_60_BITS,
    TARGETS,
    facts_of,
    largest_prime,
    poly,
    region,
    tensor_of,
    words_of,
)
from tests.unit.reference.textbook import parsed

DEGREE, STAGES = 16, 4
BELOW = {"forward": 4, "inverse": 2}
"""The contracts; between the kernels of a forward transform words may fill the machine's."""
OTHER = 193
"""The other prime of a module that has 97."""


@dataclass(frozen=True)
class Machine:
    """A prime on an arithmetic."""

    arithmetic: str
    q: int

    @property
    def radix(self) -> int:
        return zq.ARITHMETICS[self.arithmetic].radix

    @property
    def capacity(self) -> int:
        """How many times the largest prime of the module fits into a word, as far as kernels use it."""
        return min(16, (1 << zq.ARITHMETICS[self.arithmetic].word_bits) // max(self.q, OTHER))

    def interval(self, direction: str, stage: int) -> int:
        """The interval of the words in front of a stage, in units of q; `STAGES` stands for the result."""
        between = direction == "forward" and 0 < stage < STAGES
        return self.capacity if between else BELOW[direction]

    def product(self, x: int, y: int) -> int:
        """Montgomery's product as the algorithm computes it: (x*y - m*q) / R + q."""
        m = x * y * pow(self.q, -1, self.radix) % self.radix
        return (x * y - m * self.q) // self.radix + self.q

    def factors(self, end: str, top: int) -> tuple[int, int]:
        """x in [0, top] and a reduced y whose product is near the end of what it can be."""
        if end == "q":
            return 0, self.q - 1
        near = range(min(64, self.q))
        if end == "low":
            return min(((a, b) for a in near for b in near), key=lambda p: self.product(*p))
        return max(
            ((top - a, self.q - 1 - b) for a in near if a <= top for b in near),
            key=lambda p: self.product(*p),
        )


MACHINES = [
    Machine("mont64", largest_prime("mont64", DEGREE)),
    Machine("mont64", BEYOND_60_BITS),
    Machine("mont64", 97),
    Machine("mont32", largest_prime("mont32", DEGREE)),
]
LARGEST = MACHINES[0]

ENDS = ("high", "low", "q")


def stage_kernel(machine: Machine, direction: str, stage: int) -> tuple[KernelCode, torch.Tensor]:
    """The kernel of one stage, and its table of rows."""
    facts = facts_of(DEGREE, [97], [machine.q]) if machine.q > 97 else facts_of(16, [97], [OTHER])
    basis = "p 0:1" if machine.q > 97 else "q 0:1"
    below = BELOW[direction]
    domains = ["coefficient", "evaluation(bit_reversed)"]
    words = f"{machine.arithmetic}(e = 0, below = {below})"
    before, after = (
        poly(facts, basis, domain, words=words)
        for domain in (domains if direction == "forward" else domains[::-1])
    )
    body = (
        f"%v0 = ntt.{direction} %a0 {{contract = #ntt.contract<bit_reversed, input = {below}, "
        f"output = {below}, exponent = 0>}} : {before}"
    )
    module = parsed(region(facts, machine.arithmetic, [before], [after], body))
    (fused,) = (op for op in module.walk() if isinstance(op, fusion.FusedOp))
    ops = [op for op in fused.body.block.ops if not isinstance(op, fusion.YieldOp)]
    graph = build_graph(ops, list(fused.body.block.args), list(fused.yielded.values))
    schedule = ntt.Schedule(((1,),) * STAGES, 1, DEGREE // 2, 1)
    step = stage if direction == "forward" else STAGES - 1 - stage
    rows = [[0, *row[1:]] for row in row_table(graph, facts)]
    code = transform_kernel(graph, schedule, step, "stage")
    return code, torch.tensor(rows, dtype=torch.int32)


def loaded(code: KernelCode, target: str = "interpret") -> KernelLibrary:
    """The kernel on machine words."""
    module = builtin.ModuleOp([code.function.clone()])
    Pipeline("exact", ("convert-zq-to-arith",)).run(make_context(), module)
    return load_kernels(module, target)


@dataclass
class Launch:
    """Words for one launch of a stage, and what comes out."""

    machine: Machine
    direction: str
    stage: int
    words: list[int]
    twiddles: list[int]
    inverse_degree: list[int]

    def run(self, code: KernelCode, rows: torch.Tensor, kernels: KernelLibrary) -> list[int]:
        q, radix = self.machine.q, self.machine.radix
        bits = zq.ARITHMETICS[self.machine.arithmetic].word_bits

        def tensor(words: list[int]) -> torch.Tensor:
            return tensor_of(np.array(words, dtype=object), bits)

        result = tensor(self.words)
        tables = {
            Argument("rows"): rows,
            Argument("moduli"): tensor([q, pow(q, -1, radix), radix % q, radix * radix % q]),
            Argument("twiddles"): tensor(self.twiddles),
            Argument("inverse_degree"): tensor(self.inverse_degree),
            Argument("input"): tensor(self.words),
            Argument("output"): result,
        }
        arguments = [tables[argument] for argument in code.arguments]
        kernels.launch("stage", (code.column_blocks, 1), arguments)
        return words_of(result).tolist()

    def wrong(self, after: list[int]) -> list[str]:
        """Butterflies whose words are not what their definition says, or not in their interval."""
        q, found = self.machine.q, list[str]()
        behind = self.stage + 1 if self.direction == "forward" else self.stage
        bound = self.machine.interval(self.direction, behind) * q
        for block, i, j in butterflies(self.stage):
            u, v = self.words[i], self.words[j]
            inverse_radix = pow(self.machine.radix, -1, q)
            factor = self.twiddles[(1 << self.stage) + block] * inverse_radix
            if self.direction == "forward":
                expected = u + v * factor, u - v * factor
            elif self.stage:
                expected = u + v, (u - v) * factor
            else:
                scale, twiddle = self.inverse_degree
                expected = (u + v) * scale * inverse_radix, (u - v) * twiddle * inverse_radix
            for place, value in zip((i, j), expected, strict=True):
                if after[place] % q != value % q:
                    found.append(f"word {place} from u = {u}, v = {v}: wrong residue")
                if after[place] >= bound:
                    found.append(f"word {place} from u = {u}, v = {v}: out of its interval")
        return found


def butterflies(stage: int) -> list[tuple[int, int, int]]:
    """(block, i, j) of a stage: the twiddle's number in the stage, and the two places."""
    half = DEGREE >> (stage + 1)
    return [
        (block, 2 * half * block + offset, 2 * half * block + offset + half)
        for block in range(1 << stage)
        for offset in range(half)
    ]


def forward_launches(machine: Machine, stage: int) -> list[Launch]:
    """u at 0, at both sides of the middle and at its top; the product at its ends."""
    q, below = machine.q, machine.interval("forward", stage)
    middle, top = (below + 1) // 2 * q, below * q - 1
    starts = (0, q - 1, q, middle - 1, middle, top)
    pairs = {end: machine.factors(end, top) for end in ENDS}
    launches: list[Launch] = []
    for shift in range(len(ENDS) * len(starts)):
        words, twiddles = [0] * DEGREE, [1] * DEGREE
        for number, (block, i, j) in enumerate(butterflies(stage)):
            v, w = pairs[ENDS[(block + shift) % len(ENDS)]]
            words[i], words[j] = starts[(number + shift // len(ENDS)) % len(starts)], v
            twiddles[(1 << stage) + block] = w
        launches.append(Launch(machine, "forward", stage, words, twiddles, [1, 1]))
    return launches


def inverse_launches(machine: Machine, stage: int) -> list[Launch]:
    """The sum at its top and bottom, the difference so that its product is at its ends."""
    q = machine.q
    pairs = {end: machine.factors(end, 4 * q - 1) for end in ENDS}
    sums = [(2 * q - 1, 2 * q - 1), (0, 0), (q, q), (2 * q - 1, 0), (0, 2 * q - 1)]
    launches: list[Launch] = []
    for shift in range(len(ENDS) * (len(sums) + 1)):
        words, twiddles, last = [0] * DEGREE, [1] * DEGREE, [1, 1]
        for number, (block, i, j) in enumerate(butterflies(stage)):
            x, w = pairs[ENDS[(block + shift) % len(ENDS)]]
            place = (number + shift // len(ENDS)) % (len(sums) + 1)
            # u - v + 2q = x, with both in [0, 2q).
            u = min(x, 2 * q - 1)
            driven = (u, u + 2 * q - x) if u + 2 * q - x < 2 * q else (0, 2 * q - 1)
            words[i], words[j] = sums[place] if place < len(sums) else driven
            twiddles[(1 << stage) + block], last = w, [w, w]
        launches.append(Launch(machine, "inverse", stage, words, twiddles, last))
    return launches


LAUNCHES: dict[str, Callable[[Machine, int], list[Launch]]] = {
    "forward": forward_launches,
    "inverse": inverse_launches,
}


@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: f"{m.arithmetic}-{m.q}")
def test_products_really_reach_their_ends(machine: Machine) -> None:
    q = machine.q
    high, low = (machine.product(*machine.factors(end, 4 * q - 1)) for end in ("high", "low"))
    limit = q + (4 * q - 1) * (q - 1) / machine.radix
    assert 0.98 * limit < high + 1 <= limit + 1 and 1 <= low <= 0.05 * q + 1
    if machine is LARGEST:
        assert high > 1.98 * q


@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("stage", range(STAGES))
@pytest.mark.parametrize("machine", MACHINES, ids=lambda m: f"{m.arithmetic}-{m.q}")
def test_driven_legs(machine: Machine, stage: int, direction: str) -> None:
    code, rows = stage_kernel(machine, direction, stage)
    kernels, highest = loaded(code), 0
    for launch in LAUNCHES[direction](machine, stage):
        after = launch.run(code, rows, kernels)
        assert launch.wrong(after) == []
        highest = max(highest, *after)
    if machine is LARGEST:
        # The claimed bound is sharp: words do come near it.
        assert highest > 0.98 * BELOW[direction] * machine.q


@pytest.mark.parametrize("target", [target for target in TARGETS if target != "interpret"])
@pytest.mark.parametrize("direction", ["forward", "inverse"])
@pytest.mark.parametrize("machine", [MACHINES[0], MACHINES[3]], ids=lambda m: m.arithmetic)
def test_driven_legs_on_other_targets(machine: Machine, direction: str, target: str) -> None:
    code, rows = stage_kernel(machine, direction, 1)
    kernels, expected = loaded(code, target), loaded(code)
    for launch in LAUNCHES[direction](machine, 1)[:: 1 if target == "cpu" else 6]:
        after = launch.run(code, rows, kernels)
        assert launch.wrong(after) == []
        assert after == launch.run(code, rows, expected)


def reduce_less(op: Operation) -> bool:
    """Drops a reduction, or the last of its steps."""
    if not isinstance(op, zq.ReduceOp):
        return False
    op.result.replace_all_uses_with(op.value)
    return True


def lift_less(op: Operation) -> bool:
    """Adds one q too few to a difference."""
    if not isinstance(op, zq.SubOp):
        return False
    op.properties["offset"] = IntegerAttr(op.offset.value.data - 1, i64)
    return True


@pytest.mark.parametrize("machine", [MACHINES[0], MACHINES[3]], ids=lambda m: m.arithmetic)
@pytest.mark.parametrize("fault", [reduce_less, lift_less])
@pytest.mark.parametrize("stage", range(STAGES))
@pytest.mark.parametrize("direction", ["forward", "inverse"])
def test_planted_faults_are_found(
    direction: str, stage: int, fault: Callable[[Operation], bool], machine: Machine
) -> None:
    code, rows = stage_kernel(machine, direction, stage)
    planted = sum(fault(op) for op in list(code.function.walk()))
    if direction == "inverse" and stage == 0 and fault is reduce_less:
        assert planted == 0  # both legs end with a product
        return
    assert planted == 1
    kernels, launches = loaded(code), LAUNCHES[direction](machine, stage)
    assert any(launch.wrong(launch.run(code, rows, kernels)) for launch in launches)
