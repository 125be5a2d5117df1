"""Names of all dialects, passes, targets and pipelines, as lazy factories.

Everything that a tool or a pipeline can name stands here once, as `module:attribute`. Nothing is
imported until it is asked for, so start-up stays quick and no inner part of the project imports
an outer one.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TextIO, TypeAlias, cast

from fhelium_ir.compiler.errors import FheliumError, unknown_name

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass

Target: TypeAlias = "Callable[[ModuleOp, TextIO], None]"
"""Writes a module in some form to a text stream."""

DIALECTS: dict[str, str] = {
    "ckks": "fhelium_ir.dialects.ckks:Ckks",
    "rns": "fhelium_ir.dialects.rns:Rns",
    "ntt": "fhelium_ir.dialects.ntt:Ntt",
    "fusion": "fhelium_ir.dialects.fusion:Fusion",
    "resource": "fhelium_ir.dialects.resource:Resource",
    "zq": "fhelium_ir.dialects.zq:Zq",
    "kernel": "fhelium_ir.dialects.kernel:Kernel",
    "host": "fhelium_ir.dialects.host:Host",
    "builtin": "xdsl.dialects.builtin:Builtin",
    "func": "xdsl.dialects.func:Func",
    "arith": "xdsl.dialects.arith:Arith",
    "math": "xdsl.dialects.math:Math",
    "scf": "xdsl.dialects.scf:Scf",
    "cf": "xdsl.dialects.cf:Cf",
    "memref": "xdsl.dialects.memref:MemRef",
    "ptr_xdsl": "xdsl.dialects.ptr:Ptr",
    "llvm": "xdsl.dialects.llvm:LLVM",
    "test": "xdsl.dialects.test:Test",
}

# The fhelium passes stand in the order of the default pipeline.
PASSES: dict[str, str] = {
    "ckks-manage": "fhelium_ir.passes.ckks_manage:CkksManage",
    "ckks-check": "fhelium_ir.passes.ckks_check:CkksCheck",
    "convert-ckks-to-rns": "fhelium_ir.lowering.convert_ckks_to_rns:ConvertCkksToRns",
    "place-domains": "fhelium_ir.passes.place_domains:PlaceDomains",
    "select-arithmetic": "fhelium_ir.passes.select_arithmetic:SelectArithmetic",
    "select-ntt-schedules": "fhelium_ir.passes.select_ntt_schedules:SelectNttSchedules",
    "track-montgomery": "fhelium_ir.passes.track_montgomery:TrackMontgomery",
    "form-fusion-regions": "fhelium_ir.passes.form_fusion_regions:FormFusionRegions",
    "tune-ntt-schedules": "fhelium_ir.passes.tune_ntt_schedules:TuneNttSchedules",
    "infer-resources": "fhelium_ir.passes.infer_resources:InferResources",
    "plan-memory": "fhelium_ir.passes.plan_memory:PlanMemory",
    "convert-regions-to-kernels": (
        "fhelium_ir.lowering.convert_regions_to_kernels:ConvertRegionsToKernels"
    ),
    "convert-zq-to-arith": "fhelium_ir.lowering.convert_zq_to_arith:ConvertZqToArith",
    "convert-kernels-to-llvm": (
        "fhelium_ir.lowering.cpu.convert_kernels_to_llvm:ConvertKernelsToLlvm"
    ),
    "canonicalize": "xdsl.transforms.canonicalize:CanonicalizePass",
    "cse": "xdsl.transforms.common_subexpression_elimination:CommonSubexpressionElimination",
    "dce": "xdsl.transforms.dead_code_elimination:DeadCodeElimination",
}

TARGETS: dict[str, str] = {
    "mlir": "fhelium_ir.compiler.printing:print_mlir",
    "triton": "fhelium_ir.lowering.triton.printer:print_triton",
    "host": "fhelium_ir.lowering.host_printer:print_host",
    "resources-json": "fhelium_ir.lowering.resources_json:print_resources_json",
}

# Passes of one target only; the default pipeline ends before them.
TARGET_PASSES = ("convert-kernels-to-llvm",)

DEFAULT_PIPELINE = "fhelium-default"

PIPELINES: dict[str, tuple[str, ...]] = {
    DEFAULT_PIPELINE: tuple(
        name
        for name, path in PASSES.items()
        if path.startswith("fhelium_ir.") and name not in TARGET_PASSES
    ),
}


def _load(kind: str, name: str, table: Mapping[str, str]) -> object:
    path = table.get(name)
    if path is None:
        raise unknown_name(kind, name, table)
    module_name, _, attribute = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # A missing module inside a package that exists, or a missing third-party package.
        raise FheliumError(
            f"{kind} '{name}' is not available: no module named '{error.name}'"
        ) from error
    return cast(object, getattr(module, attribute))


def is_available(path: str) -> bool:
    """Whether the module of a `module:attribute` path exists; it is not imported."""
    try:
        return importlib.util.find_spec(path.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def load_dialect(name: str) -> Dialect:
    """The dialect registered as `name`; raises FheliumError if there is none."""
    return cast("Dialect", _load("dialect", name, DIALECTS))


def load_pass(name: str) -> type[ModulePass]:
    """The pass class registered as `name`; raises FheliumError if there is none."""
    loaded = cast("type[ModulePass]", _load("pass", name, PASSES))
    if loaded.name != name:
        raise FheliumError(f"pass '{name}' calls itself '{loaded.name}'")
    return loaded


def load_target(name: str) -> Target:
    """The printing function registered as `name`; raises FheliumError if there is none."""
    return cast("Target", _load("target", name, TARGETS))


def make_context() -> Context:
    """A context in which every registered dialect is loaded when the text first names it."""
    from xdsl.context import Context

    def factory(name: str) -> Callable[[], Dialect]:
        return lambda: load_dialect(name)

    context = Context()
    for name in DIALECTS:
        context.register_dialect(name, factory(name))
    return context
