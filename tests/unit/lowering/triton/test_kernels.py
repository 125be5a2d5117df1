"""Whole kernels through Triton: residues under the interpreter, compilation without a GPU."""

from __future__ import annotations

import re
from io import StringIO

import numpy as np
import pytest
import torch

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.triton.compile import compile_source
from fhelium_ir.lowering.triton.kernels import TritonKernels
from fhelium_ir.lowering.triton.printer import print_triton
from tests.unit.kernel_texts import converted, ntt_kernel, parse, transform, twiddles

HOPPER = ("cuda", 90, 32)


def tensor(values: list[int], bits: int) -> torch.Tensor:
    unsigned = np.array(values, np.uint64).astype(f"u{bits // 8}")
    return torch.from_numpy(unsigned.view(f"i{bits // 8}"))  # pyright: ignore


@pytest.mark.parametrize(
    ("arithmetic", "bits", "q", "radix"),
    [("mont32", 32, 998244353, 16), ("mont64", 64, 1152921504607338497, 4)],
)
def test_transform(arithmetic: str, bits: int, q: int, radix: int) -> None:
    n, rows = radix * radix, 2
    rng = np.random.default_rng(1)
    x = [[q - 1] * n, [int(v) for v in rng.integers(0, q, n)]]
    kernels = TritonKernels(converted(parse(ntt_kernel(arithmetic, radix, 4))), interpret=True)
    data = torch.stack([tensor(row, bits) for row in x])
    table = tensor(twiddles(q, n, 1 << bits), bits)
    modulus = tensor([q, pow(q, -1, 1 << bits)], bits)
    kernels.launch(f"ntt_{arithmetic}_{radix}", (1,), [data, table, modulus, rows])
    assert [[int(v) for v in row] for row in data] == [transform(row, q) for row in x]


def test_compiles_for_a_gpu_that_is_not_there() -> None:
    texts = ntt_kernel("mont64", 4, 8) + ntt_kernel("mont32", 4, 8)
    kernels = TritonKernels(converted(parse(texts)), interpret=False)
    compiled = kernels.compile_for(HOPPER)
    assert list(compiled) == ["ntt_mont64_4", "ntt_mont32_4"]
    for name, result in compiled.items():
        ptx = result.asm["ptx"]
        assert isinstance(ptx, str)
        assert ".target sm_90" in ptx and f".entry {name}(" in ptx
    # Eight products a lane, each one widening, one low and one high multiplication; widening ones
    # by a number compute addresses.
    ptx = str(compiled["ntt_mont32_4"].asm["ptx"])
    assert ptx.count("mul.hi.u32") == ptx.count("mul.lo.s32") == 8
    assert len(re.findall(r"mul\.wide\.u32\s+%rd\d+, %r\d+, %r\d+;", ptx)) == 8


def test_an_unknown_target_is_an_error() -> None:
    kernels = TritonKernels(
        parse("kernel.func @k() lanes [32] grid 1 {\n kernel.return\n}"), interpret=False
    )
    assert "ptx" in kernels.compile_for(HOPPER)["k"].asm
    with pytest.raises(FheliumError, match="triton cannot compile 'k'"):
        kernels.compile_for(("abacus", 1, 32))


def test_all_kernels_print_into_one_module() -> None:
    module = converted(parse(ntt_kernel("mont64", 4, 8) + ntt_kernel("mont32", 4, 8)))
    stream = StringIO()
    print_triton(module, stream)
    text = stream.getvalue()
    assert text.count("import triton\n") == 1
    assert text.count("\ndef ") == 2
    assert compile_source(text).arg_names == ["x", "w", "modulus", "count"]


def test_launches_must_fit() -> None:
    text = """kernel.func @k(%x : !kernel.buffer<i64>, %n : i32) lanes [1] grid 2 {
      kernel.return
    }"""
    kernels = TritonKernels(parse(text), interpret=True)
    x = torch.zeros(2, 2, dtype=torch.int64)
    kernels.launch("k", (1, 1), [x, 2**32 - 1])
    for grid, arguments in (
        ((1,), [x, 1]),
        ((1, 0), [x, 1]),
        ((1, 1), [x]),
        ((1, 1), [x, 2**32]),
        ((1, 1), [x.T, 1]),
        ((1, 1), [x.int(), 1]),
        ((1, 1), [1, x]),
    ):
        with pytest.raises(FheliumError, match="kernel 'k': "):
            kernels.launch("k", grid, arguments)
    with pytest.raises(FheliumError, match="no kernel 'j'"):
        kernels.launch("j", (1, 1), [x, 1])
