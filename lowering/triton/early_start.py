"""Kernels that start while the launch before them finishes (CUDA's programmatic dependent launch, from sm_90 on).

Such a kernel waits for the end of the launch before it ahead of its first access to memory. So waits chain: when a
kernel has ended, everything before it has, too. And it lets the next one start when its programs reach their first
store or end. What overlaps is the tail of a launch, where programs no longer fill the GPU, with the next one's start.
Programs that start earlier than that would only wait, where others could run.
"""

from __future__ import annotations

WAIT = "tl.extra.cuda.gdc_wait()"
START_NEXT = "tl.extra.cuda.gdc_launch_dependents()"

FIRST_ARCHITECTURE = 90


def early_source(source: str) -> str:
    """The text of a kernel, from `kernel_source`, as one that starts early."""
    head, start, rest = source.rpartition("\ndef ")
    signature, line_break, body = rest.partition("\n")
    body = body.replace("\n    tl.store(", f"\n    {START_NEXT}\n    tl.store(", 1)
    return f"{head}{start}{signature}{line_break}    {WAIT}\n{body}"


def starts_early(source: str) -> bool:
    """Whether a text is one of `early_source`: it must be launched as such."""
    return WAIT in source
