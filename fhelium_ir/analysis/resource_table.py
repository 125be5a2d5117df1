"""What a program needs, as plain data: every resource with its bytes, and the keys a client must send."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute
from xdsl.printer import Printer

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import resource


def resource_rows(declared: Iterable[resource.DeclareOp]) -> dict[str, object]:
    """Resources in order with kind, parameters, shape, dtype and bytes; the keys among them; total bytes.

    Raises:
        FheliumError: a declaration has no shape yet.
    """
    rows = [_row(op) for op in declared]
    keys = [row for row in rows if row["kind"] in resource.PUBLIC_KINDS]
    return {
        "resources": rows,
        "required_keys": [
            {"kind": key["kind"], **cast("dict[str, object]", key["parameters"])} for key in keys
        ],
        "total_bytes": sum(cast(int, row["bytes"]) for row in rows),
    }


def _row(op: resource.DeclareOp) -> dict[str, object]:
    name = op.sym_name.data
    if op.buffer is None:
        raise FheliumError(
            f"resource @{name} has no shape; run infer-resources first", location=location_of(op)
        )
    shape, bits = op.shape(), op.word_bits()
    count = bits // 8
    for extent in shape:
        count *= extent
    return {
        "name": name,
        "kind": op.kind.data,
        "parameters": {key: _plain(value) for key, value in op.parameters.data.items()},
        "shape": list(shape),
        "dtype": resource.dtype_name(op.buffer),
        "bytes": count,
    }


def _plain(attribute: Attribute) -> object:
    match attribute:
        case IntegerAttr():
            return attribute.value.data
        case StringAttr():
            return attribute.data
        case DenseIntOrFPElementsAttr():
            return list(attribute.get_values())
        case _:
            stream = StringIO()
            Printer(stream=stream).print_attribute(attribute)
            return stream.getvalue()
