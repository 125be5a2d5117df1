"""Names of all dialects, passes, targets, pipelines and implementations, as lazy factories.

Everything that a tool or a pipeline can name stands here once, as `module:attribute`. Nothing is
imported until it is asked for, so start-up stays quick and no inner part of the project imports
an outer one.

Plugins add names with `register`. What is costly to ask for, such as the plugins of installed
packages, is a source: it is asked when a name is not known, or when all names are wanted.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TextIO, TypeAlias, cast

from fhelium_ir.compiler.errors import FheliumError, unknown_name

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Dialect
    from xdsl.passes import ModulePass

    from fhelium_ir.frontends.frontend import Frontend

Target: TypeAlias = "Callable[[ModuleOp, TextIO], None]"
"""Writes a module in some form to a text stream."""

Kind: TypeAlias = Literal["dialect", "pass", "target", "frontend", "implementation", "service"]


@dataclass(frozen=True)
class Provided:
    """What a plugin provides under a name: where it comes from, for messages, and how to get it."""

    origin: str
    load: Callable[[], object]


Entry: TypeAlias = "str | Provided"
"""`module:attribute`, or what a plugin provides."""

DIALECTS: dict[str, Entry] = {
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
PASSES: dict[str, Entry] = {
    "unroll-loops": "fhelium_ir.passes.unroll_loops:UnrollLoops",
    "ckks-expand": "fhelium_ir.passes.ckks_expand:CkksExpand",
    "select-parameters": "fhelium_ir.passes.select_parameters:SelectParameters",
    "ckks-manage": "fhelium_ir.passes.ckks_manage:CkksManage",
    "ckks-check": "fhelium_ir.passes.ckks_check:CkksCheck",
    "merge-divisions": "fhelium_ir.passes.merge_divisions:MergeDivisions",
    "convert-ckks-to-rns": "fhelium_ir.lowering.convert_ckks_to_rns:ConvertCkksToRns",
    "place-domains": "fhelium_ir.passes.place_domains:PlaceDomains",
    "hoist-rotations": "fhelium_ir.passes.hoist_rotations:HoistRotations",
    "select-arithmetic": "fhelium_ir.passes.select_arithmetic:SelectArithmetic",
    "select-ntt-schedules": "fhelium_ir.passes.select_ntt_schedules:SelectNttSchedules",
    "track-montgomery": "fhelium_ir.passes.track_montgomery:TrackMontgomery",
    "form-fusion-regions": "fhelium_ir.passes.form_fusion_regions:FormFusionRegions",
    "tune-ntt-schedules": "fhelium_ir.passes.tune_ntt_schedules:TuneNttSchedules",
    "infer-resources": "fhelium_ir.passes.infer_resources:InferResources",
    "assign-streams": "fhelium_ir.passes.assign_streams:AssignStreams",
    "plan-memory": "fhelium_ir.passes.plan_memory:PlanMemory",
    "convert-regions-to-kernels": (
        "fhelium_ir.lowering.convert_regions_to_kernels:ConvertRegionsToKernels"
    ),
    "convert-zq-to-arith": "fhelium_ir.lowering.convert_zq_to_arith:ConvertZqToArith",
    "chain-launches": "fhelium_ir.passes.chain_launches:ChainLaunches",
    "assign-cache-hints": "fhelium_ir.passes.assign_cache_hints:AssignCacheHints",
    "canonicalize": "xdsl.transforms.canonicalize:CanonicalizePass",
    "compose-rotations": "fhelium_ir.passes.compose_rotations:ComposeRotations",
    "cse": "fhelium_ir.passes.cse:Cse",
    "dce": "xdsl.transforms.dead_code_elimination:DeadCodeElimination",
}

TARGETS: dict[str, Entry] = {
    "mlir": "fhelium_ir.compiler.printing:print_mlir",
    "triton": "fhelium_ir.lowering.triton.printer:print_triton",
    "llvm": "fhelium_ir.lowering.cpu.llvm_target:print_llvm",
    "host": "fhelium_ir.lowering.host_printer:print_host",
    "resources-json": "fhelium_ir.lowering.resources_json:print_resources_json",
    "dot": "fhelium_ir.tools.dot:print_dot",
    "svg": "fhelium_ir.tools.svg:print_svg",
    "html": "fhelium_ir.tools.html_page:print_page",
    "python": "fhelium_ir.lowering.standalone:print_standalone",
}

FRONTENDS: dict[str, Entry] = {
    "mlir": "fhelium_ir.frontends.frontend:MlirFrontend",
    "heir": "fhelium_ir.frontends.heir.frontend:HeirFrontend",
}

IMPLEMENTATIONS: dict[str, Entry] = {
    "triton-rns-fused": "fhelium_ir.lowering.triton.fusion:default_fusion",
    "triton-rns-pointwise": "fhelium_ir.lowering.triton.rns:TritonRnsImplementation",
    "kernel-launch": "fhelium_ir.lowering.kernel_launch:KernelLaunchImplementation",
}
"""Factories of the implementations that the default registry holds, see fhelium_ir.backend.registry."""

SERVICES: dict[str, Entry] = {
    "host-source": "fhelium_ir.lowering.host_printer:host_source",
    "host-device": "fhelium_ir.lowering.cpu.machine:host_device",
    "card-device": "fhelium_ir.lowering.triton.machine:card_device",
    "load-kernels": "fhelium_ir.lowering.kernel_libraries:load_kernels",
    "early-kernels": "fhelium_ir.lowering.kernel_libraries:early_kernels",
    "standalone-source": "fhelium_ir.lowering.standalone:standalone_source",
}
"""What linking in fhelium_ir.backend needs of the lowerings."""

# Passes for any IR, and passes that run when they are asked for; they stand in no pipeline.
GENERAL_PASSES = ("cse", "compose-rotations")

DEFAULT_PIPELINE = "fhelium-default"

PIPELINES: dict[str, tuple[str, ...]] = {
    DEFAULT_PIPELINE: tuple(
        name
        for name, path in PASSES.items()
        if str(path).startswith("fhelium_ir.") and name not in GENERAL_PASSES
    ),
}


_TABLES: dict[Kind, dict[str, Entry]] = {
    "dialect": DIALECTS,
    "pass": PASSES,
    "target": TARGETS,
    "frontend": FRONTENDS,
    "implementation": IMPLEMENTATIONS,
    "service": SERVICES,
}

_sources: list[Callable[[], None]] = []


def table(kind: Kind) -> dict[str, Entry]:
    """The registered names of one kind."""
    return _TABLES[kind]


def origin(entry: Entry) -> str:
    """Where an entry comes from, for messages."""
    return entry if isinstance(entry, str) else entry.origin


def register(kind: Kind, name: str, entry: Entry) -> None:
    """Add a name; raises FheliumError if there is one already, naming both origins."""
    known = _TABLES[kind].get(name)
    if known is None and kind == "pass" and name in PIPELINES:
        known = f"the pipeline '{name}'"
    if known is not None:
        raise FheliumError(
            f"{kind} '{name}' is registered twice: by {origin(known)} and by {origin(entry)}"
        )
    _TABLES[kind][name] = entry


def add_source(source: Callable[[], None]) -> None:
    """Add a function that registers more names; it is called once, when they are wanted."""
    _sources.append(source)


def remove_source(source: Callable[[], None]) -> None:
    """Remove a source that has not been asked."""
    if source in _sources:
        _sources.remove(source)


def discover() -> bool:
    """Ask all sources for their names. Returns whether there was one left to ask."""
    found = bool(_sources)
    while _sources:
        _sources.pop(0)()
    return found


def is_known(kind: Kind, name: str) -> bool:
    """Whether a name is registered, perhaps by a plugin."""
    return name in _TABLES[kind] or (discover() and name in _TABLES[kind])


def _load(kind: Kind, name: str) -> object:
    if not is_known(kind, name):
        raise unknown_name(kind, name, _TABLES[kind])
    entry = _TABLES[kind][name]
    if isinstance(entry, Provided):
        return _load_provided(kind, name, entry)
    module_name, _, attribute = entry.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # A missing module inside a package that exists, or a missing third-party package.
        raise FheliumError(
            f"{kind} '{name}' is not available: no module named '{error.name}'"
        ) from error
    return cast(object, getattr(module, attribute))


def _load_provided(kind: Kind, name: str, entry: Provided) -> object:
    try:
        return entry.load()
    except FheliumError:
        raise
    except (Exception, SystemExit) as error:
        detail = f"{type(error).__name__}: {error}"
        raise FheliumError(f"{kind} '{name}' of {entry.origin} is broken: {detail}") from error


def is_available(entry: Entry) -> bool:
    """Whether the module of a `module:attribute` path exists; it is not imported."""
    if isinstance(entry, Provided):
        return True
    try:
        return importlib.util.find_spec(entry.partition(":")[0]) is not None
    except ModuleNotFoundError:
        return False


def load_dialect(name: str) -> Dialect:
    """The dialect registered as `name`; raises FheliumError if there is none."""
    from xdsl.ir import Dialect

    loaded = _load("dialect", name)
    if not isinstance(loaded, Dialect):
        raise FheliumError(f"dialect '{name}' of {_origin_of('dialect', name)} is no Dialect")
    if loaded.name != name:
        raise FheliumError(f"dialect '{name}' calls itself '{loaded.name}'")
    return loaded


def load_pass(name: str) -> type[ModulePass]:
    """The pass class registered as `name`; raises FheliumError if there is none."""
    from xdsl.passes import ModulePass

    loaded = _load("pass", name)
    if not (isinstance(loaded, type) and issubclass(loaded, ModulePass)):
        raise FheliumError(f"pass '{name}' of {_origin_of('pass', name)} is no ModulePass class")
    if loaded.name != name:
        raise FheliumError(f"pass '{name}' calls itself '{loaded.name}'")
    return loaded


def _origin_of(kind: Kind, name: str) -> str:
    return origin(_TABLES[kind][name])


def load_target(name: str) -> Target:
    """The printing function registered as `name`; raises FheliumError if there is none."""
    loaded = _load("target", name)
    if not callable(loaded):
        raise FheliumError(f"target '{name}' of {_origin_of('target', name)} is no function")
    return cast("Target", loaded)


def load_frontend(name: str) -> type[Frontend]:
    """The frontend class registered as `name`; raises FheliumError if there is none."""
    from fhelium_ir.frontends.frontend import Frontend

    loaded = _load("frontend", name)
    if not (isinstance(loaded, type) and issubclass(loaded, Frontend)):
        raise FheliumError(f"frontend '{name}' of {_origin_of('frontend', name)} is no Frontend")
    return loaded


def load_implementation(name: str) -> Callable[[], object]:
    """The factory of the implementation registered as `name`; raises FheliumError if there is none."""
    return cast("Callable[[], object]", _load("implementation", name))


def load_service(name: str) -> object:
    """A function of the lowerings that linking needs; raises FheliumError if there is none."""
    return _load("service", name)


def make_context() -> Context:
    """A context in which every registered dialect is loaded when the text first names it."""
    from fhelium_ir.compiler.context import PluginContext

    return PluginContext.of_universe()
