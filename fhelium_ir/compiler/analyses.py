"""Analyses: facts about the IR that passes share.

An analysis is a class whose constructor takes the operation that it analyses, mostly the module:

    counts = get_analysis(UseCounts, module)

While a pipeline runs, an instance is kept for each class and operation until a pass may have
changed the IR; after each pass all are dropped, but those that the pass declares:

    class MyPass(ModulePass):
        preserved_analyses = (UseCounts,)      # or ALL_ANALYSES, for a pass that changes nothing

As in MLIR, a pass that changes the IR and then asks again gets the old instance, unless it calls
`forget_analyses`. Outside of a pipeline nothing is kept: each call makes a new instance.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeAlias, TypeVar, cast

from xdsl.ir import Operation
from xdsl.passes import ModulePass

from fhelium_ir.compiler.errors import FheliumError


class Analysis(Protocol):
    """What can be asked for: a class that is made from an operation."""

    def __init__(self, op: Operation) -> None: ...


A = TypeVar("A", bound=Analysis)

Preserved: TypeAlias = tuple[type[object], ...]
"""Classes of analyses; a class stands for its subclasses as well."""

ALL_ANALYSES: Preserved = (object,)
"""`preserved_analyses` of a pass that changes nothing that an analysis could see."""

_Cache = dict[tuple[type[Analysis], Operation], Analysis]

_cache: ContextVar[_Cache | None] = ContextVar("fhelium_analyses", default=None)


def get_analysis(analysis: type[A], op: Operation) -> A:
    """The analysis of `op`, made now or kept since the IR last changed.

    Args:
        analysis: the class; its constructor may ask for other analyses.
        op: the operation to analyse, compared by identity.
    """
    cache = _cache.get()
    if cache is None:
        return analysis(op)
    known = cache.get((analysis, op))
    if known is None:
        known = cache[analysis, op] = analysis(op)
    return cast(A, known)


def forget_analyses(preserved: Preserved = ()) -> None:
    """Drop every kept analysis, but those of the preserved classes: call it when the IR changed."""
    cache = _cache.get()
    if cache is None:
        return
    for key in [key for key in cache if not issubclass(key[0], preserved)]:
        del cache[key]


def forget_after(module_pass: ModulePass) -> None:
    """Drop what a pass that has just run does not declare to preserve."""
    forget_analyses(preserved_by(type(module_pass)))


def preserved_by(pass_type: type[ModulePass]) -> Preserved:
    """The analyses that a pass declares to preserve.

    Raises:
        FheliumError: the declaration is not a tuple of classes.
    """
    declared = cast(object, getattr(pass_type, "preserved_analyses", ()))
    if isinstance(declared, tuple):
        classes = cast("tuple[object, ...]", declared)
        if all(isinstance(one, type) for one in classes):
            return cast(Preserved, classes)
    raise FheliumError(f"pass '{pass_type.name}': preserved_analyses must be a tuple of classes")


@contextmanager
def keep_analyses() -> Generator[None]:
    """Keep analyses while the `with` block runs; what was kept before is out of sight in it."""
    token = _cache.set({})
    try:
        yield
    finally:
        _cache.reset(token)
