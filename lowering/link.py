"""Linking: from a lowered module to an executable on a target."""

from __future__ import annotations

import torch
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.traits import SymbolTable

from fhelium_ir.backend.executable import BufferSpec, Executable, KernelLibrary
from fhelium_ir.backend.materializer import KeySource, Materializer
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import host, resource, rns
from fhelium_ir.lowering.convert_ckks_to_rns import ARGUMENT_NAME, module_parameters
from fhelium_ir.lowering.host_printer import host_functions, host_source

TARGETS = ("cuda", "cpu", "triton-interpret", "interpret")
"""Where kernels run: compiled Triton, native code, the same Triton text interpreted, the exact kernel interpreter."""


def choose_target(target: str) -> str:
    """`auto` is cuda where there is a device, else cpu.

    Raises:
        FheliumError: no such target, or no CUDA device for it.
    """
    if target == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if target not in TARGETS:
        raise unknown_name("target", target, (*TARGETS, "auto", "reference"))
    if target == "cuda" and not torch.cuda.is_available():
        raise FheliumError("target 'cuda' needs a CUDA device, and none is available")
    return target


def load_kernels(module: ModuleOp, target: str) -> KernelLibrary:
    """Compiles the kernels of a module for a target."""
    # Each target's compiler is imported only where it is used: they are slow to load.
    if target in ("cuda", "triton-interpret"):
        from fhelium_ir.lowering.triton.kernels import TritonKernels

        return TritonKernels(module, interpret=target == "triton-interpret")
    if target == "interpret":
        from fhelium_ir.reference.kernel import InterpretedKernels

        return InterpretedKernels(module)
    from fhelium_ir.lowering.cpu.kernels import CpuKernels

    return CpuKernels(module)


def entry_function(module: ModuleOp, entry: str | None) -> func.FuncOp:
    """The function named `entry`, or the only one.

    Raises:
        FheliumError: there is none, or there are several and none is named.
    """
    functions = {function.sym_name.data: function for function in host_functions(module)}
    if entry is not None:
        if entry not in functions:
            raise unknown_name("function", entry, functions)
        return functions[entry]
    if len(functions) != 1:
        names = ", ".join(f"@{name}" for name in functions) or "none"
        raise FheliumError(f"the module has {len(functions)} functions ({names}); name one")
    return next(iter(functions.values()))


def link(
    module: ModuleOp, keys: KeySource, target: str = "auto", entry: str | None = None
) -> Executable:
    """An executable for one function of a module that the whole pipeline has lowered.

    Args:
        module: kernels, declared resources and host programs.
        keys: gives evaluation keys and encoded plaintexts.
        target: one of `TARGETS` or `auto`.
        entry: the function's name; may be left out where there is one.

    Raises:
        FheliumError: a resource that the program reads is not declared, or target or entry are unknown.
    """
    target = choose_target(target)
    function = entry_function(module, entry)
    arithmetic = module.attributes.get(rns.ARITHMETIC)
    if not isinstance(arithmetic, rns.ArithmeticAttr):
        raise FheliumError("the module has no arithmetic; run the whole pipeline first")
    device = torch.device("cuda" if target == "cuda" else "cpu")
    source = host_source(function)
    kernels = load_kernels(module, target)
    materializer = Materializer(module_parameters(module), arithmetic.arithmetic.radix_bits, keys)
    resources = {
        name: materializer.materialize(declared).to(device)
        for name, declared in _declared(module, function).items()
    }
    types = function.function_type
    return Executable(
        function.sym_name.data,
        tuple(
            _spec(type_, _argument_name(function, index))
            for index, type_ in enumerate(types.inputs)
        ),
        tuple(_spec(type_, f"result{index}") for index, type_ in enumerate(types.outputs)),
        kernels,
        resources,
        source,
        device,
    )


def _declared(module: ModuleOp, function: func.FuncOp) -> dict[str, resource.DeclareOp]:
    """The declarations of the resources that a host program reads."""
    found: dict[str, resource.DeclareOp] = {}
    for op in function.body.block.ops:
        if not isinstance(op, host.ResourceOp):
            continue
        name = op.symbol.string_value()
        declared = SymbolTable.lookup_symbol(module, op.symbol)
        if not isinstance(declared, resource.DeclareOp):
            raise FheliumError(
                f"the program reads resource @{name}, which is not declared",
                location=location_of(op),
            )
        if declared.buffer != op.result.type:
            raise FheliumError(
                f"the program reads resource @{name} as {op.result.type}, "
                f"it is declared as {declared.buffer}",
                location=location_of(op),
            )
        found[name] = declared
    return found


def _argument_name(function: func.FuncOp, index: int) -> str:
    attributes = function.arg_attrs
    if isinstance(attributes, ArrayAttr) and index < len(attributes.data):
        name = attributes.data[index].data.get(ARGUMENT_NAME)
        if isinstance(name, StringAttr):
            return name.data
    return f"arg{index}"


def _spec(type_: Attribute, name: str) -> BufferSpec:
    buffer = resource.integer_memref(type_)
    return BufferSpec(name, buffer.get_shape(), f"int{buffer.element_type.width.data}")
