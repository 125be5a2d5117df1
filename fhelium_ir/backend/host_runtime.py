"""What a generated host program asks for: buffers, views, resources, kernels, operations, streams.

Exported programs hold a copy of this file, so it needs torch and nothing else.
"""

import contextlib
from collections.abc import Callable, Mapping

import torch

DTYPES = {
    "int8": torch.int8,
    "int32": torch.int32,
    "int64": torch.int64,
    "float64": torch.float64,
}


class Streams:
    """The streams of one run, as contexts by number: `with streams[1]: launch(...)`.

    While a CUDA graph is captured, stream 0 is the capturing one, and the others begin where it is. Elsewhere all are
    the current stream: the order of the program is one that they allow.
    """

    def __init__(self, device: torch.device, count: int):
        self._streams: list[torch.cuda.Stream] = []
        self._contexts: list[contextlib.AbstractContextManager[object]] = [
            contextlib.nullcontext()
        ] * count
        if device.type == "cuda" and torch.cuda.is_current_stream_capturing():
            current = torch.cuda.current_stream(device)
            self._streams = [current]
            start = torch.cuda.Event()
            start.record(current)
            while len(self._streams) < count:
                # Torch hands out a few streams in turn.
                stream = torch.cuda.Stream(device)
                if stream not in self._streams:
                    stream.wait_event(start)
                    self._streams.append(stream)
            self._contexts = [torch.cuda.stream(stream) for stream in self._streams]

    def __getitem__(self, number: int) -> contextlib.AbstractContextManager[object]:
        return self._contexts[number]

    def record(self, number: int) -> torch.cuda.Event | None:
        """An event behind everything that has been launched on a stream."""
        if not self._streams:
            return None
        event = torch.cuda.Event()
        event.record(self._streams[number])
        return event

    def wait(self, number: int, event: torch.cuda.Event | None) -> None:
        """Lets what a stream launches from here on start after the event."""
        if event is not None:
            self._streams[number].wait_event(event)

    def join(self) -> None:
        """Lets stream 0 wait for all others."""
        for stream in self._streams[1:]:
            self._streams[0].wait_stream(stream)


Launches = tuple[tuple[str, tuple[int, ...]], ...]
"""Names and grids of kernels."""

Units = tuple[tuple[int, ...], ...]
"""For each launch the unit of each of its program rows."""


class Host:
    """Resolves, once, what the program names; then allocates on one device.

    Args:
        device: where buffers are allocated.
        resources: tensors by symbol.
        kernel: `kernel(name, grid)` gives a function of a kernel's arguments that launches it.
        operation: `operation(name, in_place)` gives a function of tensors that returns tensors.
        chain: as the method `chain`, where launches can run unit by unit.
    """

    view = staticmethod(torch.as_strided)

    def __init__(
        self,
        device: torch.device,
        resources: Mapping[str, torch.Tensor],
        kernel: Callable[[str, tuple[int, ...]], Callable[..., None]],
        operation: Callable[[str, bool], Callable[..., tuple[torch.Tensor, ...]]],
        chain: Callable[[Launches, Units], Callable[..., None] | None] | None = None,
    ):
        self.device = device
        self.kernel = kernel
        self.operation = operation
        self.resources = resources
        self._chain = chain

    def resource(self, name: str) -> torch.Tensor:
        """The tensor of a declared resource."""
        return self.resources[name]

    def chain(self, launches: Launches, units: Units) -> Callable[..., None]:
        """A function of one tuple of arguments for each kernel that launches all of them, one after the other unless
        the device does it unit by unit."""
        chained = self._chain(launches, units) if self._chain is not None else None
        if chained is not None:
            return chained
        functions = [self.kernel(name, grid) for name, grid in launches]

        def run(*arguments: tuple[torch.Tensor | int, ...]) -> None:
            for function, values in zip(functions, arguments, strict=True):
                function(*values)

        return run

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        """An uninitialised buffer."""
        return torch.empty(shape, dtype=DTYPES[dtype], device=self.device)

    def fork(self, count: int) -> Streams:
        """The streams of a run; the current one is the first."""
        return Streams(self.device, count)

    def words(self, arena: torch.Tensor, dtype: str) -> torch.Tensor:
        """An arena as words; `view(words, shape, strides, offset)` then gives its parts."""
        return arena.view(DTYPES[dtype])
