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
from pathlib import Path

from fhelium_ir import universe
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.tools.command_line import ArgumentParser, report, run_tool
from fhelium_ir.tools.completion import SHELLS, completion_script
from fhelium_ir.tools.files import read_source, write_output
from fhelium_ir.tools.implementations import add_implementation_options, implementations
from fhelium_ir.tools.inspection_options import InspectionOptions, add_inspection_options
from fhelium_ir.tools.plugins import plugins

SPLIT_LINE = "// -----"


@dataclass(eq=False)
class Options(InspectionOptions):
    """The command line; each field is the option of the same name."""

    file: str = "-"
    passes: list[str] = field(default_factory=list[str])
    load_pass: list[str] = field(default_factory=list[str])
    load_dialect: list[str] = field(default_factory=list[str])
    load_implementation: list[str] = field(default_factory=list[str])
    no_default_implementations: bool = False
    target: str = "mlir"
    frontend: str = "mlir"
    output: str | None = None
    stop_after: str | None = None
    print_generic: bool = False
    verify_each: bool = True
    split_input_file: bool = False
    debug: bool = False
    list_passes: bool = False
    list_pipelines: bool = False
    list_targets: bool = False
    list_dialects: bool = False
    help_pass: str | None = None
    completion: str | None = None


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
    add(
        "-f",
        "--frontend",
        metavar="NAME",
        default="mlir",
        help="what reads FILE: mlir, or heir for the output of heir-opt (default: mlir)",
    )
    add("-o", "--output", metavar="OUT", help="write to a file, whole or not at all")
    add(
        "--load-pass",
        metavar="FILE.py",
        action="append",
        default=[],
        help="make the passes that a Python file defines known",
    )
    add(
        "--load-dialect",
        metavar="FILE.py",
        action="append",
        default=[],
        help="make the dialects that a Python file defines known",
    )
    add_implementation_options(parser)
    add("--stop-after", metavar="PASS", help="end the pipeline after this pass")
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
    add("--completion", choices=SHELLS, help="print a script that completes command lines")
    add_inspection_options(parser)
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
    with plugins(options.load_pass, options.load_dialect):
        listing = _listing(options)
        if listing is not None:
            write_output(options.output, listing)
            return 0
        with implementations(options.load_implementation, options.no_default_implementations):
            return _process(options)


def _listing(options: Options) -> str | None:
    """The text of the first --list or --help option given, or None."""
    if options.list_passes or options.list_targets or options.list_dialects or options.completion:
        universe.discover()
    if options.completion is not None:
        return completion_script(options.completion, make_argument_parser())
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
    text = inspect.cleandoc(pass_type.__doc__ or "(no description)")
    lines = [name, "", *(f"  {line}".rstrip() for line in text.split("\n")), "", "options:"]
    options = pass_options(pass_type)
    lines += [f"  {option}: {kind}" for option, kind in options.items()] or ["  none"]
    return _lines(lines)


def _process(options: Options) -> int:
    from fhelium_ir.compiler.pipeline import Pipeline
    from fhelium_ir.tools.compile_text import Job, check_pass_names, compile_text

    target = _target(options)
    name, text = _read_input(options)
    pipeline = Pipeline.parse(",".join(options.passes))
    if options.stop_after is not None:
        pipeline = pipeline.until(options.stop_after)
    pipeline.instantiate()
    check_pass_names(options, pipeline)
    if options.reduce is not None:
        return _reduce(options, text, name)
    parts = split_source(text) if options.split_input_file else [text]
    outputs: list[str] = []
    failed = False
    for number, part in enumerate(parts):
        folder = _dump_dir(options, number, len(parts))
        job = Job(
            name,
            pipeline,
            options.target,
            target,
            options.verify_each,
            options,
            folder,
            options.frontend,
        )
        outcome = compile_text(part, job)
        if outcome.output is not None:
            outputs.append(outcome.output)
        for error in outcome.errors:
            report(error, {name: text}, debug=options.debug)
            failed = True
    if not failed or (options.output is None and outputs):
        write_output(options.output, f"{SPLIT_LINE}\n".join(outputs))
    return 1 if failed else 0


def _read_input(options: Options) -> tuple[str, str]:
    """Name and text of the input; a reproducer sets the passes as well."""
    if options.run_reproducer is None:
        return read_source(options.file)
    from fhelium_ir.tools.reproducer import read_reproducer

    if options.passes or options.file != "-":
        raise FheliumError("--run-reproducer stands for FILE and -p; do not give them as well")
    name, text = read_source(options.run_reproducer)
    reproducer = read_reproducer(text, name)
    options.passes = [reproducer.pipeline]
    options.verify_each = options.verify_each and reproducer.verify_each
    return name, text


def _dump_dir(options: Options, number: int, count: int) -> Path | None:
    """The folder for the dumps of one part: of several parts, each has one of its own."""
    if options.dump_dir is None:
        return None
    folder = Path(options.dump_dir)
    return folder if count == 1 else folder / f"part-{number + 1}"


def _reduce(options: Options, text: str, name: str) -> int:
    from fhelium_ir.tools.reduction import reduce_text

    assert options.reduce is not None
    write_output(options.output, reduce_text(text, name, options.reduce, options.reduce_limit))
    return 0


def _target(options: Options) -> universe.Target:
    if not options.print_generic and not options.print_loc:
        return universe.load_target(options.target)
    if options.target != "mlir":
        option = "--print-generic" if options.print_generic else "--print-loc"
        raise FheliumError(f"{option} does not apply to target '{options.target}'")
    from fhelium_ir.compiler.printing import print_mlir

    generic, locations = options.print_generic, options.print_loc
    return lambda module, stream: print_mlir(module, stream, generic=generic, locations=locations)


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


if __name__ == "__main__":
    sys.exit(main())
