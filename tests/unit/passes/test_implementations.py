"""The passes ask the registry: regions, schedules, requirements and memory of a user's implementations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pytest
import torch
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.analysis.requirements import ResourceRequirement
from fhelium_ir.backend.discovery import builtin_registry
from fhelium_ir.backend.registry import (
    OperationImplementation,
    OperationImplementationRegistry,
    OperationInvocation,
    use_registry,
)
from fhelium_ir.backend.resources import BoundResource
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import fusion, ntt, rns
from fhelium_ir.dialects.ntt import Schedule
from fhelium_ir.universe import make_context
from tests.unit.backend.programs import PARAMS, parsed

A = "!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 1)>"
TWO, THREE, FOUR = (A.replace("below = 1", f"below = {n}") for n in (2, 3, 4))
C = "!rns.poly<16, q 0:2, coefficient, mont64(e = 0, below = 1)>"
CONTRACT = "{contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>}"


def module(body: str, arguments: str, results: str) -> ModuleOp:
    return parsed(
        f"module attributes {{ckks.params = {PARAMS}, rns.arithmetic = #rns.arithmetic<mont64>}} {{\n"
        f"func.func @f({arguments}) -> {results} {{\n{body}\n}} }}"
    )


@dataclass(frozen=True)
class Regions:
    """Takes regions of at most `limit` additions, and offers a schedule."""

    name: str = "mine"
    limit: int = 2
    schedule: Schedule | None = None
    operation_types: tuple[type[Operation], ...] = (fusion.FusedOp,)
    supports_in_place: bool = False

    def match_fusion(self, operations: Sequence[Operation]) -> int | None:
        fits = len(operations) <= self.limit
        return (
            len(operations) if fits and all(isinstance(o, rns.AddOp) for o in operations) else None
        )

    def select_ntt_schedule(self, **facts: object) -> Schedule | None:
        return self.schedule

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        return (ResourceRequirement("moduli", (), (3, 4), 64),)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        raise AssertionError


def run(
    root: ModuleOp, passes: str, *mine: OperationImplementation, preferred: bool = True
) -> list[Operation]:
    """The ops of the function after some passes, with implementations of one's own."""
    registry = builtin_registry()
    for implementation in mine:
        registry.register(implementation, preferred=preferred)
    with use_registry(registry):
        Pipeline.parse(passes).run(make_context(), root)
    (function,) = (op for op in root.ops if isinstance(op, func.FuncOp))
    return [op for op in function.body.block.ops if not isinstance(op, func.ReturnOp)]


ADDITIONS = f"""
  %1 = rns.add %a, %b : {A}
  %2 = rns.add %1, %1 : {TWO}
  %3 = rns.negate %2 : {FOUR}
  return %3 : {FOUR.replace("below = 4", "below = 5")}
"""
ADDED = (ADDITIONS, f"%a : {A}, %b : {A}", FOUR.replace("below = 4", "below = 5"))


def sizes(ops: Sequence[Operation]) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for op in ops:
        name = op.attributes.get(fusion.IMPLEMENTATION)
        count = len(list(op.body.block.ops)) - 1 if isinstance(op, fusion.FusedOp) else 0
        found.append((str(getattr(name, "data", "")), count))
    return found


def test_a_preferred_implementation_keeps_its_regions() -> None:
    assert sizes(run(module(*ADDED), "form-fusion-regions")) == [("", 3)]
    assert sizes(run(module(*ADDED), "form-fusion-regions", Regions())) == [("mine", 2), ("", 1)]
    assert sizes(run(module(*ADDED), "form-fusion-regions", Regions(limit=1))) == [
        ("mine", 1),
        ("mine", 1),
        ("", 1),
    ]


def test_an_ambiguous_region_is_an_error() -> None:
    with pytest.raises(FheliumError, match="several implementations take the region around 'rns"):
        run(module(*ADDED), "form-fusion-regions", Regions(), preferred=False)


