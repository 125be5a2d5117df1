"""The kernel interpreter: exact words, and every fault that it must refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fhelium_ir.dialects.kernel import FuncOp
from fhelium_ir.reference.kernel import InterpretedKernels, KernelFault, run_kernel
from tests.unit.kernel_texts import (
    converted,
    ntt_kernel,
    only_kernel,
    parse,
    transform,
    twiddles,
)

B = "!kernel.buffer<i64>"


def func(body: str, lanes: str = "4", arguments: str = f"%x : {B}, %y : {B}") -> FuncOp:
    constants = "\n".join(f"%c{k} = arith.constant {k} : i64" for k in range(9))
    return only_kernel(
        parse(
            f"kernel.func @k({arguments}) lanes [{lanes}] grid 1 {{\n{constants}\n"
            f"%l = kernel.lane_id 0\n%p = kernel.program_id 0\n{body}\nkernel.return\n}}"
        )
    )


def words(*values: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([v - (1 << 64) if v >> 63 else v for v in values], np.int64)


LOAD = f"kernel.load %x[%l] : {B} -> i64"
STORE_Y = f"kernel.store %v, %y[%l] : i64, {B}"


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_wide_product_is_exact(a: int, b: int) -> None:
    kernel = func(
        f"""%a = kernel.load %x[%c0] : {B} -> i64
        %b = kernel.load %x[%c1] : {B} -> i64
        %low, %high = arith.mului_extended %a, %b : i64
        kernel.store %low, %y[%c0] : i64, {B}
        kernel.store %high, %y[%c1] : i64, {B}""",
        lanes="1",
    )
    out = words(0, 0)
    run_kernel(kernel, (1,), [words(a, b), out])
    assert out.view(np.uint64).tolist() == [a * b % 2**64, a * b >> 64]


@pytest.mark.parametrize("lanes", [(2,), (4, 2), (2, 8), (2, 4, 8), (8, 1, 2)])
def test_exchange_is_a_transpose(lanes: tuple[int, ...]) -> None:
    for axis, extent in enumerate(lanes):
        if extent == 1:
            continue
        count = int(np.prod(lanes))
        text: list[str] = []
        offset, stride = "%c0", count
        for k, size in enumerate(lanes):
            stride //= size
            text.append(f"%k{k} = kernel.lane_id {k}\n%s{k} = arith.constant {stride} : i64")
            text.append(f"%m{k} = arith.muli %k{k}, %s{k} : i64")
            text.append(f"%o{k} = arith.addi {offset}, %m{k} : i64")
            offset = f"%o{k}"
        names = ", ".join(f"%v{j}" for j in range(extent))
        outs = ", ".join(f"%w{j}" for j in range(extent))
        types = ", ".join(["i64"] * extent)
        for j in range(extent):
            text.append(f"%n{j} = arith.constant {j * count} : i64")
            text.append(f"%a{j} = arith.addi {offset}, %n{j} : i64")
            text.append(f"%v{j} = kernel.load %x[%a{j}] : {B} -> i64")
        text.append(f"{outs} = kernel.exchange {names} axis {axis} : {types} -> {types}")
        for j in range(extent):
            text.append(f"kernel.store %w{j}, %y[%a{j}] : i64, {B}")
        kernel = func("\n".join(text), lanes=", ".join(map(str, lanes)))
        x = np.arange(extent * count, dtype=np.int64)
        y = np.zeros_like(x)
        run_kernel(kernel, (1,), [x, y])
        before, after = x.reshape(extent, *lanes), y.reshape(extent, *lanes)
        for place in np.ndindex(*lanes):
            for j in range(extent):
                other = tuple(j if k == axis else v for k, v in enumerate(place))
                assert after[(j, *place)] == before[(place[axis], *other)]


@pytest.mark.parametrize(
    ("arithmetic", "q"), [("mont32", 998244353), ("mont64", 1152921504607338497)]
)
@pytest.mark.parametrize("radix", [4, 16])
def test_transform_equals_evaluation(arithmetic: str, q: int, radix: int) -> None:
    dtype, bits = (np.int32, 32) if arithmetic == "mont32" else (np.int64, 64)
    n, rows = radix * radix, 3
    rng = np.random.default_rng(radix)
    x = [[int(v) for v in rng.integers(0, q, n)] for _ in range(rows)]
    x[0] = [q - 1] * n
    module = parse(ntt_kernel(arithmetic, radix, 2))
    signed = np.dtype(dtype)
    table = np.array(twiddles(q, n, 1 << bits), np.uint64).astype(f"u{bits // 8}").view(signed)
    modulus = np.array([q, pow(q, -1, 1 << bits)], np.uint64).astype(f"u{bits // 8}").view(signed)
    for version in (module, converted(module)):
        data = np.array(x, dtype).reshape(-1)
        run_kernel(only_kernel(version), (2,), [data, table, modulus, rows])
        assert data.reshape(rows, n).tolist() == [transform(row, q) for row in x]


def test_loop_bounds_may_differ_between_programs() -> None:
    kernel = func(
        f"""%n = kernel.load %x[%p] : {B} -> i64
        %sum, %count = scf.for %i = %c1 to %n step %c2 iter_args(%s = %c0, %k = %c0) -> (i64, i64)
            : i64 {{
          %t = arith.addi %s, %i : i64
          %u = arith.addi %t, %l : i64
          %k1 = arith.addi %k, %c1 : i64
          scf.yield %u, %k1 : i64, i64
        }}
        %first = arith.muli %p, %c8 : i64
        %a = arith.addi %first, %l : i64
        %b = arith.addi %a, %c4 : i64
        kernel.store %sum, %y[%a] : i64, {B}
        kernel.store %count, %y[%b] : i64, {B}"""
    )
    bounds = [5, 0, 1, 12]
    y = np.zeros(32, np.int64)
    run_kernel(kernel, (4,), [words(*bounds), y])
    for p, n in enumerate(bounds):
        steps = range(1, n, 2)
        for lane in range(4):
            assert y[p * 8 + lane] == sum(steps) + len(steps) * lane
            assert y[p * 8 + 4 + lane] == len(steps)


def test_masked_lanes_touch_nothing() -> None:
    kernel = func(
        f"""%far = arith.muli %l, %c8 : i64
        %in = arith.cmpi ult, %far, %c8 : i64
        %v = kernel.load %x[%far] mask %in : {B} -> i64
        kernel.store %v, %y[%l] : i64, {B}
        kernel.store %c7, %x[%far] mask %in : i64, {B}"""
    )
    x, y = words(5, 6), words(9, 9, 9, 9)
    run_kernel(kernel, (1,), [x, y])
    assert x.tolist() == [7, 6] and y.tolist() == [5, 0, 0, 0]


FAULTS = {
    "load out of range": (f"%a = arith.addi %l, %c1 : i64\n%v = kernel.load %x[%a] : {B} -> i64",
                          "kernel.load out of range .*lane \\(3,\\)"),
    "negative offset": (f"%a = arith.subi %l, %c1 : i64\n%v = kernel.load %x[%a] : {B} -> i64",
                        "kernel.load out of range"),
    "store out of range": (f"%a = arith.muli %l, %c2 : i64\nkernel.store %l, %y[%a] : i64, {B}",
                           "kernel.store out of range"),
    "lanes store to one address": (f"kernel.store %l, %y[%c0] : i64, {B}", "stores twice"),
    "one lane stores twice": (f"%v = {LOAD}\n{STORE_Y}\n{STORE_Y}", "stores twice"),
    "load of another lane's store": (
        f"kernel.store %l, %y[%l] : i64, {B}\n%o = arith.xori %l, %c1 : i64\n"
        f"%v = kernel.load %y[%o] : {B} -> i64", "another lane of the launch stored"),
    "all lanes load one lane's store": (
        f"%in = arith.cmpi eq, %l, %c2 : i64\nkernel.store %l, %y[%l] mask %in : i64, {B}\n"
        f"%v = kernel.load %y[%c2] : {B} -> i64", "another lane of the launch stored"),
    "shift by the width": ("%big = arith.constant 64 : i64\n%v = arith.shli %l, %big : i64",
                           "width of the word"),
    "division by zero": ("%v = arith.divui %c1, %l : i64", "by zero"),
    "bounds that differ between lanes": (
        "scf.for %i = %c0 to %l step %c1 : i64 {\n}", "bounds differ between lanes"),
    "a step of zero": ("scf.for %i = %c0 to %c1 step %c0 : i64 {\n}", "step is not positive"),
    "an unknown op": ("%v = arith.floordivsi %c1, %c1 : i64",
                      "does not know 'arith.floordivsi'"),
    "a type that is no word": ("%v = arith.extui %l : i64 to i128", "type i128"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    body, message = FAULTS[name]
    with pytest.raises(KernelFault, match=f"kernel 'k': .*{message}"):
        run_kernel(func(body), (1,), [words(1, 2, 3, 4), words(1, 2, 3, 4)])


def test_programs_that_meet() -> None:
    store = func(f"kernel.store %l, %y[%l] : i64, {B}")
    with pytest.raises(KernelFault, match="stores twice"):
        run_kernel(store, (2,), [words(0), words(1, 2, 3, 4)])
    # Program p stores to row p and loads row 1 - p: a race in both orders.
    for first, second in (("%own", "%other"), ("%other", "%own")):
        ops = {
            "%own": f"kernel.store %l, %x[%own] : i64, {B}",
            "%other": f"%v = kernel.load %x[%other] : {B} -> i64",
        }
        race = func(
            f"""%row = arith.muli %p, %c4 : i64
            %own = arith.addi %row, %l : i64
            %other = arith.xori %own, %c4 : i64
            {ops[first]}
            {ops[second]}"""
        )
        with pytest.raises(KernelFault, match=r"another (lane|program) of the launch"):
            run_kernel(race, (2,), [np.zeros(8, np.int64), words(0)])


def test_programs_that_meet_far_apart() -> None:
    """The last of many programs stores to what the first one loaded, and the other way round."""
    for loads_first in (True, False):
        pick = "%p, %c0" if loads_first else "%p, %n"
        kernel = func(
            f"""%n = arith.constant 40000 : i64
            %none = arith.cmpi ne, {pick} : i64
            %true = arith.constant true
            %loads = arith.xori %none, %true : i1
            %last = arith.cmpi eq, {"%p, %n" if loads_first else "%p, %c0"} : i64
            %v = kernel.load %x[%c0] mask %loads : {B} -> i64
            kernel.store %v, %x[%c0] mask %last : i64, {B}""",
            lanes="1",
        )
        with pytest.raises(KernelFault, match="another"):
            run_kernel(kernel, (40001,), [words(0), words(0)])


def test_in_place_and_overlapping_buffers() -> None:
    """A lane may load what it stored; overlapping arguments are one memory."""
    own = func(f"{'%v = ' + LOAD}\n{STORE_Y}\n%w = kernel.load %y[%l] : {B} -> i64")
    run_kernel(own, (1,), [words(1, 2, 3, 4), words(0, 0, 0, 0)])
    shifted = func(
        f"""%row = arith.muli %p, %c4 : i64
        %a = arith.addi %row, %l : i64
        %v = kernel.load %x[%a] : {B} -> i64
        kernel.store %v, %y[%a] : i64, {B}"""
    )
    arena = np.arange(12, dtype=np.int64)
    with pytest.raises(KernelFault, match="another"):
        run_kernel(shifted, (2,), [arena[:8], arena[4:]])
    arena = np.arange(12, dtype=np.int64)
    run_kernel(shifted, (2,), [arena[:8], arena[:8]])
    assert arena.tolist() == list(range(12))


def zq_func(op: str) -> FuncOp:
    return func(
        f"""%q = kernel.load %y[%c0] : {B} -> i64
        %qi = kernel.load %y[%c1] : {B} -> i64
        %m = zq.modulus %q, %qi : i64 -> !zq.modulus<mont64>
        %a = kernel.load %x[%c0] : {B} -> i64
        %b = kernel.load %x[%c1] : {B} -> i64
        %v = {op} : i64, !zq.modulus<mont64>
        kernel.store %v, %x[%c2] : i64, {B}""",
        lanes="1",
    )


Q = 1152921504607338497
Q_INVERSE = pow(Q, -1, 1 << 64)


@pytest.mark.parametrize(
    ("op", "good", "bad", "result", "message"),
    [
        ("zq.add %a, %b mod %m", (2**64 - 2, 1), (2**64 - 1, 1), 2**64 - 1, "leaves the word"),
        ("zq.sub %a, %b mod %m offset 2", (5, 2 * Q - 1), (5, 2 * Q), 6, "not below offset"),
        ("zq.reduce %a mod %m from 4 to 1", (4 * Q - 1, 0), (4 * Q, 0), Q - 1, "not below from"),
        ("zq.reduce %a mod %m from 3 to 2", (3 * Q - 1, 0), (3 * Q, 0), Q - 1, "not below from"),
        (
            "zq.mul %a, %b mod %m",
            (0, 5),
            (2**64 - 1, 2**64 - 1),
            Q,
            "zq.mul leaves the word",
        ),
    ],
)
def test_zq_intervals(
    op: str, good: tuple[int, int], bad: tuple[int, int], result: int, message: str
) -> None:
    kernel, modulus = zq_func(op), words(Q, Q_INVERSE)
    x = words(*good, 0)
    run_kernel(kernel, (1,), [x, modulus])
    assert int(x.view(np.uint64)[2]) == result
    with pytest.raises(KernelFault, match=message):
        run_kernel(kernel, (1,), [words(*bad, 0), modulus])


def test_wrong_inverse_is_refused() -> None:
    with pytest.raises(KernelFault, match="not the inverse"):
        run_kernel(zq_func("zq.mul %a, %b mod %m"), (1,), [words(3, 4, 0), words(Q, Q_INVERSE ^ 2)])


@pytest.mark.parametrize("bits", [32, 64])
def test_products_by_shoup_need_the_quotient_of_a_reduced_factor(bits: int) -> None:
    q = {32: 1073741789, 64: Q}[bits]
    word, radix = f"i{bits}", 1 << bits
    buffer = f"!kernel.buffer<{word}>"
    loads = "\n".join(
        f"%{name} = kernel.load %x[%c{place}] : {buffer} -> {word}"
        for place, name in enumerate(("q", "qi", "v", "w", "u"))
    )
    kernel = func(
        f"""{loads}
        %m = zq.modulus %q, %qi : {word} -> !zq.modulus<mont{bits}>
        %r = zq.mul_shoup %v, %w, %u mod %m : {word}, !zq.modulus<mont{bits}>
        kernel.store %r, %x[%c2] : {word}, {buffer}""",
        "1",
        f"%x : {buffer}",
    )

    def run(value: int, factor: int, quotient: int) -> int:
        numbers = np.array([q, pow(q, -1, radix), value, factor, quotient], np.uint64)
        memory = numbers.astype(np.dtype(f"u{bits // 8}"))
        run_kernel(kernel, (1,), [memory])
        return int(memory[2])

    for factor in (0, 1, 5, q - 1):
        quotient = factor * radix // q
        for value in (0, 1, q, radix - 1):
            result = run(value, factor, quotient)
            assert result == value * factor - value * quotient // radix * q
        for wrong in (quotient - 1, quotient + 1):
            with pytest.raises(KernelFault, match="the quotient is not that of the factor"):
                run(1, factor, wrong % radix)
    with pytest.raises(KernelFault, match="the factor is not below q"):
        run(1, q, radix - 1)


def test_arguments_must_fit() -> None:
    kernel = func(f"kernel.store %n, %y[%l] : i64, {B}", "1", f"%y : {B}, %n : i64")
    out = words(0)
    run_kernel(kernel, (1,), [out, 2**64 - 1])
    assert out.tolist() == [-1]
    for grid, arguments in (
        ((1,), [out]),
        ((1, 1), [out, 1]),
        ((0,), [out, 1]),
        ((1,), [out, 2**64]),
        ((1,), [1, out]),
        ((1,), [out.astype(np.int32), 1]),
        ((1,), [out.reshape(1, 1), 1]),
    ):
        with pytest.raises(KernelFault, match="kernel 'k'"):
            run_kernel(kernel, grid, arguments)


def test_interpreted_kernels_take_tensors() -> None:
    module = parse(
        f"""kernel.func @copy(%x : {B}, %y : {B}) lanes [4] grid 2 {{
          %l = kernel.lane_id 0
          %v = kernel.load %x[%l] : {B} -> i64
          kernel.store %v, %y[%l] : i64, {B}
          kernel.return
        }}"""
    )
    kernels = InterpretedKernels(module)
    source, target = torch.arange(4).reshape(2, 2), torch.zeros(1, 4, dtype=torch.int64)
    kernels.launch("copy", (1, 1), [source, target])
    assert torch.equal(target, torch.arange(4).reshape(1, 4))
    with pytest.raises(KernelFault, match="no kernel 'paste'"):
        kernels.launch("paste", (1, 1), [source, target])
    with pytest.raises(KernelFault, match="contiguous"):
        kernels.launch("copy", (1, 1), [source.T, target])


@pytest.mark.parametrize(
    ("table", "blocks", "kept"),
    [
        ([2, 3, 0, 1], 4, True),
        ([3, 2, 0, 1], 4, True),
        ([7, 6, 5, 4, 0, 1, 3, 2], 4, True),
        ([0, 1, 4, 5], 2, True),
        ([0, 1, 4, 5], 4, False),
        ([0, 2, 1, 3], 4, False),
        ([0, 1, 2, 2], 2, False),
        ([0, 1], 4, False),
    ],
)
def test_a_table_that_keeps_blocks(table: list[int], blocks: int, kept: bool) -> None:
    """Entries of aligned pairs and of aligned fours have to be those of an aligned pair and four."""
    kernel = func(
        f"""%v = kernel.load %x[%c0] {{blocks = {blocks} : i64}} : {B} -> i64
        kernel.store %v, %y[%l] : i64, {B}"""
    )
    out = words(0, 0, 0, 0)
    if kept:
        run_kernel(kernel, (1,), [words(*table), out])
        assert out.tolist() == [table[0]] * 4
        return
    with pytest.raises(KernelFault, match="does not keep blocks"):
        run_kernel(kernel, (1,), [words(*table), out])
