"""A linked program as a CUDA graph."""

from __future__ import annotations

import threading

import torch

from fhelium_ir.backend.executable import Executable, IntegerSpec
from fhelium_ir.backend.host_runtime import DTYPES
from fhelium_ir.compiler.errors import FheliumError

WARM_UP_RUNS = 2
"""Runs before the capture: kernels are compiled and loaded in the first."""


class CapturedProgram:
    """One launch replays every kernel, on buffers that stay the same.

    `run` copies inputs in and results out. To save the copies, write into `inputs`, call `replay`, and read `outputs`
    before the next replay.

    Attributes:
        inputs: the buffers that the kernels read.
        outputs: the buffers that hold the results of the last replay.

    Raises:
        FheliumError: the program does not run on CUDA, or takes integers, on which its control flow may depend.
    """

    inputs: tuple[torch.Tensor, ...]
    outputs: tuple[torch.Tensor, ...]

    def __init__(self, executable: Executable):
        if executable.device.type != "cuda":
            raise FheliumError(
                f"program '{executable.name}' runs on {executable.device}: a graph needs cuda"
            )
        if any(isinstance(spec, IntegerSpec) for spec in executable.arguments):
            raise FheliumError(
                f"program '{executable.name}' takes integers: no graph fits them all"
            )
        self._executable = executable
        self._lock = threading.Lock()
        device = executable.device
        self.inputs = tuple(
            torch.zeros(spec.shape, dtype=DTYPES[spec.dtype], device=device)
            for spec in executable.arguments
        )
        self._copied = torch.cuda.Event()
        with torch.cuda.device(device):
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                for _ in range(WARM_UP_RUNS):
                    executable.run(*self.inputs)
            torch.cuda.current_stream().wait_stream(stream)
            self._graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self._graph):
                self.outputs = executable.run(*self.inputs)

    def replay(self) -> None:
        """Launches the graph on the current stream."""
        self._graph.replay()

    def run(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Copies the inputs in, replays, and returns copies of the results; one thread at a time.

        Raises:
            FheliumError: an input is missing or does not fit.
        """
        self._executable.check(inputs)
        with self._lock:
            # Another thread may use another stream: the last run's copies come first.
            stream = torch.cuda.current_stream(self._executable.device)
            stream.wait_event(self._copied)
            for buffer, value in zip(self.inputs, inputs, strict=True):
                buffer.copy_(value)
            self.replay()
            results = tuple(output.clone() for output in self.outputs)
            self._copied.record(stream)
        return results
