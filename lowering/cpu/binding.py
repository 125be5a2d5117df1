"""LLVM, reached through llvmlite.binding in this module only: LLVM IR to machine code, and loading.

Worker processes import this module: it stays free of xDSL and torch. llvmlite takes one lock
around every call into LLVM, so threads do not compile in parallel.

Code comes in vectors already (see `lane_values`), and computes everything once, in the outermost loop that knows it.
Of LLVM's optimiser one pass is left that does something for doubles, and none for products by halves; the others take
four times as long, and pay only where 32-bit words are widened and narrowed (2 % of the run time). Levels of the code
generator below 2 save a tenth of its time and cost up to a third of the run time (Zen 4, ring degree 2^13).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from fhelium_ir.compiler.errors import FheliumError
from fhelium_ir.lowering.cpu.wide_products import UPPER_WORD, VECTOR_WIDTHS, definitions

OPTIMIZATION_LEVEL = 1
"""For 32-bit words."""

CODE_GENERATION_LEVEL = 3


_OPTIONS_BY_HALVES = {
    "combiner-disabled": True,
    "disable-cgp": True,
    "disable-post-ra": True,
    "x86-machine-combiner": False,
}
"""Options of LLVM for texts with products by halves; others get the opposite, which is LLVM's default."""


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine() -> llvm.TargetMachine:
    _initialize()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=CODE_GENERATION_LEVEL,
        jit=True,
    )


@dataclass(frozen=True)
class Machine:
    """A processor by LLVM's names: its triple, its model (may be empty) and features such as `+neon`."""

    triple: str
    model: str = ""
    features: str = ""

    def target_machine(self) -> llvm.TargetMachine:
        """LLVM's code generator for it."""
        llvm.initialize_all_targets()
        llvm.initialize_all_asmprinters()
        return llvm.Target.from_triple(self.triple).create_target_machine(
            cpu=self.model, features=self.features, opt=CODE_GENERATION_LEVEL, jit=True
        )

    def header(self) -> str:
        """As `host_header`, for this processor."""
        layout = self.target_machine().target_data
        return f'target triple = "{self.triple}"\ntarget datalayout = "{layout}"\n'


def host_triple() -> str:
    """LLVM's name of this machine's kind."""
    return llvm.get_process_triple()


@cache
def vector_bits() -> int:
    """The length of this processor's vectors."""
    features = llvm.get_host_cpu_features()
    if features.get("avx512f", False):
        return 512
    return 256 if features.get("avx2", False) else 128


@cache
def host_header() -> str:
    """The lines of LLVM IR that say what the rest is for."""
    layout = str(_target_machine().target_data)
    return f'target triple = "{host_triple()}"\ntarget datalayout = "{layout}"\n'


@cache
def host_description() -> str:
    """Everything about LLVM and this machine that decides what code comes out of a text."""
    version = ".".join(str(part) for part in llvm.llvm_version_info)
    features = llvm.get_host_cpu_features().flatten()
    return "\n".join(
        (
            f"llvmlite {llvmlite.__version__}",
            f"LLVM {version}",
            host_triple(),
            llvm.get_host_cpu_name(),
            ",".join(sorted(features.split(","))),
            f"levels {OPTIMIZATION_LEVEL} {CODE_GENERATION_LEVEL}",
        )
    )


def quick_object_code(text: str) -> bytes:
    """As `object_code`, in processes that do nothing else.

    On x86 the code generator takes more than half of its time for simplifications and for scheduling that change
    nothing in products by halves: run times stay the same without them. The options that leave them out are those of
    the whole process, and LLVM ends the process where it cannot do without them.

    Raises:
        FheliumError: LLVM refuses the text.
    """
    if llvm.get_process_triple().startswith("x86_64"):
        by_halves = UPPER_WORD in text
        for option, value in _OPTIONS_BY_HALVES.items():
            llvm.set_option("fhelium-ir", f"-{option}={str(value == by_halves).lower()}")
    return object_code(text)


def optimized_text(text: str) -> str:
    """LLVM IR after optimisation, as the code generator gets it.

    Raises:
        FheliumError: LLVM refuses the text.
    """
    return str(_optimize(text, _target_machine()))


def object_code(text: str) -> bytes:
    """An object file for this processor.

    Raises:
        FheliumError: LLVM refuses the text.
    """
    machine = _target_machine()
    return machine.emit_object(_optimize(text, machine))


def assembly(text: str, machine: Machine | None = None) -> str:
    """The assembly of a module, for this processor or for another one that LLVM knows.

    Raises:
        FheliumError: LLVM refuses the text.
    """
    chosen = _target_machine() if machine is None else machine.target_machine()
    return chosen.emit_assembly(_optimize(text, chosen))


def _optimize(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise FheliumError(f"LLVM refuses the generated code: {error}") from error
    if UPPER_WORD in text:
        widths = [n for n in VECTOR_WIDTHS if f"@{UPPER_WORD}.{n}(" in text]
        _inline_products(module, machine, widths)
    elif "double" in text:
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
        passes = llvm.create_new_module_pass_manager()
        passes.add_instruction_combine_pass()
        passes.run(module, builder)
    else:
        options = llvm.create_pipeline_tuning_options(OPTIMIZATION_LEVEL)
        options.loop_vectorization = False
        options.loop_interleaving = False
        options.slp_vectorization = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
    return module


def _inline_products(
    module: llvm.ModuleRef, machine: llvm.TargetMachine, widths: Sequence[int]
) -> None:
    module.link_in(llvm.parse_assembly(definitions(widths)))
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(0))
    passes = llvm.create_new_module_pass_manager()
    passes.add_always_inliner_pass()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)


class NativeCode:
    """Object files loaded into the process; their code lives as long as this object.

    Args:
        objects: by the name of the one function wanted of it, an object file as `object_code`
            makes them, for this processor. Anything else may end the process.
    """

    def __init__(self, objects: Mapping[str, bytes]):
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target_machine())
        for data in objects.values():
            self._engine.add_object_file(llvm.ObjectFileRef.from_data(data))
        self._engine.finalize_object()
        self.addresses = {name: self._engine.get_function_address(name) for name in objects}
        missing = [name for name, address in self.addresses.items() if address == 0]
        if missing:
            raise FheliumError(f"native code lacks {', '.join(missing)}")
