"""Differences between two texts of IR, in time that stays linear on large modules."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fhelium_ir.tools.colour import BOLD, CYAN, GREEN, RED, paint

LARGEST_MATCH = 4000
"""Lines of both sides together that are matched line by line; larger parts count as replaced."""

CONTEXT = 3


@dataclass(frozen=True)
class Change:
    """Lines `old[old_start:old_end]` became `new[new_start:new_end]`."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def changes(old: Sequence[str], new: Sequence[str]) -> list[Change]:
    """The parts that differ, in order.

    What both begin and end with is set aside first; a rest beyond `LARGEST_MATCH` lines is one
    change, because matching takes time that grows with the square of the length.
    """
    start, shortest = 0, min(len(old), len(new))
    while start < shortest and old[start] == new[start]:
        start += 1
    tail = 0
    while tail < shortest - start and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_end, new_end = len(old) - tail, len(new) - tail
    if start == old_end and start == new_end:
        return []
    if old_end + new_end - 2 * start > LARGEST_MATCH:
        return [Change(start, old_end, start, new_end)]
    matcher = difflib.SequenceMatcher(None, old[start:old_end], new[start:new_end], autojunk=False)
    return [
        Change(start + a, start + b, start + c, start + d)
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def unified_diff(old: str, new: str, old_name: str, new_name: str, colour: bool = False) -> str:
    """The differences as a unified diff; empty where there are none."""
    before, after = old.splitlines(), new.splitlines()
    found = changes(before, after)
    if not found:
        return ""
    lines = [paint(f"--- {old_name}", BOLD, colour), paint(f"+++ {new_name}", BOLD, colour)]
    for hunk in _hunks(found):
        lines += _hunk_lines(before, after, hunk, colour)
    return "".join(f"{line}\n" for line in lines)


def _hunks(found: Sequence[Change]) -> Iterator[list[Change]]:
    """Changes whose contexts touch stand in one hunk."""
    hunk: list[Change] = []
    for change in found:
        if hunk and change.old_start - hunk[-1].old_end > 2 * CONTEXT:
            yield hunk
            hunk = []
        hunk.append(change)
    yield hunk


def _hunk_lines(
    old: Sequence[str], new: Sequence[str], hunk: Sequence[Change], colour: bool
) -> list[str]:
    first, last = hunk[0], hunk[-1]
    before = min(CONTEXT, first.old_start)
    after = min(CONTEXT, len(old) - last.old_end)
    old_range = _range(first.old_start - before, last.old_end + after)
    new_range = _range(first.new_start - before, last.new_end + after)
    lines = [paint(f"@@ -{old_range} +{new_range} @@", CYAN, colour)]
    position = first.old_start - before
    for change in hunk:
        lines += [f" {line}" for line in old[position : change.old_start]]
        lines += [paint(f"-{line}", RED, colour) for line in old[change.old_start : change.old_end]]
        added = new[change.new_start : change.new_end]
        lines += [paint(f"+{line}", GREEN, colour) for line in added]
        position = change.old_end
    return lines + [f" {line}" for line in old[position : position + after]]


def _range(start: int, end: int) -> str:
    """`line,count` as diff and patch write it: an empty range names the line before it."""
    count = end - start
    return f"{start + 1 if count else start},{count}"
