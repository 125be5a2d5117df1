"""Compiled programs in memory and in folders, and `fhelium_ir.compile`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import StringAttr

import fhelium_ir
from fhelium_ir import universe
from fhelium_ir.backend.compiling import (
    CompiledProgram,
    CompileOptions,
    StoredProgram,
    compile_text,
)
from fhelium_ir.backend.interface import interface_of
from fhelium_ir.client.client import Client
from fhelium_ir.client.keys import KeySet
from fhelium_ir.client.materials import KeySetMaterials
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.dialects import kernel
from fhelium_ir.lowering.convert_zq_to_arith import hear_kernels
from tests.lit_files import ROOT
from tests.unit.backend.programs import PARAMS, PRODUCT, case

CT = "!ckks.ciphertext"
MIXED = f"""
module attributes {{ckks.params = {PARAMS}}} {{
func.func @mixed(%x : {CT} {{ckks.slots = 2 : i64, ckks.range = 0.5 : f64}},
                 %w : !ckks.plaintext {{ckks.slots = 4 : i64}}) -> ({CT}, {CT}) {{
  %turned = ckks.rotate %x {{steps = 1 : i64}} : {CT}
  %product = ckks.mul_plain %turned, %w : {CT}, !ckks.plaintext
  return %product, %x : {CT}, {CT}
}} }}
"""


@pytest.fixture(scope="module")
def mixed() -> CompiledProgram:
    return compile_text("mixed.mlir", MIXED, CompileOptions("interpret"))


def test_the_interface_says_what_the_program_says(mixed: CompiledProgram) -> None:
    interface = mixed.interface
    x, w = interface.arguments
    assert (x.name, x.encrypted, x.length, x.range, x.size) == ("x", True, 2, 0.5, 2)
    assert (w.name, w.encrypted, w.length, w.range, w.size) == ("w", False, 4, 1.0, 1)
    assert x.level == w.level == 1
    product, same = interface.results
    assert (product.name, product.level, same.name) == ("result0", 0, "result1")
    # A product of two default scales, divided by the prime that is dropped.
    assert product.scale == mixed.parameters.default_scale**2 / mixed.parameters.q[1]
    assert interface.required_keys == (("galois", 5),)
    assert len(interface.source) == 64


def test_a_stored_program_is_the_same_program(mixed: CompiledProgram, tmp_path: Path) -> None:
    paths = mixed.save(tmp_path / "p")
    assert {path.name for path in paths} == {"interface.json", "host.mlir", "program.mlir"}
    stored = StoredProgram.load(tmp_path / "p")
    assert stored.interface == mixed.interface and stored.target == "interpret"
    assert stored.device == mixed.device == "cpu"
    client = Client(mixed.parameters, seed=1)
    materials = KeySetMaterials(client.keygen(mixed.interface))
    encrypted = client.encrypt(mixed.interface, {"x": [0.5, -0.25]})
    weights = {"w": [1, 0.5, -1, 0.25]}
    one = mixed.link(materials).evaluate(encrypted, weights)
    two = stored.link(materials).evaluate(encrypted, weights)
    assert all(torch.equal(a, b) for a, b in zip(one, two, strict=True))
    product, x = client.decrypt(stored.interface, two)
    assert np.abs(product[:4] - np.array([-0.25, 0.25, 0.25, 0.125])).max() < 1e-8
    assert np.abs(x[:2] - np.array([0.5, -0.25])).max() < 1e-8


def test_the_source_is_part_of_the_identity(mixed: CompiledProgram) -> None:
    other = MIXED.replace("mul_plain", "add_plain")
    first = mixed.interface
    for target in ("interpret", "cpu"):
        same = compile_text("elsewhere.mlir", MIXED, CompileOptions(target)).interface
        assert same == first
    assert compile_text("m.mlir", other, CompileOptions("cpu")).interface.source != first.source


def test_a_program_below_the_program_stage_has_no_interface() -> None:
    module = case().program.lowered.clone()
    program = case().program
    executable = program.link(KeySetMaterials(Client(program.parameters, seed=1).key_set(True, [])))
    function = executable.program.function
    assert interface_of(module, function) == program.interface
    function = function.clone()
    function.properties.pop("arg_attrs")
    with pytest.raises(FheliumError, match=r"argument 'arg0' of @product has no `ckks.type`"):
        interface_of(module, function)


def test_two_folders_are_not_mixed(mixed: CompiledProgram, tmp_path: Path) -> None:
    """A host program with the checksum of the interface, and another interface inside."""
    mixed.save(tmp_path / "a")
    compile_text("p.mlir", PRODUCT, CompileOptions("interpret")).save(tmp_path / "b")
    for name in ("host.mlir", "program.mlir"):
        (tmp_path / "a" / name).write_bytes((tmp_path / "b" / name).read_bytes())
    stored = StoredProgram.load(tmp_path / "a")
    with pytest.raises(FheliumError, match="is not what was compiled"):
        stored.link(KeySetMaterials(KeySet(mixed.parameters, None, None, {})))
    digests = StoredProgram.load(tmp_path / "b").digests
    forged = StoredProgram(stored.interface, "interpret", stored.folder, digests)
    with pytest.raises(FheliumError):
        forged.link(KeySetMaterials(KeySet(mixed.parameters, None, None, {})))


# fhelium_ir.compile


def test_keys_come_later() -> None:
    program = fhelium_ir.compile(PRODUCT, target="interpret")
    client = fhelium_ir.Client(program.parameters, seed=1)
    interface = program.interface
    x, y = np.linspace(-1, 1, 8), np.linspace(0, 1, 8)
    encrypted = client.encrypt(interface, {"x": x, "y": y})
    for action in (
        lambda: program.evaluate(encrypted),
        lambda: program.run(*encrypted.values()),
        lambda: program.run_counted(*encrypted.values()),
        lambda: program.export("x.py"),
    ):
        with pytest.raises(FheliumError, match="program 'product' has no keys yet"):
            action()
    server = program.with_keys(client.keygen(interface))
    (result,) = client.decrypt(interface, server.evaluate(encrypted))
    assert np.abs(result - x * y).max() < 1e-8
    # Kernels and tables are shared.
    assert server.program.kernels is program.program.kernels
    other = fhelium_ir.Client(program.parameters, seed=2)
    again = server.with_keys(other.keygen(interface))
    encrypted = other.encrypt(interface, {"x": y, "y": y})
    (result,) = other.decrypt(interface, again.evaluate(encrypted))
    assert np.abs(result - y * y).max() < 1e-8


def test_wrong_keys_are_refused() -> None:
    program = fhelium_ir.compile(PRODUCT, target="interpret")
    client = fhelium_ir.Client(program.parameters, seed=1)
    with pytest.raises(FheliumError, match="the keys lack the key for relinearization"):
        program.with_keys(client.key_set(False, []))
    other = fhelium_ir.compile(PRODUCT, target="interpret", ring_degree=32)
    keys = fhelium_ir.Client(other.parameters, seed=1).keygen(other.interface)
    with pytest.raises(FheliumError, match="made for other parameters than 'product'"):
        program.with_keys(keys)


def test_inputs_by_name() -> None:
    program = fhelium_ir.compile(PRODUCT, target="interpret")
    client = fhelium_ir.Client(program.parameters, seed=1)
    server = program.with_keys(client.keygen(program.interface))
    encrypted = client.encrypt(program.interface, {"x": [0.0] * 8, "y": [0.0] * 8})
    with pytest.raises(FheliumError, match="program 'product': input 'y' is missing"):
        server.evaluate({"x": encrypted["x"]})
    with pytest.raises(FheliumError, match="program 'product': unknown input 'z'"):
        server.evaluate({**encrypted, "z": encrypted["x"]})
    with pytest.raises(FheliumError, match="unknown input 'w', there are none to give"):
        server.evaluate(encrypted, {"w": [1]})


def test_sources_and_options(tmp_path: Path) -> None:
    path = tmp_path / "product.mlir"
    path.write_text(PRODUCT)
    for source in (path, str(path)):
        assert fhelium_ir.compile(source, target="interpret").name == "product"
    turns = MIXED.replace("steps = 1", "steps = 3")
    program = fhelium_ir.compile(turns, target="interpret", rotation_keys=[1, 2], entry="mixed")
    assert set(program.interface.required_keys) == {("galois", 5), ("galois", 25)}
    small = fhelium_ir.compile(PRODUCT, target="interpret", ring_degree=32)
    assert small.parameters.ring_degree == 32


@pytest.mark.parametrize(
    "source, options, message",
    [
        ("none.mlir", {}, "cannot read 'none.mlir': No such file"),
        (ROOT, {}, "cannot read '.*': Is a directory"),
        ("a\0b", {}, "cannot read 'a.x00b'"),
        ("module {\n  x\n}", {}, "<text>:2:3: "),
        (PRODUCT, {"target": "gpu"}, "unknown target 'gpu'"),
        (PRODUCT, {"entry": "f"}, "unknown function 'f'"),
        (PRODUCT, {"ring_degree": 20}, "ring degree 20 is not a power of two"),
        (PRODUCT.replace(", insecure", ""), {}, "no 128-bit security limit is known"),
    ],
)
def test_errors(source: str | Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(FheliumError, match=message):
        fhelium_ir.compile(source, **{"target": "interpret", **options})  # pyright: ignore[reportArgumentType]


def test_importing_the_package_imports_no_torch() -> None:
    code = (
        "import sys, fhelium_ir; fhelium_ir.compile; "
        "assert not {'torch', 'xdsl', 'numpy', 'triton'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    with pytest.raises(AttributeError, match="no attribute 'Cleint'"):
        getattr(fhelium_ir, "Cle" + "int")


def test_kernels_are_begun_for_programs_that_will_be_linked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[str] = []

    @contextmanager
    def early(target: str) -> Generator[None]:
        begun.append(target)
        try:
            with hear_kernels(lambda func: begun.append(func.sym_name.data)):
                yield
        finally:
            begun.append("closed")

    monkeypatch.setitem(
        universe.SERVICES, "early-kernels", universe.Provided("a test", lambda: early)
    )
    compile_text("mixed.mlir", MIXED, CompileOptions("cpu"))
    assert begun == []
    program = compile_text("mixed.mlir", MIXED, CompileOptions("cpu", linked=True))
    kernels = [op.sym_name.data for op in program.lowered.ops if isinstance(op, kernel.FuncOp)]
    assert (begun[0], sorted(begun[1:-1]), begun[-1]) == ("cpu", sorted(kernels), "closed")
    begun.clear()
    with pytest.raises(FheliumError):
        compile_text(
            "m.mlir", MIXED.replace("steps = 1", "steps = x"), CompileOptions("cpu", linked=True)
        )
    assert begun == ["cpu", "closed"]


def test_kernels_differ_in_more_than_their_symbols() -> None:
    text = (ROOT / "examples" / "dot_product.mlir").read_text(encoding="utf-8")
    lowered = compile_text("dot_product.mlir", text, CompileOptions("cpu")).lowered
    kernels = [op for op in lowered.ops if isinstance(op, kernel.FuncOp)]
    for op in kernels:
        op.sym_name = StringAttr("same")
    assert len({mlir_text(op) for op in kernels}) == len(kernels)
