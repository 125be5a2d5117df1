"""Streams of launches: which jobs run at the same time, and what has happened before what.

A stream runs its jobs one after the other; jobs on different streams run at the same time unless one waits for the
other. What has happened before a job is a vector clock (Mattern, "Virtual time and global states of distributed
systems", 1989): for each stream how many of its jobs have ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Job:
    """What one stream does without a break.

    Attributes:
        cost: its time, in any unit.
        after: numbers of the earlier jobs whose results it reads.
        alone: it begins when all earlier jobs have ended, and later ones wait for it.
    """

    cost: float
    after: tuple[int, ...] = ()
    alone: bool = False


@dataclass(frozen=True)
class Schedule:
    """The stream and the modelled end of each job."""

    streams: tuple[int, ...]
    ends: tuple[float, ...]


def list_schedule(jobs: Sequence[Job], streams: int) -> Schedule:
    """Places jobs, in their order, on the stream where they start first (Graham, "Bounds on multiprocessing timing
    anomalies", 1969).

    Of equals it is the stream of the job whose result comes last, so that no wait is needed, then the first. By
    induction no job ends later than if all were on one stream.
    """
    free = [0.0] * streams
    chosen: list[int] = []
    ends: list[float] = []
    barrier = 0.0
    for job in jobs:
        ready = max((ends[number] for number in job.after), default=0.0)
        ready = max(ready, barrier, *(free if job.alone else ()))
        latest = [chosen[number] for number in job.after if ends[number] == ready]
        best = 0
        if not job.alone:
            best = min(
                range(streams), key=lambda s: (max(ready, free[s]), s != min(latest, default=0), s)
            )
        free[best] = max(ready, free[best]) + job.cost
        barrier = free[best] if job.alone else barrier
        chosen.append(best)
        ends.append(free[best])
    return Schedule(tuple(chosen), tuple(ends))


@dataclass(frozen=True)
class Moment:
    """A job's place: the `number`-th of its stream, from 1; `known[s]` jobs of stream s have ended before it."""

    stream: int
    number: int
    known: tuple[int, ...]

    def follows(self, other: Moment) -> bool:
        """Whether the other job has ended before this one."""
        return self.known[other.stream] >= other.number

    def after(self, others: Iterable[Moment]) -> Moment:
        """The same job, which waits for others, and so for everything that they wait for."""
        known = list(self.known)
        for other in others:
            for stream, count in enumerate(other.known):
                known[stream] = max(known[stream], count)
            known[other.stream] = max(known[other.stream], other.number)
        return Moment(self.stream, self.number, tuple(known))


class StreamOrder:
    """The moments of jobs that are added in an order which all streams and waits allow."""

    def __init__(self, streams: int):
        self.moments: list[list[Moment]] = [[] for _ in range(streams)]

    def next(self, stream: int) -> Moment:
        """The moment of a job at the end of a stream, before it waits for others."""
        made = Moment(stream, len(self.moments[stream]) + 1, (0,) * len(self.moments))
        return made.after(self.moments[stream][-1:])

    def add(self, moment: Moment) -> None:
        """Adds a job, which is the next of its stream."""
        self.moments[moment.stream].append(moment)

    def tails(self) -> list[Moment]:
        """The last job of each stream."""
        return [moments[-1] for moments in self.moments if moments]

    def settled(self, totals: Sequence[int]) -> tuple[int, ...]:
        """How many jobs of each stream have ended before every job that is still to come, if streams have so many jobs
        in all."""
        streams = range(len(self.moments))
        open_ = [s for s in streams if len(self.moments[s]) < totals[s]]
        known = [self.next(s).known for s in open_]
        return tuple(min((k[s] for k in known), default=totals[s]) for s in streams)

    def at(self, counts: Sequence[int]) -> list[Moment]:
        """The jobs with these numbers, by stream; 0 is none."""
        return [self.moments[s][count - 1] for s, count in enumerate(counts) if count]
