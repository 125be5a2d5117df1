"""The steps of linking: run the passes that are left, choose implementations, bind resources, prepare calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.traits import SymbolTable
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from fhelium_ir import universe
from fhelium_ir.backend.executable import Call, KernelLibrary
from fhelium_ir.backend.program import Program, entry_function
from fhelium_ir.backend.registry import (
    OperationImplementation,
    OperationInvocation,
    use_registry,
)
from fhelium_ir.backend.resources import (
    NAMED,
    BoundResource,
    ResourceBindings,
    ResourceMaterializer,
    check_tensor,
    requirement_of,
)
from fhelium_ir.compiler.compilation import Compilation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.compiler.pipeline import PassObserver, Pipeline
from fhelium_ir.dialects import fusion, host, kernel, resource

if TYPE_CHECKING:
    from collections.abc import Callable

    from fhelium_ir.backend.execution import OperationDispatch
    from fhelium_ir.backend.registry import OperationImplementationRegistry
    from fhelium_ir.backend.workspace import BackendWorkspace

MATERIAL_KINDS = (*resource.PUBLIC_KINDS, "plaintext")
"""Kinds of resource that are given with a compilation."""

LOWERING = "convert-regions-to-kernels"
"""The pass that ends the region stage."""

_LAST_PASS = {"program": None, "polynomial": "convert-ckks-to-rns", "region": "form-fusion-regions"}
"""By stage the last pass of the default pipeline that has certainly run."""


_DEVICE_PASSES = (
    "select-arithmetic",
    "form-fusion-regions",
    "tune-ntt-schedules",
    "assign-streams",
    "chain-launches",
    "assign-cache-hints",
)


def default_pipeline(description: str) -> Pipeline:
    """The registered default pipeline for a device description."""
    passes = universe.PIPELINES[universe.DEFAULT_PIPELINE]
    return Pipeline(
        universe.DEFAULT_PIPELINE,
        tuple(
            f'{name}{{device="{description}"}}' if name in _DEVICE_PASSES else name
            for name in passes
        ),
    )


def _name(spec: str) -> str:
    return spec.partition("{")[0]


def remaining_passes(compilation: Compilation, description: str) -> tuple[str, ...]:
    """The passes of the default pipeline that a compilation has not been through."""
    stage = compilation.stage
    if stage == "host":
        return ()
    passes = default_pipeline(description).passes
    names = [_name(spec) for spec in passes]
    done = [_name(spec) for spec in compilation.pipeline.passes] if compilation.pipeline else []
    last = next((name for name in reversed(done) if name in names), _LAST_PASS[stage])
    return passes[names.index(last) + 1 :] if last is not None else passes


def lower(
    compilation: Compilation,
    pipeline: Pipeline | None,
    registry: OperationImplementationRegistry,
    description: str,
) -> tuple[ModuleOp | None, ModuleOp]:
    """Runs what is left of a pipeline on a copy.

    Returns:
        The module at the region stage, None if the compilation is past it; and the module at the host stage.

    Raises:
        FheliumError: a pass fails, or the pipeline stops before the region stage.
    """
    passes = remaining_passes(compilation, description) if pipeline is None else pipeline.passes
    # What no pass changes needs no copy, which takes a fifth of a second for a program of some size.
    as_it_is = not passes and compilation.stage == "host"
    module = compilation.module if as_it_is else compilation.module.clone()
    context = universe.make_context()
    name = pipeline.name if pipeline is not None else universe.DEFAULT_PIPELINE
    with use_registry(registry):
        regions = run_with_regions(Pipeline(name, passes), context, module)
        stage = Compilation(module, compilation.parameters).stage
        if stage == "host":
            return regions or compilation.regions, module
        if stage != "region" and _has_operations(module):
            raise FheliumError(
                f"pipeline '{name}' stops at the {stage} stage; linking needs form-fusion-regions"
            )
        regions = module.clone()
        chains = f'chain-launches{{device="{description}"}}'
        Pipeline(name, (LOWERING, "convert-zq-to-arith", chains)).run(context, module)
    return regions, module


def run_with_regions(
    pipeline: Pipeline,
    context: Context,
    module: ModuleOp,
    observers: Sequence[PassObserver] = (),
    *,
    verify_each: bool = True,
) -> ModuleOp | None:
    """Runs a pipeline in place and returns a copy of what its lowering of regions began with, if it has that pass.

    Args:
        verify_each: as in `Pipeline.run`.
    """
    names = [_name(spec) for spec in pipeline.passes]
    copies: list[ModuleOp] = []
    if LOWERING not in names:
        pipeline.run(context, module, verify_each=verify_each, observers=observers)
        return None
    before = names.index(LOWERING)
    if before == 0:
        copies.append(module.clone())
    count = 0

    def copy_regions(_: ModulePass, after: ModuleOp) -> None:
        nonlocal count
        count += 1
        if count == before:
            copies.append(after.clone())

    pipeline.run(
        context, module, verify_each=verify_each, after_pass=copy_regions, observers=observers
    )
    return copies[0]


def _has_operations(module: ModuleOp) -> bool:
    return any(op.name.startswith(("ckks.", "rns.", "ntt.")) for op in module.walk())


def load_program(
    compilation: Compilation,
    regions: ModuleOp | None,
    module: ModuleOp,
    workspace: BackendWorkspace,
) -> Program:
    """The program of a lowered module, its kernels compiled for the workspace's target.

    Raises:
        FheliumError: there is no such function, or a launch does not fit its kernel.
    """
    function = entry_function(module, compilation.entry)
    name = function.sym_name.data
    for op in function.walk():
        if isinstance(op, host.LaunchOp):
            _check_launch(module, op)
    load = cast("Callable[[ModuleOp, str], KernelLibrary]", universe.load_service("load-kernels"))
    return Program(name, compilation, regions, module, workspace, load(module, workspace.target))


def _check_launch(module: ModuleOp, launch: host.LaunchOp) -> None:
    callee = SymbolTable.lookup_symbol(module, launch.callee)
    if not isinstance(callee, kernel.FuncOp):
        raise FheliumError(
            f"there is no kernel @{launch.callee.string_value()}", location_of(launch)
        )
    try:
        host.check_launch(launch, callee)
    except VerifyException as error:
        raise FheliumError(str(error), location_of(launch)) from error


def operation_of(program: Program, entry: Operation) -> tuple[Operation, str | None]:
    """What a dispatched operation executes, and the name of the implementation that the program states."""
    if isinstance(entry, host.CallOp):
        callee = program.callee(entry)
        return callee.operation, callee.implementation.data
    attribute = entry.attributes.get(fusion.IMPLEMENTATION)
    return entry, attribute.data if isinstance(attribute, StringAttr) else None


def resource_names(entry: Operation) -> tuple[str, ...]:
    """Symbols of the tables that an operation reads."""
    if isinstance(entry, host.LaunchOp | host.CallOp):
        owners = (value.owner for value in entry.operands)
        return tuple(o.symbol.string_value() for o in owners if isinstance(o, host.ResourceOp))
    listed = (
        entry.resources
        if isinstance(entry, fusion.FusedOp)
        else entry.attributes.get(fusion.RESOURCES)
    )
    if isa(listed, ArrayAttr[SymbolRefAttr]):
        return tuple(symbol.string_value() for symbol in listed)
    raise FheliumError(
        f"'{entry.name}' names no resources; run infer-resources first", location_of(entry)
    )


def is_in_place(entry: Operation) -> bool:
    """Whether the program lets an operation work in place."""
    if isinstance(entry, host.CallOp):
        return entry.in_place is not None
    return fusion.IN_PLACE in entry.attributes


def is_key(declared: resource.DeclareOp) -> bool:
    """Whether a client gives a resource."""
    return declared.kind.data in resource.PUBLIC_KINDS


def bind_resource(
    declared: resource.DeclareOp,
    compilation: Compilation,
    workspace: BackendWorkspace,
    named: ResourceBindings,
    materializer: ResourceMaterializer,
) -> BoundResource:
    """The tensor of a declaration on the workspace's device: given by name, with the compilation, or computed once.

    Raises:
        FheliumError: a name or a material is missing, or the tensor does not fit.
    """
    requirement, symbol = requirement_of(declared), declared.sym_name.data
    kind = requirement.kind
    if kind == NAMED:
        parameter = declared.parameters.data["name"]
        name = parameter.data if isinstance(parameter, StringAttr) else str(parameter)
        if name not in named:
            raise FheliumError(f"no resource named '{name}' is given, which @{symbol} requires")
        tensor = named[name]
        if tensor.device != workspace.device:
            raise FheliumError(
                f"resource '{name}' must be on {workspace.device}, found {tensor.device}"
            )
    elif kind in MATERIAL_KINDS:
        if compilation.materials is None:
            raise FheliumError(
                f"the program needs @{symbol} ({kind}), and no materials are bound to it"
            )
        tensor = materializer.materialize(declared, compilation).to(workspace.device)
    else:
        key = (compilation.parameters, _radix(compilation, declared), requirement)
        tensor = workspace.table(key, lambda: materializer.materialize(declared, compilation))
    check_tensor(symbol, tensor, requirement)
    return BoundResource(requirement, symbol, tensor)


def _radix(compilation: Compilation, declared: resource.DeclareOp) -> str:
    parent = declared.parent_op()
    arithmetic = parent.attributes.get("rns.arithmetic") if parent is not None else None
    return str(arithmetic)


def missing_bytes(program: Program, workspace: BackendWorkspace) -> tuple[int, int]:
    """Bytes of a program's tables that are not in the workspace yet, and of all."""
    missing = total = 0
    for declared in program.declared.values():
        requirement = requirement_of(declared)
        size = requirement.bytes()
        key = (program.compilation.parameters, _radix(program.compilation, declared), requirement)
        total += size
        missing += 0 if workspace.holds(key) else size
    return missing, total


