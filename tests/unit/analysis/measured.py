"""Programs without management, random ones among them, and the errors that they really have under the reference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Attribute

from fhelium_ir.analysis.precision import output_precision
from fhelium_ir.analysis.ranges import argument_attribute, argument_range
from fhelium_ir.backend.program import entry_function
from fhelium_ir.client.client import Client
from fhelium_ir.client.encoding import replicate
from fhelium_ir.client.keys import interface_tensor
from fhelium_ir.client.parameters import generate
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects import ckks
from fhelium_ir.parameters import Parameters
from fhelium_ir.reference.blocks import KeyName
from fhelium_ir.reference.cleartext import run_cleartext
from fhelium_ir.reference.program import run_program
from fhelium_ir.universe import DEFAULT_PIPELINE, make_context

Words = NDArray[np.int64]


@dataclass(frozen=True)
class Measured:
    """Bits of an output: those of the largest error of one run, and those estimated."""

    actual: float
    estimated: float

    @property
    def pessimism(self) -> float:
        return self.actual - self.estimated


def parameters(
    degree: int = 128, levels: int = 3, scale: int = 40, digits: int | None = None
) -> Parameters:
    """A chain of that many levels, with 10 bits of headroom at its end."""
    count = digits or levels + 1
    size = -(-(levels + 1) // count)
    special = (scale + 10 + 1,) * size
    return generate(degree, (scale + 10, *(scale,) * levels), special, count, scale, insecure=True)


def module_of(text: str, chain: Parameters) -> ModuleOp:
    module = parse_module(make_context(), f"module {{\n{text}\n}}")
    module.attributes[ckks.PARAMS] = ckks.ParamsAttr(chain)
    return module


def managed(module: ModuleOp) -> func.FuncOp:
    """Runs the passes of the program stage; returns the function."""
    Pipeline.named(DEFAULT_PIPELINE).until("merge-divisions").run(make_context(), module)
    return entry_function(module, None)


def measure(module: ModuleOp, seed: int) -> list[Measured]:
    """Runs a managed function of a module once, under fresh keys of a test seed, on random inputs."""
    function = entry_function(module, None)
    chain, name = ckks.parameters_of(module), function.sym_name.data
    client, random = Client(chain, seed), np.random.default_rng(seed)
    clear: dict[str, NDArray[np.generic]] = {}
    encrypted: dict[str, NDArray[np.generic]] = {}
    for index, argument in enumerate(function.args):
        bound, label = argument_range(function, index), argument.name_hint or f"arg{index}"
        count = argument_attribute(function, index, "ckks.slots")
        length = count.value.data if isinstance(count, IntegerAttr) else chain.slots
        clear[label] = random.uniform(-bound, bound, length).astype(np.complex128)
        filled = replicate(clear[label], chain.slots)
        scale, level = _facts(argument.type, chain)
        if isinstance(argument.type, ckks.PlaintextType):
            tensor = client.encode_plaintext(filled, scale, level, label)
        else:
            tensor = client.encrypt_vector(filled, scale, level, label)
        encrypted[label] = tensor.numpy()

    def encode(values: NDArray[np.float64], scale: Fraction, level: int) -> Words:
        encoded = client.encode_plaintext(values, scale, level, "a constant")
        return encoded.numpy().astype(np.int64)

    outputs = run_program(module, name, encrypted, _keys(function, client), encode)
    expected = run_cleartext(module, name, clear)
    estimates = output_precision(function, chain)
    found: list[Measured] = []
    for output, want, estimate, type_ in zip(
        outputs, expected, estimates, function.function_type.outputs, strict=True
    ):
        decrypted = client.decrypt_vector(interface_tensor(output, chain), _facts(type_, chain)[0])
        error = float(np.abs(decrypted - want).max())
        if error == 0:  # such as (x - x) * y: nothing to compare
            continue
        found.append(Measured(-math.log2(error), estimate.bits))
    return found


def _facts(type_: Attribute, chain: Parameters):
    assert isinstance(type_, ckks.CiphertextType | ckks.PlaintextType)
    assert type_.data.scale is not None and type_.data.level is not None
    return type_.data.scale.value(chain.q), type_.data.level


def _keys(function: func.FuncOp, client: Client) -> dict[KeyName, Words]:
    names: set[KeyName] = set()
    for op in function.walk():
        match op:
            case ckks.RelinearizeOp():
                names.add(("relinearize", None))
            case ckks.RotateOp():
                if op.step % client.parameters.slots:
                    names.add(("galois", client.parameters.galois(op.step)))
            case ckks.ConjugateOp():
                names.add(("galois", client.parameters.conjugation))
            case _:
                pass
    return {
        (kind, galois): client.key("relinearize" if kind == "relinearize" else "galois", galois)
        .data.numpy()
        .astype(np.int64)
        for kind, galois in names
    }


def random_program(seed: int, ops: int = 12, levels: int = 3) -> str:
    """A function of two ciphertexts whose values stay within 4 and need at most so many levels."""
    random = Random(seed)
    lines: list[str] = []
    # value, levels that it needs, bound
    values = [("%x", 0, 1.0), ("%y", 0, 1.0)]
    used: set[str] = set()
    while len(values) < ops + 2:
        name = f"%v{len(values)}"
        kind = random.choice(
            ["add", "sub", "mul", "mul", "mul_plain", "add_plain", "rotate", "conjugate", "negate"]
        )
        (a, depth, bound), (b, other, factor) = random.choice(values[-6:]), random.choice(values)
        if kind == "sub" and a == b:
            continue
        type_ = "!ckks.ciphertext"
        match kind:
            case "add" | "sub":
                bound, depth = bound + factor, max(depth, other)
                text = f"{name} = ckks.{kind} {a}, {b} : {type_}"
                used |= {a, b}
            case "mul":
                bound, depth = bound * factor, max(depth, other) + 1
                text = f"{name} = ckks.mul {a}, {b} : {type_}"
                used |= {a, b}
            case "mul_plain" | "add_plain":
                number = round(random.uniform(-1, 1), 3) or 0.5
                vector = [number] if random.random() < 0.5 else [number, 0.25, -number, 1.0]
                constant = (
                    f"{name}c = arith.constant dense<{vector}> : tensor<{len(vector)}xf64>\n"
                    f"{name}p = ckks.encode {name}c : tensor<{len(vector)}xf64> -> !ckks.plaintext\n"
                )
                largest = max(map(abs, vector))
                if kind == "mul_plain":
                    bound, depth = bound * largest, depth + 1
                else:
                    bound += largest
                text = f"{constant}{name} = ckks.{kind} {a}, {name}p : {type_}, !ckks.plaintext"
                used |= {a}
            case "rotate":
                steps = random.choice([1, 2, -3, 7])
                text = f"{name} = ckks.rotate {a} {{steps = {steps}}} : {type_}"
                used |= {a}
            case _:
                text = f"{name} = ckks.{kind} {a} : {type_}"
                used |= {a}
        if bound > 4 or depth > levels:
            continue
        lines.append(text)
        values.append((name, depth, bound))
    outputs = [name for name, _, _ in values[2:] if name not in used][:3]
    types = ", ".join(["!ckks.ciphertext"] * len(outputs))
    body = "\n".join(lines)
    return (
        f"func.func @f(%x : !ckks.ciphertext, %y : !ckks.ciphertext) -> ({types}) {{\n"
        f"{body}\nreturn {', '.join(outputs)} : {types}\n}}"
    )
