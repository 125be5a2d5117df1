"""`fusion`: the region stage. A region groups polynomial ops that become one kernel or a short chain of kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import I64, ArrayAttr, IntegerAttr, SymbolRefAttr
from xdsl.ir import Attribute, Dialect, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsTerminator
from xdsl.utils.exceptions import VerifyException

from fhelium_ir.dialects.traits import IsolatedFromAbove

IMPLEMENTATION = "fusion.implementation"
"""Attribute that names the implementation which executes an op as a whole; the compiler's own kernels are used for a
region without it."""

RESOURCES = "fusion.resources"
"""Attribute of an op with `IMPLEMENTATION`: symbols of the resources that its implementation reads, in order. A region
has the property `resources` instead."""

_PROPERTIES = ("resources", "offsets", "scratch", "stream")

IN_PLACE = "fusion.in_place"
"""Unit attribute of an op with `IMPLEMENTATION` whose first result takes the memory of its first operand."""


@irdl_op_definition
class FusedOp(IRDLOperation):
    """An isolated group of ops.

    Assembly: `%r = fusion.region(%a = %x : T) -> (R) { ... fusion.yield %v : R }`. `resources` lists the declared
    tables that the region's kernels read; `offsets` places its results in the arena (in bytes; -1 for a buffer of its
    own, as for results of the function), `scratch` what its kernels hand on to each other besides. Regions on different
    values of `stream` may run at the same time; a region without it is on stream 0.
    """

    name = "fusion.region"
    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")
    resources = opt_prop_def(ArrayAttr[SymbolRefAttr])
    offsets = opt_prop_def(ArrayAttr[IntegerAttr[I64]])
    scratch = opt_prop_def(ArrayAttr[IntegerAttr[I64]])
    stream = opt_prop_def(IntegerAttr[I64])
    traits = traits_def(IsolatedFromAbove())

    def __init__(self, inputs: Sequence[SSAValue], result_types: Sequence[Attribute], body: Region):
        super().__init__(operands=[list(inputs)], result_types=[list(result_types)], regions=[body])

    @property
    def yielded(self) -> YieldOp:
        last = self.body.block.last_op
        assert isinstance(last, YieldOp)
        return last

    @property
    def stream_number(self) -> int:
        return self.stream.value.data if self.stream is not None else 0

    def verify_(self) -> None:
        if self.stream_number < 0:
            raise VerifyException("fusion.region: a stream is not negative")
        if not isinstance(self.body.block.last_op, YieldOp):
            raise VerifyException("fusion.region: the body must end with fusion.yield")
        inside = [argument.type for argument in self.body.block.args]
        if inside != [value.type for value in self.inputs]:
            raise VerifyException("fusion.region: block arguments and operands differ in type")
        if [value.type for value in self.yielded.values] != [r.type for r in self.outputs]:
            raise VerifyException("fusion.region: yielded values and results differ in type")

    @classmethod
    def parse(cls, parser: Parser) -> FusedOp:
        operands: list[UnresolvedOperand] = []
        arguments: list[Parser.Argument] = []

        def one() -> None:
            unresolved = parser.parse_argument(expect_type=False)
            parser.parse_punctuation("=")
            operands.append(parser.parse_unresolved_operand())
            parser.parse_punctuation(":")
            arguments.append(unresolved.resolve(parser.parse_type()))

        start = parser.pos
        parser.parse_comma_separated_list(Parser.Delimiter.PAREN, one)
        parser.parse_punctuation("->")
        results = parser.parse_comma_separated_list(Parser.Delimiter.PAREN, parser.parse_type)
        written = parser.parse_optional_attr_dict_with_keyword()
        body = parser.parse_region(arguments)
        values = parser.resolve_operands(operands, [a.type for a in arguments], start)
        op = cls(values, results, body)
        entries: Mapping[str, Attribute] = written.data if written is not None else {}
        for key, value in entries.items():
            target = op.properties if key in _PROPERTIES else op.attributes
            target[key] = value
        return op

    def print(self, printer: Printer) -> None:
        def one(pair: tuple[SSAValue, SSAValue]) -> None:
            printer.print_ssa_value(pair[0])
            printer.print_string(" = ")
            printer.print_ssa_value(pair[1])
            printer.print_string(" : ")
            printer.print_attribute(pair[1].type)

        with printer.in_parens():
            printer.print_list(list(zip(self.body.block.args, self.inputs, strict=True)), one)
        printer.print_string(" -> ")
        with printer.in_parens():
            printer.print_list([r.type for r in self.outputs], printer.print_attribute)
        written = {**self.properties, **self.attributes}
        if written:
            printer.print_string(" attributes ")
            printer.print_attr_dict(written)
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


@irdl_op_definition
class YieldOp(IRDLOperation):
    """Ends a region and names its results."""

    name = "fusion.yield"
    values = var_operand_def()
    traits = traits_def(IsTerminator(), HasParent(FusedOp))
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


Fusion = Dialect("fusion", [FusedOp, YieldOp], [])
