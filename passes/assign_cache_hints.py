"""assign-cache-hints: words that are not read again leave the shared cache before those that are."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from fhelium_ir.analysis.device import load_device
from fhelium_ir.analysis.kernel_accesses import KernelAccesses
from fhelium_ir.analysis.launch_rows import SMALL, RowAnalysis, placed_in
from fhelium_ir.compiler.remarks import remark
from fhelium_ir.dialects import host, kernel

AGAIN = 1.5
"""From so many loads of each word of a buffer on, programs are taken to share its words."""


@dataclass(frozen=True)
class AssignCacheHints(ModulePass):
    """Marks loads `evict_first` whose words nothing reads again before they are overwritten or the run ends.

    Such are the keys of an inner product, inputs in the last launch that reads them, and what a launch hands to the
    next one. A cache that all programs share then keeps what will be read. A buffer that programs of one launch share,
    such as the limbs of a base conversion, is not marked, nor is one whose bytes the same launch overwrites with words
    that are read later. A run that touches no more than the cache keeps has no marks: the next run may find there what
    this one reads. Words do not change.

    A device whose description names no shared cache has no marks. Needs convert-regions-to-kernels first.

    Options:
        device: a built-in description (`gpu`, `cpu`, `interpreter`), a measured one (`host`, `cuda`) or a JSON file.
    """

    name = "assign-cache-hints"
    device: str = "gpu"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        cache = load_device(self.device).shared_cache
        if cache == 0:
            return
        analysis = RowAnalysis(op)
        launches = [inner for inner in op.walk() if isinstance(inner, host.LaunchOp)]
        last: dict[host.LaunchOp, frozenset[int]] = {}
        for function in op.ops:
            if not isinstance(function, func.FuncOp) or len(function.body.blocks) != 1:
                continue
            if touched_bytes(function) > cache:
                last.update(_last_reads(function.body.block, analysis))
        # Launches share kernels: what is marked must hold for all of them, those in loops, say, included.
        marked: dict[str, frozenset[int]] = {}
        for launch in launches:
            name = launch.callee.string_value()
            found = last.get(launch, frozenset())
            marked[name] = marked.get(name, found) & found
        for function in op.ops:
            if isinstance(function, kernel.FuncOp):
                _mark(function, marked.get(function.sym_name.data, frozenset()))


def touched_bytes(function: func.FuncOp) -> int:
    """Bytes of all buffers that a function's launches and calls are given, views as part of what they view."""
    buffers: dict[SSAValue, int] = {}
    for op in function.walk():
        if not isinstance(op, host.LaunchOp | host.CallOp):
            continue
        for value in op.operands:
            placed = placed_in(value) if isinstance(value.type, MemRefType) else None
            if placed is not None:
                buffers[placed[0]] = host.buffer_bytes(placed[0])
    return sum(buffers.values())


@dataclass
class _Live:
    """Bytes that are read later, by buffer, as intervals that do not overlap."""

    spans: dict[SSAValue, list[tuple[int, int]]] = field(
        default_factory=dict[SSAValue, list[tuple[int, int]]]
    )

    def meets(self, buffer: SSAValue, start: int, end: int) -> bool:
        return any(low < end and start < high for low, high in self.spans.get(buffer, ()))

    def remove(self, buffer: SSAValue, start: int, end: int) -> None:
        kept: list[tuple[int, int]] = []
        for low, high in self.spans.get(buffer, ()):
            kept += [(a, b) for a, b in ((low, min(high, start)), (max(low, end), high)) if a < b]
        self.spans[buffer] = kept

    def add(self, buffer: SSAValue, start: int, end: int) -> None:
        self.remove(buffer, start, end)
        self.spans[buffer].append((start, end))


def _last_reads(block: Block, analysis: RowAnalysis) -> dict[host.LaunchOp, frozenset[int]]:
    """For each launch of a block the arguments that it reads last, each word about once.

    From the last op to the first: a launch is taken to overwrite all of a buffer that it stores to.
    """
    live = _Live()
    found: dict[host.LaunchOp, frozenset[int]] = {}
    for op in reversed(list(block.ops)):
        accesses = analysis.accesses(op) if isinstance(op, host.LaunchOp) else None
        if isinstance(op, host.LaunchOp) and accesses is not None:
            places = _places(op)
            found[op] = frozenset(
                number
                for number, place in places
                if not live.meets(*place) and _is_read_once(op, number, analysis, accesses)
            )
            for number, place in places:
                if accesses.stores(number):
                    live.remove(*place)
            for number, place in places:
                if accesses.loads(number):
                    live.add(*place)
        elif not isinstance(op, host.ViewOp):
            # Calls and returns may read all that they are given, and so may what stands in a loop or a chain.
            for inner in op.walk():
                for _, place in _places(inner):
                    live.add(*place)
    return found


_Place = tuple[SSAValue, int, int]


def _places(op: Operation) -> list[tuple[int, _Place]]:
    """Numbers of the operands that are buffers, with the bytes that they are: buffer, start and end."""
    places: list[tuple[int, _Place]] = []
    for number, value in enumerate(op.operands):
        placed = placed_in(value) if isinstance(value.type, MemRefType) else None
        if placed is not None:
            buffer, start = placed
            places.append((number, (buffer, start, start + host.buffer_bytes(value))))
    return places


def _is_read_once(
    launch: host.LaunchOp, number: int, analysis: RowAnalysis, accesses: KernelAccesses
) -> bool:
    """Whether a launch loads words of a large argument, and about once each."""
    if host.buffer_bytes(launch.arguments[number]) < SMALL or not accesses.loads(number):
        return False
    return analysis.loads_per_word(launch, number) < AGAIN


def _mark(function: kernel.FuncOp, arguments: frozenset[int]) -> None:
    """Marks the loads of some arguments of a kernel."""
    if not arguments:
        return
    buffers = [function.body.block.args[number] for number in sorted(arguments)]
    for op in function.walk():
        if isinstance(op, kernel.LoadOp) and op.buffer in buffers:
            op.attributes[kernel.EVICT_FIRST] = UnitAttr()
    names = ", ".join(f"%{buffer.name_hint or buffer.index}" for buffer in buffers)
    remark(AssignCacheHints.name, function, "applied", f"words of {names} are not read again")
