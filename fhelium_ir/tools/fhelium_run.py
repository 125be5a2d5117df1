"""`fhelium-run`: compile a CKKS program, make keys, encrypt, run, decrypt, compare with the cleartext result."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.tools.command_line import ArgumentParser, report, run_tool
from fhelium_ir.tools.completion import SHELLS, completion_script
from fhelium_ir.tools.files import read_source, write_output
from fhelium_ir.tools.implementations import (
    ImplementationOptions,
    add_implementation_options,
    implementations,
)
from fhelium_ir.tools.progress import step

TARGETS = ("auto", "cuda", "cpu", "triton-interpret", "interpret", "reference")


@dataclass(eq=False)
class Options(ImplementationOptions):
    """The command line; each field is the option of the same name."""

    file: str | None = None
    inputs: str | None = None
    target: str = "auto"
    ring_degree: int | None = None
    rotation_keys: str | None = None
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
        description="Compile a CKKS program, encrypt its inputs under fresh keys, run it, decrypt "
        "the results and compare them with the same program on plain numbers.",
        epilog="Decrypted CKKS results carry an error that depends on the secret key; do not hand "
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
    add("--target", choices=TARGETS, default="auto", help="where to run (default: auto)")
    add("--ring-degree", type=int, metavar="N", help="rescale the parameters to this ring degree")
    add(
        "--rotation-keys",
        metavar="1,2,4,...",
        help="use rotation keys of these steps only; other rotations are composed of them",
    )
    add("--entry", metavar="NAME", help="the function to run, where there are several")
    add(
        "--seed", type=_seed, help="reproducible keys and inputs, for tests only: they are insecure"
    )
    add("--device", metavar="NAME", help="description that schedules are chosen for")
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


def _seed(text: str) -> int:
    seed = int(text)
    if seed < 0:
        raise argparse.ArgumentTypeError(f"a seed is not negative, found {seed}")
    return seed


def main(argv: list[str] | None = None) -> int:
    """Entry point of the console script; returns the exit code."""
    arguments = sys.argv[1:] if argv is None else argv
    return run_tool(lambda: _main(arguments), debug="--debug" in arguments)


def _main(argv: list[str]) -> int:
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


def _run(name: str, text: str, options: Options) -> int:
    # Importing torch takes seconds; --help and errors in the text should not.
    from fhelium_ir.tools.run_program import compile_program, execute, read_inputs
    from fhelium_ir.tools.run_report import print_report

    for option in ("profile", "export"):
        if getattr(options, option) and options.target == "reference":
            raise FheliumError(f"--{option} needs a target with kernels, not 'reference'")
    with step("compiling"):
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
