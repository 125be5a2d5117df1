"""The machine code of a transform: packed multiplies as wide as the processor's, and no division of 128 bits."""

import re
from functools import cache

import pytest

from fhelium_ir.backend.linking import default_pipeline
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.cpu.binding import Machine, assembly, host_header, host_triple, vector_bits
from fhelium_ir.lowering.cpu.llvm_text import module_text
from fhelium_ir.universe import make_context

BITS = {"mont32": 29, "smont32": 29, "fp64": 49, "mont64": 58}
REGISTERS = {512: "zmm", 256: "ymm", 128: "xmm"}
MULTIPLIES = {
    "mont32": r"vpmuludq|vpmulld",
    "smont32": r"vpmuldq|vpmulld",
    "fp64": r"vf(?:n?m)(?:add|sub)\d+pd",
    "mont64": r"vpmuludq|vpmullq",
}
X86 = host_triple().startswith("x86_64")
AVX2 = Machine("x86_64-unknown-linux-gnu", "haswell")
AVX512 = Machine("x86_64-unknown-linux-gnu", "x86-64-v4")
NEON = Machine("aarch64-unknown-linux-gnu", "generic", "+neon")


@cache
def kernels(arithmetic: str) -> dict[str, kernel.FuncOp]:
    """The kernels of a product with key switching and rescale, by name."""
    bits = BITS[arithmetic]
    chosen = generate(1 << 11, [bits] * 4, [bits] * 2, 2, 24, insecure=True)
    primes = f"q = {list(chosen.q)}, p = {list(chosen.p)}"
    one = "!ckks.ciphertext<level = 3, scale = 2**24>"
    two = "level = 3, scale = 2**48"
    text = (
        f"module attributes {{ckks.params = #ckks.params<ring_degree = 2048, {primes}, "
        "digits = 2, scale = 2**24, secret = ternary, insecure>, "
        f"rns.arithmetic = #rns.arithmetic<{arithmetic}>}} {{\n"
        f"func.func @f(%x : {one}, %y : {one}) -> !ckks.ciphertext<level = 2, scale = 2**48 / q3> {{\n"
        f"%0 = ckks.mul %x, %y : {one}\n"
        f"%1 = ckks.relinearize %0 : !ckks.ciphertext<{two}, size = 3>\n"
        f"%2 = ckks.rescale %1 : !ckks.ciphertext<{two}>\n"
        "return %2 : !ckks.ciphertext<level = 2, scale = 2**48 / q3>\n}\n}"
    )
    context = make_context()
    module = parse_module(context, text, "f")
    default_pipeline("cpu").run(context, module)
    return {op.sym_name.data: op for op in module.ops if isinstance(op, kernel.FuncOp)}


def inner_loops(text: str) -> list[str]:
    """Blocks of assembly that jump to their own beginning."""
    blocks = re.split(r"^(\.?LBB\d+_\d+):.*$", text, flags=re.MULTILINE)
    return [
        body
        for label, body in zip(blocks[1::2], blocks[2::2], strict=True)
        if re.search(rf"\bj\w+\s+{re.escape(label)}\b", body)
    ]


def transform_kernel(arithmetic: str) -> kernel.FuncOp:
    """Of a forward transform's kernels the one with most stages."""
    found = [f for name, f in kernels(arithmetic).items() if name.startswith("forward")]
    return max(found, key=lambda func: sum(1 for _ in func.walk()))


@pytest.mark.skipif(not X86, reason="the registers are those of x86")
@pytest.mark.parametrize("arithmetic", list(BITS))
def test_packed_multiplies_of_the_widest_vectors(arithmetic: str) -> None:
    text = module_text({"f": transform_kernel(arithmetic)}, vector_bits())
    found = assembly(host_header() + text)
    wide = re.findall(rf"\b(?:{MULTIPLIES[arithmetic]})\b.*%{REGISTERS[vector_bits()]}", found)
    assert len(wide) > 20
    loops = [body for body in inner_loops(found) if re.search(MULTIPLIES[arithmetic], body)]
    for body in loops:
        assert f"%{REGISTERS[vector_bits()]}" in body
        assert not re.search(r"\bgather|\bvpgather|\bmulq|\bmulxq|\bdivq", body)


@pytest.mark.parametrize(("machine", "bits"), [(AVX2, 256), (AVX512, 512)])
@pytest.mark.parametrize("arithmetic", list(BITS))
def test_other_processors_of_this_kind(arithmetic: str, machine: Machine, bits: int) -> None:
    found = assembly(
        machine.header() + module_text({"f": transform_kernel(arithmetic)}, bits), machine
    )
    pattern = {"fp64": MULTIPLIES["fp64"], "smont32": "vpmuldq"}.get(arithmetic, "vpmuludq")
    assert len(re.findall(rf"\b(?:{pattern})\b.*%{REGISTERS[bits]}", found)) > 20


@pytest.mark.parametrize(
    ("arithmetic", "multiply"),
    [
        ("mont32", r"\bumull2?\s+v\d+\.2d|\bmul\s+v\d+\.4s"),
        ("smont32", r"\bsmull2?\s+v\d+\.2d"),
        ("fp64", r"\bfml[as]\s+v\d+\.2d"),
        ("mont64", r"\bumull2?\s+v\d+\.2d|\bumlal2?\s+v\d+\.2d|\bmul\s+v\d+\.4s"),
    ],
)
def test_neon(arithmetic: str, multiply: str) -> None:
    found = assembly(NEON.header() + module_text({"f": transform_kernel(arithmetic)}, 128), NEON)
    assert len(re.findall(multiply, found)) > 20
    assert not re.search(r"\bbl\s+__\w+ti3", found)


@pytest.mark.parametrize("arithmetic", list(BITS))
def test_nothing_divides_128_bits(arithmetic: str) -> None:
    """Divisions of 128 bits are calls into a library that the process may lack."""
    for name, func in kernels(arithmetic).items():
        text = module_text({name: func}, vector_bits())
        assert "i128" not in text
        found = assembly(host_header() + text)
        assert not re.search(r"__\w*(?:div|mod)ti\d", found), name
