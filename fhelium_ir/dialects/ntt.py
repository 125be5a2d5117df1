"""`ntt`: negacyclic number-theoretic transforms and their schedules.

Forward: Cooley-Tukey butterflies with the 2N-th root merged, natural order in, bit-reversed order out. Inverse:
Gentleman-Sande, the exact opposite, the factor N^-1 included (Longa and Naehrig, "Speeding up the number theoretic
transform for faster ideal lattice-based cryptography", 2016).
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import Attribute, Data, Dialect, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects.assembly import FactOp
from fhelium_ir.dialects.rns import ORDERS, PolyFacts, PolyType, poly_facts, word_facts
from fhelium_ir.dialects.zq import FLOATING, FLOATING_WORDS, MIXED, are_signed


@dataclass(frozen=True)
class Contract:
    """What a transform promises: order of evaluation, operand interval, result interval, change of the exponent."""

    order: str
    input_below: int
    output_below: int
    exponent_change: int = 0


@irdl_attr_definition
class ContractAttr(Data[Contract]):
    """`#ntt.contract<bit_reversed, input = 4, output = 4, exponent = 0>`."""

    name = "ntt.contract"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Contract:
        with parser.in_angle_brackets():
            order = parser.parse_keyword_in(ORDERS)
            numbers = [_named(parser, name) for name in ("input", "output", "exponent")]
            if numbers[0] < 1 or numbers[1] < 1:
                parser.raise_error("intervals are at least 1")
        return Contract(order, *numbers)

    def print_parameter(self, printer: Printer) -> None:
        data = self.data
        printer.print_string(
            f"<{data.order}, input = {data.input_below}, output = {data.output_below}, "
            f"exponent = {data.exponent_change}>"
        )


def _named(parser: AttrParser, name: str) -> int:
    parser.parse_punctuation(",")
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return parser.parse_integer(allow_boolean=False)


@dataclass(frozen=True)
class Schedule:
    """How a transform is cut into kernels.

    `kernels` lists, in order of execution of the forward direction (the inverse runs them backwards), the stages that
    each kernel performs in registers: one number, or two with an exchange between them, first >= second. `rows` and
    `columns` are the residue polynomials and the columns that one program holds in its lanes; `warps` is the launch
    width. Twiddle factors of groups that start at stage `table_stages` or later are computed from one table entry for
    each block that is there before the group; 0 if all are read from the table. The first `shoup` stages read factors
    with their quotients by q and multiply by Shoup's product, the others as the arithmetic of the words does. Where a
    base conversion feeds a forward transform, a program of the first kernel computes `converted_rows` residue
    polynomials that convert the same limbs, and loads each word of these once; one that computes a correction on the
    way has one row nevertheless.
    """

    kernels: tuple[tuple[int, ...], ...]
    rows: int
    columns: int
    warps: int
    table_stages: int = 0
    shoup: int = 0
    converted_rows: int = 1

    def stages(self) -> int:
        return sum(sum(kernel) for kernel in self.kernels)

    def groups(self) -> list[tuple[int, int]]:
        """First stage and number of stages of each group."""
        found: list[tuple[int, int]] = []
        for group in (group for kernel in self.kernels for group in kernel):
            found.append((sum(stages for _, stages in found), group))
        return found

    def computes(self, start: int) -> bool:
        """Whether the group that starts at a stage computes its twiddle factors."""
        return 0 < self.table_stages <= start

    def twiddle_entries(self) -> int:
        """Entries of a table of twiddle factors."""
        start, stages = self.groups()[-1]
        if self.computes(start):
            return self.twiddle_place(start) + (1 << start)
        return 1 << (start + stages)

    def twiddle_place(self, start: int) -> int:
        """Where the entries of the group begin that starts at a stage.

        Stage s has its 2^s entries at 2^s. Groups that compute their factors follow those that do not, with no more
        than the first factor of their last stage for each block that is there before the group.
        """
        computed = [first for first, _ in self.groups() if self.computes(first)]
        if start not in computed:
            return 1 << start
        return (1 << computed[0]) + sum(1 << first for first in computed if first < start)

    def twiddle_entry(self, natural: int) -> int:
        """Place of the factor that has number `natural` of a table in natural order, the blocks of a stage in order.

        In the table the blocks of stage s of a group that starts at stage s0 are ordered by their lower s - s0 bits
        first, so that lanes that differ in the upper ones read neighbours.
        """
        stage = natural.bit_length() - 1
        block = natural - (1 << stage)
        start = max(first for first, _ in self.groups() if first <= stage)
        inner = block & ((1 << (stage - start)) - 1)
        return (1 << stage) + (inner << start) + (block >> (stage - start))


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """`#ntt.schedule<kernels = [[4, 3], [3, 3]], rows = 1, columns = 8, warps = 4>`, and before the `>`, if any twiddle
    factors are computed, `, table_stages = 7`, if products are Shoup's in any stages, `, shoup = 10`, and if programs
    convert several residue polynomials at once, `, converted_rows = 2`.
    """

    name = "ntt.schedule"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        with parser.in_angle_brackets():
            start = parser.pos
            parser.parse_keyword("kernels")
            parser.parse_punctuation("=")
            square = parser.Delimiter.SQUARE
            kernels = parser.parse_comma_separated_list(
                square,
                lambda: tuple(
                    parser.parse_comma_separated_list(
                        square, lambda: parser.parse_integer(allow_boolean=False)
                    )
                ),
            )
            rows, columns, warps = (_named(parser, name) for name in ("rows", "columns", "warps"))
            given: dict[str, int] = {}
            while parser.parse_optional_punctuation(","):
                position = parser.pos
                name = parser.parse_keyword_in(_OPTIONS)
                if name in given:
                    parser.raise_error(f"{name} is stated twice", position, parser.pos)
                parser.parse_punctuation("=")
                given[name] = parser.parse_integer(allow_boolean=False)
            schedule = Schedule(tuple(kernels), rows, columns, warps, **given)
            try:
                check_schedule(schedule)
            except VerifyException as error:
                parser.raise_error(str(error), start, parser.pos)
        return schedule

    def print_parameter(self, printer: Printer) -> None:
        data = self.data
        kernels = [list(kernel) for kernel in data.kernels]
        printer.print_string(
            f"<kernels = {kernels}, rows = {data.rows}, columns = {data.columns}, "
            f"warps = {data.warps}{_options(data)}>"
        )

    def verify(self) -> None:
        check_schedule(self.data)


_OPTIONS = ("table_stages", "shoup", "converted_rows")


def _options(schedule: Schedule) -> str:
    values = (schedule.table_stages, schedule.shoup, schedule.converted_rows)
    defaults = (0, 0, 1)
    return "".join(
        f", {name} = {value}"
        for name, value, default in zip(_OPTIONS, values, defaults, strict=True)
        if value != default
    )


def check_schedule(schedule: Schedule) -> None:
    """Checks that a schedule is well formed.

    Raises:
        VerifyException: says which number is off.
    """
    for kernel in schedule.kernels:
        if len(kernel) not in (1, 2) or not all(1 <= stages <= 5 for stages in kernel):
            raise VerifyException(
                "ntt.schedule: a kernel has one or two groups of one to five stages"
            )
        if len(kernel) == 2 and kernel[1] > kernel[0]:
            raise VerifyException("ntt.schedule: the second group cannot be the larger one")
    if not schedule.kernels:
        raise VerifyException("ntt.schedule: needs at least one kernel")
    for name, value in (("rows", schedule.rows), ("columns", schedule.columns)):
        if value < 1 or value & (value - 1):
            raise VerifyException(f"ntt.schedule: {name} = {value} is not a power of two")
    if schedule.warps not in (1, 2, 4, 8, 16):
        raise VerifyException(f"ntt.schedule: warps = {schedule.warps} is not 1, 2, 4, 8 or 16")
    if schedule.table_stages < 0:
        raise VerifyException(f"ntt.schedule: table_stages = {schedule.table_stages} is negative")
    if schedule.shoup < 0:
        raise VerifyException(f"ntt.schedule: shoup = {schedule.shoup} is negative")
    if schedule.shoup > schedule.stages():
        raise VerifyException(
            f"ntt.schedule: shoup = {schedule.shoup} is more than the {schedule.stages()} stages"
        )
    if schedule.converted_rows not in (1, 2):
        raise VerifyException(
            f"ntt.schedule: converted_rows = {schedule.converted_rows} is not 1 or 2"
        )
    if schedule.converted_rows > 1 and schedule.rows > 1:
        raise VerifyException(
            f"ntt.schedule: converted_rows = {schedule.converted_rows} takes rows = 1, found {schedule.rows}"
        )
    for start, stages in schedule.groups():
        # The first blocks' factors are read, whichever group they are of.
        if schedule.computes(start) and schedule.table_stages < stages - 1:
            raise VerifyException(
                f"ntt.schedule: table_stages = {schedule.table_stages} is too small for a group of {stages} stages"
            )


class TransformOp(FactOp, ABC):
    """A transform of every row of a bundle; contract and schedule are absent until decided.

    In a mixed module they are those of the rows of `mont64`; `float_contract` and `float_schedule` those of `fp64`.
    """

    operand = operand_def(PolyType)
    contract = opt_prop_def(ContractAttr)
    schedule = opt_prop_def(ScheduleAttr)
    float_contract = opt_prop_def(ContractAttr)
    float_schedule = opt_prop_def(ScheduleAttr)
    result = result_def(PolyType)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, properties: Mapping[str, Attribute] | None = None):
        given = dict(properties or {})
        super().__init__(
            operands=[operand],
            result_types=self.infer([operand.type], given),
            properties=given,
        )

    def contract_of(self, group: str | None) -> Contract | None:
        """The contract for a group of a mixed module, or for None that of a module with one arithmetic."""
        attribute = self.float_contract if group == FLOATING else self.contract
        return attribute.data if attribute is not None else None

    def schedule_of(self, group: str | None) -> Schedule | None:
        """The schedule for a group of a mixed module, or for None that of a module with one arithmetic."""
        attribute = self.float_schedule if group == FLOATING else self.schedule
        return attribute.data if attribute is not None else None

    def _check_converted_rows(self, arithmetic: str | None) -> None:
        if arithmetic is not None and not are_signed(arithmetic):
            raise VerifyException(
                f"{self.name}: converted_rows takes words with a sign, the words are {arithmetic}"
            )

    def verify_(self) -> None:
        super().verify_()
        facts = poly_facts(self.name, self.operand.type)
        for schedule in (self.schedule_of(None), self.schedule_of(FLOATING)):
            stages, needed = schedule.stages() if schedule else 0, facts.degree.bit_length() - 1
            if schedule is not None and stages != needed:
                raise VerifyException(
                    f"{self.name}: the schedule has {stages} stages, ring degree {facts.degree} "
                    f"needs {needed}"
                )
        for group, arithmetic in ((None, facts.arithmetic), (FLOATING, FLOATING)):
            schedule = self.schedule_of(group)
            if schedule is not None and schedule.converted_rows > 1:
                self._check_converted_rows(facts.arithmetic)
            if schedule is not None and schedule.shoup and are_signed(arithmetic):
                if arithmetic not in FLOATING_WORDS:
                    raise VerifyException(
                        f"{self.name}: Shoup's products are of unsigned words, the words are "
                        f"{arithmetic}"
                    )
                raise VerifyException(
                    f"{self.name}: Shoup's products are of integers, the words are {arithmetic}"
                )
        for below, contract in (
            (facts.below, self.contract_of(None)),
            (facts.float_below, self.contract_of(FLOATING)),
        ):
            if contract is not None and below is not None and below > contract.input_below:
                raise VerifyException(
                    f"{self.name}: the operand is below {below}q, the contract takes "
                    f"{contract.input_below}q"
                )


def _transformed(
    op: str, operand: Attribute, properties: Mapping[str, Attribute], source: str
) -> PolyFacts:
    facts = word_facts(op, operand)
    if facts.domain != source:
        raise VerifyException(
            f"{op}: the operand must be in the {source} domain, it is in the {facts.domain} domain"
        )
    attribute = properties.get("contract")
    contract = attribute.data if isinstance(attribute, ContractAttr) else None
    other = properties.get("float_contract")
    floats = other.data if isinstance(other, ContractAttr) else None
    mixed = facts.arithmetic == MIXED
    exponent = None
    if facts.exponent is not None and contract is not None:
        exponent = facts.exponent + contract.exponent_change
    return replace(
        facts,
        order=contract.order if contract is not None else None,
        exponent=exponent,
        below=contract.output_below if contract and facts.arithmetic is not None else None,
        float_below=floats.output_below if floats and mixed else None,
    )


@irdl_op_definition
class ForwardOp(TransformOp):
    """Coefficient domain to evaluation domain."""

    name = "ntt.forward"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = _transformed(cls.name, operands[0], properties, "coefficient")
        return [PolyType(replace(facts, domain="evaluation"))]


@irdl_op_definition
class InverseOp(TransformOp):
    """Evaluation domain to coefficient domain."""

    name = "ntt.inverse"

    @classmethod
    def infer(
        cls, operands: Sequence[Attribute], properties: Mapping[str, Attribute]
    ) -> Sequence[Attribute]:
        facts = _transformed(cls.name, operands[0], properties, "evaluation")
        return [PolyType(replace(facts, domain="coefficient", order=None))]


Ntt = Dialect("ntt", [ForwardOp, InverseOp], [ContractAttr, ScheduleAttr])
