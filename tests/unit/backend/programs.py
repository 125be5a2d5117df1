"""Small programs, compiled for the tests of the back end."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.backend.compiling import CompiledProgram
from fhelium_ir.backend.execution import Compilation
from fhelium_ir.backend.registry import OperationImplementationRegistry, use_registry
from fhelium_ir.client.client import Client
from fhelium_ir.client.materials import ClientKeys
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.tools.fhelium_run import Options
from fhelium_ir.tools.run_program import compile_program, encrypt_and_encode, read_inputs
from fhelium_ir.universe import DEFAULT_PIPELINE, PIPELINES, make_context

PARAMS = (
    "#ckks.params<ring_degree = 16, q = [1152921504606748673, 1099511480321], "
    "p = [1152921504606830593], digits = 2, scale = 2**40, secret = ternary, insecure>"
)

PRODUCT = f"""
module attributes {{ckks.params = {PARAMS}}} {{
func.func @product(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> !ckks.ciphertext {{
  %xy = ckks.mul %x, %y : !ckks.ciphertext
  %r = ckks.relinearize %xy : !ckks.ciphertext
  %s = ckks.rescale %r : !ckks.ciphertext
  return %s : !ckks.ciphertext
}} }}
"""
"""One product, with a key switch and a rescale."""

PARALLEL = f"""
module attributes {{ckks.params = {PARAMS}}} {{
func.func @main(%x : !ckks.ciphertext, %y : !ckks.ciphertext)
    -> (!ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext) {{
  %a = ckks.rotate %x {{steps = 1}} : !ckks.ciphertext
  %b = ckks.rotate %x {{steps = 2}} : !ckks.ciphertext
  %c = ckks.rotate %x {{steps = 3}} : !ckks.ciphertext
  %xy = ckks.mul %x, %y : !ckks.ciphertext
  %q = ckks.add %a, %xy : !ckks.ciphertext
  %d = ckks.rotate %q {{steps = 1}} : !ckks.ciphertext
  %e = ckks.add %b, %c : !ckks.ciphertext
  return %d, %e, %q : !ckks.ciphertext, !ckks.ciphertext, !ckks.ciphertext
}}
}}
"""
"""Rotations and products that do not depend on each other, and some that do."""

TARGET = "interpret"


@dataclass(frozen=True)
class Case:
    """A compiled program with a client's keys and encrypted inputs."""

    program: CompiledProgram
    client: Client
    inputs: tuple[torch.Tensor, ...]

    def compilation(self) -> Compilation:
        """The program at the host stage with its regions."""
        return Compilation(
            self.program.lowered,
            self.program.parameters,
            ClientKeys(self.client),
            Pipeline.named("fhelium-default"),
            self.program.name,
            self.program.regions,
        )

    def from_text(self, text: str = PRODUCT) -> Compilation:
        """The program at the program stage."""
        return Compilation.of(parsed(text), ClientKeys(self.client))


def parsed(text: str) -> ModuleOp:
    return parse_module(make_context(), text, "test.mlir")


@cache
def case(target: str = TARGET, text: str = PRODUCT, ring_degree: int | None = None) -> Case:
    """The program, compiled once for the tests."""
    options = Options(target=target, ring_degree=ring_degree)
    program = compile_program("test.mlir", text, options)
    client = Client(program.parameters, seed=5)
    values = read_inputs(program, None, 5)
    inputs = encrypt_and_encode(client, program.interface, values)
    return Case(program, client, tuple(inputs.values()))


def region_stage(text: str, registry: OperationImplementationRegistry | None = None) -> ModuleOp:
    """A text of the polynomial stage with its regions formed and their resources declared."""
    module = parsed(text)
    passes = ("form-fusion-regions", "tune-ntt-schedules{device=interpreter}", "infer-resources")
    pipeline = Pipeline("test", passes)
    if registry is None:
        pipeline.run(make_context(), module)
    else:
        with use_registry(registry):
            pipeline.run(make_context(), module)
    return module


def with_streams(streams: int) -> Pipeline:
    """The default one, with a number of streams."""
    option = f"assign-streams{{streams={streams}}}"
    passes = PIPELINES[DEFAULT_PIPELINE]
    return Pipeline("p", tuple(option if p == "assign-streams" else p for p in passes))
