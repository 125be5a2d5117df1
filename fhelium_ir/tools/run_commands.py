"""The commands of `fhelium-run`: client and server apart, by files.

The client needs of a compiled program only `interface.json`; wherever a command of the client takes the folder it also
takes that file. The server never reads a secret key.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.tools.command_line import ArgumentParser, report
from fhelium_ir.tools.files import read_source
from fhelium_ir.tools.implementations import (
    ImplementationOptions,
    add_implementation_options,
    implementations,
)

if TYPE_CHECKING:
    from fhelium_ir.client.interface import Interface
    from fhelium_ir.frontends.frontend import Tensor

TARGETS = ("auto", "cuda", "cpu", "triton-interpret", "interpret", "reference")

INSECURE = "warning: keys or parameters are insecure, for tests only"


@dataclass(eq=False)
class CommandOptions(ImplementationOptions):
    """The options of all commands; each field is the option of the same name."""

    file: str = ""
    folder: str = ""
    output: str | None = None
    target: str = ""
    ring_degree: int | None = None
    rotation_keys: str | None = None
    frontend: str = "mlir"
    entry: str | None = None
    device: str | None = None
    secret: str = ""
    public: str = ""
    key: str = ""
    keys: str = ""
    inputs: str = ""
    plaintexts: str | None = None
    flood: int | None = None
    slots: int | None = None
    seed: int | None = None
    debug: bool = False


@dataclass(frozen=True)
class Command:
    """A command: one line of help, how its options are added, and what it does; that returns the exit code."""

    help: str
    add_options: Callable[[ArgumentParser], None]
    run: Callable[[CommandOptions], int]


def seed(text: str) -> int:
    """A seed from the command line."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError(f"a seed is not negative, found {value}")
    return value


def add_compile_options(parser: ArgumentParser, targets: tuple[str, ...]) -> None:
    """The options that say how a program is compiled."""
    add = parser.add_argument
    add("--target", choices=targets, default="auto", help="where to run (default: auto)")
    add("--ring-degree", type=int, metavar="N", help="rescale the parameters to this ring degree")
    add(
        "--rotation-keys",
        metavar="1,2,4,...",
        help="use rotation keys of these steps only; other rotations are composed of them",
    )
    add(
        "-f",
        "--frontend",
        metavar="NAME",
        default="mlir",
        help="what reads FILE: mlir, or heir for the output of heir-opt (default: mlir)",
    )
    add("--entry", metavar="NAME", help="the function to run, where there are several")
    add(
        "--device",
        metavar="NAME",
        help="description that schedules are chosen for: gpu, cpu, interpreter, a JSON file, or what is measured "
        "(host, cuda); by default the target's, measured for cpu and cuda",
    )


