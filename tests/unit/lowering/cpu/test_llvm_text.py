"""Programs, lanes, exchanges and loops, compared with arrays over the lanes."""

import itertools
import random
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu.kernels import CpuKernels

Compiled = Callable[[str], CpuKernels]
Parse = Callable[[str], ModuleOp]
Array = npt.NDArray[np.int64]

BUFFER = "!kernel.buffer<i64>"


def ints(values: torch.Tensor) -> list[int]:
    return [int(value) for value in values]


def from_array(values: Array) -> torch.Tensor:
    return torch.tensor(values)


def exchange(values: Array, axis: int) -> Array:
    """values[register, *lanes]: result j of a lane at a is operand a of the lane at j."""
    return np.swapaxes(values, 0, axis + 1)


def tile_kernel(shape: tuple[int, ...], axes: list[int], between: str) -> str:
    """Loads R registers of x[program, register, *lanes], exchanges along axes, stores likewise.

    `between` is applied to %v (the value) giving %r, with %l0, %l1, ... the lane ids.
    """
    registers = shape[axes[0]]
    lines = ["%p = kernel.program_id 0"]
    linear = "%p"
    extents = [registers, *shape]
    for axis in range(len(shape)):
        lines.append(f"%l{axis} = kernel.lane_id {axis}")
    for k, extent in enumerate(extents):
        lines.append(f"%n{k} = arith.constant {extent} : i64")
    addresses = list[str]()
    for r in range(registers):
        lines.append(f"%k{r} = arith.constant {r} : i64")
        linear = "%p"
        for k in range(len(extents)):
            part = f"%k{r}" if k == 0 else f"%l{k - 1}"
            lines.append(f"%m{r}_{k} = arith.muli {linear}, %n{k} : i64")
            lines.append(f"%s{r}_{k} = arith.addi %m{r}_{k}, {part} : i64")
            linear = f"%s{r}_{k}"
        addresses.append(linear)
    values = list[str]()
    for r, address in enumerate(addresses):
        lines.append(f"%x{r} = kernel.load %x[{address}] : {BUFFER} -> i64")
        values.append(f"%x{r}")
    types = ", ".join(["i64"] * registers)
    for step, axis in enumerate(axes):
        results = [f"%e{step}_{r}" for r in range(registers)]
        lines.append(
            f"{', '.join(results)} = kernel.exchange {', '.join(values)} axis {axis} "
            f": {types} -> {types}"
        )
        values = list[str]()
        for r, result in enumerate(results):
            names = {"%v": result, "%r": f"%y{step}_{r}", "%t": f"%t{step}_{r}"}
            body = between
            for old, new in names.items():
                body = body.replace(old, new)
            lines.append(body)
            values.append(f"%y{step}_{r}")
    for value, address in zip(values, addresses, strict=True):
        lines.append(f"kernel.store {value}, %o[{address}] : i64, {BUFFER}")
    body = "\n".join([*lines, "kernel.return"])
    return f"kernel.func @f(%x : {BUFFER}, %o : {BUFFER}) lanes {list(shape)} grid 1 {{\n{body}\n}}"


SHIFT = "%t = arith.muli %v, %n0 : i64\n%r = arith.addi %t, %l0 : i64"


@pytest.mark.parametrize(
    "shape, axes",
    [
        ((4, 8), [0]),
        ((8, 4), [1]),
        ((8, 4), [0]),
        ((4, 4), [0, 1]),
        ((4, 4), [1, 1, 0]),
        ((2, 16, 4), [1]),
        ((2, 16, 2), [0, 2]),
        ((16,), [0]),
        ((16,), [0, 0]),
        ((1, 8), [0]),
        ((1, 1), [1]),
    ],
)
@pytest.mark.parametrize("in_place", [False, True])
def test_exchanges(
    compiled: Compiled, shape: tuple[int, ...], axes: list[int], in_place: bool
) -> None:
    kernels = compiled(tile_kernel(shape, axes, SHIFT))
    registers = shape[axes[0]]
    programs = 3
    x = np.random.default_rng(0).integers(0, 2**40, (programs, registers, *shape))
    want = x.copy()
    for program in range(programs):
        tile = want[program]
        for axis in axes:
            tile = exchange(tile, axis) * registers
            tile += np.arange(shape[0]).reshape(-1, *[1] * (len(shape) - 1))
        want[program] = tile
    source = from_array(x.copy())
    out = source if in_place else torch.zeros_like(source)
    kernels.launch("f", [programs], [source, out])
    assert np.array_equal(out.numpy(), want)


