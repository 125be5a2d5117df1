"""Transpositions in registers: words that a lane finds side by side, wanted one vector for each."""

from __future__ import annotations

from collections.abc import Sequence

from fhelium_ir.lowering.cpu.code import Code, Value


def transpose(code: Code, rows: Sequence[Value]) -> list[Value]:
    """V vectors of V lanes, transposed: swaps ever smaller blocks, V log2 V shuffles."""
    rows = list(rows)
    lanes = len(rows)
    block = lanes // 2
    while block:
        for i in range(lanes):
            if i & block:
                continue
            a, b = rows[i], rows[i + block]
            low = [lane if not lane & block else lanes + lane - block for lane in range(lanes)]
            high = [lane + block if not lane & block else lanes + lane for lane in range(lanes)]
            rows[i], rows[i + block] = code.shuffle(a, b, low), code.shuffle(a, b, high)
        block //= 2
    return rows


def deinterleave(code: Code, vectors: Sequence[Value]) -> list[Value]:
    """S consecutive vectors; result r holds every S-th word from word r on. S is a power of two."""
    count = len(vectors)
    if count == 1:
        return list(vectors)
    lanes = vectors[0].lanes
    halves = list[list[Value]]()
    for first in (0, 1):
        places = [2 * lane + first for lane in range(lanes)]
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        halves.append(deinterleave(code, [code.shuffle(a, b, places) for a, b in pairs]))
    return [word for pair in zip(*halves, strict=True) for word in pair]


def interleave(code: Code, vectors: Sequence[Value]) -> list[Value]:
    """Undoes `deinterleave`."""
    count = len(vectors)
    if count == 1:
        return list(vectors)
    lanes = vectors[0].lanes
    results = list[Value]()
    for a, b in zip(interleave(code, vectors[::2]), interleave(code, vectors[1::2]), strict=True):
        for start in (0, lanes // 2):
            places = [start + lane // 2 + (lane % 2) * lanes for lane in range(lanes)]
            results.append(code.shuffle(a, b, places))
    return results
