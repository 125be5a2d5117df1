"""Implementations: objects that say which operations they can execute, and execute them.

A registry holds implementations by name. Passes and the linker ask it: which implementation takes an op, which takes a
set of ops as one region, which offers a schedule for a transform. What an implementation supports follows from its
`operation_types` and from what it answers, never from its name; names only choose among those that do. An absent or
ambiguous choice is an error that lists the candidates.

An op is executed by an implementation as a whole if the program names one (attribute `fusion.implementation`) or if one
that takes it was registered as preferred. All other ops go into fusion regions.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast, runtime_checkable

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from fhelium_ir.analysis.region_interface import region_ops
from fhelium_ir.compiler.errors import FheliumError, unknown_name
from fhelium_ir.compiler.locations import location_of
from fhelium_ir.dialects import ckks, fusion, rns
from fhelium_ir.dialects.zq import FLOATING_WORDS, INTERFACE_WORD, MODULE_ARITHMETICS, Arithmetic

if TYPE_CHECKING:
    import torch

    from fhelium_ir.analysis.requirements import ResourceRequirement
    from fhelium_ir.backend.resources import BoundResource
    from fhelium_ir.dialects.ntt import Schedule
    from fhelium_ir.parameters import Parameters


@dataclass(frozen=True, eq=False)
class OperationInvocation:
    """One operation to execute, with the facts of its program.

    Attributes:
        operation: a fusion region, or an op of the polynomial stage; its types state shapes and representatives.
        parameters: of the program that it belongs to.
    """

    operation: Operation
    parameters: Parameters

    @staticmethod
    def of(operation: Operation) -> OperationInvocation:
        """The invocation of an operation inside a module.

        Raises:
            FheliumError: the module states no parameters.
        """
        parent: Operation | None = operation
        while parent is not None:
            if isinstance(parent, ModuleOp) and ckks.PARAMS in parent.attributes:
                return OperationInvocation(operation, ckks.parameters_of(parent))
            parent = parent.parent_op()
        raise FheliumError(
            f"'{operation.name}' stands in no module with a `{ckks.PARAMS}` attribute",
            location_of(operation),
        )

    @property
    def arithmetic(self) -> Arithmetic:
        """The arithmetic of the residues: word and Montgomery radix.

        Raises:
            FheliumError: the representatives are undecided.
        """
        for value in (*self.operation.results, *self.operation.operands):
            facts = _facts(value)
            if facts is not None and facts.arithmetic is not None:
                floating = facts.arithmetic in FLOATING_WORDS
                return MODULE_ARITHMETICS["fp64" if floating else facts.arithmetic]
        raise FheliumError(
            f"'{self.operation.name}': the representatives are undecided; run track-montgomery first",
            location_of(self.operation),
        )

    @property
    def input_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the operands' tensors."""
        return _shapes(self.operation.operands)

    @property
    def result_shapes(self) -> tuple[tuple[int, ...], ...]:
        """Shapes of the results' tensors."""
        return _shapes(self.operation.results)

    @property
    def dtype(self) -> str:
        """Dtype of the arithmetic's words: `int32`, `int64` or `float64`."""
        arithmetic = self.arithmetic
        return f"{'float' if arithmetic.floating else 'int'}{arithmetic.word_bits}"

    @property
    def input_dtypes(self) -> tuple[str, ...]:
        """Dtypes of the operands' tensors: `dtype`, but `int64` where they are canonical at an interface."""
        return tuple(map(self._dtype_of, self.operation.operands))

    @property
    def result_dtypes(self) -> tuple[str, ...]:
        """Dtypes of the results' tensors."""
        return tuple(map(self._dtype_of, self.operation.results))

    def _dtype_of(self, value: SSAValue) -> str:
        facts = _facts(value)
        if facts is not None and facts.arithmetic == INTERFACE_WORD:
            return INTERFACE_WORD
        return self.dtype