def test_a_named_op_stays_whole_between_regions() -> None:
    body = ADDITIONS.replace(
        f"rns.add %1, %1 : {TWO}",
        f'rns.add %1, %1 {{fusion.implementation = "triton-rns-pointwise"}} : {TWO}',
    )
    ops = run(module(body, *ADDED[1:]), "form-fusion-regions,infer-resources,plan-memory")
    assert sizes(ops) == [("", 1), ("triton-rns-pointwise", 0), ("", 1)]
    assert fusion.RESOURCES in ops[1].attributes and isinstance(ops[1], rns.AddOp)
    wrong = body.replace("triton-rns-pointwise", "triton-rns-fused")
    with pytest.raises(FheliumError, match=r"'triton-rns-fused' does not execute 'rns.add'; candi"):
        run(module(wrong, *ADDED[1:]), "form-fusion-regions")
    absent = body.replace("triton-rns-pointwise", "absent")
    with pytest.raises(FheliumError, match=r"test.mlir:\d+:\d+: unknown implementation 'absent'"):
        run(module(absent, *ADDED[1:]), "form-fusion-regions")


def test_a_reindexed_operand_of_a_whole_op_is_written_to_memory() -> None:
    pair = A.replace("q 0:2, ", "q 0:2, components = 2, ")
    body = f"""
  %0 = rns.extract %p {{first = 1 : i64, count = 1 : i64}} : {pair}
  %1 = rns.add %0, %a {{fusion.implementation = "triton-rns-pointwise"}} : {A}
  %2 = rns.sub %0, %1 : {A}, {TWO}
  return %2 : {THREE}
"""
    ops = run(module(body, f"%p : {pair}, %a : {A}", THREE), "form-fusion-regions")
    assert sizes(ops) == [("", 1), ("triton-rns-pointwise", 0), ("", 1)]


def test_identities_are_folded() -> None:
    body = f"""
  %0 = rns.restrict %a : {A} -> {A}
  %1 = rns.extract %0 {{first = 0 : i64, count = 1 : i64}} : {A}
  return %1 : {A}
"""
    root = module(body, f"%a : {A}", A)
    assert run(root, "form-fusion-regions") == []
    (function,) = (op for op in root.ops if isinstance(op, func.FuncOp))
    block = function.body.block
    assert block.last_op is not None and block.last_op.operands[0] is block.args[0]


TRANSFORM = (f"%1 = ntt.forward %a {CONTRACT} : {C}\n  return %1 : {FOUR}", f"%a : {C}", FOUR)


def schedule_of(ops: Sequence[Operation]) -> Schedule:
    (region,) = ops
    assert isinstance(region, fusion.FusedOp)
    transform = region.body.block.first_op
    assert isinstance(transform, ntt.TransformOp) and transform.schedule is not None
    return transform.schedule.data


def test_a_preferred_schedule_is_taken() -> None:
    passes = "form-fusion-regions,tune-ntt-schedules"
    default = schedule_of(run(module(*TRANSFORM), passes))
    mine = Schedule(((1,), (3,)), 1, 2, 1)
    assert mine != default
    assert schedule_of(run(module(*TRANSFORM), passes, Regions(schedule=mine))) == mine
    with pytest.raises(FheliumError, match="several implementations offer schedules: triton-rns-f"):
        run(module(*TRANSFORM), passes, Regions(schedule=mine), preferred=False)
    bad = Schedule(((1,),), 1, 2, 1)
    with pytest.raises(FheliumError, match=r"ntt.forward: the schedule has 1 stages, ring degree"):
        run(module(*TRANSFORM), passes, Regions(schedule=bad))


def test_nobody_offers_a_schedule() -> None:
    root = module(*TRANSFORM)
    with (
        use_registry(OperationImplementationRegistry([Regions()])),
        pytest.raises(FheliumError, match=r"offers a schedule for ntt.forward; registered: mine"),
    ):
        Pipeline.parse("tune-ntt-schedules").run(make_context(), root)


def test_requirements_of_an_implementation_share_declarations() -> None:
    ops = run(module(*ADDED), "form-fusion-regions,infer-resources", Regions())
    first, second = ops
    assert isinstance(first, fusion.FusedOp) and isinstance(second, fusion.FusedOp)
    assert first.resources is not None and second.resources is not None
    names = [[symbol.string_value() for symbol in op.resources or ()] for op in (first, second)]
    assert names == [["moduli_0"], ["rows_0", "moduli_0"]]
