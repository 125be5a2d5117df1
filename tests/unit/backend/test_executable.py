"""Linked programs: what they accept, what they leave alone, what they return."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import torch

from fhelium_ir.backend.executable import Executable
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.link import link
from tests.unit.end_to_end.programs import PROGRAMS, Writer, chain
from tests.unit.end_to_end.stages import Runner, compile_stages

TARGETS = pytest.mark.parametrize("target", ["interpret", "cpu"])


@cache
def compiled(name: str) -> Runner:
    return Runner.of(compile_stages(PROGRAMS[name](chain(28, 3, 2))))


@cache
def linked(name: str, target: str) -> tuple[Runner, Executable]:
    run = compiled(name)
    return run, link(run.stages.lowered, run, target)


def tensors(run: Runner, program: Executable, kind: str = "random") -> list[torch.Tensor]:
    residues = run.residues(kind)
    return [torch.as_tensor(residues[spec.name]).to(torch.int32) for spec in program.arguments]


def test_the_interface_is_that_of_the_function() -> None:
    _, program = linked("levels", "interpret")
    assert program.name == "program"
    assert [(a.name, a.shape, a.dtype) for a in program.arguments] == [
        ("x", (2, 3, 32), "int32"),
        ("low", (2, 2, 32), "int32"),
    ]
    shapes = [(2, 1, 32), (2, 2, 32), (2, 1, 32)]
    assert [(r.shape, r.dtype) for r in program.results] == [(s, "int32") for s in shapes]


@TARGETS
@pytest.mark.parametrize("name", ["levels", "triples", "interface"])
def test_results_have_the_declared_form(name: str, target: str) -> None:
    run, program = linked(name, target)
    outputs = program.run(*tensors(run, program))
    assert len(outputs) == len(program.results)
    for spec, output in zip(program.results, outputs, strict=True):
        assert tuple(output.shape) == spec.shape and output.dtype == torch.int32
        assert output.is_contiguous()


@TARGETS
@pytest.mark.parametrize("name", ["levels", "triples", "interface"])
def test_inputs_are_not_written(name: str, target: str) -> None:
    run, program = linked(name, target)
    inputs = tensors(run, program)
    copies = [tensor.clone() for tensor in inputs]
    program.run(*inputs)
    for tensor, copy in zip(inputs, copies, strict=True):
        assert torch.equal(tensor, copy)


@TARGETS
def test_resources_are_not_written(target: str) -> None:
    run, program = linked("levels", target)
    copies = {name: tensor.clone() for name, tensor in program.resources.items()}
    program.run(*tensors(run, program))
    for name, tensor in program.resources.items():
        assert torch.equal(tensor, copies[name]), name


@TARGETS
@pytest.mark.parametrize("name", ["levels", "triples"])
def test_runs_are_equal_and_do_not_share_results(name: str, target: str) -> None:
    """A result must not lie in an arena that the next run writes, nor in another result."""
    run, program = linked(name, target)
    inputs = tensors(run, program)
    first = program.run(*inputs)
    kept = [tensor.clone() for tensor in first]
    program.run(*tensors(run, program, "largest"))
    again = program.run(*inputs)
    for tensor, copy, repeated in zip(first, kept, again, strict=True):
        assert torch.equal(tensor, copy) and torch.equal(tensor, repeated)
    storages = [t.untyped_storage().data_ptr() for t in (*first, *again, *inputs)]
    assert len(set(storages)) == len(storages)
    for tensor in first:
        assert tensor.untyped_storage().nbytes() == tensor.numel() * tensor.element_size()


def test_results_do_not_depend_on_what_memory_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fresh buffers full of ones, so that a word that nothing wrote would show."""
    run, program = linked("levels", "interpret")
    inputs = tensors(run, program)
    expected = program.run(*inputs)
    empty = torch.empty

    def filled(*size: object, **options: object) -> torch.Tensor:
        return empty(*size, **options).fill_(-1)  # pyright: ignore

    monkeypatch.setattr(torch, "empty", filled)
    outputs, runtime = program.run_counted(*inputs)
    for tensor, want in zip(outputs, expected, strict=True):
        assert torch.equal(tensor, want)
    assert runtime.arena_bytes > 0


def test_launches_are_counted() -> None:
    run, program = linked("levels", "interpret")
    inputs = tensors(run, program)
    _, first = program.run_counted(*inputs)
    _, second = program.run_counted(*inputs)
    assert first.launches == second.launches > 5
    run, program = linked("interface", "interpret")
    _, runtime = program.run_counted(*tensors(run, program))
    assert 1 <= runtime.launches <= 2


def test_a_program_of_nothing_launches_nothing() -> None:
    writer = Writer(chain(28, 1, 1))
    x = writer.argument("x")
    run = Runner.of(compile_stages(writer.text(writer.rotate(x, 0))))
    program = link(run.stages.lowered, run, "interpret")
    (given,) = tensors(run, program)
    (output,), runtime = program.run_counted(given)
    assert runtime.launches == 0
    np.testing.assert_array_equal(output.numpy(), given.numpy())


@TARGETS
def test_wrong_inputs_are_refused(target: str) -> None:
    run, program = linked("levels", target)
    x, low = tensors(run, program)
    with pytest.raises(FheliumError, match="program 'program' takes 2 inputs, found 1"):
        program.run(x)
    with pytest.raises(FheliumError, match="takes 2 inputs, found 3"):
        program.run(x, low, low)
    with pytest.raises(FheliumError, match="input 'x' must be int32 of shape"):
        program.run(low, x)
    with pytest.raises(FheliumError, match=r"input 'low' must be int32 .*, found torch.int64"):
        program.run(x, low.to(torch.int64))
    with pytest.raises(FheliumError, match=r"input 'low' must be .* found .* \(1, 2, 32\)"):
        program.run(x, low[:1])
    strided = torch.empty((2, 3, 64), dtype=torch.int32)[:, :, ::2]
    with pytest.raises(FheliumError, match="input 'x' must be contiguous"):
        program.run(strided, low)
    with pytest.raises(FheliumError, match=r"input 'x' must be .* on cpu"):
        program.run(x.to("meta"), low)


def test_an_unknown_target_or_function() -> None:
    run, _ = linked("levels", "interpret")
    with pytest.raises(FheliumError, match="unknown target 'gpu'"):
        link(run.stages.lowered, run, "gpu")
    with pytest.raises(FheliumError, match="unknown function 'other'"):
        link(run.stages.lowered, run, "interpret", "other")
