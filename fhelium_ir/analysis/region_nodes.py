"""The data of a region graph: nodes, tables, outputs. `region_graph` builds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fhelium_ir.analysis.digit_rows import Scratch
from fhelium_ir.dialects import ntt, rns
from fhelium_ir.dialects.rns import Limb, PolyFacts

T = TypeVar("T")


@dataclass(frozen=True)
class Node:
    """One value of one element.

    kinds, with operands and data:

    - `load` (): (buffer, column, masked, permutation or -1) a word of a region input; a masked row that is -1 gives 0
    - `anchor` (): the transform's result
    - `add` (a, b); `sub` (a, b): (offset,), a - b + offset * q; `mul` (a, b); `negate` (a): (offset,)
    - `mul_constant` (a): (table, column) product with a constant
    - `raise`, `lower` (a): Montgomery exponent plus or minus one
    - `reduce` (a): (from, to)
    - `to_integer` (a): the canonical integer of a centred word of `fp64`; `canonical` (a): (from,) that of a word of
      `smont32`
    - `flip` (a): (offset, permutation) negation where the permutation's sign says so
    - `convert` (): (buffer, start column, count column, table, base column, eager, correction) base conversion of a
      region input; `eager` reduces each partial sum. Besides those of the op, words with a sign have two ways to be
      nearest: `rounded`, in `fp64` for one source limb, and `given`, where a kernel of its own has left the quotients
      in scratch memory
    - `convert_groups` (): (buffer, table, base column, eager, correction, then for each segment its group and the
      columns `start`, `count` and `entries`) base conversion in a mixed module: source limbs in segments of one group.
      For words of `fp64` there are `rounded` and `given` here too
    - `accumulate` (): (own buffer, converted buffer, key buffer, table, base column, count column, component,
      permutation of own, permutation of converted, eager)
    - `key_product` (own): (key buffer, table, base column, count column, below of own, terms, component) inner product
      with the digits that come out of the region's transform, and with `own` where a limb is a digit's own
    """

    kind: str
    operands: tuple[int, ...] = ()
    data: tuple[int | str | bool, ...] = ()


@dataclass(frozen=True)
class Table:
    """A table that kernels read: its resource kind and parameters, all that defines its contents.

    kinds: `constants`, `conversion`, `permutation` as in the resource dialect; `rows` for the digit rows of an
    accumulation (`fhelium_ir.analysis.digit_rows`), and for pairs of program rows (`fhelium_ir.analysis.paired_rows`).
    """

    kind: str
    constant: rns.Constant | None = None
    source: PolyFacts | None = None
    target: PolyFacts | None = None
    exponent: int = 0
    correction: str = ""
    galois: int = 0
    domain: str = ""
    values: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Transform:
    """The transform of a region: direction, contract, schedule and the node that feeds it."""

    direction: str
    contract: ntt.Contract
    schedule: ntt.Schedule | None
    source: int


@dataclass(frozen=True)
class Quotients:
    """The kernel that computes the multiples of D which a base conversion takes off, once for all its target limbs.

    Attributes:
        buffer: the region input that is converted.
        start, count: columns with the first source row and the number of source rows.
        table: of the conversion, with a reciprocal, a shift and the prime for each source limb.
        component: the column with the component of a program row, whose quotients lie in that row of the scratch
            memory.
        components: how many there are; each has as many program rows.
    """

    buffer: int
    start: int
    count: int
    table: int
    component: int
    components: int
    segments: tuple[tuple[str, int, int, int], ...] = ()
    """In a mixed module, as in a node `convert_groups`; then the table is that of the conversion itself."""


@dataclass(frozen=True)
class Output:
    """A component of a region result: which node is stored, in which result, at which column's row."""

    node: int
    result: int
    column: int


ROW_ALIGNMENT = 16
"""Rows of a row table take a multiple of this many words of 32 bits."""


@dataclass(frozen=True)
class RegionGraph:
    """See the module's docstring. `columns[k][r]` is what column k holds for program row r; -1 is no row."""

    degree: int
    arithmetic: str
    limbs: tuple[Limb, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Output, ...]
    transform: Transform | None
    columns: tuple[tuple[int, ...], ...]
    tables: tuple[Table, ...]
    table_kinds: tuple[str, ...] = field(default=())
    integer_inputs: tuple[int, ...] = field(default=())
    """Inputs that hold canonical integers in an `fp64` program."""
    integer_outputs: tuple[int, ...] = field(default=())
    capacity: int = 4
    """How many times the largest prime fits into an integer word, at most 16."""
    largest_prime: int = 0
    """Of the module, where bounds of words depend on it: where these have a sign."""
    digits: RegionGraph | None = None
    """The transform whose last kernel computes this graph's `key_product`; it shares this graph's tables."""
    scratch_column: int = -1
    """In a graph of digits: the column with the row of the scratch memory where a program row lies between kernels."""
    digit_memory: Scratch | None = None
    """What the digits take between kernels."""
    quotients: Quotients | None = None
    """What a kernel in front of the others computes."""
    mixed: bool = False
    """The graph is about the rows of one group of a mixed module: 64-bit integers in memory, where they are `fp64`
    words the bits of doubles."""
    result_column: int = -1
    """The column with the row of the first result where a program row lies between kernels; -1: its own number."""
    pairs: int = -1
    """The table with two program rows for each program of the first kernel; -1: a program has one."""

    def of_rows(self, kept: Sequence[bool]) -> RegionGraph:
        """The graph for some of the program rows; nothing else changes."""

        def chosen(values: Sequence[T]) -> tuple[T, ...]:
            return tuple(value for value, keep in zip(values, kept, strict=True) if keep)

        return replace(
            self, limbs=chosen(self.limbs), columns=tuple(chosen(column) for column in self.columns)
        )

    @property
    def group(self) -> str | None:
        """The group of primes whose rows the graph is about, None where all primes have one arithmetic."""
        return self.arithmetic if self.mixed else None

    @property
    def anchored(self) -> Transform | None:
        """The transform of the region, be it of this graph or of its digits."""
        return self.digits.transform if self.digits is not None else self.transform

    @property
    def row_words(self) -> int:
        """Words of a row in the row table: the number of its prime, the columns, and padding.

        Kernels that read few columns then do not depend on how many others there are, and rows start on cache lines.
        """
        return -(-(1 + len(self.columns)) // ROW_ALIGNMENT) * ROW_ALIGNMENT

    @property
    def scratch(self) -> tuple[Scratch, ...]:
        """Memory that the kernels need besides results; without a schedule, as if there were several kernels."""
        if self.quotients is not None:
            return (Scratch(self.quotients.components),)
        transform = self.anchored
        if transform is None or self.digit_memory is None:
            return ()
        schedule = transform.schedule
        return () if schedule is not None and len(schedule.kernels) == 1 else (self.digit_memory,)

    @property
    def shape(self) -> tuple[object, ...]:
        """What the kernels' text depends on; equal shapes share kernels."""
        return (
            self.degree,
            self.arithmetic,
            self.nodes,
            self.outputs,
            self.transform,
            self.row_words,
            self.table_kinds,
            self.integer_inputs,
            self.integer_outputs,
            self.largest_prime,
            self.capacity,
            self.digits.shape if self.digits is not None else None,
            self.scratch_column,
            self.quotients,
            self.mixed,
            self.result_column,
            self.pairs,
        )