def test_exchange_of_repeated_and_uniform_operands(compiled: Compiled) -> None:
    kernels = compiled(f"""
    kernel.func @f(%o : {BUFFER}, %n : i64) lanes [2, 4] grid 1 {{
      %a = kernel.lane_id 0
      %b = kernel.lane_id 1
      %c4 = arith.constant 4 : i64
      %a4 = arith.muli %a, %c4 : i64
      %i = arith.addi %a4, %b : i64
      %e0, %e1 = kernel.exchange %n, %i axis 0 : i64, i64 -> i64, i64
      %f0, %f1 = kernel.exchange %e1, %e1 axis 0 : i64, i64 -> i64, i64
      %c8 = arith.constant 8 : i64
      %i8 = arith.addi %i, %c8 : i64
      %i16 = arith.addi %i8, %c8 : i64
      %i24 = arith.addi %i16, %c8 : i64
      kernel.store %e0, %o[%i] : i64, {BUFFER}
      kernel.store %e1, %o[%i8] : i64, {BUFFER}
      kernel.store %f0, %o[%i16] : i64, {BUFFER}
      kernel.store %f1, %o[%i24] : i64, {BUFFER}
      kernel.return
    }}""")
    out = torch.zeros(32, dtype=torch.int64)
    kernels.launch("f", [1], [out, 99])
    lanes = np.arange(8).reshape(2, 4)
    operands = np.stack([np.full((2, 4), 99), lanes])
    first = exchange(operands, 0)
    second = exchange(np.stack([first[1], first[1]]), 0)
    assert np.array_equal(out.numpy().reshape(4, 2, 4), np.concatenate([first, second]))


def test_values_and_conditions_cross_exchanges(compiled: Compiled) -> None:
    """A loaded word, a condition on it, and a word of one axis only are used after an exchange."""
    kernels = compiled(f"""
    kernel.func @f(%x : {BUFFER}, %w : {BUFFER}, %o : {BUFFER}) lanes [4, 8] grid 1 {{
      %a = kernel.lane_id 0
      %b = kernel.lane_id 1
      %c8 = arith.constant 8 : i64
      %zero = arith.constant 0 : i64
      %a8 = arith.muli %a, %c8 : i64
      %i = arith.addi %a8, %b : i64
      %u = kernel.load %w[%zero] : {BUFFER} -> i64
      %t = kernel.load %w[%a] : {BUFFER} -> i64
      %v = kernel.load %x[%i] : {BUFFER} -> i64
      %c = arith.cmpi ult, %v, %u : i64
      %s = arith.addi %v, %t : i64
      %e0, %e1, %e2, %e3 = kernel.exchange %s, %t, %u, %i axis 0
        : i64, i64, i64, i64 -> i64, i64, i64, i64
      %r0 = arith.select %c, %e3, %t : i64
      %r1 = arith.addi %r0, %v : i64
      %r2 = arith.muli %r1, %e1 : i64
      kernel.store %r2, %o[%i] : i64, {BUFFER}
      kernel.return
    }}""")
    x = np.random.default_rng(1).integers(0, 100, (4, 8))
    w = np.array([50, 3, 5, 7])
    out = torch.zeros(32, dtype=torch.int64)
    kernels.launch("f", [1], [from_array(x.reshape(-1)), from_array(w), out])
    t = np.broadcast_to(w[:, None], (4, 8))
    lanes = np.arange(32).reshape(4, 8)
    e = exchange(np.stack([x + t, t, np.full((4, 8), 50), lanes]), 0)
    want = (np.where(x < 50, e[3], t) + x) * e[1]
    assert np.array_equal(out.numpy().reshape(4, 8), want)


