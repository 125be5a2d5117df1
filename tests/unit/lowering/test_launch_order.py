"""Launches on several streams: what a CUDA graph would be captured as, and that it orders all that conflicts.

The oracle is a model of stream capture: a stream has the nodes that its next launch depends on; an event copies them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from math import prod
from typing import cast

import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.backend.execution import BackendWorkspace, OperationBackend
from fhelium_ir.backend.host_runtime import Host
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.printing import print_mlir
from fhelium_ir.dialects import host, kernel
from fhelium_ir.lowering.host_printer import host_functions, host_source
from fhelium_ir.lowering.launch_order import order_launches
from fhelium_ir.universe import make_context
from tests.unit.backend.programs import PARALLEL, case, parsed, with_streams

WORD = 8
KERNELS = {"copy": (1,), "both": (0, 1), "sum": (2,)}
"""Which arguments each kernel writes."""

TEXT = """
kernel.func @copy(%a : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [4] grid 1 {
  %i = kernel.lane_id 0
  %x = kernel.load %a[%i] : !kernel.buffer<i64> -> i64
  kernel.store %x, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
kernel.func @both(%a : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [4] grid 1 {
  %i = kernel.lane_id 0
  %x = kernel.load %a[%i] : !kernel.buffer<i64> -> i64
  kernel.store %x, %a[%i] : i64, !kernel.buffer<i64>
  kernel.store %x, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
kernel.func @sum(%a : !kernel.buffer<i64>, %b : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [4] grid 1 {
  %i = kernel.lane_id 0
  %x = kernel.load %a[%i] : !kernel.buffer<i64> -> i64
  %y = kernel.load %b[%i] : !kernel.buffer<i64> -> i64
  %z = arith.addi %x, %y : i64
  kernel.store %z, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
host.operation @whole "outside-library" (%a : !rns.poly<16, q 0:2, coefficient>) {
  %r = rns.negate %a : !rns.poly<16, q 0:2, coefficient>
}
"""


@dataclass(frozen=True)
class Bytes:
    """A buffer or a part of one."""

    root: str
    start: int
    end: int


@dataclass(frozen=True)
class Run:
    """A launch: what it touches; `alone` for a call."""

    name: str
    reads: tuple[Bytes, ...]
    writes: tuple[Bytes, ...]
    alone: bool = False


@dataclass
class Stream:
    """What the next launch depends on; each node is the number of a launch."""

    frontier: set[int] = field(default_factory=set[int])

    def wait_event(self, event: Event) -> None:
        self.frontier |= event.frontier

    def wait_stream(self, other: Stream) -> None:
        self.frontier |= other.frontier

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__


class Event:
    frontier: frozenset[int] = frozenset()

    def record(self, stream: Stream) -> None:
        self.frontier = frozenset(stream.frontier)


class Capture:
    """Stands for `torch.cuda` and for kernels: makes the graph that a run is captured as."""

    def __init__(self, capturing: bool) -> None:
        self.capturing = capturing
        self.main = Stream()
        self.current = self.main
        self.made = 0
        self.before: list[set[int]] = []
        self.runs: list[Run] = []

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: self.capturing)
        monkeypatch.setattr(torch.cuda, "current_stream", self.current_stream)
        monkeypatch.setattr(torch.cuda, "Stream", self.new_stream)
        monkeypatch.setattr(torch.cuda, "Event", Event)
        monkeypatch.setattr(torch.cuda, "stream", self.using)

    def current_stream(self, _: torch.device) -> Stream:
        return self.current

    def new_stream(self, _: torch.device) -> Stream:
        # Torch's pool gives the capturing stream itself, sooner or later.
        self.made += 1
        return self.main if self.made == 2 else Stream()

    def using(self, stream: Stream) -> Using:
        return Using(self, stream)

    def reached(self, frontier: set[int]) -> set[int]:
        """The nodes of a frontier with all that they depend on."""
        return frontier.union(*(self.before[node] for node in frontier))

    def launch(self, run: Run) -> None:
        node = len(self.runs)
        self.runs.append(run)
        self.before.append(self.reached(self.current.frontier))
        self.current.frontier = {node}


@dataclass
class Using:
    """Like torch's, a context that is entered many times."""

    capture: Capture
    stream: Stream
    before: list[Stream] = field(default_factory=list[Stream])

    def __enter__(self) -> None:
        self.before.append(self.capture.current)
        self.capture.current = self.stream

    def __exit__(self, *_: object) -> None:
        self.capture.current = self.before.pop()


def part(words: Bytes, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Bytes:
    """What `torch.as_strided` gives."""
    return Bytes(words.root, WORD * offset, WORD * (offset + prod(shape)))


class RecordingHost(Host):
    """Runs a host program on `Bytes` instead of tensors."""

    def __init__(self, capture: Capture, written: Mapping[str, Sequence[int]]):
        super().__init__(torch.device("cuda"), {}, self._kernel, self._call)
        self.capture = capture
        self.written = written
        self.buffers = 0

    view = staticmethod(part)  # type: ignore[assignment]

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        self.buffers += 1
        size = prod(shape) * (1 if dtype == "int8" else WORD)
        return cast(torch.Tensor, Bytes(f"buffer {self.buffers}", 0, size))

    def words(self, arena: torch.Tensor, dtype: str) -> torch.Tensor:
        return arena

    def _kernel(self, name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        def launch(*arguments: Bytes | int) -> None:
            buffers = {i: b for i, b in enumerate(arguments) if isinstance(b, Bytes)}
            writes = tuple(buffers[i] for i in self.written[name])
            # What it writes it may have read before.
            self.capture.launch(Run(name, tuple(buffers.values()), writes))

        return launch

    def resource(self, name: str) -> torch.Tensor:
        return cast(torch.Tensor, Bytes(name, 0, 1))

    def _call(self, name: str, in_place: bool) -> Callable[..., tuple[torch.Tensor, ...]]:
        def call(*buffers: Bytes) -> tuple[torch.Tensor, ...]:
            self.capture.launch(Run(name, tuple(buffers), (), alone=True))
            return (self.allocate((32,), "int64"),)

        return call


def random_function(seed: int) -> str:
    """A host program with launches on up to three streams, on views that overlap anyhow."""
    choices = random.Random(seed)
    words = 16
    lines = [f"%arena = host.alloc : memref<{words * WORD}xi8>"]
    names = {"%x": 4, "%r": 4}
    lines.append("%r = host.alloc : memref<4xi64>")
    for index in range(choices.randint(2, 6)):
        size = choices.choice((1, 2, 4))
        offset = choices.randint(0, words - size) * WORD
        type_ = f"memref<{words * WORD}xi8> -> memref<{size}xi64>"
        lines.append(f"%v{index} = host.view %arena at {offset} : {type_}")
        names[f"%v{index}"] = size
    writable = [name for name in names if name != "%x"]
    for _ in range(choices.randint(2, 14)):
        if choices.random() < 0.06:
            lines.append(
                "%c = host.call @whole(%x) resources () : (memref<4xi64>) resources () -> (memref<4xi64>)"
                if not any("%c = " in line for line in lines)
                else ""
            )
            continue
        name = choices.choice(list(KERNELS))
        count = 3 if name == "sum" else 2
        arguments = [
            choices.choice(writable if index in KERNELS[name] else list(names))
            for index in range(count)
        ]
        types = ", ".join(f"memref<{names[argument]}xi64>" for argument in arguments)
        stream = choices.choice((0, 0, 1, 2))
        where = f" {{stream = {stream} : i64}}" if stream else ""
        lines.append(f"host.launch @{name} grid [1]({', '.join(arguments)}){where} : {types}")
    body = "\n  ".join(lines)
    return (
        "func.func @main(%x : memref<4xi64>) -> memref<4xi64> {\n"
        f"  {body}\n  return %r : memref<4xi64>\n}}"
    )


def ordered(function: str) -> ModuleOp:
    module = parsed(f"module {{\n{TEXT}\n{function}\n}}")
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, kernel.FuncOp)}
    for found in host_functions(module):
        order_launches(found, kernels, "test")
    module.verify()
    return module


def captured(
    module: ModuleOp,
    capture: Capture,
    monkeypatch: pytest.MonkeyPatch,
    written: Mapping[str, Sequence[int]] = KERNELS,
) -> None:
    capture.install(monkeypatch)
    function = host_functions(module)[0]
    namespace: dict[str, Callable[[Host], Callable[..., object]]] = {}
    exec(host_source(function), namespace)  # type: ignore[arg-type]
    inputs = [Bytes(f"input {i}", 0, 1) for i in range(len(function.function_type.inputs))]
    namespace["prepare"](RecordingHost(capture, written))(*inputs)


def check_order(capture: Capture) -> None:
    """Whatever conflicts is ordered, and everything has joined the capturing stream."""
    for later, run in enumerate(capture.runs):
        before = capture.before[later]
        wanted = {e for e in range(later) if conflict(capture.runs[e], run)}
        assert wanted <= before, f"launch {later} does not wait for {wanted - before}"
    assert capture.reached(capture.main.frontier) == set(range(len(capture.runs)))


def overlap(first: Bytes, second: Bytes) -> bool:
    return first.root == second.root and first.start < second.end and second.start < first.end


def conflict(first: Run, second: Run) -> bool:
    """Whether two launches may not change places."""
    if first.alone or second.alone:
        return True
    pairs = [(a, b) for a in first.writes for b in (*second.reads, *second.writes)]
    pairs += [(a, b) for a in first.reads for b in second.writes]
    return any(overlap(a, b) for a, b in pairs)


@pytest.mark.parametrize("seed", range(60))
def test_conflicts_are_ordered(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ordered(random_function(seed))
    capture = Capture(capturing=True)
    captured(module, capture, monkeypatch)
    check_order(capture)


@pytest.mark.parametrize("seed", range(12))
def test_each_wait_is_needed(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Without any one of the waits, some conflict is no longer ordered.
    count = sum(isinstance(op, host.WaitOp) for op in ordered(random_function(seed)).walk())
    for number in range(count):
        module = ordered(random_function(seed))
        [op for op in module.walk() if isinstance(op, host.WaitOp)][number].detach()
        capture = Capture(capturing=True)
        captured(module, capture, monkeypatch)
        assert any(
            conflict(capture.runs[earlier], run) and earlier not in capture.before[later]
            for later, run in enumerate(capture.runs)
            for earlier in range(later)
        )


def test_without_capture_there_is_one_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    capture = Capture(capturing=False)
    captured(ordered(random_function(3)), capture, monkeypatch)
    assert capture.made == 0
    assert capture.before == [set(range(node)) for node in range(len(capture.runs))]


INDEPENDENT = """
func.func @main(%x : memref<4xi64>) -> (memref<4xi64>, memref<4xi64>) {
  %r = host.alloc : memref<4xi64>
  %s = host.alloc : memref<4xi64>
  host.launch @copy grid [1](%x, %r) : memref<4xi64>, memref<4xi64>
  host.launch @copy grid [1](%x, %s) {stream = 1 : i64} : memref<4xi64>, memref<4xi64>
  return %r, %s : memref<4xi64>, memref<4xi64>
}
"""


def test_what_is_independent_runs_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ordered(INDEPENDENT)
    assert not any(isinstance(op, host.WaitOp) for op in module.walk())
    capture = Capture(capturing=True)
    captured(module, capture, monkeypatch)
    assert capture.before == [set(), set()]
    assert capture.main.frontier == {0, 1}


def test_memory_between_launches_keeps_one_stream() -> None:
    # What is allocated here may be given away while another stream still reads it.
    text = INDEPENDENT.replace("return %r", "%t = host.alloc : memref<4xi64>\n  return %r")
    launches = [op for op in ordered(text).walk() if isinstance(op, host.LaunchOp)]
    assert [launch.stream_number for launch in launches] == [0, 0]


_FUNCTION = re.compile(r"kernel\.func @(\w+)\(([^)]*)\).*?\n  \}", re.DOTALL)


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_other_targets_run_in_the_order_of_the_text(target: str) -> None:
    backend = OperationBackend(workspace=BackendWorkspace(target))
    known = case(text=PARALLEL)
    compilation = known.from_text(PARALLEL)
    results = [
        cast(
            "tuple[torch.Tensor, ...]",
            backend.link(compilation, pipeline=with_streams(streams)).run(*known.inputs),
        )
        for streams in (1, 3)
    ]
    for one, several in zip(*results, strict=True):
        assert torch.equal(one, several)


@pytest.mark.parametrize("streams", [2, 3])
def test_a_compiled_program(streams: int, monkeypatch: pytest.MonkeyPatch) -> None:
    context = make_context()
    module = parse_module(context, PARALLEL, "program.mlir")
    with_streams(streams).run(context, module)
    text = StringIO()
    print_mlir(module, text)
    written: dict[str, list[int]] = {}
    for found in _FUNCTION.finditer(text.getvalue()):
        names = [argument.partition(":")[0].strip() for argument in found[2].split(",")]
        stored = set(re.findall(r"kernel\.store %\w+, (%\w+)\[", found[0]))
        written[found[1]] = [index for index, name in enumerate(names) if name in stored]
    capture = Capture(capturing=True)
    captured(module, capture, monkeypatch, written)
    check_order(capture)
    parallel = sum(
        earlier not in capture.before[later]
        for later in range(len(capture.runs))
        for earlier in range(later)
    )
    assert parallel > 20
