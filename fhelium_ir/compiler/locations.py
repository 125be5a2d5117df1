"""Where in the source text an operation came from.

Every operation carries an MLIR location attribute in `op.location`; it is not printed, clones keep
it, and rewrites must pass it on with `inherit`. A pass that forgets costs precision only: after
each pass the pipeline gives what has none the location of its surroundings (`fill_missing`).
"""

from __future__ import annotations

from collections.abc import Iterable

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    CallSiteLoc,
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from fhelium_ir.compiler.walking import all_ops


def file_location(file: str, line: int, column: int) -> FileLineColLoc:
    """The location attribute of a place in a file; line and column count from 1."""
    return FileLineColLoc(StringAttr(file), IntAttr(line), IntAttr(column))


def format_location(location: Attribute) -> str | None:
    """`file:line:column` of a location attribute (the first of a fused one), or None."""
    match location:
        case FileLineColLoc():
            line, column = location.line.data, location.column.data
            return f"{location.filename.data}:{line}:{column}"
        case NameLoc():
            return format_location(location.location)
        case CallSiteLoc():
            return format_location(location.callee) or format_location(location.caller)
        case FusedLoc():
            for part in _parts(location):
                if (text := format_location(part)) is not None:
                    return text
            return None
        case _:
            return None


def _parts(location: FusedLoc) -> tuple[Attribute, ...]:
    if isa(location.locations, ArrayAttr[Attribute]):
        return location.locations.data
    return ()


def location_of(op: Operation) -> str | None:
    """`file:line:column` of the source text of `op`, or None if it is not known."""
    return format_location(op.location)


def set_location(op: Operation, location: LocationAttr) -> None:
    """Set the location of one operation."""
    op.location = location


def fuse(locations: Iterable[LocationAttr]) -> LocationAttr:
    """One location for an operation that stands for several, without duplicates."""
    known: dict[Attribute, None] = {}
    for location in locations:
        parts = _parts(location) if isinstance(location, FusedLoc) else (location,)
        known.update((part, None) for part in parts if not isinstance(part, UnknownLoc))
    distinct = tuple(known)
    if not distinct:
        return UNKNOWN_LOC
    if len(distinct) == 1 and isa(distinct[0], LocationAttr):
        return distinct[0]
    return FusedLoc(distinct, NoneAttr())


def inherit(new_ops: Operation | Iterable[Operation], *old_ops: Operation) -> None:
    """Give `new_ops`, and all operations nested in them, the location of the ops they replace.

    Operations that already have a location keep it.
    """
    location = fuse(op.location for op in old_ops)
    for new in (new_ops,) if isinstance(new_ops, Operation) else new_ops:
        for op in all_ops(new):
            if type(op.location) is UnknownLoc:
                op.location = location


def fill_missing(root: Operation) -> int:
    """Give each operation without a location that of its surroundings.

    That is the previous operation of its block, else the operation around it. Returns how many
    operations had none.
    """
    missing = 0
    for op in all_ops(root):
        # Asked after every pass, and `isinstance` takes long for classes of xDSL.
        if type(op.location) is not UnknownLoc:
            continue
        missing += 1
        near = op.prev_op or op.parent_op()
        if near is not None:
            op.location = near.location
    return missing
