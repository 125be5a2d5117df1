"""Kernels that start while the launch before them finishes (CUDA's programmatic dependent launch, from sm_90 on).

Such a kernel waits for the end of the launch before it ahead of its first access to memory that a launch may write.
Tables and keys, which no launch writes, are read before that where they come first. As each kernel waits before it
stores, waits chain: when a kernel has ended, everything before it has, too. And it lets the next one start when its
programs reach their first store or end. What overlaps is the tail of a launch, where programs no longer fill the GPU,
with the next one's start. Programs that start earlier than that would only wait, where others could run.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue

from fhelium_ir.dialects import host, kernel

WAIT = "tl.extra.cuda.gdc_wait()"
START_NEXT = "tl.extra.cuda.gdc_launch_dependents()"

FIRST_ARCHITECTURE = 90

_INDENT = "    "
_PARAMETER = re.compile(r'(\w+): "')
_ACCESS = re.compile(r"tl\.(?:load|store)\((\w+)")


def constant_parameters(module: ModuleOp) -> dict[str, frozenset[int]]:
    """By kernel, the parameters that are resources in all launches and that no kernel stores to."""
    launches = [op for op in module.walk() if isinstance(op, host.LaunchOp)]
    stored = {
        op.sym_name.data: _stored(op) for op in module.walk() if isinstance(op, kernel.FuncOp)
    }
    written = {
        _resource(launch.arguments[index])
        for launch in launches
        for index in stored.get(launch.callee.root_reference.data, ())
    }
    found: dict[str, frozenset[int]] = {}
    for launch in launches:
        name = launch.callee.root_reference.data
        constant = frozenset(
            index
            for index, argument in enumerate(launch.arguments)
            if (resource := _resource(argument)) is not None and resource not in written
        )
        found[name] = found.get(name, constant) & constant
    return found


def _stored(func: kernel.FuncOp) -> set[int]:
    return {
        op.buffer.index
        for op in func.walk()
        if isinstance(op, kernel.StoreOp) and isinstance(op.buffer, BlockArgument)
    }


def _resource(argument: SSAValue) -> str | None:
    """Symbol of the resource that an argument is."""
    owner = argument.owner
    return owner.symbol.root_reference.data if isinstance(owner, host.ResourceOp) else None


def early_source(source: str, constants: Collection[int] = ()) -> str:
    """The text of a kernel, from `kernel_source`, as one that starts early.

    Args:
        constants: numbers of the parameters whose memory no launch writes.
    """
    head, start, rest = source.rpartition("\ndef ")
    signature, line_break, body = rest.partition("\n")
    data = {
        name for number, name in enumerate(_PARAMETER.findall(signature)) if number not in constants
    }
    lines = body.split("\n")
    lines.insert(_first_access(lines, data), _INDENT + WAIT)
    body = "\n".join(lines)
    body = body.replace("\n    tl.store(", f"\n    {START_NEXT}\n    tl.store(", 1)
    return f"{head}{start}{signature}{line_break}{body}"


def _first_access(lines: list[str], data: Collection[str]) -> int:
    """Number of the first statement of a body that accesses one of the parameters `data`, inside a loop or not."""
    statement = 0
    for number, line in enumerate(lines):
        if line.startswith(_INDENT) and not line.startswith(_INDENT + " "):
            statement = number
        if any(name in data for name in _ACCESS.findall(line)):
            return statement
    return 0


def starts_early(source: str) -> bool:
    """Whether a text is one of `early_source`: it must be launched as such."""
    return WAIT in source