LOOP = f"""
kernel.func @f(%x : {BUFFER}, %w : {BUFFER}, %o : {BUFFER}, %n : i64) lanes [8] grid 1 {{
  %l = kernel.lane_id 0
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %s, %t, %k = scf.for %j = %zero to LIMIT step %one iter_args(%u = %zero, %v = %one, %m = %one)
      -> (i64, i64, i64) : i64 {{
    %j8 = arith.muli %j, %c8 : i64
    %i = arith.addi %j8, %l : i64
    %a = kernel.load %x[%i] : {BUFFER} -> i64
    %b = kernel.load %w[%j] : {BUFFER} -> i64
    %ab = arith.muli %a, %b : i64
    %next = arith.addi %v, %ab : i64
    %mm = arith.addi %m, %b : i64
    scf.yield %next, %u, %mm : i64, i64, i64
  }}
  %l8 = arith.addi %l, %c8 : i64
  %l16 = arith.addi %l8, %c8 : i64
  kernel.store %s, %o[%l] : i64, {BUFFER}
  kernel.store %t, %o[%l8] : i64, {BUFFER}
  kernel.store %k, %o[%l16] : i64, {BUFFER}
  kernel.return
}}"""


@pytest.mark.parametrize("limit", ["%n", "%l"])
@pytest.mark.parametrize("count", [0, 1, 5])
def test_loops_swap_carried_values(compiled: Compiled, limit: str, count: int) -> None:
    """With bounds of the program around the lanes, with bounds of the lane inside them."""
    kernels = compiled(LOOP.replace("LIMIT", limit))
    x = np.random.default_rng(2).integers(0, 1000, (8, 8))
    w = np.random.default_rng(3).integers(0, 1000, 8)
    out = torch.zeros(24, dtype=torch.int64)
    arguments = [from_array(x.reshape(-1)), from_array(w), out, count]
    kernels.launch("f", [1], arguments)
    for lane in range(8):
        u, v, m = 0, 1, 1
        for j in range(count if limit == "%n" else lane):
            u, v, m = v + x[j, lane] * w[j], u, m + w[j]
        assert ints(out.reshape(3, 8)[:, lane]) == [u, v, m]


def test_exchange_in_a_loop_and_nested_loops(compiled: Compiled) -> None:
    kernels = compiled(f"""
    kernel.func @f(%x : {BUFFER}, %n : i64) lanes [2, 4] grid 1 {{
      %a = kernel.lane_id 0
      %b = kernel.lane_id 1
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %c4 = arith.constant 4 : i64
      %c8 = arith.constant 8 : i64
      %a4 = arith.muli %a, %c4 : i64
      %i = arith.addi %a4, %b : i64
      %i8 = arith.addi %i, %c8 : i64
      %v0 = kernel.load %x[%i] : {BUFFER} -> i64
      %v1 = kernel.load %x[%i8] : {BUFFER} -> i64
      %r0, %r1 = scf.for %j = %zero to %n step %one iter_args(%s0 = %v0, %s1 = %v1)
          -> (i64, i64) : i64 {{
        %t0 = scf.for %k = %zero to %j step %one iter_args(%q = %s0) -> (i64) : i64 {{
          %q1 = arith.muli %q, %c4 : i64
          %q2 = arith.addi %q1, %k : i64
          scf.yield %q2 : i64
        }}
        %e0, %e1 = kernel.exchange %t0, %s1 axis 0 : i64, i64 -> i64, i64
        %f0 = arith.addi %e0, %i : i64
        scf.yield %f0, %e1 : i64, i64
      }}
      kernel.store %r0, %x[%i] : i64, {BUFFER}
      kernel.store %r1, %x[%i8] : i64, {BUFFER}
      kernel.return
    }}""")
    values = np.random.default_rng(4).integers(0, 1000, (2, 2, 4))
    x = from_array(values.copy())
    kernels.launch("f", [1], [x, 4])
    lanes = np.arange(8).reshape(2, 4)
    s0, s1 = values
    for j in range(4):
        for k in range(j):
            s0 = s0 * 4 + k
        s0, s1 = exchange(np.stack([s0, s1]), 0)
        s0 = s0 + lanes
    assert np.array_equal(x.numpy(), np.stack([s0, s1]))


