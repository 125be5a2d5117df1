"""Which resources a region's kernels read: the tables of its graph, named by kind and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from struct import pack

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseArrayBase,
    DenseIntElementsAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute

from fhelium_ir.analysis.region_nodes import RegionGraph, Table, Transform
from fhelium_ir.analysis.region_words import conversion_width
from fhelium_ir.dialects.rns import ConstantAttr, Limb, PolyType
from fhelium_ir.dialects.zq import ARITHMETICS, Arithmetic
from fhelium_ir.parameters import Parameters


@dataclass(frozen=True)
class ResourceRequirement:
    """A resource that kernels read: kind, parameters, shape and elements, as `resource.declare` states them.

    The elements are integers of `bits` bits or, if `floating`, doubles.
    """

    kind: str
    parameters: tuple[tuple[str, Attribute], ...]
    shape: tuple[int, ...]
    bits: int
    floating: bool = False

    @property
    def dtype(self) -> str:
        return f"{'float' if self.floating else 'int'}{self.bits}"

    def bytes(self) -> int:
        count = self.bits // 8
        for extent in self.shape:
            count *= extent
        return count


def region_requirements(
    graph: RegionGraph, parameters: Parameters
) -> tuple[ResourceRequirement, ...]:
    """The resources of a region, in the order in which its lowering expects them: row table, moduli, row table of its
    digits, twiddles and inverse degree of its transform, then the graph's tables."""
    arithmetic = ARITHMETICS[graph.arithmetic]
    bits, floating = arithmetic.word_bits, arithmetic.floating
    primes = len(parameters.primes)
    out = [
        rows_requirement(row_table(graph, parameters)),
        ResourceRequirement("moduli", (), (primes, 4), bits, floating),
    ]
    if graph.digits is not None:
        out.append(rows_requirement(row_table(graph.digits, parameters)))
    transform = graph.anchored
    if transform is not None:
        out += [
            _factors(kind, transform, (primes, graph.degree), arithmetic)
            for kind in _factor_kinds(transform)
        ]
    out.extend(_table_requirement(table, graph.degree, arithmetic) for table in graph.tables)
    return tuple(out)


def _factor_kinds(transform: Transform) -> list[str]:
    """The tables of factors that the products of a transform take."""
    schedule = transform.schedule
    shoup = schedule.shoup if schedule is not None else 0
    kinds = ["shoup_twiddles"] if shoup else []
    if schedule is None or shoup < schedule.stages():
        kinds.append("twiddles")
    if transform.direction == "inverse":
        kinds.append("shoup_inverse_degree" if shoup else "inverse_degree")
    return kinds


def _factors(
    kind: str, transform: Transform, shape: tuple[int, int], arithmetic: Arithmetic
) -> ResourceRequirement:
    """The requirement of such a table; `shape` is that of the twiddles of all stages."""
    (primes, entries), schedule = shape, transform.schedule
    named: tuple[tuple[str, Attribute], ...]
    if kind in ("twiddles", "shoup_twiddles"):
        named = (("direction", StringAttr(transform.direction)),)
        groups = [stages for _, stages in schedule.groups()] if schedule is not None else []
        if any(stages > 1 for stages in groups):
            named += (("groups", DenseArrayBase.from_list(i64, groups)),)
        if schedule is not None and kind == "shoup_twiddles":
            named += (("stages", IntegerAttr(schedule.shoup, i64)),)
            entries = 1 << schedule.shoup
        elif schedule is not None:
            if schedule.table_stages:
                named += (("table_stages", IntegerAttr(schedule.table_stages, i64)),)
            entries = schedule.twiddle_entries()
    else:
        # Factors with quotients are plain residues; those of Montgomery's products take one exponent off.
        exponent = transform.contract.exponent_change + (kind == "inverse_degree")
        named, entries = (("exponent", IntegerAttr(exponent, i64)),), 2
    bits = arithmetic.word_bits
    if kind in ("twiddles", "inverse_degree"):
        return ResourceRequirement(kind, named, (primes, entries), bits, arithmetic.floating)
    # A 64-bit entry is a factor of 32 bits and its quotient, or one of them.
    return ResourceRequirement(kind, named, (primes, *(() if bits == 32 else (2,)), entries), 64)


def resource_position(
    graph: RegionGraph, kind: str, table: int = 0, *, digits: bool = False
) -> int:
    """Where `region_requirements` lists what a kernel argument of `kind` stands for; `table` numbers graph tables,
    `digits` asks for the row table of the graph of digits."""
    listed = ["rows", "moduli"]
    if graph.digits is not None:
        listed.append("digit rows")
        kind = "digit rows" if digits and kind == "rows" else kind
    transform = graph.anchored
    if transform is not None:
        listed += _factor_kinds(transform)
    return len(listed) + table if kind == "table" else listed.index(kind)


def row_table(graph: RegionGraph, parameters: Parameters) -> tuple[tuple[int, ...], ...]:
    """One row per program row: the number of its prime, the graph's columns, and zeros."""
    primes = [prime_index(limb, parameters) for limb in graph.limbs]
    padding = (0,) * (graph.row_words - 1 - len(graph.columns))
    return tuple((*row, *padding) for row in zip(primes, *graph.columns, strict=True))


def prime_index(limb: Limb, parameters: Parameters) -> int:
    """Number of a prime among all primes, the chain first."""
    return limb.index if limb.family == "q" else len(parameters.q) + limb.index


def rows_requirement(values: Sequence[Sequence[int]]) -> ResourceRequirement:
    shape = (len(values), len(values[0]))
    flat = [entry for row in values for entry in row]
    # `from_list` asks of each number whether it fits, which takes longer than the rest; packing refuses what does not.
    packed = BytesAttr(pack(f"<{len(flat)}i", *flat))
    dense = DenseIntElementsAttr(TensorType(i32, list(shape)), packed)
    return ResourceRequirement("rows", (("values", dense),), shape, 32)


def _table_requirement(table: Table, degree: int, arithmetic: Arithmetic) -> ResourceRequirement:
    match table.kind:
        case "constants":
            assert table.constant is not None and table.source is not None
            parameters: tuple[tuple[str, Attribute], ...] = (
                ("constant", ConstantAttr(table.constant)),
                ("type", PolyType(table.source)),
                ("exponent", IntegerAttr(table.exponent, i64)),
            )
            rows = len(table.source.rows())
            return ResourceRequirement(
                "constants", parameters, (rows,), arithmetic.word_bits, arithmetic.floating
            )
        case "conversion":
            assert table.source is not None and table.target is not None
            parameters = (
                ("source", PolyType(table.source)),
                ("target", PolyType(table.target)),
                ("correction", StringAttr(table.correction)),
                ("exponent", IntegerAttr(table.exponent, i64)),
            )
            width = conversion_width(arithmetic.name, table.correction)
            shape = (len(table.target.rows()), longest_digit(table) + 1, width)
            if width == 1:
                bits, floating = arithmetic.word_bits, arithmetic.floating
                return ResourceRequirement("conversion", parameters, shape, bits, floating)
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
