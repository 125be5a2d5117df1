"""From a program's text to a compiled program, through the default pipeline; in memory or as a folder of files."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr

from fhelium_ir import universe
from fhelium_ir.backend.execution import OperationBackend, ProgramExecutable
from fhelium_ir.backend.interface import SOURCE, interface_of, source_hash
from fhelium_ir.backend.linking import default_pipeline, run_with_regions
from fhelium_ir.backend.program import entry_function
from fhelium_ir.backend.workspace import BackendWorkspace, choose_target, description_for
from fhelium_ir.client.files import NewFile, write_files
from fhelium_ir.client.interface import Interface, KeyName
from fhelium_ir.client.materials import without_keys
from fhelium_ir.client.parameters import rescaled
from fhelium_ir.client.storage import INTERFACE_FILE, interface_text, read_interface
from fhelium_ir.compiler.collection import no_collection
from fhelium_ir.compiler.compilation import Compilation
from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.compiler.parsing import parse_module
from fhelium_ir.compiler.pipeline import PassObserver, Pipeline
from fhelium_ir.compiler.printing import mlir_text
from fhelium_ir.compiler.verification import verify_module
from fhelium_ir.dialects import ckks, kernel
from fhelium_ir.frontends.frontend import ClientSide, make_frontend
from fhelium_ir.parameters import Parameters

if TYPE_CHECKING:
    from fhelium_ir.backend.materializer import KeySource

LAST_PROGRAM_PASS = "merge-divisions"

PROGRAM_FILE, HOST_FILE = "program.mlir", "host.mlir"
"""Files of a compiled program beside its interface: the program with all levels and scales, and the kernels with the
host program."""


@dataclass(frozen=True)
class CompileOptions:
    """What compilation depends on besides the program.

    Attributes:
        target: where it will run, one of `fhelium_ir.backend.workspace.TARGETS` or `reference`.
        entry: the function, where there are several.
        ring_degree: rescale the parameters to this one.
        rotation_keys: steps by commas; all rotations are composed of these.
        device: description that schedules are chosen for; None is what `description_for` the target says.
        frontend: what reads the text, as `fhelium_ir.frontends.frontend.make_frontend` takes it.
        linked: the program will be linked in this process, so that machine code may be begun with before the end.
    """

    target: str
    entry: str | None = None
    ring_degree: int | None = None
    rotation_keys: str | None = None
    device: str | None = None
    frontend: str = "mlir"
    linked: bool = False


@dataclass(frozen=True)
class CompiledProgram:
    """A program at its program stage and fully lowered, with its interface.

    Attributes:
        interface: what client and server must agree on.
        target: that it was compiled for.
        program_stage: with levels and scales, after the passes of the program stage.
        lowered: kernels, resources and host program.
        regions: the region stage, where it is known.
        compile_seconds: that compilation took.
        source: packs and unpacks the source program's tensors, where its frontend states that.
        device: description that arithmetic and schedules were chosen for.
    """

    interface: Interface
    target: str
    program_stage: ModuleOp
    lowered: ModuleOp
    regions: ModuleOp | None = None
    compile_seconds: float = 0.0
    source: ClientSide | None = None
    device: str | None = None

    @property
    def name(self) -> str:
        """The function's name."""
        return self.interface.name

    @property
    def parameters(self) -> Parameters:
        """Ring, moduli and gadget."""
        return self.interface.parameters

    @property
    def required_keys(self) -> tuple[KeyName, ...]:
        """Kind and Galois element of each evaluation key that the function reads."""
        return self.interface.required_keys

    @property
    def kernel_count(self) -> int:
        """Distinct kernels."""
        return sum(isinstance(op, kernel.FuncOp) for op in self.lowered.ops)

    def link(self, materials: KeySource, target: str | None = None) -> ProgramExecutable:
        """The program with its tables, keys and plaintexts on the target's device."""
        return link_module(
            self.lowered,
            self.interface,
            target or self.target,
            materials,
            self.regions,
            device=self.device,
        )

    def save(self, folder: str | Path) -> list[Path]:
        """Writes the program into a folder, which is made if it is missing, and returns the paths.

        Old files of a program are replaced, any others stay. After a failure nothing is new.

        Raises:
            FheliumError: the folder or a file cannot be written.
        """
        path = Path(folder)
        texts = {
            HOST_FILE: mlir_text(self.lowered).encode(),
            PROGRAM_FILE: mlir_text(self.program_stage).encode(),
        }
        server = {
            "target": self.target,
            "device": self.device,
            "files": {name: hashlib.sha256(text).hexdigest() for name, text in texts.items()},
        }
        texts[INTERFACE_FILE] = interface_text(self.interface, **server).encode()
        made = _make_folder(path)
        try:
            write_files([NewFile(path / name, text) for name, text in texts.items()])
        except FheliumError:
            if made:
                path.rmdir()
            raise
        return [path / name for name in texts]


