"""The manifest of a linked program: what it computes with, what it needs, what its interface is.

Keys: `format` (1); `name`; `target`; `device`; `parameters` (facts and hash); `arguments` and `results` (name, shape,
dtype, bytes, and the attributes that the program states, such as `ckks.type` with level and scale); `operations` (what,
where in the source, by which implementation, in place, names of tables); `implementations`; `resources` (name, kind,
shape, dtype, bytes); `required_keys`; `kernels` (name, lanes, grid rank, number of launches in the text); `memory`
(bytes of resources, arguments, arena and results, and their peak: all that is alive at once while the program runs);
`warnings`.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from fhelium_ir.analysis.resource_table import resource_rows
from fhelium_ir.backend.executable import BufferSpec
from fhelium_ir.backend.linking import MATERIAL_KINDS
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import host

if TYPE_CHECKING:
    from fhelium_ir.backend.execution import OperationDispatch, ProgramExecutable
    from fhelium_ir.backend.program import Program

FORMAT = 1

WARNING = (
    "Decrypted CKKS results carry an error that depends on the secret key: do not hand them to "
    "others without noise added."
)


def manifest_of(executable: ProgramExecutable) -> dict[str, object]:
    """The manifest as dictionaries, lists, texts and numbers."""
    program = executable.program
    declared = resource_rows(program.declared.values())
    rows = cast("list[dict[str, object]]", declared["resources"])
    for row in rows:
        # The contents of tables are in the tables.
        cast("dict[str, object]", row["parameters"]).pop("values", None)
        row["material"] = row["kind"] in MATERIAL_KINDS
    return {
        "format": FORMAT,
        "name": program.name,
        "target": program.workspace.target,
        "device": str(program.workspace.device),
        "parameters": _parameters(program),
        "arguments": _interface(program.arguments, program.function.arg_attrs),
        "results": _interface(program.results, program.function.res_attrs),
        "operations": _operations(executable),
        "implementations": _implementations(executable),
        "resources": rows,
        "required_keys": declared["required_keys"],
        "kernels": _kernels(program),
        "memory": _memory(program, cast(int, declared["total_bytes"])),
        "warnings": [WARNING],
    }


def _parameters(program: Program) -> dict[str, object]:
    parameters = program.compilation.parameters
    return {
        "ring_degree": parameters.ring_degree,
        "q": list(parameters.q),
        "p": list(parameters.p),
        "digits": parameters.digits,
        "scale_bits": parameters.scale_bits,
        "secret": parameters.secret,
        "insecure": parameters.insecure,
        "hash": parameters.hash(),
    }


def _interface(specs: tuple[BufferSpec, ...], attributes: Attribute | None) -> list[object]:
    rows: list[object] = []
    for index, spec in enumerate(specs):
        row: dict[str, object] = {
            "name": spec.name,
            "shape": list(spec.shape),
            "dtype": spec.dtype,
            "bytes": spec.bytes,
        }
        if isa(attributes, ArrayAttr[DictionaryAttr]) and index < len(attributes.data):
            for key, value in attributes.data[index].data.items():
                row[key] = _plain(value)
        rows.append(row)
    return rows


def _plain(attribute: Attribute) -> object:
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr() | FloatAttr():
            return attribute.value.data
        case _:
            return str(attribute)


def _operations(executable: ProgramExecutable) -> list[object]:
    rows: list[object] = []
    for entry, dispatch in executable.dispatch_table.operations.items():
        indices = executable.resource_indices.get(entry, ())
        rows.append(
            {
                "operation": dispatch.invocation.operation.name,
                "location": location_of(entry),
                "contents": dict(
                    Counter(
                        inner.name
                        for region in dispatch.invocation.operation.regions
                        for inner in region.walk()
                        if inner.results
                    )
                ),
                "implementation": dispatch.implementation.name,
                "in_place": dispatch.in_place,
                "resources": [executable.resources[index].name for index in indices],
            }
        )
    return rows


def _implementations(executable: ProgramExecutable) -> list[object]:
    by_name: dict[str, list[OperationDispatch]] = {}
    for dispatch in executable.dispatch_table.operations.values():
        by_name.setdefault(dispatch.implementation.name, []).append(dispatch)
    return [
        {
            "name": name,
            "operation_types": [
                type_.name for type_ in dispatches[0].implementation.operation_types
            ],
            "supports_in_place": dispatches[0].implementation.supports_in_place,
            "operations": len(dispatches),
        }
        for name, dispatches in by_name.items()
    ]


def _kernels(program: Program) -> list[object]:
    launches = Counter(
        op.callee.string_value() for op in program.function.walk() if isinstance(op, host.LaunchOp)
    )
    return [
        {
            "name": kernel.sym_name.data,
            "lanes": list(kernel.lane_shape),
            "grid_rank": kernel.grid_rank.value.data,
            "launches": launches[kernel.sym_name.data],
        }
        for kernel in program.kernel_functions
    ]


def _memory(program: Program, resource_bytes: int) -> dict[str, int]:
    memory = program.memory
    return {
        "resource_bytes": resource_bytes,
        "argument_bytes": memory.arguments,
        "arena_bytes": memory.arena,
        "result_bytes": memory.results,
        "peak_bytes": resource_bytes + memory.arguments + memory.peak,
    }
