"""List schedules and vector clocks against what they promise, by reachability."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fhelium_ir.analysis.streams import Job, Moment, StreamOrder, list_schedule


@st.composite
def job_lists(draw: st.DrawFn) -> list[Job]:
    jobs: list[Job] = []
    for index in range(draw(st.integers(1, 14))):
        after = draw(st.sets(st.integers(0, index - 1), max_size=3)) if index else set[int]()
        alone = draw(st.integers(0, 9)) == 0
        jobs.append(Job(draw(st.integers(1, 9)), tuple(sorted(after)), alone))
    return jobs


@given(job_lists(), st.integers(1, 4))
def test_a_schedule_is_possible_and_delays_nothing(jobs: list[Job], streams: int) -> None:
    found = list_schedule(jobs, streams)
    serial = 0.0
    for index, job in enumerate(jobs):
        start = found.ends[index] - job.cost
        assert all(found.ends[number] <= start for number in job.after)
        assert 0 <= found.streams[index] < streams
        serial += job.cost
        assert found.ends[index] <= serial
        for earlier in range(index):
            alone = job.alone or jobs[earlier].alone
            if alone or found.streams[earlier] == found.streams[index]:
                assert found.ends[earlier] <= start
    assert all(s == 0 for job, s in zip(jobs, found.streams, strict=True) if job.alone)


@given(st.lists(st.integers(1, 9), min_size=1), st.integers(1, 4))
def test_a_chain_stays_on_one_stream(costs: list[int], streams: int) -> None:
    jobs = [Job(cost, (index - 1,) if index else ()) for index, cost in enumerate(costs)]
    # An op that also reads something older is still part of the chain.
    jobs = [Job(job.cost, (*job.after, 0) if i > 1 else job.after) for i, job in enumerate(jobs)]
    assert set(list_schedule(jobs, streams).streams) == {0}


def test_chains_behind_one_job_alternate() -> None:
    # Job 0, then four chains of a long and a short job.
    jobs = [Job(5)]
    for chain in range(4):
        jobs += [Job(8, (0,)), Job(2, (2 * chain + 1,))]
    assert list_schedule(jobs, 2).streams == (0, 0, 0, 1, 1, 0, 0, 1, 1)
    assert list_schedule(jobs, 3).streams == (0, 0, 0, 1, 1, 2, 2, 0, 0)
    assert max(list_schedule(jobs, 2).ends) == 5 + 2 * (8 + 2)


def test_what_is_alone_gathers_the_streams() -> None:
    jobs = [Job(4), Job(4), Job(1, (), alone=True), Job(4), Job(4)]
    assert list_schedule(jobs, 2).streams == (0, 1, 0, 0, 1)
    assert list_schedule(jobs, 2).ends == (4, 4, 5, 9, 9)


@given(job_lists(), st.lists(st.integers(0, 2), min_size=14, max_size=14))
def test_moments_say_what_is_reachable(jobs: list[Job], streams: list[int]) -> None:
    order = StreamOrder(3)
    before: list[set[int]] = []
    moments: list[Moment] = []
    tail: dict[int, int] = {}
    for index, job in enumerate(jobs):
        stream = streams[index]
        last = {*job.after, *([tail[stream]] if stream in tail else [])}
        before.append(last.union(*(before[number] for number in last)))
        tail[stream] = index
        moments.append(order.next(stream).after(moments[number] for number in job.after))
        order.add(moments[-1])
    for later in range(len(jobs)):
        assert {e for e in range(later) if moments[later].follows(moments[e])} == before[later]
