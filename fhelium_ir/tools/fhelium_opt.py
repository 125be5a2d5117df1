"""`fhelium-opt`: parse MLIR text, run passes, print the result for a target.

IR goes to standard output, everything else to standard error. The exit code is 0, or 1 after an
error of any kind.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from io import StringIO
from typing import TYPE_CHECKING

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.tools.command_line import ArgumentParser, report, run_tool
from fhelium_ir.tools.files import read_source, write_output

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from fhelium_ir.compiler.pipeline import Pipeline
    from fhelium_ir.compiler.remarks import Remark

SPLIT_LINE = "// -----"


@dataclass(eq=False)
class Options(argparse.Namespace):
    """The command line; each field is the option of the same name."""

    file: str = "-"
    passes: list[str] = field(default_factory=list[str])
    target: str = "mlir"
    output: str | None = None
    stop_after: str | None = None
    remarks: str | None = None
    print_generic: bool = False
    verify_each: bool = True
    split_input_file: bool = False
    debug: bool = False
    list_passes: bool = False
    list_pipelines: bool = False
    list_targets: bool = False
    list_dialects: bool = False
    help_pass: str | None = None


def make_argument_parser() -> ArgumentParser:
    """The options of `fhelium-opt`."""
    parser = ArgumentParser(
        prog="fhelium-opt",
        description="Parse MLIR text, run passes on it and print the result.",
        epilog="A pass with options is written name{option=value other=1,2}. A pipeline's name "
        "stands for its passes and may be mixed with others: -p 'fhelium-default,cse'.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", default="-", help="input; - or nothing: standard input")
    add("-p", "--passes", metavar="PASSES", action="append", default=[], help="passes, by commas")
    add("-t", "--target", metavar="TARGET", default="mlir", help="what to print (default: mlir)")
    add("-o", "--output", metavar="OUT", help="write to a file, whole or not at all")
    add("--stop-after", metavar="PASS", help="end the pipeline after this pass")
    add(
        "--remarks",
        choices=("all", "applied", "missed"),
        help="print what the passes did (applied) or refused (missed) to standard error",
    )
    add("--print-generic", action="store_true", help="print ops in their generic form")
    add(
        "--verify-each",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="verify the IR after each pass (default: on)",
    )
    add(
        "--split-input-file",
        action="store_true",
        help=f"treat the parts between lines '{SPLIT_LINE}' as files of their own",
    )
    add("--debug", action="store_true", help="show the traceback of an error")
    add("--list-passes", action="store_true", help="print the names of all passes")
    add("--list-pipelines", action="store_true", help="print all pipelines and their passes")
    add("--list-targets", action="store_true", help="print the names of all targets")
    add("--list-dialects", action="store_true", help="print the names of all dialects")
    add("--help-pass", metavar="PASS", help="print what a pass does, and its options")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Run `fhelium-opt` and return its exit code.

    Args:
        argv: the arguments, without the program's name; None takes those of the process.
    """
    arguments = sys.argv[1:] if argv is None else argv
    return run_tool(lambda: _main(arguments), debug="--debug" in arguments)


def _main(argv: list[str]) -> int:
    options = Options()
    make_argument_parser().parse(argv, options)
    listing = _listing(options)
    if listing is not None:
        write_output(options.output, listing)
        return 0
    return _process(options)


def _listing(options: Options) -> str | None:
    """The text of the first --list or --help option given, or None."""
    if options.list_passes:
        return _lines(universe.PASSES)
    if options.list_pipelines:
        return _lines(f"{name}: {', '.join(p)}" for name, p in universe.PIPELINES.items())
    if options.list_targets:
        return _lines(universe.TARGETS)
    if options.list_dialects:
        return _lines(universe.DIALECTS)
    if options.help_pass is not None:
        return _help_pass(options.help_pass)
    return None


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _help_pass(name: str) -> str:
    from fhelium_ir.compiler.pipeline import pass_options

    pass_type = universe.load_pass(name)
    text = inspect.getdoc(pass_type) or "(no description)"
    lines = [name, "", *(f"  {line}".rstrip() for line in text.split("\n")), "", "options:"]
    options = pass_options(pass_type)
    lines += [f"  {option}: {kind}" for option, kind in options.items()] or ["  none"]
    return _lines(lines)


def _process(options: Options) -> int:
    from fhelium_ir.compiler.pipeline import Pipeline

    target = _target(options)
    pipeline = Pipeline.parse(",".join(options.passes))
    if options.stop_after is not None:
        pipeline = pipeline.until(options.stop_after)
    pipeline.instantiate()
    name, text = read_source(options.file)
    outputs: list[str] = []
    failed = False
    for part in split_source(text) if options.split_input_file else [text]:
        try:
            outputs.append(_compile(part, name, pipeline, target, options))
        except Exception as error:
            report(error, {name: text}, debug=options.debug)
            failed = True
    if not failed or (options.output is None and outputs):
        write_output(options.output, f"{SPLIT_LINE}\n".join(outputs))
    return 1 if failed else 0


def _target(options: Options) -> universe.Target:
    if not options.print_generic:
        return universe.load_target(options.target)
    if options.target != "mlir":
        raise FheliumError(f"--print-generic does not apply to target '{options.target}'")
    from fhelium_ir.compiler.printing import print_mlir

    return lambda module, stream: print_mlir(module, stream, generic=True)


def split_source(text: str) -> list[str]:
    """The parts of a text between lines `// -----`.

    Each part begins with as many empty lines as stand before it, so that line numbers stay right.
    """
    parts: list[str] = [""]
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if line.rstrip() == SPLIT_LINE:
            parts.append("\n" * number)
        else:
            parts[-1] += line
    return parts


def _compile(
    text: str, name: str, pipeline: Pipeline, target: universe.Target, options: Options
) -> str:
    from fhelium_ir.compiler.parsing import parse_module
    from fhelium_ir.compiler.remarks import collect_remarks
    from fhelium_ir.compiler.verification import verify_module

    context = universe.make_context()
    module = parse_module(context, text, name)
    verify_module(module)
    with collect_remarks() as remarks:
        try:
            pipeline.run(context, module, verify_each=options.verify_each)
            stream = StringIO()
            _print_target(options.target, target, module, stream)
        finally:
            _print_remarks(remarks, options.remarks)
    return stream.getvalue()


def _print_target(name: str, target: universe.Target, module: ModuleOp, stream: StringIO) -> None:
    try:
        target(module, stream)
    except (FheliumError, RecursionError):
        raise
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        raise FheliumError(f"target '{name}' failed: internal error: {detail}") from error


def _print_remarks(remarks: list[Remark], wanted: str | None) -> None:
    for remark in remarks:
        if wanted in ("all", remark.kind):
            print(remark, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
