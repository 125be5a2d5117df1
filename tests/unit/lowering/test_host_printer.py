"""Host programs as Python: buffers die at their last use, loops and branches run, arguments may be integers."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import pytest
import torch

from fhelium_ir.backend.execution import BackendWorkspace, Compilation, OperationBackend
from fhelium_ir.backend.host_runtime import Host
from fhelium_ir.backend.memory import host_memory
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.host_printer import host_functions, host_source
from tests.unit.backend.programs import PARAMS, parsed

WORD = "memref<4xi64>"
KERNELS = """
kernel.func @sum(%a : !kernel.buffer<i64>, %b : !kernel.buffer<i64>, %o : !kernel.buffer<i64>) lanes [4] grid 1 {
  %i = kernel.lane_id 0
  %x = kernel.load %a[%i] : !kernel.buffer<i64> -> i64
  %y = kernel.load %b[%i] : !kernel.buffer<i64> -> i64
  %z = arith.addi %x, %y : i64
  kernel.store %z, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
kernel.func @plus(%a : !kernel.buffer<i64>, %n : i64, %o : !kernel.buffer<i64>) lanes [4] grid 1 {
  %i = kernel.lane_id 0
  %x = kernel.load %a[%i] : !kernel.buffer<i64> -> i64
  %z = arith.addi %x, %n : i64
  kernel.store %z, %o[%i] : i64, !kernel.buffer<i64>
  kernel.return
}
"""


def module_text(function: str) -> str:
    return f"module attributes {{ckks.params = {PARAMS}}} {{\n{KERNELS}\n{function}\n}}"


def launch(name: str, *arguments: str, scalar: bool = False) -> str:
    middle = "i64" if scalar else WORD
    return f"host.launch @{name} grid [1]({', '.join(arguments)}) : {WORD}, {middle}, {WORD}"


def linked(function: str, target: str = "interpret") -> Callable[..., object]:
    backend = OperationBackend(workspace=BackendWorkspace(target))
    return backend.link(Compilation.of(parsed(module_text(function)))).run


def run(function: str, *inputs: object, target: str = "interpret") -> list[list[int]]:
    results = cast("tuple[torch.Tensor, ...]", linked(function, target)(*inputs))
    return [[int(word) for word in result] for result in results]


def source(function: str) -> str:
    return host_source(host_functions(parsed(module_text(function)))[0])


LOOP = f"""
func.func @power(%x : {WORD}, %n : i64) -> {WORD} {{
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %r = scf.for %i = %zero to %n step %one iter_args(%acc = %x) -> ({WORD}) : i64 {{
    %t = host.alloc : {WORD}
    {launch("sum", "%acc", "%acc", "%t")}
    %next = host.alloc : {WORD}
    {launch("plus", "%t", "%i", "%next", scalar=True)}
    scf.yield %next : {WORD}
  }}
  return %r : {WORD}
}}
"""
"""x -> 2x + i, for i = 0 .. n - 1."""

BRANCH = f"""
func.func @choose(%x : {WORD}, %y : {WORD}, %n : i64) -> {WORD} {{
  %two = arith.constant 2 : i64
  %small = arith.cmpi slt, %n, %two : i64
  %r = scf.if %small -> ({WORD}) {{
    %t = host.alloc : {WORD}
    {launch("sum", "%x", "%y", "%t")}
    scf.yield %t : {WORD}
  }} else {{
    scf.yield %y : {WORD}
  }}
  return %r : {WORD}
}}
"""


def words(*values: int) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.int64)


@pytest.mark.parametrize("target", ["interpret", "cpu", "triton-interpret"])
def test_loops_run(target: str) -> None:
    def exact(value: int, count: int) -> int:
        for i in range(count):
            value = 2 * value + i
        return value

    start = (1, -2, 3, 40)
    for count in (0, 1, 5):
        assert run(LOOP, words(*start), count, target=target) == [
            [exact(value, count) for value in start]
        ]


def test_branches_run() -> None:
    x, y = words(1, 2, 3, 4), words(10, 20, 30, 40)
    assert run(BRANCH, x, y, 1) == [[11, 22, 33, 44]]
    assert run(BRANCH, x, y, 2) == [[10, 20, 30, 40]]


def test_a_loop_that_never_runs_returns_its_input_itself() -> None:
    x = words(1, 2, 3, 4)
    results = linked(LOOP)(x, 0)
    assert isinstance(results, tuple) and results[0] is x


def test_the_source_of_a_loop() -> None:
    text = source(LOOP)
    expected = """\
        acc_ = x_
        del x_
        for i_ in range(zero_, n_, one_):
            t_ = allocate((4,), 'int64')
            launch(acc_, acc_, t_)
            del acc_
            next_ = allocate((4,), 'int64')
            launch_1(t_, i_, next_)
            del t_
            acc_ = next_
            del next_
        return (acc_,)
"""
    assert expected in text


def test_the_source_of_a_branch() -> None:
    expected = """\
        if small_:
            t_ = allocate((4,), 'int64')
            launch(x_, y_, t_)
            r_ = t_
            del t_
        else:
            r_ = y_
        del x_, y_
        return (r_,)
"""
    assert expected in source(BRANCH)


@dataclass
class Watching(Host):
    """A host that knows which of its buffers are alive."""

    alive: list[weakref.ref[torch.Tensor]] = field(
        default_factory=list["weakref.ref[torch.Tensor]"]
    )
    counts: list[int] = field(default_factory=list[int])

    def __init__(self) -> None:
        self.alive, self.counts = [], []
        super().__init__(torch.device("cpu"), {}, self.watch, self.no_operation)

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        buffer = super().allocate(shape, dtype)
        self.alive.append(weakref.ref(buffer))
        return buffer

    def watch(self, name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        def launched(*arguments: object) -> None:
            self.counts.append(sum(reference() is not None for reference in self.alive))

        return launched

    def no_operation(self, name: str, in_place: bool) -> Callable[..., tuple[torch.Tensor, ...]]:
        raise AssertionError


def watched(function: str, inputs: Sequence[object]) -> list[int]:
    """How many of the program's buffers are alive at each launch."""
    namespace: dict[str, Callable[[Host], Callable[..., object]]] = {}
    exec(source(function), namespace)
    host = Watching()
    namespace["prepare"](host)(*inputs)
    return host.counts


def test_buffers_die_at_their_last_use() -> None:
    counts = watched(LOOP, [words(1, 2, 3, 4), 4])
    # The carried value and one new buffer: never a value of an earlier round.
    assert counts == [1, 2, 2, 2, 2, 2, 2, 2]
    chain = "\n".join(
        f"%b{i + 1} = host.alloc : {WORD}\n{launch('sum', f'%b{i}', '%x', f'%b{i + 1}')}"
        for i in range(5)
    )
    function = (
        f"func.func @f(%x : {WORD}) -> {WORD} {{\n%b0 = host.alloc : {WORD}\n{chain}\n"
        f"return %b5 : {WORD}\n}}"
    )
    # The result is allocated first, and beside it there are two buffers.
    assert watched(function, [words(1, 2, 3, 4)]) == [3, 3, 3, 3, 2]
    assert host_memory(host_functions(parsed(module_text(function)))[0]).peak == 3 * 32


def test_an_input_can_die_during_the_run() -> None:
    function = f"""
func.func @f(%x : {WORD}) -> {WORD} {{
  %t = host.alloc : {WORD}
  {launch("sum", "%x", "%x", "%t")}
  %r = host.alloc : {WORD}
  {launch("sum", "%t", "%t", "%r")}
  return %r : {WORD}
}}
"""
    lines = [line.strip() for line in source(function).splitlines()]
    assert lines.index("del x_") == lines.index("launch(x_, x_, t_)") + 1


def test_integers_are_checked() -> None:
    program = linked(LOOP)
    with pytest.raises(FheliumError, match="input 'arg1' must be an integer, int64, found 'two'"):
        program(words(1, 2, 3, 4), "two")
    with pytest.raises(FheliumError, match="input 'arg1' must be an integer, int64, found 9223372"):
        program(words(1, 2, 3, 4), 1 << 63)
    with pytest.raises(FheliumError, match="input 'arg0' must be a tensor, found 3"):
        program(3, 3)


NUMBERS = f"""
func.func @numbers(%x : {WORD}, %n : i64) -> {WORD} {{
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %a = arith.muli %n, %three : i64
  %b = arith.subi %a, %two : i64
  %c = arith.minsi %b, %n : i64
  %d = arith.maxsi %b, %n : i64
  %e = arith.floordivsi %d, %two : i64
  %big = arith.cmpi sge, %n, %two : i64
  %yes = arith.constant true
  %both = arith.andi %big, %yes : i1
  %f = arith.select %both, %e, %c : i64
  %g = arith.addi %f, %two : i64
  %r = host.alloc : {WORD}
  {launch("plus", "%x", "%g", "%r", scalar=True)}
  return %r : {WORD}
}}
"""


@pytest.mark.parametrize("n", [-3, 0, 1, 2, 7])
def test_host_integers(n: int) -> None:
    b = 3 * n - 2
    want = (max(b, n) // 2 if n >= 2 else min(b, n)) + 2
    for target in ("interpret", "triton-interpret"):
        assert run(NUMBERS, words(0, 1, 2, 3), n, target=target) == [[want + i for i in range(4)]]


@pytest.mark.parametrize(
    "body, message",
    [
        ("%f = arith.cmpi ult, %n, %n : i64", "arith.cmpi is not part of a host program"),
        ("%f = arith.remui %n, %n : i64", "arith.remui is not part of a host program"),
        (
            f"%f = host.view %a at 4 : memref<64xi8> -> {WORD}",
            "the offset is not a multiple of the word",
        ),
    ],
)
def test_what_has_no_form_is_refused(body: str, message: str) -> None:
    function = f"func.func @f(%n : i64) {{\n%a = host.alloc : memref<64xi8>\n{body}\nreturn\n}}"
    with pytest.raises(FheliumError, match=message):
        source(function)


def test_a_launch_must_fit_its_kernel() -> None:
    wrong = f"func.func @f(%x : {WORD}) {{\nhost.launch @sum grid [1](%x) : {WORD}\nreturn\n}}"
    with pytest.raises(FheliumError, match="'sum' takes 3 arguments"):
        linked(wrong)
    absent = f"func.func @f(%x : {WORD}) {{\nhost.launch @no grid [1](%x) : {WORD}\nreturn\n}}"
    with pytest.raises(FheliumError, match="there is no kernel @no"):
        linked(absent)


def test_many_runs_grow_no_memory() -> None:
    import gc
    import tracemalloc

    program, x = linked(LOOP, "cpu"), words(1, 2, 3, 4)
    for _ in range(50):
        program(x, 3)
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        program(x, 3)
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert grown < 20_000


CHAIN = f"""
func.func @main(%x : {WORD}, %n : i64) -> {WORD} {{
  %a = host.alloc : {WORD}
  %b = host.alloc : {WORD}
  host.chain units [array<i64: 0>, array<i64: 0>] {{
    host.launch @plus grid [1](%x, %n, %a) : {WORD}, i64, {WORD}
    host.launch @sum grid [1](%x, %a, %b) : {WORD}, {WORD}, {WORD}
  }}
  return %b : {WORD}
}}
"""


@pytest.mark.parametrize("target", ["interpret", "cpu"])
def test_a_chain_runs_its_launches(target: str) -> None:
    assert run(CHAIN, torch.tensor([1, 2, 3, 4]), 10, target=target) == [[12, 14, 16, 18]]


def test_a_chain_without_a_device_that_chains_is_its_launches() -> None:
    calls: list[tuple[str, tuple[int, ...], int]] = []

    def kernel(name: str, grid: tuple[int, ...]) -> Callable[..., None]:
        return lambda *arguments: calls.append((name, grid, len(arguments)))

    prepared = Host(torch.device("cpu"), {}, kernel, lambda name, in_place: lambda *_: ())
    namespace: dict[str, Callable[[Host], Callable[..., object]]] = {}
    exec(source(CHAIN), namespace)
    namespace["prepare"](prepared)(torch.zeros(4, dtype=torch.int64), 1)
    assert calls == [("plus", (1,), 3), ("sum", (1,), 3)]


def test_buffers_live_until_the_end_of_a_chain() -> None:
    lines = [line.strip() for line in source(CHAIN).splitlines()]
    at = lines.index("chain((x_, n_, a_,), (x_, a_, b_,))")
    assert lines[at + 1] == "del a_, x_"
