"""The Triton implementations of regions and single operations, against exact integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from fhelium_ir.analysis.transform_schedules import candidates
from fhelium_ir.backend.execution import (
    BoundResource,
    Compilation,
    OperationInvocation,
    ResourceRequirement,
)
from fhelium_ir.backend.materializer import DeclaredMaterializer
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import fusion, ntt, resource, rns
from fhelium_ir.lowering.triton import (
    ARITHMETIC_OPS,
    BoundGraph,
    ExpressionGraph,
    PointwisePlan,
    PreparedFusion,
    TritonFusionImplementation,
    TritonRnsImplementation,
    ValueExpr,
    compile_source,
    execution_parameters,
)
from tests.unit.backend.programs import PARAMS, parsed

Q = (1152921504606748673, 1099511480321)
R = 1 << 64


def poly(below: int, exponent: int = 0, components: int = 1, domain: str = "evaluation") -> str:
    axis = f"components = {components}, " if components > 1 else ""
    order = "(bit_reversed)" if domain == "evaluation" else ""
    return f"!rns.poly<16, q 0:2, {axis}{domain}{order}, mont64(e = {exponent}, below = {below})>"


def module(body: str) -> ModuleOp:
    return parsed(
        f"module attributes {{ckks.params = {PARAMS}, rns.arithmetic = #rns.arithmetic<mont64>, "
        f"kernel.tile = array<i64: 2, 16, 4>}} {{\n{body}\n}}"
    )


A, TWO = poly(1), poly(2)
PAIR = poly(1, components=2)
REGION = f"""
func.func @f(%a : {A}, %b : {A}) -> ({TWO}, {A}) {{
  %s, %same = fusion.region(%x = %a : {A}, %y = %b : {A}) -> ({TWO}, {A}) {{
    %0 = rns.add %x, %y : {A}
    fusion.yield %0, %x : {TWO}, {A}
  }}
  return %s, %same : {TWO}, {A}
}}
"""
"""A sum, and an operand unchanged."""

TRANSFORM = f"""
func.func @f(%a : {poly(1, domain="coefficient")}) -> {poly(4)} {{
  %s = fusion.region(%x = %a : {poly(1, domain="coefficient")}) -> ({poly(4)}) {{
    %0 = ntt.forward %x {{contract = #ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>,
      schedule = #ntt.schedule<kernels = [[2], [2]], rows = 2, columns = 4, warps = 1>}}
      : {poly(1, domain="coefficient")}
    fusion.yield %0 : {poly(4)}
  }}
  return %s : {poly(4)}
}}
"""


def find(root: ModuleOp, kind: type[Operation]) -> Operation:
    return next(op for op in root.walk() if isinstance(op, kind))


def region_of(text: str) -> tuple[ModuleOp, fusion.FusedOp]:
    root = module(text)
    found = find(root, fusion.FusedOp)
    assert isinstance(found, fusion.FusedOp)
    return root, found


def bind(requirements: Sequence[ResourceRequirement], root: ModuleOp) -> tuple[BoundResource, ...]:
    """Materialized tables, as a linker would bind them."""
    bound: list[BoundResource] = []
    for index, requirement in enumerate(requirements):
        declared = resource.DeclareOp(
            f"r{index}",
            requirement.kind,
            dict(requirement.parameters),
            resource.memref(requirement.shape, requirement.bits),
        )
        root.body.block.add_op(declared)
        tensor = DeclaredMaterializer().materialize(declared, Compilation.of(root))
        bound.append(BoundResource(requirement, f"r{index}", tensor))
    return tuple(bound)


def residues(seed: int, components: int = 1) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    rows = [
        [torch.randint(0, q, (16,), dtype=torch.int64, generator=generator) for q in Q]
        for _ in range(components)
    ]
    return torch.stack([torch.stack(row) for row in rows])


def assert_congruent(found: torch.Tensor, want: Sequence[Sequence[int]], below: int) -> None:
    for row, (q, values) in enumerate(zip(Q, want, strict=True)):
        for word, value in zip(integers(found)[row], values, strict=True):
            unsigned = word % R
            assert unsigned < below * q and unsigned % q == value % q


def integers(tensor: torch.Tensor) -> list[list[int]]:
    return cast("list[list[int]]", tensor[0].tolist())  # pyright: ignore[reportUnknownMemberType]


def test_a_region_is_executed_and_identities_are_aliases() -> None:
    root, region = region_of(REGION)
    implementation = TritonFusionImplementation()
    invocation = OperationInvocation.of(region)
    requirements = implementation.resource_requirements(invocation)
    assert [requirement.kind for requirement in requirements] == ["rows", "moduli"]
    bound = bind(requirements, root)
    a, b = residues(1), residues(2)
    copies = a.clone(), b.clone()
    total, same = implementation.execute(invocation, (a, b), bound, in_place=False)
    assert same is a
    want = [
        [x + y for x, y in zip(*rows, strict=True)]
        for rows in zip(integers(a), integers(b), strict=True)
    ]
    assert_congruent(total, want, 2)
    assert torch.equal(a, copies[0]) and torch.equal(b, copies[1])


def test_a_transform_is_executed_when_ntt_is_included() -> None:
    root, region = region_of(TRANSFORM)
    invocation = OperationInvocation.of(region)
    implementation = TritonFusionImplementation(include_ntt=True)
    bound = bind(implementation.resource_requirements(invocation), root)
    prepared = implementation.prepare_operation(region)
    # A constant polynomial has that constant everywhere in the evaluation domain.
    a = torch.zeros((1, 2, 16), dtype=torch.int64)
    a[0, :, 0] = 12345
    (found,) = prepared.execute(invocation, (a,), bound, in_place=False)
    assert_congruent(found, [[12345] * 16] * 2, 4)
    assert len(prepared.kernels.launches) == 2
    with pytest.raises(FheliumError, match="takes no transforms: include_ntt is false"):
        TritonFusionImplementation().prepare_operation(region)


def test_layouts_are_prepared_without_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    _, region = region_of(REGION)
    prepared = TritonFusionImplementation().prepare_operation(region)

    def refuse(*_: object, **__: object) -> torch.Tensor:
        raise AssertionError("a tensor was allocated")

    for name in ("empty", "zeros", "tensor", "as_tensor"):
        monkeypatch.setattr(torch, name, refuse)
    prepared.prepare_layout(region)
    (launch,) = prepared.kernels.launches
    assert "@triton.jit" in launch.source and launch.grid == (1, 1)
    _, other = region_of(REGION)
    with pytest.raises(FheliumError, match=r"prepared for another operation than this 'fusion.reg"):
        prepared.prepare_layout(other)


def test_a_transform_without_schedule_has_no_layout() -> None:
    _, region = region_of(TRANSFORM)
    find_transform = find(module(TRANSFORM), ntt.TransformOp)
    assert "schedule" in find_transform.properties
    for op in region.walk():
        op.properties.pop("schedule", None)
    prepared = TritonFusionImplementation(include_ntt=True).prepare_operation(region)
    with pytest.raises(FheliumError, match="the transform has no schedule; run tune-ntt-schedules"):
        prepared.prepare_layout(region)


def test_defaults_of_a_prepared_region() -> None:
    _, region = region_of(REGION)
    prepared = PreparedFusion(ExpressionGraph(region))
    assert prepared.name == "triton-rns-fused" and not prepared.supports_in_place
    assert prepared.operation_types == (fusion.FusedOp,)
    named = TritonFusionImplementation("mine").prepare_operation(region)
    assert named.name == "mine"
    op = next(iter(region.body.ops))
    with pytest.raises(FheliumError, match=r"'mine' executes fusion regions, not 'rns.add'"):
        TritonFusionImplementation("mine").prepare_operation(op)


Bound = tuple[BoundResource, ...]


def refused(
    message: str,
    inputs: tuple[torch.Tensor, ...] | None = None,
    resources: Callable[[Bound], Bound] | None = None,
    in_place: bool = False,
) -> None:
    """Executes REGION with one thing changed."""
    root, region = region_of(REGION)
    implementation = TritonFusionImplementation()
    invocation = OperationInvocation.of(region)
    bound = bind(implementation.resource_requirements(invocation), root)
    given = inputs if inputs is not None else (residues(1), residues(2))
    tables = resources(bound) if resources is not None else bound
    with pytest.raises(FheliumError, match=message):
        implementation.execute(invocation, given, tables, in_place=in_place)


def test_refusals_of_operands() -> None:
    a, b = residues(1), residues(2)
    refused("takes 2 tensors, found 1", inputs=(a,))
    refused("operand 1 must be int64 of shape", inputs=(a, b.to(torch.int32)))
    refused(
        r"operand 0 must be int64 of shape \(1, 2, 16\), found int64 of shape", inputs=(a[0], b)
    )
    strided = torch.zeros((1, 2, 32), dtype=torch.int64)[:, :, ::2]
    refused(r"operand 1 must be contiguous, found strides \(64, 32, 2\)", inputs=(a, strided))
    refused("must be on one device, found cpu, meta", inputs=(a, b.to("meta")))
    refused("not on meta", inputs=(a.to("meta"), b.to("meta")))
    refused("cannot be executed in place", in_place=True)


def test_refusals_of_resources() -> None:
    refused("missing resources: moduli", resources=lambda bound: bound[:1])
    refused("takes 2 resources; left over: r1", resources=lambda bound: (*bound, bound[1]))
    refused("'r1' must be of kind rows, found moduli", resources=lambda bound: bound[::-1])

    def on_meta(bound: tuple[BoundResource, ...]) -> tuple[BoundResource, ...]:
        return (bound[0], replace(bound[1], tensor=bound[1].tensor.to("meta")))

    refused("resource 'r1' must be on cpu, found meta", resources=on_meta)

    def short(bound: tuple[BoundResource, ...]) -> tuple[BoundResource, ...]:
        return (bound[0], replace(bound[1], tensor=bound[1].tensor[:1]))

    refused(r"resource 'r1' must be int64 of shape \(3, 4\)", resources=short)


def test_match_fusion_counts_what_computes() -> None:
    root = module(f"""
func.func @f(%a : {A}, %p : {PAIR}) -> {poly(4, exponent=-1)} {{
  %0 = rns.extract %p {{first = 1 : i64, count = 1 : i64}} : {PAIR}
  %1 = rns.add %a, %0 : {A}
  %2 = rns.mul %1, %a : {TWO}, {A} -> {poly(2, exponent=-1)}
  %3 = rns.add %2, %2 : {poly(2, exponent=-1)}
  return %3 : {poly(4, exponent=-1)}
}}
""")
    ops = [op for op in root.walk() if op.name.startswith("rns.")]
    implementation = TritonFusionImplementation()
    assert implementation.match_fusion(ops) == 3
    assert implementation.match_fusion(ops[:1]) == 0
    assert implementation.match_fusion([]) == 0
    assert implementation.match_fusion([ops[1], ops[3]]) == 2
    assert TritonFusionImplementation(name="no ntt here").match_fusion(ops) == 3
    undecided = module("""
func.func @f(%a : !rns.poly<16, q 0:2, coefficient>) -> !rns.poly<16, q 0:2, coefficient> {
  %1 = rns.negate %a : !rns.poly<16, q 0:2, coefficient>
  return %1 : !rns.poly<16, q 0:2, coefficient>
}
""")
    assert implementation.match_fusion([find(undecided, rns.NegateOp)]) is None


def test_match_fusion_of_transforms() -> None:
    _, region = region_of(TRANSFORM)
    ops = [op for op in region.body.ops if isinstance(op, ntt.TransformOp)]
    assert TritonFusionImplementation().match_fusion(ops) is None
    assert TritonFusionImplementation(include_ntt=True).match_fusion(ops) == 1
    assert TritonFusionImplementation(include_ntt=True).match_fusion([*ops, *ops]) is None


def test_schedules() -> None:
    implementation = TritonFusionImplementation(include_ntt=True)
    from fhelium_ir.analysis.device import DEVICES

    for name in ("gpu", "cpu"):
        schedule = implementation.select_ntt_schedule(degree=1 << 13, device=DEVICES[name])
        assert schedule == candidates(1 << 13, DEVICES[name])[0].schedule
        assert implementation.select_ntt_schedule(degree=1 << 13, device=name) == schedule
    assert TritonFusionImplementation().select_ntt_schedule(degree=1 << 13) is None
    for wrong in ({}, {"degree": 12}, {"degree": "16"}):
        with pytest.raises(FheliumError, match="`degree` must be a power of two from 8"):
            implementation.select_ntt_schedule(**wrong)
    with pytest.raises(FheliumError, match="unknown fact 'degre'; did you mean 'degree'"):
        implementation.select_ntt_schedule(degre=16)


def test_views_of_a_region() -> None:
    root, region = region_of(REGION)
    graph = ExpressionGraph(region)
    assert graph.identities == {1: 0}
    ((total,), (same,)) = graph.results
    assert (
        str(total).startswith("add(load(0, ") and [v.kind for v in total.operands] == ["load"] * 2
    )
    assert same.kind == "load" and same.data[0] == 0
    assert graph.materialized == (total,) and graph.values[0].kind == "load"
    assert isinstance(total, ValueExpr)
    bound = BoundGraph(graph, bind(graph.requirements(), root))
    assert bound.region is graph.region
    assert [q % R for q in map(int, bound.parameters.tensor[:2, 0])] == list(Q)


def test_a_plan_is_built_and_executed() -> None:
    root, region = region_of(REGION)
    graph = ExpressionGraph(region)
    bound = BoundGraph(graph, bind(graph.requirements(), root))
    plan = PointwisePlan.build(bound)
    assert plan.length == 16 and plan.materialized == graph.materialized and plan.graph is bound
    a, b = residues(3), residues(4)
    invocation = OperationInvocation.of(region)
    table, radix = execution_parameters(invocation, (a, b), bound.parameters.tensor, in_place=False)
    assert table is bound.parameters.tensor and radix == R
    total, same = plan.execute((a, b), table, radix)
    assert same is a
    want = [
        [x + y for x, y in zip(*rows, strict=True)]
        for rows in zip(integers(a), integers(b), strict=True)
    ]
    assert_congruent(total, want, 2)
    with pytest.raises(FheliumError, match=r"computes with radix 2\^64, found 4294967296"):
        plan.execute((a, b), table, 1 << 32)
    with pytest.raises(FheliumError, match="operand 1 must be int64"):
        plan.execute((a, b.to(torch.int32)), table, radix)
    with pytest.raises(FheliumError, match="table 1 must be on cpu, found meta"):
        plan.execute((a, b), table.to("meta"), radix)
    with pytest.raises(FheliumError, match="missing resources: moduli"):
        PointwisePlan.build(BoundGraph(graph, bound.tables[:1]))


def test_a_plan_has_no_transform() -> None:
    _, region = region_of(TRANSFORM)
    with pytest.raises(FheliumError, match="a plan is one element-wise kernel: the graph has a tr"):
        PointwisePlan.build(BoundGraph(ExpressionGraph(region), ()))


def test_execution_parameters_refuse() -> None:
    a = residues(1)
    table = torch.zeros((3, 4), dtype=torch.int64)
    assert execution_parameters(None, (a,), table, in_place=False) == (table, R)
    short = torch.zeros((3, 4), dtype=torch.int32)
    assert execution_parameters(None, (a.to(torch.int32),), short, in_place=False)[1] == 1 << 32
    cases: list[tuple[tuple[torch.Tensor, ...], torch.Tensor, bool, str]] = [
        ((a,), table, True, "do not work in place"),
        ((), table, False, "needs an operand"),
        ((a.to(torch.float32),), table, False, "must be int32, int64 or float64, found float32"),
        ((a, a.to(torch.int32)), table, False, "operand 1 must be int64 on cpu, found int32"),
        ((a, a.to("meta")), table, False, "operand 1 must be int64 on cpu, found int64 on meta"),
        ((a[:, :, ::2],), table, False, "operand 0 must be contiguous"),
        ((a,), table[:, :3], False, r"must have shape \[primes, 4\], found \(3, 3\)"),
        ((a,), short, False, "the parameter table must be int64 on cpu, found int32"),
        ((a,), table.to("meta"), False, "the parameter table must be int64 on cpu, found int64 on"),
        ((a,), torch.zeros((4, 3), dtype=torch.int64).T, False, "table must be contiguous"),
    ]
    for inputs, parameters, in_place, message in cases:
        with pytest.raises(FheliumError, match=message):
            execution_parameters(None, inputs, parameters, in_place=in_place)
    _, region = region_of(REGION)
    invocation = OperationInvocation.of(region)
    with pytest.raises(FheliumError, match="must have 3 rows, one per prime, found 2"):
        execution_parameters(invocation, (a, a), table[:2].contiguous(), in_place=False)
    with pytest.raises(FheliumError, match=r"'fusion.region' cannot be executed in place"):
        execution_parameters(invocation, (a, a), table, in_place=True)
    with pytest.raises(FheliumError, match="operand 1 must be int64 of shape"):
        execution_parameters(invocation, (a, a[0]), table, in_place=False)


SINGLE = f"""
func.func @f(%a : {A}, %b : {A}) -> {poly(3)} {{
  %add = rns.add %a, %b : {A}
  %sub = rns.sub %a, %b : {A}
  %mul = rns.mul %a, %b : {A} -> {poly(2, exponent=-1)}
  %low = rns.set_representative %add : {TWO} -> {A}
  %neg = rns.negate %add : {TWO}
  return %neg : {poly(3)}
}}
"""


def test_single_operations() -> None:
    root = module(SINGLE)
    implementation = TritonRnsImplementation()
    assert implementation.operation_types is ARITHMETIC_OPS and implementation.plans == {}
    a, b = residues(5), residues(6)

    def run(kind: type[Operation], *inputs: torch.Tensor) -> torch.Tensor:
        invocation = OperationInvocation.of(find(root, kind))
        bound = bind(implementation.resource_requirements(invocation), root)
        (result,) = implementation.execute(invocation, inputs, bound, in_place=False)
        (again,) = implementation.execute(invocation, inputs, bound, in_place=False)
        assert torch.equal(result, again)
        return result

    pairs = list(zip(integers(a), integers(b), strict=True))
    total = run(rns.AddOp, a, b)
    assert_congruent(total, [[x + y for x, y in zip(*rows, strict=True)] for rows in pairs], 2)
    difference = run(rns.SubOp, a, b)
    assert_congruent(difference, [[x - y for x, y in zip(*rows, strict=True)] for rows in pairs], 2)
    product = run(rns.MulOp, a, b)
    want = [
        [x * y * pow(R, -1, q) for x, y in zip(*rows, strict=True)]
        for q, rows in zip(Q, pairs, strict=True)
    ]
    assert_congruent(product, want, 2)
    negative = run(rns.NegateOp, total)
    sums = [[x + y for x, y in zip(*rows, strict=True)] for rows in pairs]
    assert_congruent(negative, [[-x for x in row] for row in sums], 3)
    assert_congruent(run(rns.SetRepresentativeOp, total), sums, 1)
    assert len(implementation.plans) == 5


def test_single_operations_refuse() -> None:
    root = module(SINGLE)
    implementation = TritonRnsImplementation()
    invocation = OperationInvocation.of(find(root, rns.AddOp))
    bound = bind(implementation.resource_requirements(invocation), root)
    a, b = residues(5), residues(6)
    for inputs, resources, in_place, message in (
        ((a, b), bound, True, r"'rns.add' cannot be executed in place"),
        ((a,), bound, False, "takes 2 tensors, found 1"),
        ((a, b.to(torch.int32)), bound, False, "operand 1 must be int64"),
        ((a, b.to("meta")), bound, False, "one device"),
        ((a, b), bound[:1], False, "missing resources: moduli"),
        ((a, b), (*bound, bound[0]), False, "left over: r0"),
    ):
        with pytest.raises(FheliumError, match=message):
            implementation.execute(invocation, inputs, resources, in_place=in_place)
    _, region = region_of(REGION)
    with pytest.raises(FheliumError, match=r"does not execute 'fusion.region'"):
        implementation.resource_requirements(OperationInvocation.of(region))


def test_a_square_reads_its_operand_once() -> None:
    root = module(f"""
func.func @f(%a : {A}) -> {poly(2, exponent=-1)} {{
  %mul = rns.mul %a, %a : {A} -> {poly(2, exponent=-1)}
  return %mul : {poly(2, exponent=-1)}
}}
""")
    invocation = OperationInvocation.of(find(root, rns.MulOp))
    implementation = TritonRnsImplementation()
    bound = bind(implementation.resource_requirements(invocation), root)
    a = residues(7)
    (found,) = implementation.execute(invocation, (a, a), bound, in_place=False)
    want = [[x * x * pow(R, -1, q) for x in row] for q, row in zip(Q, integers(a), strict=True)]
    assert_congruent(found, want, 2)


def test_compiled_sources_stay_inspectable() -> None:
    import inspect

    _, region = region_of(REGION)
    (launch,) = TritonFusionImplementation().prepare_operation(region).kernels.launches
    function = compile_source(launch.source)
    assert inspect.getsource(function.fn) in launch.source
    with pytest.raises(FheliumError, match="is not Python"):
        compile_source("def (")
