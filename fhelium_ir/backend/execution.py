"""Choosing implementations for the operations of a program, linking it with its resources, and running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, cast

import torch
from numpy.typing import ArrayLike
from xdsl.ir import Operation

from fhelium_ir.backend import linking
from fhelium_ir.backend.executable import BufferSpec, Call, Executable, HostRuntime
from fhelium_ir.backend.host_runtime import DTYPES
from fhelium_ir.backend.interface import interface_of
from fhelium_ir.backend.manifest import manifest_of
from fhelium_ir.backend.materializer import DeclaredMaterializer
from fhelium_ir.backend.program import Program
from fhelium_ir.backend.registry import (
    OperationEffect,
    OperationImplementation,
    OperationImplementationRegistry,
    OperationInvocation,
    PreparingImplementation,
    active_registry,
    is_compiled,
)
from fhelium_ir.backend.resources import (
    NAMED,
    BoundResource,
    ResourceBindings,
    ResourceMaterializer,
    ResourceRequirement,
    check_tensor,
    requirement_of,
)
from fhelium_ir.backend.workspace import BackendWorkspace
from fhelium_ir.client.inputs import encode_plaintexts
from fhelium_ir.client.interface import Interface
from fhelium_ir.client.keys import KeySet
from fhelium_ir.client.materials import KeySetMaterials
from fhelium_ir.compiler.compilation import Compilation
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import host
from fhelium_ir.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fhelium_ir.backend.graph import CapturedProgram

__all__ = [
    "BackendWorkspace",
    "BoundResource",
    "Compilation",
    "OperationBackend",
    "OperationDispatch",
    "OperationEffect",
    "OperationImplementation",
    "OperationImplementationRegistry",
    "OperationInvocation",
    "Pipeline",
    "Program",
    "ProgramDispatchTable",
    "ProgramExecutable",
    "ResourceBindings",
    "ResourceMaterializer",
    "ResourceRequirement",
]


@dataclass(frozen=True, eq=False)
class OperationDispatch:
    """How one operation is executed, before its resources are bound.

    Attributes:
        invocation: the operation with its parameters.
        implementation: what executes it.
        requirements: the tables that it reads, in order.
        effect: what it does to storage.
        in_place: its first result takes the memory of its first input.
        prepared_regions: `implementation` was prepared for this operation alone.
    """

    invocation: OperationInvocation
    implementation: OperationImplementation
    requirements: tuple[ResourceRequirement, ...]
    effect: OperationEffect
    in_place: bool = False
    prepared_regions: bool = False


@dataclass(frozen=True, eq=False)
class ProgramDispatchTable:
    """The dispatch of every operation that implementations execute, by operation of the program."""

    operations: Mapping[Operation, OperationDispatch]


@dataclass(frozen=True, eq=False)
class ProgramExecutable:
    """A linked program.

    Calls and bindings are resolved when it is made. A run holds values in local variables, which are deleted after
    their last use in each block, so that buffers go back to torch's allocator. Results are ordinary tensors that the
    caller owns; one that the program returns unchanged is the caller's input itself. No input is kept, and several
    threads may run it at once.

    Attributes:
        program: the function, its host program and its kernels.
        dispatch_table: how its operations are executed.
        resources: every table, key and plaintext.
        resource_indices: for each operation of the dispatch table, the numbers of its tables in `resources`.
        bound_resources: tables by their `resource.declare`.
        bound_materials: tensors of keys and plaintexts by their `resource.declare`.
        host_source: the Python source of the host program; bound objects appear in it by name only.
        materializer: computed the tables.
        keys_later: evaluation keys are missing: `with_keys` has to give them before a run.

    Raises:
        FheliumError: a resource that the program reads is not bound, or does not fit.
    """

    program: Program
    dispatch_table: ProgramDispatchTable
    resources: tuple[BoundResource, ...]
    resource_indices: Mapping[Operation, tuple[int, ...]]
    bound_resources: Mapping[Operation, BoundResource]
    bound_materials: Mapping[Operation, object]
    host_source: str = field(init=False, repr=False, compare=False)
    materializer: ResourceMaterializer = field(
        default_factory=DeclaredMaterializer, repr=False, kw_only=True
    )
    keys_later: bool = field(default=False, kw_only=True)
    executable: Executable = field(init=False, repr=False, compare=False)
    _graph: list[CapturedProgram] = field(
        default_factory=list["CapturedProgram"], init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        program = self.program
        source = linking.host_source(program)
        calls: dict[tuple[str, bool], Call] = {}
        if not self.keys_later:
            calls = linking.calls_of(
                program, self.dispatch_table.operations, self.resources, self.resource_indices
            )
        executable = Executable(
            program.name,
            program.arguments,
            program.results,
            program.kernels,
            self._tensors(),
            source,
            program.workspace.device,
            calls,
            program.memory.peak,
        )
        # The dataclass is frozen for its users; this is still its construction.
        object.__setattr__(self, "host_source", source)
        object.__setattr__(self, "executable", executable)

    def _tensors(self) -> dict[str, torch.Tensor]:
        """The tensors of the resources that the host program reads, by symbol."""
        found: dict[str, torch.Tensor] = {}
        for name, declared in self.program.declared.items():
            bound = self.bound_resources.get(declared)
            tensor = bound.tensor if bound is not None else self.bound_materials.get(declared)
            if tensor is None and self.keys_later and linking.is_key(declared):
                continue
            if not isinstance(tensor, torch.Tensor):
                raise FheliumError(f"resource @{name} is not bound")
            check_tensor(name, tensor, requirement_of(declared))
            found[name] = tensor
        return found

    @property
    def name(self) -> str:
        """The function's name."""
        return self.program.name

    @property
    def arguments(self) -> tuple[BufferSpec, ...]:
        """Names, shapes and dtypes of the inputs."""
        return self.program.arguments

    @property
    def results(self) -> tuple[BufferSpec, ...]:
        """Shapes and dtypes of the results."""
        return self.program.results

    @property
    def device(self) -> torch.device:
        """Where inputs must be and results are."""
        return self.program.workspace.device

    @property
    def manifest(self) -> Mapping[str, object]:
        """What the program is and needs, as plain data, see `fhelium_ir.backend.manifest`."""
        return MappingProxyType(manifest_of(self))

    @property
    def parameters(self) -> Parameters:
        """Ring, moduli and gadget; a client makes its keys for these."""
        return self.program.compilation.parameters

    @cached_property
    def interface(self) -> Interface:
        """What a client must know of the program: inputs, results and keys.

        Raises:
            FheliumError: the program does not come from the program stage, so that it has no such facts.
        """
        return interface_of(self.program.module, self.program.function)

    def with_keys(self, keys: KeySet) -> ProgramExecutable:
        """The same program, kernels and tables with the evaluation keys of a client.

        Raises:
            FheliumError: the keys are for other parameters, or one that the program needs is missing.
        """
        if keys.parameters.hash() != self.parameters.hash():
            raise FheliumError(f"the keys were made for other parameters than '{self.name}'")
        compilation = replace(self.program.compilation, materials=KeySetMaterials(keys))
        bound: dict[Operation, BoundResource] = {
            declared: one
            for declared in self.program.declared.values()
            for one in self.resources
            if one.name == declared.sym_name.data and not linking.is_key(declared)
        }
        program = replace(self.program, compilation=compilation)
        return bind(program, self.dispatch_table, bound, self.materializer, ResourceBindings())

    def arrange(self, inputs: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
        """Named inputs in the order of the arguments, on the program's device.

        Raises:
            FheliumError: an input is missing or unknown.
        """
        names = [spec.name for spec in self.arguments]
        for name in inputs:
            if name not in names:
                raise unknown_name("input", name, names, f"program '{self.name}'")
        for name in names:
            if name not in inputs:
                raise FheliumError(f"program '{self.name}': input '{name}' is missing")
        return [
            inputs[spec.name].to(self.device, DTYPES[spec.dtype]).contiguous()
            for spec in self.arguments
        ]

    def evaluate(
        self,
        encrypted: Mapping[str, torch.Tensor],
        plaintexts: Mapping[str, ArrayLike] | None = None,
    ) -> tuple[torch.Tensor, ...]:
        """Runs the program on named inputs.

        Args:
            encrypted: what `Client.encrypt` returned.
            plaintexts: vectors for the inputs that are not encrypted.

        Returns:
            The encrypted results, for `Client.decrypt`.

        Raises:
            FheliumError: an input is missing, unknown or does not fit, or keys are missing.
        """
        encoded = encode_plaintexts(self.interface, plaintexts or {})
        inputs = self.arrange({**encrypted, **encoded})
        return cast("tuple[torch.Tensor, ...]", self.run(*inputs))

    def run(self, *inputs: object) -> object:
        """Runs the program.

        Args:
            inputs: one tensor (or integer) per argument, as the manifest states them.

        Returns:
            A tuple with one tensor per result.

        Raises:
            FheliumError: an input is missing or does not fit, or memory is not enough.
        """
        self._check_keys()
        tensors = cast("tuple[torch.Tensor, ...]", inputs)
        workspace = self.program.workspace
        if workspace.graph:
            if not self._graph:
                self._graph.append(self.capture())
            return self._graph[0].run(*tensors)
        if workspace.memory_limit is None:
            return self.executable.run(*tensors)
        memory = self.program.memory
        tables = sum(bound.bytes for bound in self.resources)
        with workspace.reserve(f"program '{self.name}'", tables, memory.arguments + memory.peak):
            return self.executable.run(*tensors)

    def run_counted(self, *inputs: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], HostRuntime]:
        """`run`, and the runtime with its launch count."""
        self._check_keys()
        return self.executable.run_counted(*inputs)

    def _check_keys(self) -> None:
        missing = [d for d in self.program.declared.values() if linking.is_key(d)]
        if self.keys_later and missing:
            raise FheliumError(
                f"program '{self.name}' has no keys yet: give it those of a client by `with_keys`"
            )

    def capture(self) -> CapturedProgram:
        """The program as a CUDA graph with fixed input and result buffers: one launch for all kernels.

        Raises:
            FheliumError: the program does not run on CUDA, or its control flow depends on an input.
        """
        from fhelium_ir.backend.graph import CapturedProgram

        self._check_keys()
        return CapturedProgram(self.executable)

    def export(self, path: str | Path, *, gpus: Sequence[tuple[str, int, int]] = ()) -> list[Path]:
        """Writes the program as files that run without this library.

        Args:
            path: of the Python file, which needs torch and triton. Beside it are written, with other endings,
                `.safetensors` with tables, keys and plaintexts, and `.json` with the manifest.
            gpus: (backend, architecture, warp size) of GPUs, such as ("cuda", 90, 32), for which compiled kernels are
                written into a folder beside it, so that a first run there compiles nothing.

        Returns:
            The paths written.

        Raises:
            FheliumError: an operation is executed by an implementation that is Python code of its own.
        """
        from fhelium_ir.backend.export import export_program

        self._check_keys()
        return export_program(self, Path(path), gpus)


