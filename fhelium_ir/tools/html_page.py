"""Target `html`: one page with every stage side by side, what changed, the region graph, the
kernels and the requirements. It stands alone: no scripts, no links, nothing to load.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from io import StringIO
from typing import TextIO

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.ir import Attribute

from fhelium_ir.compiler.remarks import Remark
from fhelium_ir.dialects import fusion, kernel, resource
from fhelium_ir.tools.inspection import Snapshot
from fhelium_ir.tools.ir_diff import changes, unified_diff
from fhelium_ir.tools.ir_graph import module_graph, readable_bytes
from fhelium_ir.tools.svg import svg_text

MAX_LINES = 20000
"""Lines of one stage that are shown."""

STYLE = """\
body { font-family: sans-serif; margin: 1em; color: #111827; }
pre { font-size: 12px; margin: 0; }
nav span { margin-right: 1em; }
.stages { display: flex; gap: 8px; overflow-x: auto; }
.stage { flex: 0 0 46vw; border: 1px solid #9ca3af; border-radius: 4px; }
.stage h3 { margin: 0; padding: 4px 8px; background: #f3f4f6; font-size: 14px; }
.text { height: 70vh; overflow: auto; padding: 4px 8px; }
.added { background: #dcfce7; }
.removed { background: #fee2e2; }
.place { color: #6b7280; }
.graph { overflow: auto; max-height: 90vh; border: 1px solid #9ca3af; }
table { border-collapse: collapse; font-size: 13px; }
td, th { border: 1px solid #9ca3af; padding: 2px 6px; text-align: left; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
summary { cursor: pointer; padding: 4px 8px; }
"""


def print_page(module: ModuleOp, stream: TextIO) -> None:
    """The page of one module without its history."""
    from fhelium_ir.compiler.printing import mlir_text

    write_page("module", [Snapshot("module", mlir_text(module), module)], [], stream)


def write_page(
    title: str, stages: Sequence[Snapshot], remarks: Sequence[Remark], stream: TextIO
) -> None:
    """The page of a run.

    Args:
        stages: the input, and the module after each pass; at least one.
        remarks: what the passes said.
    """
    last = stages[-1].module
    write = stream.write
    write('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n')
    write(f"<title>{escape(title)}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n")
    write(f"<h1>{escape(title)}</h1>\n")
    _section(stream, "Stages", lambda: _stages(stages))
    _section(stream, "Region graph", lambda: _graph(stages))
    _section(stream, "Requirements", lambda: _requirements(last))
    _section(stream, "Kernels", lambda: _kernels(last))
    _section(stream, "Remarks", lambda: _remarks(remarks))
    write("</body>\n</html>\n")


def _section(stream: TextIO, title: str, body: Callable[[], str]) -> None:
    stream.write(f"<section>\n<h2>{title}</h2>\n{body()}</section>\n")


def _stages(stages: Sequence[Snapshot]) -> str:
    parts = ['<div class="stages">\n']
    before: Snapshot | None = None
    for number, stage in enumerate(stages):
        parts.append(f'<div class="stage">\n<h3>{number}: {escape(stage.name)}</h3>\n')
        if before is not None:
            parts.append(_diff(before, stage))
        marked = _marked(before.text if before is not None else stage.text, stage.text)
        parts.append(f'<div class="text"><pre>{marked}</pre></div>\n</div>\n')
        before = stage
    return "".join([*parts, "</div>\n"])


def _marked(old: str, new: str) -> str:
    """The new text with its changed lines marked."""
    before, after = old.splitlines(), new.splitlines()
    added: set[int] = set()
    for change in changes(before, after):
        added.update(range(change.new_start, change.new_end))
    lines = [
        f'<span class="added">{escape(line)}</span>' if number in added else escape(line)
        for number, line in enumerate(after[:MAX_LINES])
    ]
    if len(after) > MAX_LINES:
        lines.append(f"... {len(after) - MAX_LINES} more lines")
    return "\n".join(lines)


def _diff(before: Snapshot, after: Snapshot) -> str:
    text = unified_diff(before.text, after.text, before.name, after.name)
    lines = text.splitlines()
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    if not lines:
        return "<details><summary>no change</summary></details>\n"
    classes = {"+": "added", "-": "removed", "@": "place"}
    shown: list[str] = []
    for line in lines[:MAX_LINES]:
        name = classes.get(line[:1])
        shown.append(f'<span class="{name}">{escape(line)}</span>' if name else escape(line))
    body = "\n".join(shown)
    return (
        f"<details><summary>{added} lines added, {removed} removed</summary>"
        f'<div class="text"><pre>{body}</pre></div></details>\n'
    )


def _graph(stages: Sequence[Snapshot]) -> str:
    """The graph of the last stage with regions, or else of the last stage with functions."""
    with_regions = [
        s for s in stages if any(isinstance(o, fusion.FusedOp) for o in s.module.walk())
    ]
    stage = (with_regions or stages)[-1]
    graph = module_graph(stage.module)
    if not graph.nodes:
        return "<p>No functions.</p>\n"
    name = escape(stage.name)
    return f'<p>After {name}.</p>\n<div class="graph">{svg_text(graph)}</div>\n'


def _requirements(module: ModuleOp) -> str:
    declared = [op for op in module.ops if isinstance(op, resource.DeclareOp)]
    if not declared:
        return "<p>No resources are declared.</p>\n"
    rows = ["<table>\n<tr><th>name</th><th>kind</th><th>shape</th><th>word</th><th>bytes</th>"]
    rows.append("<th>parameters</th></tr>\n")
    total = 0
    for op in declared:
        shape, word, count = "?", "?", 0
        if op.buffer is not None:
            buffer = op.buffer
            shape = " x ".join(str(extent) for extent in buffer.get_shape())
            word = str(buffer.element_type)
            count = buffer_bytes(buffer)
        total += count
        parameters = ", ".join(f"{k} = {v}" for k, v in op.parameters.data.items())
        cells = [f"@{op.sym_name.data}", op.kind.data, shape, word]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells))
        rows.append(
            f'<td class="number">{count:,}</td><td>{escape(_short(parameters))}</td></tr>\n'
        )
    rows.append(f"</table>\n<p>{len(declared)} resources, {readable_bytes(total)}.</p>\n")
    return "".join(rows)


def buffer_bytes(buffer: MemRefType[Attribute]) -> int:
    """Bytes of a buffer of integers or floats."""
    count = getattr(buffer.element_type, "bitwidth", 64) // 8
    for extent in buffer.get_shape():
        count *= extent
    return count


def _short(text: str) -> str:
    return text if len(text) <= 160 else f"{text[:157]}..."


def _kernels(module: ModuleOp) -> str:
    kernels = [op for op in module.ops if isinstance(op, kernel.FuncOp)]
    if not kernels:
        return "<p>No kernels at this stage.</p>\n"
    from fhelium_ir.lowering.triton.printer import print_triton

    stream = StringIO()
    try:
        print_triton(module, stream)
    except Exception as error:
        return f"<p>No Triton text at this stage: {escape(str(error))}</p>\n"
    names = ", ".join(op.sym_name.data for op in kernels)
    return (
        f"<p>{len(kernels)} kernels: {escape(names)}.</p>\n"
        f'<div class="text"><pre>{escape(stream.getvalue())}</pre></div>\n'
    )


def _remarks(remarks: Sequence[Remark]) -> str:
    if not remarks:
        return "<p>None.</p>\n"
    rows = ["<table>\n<tr><th>pass</th><th>kind</th><th>place</th><th>remark</th></tr>\n"]
    for remark in remarks[:MAX_LINES]:
        cells = [remark.pass_name, remark.kind, remark.location or "", remark.text]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>\n")
    return "".join([*rows, "</table>\n"])