@dataclass(frozen=True)
class StoredProgram:
    """A compiled program in a folder; its modules are parsed when they are asked for.

    Attributes:
        interface: what client and server must agree on.
        target: that it was compiled for.
        folder: where it is.
        digests: SHA-256 of its files by name.
        device: description that arithmetic and schedules were chosen for, where the folder says so.
    """

    interface: Interface
    target: str
    folder: Path
    digests: Mapping[str, object]
    device: str | None = None

    @staticmethod
    def load(folder: str | Path) -> StoredProgram:
        """The program of a folder.

        Raises:
            FheliumError: there is none, or its interface is damaged.
        """
        path = Path(folder)
        if not path.is_dir():
            raise FheliumError(f"'{path}' is no folder of a compiled program")
        interface, server = read_interface(path)
        target, files = server.get("target"), server.get("files")
        if not isinstance(target, str) or not isinstance(files, dict):
            raise FheliumError(f"'{path / INTERFACE_FILE}' is damaged: its entry 'server' is wrong")
        device = server.get("device")
        return StoredProgram(
            interface,
            target,
            path,
            cast("dict[str, object]", files),
            device if isinstance(device, str) else None,
        )

    @property
    def program_stage(self) -> ModuleOp:
        """The module with levels and scales, parsed anew."""
        return self._module(PROGRAM_FILE)

    def link(self, materials: KeySource, target: str | None = None) -> ProgramExecutable:
        """The program with its tables, keys and plaintexts on the target's device."""
        lowered = self._module(HOST_FILE)
        function = entry_function(lowered, self.interface.name)
        # Modules do not know of the source program's tensors.
        if interface_of(lowered, function) != replace(self.interface, layout=None):
            raise FheliumError(f"'{self.folder / HOST_FILE}' is that of another program")
        return link_module(
            lowered, self.interface, target or self.target, materials, device=self.device
        )

    def _module(self, name: str) -> ModuleOp:
        path = self.folder / name
        try:
            data = path.read_bytes()
        except OSError as error:
            raise FheliumError(f"cannot read '{path}': {error.strerror or error}") from error
        if hashlib.sha256(data).hexdigest() != self.digests.get(name):
            raise FheliumError(
                f"'{path}' is not what was compiled: its checksum differs from the one in "
                f"{INTERFACE_FILE}"
            )
        module = parse_module(universe.make_context(), data.decode(), str(path))
        verify_module(module)
        return module


def _make_folder(path: Path) -> bool:
    """Makes a folder and returns whether it was missing."""
    try:
        path.mkdir()
    except FileExistsError as error:
        if path.is_dir():
            return False
        raise FheliumError(f"cannot write '{path}': it is a file") from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise FheliumError(f"cannot make folder '{path}': {reason or error}") from error
    return True


def compile_text(
    name: str, text: str, options: CompileOptions, observers: Sequence[PassObserver] = ()
) -> CompiledProgram:
    """Parses a program and runs the default pipeline.

    Args:
        name: of the text, for errors.
        text: what the frontend reads.
        options: target, function, ring degree, rotation keys and device.
        observers: see `Pipeline.run`.

    Raises:
        FheliumError: anything wrong with the text, the options or the program.
    """
    start = time.perf_counter()
    with no_collection(), ExitStack() as stack:
        if options.linked:
            # Kernels are compiled in other processes while the passes go on that leave them as they are.
            service = universe.load_service("early-kernels")
            early = cast("Callable[[str], AbstractContextManager[None]]", service)
            stack.enter_context(early(options.target))
        program = _compile_text(name, text, options, observers)
    return replace(program, compile_seconds=time.perf_counter() - start)


