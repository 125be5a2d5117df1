"""Which kernels a region becomes, in launch order, and what each of them depends on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from fhelium_ir.analysis.region_nodes import RegionGraph
from fhelium_ir.lowering.paired_kernels import paired_kernel
from fhelium_ir.lowering.product_kernels import product_kernel
from fhelium_ir.lowering.quotient_kernel import quotient_kernel
from fhelium_ir.lowering.region_kernels import KernelCode, Tile, pointwise_kernel
from fhelium_ir.lowering.transform_kernels import transform_kernel


@dataclass(frozen=True)
class KernelStep:
    """One kernel of a region.

    Attributes:
        shape: what its text depends on; steps of equal shape share a kernel.
        prefix: what its name starts with.
        build: makes the kernel under a name.
    """

    shape: tuple[object, ...]
    prefix: str
    build: Callable[[str], KernelCode]


def kernel_steps(graph: RegionGraph, tile: Tile) -> list[KernelStep]:
    """The kernels of a region whose transform, if it has one, has a schedule."""
    transform = graph.anchored
    if transform is None:
        return [
            KernelStep((graph.shape, tile), "pointwise", partial(pointwise_kernel, graph, tile))
        ]
    schedule = transform.schedule
    assert schedule is not None
    count = len(schedule.kernels)
    source = graph.digits if graph.digits is not None else graph
    steps = [
        KernelStep(
            _step_shape(source, step, count),
            transform.direction,
            partial(transform_kernel, source, schedule, step),
        )
        for step in range(count)
        # A group of primes may have results and no digits.
        if source.limbs or step == count - 1
    ]
    if source.pairs >= 0 and source.limbs and count > (graph.digits is not None):
        steps[0] = replace(steps[0], build=partial(paired_kernel, source, schedule))
    if graph.digits is not None:
        steps[-1] = KernelStep(
            ("product", graph.shape), "key_product", partial(product_kernel, graph)
        )
    if graph.quotients is not None:
        build = partial(quotient_kernel, graph, tile)
        steps.insert(0, KernelStep(_quotient_shape(graph, tile), "quotients", build))
    return steps


def _quotient_shape(graph: RegionGraph, tile: Tile) -> tuple[object, ...]:
    """What the kernel of quotients depends on: nothing of what follows the conversion."""
    return ("quotients", graph.degree, graph.row_words, graph.quotients, graph.mixed, tile)


def _step_shape(graph: RegionGraph, step: int, steps: int) -> tuple[object, ...]:
    """What kernel `step` of a transform depends on: middle kernels know neither prologue nor epilogue."""
    if step == 0 or step == steps - 1:
        return (step, graph.shape)
    transform = graph.transform
    assert transform is not None
    return (
        step,
        graph.degree,
        graph.arithmetic,
        graph.row_words,
        graph.scratch_column,
        graph.result_column,
        graph.mixed,
        0 in graph.integer_outputs,
        graph.largest_prime,
        transform.direction,
        transform.schedule,
    )
