"""Hand-written modules on compiled kernels: words in, words out, as exact integers.

Two ways to the kernels. `POLYNOMIAL` is the default pipeline from the polynomial stage on: arguments and
results are canonical. `REGION` starts from regions whose types state the representative, so that arguments
and results can be any words that a type allows.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.backend.executable import Executable, KernelLibrary
from fhelium_ir.compiler.pipeline import Pipeline
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.lowering.link import link
from fhelium_ir.parameters import Parameters
from fhelium_ir.universe import DEFAULT_PIPELINE, PIPELINES, make_context
from tests.unit.reference.textbook import attribute, parsed, primes_below

Words = NDArray[np.object_]
"""Python integers, [components, rows, N]."""

BEYOND_60_BITS = 1152921504607338497
"""A prime above 2^60 that is 1 modulo 2^15."""

TARGETS = ("interpret", "cpu", "triton-interpret")

_DEFAULT = PIPELINES[DEFAULT_PIPELINE]
_ZQ = _DEFAULT.index("convert-zq-to-arith")
POLYNOMIAL = _DEFAULT[_DEFAULT.index("select-arithmetic") : _ZQ]
REGION = _DEFAULT[_DEFAULT.index("infer-resources") : _ZQ]


class NoKeys:
    """A key source for modules without keys."""

    def evaluation_key(self, kind: str, galois: int | None) -> torch.Tensor:
        raise AssertionError("no key is read")

    def plaintext(
        self, values: Sequence[complex], scale: Fraction, level: int, extended: bool = False
    ) -> torch.Tensor:
        raise AssertionError("nothing is encoded")


def largest_prime(arithmetic: str, degree: int) -> int:
    """The largest prime that an arithmetic admits, a quarter of its word, and 1 modulo 2N."""
    return next(primes_below(1 << (ARITHMETICS[arithmetic].word_bits - 2), degree))


def facts_of(degree: int, q: Sequence[int], p: Sequence[int], digits: int = 0) -> Parameters:
    """Parameters of some primes, by default with as many digits as limbs."""
    facts = Parameters(degree, tuple(q), tuple(p), digits or len(q), 20, insecure=True)
    facts.validate()
    return facts


def poly(
    facts: Parameters,
    basis: str,
    domain: str,
    components: int = 1,
    digits: str = "",
    words: str = "",
) -> str:
    """A bundle's type; `words` is its representative, such as `mont64(e = 0, below = 4)`."""
    parts = [str(facts.ring_degree), basis]
    parts += [f"components = {components}"] if components > 1 else []
    parts += [f"digits = {digits}"] if digits else []
    parts += [domain]
    parts += [words] if words else []
    return f"!rns.poly<{', '.join(parts)}>"


def function(
    facts: Parameters, inputs: Sequence[str], outputs: Sequence[str], body: str, extra: str = ""
) -> str:
    """A module with one function of %x0, %x1, ... that returns %r0, %r1, ..."""
    arguments = ", ".join(f"%x{index} : {type_}" for index, type_ in enumerate(inputs))
    results = ", ".join(f"%r{index}" for index in range(len(outputs)))
    types = ", ".join(outputs)
    return (
        f"module attributes {{{attribute(facts)}{extra}}} {{\n"
        f"func.func @f({arguments}) -> ({types}) {{\n{body}\n"
        f"return {results} : {types}\n}} }}"
    )


def region(
    facts: Parameters,
    arithmetic: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    body: str,
    tile: str = "",
) -> str:
    """A module of one region, which computes %v0, %v1, ... from %a0, %a1, ..."""
    arguments = ", ".join(f"%a{i} = %x{i} : {type_}" for i, type_ in enumerate(inputs))
    names = ", ".join(f"%r{index}" for index in range(len(outputs)))
    values = ", ".join(f"%v{index}" for index in range(len(outputs)))
    types = ", ".join(outputs)
    extra = f", rns.arithmetic = #rns.arithmetic<{arithmetic}>"
    if tile:
        extra += f", kernel.tile = array<i64: {tile}>"
    text = (
        f"{names} = fusion.region({arguments}) -> ({types}) {{\n{body}\n"
        f"fusion.yield {values} : {types}\n}}"
    )
    return function(facts, inputs, outputs, text, extra)