def _compile_text(
    name: str, text: str, options: CompileOptions, observers: Sequence[PassObserver]
) -> CompiledProgram:
    context = universe.make_context()
    imported = make_frontend(options.frontend).read(text, name)
    module = imported.module
    if options.ring_degree is not None:
        # Sums over more slots than the smaller ring has are legal once they are rotations.
        passes = ("unroll-loops", "ckks-expand", "select-parameters")
        Pipeline("parameters", passes).run(context, module)
        parameters = rescaled(ckks.parameters_of(module), options.ring_degree)
        module.attributes[ckks.PARAMS] = ckks.ParamsAttr(parameters)
    verify_module(module)
    device = options.device or description_for(options.target)
    passes = list(default_pipeline(device).passes)
    if options.rotation_keys is not None:
        place = passes.index("ckks-manage")
        passes.insert(place, f"compose-rotations{{keys={options.rotation_keys}}}")
    split = passes.index(LAST_PROGRAM_PASS) + 1
    Pipeline("program stage", tuple(passes[:split])).run(context, module, observers=observers)
    function_name = entry_function(module, options.entry).sym_name.data
    program_stage = module.clone()
    module.attributes[SOURCE] = StringAttr(source_hash(program_stage))
    # What the passes are given has verified. Verifying what each of them leaves takes a quarter of the time: that is
    # for tests and `fhelium-opt`; here the end is verified.
    lowering = Pipeline("lowering", tuple(passes[split:]))
    regions = run_with_regions(lowering, context, module, observers, verify_each=False)
    interface = interface_of(module, entry_function(module, function_name))
    if imported.client is not None:
        interface = replace(interface, layout=imported.client.layout(function_name))
    return CompiledProgram(
        interface,
        options.target,
        program_stage,
        module,
        regions,
        source=imported.client,
        device=device,
    )


def link_module(
    lowered: ModuleOp,
    interface: Interface,
    target: str,
    materials: KeySource,
    regions: ModuleOp | None = None,
    *,
    keys_later: bool = False,
    device: str | None = None,
) -> ProgramExecutable:
    """A lowered module linked for a target, by the implementations that its passes asked.

    Args:
        device: description that its schedules were chosen for.
        keys_later: evaluation keys are not asked for; `ProgramExecutable.with_keys` gives them.
    """
    compilation = Compilation(
        lowered,
        interface.parameters,
        materials,
        Pipeline.named(universe.DEFAULT_PIPELINE),
        interface.name,
        regions,
    )
    backend = OperationBackend(workspace=BackendWorkspace(target, description=device))
    return backend.link(compilation, keys_later=keys_later)


def compile_source(
    source: str | os.PathLike[str],
    target: str,
    entry: str | None,
    ring_degree: int | None,
    rotation_keys: Sequence[int] | None,
) -> ProgramExecutable:
    """See `fhelium_ir.compile`."""
    name, text = _read(source)
    keys = None if rotation_keys is None else ",".join(map(str, rotation_keys))
    options = CompileOptions(choose_target(target), entry, ring_degree, keys, linked=True)
    program = compile_text(name, text, options)
    program.parameters.check_security()
    return link_module(
        program.lowered,
        program.interface,
        program.target,
        without_keys(program.parameters),
        program.regions,
        keys_later=True,
        device=program.device,
    )


def _read(source: str | os.PathLike[str]) -> tuple[str, str]:
    if isinstance(source, str) and "\n" in source:
        return "<text>", source
    path = os.fspath(source)
    try:
        return path, Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise FheliumError(f"cannot read '{path}': {error.strerror or error}") from error
    except ValueError as error:
        raise FheliumError(f"cannot read {path!r}: {error}") from error
