"""A program needs exactly its keys: a wrong bit, a wrong secret or a missing requirement shows."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch
from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.client.client import Client
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.dialects import resource
from fhelium_ir.lowering.link import link
from fhelium_ir.reference.blocks import KeyName
from fhelium_ir.reference.cleartext import run_cleartext
from tests.unit.end_to_end.programs import chain, products
from tests.unit.end_to_end.stages import (
    Residues,
    Runner,
    Vector,
    compile_stages,
    example_text,
)

RELINEARIZE: KeyName = ("relinearize", None)


@cache
def example(name: str) -> Runner:
    return Runner.of(compile_stages(example_text(name), "cpu", 32))


def arguments(run: Runner) -> tuple[dict[str, Vector], dict[str, Residues]]:
    vectors = {name: vector * 0.5 for name, vector in run.vectors().items()}
    return vectors, run.encrypted(vectors)


def largest_error(run: Runner, vectors: dict[str, Vector], outputs: list[Residues]) -> float:
    (expected,) = run_cleartext(run.stages.program, run.stages.name, vectors)
    (result,) = run.decrypted(outputs)
    return float(np.abs(result - expected).max())


def flipped(run: Runner, key: KeyName, word: tuple[int, int, int, int]) -> Runner:
    """With the lowest bit of one word [digit, component, prime, point] of one key flipped."""

    def change(name: KeyName, data: torch.Tensor) -> torch.Tensor:
        if name == key:
            data[word] ^= 1
        return data

    return run.changing(change)


# Words that the examples read. The dot product multiplies at level 1 and rotates at level 0, where
# one digit and the primes q0 and p0 (the last) are left; the matrix product rotates at level 1.
READ = [
    ("dot_product", RELINEARIZE, (0, 0, 0, 0)),
    ("dot_product", RELINEARIZE, (1, 1, 1, 31)),
    ("dot_product", RELINEARIZE, (1, 0, 2, 7)),
    ("dot_product", ("galois", 5), (0, 1, 0, 16)),
    ("dot_product", ("galois", 25), (0, 0, 2, 3)),
    ("polynomial", RELINEARIZE, (0, 0, 0, 1)),
    ("polynomial", RELINEARIZE, (3, 1, 3, 30)),
    ("polynomial", RELINEARIZE, (2, 0, 4, 12)),
    ("matvec", ("galois", 5), (1, 0, 1, 0)),
    ("matvec", ("galois", 61), (0, 1, 2, 31)),
]
NOT_READ = [
    ("dot_product", ("galois", 5), (1, 0, 0, 0)),
    ("dot_product", ("galois", 25), (0, 1, 1, 9)),
]


@pytest.mark.parametrize("name, key, word", READ)
def test_a_flipped_bit_of_a_key_ruins_the_result(
    name: str, key: KeyName, word: tuple[int, int, int, int]
) -> None:
    run = example(name)
    vectors, inputs = arguments(run)
    assert key in run.stages.key_names()
    assert largest_error(run, vectors, run.executable("interpret", inputs)) < 1e-4
    assert largest_error(run, vectors, flipped(run, key, word).executable("interpret", inputs)) > 1


@pytest.mark.parametrize("name, key, word", READ[:1] + READ[-1:])
def test_a_flipped_bit_changes_the_reference_in_the_same_way(
    name: str, key: KeyName, word: tuple[int, int, int, int]
) -> None:
    run = flipped(example(name), key, word)
    inputs = arguments(run)[1]
    (found,), (expected,) = run.executable("interpret", inputs), run.program(inputs)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name, key, word", NOT_READ)
def test_limbs_and_digits_above_the_level_are_not_read(
    name: str, key: KeyName, word: tuple[int, int, int, int]
) -> None:
    run = example(name)
    inputs = arguments(run)[1]
    (plain,), (changed,) = (
        r.executable("interpret", inputs) for r in (run, flipped(run, key, word))
    )
    np.testing.assert_array_equal(plain, changed)


@pytest.mark.parametrize("name", ["dot_product", "polynomial", "matvec"])
def test_another_secret_key_decrypts_nothing(name: str) -> None:
    run = example(name)
    vectors, inputs = arguments(run)
    outputs = run.executable("interpret", inputs)
    other = Runner(run.stages, Client(run.stages.parameters, seed=2))
    assert largest_error(run, vectors, outputs) < 1e-4
    assert largest_error(other, vectors, outputs) > 1


def declarations(module: ModuleOp) -> list[resource.DeclareOp]:
    return [op for op in module.ops if isinstance(op, resource.DeclareOp)]


def test_every_declared_requirement_is_needed() -> None:
    """Linking without it names it, whatever its kind."""
    run = Runner.of(compile_stages(products(chain(28, 2, 2))))
    module = run.stages.lowered.clone()
    kinds: set[str] = set()
    for declared in declarations(module):
        if declared.kind.data in kinds:
            continue
        declared.detach()
        with pytest.raises(FheliumError) as error:
            link(module, run, "interpret")
        assert f"@{declared.sym_name.data}, which is not declared" in error.value.message
        assert error.value.location is not None
        kinds.add(declared.kind.data)
        assert module.body.block.first_op is not None
        module.body.block.insert_op_before(declared, module.body.block.first_op)
    tables = {"moduli", "constants", "conversion", "permutation"}
    tables |= {"shoup_twiddles", "shoup_inverse_degree"}
    assert kinds == tables | {"relinearization_key", "galois_key", "rows"}


def test_a_plaintext_is_a_requirement() -> None:
    run = example("matvec")
    module = run.stages.lowered.clone()
    plaintexts = [op for op in declarations(module) if op.kind.data == "plaintext"]
    assert len(plaintexts) == 8
    name = plaintexts[3].sym_name.data
    plaintexts[3].detach()
    with pytest.raises(FheliumError, match=f"@{name}, which is not declared"):
        link(module, run, "interpret")


def test_a_requirement_of_another_shape_is_refused() -> None:
    run = example("matvec")
    module = run.stages.lowered.clone()
    (moduli,) = (op for op in declarations(module) if op.kind.data == "moduli")
    moduli.properties["buffer"] = resource.memref([1, 4], 64)
    with pytest.raises(FheliumError, match=f"reads resource @{moduli.sym_name.data} as memref"):
        link(module, run, "interpret")


def test_a_key_for_other_parameters_is_refused() -> None:
    run = example("matvec")

    def shortened(name: KeyName, data: torch.Tensor) -> torch.Tensor:
        return data[:, :, 1:]

    with pytest.raises(FheliumError, match="is declared as 2x2x3x32, its contents are 2x2x2x32"):
        link(run.stages.lowered, run.changing(shortened), "interpret")
