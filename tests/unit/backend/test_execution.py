"""Linking and running: dispatch, bindings, manifest, memory, threads, custom implementations, refusals."""

from __future__ import annotations

import gc
import json
import threading
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import cast

import pytest
import torch
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation

from fhelium_ir import universe
from fhelium_ir.backend import linking
from fhelium_ir.backend.discovery import builtin_registry, registry_with
from fhelium_ir.backend.execution import (
    BackendWorkspace,
    BoundResource,
    Compilation,
    OperationBackend,
    OperationEffect,
    OperationImplementationRegistry,
    OperationInvocation,
    Pipeline,
    ProgramDispatchTable,
    ProgramExecutable,
    ResourceBindings,
    ResourceRequirement,
)
from fhelium_ir.backend.materializer import DeclaredMaterializer
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import fusion, resource, rns
from fhelium_ir.lowering.triton import PreparedFusion, TritonFusionImplementation
from fhelium_ir.tools.run_program import run_reference
from tests.lit_files import ROOT
from tests.unit.backend.programs import TARGET, case, parsed, region_stage
from tests.unit.backend.test_registry import TEXT


def backend(registry: OperationImplementationRegistry | None = None) -> OperationBackend:
    return OperationBackend(registry, BackendWorkspace(TARGET))


def outputs(program: ProgramExecutable, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    return cast("tuple[torch.Tensor, ...]", program.run(*inputs))


def expected() -> Sequence[torch.Tensor]:
    one = case()
    names = [argument.name for argument in one.program.interface.arguments]
    encrypted = dict(zip(names, one.inputs, strict=True))
    program = one.program
    keys = ClientKeys(one.client)
    return run_reference(program.program_stage, program.interface, keys, encrypted)


def assert_right(program: ProgramExecutable) -> None:
    for found, want in zip(outputs(program, case().inputs), expected(), strict=True):
        assert torch.equal(found.cpu().to(torch.int64), want)


def test_a_linked_program_computes_the_reference() -> None:
    assert_right(backend().link(case().compilation()))


def test_a_program_is_linked_from_its_text() -> None:
    compilation = case().from_text()
    before = str(compilation.module)
    program = backend().link(compilation)
    assert_right(program)
    assert str(compilation.module) == before


def test_every_pass_that_asks_for_a_device_is_told_it() -> None:
    for spec in linking.default_pipeline("cpu").passes:
        options = {option.name for option in fields(universe.load_pass(spec.partition("{")[0]))}
        assert ("device" in options) == spec.endswith('{device="cpu"}')


def test_a_pipeline_that_stops_at_regions_is_completed() -> None:
    passes = linking.default_pipeline("cpu").passes
    names = [spec.partition("{")[0] for spec in passes]
    to_regions = Pipeline("mine", passes[: names.index("convert-regions-to-kernels")])
    assert_right(backend().link(case().from_text(), pipeline=to_regions))
    to_polynomials = Pipeline("short", passes[: names.index("track-montgomery")])
    with pytest.raises(FheliumError, match="pipeline 'short' stops at the polynomial stage"):
        backend().link(case().from_text(), pipeline=to_polynomials)


@pytest.mark.parametrize(
    "last", ["ckks-check", "convert-ckks-to-rns", "track-montgomery", "form-fusion-regions"]
)
def test_linking_runs_what_is_left(last: str) -> None:
    from fhelium_ir.universe import make_context

    compilation = case().from_text()
    done = linking.default_pipeline("cpu").until(last)
    done.run(make_context(), compilation.module)
    compilation = Compilation(
        compilation.module, compilation.parameters, compilation.materials, done
    )
    assert_right(backend().link(compilation))


def test_the_dispatch_table_maps_the_regions() -> None:
    program = backend().link(case().compilation())
    table = program.dispatch_table.operations
    assert program.program.regions is not None
    regions = [op for op in program.program.regions.walk() if isinstance(op, fusion.FusedOp)]
    assert list(table) == regions
    for entry, dispatch in table.items():
        assert dispatch.prepared_regions and not dispatch.in_place
        assert isinstance(dispatch.implementation, PreparedFusion)
        assert dispatch.implementation.graph.operation is entry
        assert dispatch.effect == OperationEffect((), (None,) * len(entry.results))
        bound = [program.resources[index] for index in program.resource_indices[entry]]
        assert tuple(one.requirement for one in bound) == dispatch.requirements
        assert dispatch.implementation.resource_requirements(dispatch.invocation) == (
            dispatch.requirements
        )


def test_tables_and_materials_are_bound_apart() -> None:
    program = backend().link(case().compilation())
    kinds = {one.requirement.kind for one in program.bound_resources.values()}
    assert {"rows", "moduli", "shoup_twiddles"} <= kinds
    materials = [op for op in program.bound_materials if isinstance(op, resource.DeclareOp)]
    assert [op.kind.data for op in materials] == ["relinearization_key"]
    assert len(program.resources) == len(program.bound_resources) + len(materials)
    assert program.host_source.startswith("def prepare(host):")
    assert program.host_source == program.executable.host_source


def test_the_host_source_names_no_object_and_prepares_once() -> None:
    source = backend().link(case().compilation()).host_source
    head, _, body = source.partition("def run(")
    assert "host.kernel(" in head and "host.resource(" in head
    assert "host." not in body
    assert "object at 0x" not in source


def test_a_table_is_computed_once_in_a_workspace() -> None:
    @dataclass
    class Counting:
        counts: dict[str, int] = field(default_factory=dict[str, int])

        def materialize(
            self, declared: resource.DeclareOp, compilation: Compilation, /
        ) -> torch.Tensor:
            kind = declared.kind.data
            self.counts[kind] = self.counts.get(kind, 0) + 1
            return DeclaredMaterializer().materialize(declared, compilation)

    counting = Counting()
    one = OperationBackend(workspace=BackendWorkspace(TARGET), materializer=counting)
    first = one.link(case().compilation())
    once = dict(counting.counts)
    second = one.link(case().compilation())
    assert counting.counts["shoup_twiddles"] == once["shoup_twiddles"] == 2
    assert counting.counts["relinearization_key"] == 2
    shared = {bound.name: bound.tensor for bound in first.resources}
    for bound in second.resources:
        same = bound.tensor is shared[bound.name]
        assert same == (bound.requirement.kind != "relinearization_key")


def test_the_manifest() -> None:
    program = backend().link(case().compilation())
    manifest = json.loads(json.dumps(dict(program.manifest)))
    assert manifest["name"] == "product" and manifest["target"] == TARGET
    assert [row["name"] for row in manifest["arguments"]] == ["x", "y"]
    assert manifest["arguments"][0]["shape"] == [2, 2, 16]
    assert "level = 1" in manifest["arguments"][0]["ckks.type"]
    assert manifest["results"][0]["bytes"] == 2 * 1 * 16 * 8
    assert [row["kind"] for row in manifest["required_keys"]] == ["relinearization_key"]
    sizes = {row["name"]: row["bytes"] for row in manifest["resources"]}
    assert sizes == {bound.name: bound.bytes for bound in program.resources}
    memory = manifest["memory"]
    assert memory["resource_bytes"] == sum(sizes.values())
    assert memory["argument_bytes"] == 2 * 2 * 2 * 16 * 8
    assert memory["peak_bytes"] == (
        memory["resource_bytes"]
        + memory["argument_bytes"]
        + memory["arena_bytes"]
        + memory["result_bytes"]
    )
    assert {row["name"] for row in manifest["kernels"]} <= set(program.host_source.split("'"))
    launches = sum(row["launches"] for row in manifest["kernels"])
    assert launches == program.run_counted(*case().inputs)[1].launches
    assert {row["implementation"] for row in manifest["operations"]} == {"triton-rns-fused"}
    assert manifest["implementations"][0]["operations"] == len(manifest["operations"])
    with pytest.raises(TypeError):
        program.manifest["name"] = "other"  # pyright: ignore


def test_no_input_is_kept_and_results_are_fresh() -> None:
    program = backend().link(case().compilation())
    inputs = [tensor.clone() for tensor in case().inputs]
    references = [weakref.ref(tensor) for tensor in inputs]
    results = outputs(program, inputs)
    del inputs
    gc.collect()
    assert [reference() for reference in references] == [None, None]
    again = outputs(program, case().inputs)
    assert results[0].data_ptr() != again[0].data_ptr()


def test_runs_from_several_threads_agree() -> None:
    program = backend().link(case().compilation())
    want = outputs(program, case().inputs)[0]
    found: list[torch.Tensor] = []

    def work() -> None:
        for _ in range(3):
            found.append(outputs(program, case().inputs)[0])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    assert all(torch.equal(tensor, want) for tensor in found)


def test_a_memory_limit_is_checked_before_the_first_launch() -> None:
    needed = cast("dict[str, int]", backend().link(case().compilation()).manifest["memory"])
    peak = needed["peak_bytes"]
    enough = OperationBackend(workspace=BackendWorkspace(TARGET, memory_limit=peak))
    program = enough.link(case().compilation())
    assert_right(program)
    small = OperationBackend(workspace=BackendWorkspace(TARGET, memory_limit=peak - 1))
    with pytest.raises(
        FheliumError, match=f"'product' wants {peak} bytes, the memory limit leaves {peak - 1} free"
    ):
        small.link(case().compilation())
    # While another run holds its share, there is not enough.
    workspace = program.program.workspace
    run = program.program.memory.arguments + program.program.memory.peak
    with (
        workspace.reserve("another", peak - run, run),
        pytest.raises(FheliumError, match=f"wants {run} bytes, the memory limit leaves 0 free"),
    ):
        program.run(*case().inputs)
    assert_right(program)


def test_not_enough_memory_says_wanted_and_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before any table is made."""
    made: list[object] = []
    monkeypatch.setattr(BackendWorkspace, "free_bytes", lambda self: 100)  # pyright: ignore
    monkeypatch.setattr(BackendWorkspace, "table", lambda self, key, make: made.append(key))  # pyright: ignore
    with pytest.raises(FheliumError, match=r"'product' wants \d+ bytes on cpu, 100 are free"):
        backend().link(case().compilation())
    assert not made


def test_an_empty_registry_names_what_is_missing() -> None:
    empty = backend(OperationImplementationRegistry())
    with pytest.raises(FheliumError, match=r"no implementation executes 'rns\.\w+'"):
        empty.link(case().from_text())
    with pytest.raises(FheliumError, match=r"no implementation executes 'fusion.region'; there ar"):
        empty.link(case().compilation())
    lowered = replace(case().compilation(), regions=None)
    with pytest.raises(FheliumError, match=r"no implementation executes 'host.launch'; there are"):
        empty.link(lowered)


def test_an_implementation_without_transforms_is_not_enough() -> None:
    registry = OperationImplementationRegistry([TritonFusionImplementation()])
    with pytest.raises(
        FheliumError, match=r"executes 'ntt.inverse'; asked for a region: triton-rns-fused"
    ):
        backend(registry).link(case().from_text())


def test_a_missing_material() -> None:
    compilation = replace(case().compilation(), materials=None)
    with pytest.raises(FheliumError, match=r"needs @relinearization_key \(relinearization_key\)"):
        backend().link(compilation)


def test_wrong_contents_are_refused() -> None:
    class Wrong:
        def materialize(
            self, declared: resource.DeclareOp, compilation: Compilation, /
        ) -> torch.Tensor:
            return torch.zeros(3, dtype=torch.int64)

    wrong = OperationBackend(workspace=BackendWorkspace(TARGET), materializer=Wrong())
    with pytest.raises(FheliumError, match=r"must be int64 of shape .*, found int64 of shape \(3,"):
        wrong.link(case().compilation())


def test_an_executable_needs_every_binding() -> None:
    program = backend().link(case().compilation())
    parts = (program.program, program.dispatch_table, program.resources, program.resource_indices)
    again = ProgramExecutable(*parts, program.bound_resources, program.bound_materials)
    assert_right(again)
    with pytest.raises(FheliumError, match="resource @relinearization_key is not bound"):
        ProgramExecutable(*parts, program.bound_resources, {})
    with pytest.raises(FheliumError, match=r"resource @\w+ is not bound"):
        ProgramExecutable(*parts, {}, program.bound_materials)


@dataclass(frozen=True)
class Doubling:
    """Executes `rns.add` of equal operands with torch; wants a table by name."""

    name: str = "doubling"
    operation_types: tuple[type[Operation], ...] = (rns.AddOp,)
    supports_in_place: bool = False
    answer: str = "sum"

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        return (ResourceRequirement("named", (("name", StringAttr("bias")),), (16,), 64),)

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        if self.answer == "none":
            return ()
        if self.answer == "short":
            return (inputs[0][:, :1],)
        if self.answer == "alias":
            return (inputs[0],)
        if self.answer == "copy" and in_place:
            return (inputs[0].clone(),)
        total = inputs[0] + inputs[1] + resources[0].tensor
        return (inputs[0].copy_(total) if in_place else total,)


SUM = "!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 2)>"
MORE = "!rns.poly<16, q 0:2, evaluation(bit_reversed), mont64(e = 0, below = 4)>"
TWICE = TEXT.replace(
    f"  return %c : {SUM}", f"  %d = rns.add %c, %c : {SUM}\n  return %d : {MORE}"
).replace(f"-> {SUM}", f"-> {MORE}")


def custom(answer: str = "sum") -> OperationBackend:
    registry = builtin_registry()
    registry.register(Doubling(answer=answer), preferred=True)
    bias = ResourceBindings({"bias": torch.arange(16, dtype=torch.int64)})
    return backend(registry).with_named_resources(bias)


def words() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(1)
    first, second = (
        torch.randint(0, 1 << 36, (1, 2, 16), dtype=torch.int64, generator=generator)
        for _ in range(2)
    )
    return first, second


def test_a_whole_operation_is_left_to_its_implementation() -> None:
    linked = custom().link(Compilation.of(parsed(TWICE)))
    a, b = words()
    once = a + b + torch.arange(16)
    assert torch.equal(outputs(linked, (a, b))[0], 2 * once + torch.arange(16))
    first, second, reduction = linked.dispatch_table.operations.values()
    assert first.implementation.name == second.implementation.name == "doubling"
    assert not first.prepared_regions
    assert reduction.implementation.name == "triton-rns-fused"
    assert [one.requirement.kind for one in linked.resources] == ["named", "rows", "moduli"]
    assert linked.run_counted(a, b)[1].launches == 3


def test_named_resources_extend() -> None:
    one, other = torch.zeros(16, dtype=torch.int64), torch.ones(16, dtype=torch.int64)
    start = backend().with_named_resources(ResourceBindings({"bias": one}))
    assert start.named_resources["bias"] is one
    more = ResourceBindings({"bias": other, "more": other})
    over = start.with_named_resources(more)
    assert over.named_resources["bias"] is other and over.registry is start.registry
    assert over.workspace is start.workspace
    kept = start.with_named_resources(more, override=False)
    assert kept.named_resources["bias"] is one and kept.named_resources["more"] is other
    assert list(backend().named_resources) == []
    with pytest.raises(FheliumError, match="unknown resource 'biass'; did you mean 'bias'"):
        _ = start.named_resources["biass"]


def test_a_missing_or_wrong_named_resource() -> None:
    registry = custom().registry
    with pytest.raises(FheliumError, match="no resource named 'bias' is given, which @named_0 req"):
        backend(registry).link(Compilation.of(parsed(TEXT)))
    short = ResourceBindings({"bias": torch.zeros(8, dtype=torch.int64)})
    with pytest.raises(FheliumError, match=r"must be int64 of shape \(16,\), found int64 of sh"):
        backend(registry).with_named_resources(short).link(Compilation.of(parsed(TEXT)))
    meta = ResourceBindings({"bias": torch.zeros(16, dtype=torch.int64, device="meta")})
    with pytest.raises(FheliumError, match="resource 'bias' must be on cpu, found meta"):
        backend(registry).with_named_resources(meta).link(Compilation.of(parsed(TEXT)))


@pytest.mark.parametrize(
    "answer, message",
    [
        ("none", "implementation 'doubling' of 'rns.add' returned 0 results, expected 1"),
        ("short", r"returned torch.int64 of shape \(1, 1, 16\) as result 0, expected torch.int64"),
    ],
)
def test_wrong_results_of_an_implementation(answer: str, message: str) -> None:
    linked = custom(answer).link(Compilation.of(parsed(TEXT)))
    with pytest.raises(FheliumError, match=message):
        linked.run(*words())


def test_a_result_that_aliases_an_input_is_copied() -> None:
    a, b = words()
    linked = custom("alias").link(Compilation.of(parsed(TEXT)))
    (result,) = outputs(linked, (a, b))
    assert torch.equal(result, a)
    assert result.data_ptr() != a.data_ptr()


EXAMPLE = ROOT / "examples" / "implementations" / "exact_rns.py"


def test_the_example_takes_part_in_the_default_pipeline() -> None:
    linked = backend(registry_with([str(EXAMPLE)])).link(case().from_text())
    assert_right(linked)
    dispatches = list(linked.dispatch_table.operations.values())
    names = [dispatch.implementation.name for dispatch in dispatches]
    assert names.count("exact-multiply") == 4 and "plain-sums" in names
    assert "triton-rns-fused" in names
    # The last reader of a product's operand takes its memory.
    in_place = [dispatch for dispatch in dispatches if dispatch.in_place]
    assert len(in_place) == 2
    assert {dispatch.effect for dispatch in in_place} == {OperationEffect((0,), (0,))}
    with pytest.raises(FheliumError, match="what an implementation executes as a whole cannot"):
        linked.export("never.py")


def test_an_implementation_that_does_not_work_in_place() -> None:
    registry = registry_with([str(EXAMPLE)])
    compilation = case().from_text()
    linked = backend(registry).link(compilation)
    lying = {
        entry: replace(dispatch, implementation=Copying()) if dispatch.in_place else dispatch
        for entry, dispatch in linked.dispatch_table.operations.items()
    }
    broken = replace_table(linked, ProgramDispatchTable(lying))
    with pytest.raises(FheliumError, match=r"'copying' of 'rns.mul' did not work in place"):
        broken.run(*case().inputs)


@dataclass(frozen=True)
class Copying(Doubling):
    name: str = "copying"
    answer: str = "copy"


def test_diagnostics() -> None:
    module = region_stage(TEXT)
    region = next(op for op in module.walk() if isinstance(op, fusion.FusedOp))
    assert backend().diagnostics(region) == ()
    assert backend().diagnostics(region, implementation="triton-rns-fused") == ()
    assert backend().diagnostics(region, in_place=True) == (
        "'triton-rns-fused' cannot execute 'fusion.region' in place",
    )
    (message,) = backend().diagnostics(region, implementation="triton-rns-pointwise")
    assert message.startswith("implementation 'triton-rns-pointwise' does not execute 'fusion.reg")
    (message,) = backend().diagnostics(region, implementation="absent")
    assert message.startswith("unknown implementation 'absent'")
    (message,) = backend(OperationImplementationRegistry()).diagnostics(region)
    assert message == "no implementation executes 'fusion.region'; there are no candidates"


def test_diagnostics_of_resources_and_types() -> None:
    module = parsed(TEXT)
    op = next(op for op in module.walk() if isinstance(op, rns.AddOp))
    registry = OperationImplementationRegistry([Doubling(supports_in_place=True)])
    assert backend(registry).diagnostics(op, in_place=True) == (
        "'rns.add' cannot be in place: its first operand and result differ in type",
        "no resource named 'bias' is given",
    )
    given = backend(registry).with_named_resources(
        ResourceBindings({"bias": torch.zeros(8, dtype=torch.int64)})
    )
    (message,) = given.diagnostics(op)
    assert message.startswith("resource @bias must be int64 of shape (16,)")


def test_a_dispatch_table_without_an_operation() -> None:
    linked = custom().link(Compilation.of(parsed(TEXT)))
    with pytest.raises(FheliumError, match=r"the dispatch table holds nothing for 'rns.add'"):
        replace_table(linked, ProgramDispatchTable({}))


def replace_table(linked: ProgramExecutable, table: ProgramDispatchTable) -> ProgramExecutable:
    return ProgramExecutable(
        linked.program,
        table,
        linked.resources,
        linked.resource_indices,
        linked.bound_resources,
        linked.bound_materials,
    )


def test_a_graph_needs_cuda() -> None:
    with pytest.raises(FheliumError, match="a graph needs target 'cuda', found 'cpu'"):
        BackendWorkspace("cpu", graph=True)
    with pytest.raises(FheliumError, match="program 'product' runs on cpu: a graph needs cuda"):
        backend().link(case().compilation()).capture()


def test_the_text_of_the_program_can_be_linked_again() -> None:
    """Mixed programs survive printing and parsing at the host stage."""
    linked = custom().link(Compilation.of(parsed(TWICE)))
    again = custom().link(Compilation.of(parsed(str(linked.program.module))))
    a, b = words()
    assert torch.equal(outputs(again, (a, b))[0], outputs(linked, (a, b))[0])
