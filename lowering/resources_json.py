"""Target `resources-json`: what a program needs: every resource with its bytes, and the keys a client must send."""

from __future__ import annotations

import json
from typing import TextIO

from xdsl.dialects.builtin import ModuleOp

from fhelium_ir.analysis.resource_table import resource_rows
from fhelium_ir.dialects import resource


def resource_table(module: ModuleOp) -> dict[str, object]:
    """Resources in declaration order with kind, parameters, shape, dtype and bytes; the keys among them; total bytes.

    Raises:
        FheliumError: a declaration has no shape yet.
    """
    return resource_rows(op for op in module.ops if isinstance(op, resource.DeclareOp))


def print_resources_json(module: ModuleOp, stream: TextIO) -> None:
    """Writes `resource_table` with two spaces of indent."""
    json.dump(resource_table(module), stream, indent=2)
    stream.write("\n")
