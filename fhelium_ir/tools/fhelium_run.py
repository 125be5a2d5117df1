"""`fhelium-run`: compile a CKKS program, make keys, encrypt, run, decrypt, compare with the cleartext result."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass

from fhelium_ir.compiler.errors import FheliumError, nearest, unknown_name
from fhelium_ir.tools.command_line import ArgumentParser, report, run_tool
from fhelium_ir.tools.completion import SHELLS, completion_script
from fhelium_ir.tools.files import read_source, write_output
from fhelium_ir.tools.implementations import (
    ImplementationOptions,
    add_implementation_options,
    implementations,
)
from fhelium_ir.tools.run_commands import (
    COMMANDS,
    TARGETS,
    add_compile_options,
    run_command,
    seed,
)


@dataclass(eq=False)
class Options(ImplementationOptions):
    """The command line; each field is the option of the same name."""

    file: str | None = None
    inputs: str | None = None
    target: str = "auto"
    ring_degree: int | None = None
    rotation_keys: str | None = None
    frontend: str = "mlir"
    entry: str | None = None
    seed: int | None = None
    device: str | None = None
    tolerance: float | None = None
    export: str | None = None
    profile: bool = False
    completion: str | None = None
    debug: bool = False


def make_argument_parser() -> ArgumentParser:
    """The options of `fhelium-run`."""
    parser = ArgumentParser(
        prog="fhelium-run",
        description="Compile a CKKS program, encrypt its inputs under fresh keys, run it, decrypt\n"
        "the results and compare them with the same program on plain numbers.",
        usage="%(prog)s [options] FILE\n       %(prog)s COMMAND ...",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"Client and server apart, by files:\n{_command_help()}\n\n"
        "`%(prog)s COMMAND --help` lists the options of a command. A program called like a command\n"
        "is ./NAME.\nDecrypted CKKS results carry an error that depends on the secret key; do not hand\n"
        "them to others without noise added.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("file", metavar="FILE", nargs="?", help="the program; - is standard input")
    add(
        "--inputs",
        metavar="FILE.json",
        help="object of named vectors, complex numbers as [re, im]; without it, random numbers",
    )
    add_compile_options(parser, TARGETS)
    add("--seed", type=seed, help="reproducible keys and inputs, for tests only: they are insecure")
    add(
        "--tolerance",
        type=float,
        help="largest error accepted, relative to the largest result above 1 (default: "
        "2^-(scale bits - 25))",
    )
    add_implementation_options(parser)
    add("--export", metavar="FILE.py", help="write the linked program as files of its own")
    add("--completion", choices=SHELLS, help="print a script that completes command lines")
    add(
        "--profile",
        action="store_true",
        help="run again and print time, bytes and floor of each kernel and region",
    )
    add("--debug", action="store_true", help="show a traceback with an error")
    return parser


def _command_help() -> str:
    return "\n".join(f"  {name:9}{command.help}" for name, command in COMMANDS.items())


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_tool(lambda: _main(arguments), debug="--debug" in arguments)


def _main(argv: list[str]) -> int:
    if argv and argv[0] in COMMANDS:
        return run_command(argv[0], argv[1:])
    _check_command(argv)
    options = Options()
    parser = make_argument_parser()
    parser.parse(argv, options)
    if options.completion is not None:
        write_output(None, completion_script(options.completion, parser))
        return 0
    if options.file is None:
        parser.error("the following arguments are required: FILE")
    name, text = read_source(options.file)
    try:
        with implementations(options.load_implementation, options.no_default_implementations):
            return _run(name, text, options)
    except FheliumError as error:
        report(error, {name: text}, debug=options.debug)
        return 1


def _check_command(argv: list[str]) -> None:
    """Raises FheliumError for what is no file but nearly the name of a command."""
    first = argv[0] if argv else ""
    if first.isalpha() and not os.path.exists(first) and nearest(first, COMMANDS):
        raise unknown_name("command", first, COMMANDS)


def _run(name: str, text: str, options: Options) -> int:
    # Importing torch takes seconds; --help and errors in the text should not.
    from fhelium_ir.tools.run_program import compile_program, execute, read_inputs
    from fhelium_ir.tools.run_report import print_report

    for option in ("profile", "export"):
        if getattr(options, option) and options.target == "reference":
            raise FheliumError(f"--{option} needs a target with kernels, not 'reference'")
    program = compile_program(name, text, options)
    inputs = read_inputs(program, options.inputs, options.seed)
    outcome = execute(program, inputs, options)
    print_report(program, outcome)
    if outcome.launch_times:
        from fhelium_ir.tools.run_profile import print_profile

        print_profile(outcome.launch_times, program.lowered, program.name, outcome.bandwidth)
    if outcome.largest_error > outcome.tolerance:
        raise FheliumError(
            f"the largest error {outcome.largest_error:.3g} is above the tolerance "
            f"{outcome.tolerance:.3g}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
