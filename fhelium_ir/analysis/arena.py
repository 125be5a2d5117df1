"""First-fit placement of buffers in one arena, for jobs on several streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fhelium_ir.analysis.streams import Moment, StreamOrder


@dataclass(frozen=True)
class Use:
    """Until when memory is taken.

    Attributes:
        ends: for each stream the number of the last job there that writes or reads it; 0 if none does.
        last: the last of these jobs, by its number in the order of the program.
    """

    ends: tuple[int, ...]
    last: int


@dataclass(frozen=True)
class _Held:
    start: int
    end: int
    use: Use


class Arena:
    """Memory that buffers share where each one's last job has ended before the other's first one begins.

    Jobs are begun in the order of the program. Beyond `limit` bytes a job rather waits for others than that the arena
    grows: it takes memory of which the program, in its order, has no more use.

    Attributes:
        size: bytes so far.
        moment: the moment of the job that was begun, with what it waits for on account of its memory.
    """

    moment: Moment

    def __init__(self, alignment: int, order: StreamOrder, limit: int | None = None):
        self.size = 0
        self._alignment = alignment
        self._order = order
        self._limit = limit
        self._job = -1
        self._held: list[_Held] = []  # disjoint, by address

    def begin(self, moment: Moment) -> None:
        """Goes on to the next job."""
        self.moment = moment
        self._job += 1

    def end(self, totals: Sequence[int]) -> None:
        """Ends the job; `totals` is how many jobs each stream will have had."""
        self._order.add(self.moment)
        settled = self._order.settled(totals)
        self._held = [held for held in self._held if not _ended(held.use, settled)]

    def place(self, size: int, use: Use) -> int:
        """Offset of a buffer of `size` bytes that the job is the first to write."""
        offset = self._first_fit(size, lambda held: _ended(held.use, self.moment.known))
        if self._limit is not None and offset + size > self._limit:
            other = self._first_fit(size, lambda held: held.use.last < self._job)
            if other < offset:
                offset = other
                self._wait(offset, offset + size)
        self.keep(offset, size, use)
        return offset

    def keep(self, offset: int, size: int, use: Use) -> None:
        """Holds memory that is free, or that the job holds already."""
        end = offset + -(-size // self._alignment) * self._alignment
        kept: list[_Held] = []
        for held in self._held:
            if held.start < offset:
                kept.append(replace(held, end=min(held.end, offset)))
            if held.end > end:
                kept.append(replace(held, start=max(held.start, end)))
        self._held = sorted([*kept, _Held(offset, end, use)], key=lambda held: held.start)
        self.size = max(self.size, end)

    def _first_fit(self, size: int, is_free: Callable[[_Held], bool]) -> int:
        offset = 0
        for held in self._held:
            if is_free(held):
                continue
            if held.start - offset >= size:
                break
            offset = max(offset, held.end)
        return offset

    def _wait(self, start: int, end: int) -> None:
        for held in self._held:
            if held.start < end and start < held.end:
                self.moment = self.moment.after(self._order.at(held.use.ends))


def _ended(use: Use, known: Sequence[int]) -> bool:
    """Whether every job that uses memory is among those that have ended."""
    return all(end <= count for end, count in zip(use.ends, known, strict=True))