def _facts(value: SSAValue) -> rns.PolyFacts | None:
    type_: Attribute = value.type
    return type_.data if isinstance(type_, rns.PolyType) else None


def _shapes(values: Iterable[SSAValue]) -> tuple[tuple[int, ...], ...]:
    shapes: list[tuple[int, ...]] = []
    for value in values:
        facts = _facts(value)
        if facts is None:
            raise FheliumError(f"a value of type {value.type} has no tensor")
        shapes.append(facts.shape())
    return tuple(shapes)


@dataclass(frozen=True)
class OperationEffect:
    """What a call does to storage.

    Attributes:
        writes: numbers of the inputs that it overwrites.
        aliases: for each result the number of the input whose storage it is, or None for storage of its own.
    """

    writes: tuple[int, ...] = ()
    aliases: tuple[int | None, ...] = ()

    @staticmethod
    def of(operation: Operation, in_place: bool) -> OperationEffect:
        """New storage for each result; in place, the first result is the first input."""
        count = len(operation.results)
        if in_place:
            return OperationEffect((0,), (0, *[None] * (count - 1)))
        return OperationEffect((), (None,) * count)


@runtime_checkable
class OperationImplementation(Protocol):
    """Executes operations of some types.

    Three more methods are optional: `prepare_operation(operation)` returns an implementation of this one operation that
    has done once what does not depend on inputs; `match_fusion(operations)` and `select_ntt_schedule(**facts)` are
    those of `FusionImplementation` and `ScheduleImplementation`. An attribute `compiled = True` states that the
    compiler's own kernels compute what the implementation matches, so that linked programs launch those.
    """

    @property
    def name(self) -> str:
        """Distinguishes it from others in the registry; says nothing about support."""
        ...

    @property
    def operation_types(self) -> tuple[type[Operation], ...]:
        """Classes of the operations that it executes."""
        ...

    @property
    def supports_in_place(self) -> bool:
        """Whether `execute` can put the first result into the first input."""
        ...

    def resource_requirements(
        self, invocation: OperationInvocation
    ) -> tuple[ResourceRequirement, ...]:
        """Tables that `execute` reads, in the order in which it takes them."""
        ...

    def execute(
        self,
        invocation: OperationInvocation,
        inputs: tuple[torch.Tensor, ...],
        resources: tuple[BoundResource, ...],
        /,
        *,
        in_place: bool,
    ) -> tuple[torch.Tensor, ...]:
        """Computes the operation.

        Args:
            inputs: one contiguous tensor per operand, shape and dtype as its type says. Not written unless in place.
            resources: the required tables.
            in_place: the first result must be the first input's memory; only if `supports_in_place`.

        Returns:
            One contiguous tensor per result, in the representative of its type.
        """
        ...


@runtime_checkable
class FusionImplementation(Protocol):
    """An implementation that takes sets of ops as fusion regions."""

    def match_fusion(self, operations: Sequence[Operation]) -> int | None:
        """How many computing ops of a region it supports; 0 if the ops only move residues, None if it cannot take them.

        Args:
            operations: ops of the polynomial stage in topological order, still in their function or already in a
                region. What they read from outside are the region's inputs, what others read are its results.
        """
        ...


@runtime_checkable
class ScheduleImplementation(Protocol):
    """An implementation that offers schedules for transforms."""

    def select_ntt_schedule(self, **facts: object) -> Schedule | None:
        """A schedule for a transform, or None for no offer.

        Facts:
            degree (int): the ring degree.
            direction (str): `forward` or `inverse`.
            device (fhelium_ir.analysis.device.Device): what the schedule is for.
            arithmetic (str or None): the arithmetic of the residues.
        """
        ...


@runtime_checkable
class PreparingImplementation(Protocol):
    """An implementation that prepares operations."""

    def prepare_operation(self, operation: Operation) -> OperationImplementation:
        """An implementation of this one operation."""
        ...