def test_loads_after_stores_see_them(compiled: Compiled) -> None:
    """Of the same lane, through the same buffer and through another argument for it."""
    kernels = compiled(f"""
    kernel.func @f(%x : {BUFFER}, %y : {BUFFER}) lanes [8] grid 1 {{
      %l = kernel.lane_id 0
      %zero = arith.constant 0 : i64
      %c8 = arith.constant 8 : i64
      %c5 = arith.constant 5 : i64
      %l8 = arith.addi %l, %c8 : i64
      %l16 = arith.addi %l8, %c8 : i64
      kernel.store %c5, %x[%l] : i64, {BUFFER}
      %v = kernel.load %x[%l] : {BUFFER} -> i64
      %w = kernel.load %y[%zero] : {BUFFER} -> i64
      %s = arith.addi %v, %w : i64
      kernel.store %s, %x[%l8] : i64, {BUFFER}
      %t = kernel.load %y[%l8] : {BUFFER} -> i64
      kernel.store %t, %x[%l16] : i64, {BUFFER}
      kernel.return
    }}""")
    x = torch.zeros(24, dtype=torch.int64)
    kernels.launch("f", [1], [x, x])
    assert ints(x) == [5] * 8 + [10] * 16


def test_errors(parse: Parse) -> None:
    lane_bound = f"""
    kernel.func @f(%x : {BUFFER}) lanes [2] grid 1 {{
      %l = kernel.lane_id 0
      %one = arith.constant 1 : i64
      %r = scf.for %j = %one to %l step %one iter_args(%u = %one) -> (i64) : i64 {{
        %e0, %e1 = kernel.exchange %u, %l axis 0 : i64, i64 -> i64, i64
        scf.yield %e0 : i64
      }}
      kernel.store %r, %x[%l] : i64, {BUFFER}
      kernel.return
    }}"""
    with pytest.raises(FheliumError, match="not supported on the cpu target"):
        CpuKernels(parse(lane_bound))
    with pytest.raises(FheliumError, match=r"zq\.modulus .*run convert-zq-to-arith first"):
        CpuKernels(
            parse("""kernel.func @f(%q : i64) lanes [1] grid 1 {
          %m = zq.modulus %q, %q : i64 -> !zq.modulus<mont64>
          kernel.return
        }""")
        )
    with pytest.raises(FheliumError, match="too many lanes"):
        CpuKernels(parse(tile_kernel((16, 16, 16, 16), [0, 1, 2, 3], SHIFT)))
    for op in ("divui", "remsi"):
        with pytest.raises(FheliumError, match=f"arith.{op} is not supported"):
            CpuKernels(
                parse(f"""kernel.func @f(%q : i64) lanes [1] grid 1 {{
              %m = arith.{op} %q, %q : i64
              kernel.return
            }}""")
            )


