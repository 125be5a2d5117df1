"""llvmlite, reached in this module only: mark loops, optimise, link code into the process.

llvmlite takes one lock around every call into LLVM, so threads do not compile in parallel.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import llvmlite.binding as llvm
from llvmlite import ir

from fhelium_ir.compiler.errors import FheliumError

OPTIMIZATION_LEVEL = 3


@cache
def _initialize() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _target_machine() -> llvm.TargetMachine:
    _initialize()
    return llvm.Target.from_triple(llvm.get_process_triple()).create_target_machine(
        cpu=llvm.get_host_cpu_name(),
        features=llvm.get_host_cpu_features().flatten(),
        opt=OPTIMIZATION_LEVEL,
        jit=True,
    )


def host_triple() -> str:
    """LLVM's name of this machine's kind."""
    return llvm.get_process_triple()


@cache
def multiplies_vectors() -> bool:
    """Whether this processor multiplies vectors of 64-bit words."""
    return llvm.get_host_cpu_features().get("avx512dq", False)


@cache
def host_data_layout() -> str:
    """Sizes and alignments on this machine; LLVM reads loads and stores in their light."""
    return str(_target_machine().target_data)


class NativeModule:
    """An LLVM module compiled for this processor; its code lives as long as the object.

    Args:
        text: LLVM IR.

    Raises:
        FheliumError: LLVM refuses the text.
    """

    def __init__(self, text: str):
        machine = _target_machine()
        module = _optimize(text, machine)
        self.optimized_text = str(module)
        self._engine = llvm.create_mcjit_compiler(module, machine)
        self._engine.finalize_object()

    def addresses(self, names: Sequence[str]) -> list[int]:
        """The addresses of functions, which must exist."""
        return [self._engine.get_function_address(name) for name in names]


def _optimize(text: str, machine: llvm.TargetMachine) -> llvm.ModuleRef:
    try:
        module = llvm.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise FheliumError(f"LLVM refuses the generated code: {error}") from error
    options = llvm.create_pipeline_tuning_options(OPTIMIZATION_LEVEL)
    options.loop_vectorization = True
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


_METADATA_NODE = re.compile(r"^(!\d+ = )!\{", re.MULTILINE)


class LoopMarks:
    """Tells LLVM that the iterations of loops are independent.

    Args:
        module: takes the metadata.
    """

    def __init__(self, module: ir.Module):
        self._module = module
        self._loops = 0
        true = ir.Constant(ir.IntType(1), 1)
        self._group = module.add_metadata([])
        self._facts = (
            module.add_metadata(["llvm.loop.parallel_accesses", self._group]),
            module.add_metadata(["llvm.loop.vectorize.enable", true]),
            # Else short loops are unrolled before the vectoriser sees them.
            module.add_metadata(["llvm.loop.unroll.disable"]),
        )

    def mark_loop(self, function: str, first: int, last: int) -> None:
        """Marks the loop that consists of the blocks `first` to `last` and closes at the last."""
        blocks = self._module.get_global(function).blocks[first : last + 1]
        self._loops += 1
        # A loop id is a node that starts with itself.
        loop = self._module.add_metadata([ir.Constant(ir.IntType(32), self._loops)])
        loop.operands = (loop, *self._facts)
        blocks[-1].terminator.set_metadata("llvm.loop", loop)
        for block in blocks:
            for instruction in block.instructions:
                if instruction.opname in ("load", "store"):
                    instruction.set_metadata("llvm.access.group", self._group)

    def text(self) -> str:
        """The module's LLVM IR.

        LLVM wants loop ids and access groups to be distinct nodes, which llvmlite cannot print.
        """
        return _METADATA_NODE.sub(r"\1distinct !{", str(self._module))