def is_compiled(implementation: object) -> bool:
    """Whether the compiler's own kernels compute what an implementation matches."""
    return bool(getattr(implementation, "compiled", False))


class OperationImplementationRegistry:
    """Implementations by name, in the order in which they were registered."""

    def __init__(self, implementations: Iterable[OperationImplementation] = ()):
        self._implementations: dict[str, OperationImplementation] = {}
        self._preferred: set[str] = set()
        for implementation in implementations:
            self.register(implementation)

    def register(self, implementation: OperationImplementation, *, preferred: bool = False) -> None:
        """Adds an implementation.

        Args:
            preferred: it is chosen before those that are not, and its operations are not put into regions.

        Raises:
            FheliumError: the name is taken, or a part of the protocol is missing.
        """
        # The protocol's type does not bind code that is not checked.
        given = cast(object, implementation)
        if not isinstance(given, OperationImplementation):
            missing = [part for part in _PROTOCOL if not hasattr(given, part)]
            raise FheliumError(
                f"{type(given).__name__} is no implementation: it lacks {', '.join(missing)}"
            )
        if implementation.name in self._implementations:
            raise FheliumError(f"an implementation named '{implementation.name}' is registered")
        self._implementations[implementation.name] = implementation
        if preferred:
            self._preferred.add(implementation.name)

    @property
    def implementations(self) -> tuple[OperationImplementation, ...]:
        """All of them, in order of registration."""
        return tuple(self._implementations.values())

    def copy(self) -> OperationImplementationRegistry:
        """A registry with the same contents, to which others can be added."""
        new = OperationImplementationRegistry()
        new._implementations = dict(self._implementations)
        new._preferred = set(self._preferred)
        return new

    def get(self, name: str) -> OperationImplementation:
        """The implementation of that name; raises FheliumError if there is none."""
        if name not in self._implementations:
            raise unknown_name("implementation", name, self._implementations)
        return self._implementations[name]

    def is_preferred(self, implementation: OperationImplementation) -> bool:
        """Whether it was registered as preferred."""
        return implementation.name in self._preferred

    def candidates(
        self, operation_type: type[Operation], implementation: str | None = None
    ) -> tuple[OperationImplementation, ...]:
        """The implementations that execute operations of a type, or the one of them that is asked for by name.

        Raises:
            FheliumError: the name is unknown, or names one that does not execute the type.
        """
        found = tuple(
            candidate
            for candidate in self._implementations.values()
            if operation_type in candidate.operation_types
        )
        if implementation is None:
            return found
        chosen = self.get(implementation)
        if chosen not in found:
            raise FheliumError(
                f"implementation '{implementation}' does not execute '{operation_type.name}'; "
                f"{_listing(found)}"
            )
        return (chosen,)

    def select(
        self, operation: Operation, implementation: str | None = None
    ) -> OperationImplementation:
        """The implementation that executes an operation.

        Args:
            implementation: its name; by default the one that the operation names, else the only one that takes it,
                else the preferred one of those.

        Raises:
            FheliumError: there is none, or there are several.
        """
        requested = implementation if implementation is not None else requested_name(operation)
        try:
            found = self.candidates(type(operation), requested)
            taking = [c for c in found if _takes(c, operation)]
            if (
                requested is None
                and isinstance(operation, fusion.FusedOp)
                and _is_placed(operation)
            ):
                # form-fusion-regions names every implementation but those that the compiler's kernels stand for.
                taking = [c for c in taking if is_compiled(c)]
            chosen = self._choose(taking, f"'{operation.name}'")
        except FheliumError as error:
            raise FheliumError(error.message, location_of(operation)) from None
        if chosen is None:
            reason = "; none takes this one" if found else ""
            raise FheliumError(
                f"no implementation executes '{operation.name}'; {_listing(found)}{reason}",
                location_of(operation),
            )
        return chosen

    def select_whole(self, operation: Operation) -> OperationImplementation | None:
        """The implementation for which an op of the polynomial stage stays whole, None if it goes into a region.

        Raises:
            FheliumError: the op names one that does not execute it, or two are preferred.
        """
        if requested_name(operation) is not None:
            return self.select(operation)
        preferred = [c for c in self.candidates(type(operation)) if self.is_preferred(c)]
        return self._choose(preferred, f"'{operation.name}'")

    def select_fusion(self, operations: Sequence[Operation]) -> OperationImplementation | None:
        """The implementation that takes ops as one region, None if there is none.

        Raises:
            FheliumError: several take them and none of these is the only preferred one.
        """
        taking = [
            candidate
            for candidate in self.candidates(fusion.FusedOp)
            if isinstance(candidate, FusionImplementation)
            and candidate.match_fusion(operations) is not None
        ]
        return self._choose(taking, f"the region around '{operations[-1].name}'")

    def select_ntt_schedule(self, implementation: str | None, **facts: object) -> Schedule | None:
        """The schedule that the preferred implementation, else the only one that answers, offers for a transform.

        Args:
            implementation: the name of the only one to ask.
            facts: see `ScheduleImplementation`.

        Raises:
            FheliumError: several offer different schedules.
        """
        asked = self.implementations if implementation is None else (self.get(implementation),)
        offers: dict[str, Schedule] = {}
        for candidate in asked:
            if isinstance(candidate, ScheduleImplementation):
                offer = candidate.select_ntt_schedule(**facts)
                if offer is not None:
                    offers[candidate.name] = offer
        preferred = {name: offer for name, offer in offers.items() if name in self._preferred}
        distinct = set((preferred or offers).values())
        if len(distinct) > 1:
            raise FheliumError(
                f"several implementations offer schedules: {', '.join(preferred or offers)}; "
                "register one as preferred"
            )
        return distinct.pop() if distinct else None

    def _choose(
        self, taking: Sequence[OperationImplementation], what: str
    ) -> OperationImplementation | None:
        preferred = [candidate for candidate in taking if self.is_preferred(candidate)]
        if len(preferred) == 1:
            return preferred[0]
        if len(taking) > 1:
            raise FheliumError(
                f"several implementations take {what}: "
                f"{', '.join(candidate.name for candidate in preferred or taking)}; "
                "name one or register one as preferred"
            )
        return taking[0] if taking else None


