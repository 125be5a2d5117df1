"""What only a CUDA device shows: graphs, compiled kernels on the right device, memory."""

from __future__ import annotations

import threading
from typing import cast

import pytest
import torch

from fhelium_ir.backend.execution import BackendWorkspace, OperationBackend, ProgramExecutable
from fhelium_ir.compiler.errors import FheliumError
from tests.unit.backend.programs import PARALLEL, case, with_streams

pytestmark = pytest.mark.cuda


def linked(graph: bool = False) -> tuple[ProgramExecutable, list[torch.Tensor]]:
    program = OperationBackend(workspace=BackendWorkspace("cuda", graph=graph)).link(
        case("cuda").compilation()
    )
    return program, [tensor.to(program.device) for tensor in case("cuda").inputs]


def test_a_graph_gives_the_same_bits() -> None:
    program, inputs = linked()
    (want,) = program.executable.run(*inputs)
    captured = program.capture()
    (found,) = captured.run(*inputs)
    assert torch.equal(found, want)
    for buffer, value in zip(captured.inputs, inputs, strict=True):
        buffer.copy_(value)
    captured.replay()
    torch.cuda.synchronize()
    assert torch.equal(captured.outputs[0], want)
    assert found.data_ptr() != captured.outputs[0].data_ptr()


@pytest.mark.parametrize("streams", [2, 3])
def test_a_graph_of_several_streams_gives_the_same_bits(streams: int) -> None:
    known = case("cuda", PARALLEL)
    backend = OperationBackend(workspace=BackendWorkspace("cuda"))
    program = backend.link(known.from_text(PARALLEL), pipeline=with_streams(streams))
    inputs = [tensor.to(program.device) for tensor in known.inputs]
    want = program.executable.run(*inputs)
    captured = program.capture()
    for _ in range(50):
        found = captured.run(*inputs)
        assert all(torch.equal(one, two) for one, two in zip(found, want, strict=True))


def test_a_workspace_can_run_everything_as_graphs() -> None:
    program, inputs = linked(graph=True)
    (want,) = linked()[0].executable.run(*inputs)
    found: list[torch.Tensor] = []

    def work() -> None:
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda.current_stream().wait_stream(torch.cuda.default_stream())
            found.append(cast("tuple[torch.Tensor]", program.run(*inputs))[0])
            torch.cuda.current_stream().synchronize()

    program.run(*inputs)
    torch.cuda.synchronize()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(torch.equal(tensor, want) for tensor in found)


def test_inputs_must_be_on_the_device() -> None:
    program, _ = linked()
    with pytest.raises(FheliumError, match=r"input 'x' must be contiguous and on cuda:\d"):
        program.run(*case("cuda").inputs)


def test_peak_memory_is_what_the_manifest_states() -> None:
    program, inputs = linked()
    program.run(*inputs)
    torch.cuda.synchronize()
    memory = cast("dict[str, int]", program.manifest["memory"])
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    results = program.run(*inputs)
    torch.cuda.synchronize()
    run = torch.cuda.max_memory_allocated() - before
    del results
    stated = memory["arena_bytes"] + memory["result_bytes"]
    # torch rounds each of the two buffers up to 512 bytes.
    assert stated <= run <= stated + 2 * 512


def test_many_runs_grow_no_memory() -> None:
    program, inputs = linked()
    for _ in range(10):
        program.run(*inputs)
    torch.cuda.synchronize()
    before = torch.cuda.memory_reserved()
    for _ in range(2000):
        program.run(*inputs)
    torch.cuda.synchronize()
    assert torch.cuda.memory_reserved() == before
