"""A host program: its interface, its source, and the functions that its source is prepared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Protocol, TypeVar, cast, runtime_checkable

import torch

from fhelium_ir.backend.arenas import Arenas
from fhelium_ir.backend.host_runtime import DTYPES, Host, Launches, Units
from fhelium_ir.compiler.errors import FheliumError

T = TypeVar("T")

LARGE_ARENA = 1 << 20
"""Bytes; the allocator keeps smaller ones at hand anyway."""

Call = Callable[..., tuple[torch.Tensor, ...]]
"""A prepared operation: input tensors, then resources, to results."""


class KernelLibrary(Protocol):
    """Compiled kernels of one module by symbol."""

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        """Runs a kernel on a grid; tensors are contiguous and passed as flat buffers."""
        ...


@runtime_checkable
class PreparingLibrary(Protocol):
    """A library that can resolve a launch once."""

    def prepare(self, name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        """A function of the kernel's arguments that runs it on the grid."""
        ...


@runtime_checkable
class ChainingLibrary(Protocol):
    """A library that runs launches unit by unit, see `host.chain`."""

    def chain(self, launches: Launches, units: Units) -> Callable[..., None]:
        """A function of one tuple of arguments for each launch."""
        ...


@dataclass(frozen=True)
class BufferSpec:
    """An argument or result: its name, shape and dtype name."""

    name: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def bytes(self) -> int:
        count = DTYPES[self.dtype].itemsize
        for extent in self.shape:
            count *= extent
        return count


@dataclass(frozen=True)
class IntegerSpec(BufferSpec):
    """An argument that is a Python integer; the dtype says how many bits it may have."""

    @property
    def bytes(self) -> int:
        return 0


class HostRuntime(Host):
    """What the host program of one run asks for. Counts launches and calls."""

    def __init__(self, executable: Executable):
        self.launches = 0
        self.arena_bytes = 0
        self._prepared = prepared = executable.host
        super().__init__(
            executable.device,
            executable.resources,
            lambda name, grid: self._counted(prepared.kernel(name, grid)),
            lambda name, in_place: self._counted(prepared.operation(name, in_place)),
            lambda launches, units: self._counted(prepared.chain(launches, units), len(launches)),
        )

    def _counted(self, function: Callable[..., T], count: int = 1) -> Callable[..., T]:
        def counted(*arguments: torch.Tensor | int) -> T:
            self.launches += count
            return function(*arguments)

        return counted

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        if dtype == "int8":
            self.arena_bytes += shape[0]
        return self._prepared.allocate(shape, dtype)


class ArenaHost(Host):
    """The host whose large arenas a run in host memory leaves to the next one."""

    def __init__(self, executable: Executable, arenas: Arenas):
        super().__init__(
            executable.device,
            executable.resources,
            executable.kernel,
            executable.operation,
            executable.chain,
        )
        self._arenas = arenas

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        if dtype == "int8" and self.device.type == "cpu" and shape[0] >= LARGE_ARENA:
            return self._arenas.take(shape[0])
        return super().allocate(shape, dtype)


