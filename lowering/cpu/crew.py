"""Native code of the threads that share a launch: they take chunks of its programs from a counter in memory.

Handing a launch over and waiting for its end then takes no lock of Python's and no call into the system, as long as the
other threads watch the counter; they do for some ten microseconds after the last chunk, which is longer than a program
needs from one launch to the next.

The counter has the number of the job in its upper half and that of the next chunk in its lower half. Nobody takes a
chunk of a job that is over: before the facts of the next job are written, the counter is closed, so that it differs
from what a late thread has read.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache

from fhelium_ir.lowering.cpu.binding import NativeCode, host_header, host_triple, object_code

LINE = 64
"""Bytes of a cache line."""

STATE_BYTES = 4 * LINE
"""Of the memory that the threads share; zero at first."""

AWAKE_WORD = 16
"""64-bit word of the state in which threads that watch the counter are counted."""

YIELDING = 2000
"""Rounds of waiting after which the processor is left to other threads."""

# The state: counter; chunks that are done; threads awake; each in a line of its own. Then the job.
_CODE = """
%State = type {{ i64, [7 x i64], i64, [7 x i64], i64, [7 x i64], i64, i64, ptr, ptr }}

{declarations}

define internal i64 @claim(ptr %state) {{
entry:
  %limit.at = getelementptr %State, ptr %state, i64 0, i32 6
  br label %try
try:
  %seen = load atomic i64, ptr %state acquire, align 8
  %limit = load atomic i64, ptr %limit.at acquire, align 8
  %chunk = and i64 %seen, 4294967295
  %left = icmp ult i64 %chunk, %limit
  br i1 %left, label %take, label %none
take:
  %next = add i64 %seen, 1
  %pair = cmpxchg ptr %state, i64 %seen, i64 %next acq_rel acquire, align 8
  %taken = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %taken, label %done, label %try
done:
  ret i64 %chunk
none:
  ret i64 -1
}}

define internal i64 @begin(i64 %programs, i64 %chunks, i64 %chunk) {{
  %left = sub i64 %chunks, %chunk
  %left2 = mul i64 %left, %left
  %chunks2 = mul i64 %chunks, %chunks
  %product = mul i64 %programs, %left2
  %rest = udiv i64 %product, %chunks2
  %result = sub i64 %programs, %rest
  ret i64 %result
}}

define internal void @run(ptr %state, i64 %chunk) {{
  %done.at = getelementptr %State, ptr %state, i64 0, i32 2
  %chunks.at = getelementptr %State, ptr %state, i64 0, i32 6
  %programs.at = getelementptr %State, ptr %state, i64 0, i32 7
  %call.at = getelementptr %State, ptr %state, i64 0, i32 8
  %words.at = getelementptr %State, ptr %state, i64 0, i32 9
  %chunks = load atomic i64, ptr %chunks.at monotonic, align 8
  %programs = load atomic i64, ptr %programs.at monotonic, align 8
  %call = load atomic ptr, ptr %call.at monotonic, align 8
  %words = load atomic ptr, ptr %words.at monotonic, align 8
  %next = add i64 %chunk, 1
  %from = call i64 @begin(i64 %programs, i64 %chunks, i64 %chunk)
  %to = call i64 @begin(i64 %programs, i64 %chunks, i64 %next)
  call void %call(i64 %from, i64 %to, ptr %words)
  %before = atomicrmw add ptr %done.at, i64 1 acq_rel, align 8
  ret void
}}

define i64 @share(ptr %state, ptr %call, i64 %programs, i64 %chunks, ptr %words) {{
  %done.at = getelementptr %State, ptr %state, i64 0, i32 2
  %chunks.at = getelementptr %State, ptr %state, i64 0, i32 6
  %programs.at = getelementptr %State, ptr %state, i64 0, i32 7
  %call.at = getelementptr %State, ptr %state, i64 0, i32 8
  %words.at = getelementptr %State, ptr %state, i64 0, i32 9
  %old = load atomic i64, ptr %state monotonic, align 8
  %closed = or i64 %old, 4294967295
  store atomic i64 %closed, ptr %state monotonic, align 8
  fence seq_cst
  store atomic i64 1, ptr %done.at monotonic, align 8
  store atomic i64 %chunks, ptr %chunks.at monotonic, align 8
  store atomic i64 %programs, ptr %programs.at monotonic, align 8
  store atomic ptr %call, ptr %call.at monotonic, align 8
  store atomic ptr %words, ptr %words.at monotonic, align 8
  %open = add i64 %closed, 2
  store atomic i64 %open, ptr %state release, align 8
  %first = call i64 @begin(i64 %programs, i64 %chunks, i64 1)
  ret i64 %first
}}

