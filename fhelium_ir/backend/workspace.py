"""Where programs run: a target, a device, the tables that linked programs share, and a limit on memory."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib.util import find_spec

import torch

from fhelium_ir.analysis.device import CARD, HOST
from fhelium_ir.compiler.errors import FheliumError, unknown_name

TARGETS = ("cuda", "cpu", "triton-interpret", "interpret")
"""Where kernels run: compiled Triton, native code, the same Triton text interpreted, the exact kernel interpreter."""

DEVICES = {"cuda": "gpu", "cpu": "cpu", "triton-interpret": "interpreter", "interpret": "cpu"}
"""The fixed description that each target's schedules are chosen for; `cuda` has another one where there is a card, and
`cpu` where the processor can be measured."""

KNOWN_CARDS = ("H100", "H200")
"""Parts of the names of cards that the fixed description `gpu` is for."""


def description_for(target: str) -> str:
    """The description that schedules for a target are chosen for: on cuda that of the card in use, if there is one, and
    on cpu that of this machine's processor, both as measured on first use."""
    if target == "cuda" and torch.cuda.is_available():
        return CARD
    # It is measured by compiled code; without a compiler no program is linked here either.
    if target == "cpu" and find_spec("llvmlite") is not None:
        return HOST
    return DEVICES.get(target, "cpu")


def choose_target(target: str) -> str:
    """`auto` is cuda where there is a device, else cpu.

    Raises:
        FheliumError: no such target, or no CUDA device for it.
    """
    if target == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if target not in TARGETS:
        raise unknown_name("target", target, (*TARGETS, "auto", "reference"))
    if target == "cuda" and not torch.cuda.is_available():
        raise FheliumError("target 'cuda' needs a CUDA device, and none is available")
    return target


class BackendWorkspace:
    """One live workspace: programs that are linked with it share its tables.

    Args:
        target: one of `TARGETS`, or `auto`.
        device: the torch device; by default the target's, for cuda the current one.
        memory_limit: most bytes that a program's tables, inputs, intermediate and result buffers may take.
        graph: programs run as captured CUDA graphs, see `ProgramExecutable.capture`.
        description: the device description that schedules are chosen for, by default `description_for` the target.

    Raises:
        FheliumError: an unknown target, a device that does not belong to it, a graph without cuda, a bad limit.
    """

    def __init__(
        self,
        target: str = "auto",
        device: torch.device | str | None = None,
        *,
        memory_limit: int | None = None,
        graph: bool = False,
        description: str | None = None,
    ):
        self.target = choose_target(target)
        kind = "cuda" if self.target == "cuda" else "cpu"
        self.device = torch.device(kind if device is None else device)
        if self.device.type != kind:
            raise FheliumError(f"target '{self.target}' runs on {kind}, not on {self.device}")
        if str(self.device) == "cuda":
            self.device = torch.device("cuda", torch.cuda.current_device())
        if graph and kind != "cuda":
            raise FheliumError(f"a graph needs target 'cuda', found '{self.target}'")
        if memory_limit is not None and memory_limit < 0:
            raise FheliumError(f"the memory limit must not be negative, found {memory_limit}")
        self.memory_limit = memory_limit
        self.graph = graph
        self.description = description or description_for(self.target)
        self._tables: dict[object, torch.Tensor] = {}
        self._lock = threading.Lock()
        self._running = 0

    def table(self, key: object, make: Callable[[], torch.Tensor]) -> torch.Tensor:
        """The tensor of `key` on the device; made, once, when it is first wanted."""
        with self._lock:
            if key not in self._tables:
                self._tables[key] = make().to(self.device)
            return self._tables[key]

    def holds(self, key: object) -> bool:
        """Whether the tensor of `key` has been made."""
        return key in self._tables

    def clear(self) -> None:
        """Forgets all tables; linked programs keep theirs."""
        with self._lock:
            self._tables.clear()

    @property
    def table_bytes(self) -> int:
        """Bytes of the tables that it holds."""
        return sum(table.numel() * table.itemsize for table in self._tables.values())

    def free_bytes(self) -> int:
        """Bytes that the device can still give: what torch holds without using it counts as free."""
        if self.device.type == "cuda":
            free, _ = torch.cuda.mem_get_info(self.device)
            reserved = torch.cuda.memory_reserved(self.device)
            return free + reserved - torch.cuda.memory_allocated(self.device)
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def check_description(self) -> None:
        """Warns, once, of schedules that were chosen by the fixed description of a card that this one is not."""
        if self.target != "cuda" or self.description != DEVICES["cuda"]:
            return
        name = torch.cuda.get_device_name(self.device)
        if not any(known in name for known in KNOWN_CARDS):
            warnings.warn(
                f"arithmetic and schedules are for an H200, not for {name}: compile for device "
                f"'{CARD}', which measures this card",
                stacklevel=1,
            )

    def check_fits(self, what: str, wanted: int, total: int) -> None:
        """Compares a program with the limit and with the memory there is.

        Args:
            wanted: bytes that are still to be allocated.
            total: bytes that the program takes in all.

        Raises:
            FheliumError: says how many bytes are wanted and how many are free.
        """
        if self.memory_limit is not None and total > self.memory_limit:
            raise FheliumError(
                f"{what} wants {total} bytes, the memory limit leaves {self.memory_limit} free"
            )
        free = self.free_bytes()
        if wanted > free:
            raise FheliumError(f"{what} wants {wanted} bytes on {self.device}, {free} are free")

    @contextmanager
    def reserve(self, what: str, tables: int, run: int) -> Generator[None]:
        """Counts a run of `run` bytes, beside `tables` bytes of tables, against the limit while it lasts.

        Raises:
            FheliumError: other runs have taken what it wants.
        """
        if self.memory_limit is None:
            yield
            return
        with self._lock:
            free = self.memory_limit - tables - self._running
            if run > free:
                raise FheliumError(
                    f"{what} wants {run} bytes, the memory limit leaves {max(free, 0)} free"
                )
            self._running += run
        try:
            yield
        finally:
            with self._lock:
                self._running -= run
