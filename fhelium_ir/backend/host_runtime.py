"""What a generated host program asks for: buffers, views, resources, kernels, operations.

Exported programs hold a copy of this file, so it needs torch and nothing else.
"""

from collections.abc import Callable, Mapping

import torch

DTYPES = {
    "int8": torch.int8,
    "int32": torch.int32,
    "int64": torch.int64,
    "float64": torch.float64,
}


class Host:
    """Resolves, once, what the program names; then allocates on one device.

    Args:
        device: where buffers are allocated.
        resources: tensors by symbol.
        kernel: `kernel(name, grid)` gives a function of a kernel's arguments that launches it.
        operation: `operation(name, in_place)` gives a function of tensors that returns tensors.
    """

    view = staticmethod(torch.as_strided)

    def __init__(
        self,
        device: torch.device,
        resources: Mapping[str, torch.Tensor],
        kernel: Callable[[str, tuple[int, ...]], Callable[..., None]],
        operation: Callable[[str, bool], Callable[..., tuple[torch.Tensor, ...]]],
    ):
        self.device = device
        self.kernel = kernel
        self.operation = operation
        self.resources = resources

    def resource(self, name: str) -> torch.Tensor:
        """The tensor of a declared resource."""
        return self.resources[name]

    def allocate(self, shape: tuple[int, ...], dtype: str) -> torch.Tensor:
        """An uninitialised buffer."""
        return torch.empty(shape, dtype=DTYPES[dtype], device=self.device)

    def words(self, arena: torch.Tensor, dtype: str) -> torch.Tensor:
        """An arena as words; `view(words, shape, strides, offset)` then gives its parts."""
        return arena.view(DTYPES[dtype])