def prepare_call(
    dispatch: OperationDispatch,
    resources: Sequence[BoundResource],
    device: torch.device,
) -> Call:
    """A function of input tensors, then the resources' tensors, that executes an operation.

    Results are checked; results that share memory with an input are copied, because the program's arena is written
    again, unless the operation works in place.
    """
    implementation: OperationImplementation = dispatch.implementation
    invocation: OperationInvocation = dispatch.invocation
    in_place, bound = dispatch.in_place, tuple(resources)
    count, shapes = len(invocation.operation.operands), invocation.result_shapes
    dtypes = invocation.result_dtypes
    name = f"implementation '{implementation.name}' of '{invocation.operation.name}'"

    def call(*tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        inputs = tensors[:count]
        results = implementation.execute(invocation, inputs, bound, in_place=in_place)
        if len(results) != len(shapes):
            raise FheliumError(f"{name} returned {len(results)} results, expected {len(shapes)}")
        checked: list[torch.Tensor] = []
        for index, (result, shape) in enumerate(zip(results, shapes, strict=True)):
            if result.shape != shape or str(result.dtype) != f"torch.{dtypes[index]}":
                raise FheliumError(
                    f"{name} returned {result.dtype} of shape {tuple(result.shape)} as result "
                    f"{index}, expected torch.{dtypes[index]} of shape {shape}"
                )
            if result.device != device or not result.is_contiguous():
                raise FheliumError(f"{name} must return contiguous tensors on {device}")
            if in_place and index == 0:
                if result.data_ptr() != inputs[0].data_ptr():
                    raise FheliumError(f"{name} did not work in place")
            elif any(_overlap(result, tensor) for tensor in inputs):
                result = result.clone()
            checked.append(result)
        return tuple(checked)

    return call


def _overlap(first: torch.Tensor, second: torch.Tensor) -> bool:
    return first.untyped_storage().data_ptr() == second.untyped_storage().data_ptr()


def host_source(program: Program) -> str:
    """The Python source of the program's host function."""
    printer = cast("Callable[[Operation], str]", universe.load_service("host-source"))
    return printer(program.function)


def calls_of(
    program: Program,
    operations: Mapping[Operation, OperationDispatch],
    resources: Sequence[BoundResource],
    indices: Mapping[Operation, tuple[int, ...]],
) -> dict[tuple[str, bool], Call]:
    """The prepared calls of a host program by symbol and whether they work in place."""
    calls = program.calls
    keys: Sequence[Operation] = calls
    if program.regions is not None:
        # The lowering made one call, in order, for each operation that it left whole.
        keys = [op for op in program.operations if operation_of(program, op)[1] is not None]
    prepared: dict[tuple[str, bool], Call] = {}
    for call, key in zip(calls, keys, strict=True):
        if key not in operations:
            raise FheliumError(
                f"the dispatch table holds nothing for '{operation_of(program, key)[0].name}'",
                location_of(key),
            )
        bound = [resources[index] for index in indices.get(key, ())]
        symbol = (call.callee.string_value(), call.in_place is not None)
        prepared[symbol] = prepare_call(operations[key], bound, program.workspace.device)
    return prepared