class OperationBackend:
    """Implementations of operations, and one live workspace.

    Args:
        registry: None holds the project's own implementations and those of installed packages.
        workspace: None makes one for target `auto`.
        named_resources: tensors for resources of kind `named`.
        materializer: computes the contents of all others; None stands for the project's own.
    """

    def __init__(
        self,
        registry: OperationImplementationRegistry | None = None,
        workspace: BackendWorkspace | None = None,
        *,
        named_resources: ResourceBindings | None = None,
        materializer: ResourceMaterializer | None = None,
    ):
        self.registry = active_registry() if registry is None else registry
        self.workspace = BackendWorkspace() if workspace is None else workspace
        self._named = ResourceBindings() if named_resources is None else named_resources
        self._materializer = DeclaredMaterializer() if materializer is None else materializer

    @property
    def named_resources(self) -> ResourceBindings:
        """The tensors that are given by name."""
        return self._named

    def with_named_resources(
        self, resources: ResourceBindings, *, override: bool = True
    ) -> OperationBackend:
        """The same implementations and workspace with more named resources.

        Args:
            override: where a name is given already, the new tensor is taken; if false, the old one stays.
        """
        return OperationBackend(
            self.registry,
            self.workspace,
            named_resources=self._named.extended(resources, override=override),
            materializer=self._materializer,
        )

    def diagnostics(
        self, operation: Operation, *, implementation: str | None = None, in_place: bool = False
    ) -> tuple[str, ...]:
        """Why an operation cannot be executed; empty if it can.

        Args:
            operation: a fusion region or an op of the polynomial stage, inside its module.
            implementation: the name of the only one to consider.
            in_place: whether its first result should take the memory of its first operand.
        """
        try:
            chosen = self.registry.select(operation, implementation)
        except FheliumError as error:
            return (error.message,)
        found: list[str] = []
        if in_place and not chosen.supports_in_place:
            found.append(f"'{chosen.name}' cannot execute '{operation.name}' in place")
        elif in_place and not _fits_in_place(operation):
            found.append(
                f"'{operation.name}' cannot be in place: its first operand and result differ in type"
            )
        try:
            required = chosen.resource_requirements(OperationInvocation.of(operation))
        except FheliumError as error:
            return (*found, error.message)
        for requirement in required:
            found.extend(self._why_unbound(requirement))
        return tuple(found)

    def _why_unbound(self, requirement: ResourceRequirement) -> list[str]:
        if requirement.kind != NAMED:
            return []
        attribute = dict(requirement.parameters).get("name")
        name = str(getattr(attribute, "data", attribute))
        if name not in self._named:
            return [f"no resource named '{name}' is given"]
        try:
            check_tensor(name, self._named[name], requirement)
        except FheliumError as error:
            return [error.message]
        if self._named[name].device != self.workspace.device:
            return [f"resource '{name}' must be on {self.workspace.device}"]
        return []

    def link(
        self,
        compilation: Compilation,
        *,
        pipeline: Pipeline | None = None,
        keys_later: bool = False,
    ) -> ProgramExecutable:
        """Links a compilation with this workspace.

        Args:
            compilation: at any stage; it is not changed.
            pipeline: the passes to run first; None runs what is left of the default pipeline, with schedules for the
                workspace's device. Passes ask this backend's implementations. A pipeline that stops at the region
                stage is completed.
            keys_later: leave out evaluation keys, which `ProgramExecutable.with_keys` then has to give.

        Raises:
            FheliumError: a pass fails, no implementation or several take an operation, a resource is missing, or memory
                is not enough.
        """
        self.workspace.check_description()
        regions, module = linking.lower(
            compilation, pipeline, self.registry, self.workspace.description
        )
        program = linking.load_program(compilation, regions, module, self.workspace)
        table = {entry: self._dispatch(program, entry) for entry in program.operations}
        missing, total = linking.missing_bytes(program, self.workspace)
        run = program.memory.arguments + program.memory.peak
        self.workspace.check_fits(f"program '{program.name}'", missing + run, total + run)
        return bind(
            program,
            ProgramDispatchTable(table),
            {},
            self._materializer,
            self._named,
            keys_later=keys_later,
        )

    def _dispatch(self, program: Program, entry: Operation) -> OperationDispatch:
        operation, name = linking.operation_of(program, entry)
        chosen = self.registry.select(operation, name)
        in_place = linking.is_in_place(entry)
        if in_place and not chosen.supports_in_place:
            raise FheliumError(f"'{chosen.name}' cannot execute '{operation.name}' in place")
        invocation = OperationInvocation(operation, program.compilation.parameters)
        prepared = isinstance(chosen, PreparingImplementation) and not isinstance(
            entry, host.LaunchOp
        )
        if prepared:
            assert isinstance(chosen, PreparingImplementation)
            chosen = chosen.prepare_operation(operation)
        requirements = tuple(
            requirement_of(program.declared[symbol])
            for symbol in linking.resource_names(entry)
            if symbol in program.declared
        )
        if not is_compiled(chosen):
            # The implementation of another process may require something else than this one.
            requirements = chosen.resource_requirements(invocation)
        effect = OperationEffect.of(operation, in_place)
        return OperationDispatch(invocation, chosen, requirements, effect, in_place, prepared)