@dataclass(frozen=True)
class Executable:
    """Runs one function of a module on tensors of its interface.

    `run` takes one value per argument (tensors: shape and dtype as `arguments` say, on `device`, contiguous) and
    returns one tensor per result. Inputs are never written and not kept; a result that is an input is that tensor. Runs
    share nothing but the resources, so several threads may run at once.

    Attributes:
        host_source: defines `prepare(host)`, see `fhelium_ir.lowering.host_printer`.
        calls: prepared operations by symbol and whether they work in place.
        run_bytes: bytes that a run allocates at most.
    """

    name: str
    arguments: tuple[BufferSpec, ...]
    results: tuple[BufferSpec, ...]
    kernels: KernelLibrary
    resources: Mapping[str, torch.Tensor]
    host_source: str
    device: torch.device
    calls: Mapping[tuple[str, bool], Call] = field(default_factory=dict[tuple[str, bool], Call])
    run_bytes: int = 0
    _arenas: Arenas = field(default_factory=Arenas, init=False, repr=False, compare=False)
    _run: list[Call] = field(default_factory=list[Call], init=False, repr=False, compare=False)
    _code: list[CodeType] = field(
        default_factory=list[CodeType], init=False, repr=False, compare=False
    )

    def run(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Runs the program.

        Raises:
            FheliumError: an input is missing or has another shape, dtype, device or layout, or memory is not enough.
        """
        self.check(inputs)
        if not self._run:
            self._run.append(self._prepared(self.host))
        return self._on_device(self._run[0], inputs)

    def run_counted(self, *inputs: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], HostRuntime]:
        """`run`, and the runtime with its launch count."""
        self.check(inputs)
        runtime = HostRuntime(self)
        return self._on_device(self._prepared(runtime), inputs), runtime

    def _on_device(self, run: Call, inputs: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        try:
            # Kernels are launched on the current device.
            if self.device.type == "cpu" or self.device.index == torch.cuda.current_device():
                return run(*inputs)
            with torch.cuda.device(self.device):
                return run(*inputs)
        except torch.OutOfMemoryError as error:
            raise self._out_of_memory() from error

    @property
    def host(self) -> Host:
        """What the host program is prepared with."""
        return ArenaHost(self, self._arenas)

    def _prepared(self, host: Host) -> Call:
        if not self._code:
            filename = f"<host program {self.name!r}>"
            self._code.append(compile(self.host_source, filename, "exec"))
        namespace: dict[str, object] = {}
        exec(self._code[0], namespace)
        return cast("Callable[[Host], Call]", namespace["prepare"])(host)

    def kernel(self, name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        """As `Host` takes it."""
        kernels = self.kernels
        if isinstance(kernels, PreparingLibrary):
            return kernels.prepare(name, grid)
        return lambda *arguments: kernels.launch(name, grid, arguments)

    def chain(self, launches: Launches, units: Units) -> Callable[..., None] | None:
        """As `Host` takes it."""
        kernels = self.kernels
        return kernels.chain(launches, units) if isinstance(kernels, ChainingLibrary) else None

    def operation(self, name: str, in_place: bool) -> Call:
        """As `Host` takes it."""
        found = self.calls.get((name, in_place))
        if found is None:
            raise FheliumError(f"the program calls operation @{name}, which is not linked")
        return found

    def _out_of_memory(self) -> FheliumError:
        # A run allocates its arena and its results first: nothing has been launched.
        free, _ = torch.cuda.mem_get_info(self.device)
        return FheliumError(
            f"a run of '{self.name}' wants {self.run_bytes} bytes on {self.device}, {free} are free"
        )

    def check(self, inputs: Sequence[torch.Tensor]) -> None:
        """Raises FheliumError if an input is missing or does not fit the interface."""
        if len(inputs) != len(self.arguments):
            raise FheliumError(
                f"program '{self.name}' takes {len(self.arguments)} inputs, found {len(inputs)}"
            )
        for spec, value in zip(self.arguments, inputs, strict=True):
            given = cast(object, value)
            if isinstance(spec, IntegerSpec):
                limit = 1 << (int(spec.dtype.removeprefix("int")) - 1)
                if not isinstance(given, int) or not -limit <= given < limit:
                    raise FheliumError(
                        f"input '{spec.name}' must be an integer, {spec.dtype}, found {given!r}"
                    )
                continue
            if not isinstance(given, torch.Tensor):
                raise FheliumError(f"input '{spec.name}' must be a tensor, found {given!r}")
            if given.dtype is not DTYPES[spec.dtype] or given.shape != spec.shape:
                raise FheliumError(
                    f"input '{spec.name}' must be {spec.dtype} of shape {spec.shape}, "
                    f"found {given.dtype} of shape {tuple(given.shape)}"
                )
            if given.device != self.device or not given.is_contiguous():
                raise FheliumError(f"input '{spec.name}' must be contiguous and on {self.device}")