def _compile_options(parser: ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the program; - is standard input")
    _output(parser, "DIR", "folder to write the compiled program to")
    add_compile_options(parser, tuple(target for target in TARGETS if target != "reference"))


def _keygen_options(parser: ArgumentParser) -> None:
    _folder(parser)
    add = parser.add_argument
    add("--secret", metavar="S", required=True, help="new file for the secret key, mode 0600")
    add(
        "--public",
        metavar="E",
        required=True,
        help="file for the public key and the evaluation keys that the program needs",
    )
    add("--seed", type=seed, help="reproducible keys, for tests only: they are insecure")


def _encrypt_options(parser: ArgumentParser) -> None:
    _folder(parser)
    add = parser.add_argument
    add("--key", metavar="E", required=True, help="the public keys, from keygen")
    add(
        "--inputs",
        metavar="FILE.json",
        required=True,
        help="object of named vectors, complex numbers as [re, im]; of tensors for -f heir",
    )
    _output(parser, "CT", "file for the encrypted inputs")
    add("--seed", type=seed, help="reproducible encryption, for tests only: it is insecure")


def _run_options(parser: ArgumentParser) -> None:
    parser.add_argument("folder", metavar="DIR", help="folder of the compiled program")
    add = parser.add_argument
    add("--keys", metavar="E", required=True, help="the public keys, from keygen")
    add("--inputs", metavar="CT", required=True, help="the encrypted inputs")
    add(
        "--plaintexts",
        metavar="FILE.json",
        help="object of named vectors, or tensors, for inputs that the program takes in plain",
    )
    _output(parser, "OUT", "file for the encrypted results")
    parser.add_argument(
        "--target", choices=TARGETS, default="", help="default: what it was compiled for"
    )
    add_implementation_options(parser)


def _decrypt_options(parser: ArgumentParser) -> None:
    _folder(parser)
    add = parser.add_argument
    add("--secret", metavar="S", required=True, help="the secret key, from keygen")
    add("--inputs", metavar="OUT", required=True, help="the encrypted results, from run")
    add(
        "--flood",
        type=int,
        metavar="BITS",
        help="add noise, uniform over 2^BITS integers, to each coefficient before decoding",
    )
    add("--slots", type=int, metavar="N", help="only the first N slots of each result")
    _output(parser, "FILE.json", "write the results there, mode 0600, instead of a table", False)


def _folder(parser: ArgumentParser) -> None:
    parser.add_argument(
        "folder", metavar="DIR", help="folder of the compiled program, or its interface.json"
    )


def _output(parser: ArgumentParser, metavar: str, text: str, required: bool = True) -> None:
    parser.add_argument("-o", "--output", metavar=metavar, required=required, help=text)


# Importing torch takes seconds; --help and errors in the options should not.


def _compile(options: CommandOptions) -> int:
    name, text = read_source(options.file)
    try:
        with implementations(options.load_implementation, options.no_default_implementations):
            return _compile_text(name, text, options)
    except FheliumError as error:
        report(error, {name: text}, debug=options.debug)
        return 1


def _compile_text(name: str, text: str, options: CommandOptions) -> int:
    from fhelium_ir.tools.run_program import compile_program
    from fhelium_ir.tools.run_report import print_interface, print_program

    program = compile_program(name, text, options, elsewhere=True)
    program.parameters.check_security()
    assert options.output is not None
    paths = program.save(options.output)
    print_program(program)
    print_interface(program)
    print(f"written: {', '.join(map(str, paths))}")
    return 0


def _keygen(options: CommandOptions) -> int:
    from fhelium_ir.client.client import Client
    from fhelium_ir.client.interface import key_names
    from fhelium_ir.client.storage import check_new, load_interface, save_pair
    from fhelium_ir.tools.run_program import make_keys

    interface = load_interface(options.folder)
    check_new(options.secret, options.public)
    client = Client(interface.parameters, options.seed)
    keys = make_keys(client, interface)
    save_pair(options.secret, client.secret, options.public, keys)
    _warn(client.insecure)
    names = key_names(interface.parameters, interface.required_keys)
    print(f"secret key: {options.secret}")
    print(f"public key and evaluation keys ({', '.join(names) or 'none'}): {options.public}")
    return 0


def _encrypt(options: CommandOptions) -> int:
    from fhelium_ir.client.inputs import encrypt_inputs, read_inputs
    from fhelium_ir.client.randomness import Randomness
    from fhelium_ir.client.storage import Ciphertexts, load_interface, load_public, save_inputs

    interface = load_interface(options.folder)
    interface.parameters.check_security()
    vectors = read_inputs(options.inputs, interface, encrypted=True)
    key, identity = load_public(options.key, interface.parameters)
    randomness = Randomness(options.seed)
    encrypted = encrypt_inputs(key, interface, vectors, randomness)
    insecure = key.insecure or randomness.insecure
    assert options.output is not None
    save_inputs(options.output, interface, Ciphertexts(encrypted, identity, insecure))
    _warn(insecure)
    names = ", ".join(interface.input_names(encrypted=True))
    print(f"encrypted inputs ({names or 'none'}): {options.output}")
    return 0


def _run(options: CommandOptions) -> int:
    from fhelium_ir.backend.compiling import StoredProgram
    from fhelium_ir.backend.workspace import choose_target
    from fhelium_ir.client.inputs import encode_plaintexts, read_inputs
    from fhelium_ir.client.materials import KeySetMaterials
    from fhelium_ir.client.storage import (
        Ciphertexts,
        load_evaluation_keys,
        load_inputs,
        save_results,
    )
    from fhelium_ir.tools.run_program import REFERENCE, evaluate

    program = StoredProgram.load(options.folder)
    interface = program.interface
    target = options.target or program.target
    target = target if target == REFERENCE else choose_target(target)
    plaintexts = {}
    if options.plaintexts is not None:
        plaintexts = read_inputs(options.plaintexts, interface, encrypted=False)
    elif interface.plaintexts:
        names = ", ".join(interface.input_names(encrypted=False))
        raise FheliumError(f"the program takes inputs in plain ({names}): give --plaintexts")
    encrypted = load_inputs(options.inputs, interface)
    keys = load_evaluation_keys(options.keys, interface)
    if encrypted.identity != keys.identity:
        raise FheliumError(
            f"'{options.inputs}' and '{options.keys}' belong to different secret keys"
        )
    seconds: dict[str, float] = {}
    inputs = {**encrypted.tensors, **encode_plaintexts(interface, plaintexts)}
    with implementations(options.load_implementation, options.no_default_implementations):
        evaluation = evaluate(program, target, KeySetMaterials(keys), inputs, seconds)
    results = {
        result.name: tensor
        for result, tensor in zip(interface.results, evaluation.outputs, strict=True)
    }
    assert options.output is not None
    insecure = encrypted.insecure or keys.insecure
    save_results(options.output, interface, Ciphertexts(results, keys.identity, insecure))
    times = ", ".join(f"{name} {value:.2f} s" for name, value in seconds.items())
    print(f"launches: {evaluation.launches}, target {target}, time: {times}")
    print(f"encrypted results: {options.output}")
    return 0


def _decrypt(options: CommandOptions) -> int:
    from fhelium_ir.client.client import Client
    from fhelium_ir.client.storage import load_interface, load_results, load_secret, save_values
    from fhelium_ir.tools.run_report import print_results

    interface = load_interface(options.folder)
    secret = load_secret(options.secret, interface.parameters)
    encrypted = load_results(options.inputs, interface)
    if encrypted.identity != secret.identity:
        raise FheliumError(f"'{options.inputs}' is not encrypted under '{options.secret}'")
    count = _slots_to_show(options.slots, interface)
    client = Client(interface.parameters, secret=secret)
    tensors = [encrypted.tensors[result.name] for result in interface.results]
    vectors = client.decrypt(interface, tensors, options.flood)
    results: list[Tensor] = [vector[:count] for vector in vectors]
    names = [result.name for result in interface.results]
    if interface.layout is not None:
        results = list(interface.layout.unpack(vectors))
        names = [f"result{index}" for index in range(len(results))]
    if options.output is None:
        print_results(results, "slot" if interface.layout is None else "element")
    else:
        save_values(options.output, dict(zip(names, results, strict=True)))
        print(f"results: {options.output}")
    _warn(encrypted.insecure or client.insecure)
    return 0


def _slots_to_show(wanted: int | None, interface: Interface) -> int:
    slots = interface.parameters.slots
    if wanted is None:
        return slots
    if interface.layout is not None:
        raise FheliumError("--slots: the results are tensors of the source program, not slots")
    if not 1 <= wanted <= slots:
        raise FheliumError(f"a result has {slots} slots, {wanted} were asked for")
    return wanted


def _warn(insecure: bool) -> None:
    if insecure:
        print(INSECURE, file=sys.stderr)


COMMANDS: Mapping[str, Command] = {
    "compile": Command(
        "compile a program into a folder that client and server share", _compile_options, _compile
    ),
    "keygen": Command("client: make the keys that a program needs", _keygen_options, _keygen),
    "encrypt": Command("client: encrypt the inputs of a program", _encrypt_options, _encrypt),
    "run": Command("server: run a program on encrypted inputs", _run_options, _run),
    "decrypt": Command("client: decrypt the results of a program", _decrypt_options, _decrypt),
}


def command_parser(name: str) -> ArgumentParser:
    """The options of one command."""
    command = COMMANDS[name]
    parser = ArgumentParser(
        prog=f"fhelium-run {name}",
        description=f"{command.help[0].upper()}{command.help[1:]}.",
        allow_abbrev=False,
    )
    command.add_options(parser)
    if name == "compile":
        add_implementation_options(parser)
    parser.add_argument("--debug", action="store_true", help="show a traceback with an error")
    return parser


def run_command(name: str, arguments: list[str]) -> int:
    """Runs a command and returns the exit code.

    Raises:
        FheliumError: anything wrong with the options or the files.
    """
    options = CommandOptions(target="auto" if name == "compile" else "")
    command_parser(name).parse(arguments, options)
    return COMMANDS[name].run(options)
