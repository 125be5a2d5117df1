"""The memory of one kernel launch, with a record of who loaded and who stored each word.

Programs of a launch run in no order, so every access that depends on an order is refused, whether
or not it did harm in the order taken here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

_NOBODY = -1
_SEVERAL = -2


class KernelFault(Exception):
    """A kernel did what the kernel stage forbids, or the launch does not fit it."""


@dataclass
class _Segment:
    """One stretch of memory without overlap with others, in units of 4 or 8 bytes.

    `stored` holds for each unit the lane that stored it, `loaded` the program that loaded it.
    """

    start: int
    unit: int
    stored: Ints
    loaded: Ints
    any_stored: bool = False


@dataclass(frozen=True)
class Buffer:
    """A flat array of a launch: its words (integers unsigned, sharing memory with the argument) and
    where they lie in the recorded memory."""

    words: Array
    segment: _Segment

    def _units(self, offsets: Ints) -> list[Ints]:
        """The units that the words at `offsets` cover."""
        first = (int(self.words.ctypes.data) - self.segment.start) // self.segment.unit
        width = self.words.itemsize // self.segment.unit
        return [offsets * width + (first + k) for k in range(width)]

    def check_range(self, offsets: Ints, active: Bools) -> Bools:
        """Where an active lane leaves the buffer."""
        return ((offsets < 0) | (offsets >= self.words.size)) & active

    def keeps_blocks(self, limit: int) -> bool:
        """Whether the words are a permutation that keeps aligned blocks, see `kernel.BLOCKS`."""
        size = 1
        while size <= limit:
            words = self.words[: len(self.words) // size * size].reshape(-1, size)
            numbers = np.sort(words % size, axis=1)
            if (words // size != words[:, :1] // size).any() or (numbers != np.arange(size)).any():
                return False
            size *= 2
        return len(self.words) % limit == 0

    def any_stored(self) -> bool:
        """Whether a lane of this launch stored to the memory that the buffer lies in."""
        return self.segment.any_stored

    def record_loads(self, offsets: Ints, programs: Ints, lanes: Ints) -> None:
        """Records loads of active lanes; the arrays are flat and of one length.

        Raises:
            KernelFault: the word was stored by another lane of the launch.
        """
        for units in self._units(offsets):
            by = self.segment.stored[units]
            wrong = (by != _NOBODY) & (by != lanes)
            if wrong.any():
                raise KernelFault(
                    f"loads offset {offsets[wrong][0]}, which another lane of the launch stored"
                )
            loaded = self.segment.loaded
            fresh = loaded[units] == _NOBODY
            loaded[units[fresh]] = programs[fresh]
            loaded[units[loaded[units] != programs]] = _SEVERAL

    def record_stores(self, offsets: Ints, programs: Ints, lanes: Ints) -> None:
        """Records stores of active lanes; the arrays are flat and of one length.

        Raises:
            KernelFault: the word was stored before, or another program loads it.
        """
        self.segment.any_stored = True
        for units in self._units(offsets):
            stored, loaded = self.segment.stored, self.segment.loaded
            wrong = stored[units] != _NOBODY
            stored[units] = lanes
            wrong |= stored[units] != lanes
            if wrong.any():
                raise KernelFault(f"stores twice to offset {offsets[wrong][0]}")
            by = loaded[units]
            wrong = (by != _NOBODY) & (by != programs)
            if wrong.any():
                raise KernelFault(
                    f"stores to offset {offsets[wrong][0]}, which another program of the launch "
                    "loads"
                )


def map_buffers(arrays: Sequence[Array]) -> list[Buffer]:
    """Buffers over flat contiguous int32, int64 and float64 arrays; arrays may overlap, as in one
    arena."""
    starts = [int(array.ctypes.data) for array in arrays]
    order = sorted(range(len(arrays)), key=lambda index: starts[index])
    buffers: dict[int, Buffer] = {}
    position = 0
    while position < len(order):
        group = [order[position]]
        start = starts[group[0]]
        end = start + arrays[group[0]].nbytes
        position += 1
        while position < len(order) and starts[order[position]] < end:
            index = order[position]
            group.append(index)
            end = max(end, starts[index] + arrays[index].nbytes)
            position += 1
        unit = min(arrays[index].itemsize for index in group)
        count = -(-(end - start) // unit)
        segment = _Segment(
            start, unit, np.full(count, _NOBODY, np.int64), np.full(count, _NOBODY, np.int64)
        )
        for index in group:
            if (starts[index] - start) % unit:
                raise KernelFault("two buffers overlap in parts of words")
            kind = "f" if arrays[index].dtype.kind == "f" else "u"
            words = arrays[index].view(np.dtype(f"{kind}{arrays[index].itemsize}"))
            buffers[index] = Buffer(words, segment)
    return [buffers[index] for index in range(len(arrays))]