define void @finish(ptr %state) {{
entry:
  %done.at = getelementptr %State, ptr %state, i64 0, i32 2
  %chunks.at = getelementptr %State, ptr %state, i64 0, i32 6
  %chunks = load atomic i64, ptr %chunks.at monotonic, align 8
  br label %work
work:
  %chunk = call i64 @claim(ptr %state)
  %none = icmp slt i64 %chunk, 0
  br i1 %none, label %wait, label %mine
mine:
  call void @run(ptr %state, i64 %chunk)
  br label %work
wait:
  %round = phi i64 [ 0, %work ], [ %following, %again ]
  %done = load atomic i64, ptr %done.at acquire, align 8
  %all = icmp uge i64 %done, %chunks
  br i1 %all, label %end, label %rest
rest:
  {pause}
  %following = add i64 %round, 1
  %long = icmp ugt i64 %round, {yielding}
  br i1 %long, label %leave, label %again
leave:
  {yield_}
  br label %again
again:
  br label %wait
end:
  ret void
}}

define void @watch(ptr %state, i64 %rounds) {{
entry:
  %awake.at = getelementptr %State, ptr %state, i64 0, i32 4
  %before = atomicrmw add ptr %awake.at, i64 1 seq_cst, align 8
  br label %look
look:
  %round = phi i64 [ 0, %entry ], [ 0, %work ], [ %following, %wait ]
  %chunk = call i64 @claim(ptr %state)
  %none = icmp slt i64 %chunk, 0
  br i1 %none, label %wait, label %work
work:
  call void @run(ptr %state, i64 %chunk)
  br label %look
wait:
  {pause}
  %following = add i64 %round, 1
  %more = icmp ult i64 %following, %rounds
  br i1 %more, label %look, label %end
end:
  %after = atomicrmw sub ptr %awake.at, i64 1 seq_cst, align 8
  ret void
}}
"""


@dataclass(frozen=True)
class Crew:
    """The native functions; none of them holds Python's lock. `state` is the address of `STATE_BYTES` bytes.

    Attributes:
        share: `share(state, call, programs, chunks, words)` offers the chunks of a launch but the first one to all
            threads that watch, and returns where the second one begins. Chunks become smaller towards the end. `call`
            is the address of a kernel or a chain, `words` its last argument.
        finish: `finish(state)`, after the first chunk is done, runs chunks while there are some, and waits for the
            others.
        watch: `watch(state, rounds)` runs chunks as they are offered, and returns after so many rounds of waiting.
    """

    share: Callable[[int, int | None, int, int, bytes], int]
    finish: Callable[[int], None]
    watch: Callable[[int, int], None]
    code: NativeCode = field(repr=False)


@cache
def crew() -> Crew:
    """The functions, compiled on first use."""
    data = object_code(host_header() + crew_text(host_triple()))
    code = NativeCode({"share": data}, ("finish", "watch"))
    word, address = ctypes.c_int64, ctypes.c_void_p
    share = ctypes.CFUNCTYPE(word, address, address, word, word, ctypes.c_char_p)
    finish = ctypes.CFUNCTYPE(None, address)
    watch = ctypes.CFUNCTYPE(None, address, word)
    return Crew(
        share(code.addresses["share"]),
        finish(code.addresses["finish"]),
        watch(code.addresses["watch"]),
        code,
    )


def crew_text(triple: str) -> str:
    """The module for a machine, by LLVM's name of it."""
    declarations, pause, yield_ = list[str](), "", ""
    if triple.startswith(("x86_64", "i686")):
        declarations.append("declare void @llvm.x86.sse2.pause()")
        pause = "call void @llvm.x86.sse2.pause()"
    elif triple.startswith(("aarch64", "arm64")):
        declarations.append("declare void @llvm.aarch64.hint(i32)")
        pause = "call void @llvm.aarch64.hint(i32 1)"
    if "windows" not in triple:
        declarations.append("declare i32 @sched_yield()")
        yield_ = "%ignored = call i32 @sched_yield()"
    return _CODE.format(
        declarations="\n".join(declarations), pause=pause, yield_=yield_, yielding=YIELDING
    )
