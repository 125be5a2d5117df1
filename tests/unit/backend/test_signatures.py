"""The public objects have the names, parameters, order and defaults that they are known by."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable

import pytest

from fhelium_ir.backend import execution
from fhelium_ir.dialects import fusion
from fhelium_ir.lowering import triton

EMPTY = inspect.Parameter.empty
FUSED = (fusion.FusedOp,)

# Name, default, and whether only by keyword; `/` ends those that are passed by position only.
SIGNATURES: list[tuple[Callable[..., object], str]] = [
    (
        execution.OperationBackend,
        "(registry=None, workspace=None, *, named_resources=None, materializer=None)",
    ),
    (execution.OperationBackend.with_named_resources, "(self, resources, *, override=True)"),
    (
        execution.OperationBackend.diagnostics,
        "(self, operation, *, implementation=None, in_place=False)",
    ),
    (execution.OperationBackend.link, "(self, compilation, *, pipeline=None, keys_later=False)"),
    (
        execution.OperationDispatch,
        "(invocation, implementation, requirements, effect, in_place=False, prepared_regions=False)",
    ),
    (execution.ProgramDispatchTable, "(operations)"),
    (
        execution.ProgramExecutable,
        "(program, dispatch_table, resources, resource_indices, bound_resources, bound_materials, *, "
        "materializer=<factory>, keys_later=False)",
    ),
    (execution.ProgramExecutable.run, "(self, *inputs)"),
    (triton.compile_source, "(source)"),
    (triton.PointwisePlan, "(graph, materialized, kernel, length)"),
    (triton.PointwisePlan.build, "(graph)"),
    (triton.PointwisePlan.execute, "(self, inputs, parameters, radix)"),
    (triton.execution_parameters, "(invocation, inputs, parameters, *, in_place)"),
    (
        triton.PreparedFusion,
        "(graph, name='triton-rns-fused', operation_types=FUSED, supports_in_place=False)",
    ),
    (triton.PreparedFusion.resource_requirements, "(self, invocation)"),
    (triton.PreparedFusion.prepare_layout, "(self, operation)"),
    (triton.PreparedFusion.execute, "(self, invocation, inputs, resources, *, in_place)"),
    (
        triton.TritonFusionImplementation,
        "(name='triton-rns-fused', include_ntt=False, operation_types=FUSED, "
        "supports_in_place=False)",
    ),
    (triton.TritonFusionImplementation.select_ntt_schedule, "(self, **facts)"),
    (triton.TritonFusionImplementation.match_fusion, "(self, operations)"),
    (triton.TritonFusionImplementation.resource_requirements, "(self, invocation)"),
    (triton.TritonFusionImplementation.prepare_operation, "(self, operation)"),
    (
        triton.TritonFusionImplementation.execute,
        "(self, invocation, inputs, resources, /, *, in_place)",
    ),
    (
        triton.TritonRnsImplementation,
        "(name='triton-rns-pointwise', operation_types=ARITHMETIC, supports_in_place=False, "
        "plans=<factory>)",
    ),
    (triton.TritonRnsImplementation.resource_requirements, "(self, invocation)"),
    (
        triton.TritonRnsImplementation.execute,
        "(self, invocation, inputs, resources, /, *, in_place)",
    ),
]


def plain(function: Callable[..., object]) -> str:
    """The signature without annotations."""
    signature = inspect.signature(function)
    parameters = [p.replace(annotation=EMPTY) for p in signature.parameters.values()]
    text = str(signature.replace(parameters=parameters, return_annotation=EMPTY))
    text = text.replace(repr(triton.ARITHMETIC_OPS), "ARITHMETIC")
    return text.replace(repr(FUSED), "FUSED")


@pytest.mark.parametrize(
    "function, wanted", SIGNATURES, ids=lambda v: str(getattr(v, "__qualname__", ""))
)
def test_signatures(function: Callable[..., object], wanted: str) -> None:
    assert plain(function) == wanted


def test_every_public_object_says_what_it_is() -> None:
    for function, _ in SIGNATURES:
        assert inspect.getdoc(function), function


def test_fields_stand_in_order() -> None:
    names = [field.name for field in dataclasses.fields(execution.ProgramExecutable)]
    assert names[:7] == [
        "program",
        "dispatch_table",
        "resources",
        "resource_indices",
        "bound_resources",
        "bound_materials",
        "host_source",
    ]
    source = dataclasses.fields(execution.ProgramExecutable)[6]
    assert (source.init, source.repr, source.compare) == (False, False, False)
    assert isinstance(execution.OperationBackend.named_resources, property)
    assert isinstance(execution.ProgramExecutable.manifest, property)


def test_unknown_names_of_the_package() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Absent'"):
        _ = triton.Absent  # pyright: ignore
    assert set(triton.__all__) == set(triton._MODULES)  # pyright: ignore[reportPrivateUsage]