def bind(
    program: Program,
    table: ProgramDispatchTable,
    known: Mapping[Operation, BoundResource],
    materializer: ResourceMaterializer,
    named: ResourceBindings,
    *,
    keys_later: bool = False,
) -> ProgramExecutable:
    """A program with every resource that it reads.

    Args:
        known: resources that are bound already.
        keys_later: leave out evaluation keys.

    Raises:
        FheliumError: a resource is missing or does not fit.
    """
    resources: list[BoundResource] = []
    bound: dict[Operation, BoundResource] = {}
    materials: dict[Operation, object] = {}
    for declared in program.declared.values():
        if keys_later and linking.is_key(declared):
            continue
        one = known.get(declared) or linking.bind_resource(
            declared, program.compilation, program.workspace, named, materializer
        )
        resources.append(one)
        if one.requirement.kind in linking.MATERIAL_KINDS:
            materials[declared] = one.tensor
        else:
            bound[declared] = one
    position = {one.name: index for index, one in enumerate(resources)}
    indices = {
        entry: tuple(position[name] for name in linking.resource_names(entry) if name in position)
        for entry in table.operations
    }
    return ProgramExecutable(
        program,
        table,
        tuple(resources),
        indices,
        bound,
        materials,
        materializer=materializer,
        keys_later=keys_later,
    )


def _fits_in_place(operation: Operation) -> bool:
    return bool(
        operation.operands
        and operation.results
        and operation.operands[0].type == operation.results[0].type
    )
