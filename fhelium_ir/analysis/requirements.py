"""Which resources a region's kernels read: the tables of its graph, named by kind and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    DenseIntElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute

from fhelium_ir.analysis.region_graph import RegionGraph, Table
from fhelium_ir.dialects.rns import ConstantAttr, Limb, PolyType
from fhelium_ir.dialects.zq import ARITHMETICS
from fhelium_ir.parameters import Parameters


@dataclass(frozen=True)
class ResourceRequirement:
    """A resource that kernels read: kind, parameters, shape and element width, as `resource.declare` states them."""

    kind: str
    parameters: tuple[tuple[str, Attribute], ...]
    shape: tuple[int, ...]
    bits: int

    @property
    def dtype(self) -> str:
        return f"int{self.bits}"

    def bytes(self) -> int:
        count = self.bits // 8
        for extent in self.shape:
            count *= extent
        return count


def region_requirements(
    graph: RegionGraph, parameters: Parameters
) -> tuple[ResourceRequirement, ...]:
    """The resources of a region, in the order in which its lowering expects them: row table, moduli, twiddles and
    inverse degree of its transform, then the graph's tables."""
    bits = ARITHMETICS[graph.arithmetic].word_bits
    primes = len(parameters.primes)
    out = [
        rows_requirement(row_table(graph, parameters)),
        ResourceRequirement("moduli", (), (primes, 4), bits),
    ]
    if graph.transform is not None:
        direction = graph.transform.direction
        named = (("direction", StringAttr(direction)),)
        out.append(ResourceRequirement("twiddles", named, (primes, graph.degree), bits))
        if direction == "inverse":
            exponent = IntegerAttr(1 + graph.transform.contract.exponent_change, i64)
            out.append(
                ResourceRequirement("inverse_degree", (("exponent", exponent),), (primes, 2), bits)
            )
    out.extend(_table_requirement(table, graph.degree, bits) for table in graph.tables)
    return tuple(out)


def resource_position(graph: RegionGraph, kind: str, table: int = 0) -> int:
    """Where `region_requirements` lists what a kernel argument of `kind` stands for; `table` numbers graph tables."""
    listed = ["rows", "moduli"]
    if graph.transform is not None:
        listed.append("twiddles")
        if graph.transform.direction == "inverse":
            listed.append("inverse_degree")
    return len(listed) + table if kind == "table" else listed.index(kind)


def row_table(graph: RegionGraph, parameters: Parameters) -> tuple[tuple[int, ...], ...]:
    """One row per program row: the number of its prime, then the graph's columns."""
    primes = [prime_index(limb, parameters) for limb in graph.limbs]
    return tuple(zip(primes, *graph.columns, strict=True))


def prime_index(limb: Limb, parameters: Parameters) -> int:
    """Number of a prime among all primes, the chain first."""
    return limb.index if limb.family == "q" else len(parameters.q) + limb.index


def rows_requirement(values: Sequence[Sequence[int]]) -> ResourceRequirement:
    shape = (len(values), len(values[0]))
    flat = [entry for row in values for entry in row]
    dense = DenseIntElementsAttr.from_list(TensorType(i32, list(shape)), flat)
    return ResourceRequirement("rows", (("values", dense),), shape, 32)


def _table_requirement(table: Table, degree: int, bits: int) -> ResourceRequirement:
    match table.kind:
        case "constants":
            assert table.constant is not None and table.source is not None
            parameters: tuple[tuple[str, Attribute], ...] = (
                ("constant", ConstantAttr(table.constant)),
                ("type", PolyType(table.source)),
                ("exponent", IntegerAttr(table.exponent, i64)),
            )
            return ResourceRequirement("constants", parameters, (len(table.source.rows()),), bits)
        case "conversion":
            assert table.source is not None and table.target is not None
            parameters = (
                ("source", PolyType(table.source)),
                ("target", PolyType(table.target)),
                ("correction", StringAttr(table.correction)),
                ("exponent", IntegerAttr(table.exponent, i64)),
            )
            shape = (len(table.target.rows()), longest_digit(table) + 1, 3)
            return ResourceRequirement("conversion", parameters, shape, 64)
        case "permutation":
            parameters = (
                ("galois", IntegerAttr(table.galois, i64)),
                ("domain", StringAttr(table.domain)),
            )
            return ResourceRequirement("permutation", parameters, (degree,), 32)
        case _:
            return rows_requirement(table.values)


def longest_digit(table: Table) -> int:
    """Limbs of the longest digit of a conversion's source."""
    assert table.source is not None
    counts: dict[int, int] = {}
    for digit, _ in table.source.rows():
        counts[digit] = counts.get(digit, 0) + 1
    return max(counts.values())