def lowered(text: str, passes: Sequence[str] = POLYNOMIAL) -> ModuleOp:
    """The module with its kernels, still in `zq`."""
    module = parsed(text)
    Pipeline("exact", tuple(passes)).run(make_context(), module, verify_each=False)
    return module


def linked(module: ModuleOp, target: str = "interpret") -> Executable:
    """An executable of machine words; `checked` keeps `zq` and refuses a word outside of its interval."""
    if target == "checked":
        return link(module, NoKeys(), "interpret")
    machine = module.clone()
    Pipeline("exact", ("convert-zq-to-arith",)).run(make_context(), machine)
    return link(machine, NoKeys(), target)


def run(executable: Executable, *inputs: Words) -> list[Words]:
    """Runs on words of any size that fit, and returns words."""
    bits = [int(spec.dtype.removeprefix("int")) for spec in executable.arguments]
    tensors = [tensor_of(words, width) for words, width in zip(inputs, bits, strict=True)]
    return [words_of(tensor) for tensor in executable.run(*tensors)]


def tensor_of(words: Words, bits: int) -> torch.Tensor:
    """Words as the tensor that holds their bits."""
    unsigned = words.astype(np.uint32 if bits == 32 else np.uint64)
    assert (unsigned.astype(object) == words).all()
    return torch.as_tensor(unsigned.view(np.int32 if bits == 32 else np.int64))


def words_of(tensor: torch.Tensor) -> Words:
    """The unsigned words of a tensor."""
    signed = tensor.numpy()
    return signed.view(np.uint32 if signed.itemsize == 4 else np.uint64).astype(object)


@dataclass
class Recorded:
    """A kernel library that keeps what each launch left in the buffers that are no tables or inputs."""

    library: KernelLibrary
    known: set[int]
    snapshots: list[Words] = field(default_factory=list[Words])

    def launch(
        self, name: str, grid: tuple[int, ...], arguments: Sequence[torch.Tensor | int]
    ) -> None:
        self.library.launch(name, grid, arguments)
        for argument in arguments:
            if isinstance(argument, torch.Tensor) and argument.data_ptr() not in self.known:
                self.snapshots.append(words_of(argument.clone()))


def recorded(executable: Executable, inputs: Sequence[torch.Tensor]) -> tuple[Executable, Recorded]:
    """The executable on a library that records; only for these inputs."""
    known = {tensor.data_ptr() for tensor in (*executable.resources.values(), *inputs)}
    library = Recorded(executable.kernels, known)
    copy = Executable(
        executable.name,
        executable.arguments,
        executable.results,
        library,
        executable.resources,
        executable.host_source,
        executable.device,
    )
    return copy, library


def end_words(q: int, below: int) -> list[int]:
    """The ends of the interval [0, below * q), and both sides of the multiples of q inside."""
    words = {0, 1, q // 2, q // 2 + 1}
    for multiple in range(1, below + 1):
        words |= {multiple * q - 1, multiple * q, multiple * q + 1}
    return sorted(word for word in words if word < below * q)


def extreme_rows(q: int, below: int, degree: int, seed: int = 0) -> list[list[int]]:
    """Rows of words that drive a transform's legs to their ends: constants, alternations at every distance,
    ramps, single peaks and mixtures of the interval's ends."""
    words = end_words(q, below)
    top, middle, rng = below * q - 1, below * q // 2, random.Random(seed)
    rows = [[word] * degree for word in words]
    for bit in range(degree.bit_length() - 1):
        for high, low in ((top, 0), (0, top), (top, middle)):
            rows.append([high if index >> bit & 1 else low for index in range(degree)])
    rows += [[top if index == place else 0 for index in range(degree)] for place in (0, degree - 1)]
    rows.append([top - index for index in range(degree)] if degree <= q else [top] * degree)
    rows += [[rng.choice(words) for _ in range(degree)] for _ in range(6)]
    rows += [[rng.randrange(below * q) for _ in range(degree)] for _ in range(4)]
    return rows


def batches(primes: Sequence[int], below: int, degree: int, components: int) -> list[Words]:
    """The extreme rows of each prime, `components` of them at a time: [components, primes, N]."""
    rows = [extreme_rows(q, below, degree, seed) for seed, q in enumerate(primes)]
    longest = max(len(some) for some in rows)
    return [
        np.array(
            [[some[(first + offset) % len(some)] for some in rows] for offset in range(components)],
            dtype=object,
        )
        for first in range(0, longest, components)
    ]