_PROTOCOL = (
    "name",
    "operation_types",
    "supports_in_place",
    "resource_requirements",
    "execute",
)


def requested_name(operation: Operation) -> str | None:
    """The name of the implementation that an operation asks for."""
    attribute = operation.attributes.get(fusion.IMPLEMENTATION)
    return attribute.data if isinstance(attribute, StringAttr) else None


def _is_placed(region: fusion.FusedOp) -> bool:
    return region.resources is not None


def _takes(implementation: OperationImplementation, operation: Operation) -> bool:
    if isinstance(operation, fusion.FusedOp) and isinstance(implementation, FusionImplementation):
        return implementation.match_fusion(region_ops(operation)) is not None
    return True


def _listing(found: Sequence[OperationImplementation]) -> str:
    names = ", ".join(candidate.name for candidate in found)
    return f"candidates: {names}" if names else "there are no candidates"


_active: ContextVar[OperationImplementationRegistry | None] = ContextVar(
    "fhelium_implementations", default=None
)


def active_registry() -> OperationImplementationRegistry:
    """The registry that passes ask: that of `use_registry`, else the default one."""
    registry = _active.get()
    if registry is None:
        from fhelium_ir.backend.discovery import default_registry

        registry = default_registry()
    return registry


@contextmanager
def use_registry(registry: OperationImplementationRegistry) -> Generator[None]:
    """Passes that run inside the `with` block ask this registry."""
    token = _active.set(registry)
    try:
        yield
    finally:
        _active.reset(token)
