"""Bytes of host programs, against hand-counted ones."""

from __future__ import annotations

import pytest

from fhelium_ir.backend.memory import HostMemory, host_memory
from fhelium_ir.lowering.host_printer import host_functions
from tests.unit.backend.programs import parsed

WORD = "memref<4xi64>"
KERNEL = (
    "kernel.func @k(%a : !kernel.buffer<i64>) lanes [1] grid 1 {\n  kernel.return\n}\n"
    'host.operation @op "x" (%a : !rns.poly<16, q 0:2, coefficient>) {\n'
    "  %c = rns.negate %a : !rns.poly<16, q 0:2, coefficient>\n}\n"
)


def memory(body: str) -> HostMemory:
    text = f"{KERNEL}func.func @f(%x : {WORD}, %n : i64) -> {WORD} {{\n{body}\n}}"
    return host_memory(host_functions(parsed(text))[0])


def use(value: str, type_: str = WORD) -> str:
    return f"host.launch @k grid [1](%{value}) : {type_}"


ARENA = f"""
%a = host.alloc : memref<512xi8>
%v = host.view %a at 0 : memref<512xi8> -> {WORD}
{use("v")}
%r = host.alloc : {WORD}
return %r : {WORD}
"""
TEMPORARIES = f"""
%t = host.alloc : memref<100xi64>
{use("t", "memref<100xi64>")}
%u = host.alloc : memref<50xi64>
{use("u", "memref<50xi64>")}
return %x : {WORD}
"""
LOOP = f"""
%c = arith.constant 0 : i64
%d = arith.constant 1 : i64
%r = scf.for %i = %c to %n step %d iter_args(%y = %x) -> ({WORD}) : i64 {{
  %t = host.alloc : memref<100xi64>
  {use("t", "memref<100xi64>")}
  %z = host.alloc : {WORD}
  scf.yield %z : {WORD}
}}
return %r : {WORD}
"""
CALLS = f"""
%b = host.call @op(%x) resources() : ({WORD}) resources() -> ({WORD})
%c = host.call @op(%b) resources() {{in_place}} : ({WORD}) resources() -> ({WORD})
return %c : {WORD}
"""


@pytest.mark.parametrize(
    "body, arena, results, peak",
    [
        (f"return %x : {WORD}", 0, 0, 0),
        (ARENA, 512, 32, 544),
        (TEMPORARIES, 0, 0, 800),
        (LOOP, 0, 0, 800),
        (CALLS, 0, 0, 32),
    ],
)
def test_bytes(body: str, arena: int, results: int, peak: int) -> None:
    assert memory(body) == HostMemory(32, arena, results, peak)