@pytest.mark.parametrize("seed", range(6))
def test_random_straight_line_kernels(compiled: Compiled, seed: int) -> None:
    """Random words, axes and exchanges against arrays over the lanes."""
    generator = random.Random(seed)
    shape = generator.choice([(2, 2, 4), (4, 2), (2, 8), (8, 4, 2)])
    count = int(np.prod(shape))
    lines = [f"%l{k} = kernel.lane_id {k}" for k in range(len(shape))]
    grids = np.meshgrid(*[np.arange(extent) for extent in shape], indexing="ij")
    data = np.random.default_rng(seed).integers(0, 64, 64)
    known = {f"%l{k}": grid.astype(np.int64) for k, grid in enumerate(grids)}
    known["%n"] = np.full(shape, 13)
    lines.append("%mask = arith.constant 63 : i64")
    for step in range(40):
        a, b = generator.choice(list(known)), generator.choice(list(known)[-6:])
        kind = generator.choice(["addi", "muli", "load", "exchange"])
        if kind == "exchange":
            axis = generator.randrange(len(shape))
            operands = [generator.choice(list(known)) for _ in range(shape[axis])]
            results = [f"%e{step}_{j}" for j in range(shape[axis])]
            types = ", ".join(["i64"] * shape[axis])
            lines.append(
                f"{', '.join(results)} = kernel.exchange {', '.join(operands)} axis {axis} "
                f": {types} -> {types}"
            )
            exchanged = exchange(np.stack([known[operand] for operand in operands]), axis)
            known.update(zip(results, exchanged, strict=True))
        elif kind == "load":
            lines.append(f"%i{step} = arith.andi {a}, %mask : i64")
            lines.append(f"%v{step} = kernel.load %x[%i{step}] : {BUFFER} -> i64")
            known[f"%v{step}"] = data[known[a] & 63]
        else:
            lines.append(f"%v{step} = arith.{kind} {a}, {b} : i64")
            known[f"%v{step}"] = known[a] + known[b] if kind == "addi" else known[a] * known[b]
    lines.append("%at0 = arith.constant 0 : i64")
    linear = "%at0"
    for k, extent in enumerate(shape):
        lines.append(f"%x{k} = arith.constant {extent} : i64")
        lines.append(f"%y{k} = arith.muli {linear}, %x{k} : i64")
        lines.append(f"%at{k + 1} = arith.addi %y{k}, %l{k} : i64")
        linear = f"%at{k + 1}"
    outputs = list(known)[-12:]
    for j, value in enumerate(outputs):
        lines.append(f"%c{j} = arith.constant {j * count} : i64")
        lines.append(f"%p{j} = arith.addi {linear}, %c{j} : i64")
        lines.append(f"kernel.store {value}, %o[%p{j}] : i64, {BUFFER}")
    body = "\n".join([*lines, "kernel.return"])
    kernels = compiled(
        f"kernel.func @f(%x : {BUFFER}, %o : {BUFFER}, %n : i64) lanes {list(shape)} grid 1 "
        f"{{\n{body}\n}}"
    )
    out = torch.zeros(len(outputs) * count, dtype=torch.int64)
    kernels.launch("f", [1], [from_array(data), out, 13])
    for j, value in enumerate(outputs):
        got = out[j * count : (j + 1) * count].numpy().reshape(shape)
        assert np.array_equal(got, known[value]), value


def test_combinations_of_uniform_and_partial_loads(compiled: Compiled) -> None:
    """w[0], w[a], w[b] and w[a + b] in one segment, with one store per lane."""
    kernels = compiled(f"""
    kernel.func @f(%w : {BUFFER}, %o : {BUFFER}) lanes [4, 8] grid 1 {{
      %a = kernel.lane_id 0
      %b = kernel.lane_id 1
      %c8 = arith.constant 8 : i64
      %zero = arith.constant 0 : i64
      %ab = arith.addi %a, %b : i64
      %w0 = kernel.load %w[%zero] : {BUFFER} -> i64
      %w1 = kernel.load %w[%a] : {BUFFER} -> i64
      %w2 = kernel.load %w[%b] : {BUFFER} -> i64
      %w3 = kernel.load %w[%ab] : {BUFFER} -> i64
      %s = arith.addi %w0, %w1 : i64
      %t = arith.muli %s, %w2 : i64
      %u = arith.subi %t, %w3 : i64
      %a8 = arith.muli %a, %c8 : i64
      %i = arith.addi %a8, %b : i64
      kernel.store %u, %o[%i] : i64, {BUFFER}
      kernel.return
    }}""")
    w = torch.arange(16) ** 2 + 1
    out = torch.zeros(32, dtype=torch.int64)
    kernels.launch("f", [1], [w, out])
    for a, b in itertools.product(range(4), range(8)):
        assert out[a * 8 + b] == (w[0] + w[a]) * w[b] - w[a + b]
